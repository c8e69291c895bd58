"""Frames whose bytes are really there, and clients that send them to a server that keeps them."""

from __future__ import annotations

import base64
import hashlib
import random
from dataclasses import dataclass, field
from typing import Any

from tests.support.bodies import Kept
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.records import Frame, Role, VideoFrames

PROVIDERS = ("openai", "google_genai")


@dataclass
class Film:
    """A video's frames of made-up bytes; `asked` is what the loader was asked for, in order."""

    count: int = 3
    size_bytes: int = 1000
    video: str = "0123456789ab"
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the bytes, equal for an equal film."""
        drawn = random.Random(f"{self.video} {self.count}")
        self.jpegs = [drawn.randbytes(self.size_bytes) for _ in range(self.count)]
        self.digests = [hashlib.sha256(jpeg).hexdigest() for jpeg in self.jpegs]
        self.by_digest = dict(zip(self.digests, self.jpegs, strict=True))

    @property
    def frames(self) -> VideoFrames:
        """Return the frames, half a second apart."""
        shown = (Frame(time_s=n / 2, digest=digest) for n, digest in enumerate(self.digests))
        return VideoFrames(video=self.video, width_px=64, height_px=36, frames=tuple(shown))

    async def load(self, _video: str, digests: list[str]) -> list[bytes]:
        """Return the bytes of frames."""
        self.asked += digests
        return [self.by_digest[digest] for digest in digests]


def model_at(provider: str, url: str, **settings: Any) -> Model:
    """Return a model of a server."""
    name = "gpt-4o" if provider == "openai" else "gemini-2.5-flash"
    base_url = f"{url}/v1" if provider == "openai" else url
    return Model(alias="remote", model=f"{provider}:{name}", **{"base_url": base_url, **settings})


async def send(
    client: ChatClient, frames: VideoFrames | None, *, text: str = "Well?", role: Role = "judge"
) -> ReceivedReply:
    """Return what one call brings back."""
    return await client.send(OutgoingCall("k" * 64, role, text, frames))


async def send_once(
    model: Model, film: Film, *, frames: VideoFrames | None = None
) -> ReceivedReply:
    """Return what a new client's one call brings back."""
    client = ChatClient(model, film.load)
    try:
        return await send(client, frames or film.frames)
    finally:
        await client.aclose()


def images_of(request: Kept) -> list[bytes]:
    """Return the images of a request, in order, whichever protocol it came in."""
    return [base64.b64decode(data) for data in map(_data, request.parts) if data]


def texts_of(request: Kept) -> list[str]:
    """Return the texts of a request's last message, in order."""
    return [part["text"] for part in request.parts if "text" in part]


def _data(part: dict[str, Any]) -> str:
    if "image_url" in part:
        return str(part["image_url"]["url"].removeprefix("data:image/jpeg;base64,"))
    # Gemini's own client writes the URL-safe alphabet.
    return str(part.get("inlineData", {}).get("data", "")).translate(str.maketrans("-_", "+/"))
