"""How a call is laid out: frames in the order of time, each behind its label, the task last."""

from __future__ import annotations

import base64
import json
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.records import Frame, Frames
from video.frames import thin

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


def label(frame: Frame) -> str:
    """Return the line a frame follows: its time in seconds from the first frame."""
    return f"t={frame.time_s:.2f}s"


def messages(
    system: str, text: str, *, frames: Sequence[Frame], jpegs: Sequence[bytes]
) -> list[BaseMessage]:
    """Return the system message and one user message: label and image in turn, `text` last."""
    from langchain_core.messages import HumanMessage, SystemMessage

    content: list[str | dict[str, Any]] = []
    for frame, jpeg in zip(frames, jpegs, strict=True):
        content.append({"type": "text", "text": label(frame)})
        encoded = base64.b64encode(jpeg).decode("ascii")
        content.append({"type": "image", "base64": encoded, "mime_type": "image/jpeg"})
    content.append({"type": "text", "text": text})
    return [SystemMessage(system), HumanMessage(content=content)]


def thinned(frames: Frames, limit: int) -> Frames:
    """Return `frames`, or the same object each time for at most `limit` of them."""
    if len(frames.frames) <= limit:
        return frames
    kept: dict[int, Frames] = _remember(_thinned, frames)
    if limit not in kept:
        kept[limit] = thin(frames, limit)
    return kept[limit]


def fragment(frames: Frames | None) -> str:
    """Return the canonical JSON of [(label, digest) ...], the frames' part of a journal key."""
    if frames is None:
        return "[]"
    held: dict[int, str] = _remember(_fragments, frames)
    if 0 not in held:
        pairs = [[label(frame), frame.digest] for frame in frames.frames]
        held[0] = json.dumps(pairs, separators=(",", ":"))
    return held[0]


# By identity, for as long as the record lives: hashing 128 frames would cost more than is saved.
_thinned: dict[int, tuple[weakref.ref[Frames], dict[int, Frames]]] = {}
_fragments: dict[int, tuple[weakref.ref[Frames], dict[int, str]]] = {}


def _remember(memory: dict[int, tuple[weakref.ref[Frames], dict[int, Any]]], of: Frames) -> Any:
    place = id(of)
    held = memory.get(place)
    if held is None:
        held = weakref.ref(of, lambda _: memory.pop(place, None)), {}
        memory[place] = held
    return held[1]
