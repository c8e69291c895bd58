"""One text block stands for a run of frames; their bytes are kept once and written in its place.

LangChain and the SDKs spend their time for each part of a message, not for each byte. So a call's
frames, with their labels and cues, go through them as one short text, the run's key. The transport
of `agents.transport.transport` finds that text in the finished body and sends the parts it stands
for, made of base64 that all calls share. A key that would leave as text raises before anything is
sent.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from videoautoarena.agents.prompting.layout import (
    AS_USUAL,
    ImageOptions,
    cue_blocks,
    fragment,
    label,
)
from videoautoarena.memory.records.records import VideoFrames

# Unguessable, so that no text a model or a file brings along can name a run.
_NONCE = secrets.token_hex(16)


class Astray(RuntimeError):
    """Frames that could not be put into the call they belong to; holds neither key nor frames."""


class EncodedFrame:
    """The base64 of one frame's JPEG, held once for all calls that send it."""

    # `FrameBytes` holds frames weakly, which slots alone would not let it.
    __slots__ = ("__weakref__", "base64")

    def __init__(self, base64: bytes) -> None:
        self.base64 = base64


class _LabelledFrame(NamedTuple):
    label: str
    image: EncodedFrame
    cues: str | None


@dataclass(frozen=True, slots=True)
class SplicedFrames:
    """The frames of one call, in order, and the text that stands for them."""

    key: str = field(repr=False)
    """Equal for equal frames, cues and look within one process; means nothing outside it."""
    shots: tuple[_LabelledFrame, ...] = field(repr=False)
    look: ImageOptions = field(repr=False)
    speaks_anthropic: bool = False
    """Whether its images are written as Anthropic's API has them."""


def run_of(
    frames: VideoFrames,
    images: Sequence[EncodedFrame],
    look: ImageOptions,
    *,
    speaks_anthropic: bool = False,
) -> SplicedFrames:
    """Return the run of a video's frames; `images` are theirs, in the same order."""
    blocks = cue_blocks(frames.frames, frames.subtitles)
    paired = enumerate(zip(frames.frames, images, strict=True))
    shots = (_LabelledFrame(label(frame), image, blocks.get(n)) for n, (frame, image) in paired)
    material = f"{fragment(frames)} {look} {speaks_anthropic}"
    # One key for the whole run: with a key for each image 128 frames still cost 80 ms of CPU and
    # more, with one for all about 10.
    key = _NONCE + hashlib.sha256(material.encode()).hexdigest()
    return SplicedFrames(key, tuple(shots), look, speaks_anthropic)


class _Dialect(NamedTuple):
    text: bytes
    """Bytes before the text of a text part, which its extras and a brace end."""
    image: bytes
    """Bytes before an image's base64, which a quotation mark ends."""
    has_extras: bool = True
    """Whether a part may say how closely to look, and where a cache should end."""


_OPENAI = _Dialect(
    text=b'{"type":"text","text":',
    image=b'{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,',
)
# The SDK itself writes the URL-safe alphabet of base64; JSON of protobuf takes either.
_GEMINI = _Dialect(
    text=b'{"text":',
    image=b'{"inlineData":{"mimeType":"image/jpeg","data":"',
    has_extras=False,
)
_ANTHROPIC = _Dialect(
    text=b'{"type":"text","text":',
    image=b'{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"',
)
# With or without blanks, since not all SDKs write their JSON alike.
_PART = re.compile(
    rb'\{(?P<type>"type": ?"text", ?)?"text": ?"(?P<key>%b[0-9a-f]{64})"\}' % _NONCE.encode()
)


def _written(run: SplicedFrames, dialect: _Dialect) -> Iterator[bytes]:
    """Yield the run's parts with commas between them; the base64 is passed on, never copied."""
    glue = b""
    look = run.look if dialect.has_extras else AS_USUAL
    detail = "" if look.detail is None else f',"detail":{json.dumps(look.detail)}'
    for place, shot in enumerate(run.shots):
        is_last = place == len(run.shots) - 1
        said = look if is_last else look._replace(is_marked=False)
        yield glue + _text(dialect, shot.label, said.mark_at("label")) + b"," + dialect.image
        yield shot.image.base64
        glue = f'"{detail}}}{_extras(said.mark_at("image"))}}}'.encode()
        if shot.cues is not None:
            glue += b"," + _text(dialect, shot.cues)
        glue += b"" if is_last else b","
    yield glue


def _text(dialect: _Dialect, text: str, more: Mapping[str, Any] = MappingProxyType({})) -> bytes:
    said = json.dumps(text, ensure_ascii=False) + _extras(more)
    return dialect.text + said.encode() + b"}"


def _extras(more: Mapping[str, Any]) -> str:
    """Return further fields of a part, each with a comma before it."""
    return "".join(
        f",{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}"
        for name, value in more.items()
    )


@dataclass(slots=True)
class _CarriedRun:
    run: SplicedFrames
    sent: int = 0
    refusal: Astray | None = None


_CARRIED: ContextVar[_CarriedRun | None] = ContextVar("carried", default=None)


@contextmanager
def carrying(run: SplicedFrames | None) -> Iterator[None]:
    """Let the one call made in the block take `run` along; Astray if it does not."""
    if run is None:
        yield
        return
    carried = _CarriedRun(run)
    token = _CARRIED.set(carried)
    try:
        yield
    except Exception:
        # The clients would report it as a broken connection, which is tried again.
        if carried.refusal is not None:
            raise carried.refusal from None
        raise
    finally:
        _CARRIED.reset(token)
    # ChatOpenAI's calls that are not async go through another client, which sent the key as text.
    if not carried.sent:
        raise Astray("a call went out by another way than the one that takes its frames along")


def spliced(body: bytes) -> list[bytes] | None:
    """Return a request's body with the run of the call under way in its place, in pieces.

    None means that the body holds no run and should hold none. Costs no copy of any image. Raises
    Astray if it holds another run, not exactly one, or one where no text part stands.
    """
    carried = _CARRIED.get()
    found = body.count(_NONCE.encode())
    if carried is None and not found:
        return None
    try:
        return _in_place(body, found, carried)
    except Astray as refusal:
        if carried is not None:
            carried.refusal = refusal
        raise


def _in_place(body: bytes, found: int, carried: _CarriedRun | None) -> list[bytes]:
    if carried is None:
        raise Astray("a call holds frames that nobody gave it")
    if found != 1:
        raise Astray(f"a call holds its frames {found} times instead of once")
    part = _PART.search(body)
    if part is None:
        raise Astray("a call holds its frames where no part of its own stands for them")
    if part["key"] != carried.run.key.encode():
        raise Astray("a call holds the frames of another")
    of_type = _ANTHROPIC if carried.run.speaks_anthropic else _OPENAI
    written = _written(carried.run, of_type if part["type"] else _GEMINI)
    carried.sent += 1
    return [body[: part.start()], *written, body[part.end() :]]


Load = Callable[[str, list[str]], Awaitable[list[bytes]]]
"""Video id and frame digests to the frames' JPEG bytes."""

KEPT_BYTES = 256 * 1024 * 1024
"""Most bytes that are kept for calls to come: 128 frames each of some 40 videos, two blocks."""


class FrameBytes:
    """The base64 of frames by digest; one for a whole run, within one event loop.

    What calls under way hold is shared whether or not it is still kept, and is counted nowhere.
    """

    def __init__(self, load: Load, *, most_bytes: int = KEPT_BYTES) -> None:
        self._load = load
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, EncodedFrame] = OrderedDict()
        self._in_use: WeakValueDictionary[str, EncodedFrame] = WeakValueDictionary()
        # Held by whoever waits, so that those of videos long done are dropped.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def images(self, video: str, digests: Iterable[str]) -> list[EncodedFrame]:
        """Return the frames of these digests, loading what is not there; raises as the loader."""
        wanted = list(digests)
        lock = self._locks.setdefault(video, asyncio.Lock())
        # Whoever comes while they are being read waits for them instead of reading them too.
        async with lock:
            found = {digest: self._in_use.get(digest) for digest in wanted}
            missing = [digest for digest, image in found.items() if image is None]
            jpegs = await self._load(video, missing) if missing else []
            for digest, jpeg in zip(missing, jpegs, strict=True):
                found[digest] = self._in_use[digest] = EncodedFrame(base64.b64encode(jpeg))
        images = [image for digest in wanted if (image := found[digest]) is not None]
        self._keep(wanted, images)
        return images

    def _keep(self, digests: list[str], images: list[EncodedFrame]) -> None:
        for digest, image in zip(digests, images, strict=True):
            if digest not in self._kept:
                self._bytes += len(image.base64)
            self._kept[digest] = image
            self._kept.move_to_end(digest)
        while self._bytes > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.base64)
