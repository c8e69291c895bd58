"""How a call is laid out: frames in the order of time, each behind its label, the task last.

Where a video has subtitles, every stretch of them stands in a block of its own, behind the frame
that is shown when it begins, fenced like all material. So did captions, text in the picture that
was once read for offline models: none are sent any more, but the keys of those calls hold them.
"""

from __future__ import annotations

import base64
import json
import weakref
from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from videoautoarena.agents.prompting.contracts import Reply
from videoautoarena.agents.prompting.fences import fence, fence_code
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import (
    Cue,
    Frame,
    Nonce,
    Role,
    Subtitles,
    SystemRole,
    VideoFrames,
)
from videoautoarena.video.sampling.thinning import thin

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


T = TypeVar("T")
BREAKPOINT = {"mode": "explicit"}
"""Marks a part as the end of what OpenAI's cache should keep."""


@dataclass(frozen=True, slots=True)
class Request:
    """One deliberate ask."""

    role: Role
    text: str
    frames: VideoFrames | None
    nonce: Nonce
    prompt: str = ""
    schema: type[Reply] | None = None
    """Schema that the reply is held to; None for free text."""


class CacheMark(NamedTuple):
    """What tells a provider's cache that all before it, and with it, is to be kept."""

    field: str
    value: Mapping[str, str]
    place: Literal["image", "label", "behind"] = "image"
    """In the last frame's image, in the label before it, or as a part of its own behind it."""

    @property
    def written(self) -> dict[str, Any]:
        """The mark as a field of a part, or as a part."""
        return {self.field: dict(self.value)}


OPENAI_MARK = CacheMark("prompt_cache_breakpoint", BREAKPOINT)


class ImageOptions(NamedTuple):
    """What a provider is told about images besides their bytes."""

    detail: str | None = None
    """What each image's part says of how closely to look; None says nothing."""
    is_marked: bool = False
    """Whether the last image ends what the provider's cache should keep."""
    mark: CacheMark = OPENAI_MARK
    """How that is said."""

    def mark_at(self, place: str) -> dict[str, Any]:
        """Return what the last frame says of caches in one place; nothing in all others."""
        return self.mark.written if self.is_marked and self.mark.place == place else {}


AS_USUAL = ImageOptions()


def label(frame: Frame) -> str:
    """Return the line a frame follows: its time in seconds from the first frame."""
    # Always two decimals: one other character at the first frame would lose the cached prefix
    # behind it.
    return f"t={frame.time_s:.2f}s"


def cue_blocks(frames: Sequence[Frame], subtitles: Subtitles | None) -> dict[int, str]:
    """Return the blocks of cues by the place of the last frame at or before the start of each."""
    return _blocks("subtitles", frames, subtitles.cues, subtitles.code) if subtitles else {}


def _blocks(name: str, frames: Sequence[Frame], cues: Sequence[Cue], code: str) -> dict[int, str]:
    lines: dict[int, list[str]] = {}
    times = [frame.time_s for frame in frames]
    for cue in cues if times else ():
        place = max(0, bisect_right(times, cue.start_s) - 1)
        line = f"{cue.start_s:.2f}s to {cue.end_s:.2f}s: {cue.text}"
        lines.setdefault(place, []).append(line)
    return {place: fence(name, code, "\n".join(said)) for place, said in lines.items()}


def messages(
    system: str,
    text: str,
    *,
    frames: Sequence[Frame],
    jpegs: Sequence[bytes],
    subtitles: Subtitles | None = None,
    look: ImageOptions = AS_USUAL,
    system_role: SystemRole | None = None,
) -> list[BaseMessage]:
    """Return the system message and one user message: label and image in turn, `text` last.

    With the `system_role` "user" there is one message, which `system` is the head of.
    """
    content: list[str | dict[str, Any]] = []
    blocks = cue_blocks(frames, subtitles)
    for place, (frame, jpeg) in enumerate(zip(frames, jpegs, strict=True)):
        # Without a mark GPT-5.6 and later write all frames into their cache anew for each role, at
        # 1.25 times the price, and Claude's caches keep nothing.
        said = look if place == len(frames) - 1 else look._replace(is_marked=False)
        content.append({"type": "text", "text": label(frame), **said.mark_at("label")})
        content.append({**_image(jpeg, look.detail), **said.mark_at("image")})
        behind = said.mark_at("behind")
        if behind:
            content.append(behind)
        if place in blocks:
            content.append({"type": "text", "text": blocks[place]})
    return _addressed(system, content, text, system_role)


def short_messages(
    system: str, stand_in: str, text: str, system_role: SystemRole | None = None
) -> list[BaseMessage]:
    """Return the same messages with one text in the place of all frames and cues."""
    return _addressed(system, [{"type": "text", "text": stand_in}], text, system_role)


def _addressed(
    system: str, content: list[str | dict[str, Any]], text: str, system_role: SystemRole | None
) -> list[BaseMessage]:
    from langchain_core.messages import HumanMessage, SystemMessage

    if system_role == "user":
        # Some servers write the parts of a message one behind the other, without a break.
        head = {"type": "text", "text": f"{system}\n\n"}
        return [HumanMessage(content=[head, *content, {"type": "text", "text": text}])]
    # The task comes last, so that all roles that look at one video share the longest prefix.
    asked = HumanMessage(content=[*content, {"type": "text", "text": text}])
    return [SystemMessage(system), asked]


def _image(jpeg: bytes, detail: str | None) -> dict[str, Any]:
    """Return an image's block; LangChain's own form has no place for the detail."""
    encoded = base64.b64encode(jpeg).decode("ascii")
    if detail is not None:
        url = {"url": f"data:image/jpeg;base64,{encoded}", "detail": detail}
        return {"type": "image_url", "image_url": url}
    return {"type": "image", "base64": encoded, "mime_type": "image/jpeg"}


def thinned(frames: VideoFrames, limit: int) -> VideoFrames:
    """Return `frames`, or the same object each time for at most `limit` of them."""
    if len(frames.frames) <= limit:
        return frames
    return once(frames, limit, lambda: thin(frames, limit))


def uncaptioned(frames: VideoFrames) -> VideoFrames:
    """Return `frames`, or the same object each time without the captions they have."""
    if not frames.captions:
        return frames
    return once(frames, "bare", lambda: frames.model_copy(update={"captions": ()}))


def fragment(frames: VideoFrames | None) -> str:
    """Return the frames' part of a journal key: the canonical JSON of [(label, digest) ...].

    A block of cues stands behind its frame as ("subtitles", digest) or ("captions", digest).
    """
    return "[]" if frames is None else once(frames, "fragment", lambda: _fragment(frames))


def _fragment(frames: VideoFrames) -> str:
    # The code around captions follows from them, and none of them holds it.
    texts = {f"{place}": cue.text for place, cue in enumerate(frames.captions)}
    code = fence_code(0, "", "captions", texts)
    spoken = (
        ("captions", _blocks("captions", frames.frames, frames.captions, code)),
        ("subtitles", cue_blocks(frames.frames, frames.subtitles)),
    )
    pairs = []
    for place, frame in enumerate(frames.frames):
        pairs.append([label(frame), frame.digest])
        pairs += [[kind, digest(said[place])] for kind, said in spoken if place in said]
    return json.dumps(pairs, separators=(",", ":"))


# By identity, for as long as the record lives: hashing 128 frames would cost more than is saved.
_made: dict[int, tuple[weakref.ref[VideoFrames], dict[Hashable, Any]]] = {}


def once(frames: VideoFrames | None, what: Hashable, make: Callable[[], T]) -> T:
    """Return what is made of frames, which is kept under a name for as long as they live."""
    if frames is None:
        return make()
    # Held by a name of its own: as the process ends, the module's are gone before the records.
    place = id(frames)
    made = _made
    if place not in made:
        made[place] = weakref.ref(frames, lambda _: made.pop(place, None)), {}
    held = made[place][1]
    if what not in held:
        held[what] = make()
    found: T = held[what]
    return found
