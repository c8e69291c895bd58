"""What tracing callbacks are shown of a call: digests in the place of pictures, and no key.

LangChain shows a call's messages to all callbacks before the model gets them. The list that it
shows is one of its own, and the callbacks are called in order: the first of them puts digests into
it, so that LangSmith and all others see nothing else. What the model is sent stays as it is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.base import BaseCallbackManager, Callbacks
from langchain_core.messages import BaseMessage
from langchain_core.runnables import ensure_config
from langchain_core.runnables.config import var_child_runnable_config

from videoautoarena.agents.prompting.layout import cue_blocks, label
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import VideoFrames

_MEDIA = frozenset({"base64", "data"})
"""Names under which LangChain's and the providers' blocks hold media in base64."""
_IN_URL = ";base64,"
_KEYS = re.compile(r"(?i)key|secret|token$|passw|credential|auth|cookie")
"""Names of settings that may hold a key."""


class MediaDigests(BaseCallbackHandler):
    """Takes media and keys out of what the callbacks behind it are shown of a call."""

    run_inline = True
    """Called in order, where most are called at once."""
    raise_error = True
    """A call that would show its frames is not made."""

    def __init__(self, stand_in: str | None = None, frames: VideoFrames | None = None) -> None:
        """Show digests of media, and those of `frames` in the place of a text that stands in."""
        self._stand_in = stand_in
        self._frames = frames

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **more: Any
    ) -> None:
        """Change what is about to be shown, in its place."""
        for asked in messages:
            asked[:] = map(self._shown, asked)
        # Of a class that LangChain cannot serialize, it holds whatever the fields do.
        if serialized and "repr" in serialized:
            serialized["repr"] = None
        for said in filter(None, (serialized, more.get("invocation_params"), more.get("options"))):
            # What stands in these is part of the call itself, and is never changed in its place.
            said.update(_without_keys(said))

    def _shown(self, message: BaseMessage) -> BaseMessage:
        if isinstance(message.content, str):
            return message
        shown = [one for block in message.content for one in self._blocks(block)]
        return message.model_copy(update={"content": shown})

    def _blocks(self, block: str | dict[str, Any]) -> Iterator[str | dict[str, Any]]:
        text = block if isinstance(block, str) else block.get("text")
        if self._frames is not None and text is not None and text == self._stand_in:
            yield from _digests_of(self._frames)
            return
        found = [] if isinstance(block, str) else list(_media_in(block))
        if not found:
            yield block
        for media in found:
            yield _text(f"sha256:{digest(media)}")


def _digests_of(frames: VideoFrames) -> Iterator[dict[str, Any]]:
    """Yield the blocks that frames are laid out in, with a digest for each picture."""
    cues = cue_blocks(frames.frames, frames.subtitles)
    for place, frame in enumerate(frames.frames):
        yield _text(label(frame))
        yield _text(f"sha256:{frame.digest}")
        if place in cues:
            yield _text(cues[place])


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _media_in(value: object, name: str = "") -> Iterator[bytes]:
    """Yield the media in a block, whichever provider's form it has; texts are left alone."""
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, Mapping):
        for inner_name, inner in value.items():
            yield from _media_in(inner, str(inner_name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _media_in(inner, name)
    elif isinstance(value, str) and name != "text":
        is_address = value.startswith("data:") and _IN_URL in value
        if is_address or name in _MEDIA:
            yield _decoded(value.partition(_IN_URL)[2] if is_address else value)


def _decoded(text: str) -> bytes:
    # Gemini's own alphabet is the URL-safe one.
    decode = base64.urlsafe_b64decode if "-" in text or "_" in text else base64.b64decode
    try:
        return decode(text)
    except binascii.Error:
        return text.encode()


def _without_keys(value: object, name: str = "") -> Any:
    """Return a copy of settings in which what stands under a name for keys is replaced."""
    if isinstance(value, dict):
        return {inner: _without_keys(said, str(inner)) for inner, said in value.items()}
    return "[key]" if isinstance(value, str) and value and _KEYS.search(name) else value


@contextmanager
def showing_digests(
    stand_in: str | None, frames: VideoFrames | None, *, beside_others: bool
) -> Iterator[None]:
    """Let callbacks see digests of the pictures of the call that is made in the block.

    `stand_in` is the text that stands for `frames`, if any does. With `beside_others` nothing is
    changed for a call that the callbacks around it say nothing of.
    """
    config = ensure_config()
    others = config.get("callbacks")
    if beside_others and not has_handlers(others):
        yield
        return
    # In the context and not as an argument: a class that asks another chat model hands nothing on.
    first = MediaDigests(stand_in, frames)
    token = var_child_runnable_config.set({**config, "callbacks": _behind(first, others)})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def has_handlers(callbacks: Callbacks) -> bool:
    """Return whether somebody listens."""
    if isinstance(callbacks, BaseCallbackManager):
        return bool(callbacks.handlers)
    return bool(callbacks)


def _behind(first: BaseCallbackHandler, others: Callbacks) -> Callbacks:
    if not isinstance(others, BaseCallbackManager):
        return [first, *(others or ())]
    manager = others.copy()
    manager.handlers.insert(0, first)
    manager.inheritable_handlers.insert(0, first)
    return manager
