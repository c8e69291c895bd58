"""What a model costs, and what its server takes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memory.base import Record

TokenField = Literal["max_tokens", "max_completion_tokens"]
"""By which name a server of OpenAI's protocol is told how many tokens a reply may take."""


class Price(Record):
    """What a model's tokens cost, in US dollars a million."""

    input_usd: float = Field(ge=0, allow_inf_nan=False)
    output_usd: float = Field(ge=0, allow_inf_nan=False)
    """Reasoning tokens cost as much."""
    cached_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Input read from a cache; None means as other input."""
    written_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Input written to a cache; None means as other input."""
    source: str = "arena.toml"
    """Where it stands, with the date of a price table."""


class CallLimits(Record):
    """What a server takes; None where it says nothing and is found out by trying."""

    concurrency: int | None = Field(default=None, ge=1)
    """Calls under way at once at one endpoint."""
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    images_per_request: int | None = Field(default=None, ge=0)
    body_bytes: int | None = Field(default=None, ge=1)
    """Longest body of a request."""


class Learnt(Record):
    """What a run found out of a model's server by trying; None where nothing was."""

    model: str
    """`provider:model`"""
    endpoint: str
    """Its host, without credentials."""
    images: int | None = Field(default=None, ge=1)
    """Most images of a request."""
    refused_images: int | None = None
    """Fewest images that were refused."""
    stated_images: int | None = None
    """What its `images_per_request` was when that was learnt."""
    token_limit_field: TokenField | None = None
    """The name that it takes; it refused the other one."""
    output_limit: int | None = None
    """A limit of output tokens that it was sent and did not keep to."""
    output_tokens: int | None = None
    """Most that such a reply took."""
