"""How a video becomes the frames that models see."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memory.base import Record


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
