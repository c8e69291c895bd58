"""The last step of a call: frames become bytes, bytes become messages, a chat model replies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from videoautoarena.agents.models.parameters import cache_options
from videoautoarena.agents.models.registry import Model, build_chat_model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import Look, messages, short_messages
from videoautoarena.agents.providers.base import Form
from videoautoarena.agents.transport.faults import Garbled
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.agents.transport.splice import FrameBytes, Run, carrying, run_of
from videoautoarena.agents.transport.splice import Load as Load
from videoautoarena.agents.transport.transport import ask_guard, splices
from videoautoarena.memory.records.records import Frames, Role, TokenField, Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

_ENDINGS = ("finish_reason", "block_reason", "stop_reason", "done_reason")
"""What chat models call the reason why a reply ended: OpenAI, Gemini, Anthropic, Ollama."""
# How the clients fail on a page of HTML, a reply without choices or a field of another kind.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
_MOST_TOKENS = 10**9
_MOST_USD = 10**6
"""What one call cannot come to; a server that says more has said nothing."""


@dataclass(frozen=True, slots=True)
class Sending:
    """One try of one call."""

    key: str
    role: Role
    text: str
    frames: Frames | None
    token_field: TokenField | None = None
    """By which name the limit of tokens is sent; None: as its model has it."""
    form: Form | None = None
    """What its reply is to be held to; None: to nothing."""


@dataclass(frozen=True, slots=True)
class Received:
    """What came back."""

    text: str
    usage: Usage
    ending: str = ""
    refusal: str = ""
    """The model's words where the provider marks them as a refusal and gives no other text."""
    cost_usd: float | None = None
    """What the provider says it cost; None where it says nothing."""
    served_by: str | None = None


class Client(Protocol):
    """What sends a call once, to one model."""

    async def send(self, sending: Sending) -> Received:
        """Return what the model replied, or raise what went wrong."""

    async def aclose(self) -> None:
        """Close its connections."""


class ChatClient:
    """Sends calls to one model through LangChain; builds its chat model at the first one."""

    def __init__(self, model: Model, load: Load, shelf: FrameBytes | None = None) -> None:
        self._model = model
        self._load = load
        self._shelf = shelf or FrameBytes(load)
        self._look = Look(model.part_detail, model.cache_breakpoint)

    @cached_property
    def _chat(self) -> BaseChatModel:
        return build_chat_model(self._model)

    async def send(self, sending: Sending) -> Received:
        laid_out, run = await self._laid_out(sending)
        model = self._model
        if sending.token_field is not None and sending.token_field != model.token_field:
            model = replace(model, token_limit_field=sending.token_field)
        options = model.maker.options(model, sending.role, key=sending.key)
        options |= cache_options(self._model, sending.frames)
        if sending.form is not None:
            options = model.maker.held_to(model, options, sending.form)
        with carrying(run):
            message = await self._invoke(laid_out, options)
        whole = received(message)
        if not whole.ending and self._model.parameters.get("stream") is True:
            # A connection that ends between two pieces ends like any other.
            raise Garbled("the reply came in pieces, and the last of them did not come")
        return whole

    async def _laid_out(self, sending: Sending) -> tuple[list[BaseMessage], Run | None]:
        """Return the messages, and the run of frames that one text in them stands for, if any."""
        frames, text = sending.frames, sending.text
        if frames is None or not frames.frames:
            return messages(SYSTEM, text, frames=(), jpegs=()), None
        digests = [frame.digest for frame in frames.frames]
        if self._model.maker.can_splice and splices(self._chat):
            run = run_of(frames, await self._shelf.images(frames.video, digests), self._look)
            return short_messages(SYSTEM, run.key, text), run
        shown, jpegs = frames.frames, await self._load(frames.video, digests)
        look, lines = self._look, frames.subtitles
        return messages(SYSTEM, text, frames=shown, jpegs=jpegs, subtitles=lines, look=look), None

    async def _invoke(self, laid_out: list[BaseMessage], options: dict[str, Any]) -> BaseMessage:
        chat = self._chat
        if self._model.is_offline:
            return await chat.ainvoke(laid_out)
        ask_guard()
        # The clients' own limits count single reads and writes; this one counts the whole try.
        try:
            async with asyncio.timeout(self._model.timeout_s):
                return await chat.ainvoke(laid_out, **options)
        except _UNREADABLE as error:
            raise Garbled(f"{type(error).__name__}: {error}") from None

    async def aclose(self) -> None:
        """Close the chat model's connections, if it was ever built."""
        if "_chat" in self.__dict__:
            await self._model.maker.close(self._chat)


class ChatClients:
    """Makes the clients of one run, which share the frames they send."""

    def __init__(self) -> None:
        self._shelf: FrameBytes | None = None

    def __call__(self, model: Model, load: Load) -> ChatClient:
        self._shelf = self._shelf or FrameBytes(load)
        return ChatClient(model, load, self._shelf)


def received(message: BaseMessage) -> Received:
    """Return a chat model's message as text, tokens and ending."""
    metadata, text = message.response_metadata, str(message.text)
    ending = next(filter(None, map(metadata.get, _ENDINGS)), "")
    counted, name = metadata.get("token_usage"), metadata.get("model_name")
    return Received(
        text=text,
        usage=_usage(getattr(message, "usage_metadata", None) or {}, is_empty=not text),
        ending=str(ending),
        refusal=_refusal(message),
        # Some servers report the cost beside the tokens, such as OpenRouter.
        cost_usd=_figure(counted.get("cost"), _MOST_USD) if isinstance(counted, dict) else None,
        served_by=redacted(name) if isinstance(name, str) and name else None,
    )


def _refusal(message: BaseMessage) -> str:
    """Return what stands in OpenAI's field or content block for a refusal."""
    said = message.additional_kwargs.get("refusal")
    if isinstance(said, str) and said:
        return said
    blocks = [block for block in message.content if isinstance(block, dict)]
    marked = (block.get("refusal") for block in blocks if block.get("type") == "refusal")
    return next((words for words in marked if isinstance(words, str) and words), "")


def _usage(counted: dict[str, Any], *, is_empty: bool) -> Usage:
    """Return what is counted; input and output tokens are None where nobody counted them.

    Clients put 0 for what a server leaves out, but no call is read from nothing and no text written
    with nothing. Some servers, xAI's among them, count what a model thought in the total alone.
    """
    read = counted.get("input_token_details") or {}
    details = counted.get("output_token_details") or {}
    given, output, total = (
        _count(counted.get(name)) for name in ("input_tokens", "output_tokens", "total_tokens")
    )
    if given and output is not None and total is not None:
        output = max(output, total - given)
    return Usage(
        input_tokens=given or None,
        output_tokens=output if output or (given and is_empty) else None,
        cached_tokens=_count(read.get("cache_read")),
        reasoning_tokens=_count(details.get("reasoning")),
        written_tokens=_count(read.get("cache_creation")),
    )


def _count(said: object) -> int | None:
    figure = _figure(said, _MOST_TOKENS)
    return int(figure) if figure is not None and figure == int(figure) else None


def _figure(said: object, most: int) -> float | None:
    """Return a number from 0 to `most`; None where something else was said."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return said if 0 <= said <= most else None
