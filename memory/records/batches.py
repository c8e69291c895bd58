"""Batches as values: what is about to be posted, and what still waits for replies."""

from __future__ import annotations

from typing import Literal, NamedTuple

from videoautoarena.memory.records.records import Intent

BatchState = Literal["intended", "posted", "ended"]
"""Whether it may be on its way, is known to the provider, or will bring no further reply."""


class BatchIntent(NamedTuple):
    """A batch that is about to be posted."""

    id: str
    """Our own, told to the provider where it keeps such a word."""
    protocol: str
    """Whose batches they are: "openai", "gemini" or "anthropic"."""
    model: str
    """`provider:model`"""
    endpoint: str
    began_at_s: float
    """Seconds since 1970."""
    calls: tuple[Intent, ...]
    witness: str = ""
    """What only keys of the account can look at by which it is posted; empty if nothing is known.
    It tells another process whether its key sees that account's list of batches."""


class OpenBatch(NamedTuple):
    """A batch of which some calls have no row yet."""

    id: str
    protocol: str
    model: str
    endpoint: str
    began_at_s: float
    calls: int
    """Calls that it was posted with."""
    state: BatchState
    server_id: str | None
    """What its provider calls it; None where no answer to its POST was read."""
    answered: int
    """Calls of which the provider said last that they have ended."""
    open: int
    """Calls that have no row."""
    usd: float | None
    """The most that these may cost; None: unknown."""
    tokens: int
