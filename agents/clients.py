"""The last step of a call: frames become bytes, bytes become messages, a chat model replies."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from agents.contracts import SYSTEM
from agents.layout import messages
from agents.models import Model, build_chat_model
from agents.retry import Garbled, told
from memory.records import Frames, Role, Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

# How the clients fail on a page of HTML, a reply without choices or a field of another kind.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)

Load = Callable[[str, list[str]], Awaitable[list[bytes]]]
"""Video id and frame digests to the frames' JPEG bytes."""


@dataclass(frozen=True, slots=True)
class Sending:
    """One try of one call."""

    key: str
    """The call's journal key."""
    role: Role
    text: str
    frames: Frames | None


@dataclass(frozen=True, slots=True)
class Received:
    """What came back."""

    text: str
    usage: Usage
    ending: str = ""
    """Why the provider says it stopped."""
    refusal: str = ""
    """The model's words where the provider marks them as a refusal and gives no other text."""
    cost_usd: float | None = None
    """What the provider says it cost; None where it says nothing."""
    served_by: str | None = None
    """What the server calls the model that answered."""


class Client(Protocol):
    """What sends a call once, to one model."""

    async def send(self, sending: Sending) -> Received:
        """Return what the model replied, or raise what went wrong."""

    async def aclose(self) -> None:
        """Close its connections."""


class ChatClient:
    """Sends calls to one model through LangChain; builds its chat model at the first one."""

    def __init__(self, model: Model, load: Load) -> None:
        self._model = model
        self._load = load

    @cached_property
    def _chat(self) -> BaseChatModel:
        return build_chat_model(self._model)

    async def send(self, sending: Sending) -> Received:
        """Return what the model replied to one request."""
        frames = sending.frames.frames if sending.frames else ()
        digests = [frame.digest for frame in frames]
        jpegs = await self._load(sending.frames.video, digests) if sending.frames and frames else []
        subtitles = sending.frames.subtitles if sending.frames else None
        laid_out = messages(SYSTEM, sending.text, frames=frames, jpegs=jpegs, subtitles=subtitles)
        options = self._model.maker.options(self._model, sending.role, key=sending.key)
        return received(await self._invoke(laid_out, options))

    async def _invoke(self, laid_out: list[BaseMessage], options: dict[str, Any]) -> BaseMessage:
        chat = self._chat
        if self._model.is_offline:
            return await chat.ainvoke(laid_out)
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


def received(message: BaseMessage) -> Received:
    """Return a chat model's message as text, tokens and ending."""
    metadata = message.response_metadata
    ending = metadata.get("finish_reason") or metadata.get("block_reason") or ""
    return Received(
        text=str(message.text),
        usage=_usage(getattr(message, "usage_metadata", None) or {}),
        ending=str(ending),
        refusal=_refusal(message),
        cost_usd=_cost(metadata.get("token_usage")),
        served_by=_name(metadata.get("model_name")),
    )


def _refusal(message: BaseMessage) -> str:
    """Return what stands in OpenAI's field or content block for a refusal."""
    said = message.additional_kwargs.get("refusal")
    if isinstance(said, str) and said:
        return said
    blocks = [block for block in message.content if isinstance(block, dict)]
    marked = (block.get("refusal") for block in blocks if block.get("type") == "refusal")
    return next((words for words in marked if isinstance(words, str) and words), "")


def _cost(counted: object) -> float | None:
    """Return the cost that some servers report beside the tokens, such as OpenRouter."""
    cost = counted.get("cost") if isinstance(counted, dict) else None
    if not isinstance(cost, int | float) or isinstance(cost, bool):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None


def _name(said: object) -> str | None:
    return told(said) if isinstance(said, str) and said else None


def _usage(counted: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=counted.get("input_tokens"),
        output_tokens=counted.get("output_tokens"),
        cached_tokens=(counted.get("input_token_details") or {}).get("cache_read"),
        reasoning_tokens=(counted.get("output_token_details") or {}).get("reasoning"),
        written_tokens=(counted.get("input_token_details") or {}).get("cache_creation"),
    )
