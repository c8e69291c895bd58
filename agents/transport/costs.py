"""What a server says that a call cost, beside its counts of tokens or in an answer's headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

MOST_USD = 10**6
"""What one call cannot come to; a server that says more has said nothing."""
COSTS = "costs_usd"
"""Where a piece of a reply keeps what its server says beside its counts: a list of one number."""
_FIELDS = ("cost", "cost_usd_total")
"""Beside the counts: OpenRouter and LiteLLM, LLM Gateway."""
_HEADERS = ("x-litellm-response-cost", "llm_provider-x-litellm-response-cost")
"""LiteLLM's own, and that of another LiteLLM behind it."""


@dataclass(slots=True)
class Heard:
    """What the headers of the last answer say."""

    cost_usd: float | None = None


_HEARD: ContextVar[Heard | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[Heard]:
    """Yield what takes the cost from the headers of the one call that is made in the block."""
    heard = Heard()
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def hear(headers: Mapping[str, str]) -> None:
    """Take the headers of an answer to the call under way, if anybody listens."""
    heard = _HEARD.get()
    if heard is not None:
        heard.cost_usd = cost_in_headers(headers)


def cost_in_headers(headers: Mapping[str, str]) -> float | None:
    """Return the cost that headers state; None where they state none.

    A gateway says 0 of models that it has no price for, so that 0 states nothing here.
    """
    for name in _HEADERS:
        value = headers.get(name)
        if value:
            try:
                return usd(float(value)) or None
            except ValueError:
                return None
    return None


def cost_in_counts(counted: object) -> float | None:
    """Return the cost that stands beside counts of tokens."""
    if not isinstance(counted, Mapping):
        return None
    said = (usd(counted.get(name)) for name in _FIELDS)
    return next((cost for cost in said if cost is not None), None)


def usd(said: object) -> float | None:
    """Return a number of dollars that a call can cost; None where something else was said."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return said if 0 <= said <= MOST_USD else None
