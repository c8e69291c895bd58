"""What every record is: frozen, closed to unknown keys; and the records of sampling and prices."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class Record(BaseModel):
    """A frozen record that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Lending(Record):
    """A record that speaks of a borrowed answer only where there is one."""

    @model_serializer(mode="wrap")
    def _without_gap(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if data.get("borrowed") is None:
            data.pop("borrowed", None)
        return data


class Sampling(Record):
    """Which frames a video gives, and how they are encoded."""

    frames: int = Field(default=128, ge=2, le=1024)
    """At most this many, first and last included."""
    size_px: int = Field(default=512, ge=16, le=4096)
    """The longer side; both sides when `fit` is "stretch" or "pad"."""
    fit: Literal["keep", "stretch", "pad"] = "keep"
    quality: int = Field(default=85, ge=1, le=95)
    """JPEG quality as Pillow counts it."""
    policy: Literal["uniform", "fps", "scenes", "keyframes"] = "uniform"
    """How the frames are spread: evenly over time, so many a second, evenly over the scenes, or
    those at which decoding can start."""
    fps: float | None = Field(default=None, gt=0, le=240)
    """Frames a second with the policy "fps", as long as `frames` allows; else None."""
    decoder: Literal["av", "decord"] = "av"
    ocr: bool = False
    """Whether text drawn into the picture was read for offline models; False in all that is new."""


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
