"""OpenAI, and every server that speaks its chat completions."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from videoautoarena.agents.prompting.layout import BREAKPOINT, fragment
from videoautoarena.agents.providers.base import (
    COMMON,
    NO_KEY,
    FrameTokens,
    ModelSettings,
    Provider,
    ReplyForm,
)
from videoautoarena.agents.transport.answers import COSTS, cost_in_counts
from videoautoarena.memory.records.records import ReplyFormat, Role, TokenField, VideoFrames

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from langchain_openai import ChatOpenAI

_HOST = "api.openai.com"
"""OpenAI's own; many others know a limit of tokens by its name of old alone, max_tokens."""
_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?!\w)")
FIRST_WITH_BREAKPOINTS = (5, 6)
"""The version of GPT from which OpenAI's cache matches at breakpoints alone."""
_ADVICE = r"(This model does not support|Invalid schema for) OpenAI's structured output feature"
"""Beginning of a warning of the client about methods that nobody here can call."""
_OURS = frozenset({"max_tokens", "stream"})
"""Parameters that the client is given under other names."""


@dataclass(frozen=True)
class OpenAIProtocol(Provider):
    """Whoever serves OpenAI's chat completions, told by name, home, key names and look of keys."""

    # What only other servers know stands in extra_body.
    parameters: tuple[str, ...] = (
        *(*COMMON, "reasoning_effort", "verbosity"),
        *("logit_bias", "stream", "extra_body"),
    )
    details: tuple[str, ...] = ("low", "high", "auto")
    has_part_detail: bool = True
    reply_formats: tuple[ReplyFormat, ...] = ("json_schema", "json_object")
    can_splice: bool = True
    speaks_openai: bool = True
    packages: tuple[str, ...] = ("openai", "langchain_openai")
    embeddings: str = "langchain_openai.OpenAIEmbeddings"
    # It would fetch a vocabulary from another host, to count tokens.
    embedding_settings: Mapping[str, Any] = field(
        default_factory=lambda: {"check_embedding_ctx_length": False}
    )

    def connection(self, model: ModelSettings) -> dict[str, Any]:
        from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

        from videoautoarena.agents.transport.transport import SplicingTransport

        # Clients of its own: LangChain shares one across event loops, where it cannot live.
        way: dict[str, Any] = {
            "timeout": model.timeout_s,
            "transport": SplicingTransport(model.url),
        }
        return {
            "api_key": model.key() or NO_KEY,
            "base_url": model.url,
            "timeout": model.timeout_s,
            # Tries are counted, paced and paid for by us.
            "max_retries": 0,
            "http_client": DefaultHttpxClient(**way),
            "http_async_client": DefaultAsyncHttpxClient(**way),
        }

    def build(self, model: ModelSettings) -> BaseChatModel:
        found = _chat_class()
        warnings.filterwarnings("ignore", _ADVICE, UserWarning)
        # The try has a deadline; the client's own patience with a piece would end while stopped.
        is_known = "stream_chunk_timeout" in found.model_fields
        patience = {"stream_chunk_timeout": None} if is_known else {}
        return found(
            model=model.name,
            # LangChain would choose it by the model's name; frames are spliced into chat
            # completions alone.
            use_responses_api=False,
            **patience,
            **self.connection(model),
            **_settings(model),
        )

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:
        options: dict[str, Any] = {"extra_headers": {"Idempotency-Key": key}}
        tokens = self.sampling(model, role).get("max_tokens")
        if not tokens or model.token_field is None:
            return options
        if model.token_field == "max_tokens":
            # The client renames a max_tokens of its own; what stands in here goes out as it is.
            return options | {"extra_body": {**_extra_body(model), "max_tokens": tokens}}
        return options | {"max_tokens": tokens}

    def held_to(
        self, model: ModelSettings, options: dict[str, Any], form: ReplyForm
    ) -> dict[str, Any]:
        wish: dict[str, Any] = {"type": form.format}
        if form.format == "json_schema":
            wish["json_schema"] = {"name": form.name, "strict": True, "schema": form.schema}
        # As a field of its own the client would read the reply by it, and refuse what is cut off.
        more = options.get("extra_body", _extra_body(model))
        return options | {"extra_body": {**more, "response_format": wish}}

    def token_field(self, model: ModelSettings) -> TokenField | None:
        if _extra_body(model).keys() & set(get_args(TokenField)):
            return None
        if model.token_limit_field is not None:
            return model.token_limit_field
        host = urlsplit(model.url).hostname or ""
        is_openai = host == _HOST or host.endswith(f".{_HOST}")
        return "max_completion_tokens" if is_openai else "max_tokens"

    def needs_breakpoint(self, model: ModelSettings) -> bool:
        # A server of one's own is never sent the mark unasked: most refuse fields they do not know.
        if not _is_openai_itself(model):
            return False
        versions = (found.groups(default="0") for found in _VERSION.finditer(model.name.lower()))
        return any((int(major), int(minor)) >= FIRST_WITH_BREAKPOINTS for major, minor in versions)

    def cache_options(self, model: ModelSettings, frames: VideoFrames | None) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if frames is None or not frames.frames:
            return options
        if _is_openai_itself(model):
            # Calls that begin alike are sent to the machine that has their beginning in its cache.
            material = f"{fragment(frames)} {model.detail}"
            options["prompt_cache_key"] = hashlib.sha256(material.encode()).hexdigest()[:32]
        if model.cache_breakpoint:
            options["prompt_cache_options"] = dict(BREAKPOINT)
        return options

    def stream_options(self) -> dict[str, Any]:
        return {"stream_usage": True}

    async def close(self, chat: Any) -> None:
        chat.http_client.close()
        await chat.http_async_client.aclose()


def _keep_thoughts(said: Any, made: ChatGeneration) -> None:
    """Keep the words that a server put beside the text, where LangChain's own classes do."""
    words = [said[name] for name in _THOUGHTS if said and isinstance(said.get(name), str)]
    if any(words):
        made.message.additional_kwargs["reasoning_content"] = "".join(words)


_THOUGHTS = ("reasoning_content", "reasoning")
"""Field of thoughts: of vLLM, SGLang, llama.cpp, DeepSeek; of newer ones of them, and Ollama."""


OPENAI = OpenAIProtocol(
    "openai",
    home="https://api.openai.com/v1",
    key_names=("OPENAI_API_KEY",),
    key_look=r"\bsk-[\w*.\-]{4,}",
    base_names=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    price_list="openai",
    batches="openai",
    frame_tokens=(
        ("gpt-4o-mini", "low", FrameTokens(2_833, 2_833)),
        ("", "low", FrameTokens(85, 85)),
        ("gpt-4o-mini", None, FrameTokens(8_500, 8_500)),
        ("", None, FrameTokens(255, 765)),
    ),
)


def _is_openai_itself(model: ModelSettings) -> bool:
    return model.maker is OPENAI and model.url.rstrip("/") == OPENAI.home


def _settings(model: ModelSettings) -> dict[str, Any]:
    """Return a model's parameters for its client; each call says its limit of tokens itself."""
    sent = {name: value for name, value in model.parameters.items() if name not in _OURS}
    is_streamed = model.parameters.get("stream") is True
    return sent | ({"streaming": True, "stream_usage": True} if is_streamed else {})


def _extra_body(model: ModelSettings) -> dict[str, Any]:
    more = model.parameters.get("extra_body")
    return dict(more) if isinstance(more, Mapping) else {}


@cache
def _chat_class() -> type[ChatOpenAI]:
    """Return LangChain's class, mended where it drops what servers put beside the text."""
    from langchain_openai import ChatOpenAI

    class OpenAI(ChatOpenAI):
        """Keeps `reasoning_content`, no field of OpenAI's own, and what pieces say of cost."""

        def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
            result = super()._create_chat_result(response, generation_info)
            choices = response["choices"] if isinstance(response, dict) else response.choices
            for choice, made in zip(choices, result.generations, strict=True):
                # Only of a reply without text does anybody ask.
                if not made.message.content:
                    said = choice["message"] if isinstance(choice, dict) else choice.message
                    _keep_thoughts(said if isinstance(said, dict) else said.model_extra, made)
            return result

        def _convert_chunk_to_generation_chunk(
            self, chunk: dict[str, Any], *args: Any, **kwargs: Any
        ) -> ChatGenerationChunk | None:
            made = super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)
            if made is None:
                return None
            choices = chunk.get("choices")
            if choices:
                _keep_thoughts(choices[0].get("delta"), made)
            cost = cost_in_counts(chunk.get("usage"))
            if cost is not None:
                made.generation_info = {**(made.generation_info or {}), COSTS: [cost]}
            return made

    return OpenAI
