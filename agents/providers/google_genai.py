"""Gemini, over the Gemini API."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from videoautoarena.agents.providers.base import (
    COMMON,
    NO_KEY,
    FrameTokens,
    ModelSettings,
    Provider,
    ReplyForm,
)
from videoautoarena.agents.providers.own_credentials import OwnCredentials, google_credentials
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import ReplyFormat, Role

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.outputs import ChatResult
    from langchain_google_genai import ChatGoogleGenerativeAI

KEYED_TEMPERATURE = 0.7
"""Stands in the keys of models before Gemini 3 for which nobody set one, and is sent to none.

LangChain's client would send it, and once did: with another key, calls of that time would be paid
again.
"""
_RESOLUTIONS = {"low": "MEDIA_RESOLUTION_LOW", "high": "MEDIA_RESOLUTION_HIGH"}
_OTHER_BACKENDS = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")
_MAJOR = re.compile(r"gemini-(\d+)")


@dataclass(frozen=True)
class _GoogleGenAI(Provider):
    """Gemini, wherever it is served."""

    parameters: tuple[str, ...] = (
        *(*COMMON, "top_k", "thinking_budget"),
        *("thinking_level", "media_resolution"),
    )
    details: tuple[str, ...] = tuple(_RESOLUTIONS)
    reply_formats: tuple[ReplyFormat, ...] = ("json_schema", "json_object")
    can_splice: bool = True
    packages: tuple[str, ...] = ("google", "langchain_google_genai")
    # By Google's guide to caching of October 2026; Gemini before 2.5 is cached on demand alone.
    least_cached: tuple[tuple[str, int | None], ...] = field(
        default=((r"gemini-(?:1|2\.0)", None), ("gemini-2", 2_048), ("", 4_096)), kw_only=True
    )
    frame_tokens: tuple[tuple[str, str | None, FrameTokens], ...] = (
        ("gemini-2", None, FrameTokens(258, 1_120)),
        ("", None, FrameTokens(1_120, 1_120)),
    )

    def connection(self, model: ModelSettings) -> dict[str, Any]:
        from videoautoarena.agents.transport.transport import SplicingTransport

        return {
            "google_api_key": model.key() or NO_KEY,
            "base_url": model.url,
            # Or variables of the environment could lead the client to another backend.
            "vertexai": False,
            # With a transport of ours its client also stays with httpx where aiohttp is there.
            "client_args": {"transport": SplicingTransport(model.url)},
        }

    def build(self, model: ModelSettings) -> BaseChatModel:
        return _chat_class()(
            model=model.name,
            timeout=model.timeout_s,
            # 1 is the request itself; 0 would mean the SDK's own number of retries.
            max_retries=1,
            **self.connection(model),
            # Left out, LangChain would send one of its own; None leaves it to the provider.
            **{"temperature": None, **self.sampling(model, "judge")},
        )

    def check(self, model: ModelSettings) -> None:
        """Refuse a switch that would lead the client past the address it is given."""
        for name in _OTHER_BACKENDS:
            if os.environ.get(name, "").strip().lower() in ("1", "true", "yes"):
                use = f"{model.alias!a} uses the Gemini API alone"
                raise BadInput(f"{name} is set; {use}, so unset it or write vertex:{model.name}")

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:
        options: dict[str, Any] = {"http_options": {"headers": {"Idempotency-Key": key}}}
        tokens = self.sampling(model, role).get("max_tokens")
        return options | ({"max_output_tokens": tokens} if tokens else {})

    def held_to(
        self,
        model: ModelSettings,  # noqa: ARG002
        options: dict[str, Any],
        form: ReplyForm,
    ) -> dict[str, Any]:
        held = options | {"response_mime_type": "application/json"}
        return held | (
            {"response_json_schema": form.schema} if form.format == "json_schema" else {}
        )

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:
        chosen = super().sampling(model, role)
        if model.detail is not None:
            chosen.setdefault("media_resolution", _RESOLUTIONS[model.detail])
        return chosen

    def keyed(self, model: ModelSettings, role: Role) -> dict[str, Any]:
        majors = _MAJOR.findall(model.name.lower().rsplit("/", 1)[-1])
        is_old = all(int(major) < 3 for major in majors)
        known = {"temperature": KEYED_TEMPERATURE} if is_old else {}
        return {**known, **self.sampling(model, role)}

    async def close(self, chat: Any) -> None:
        await chat.client.aio.aclose()


GOOGLE_GENAI = _GoogleGenAI(
    "google_genai",
    home="https://generativelanguage.googleapis.com",
    key_names=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    key_look=r"\bAIza[\w\-*.]{8,}",
    base_names=("GOOGLE_GEMINI_BASE_URL",),
    price_list="google",
    caching="implicit",
    batches="gemini",
    thinking="{ thinking_budget = 4000 }",
    embeddings="langchain_google_genai.GoogleGenerativeAIEmbeddings",
)


@dataclass(frozen=True)
class VertexProtocol(_GoogleGenAI):
    """Gemini through Vertex AI, in a project, let in by application default credentials."""

    def address(self, named: str | None) -> str:
        # As Google's own client chooses it.
        where = _location()
        if named:
            return named
        if where == "global":
            return "https://aiplatform.googleapis.com"
        if where in ("us", "eu"):
            return f"https://aiplatform.{where}.rep.googleapis.com"
        return f"https://{where}-aiplatform.googleapis.com"

    def connection(self, model: ModelSettings) -> dict[str, Any]:
        own = {"vertexai": True, "project": _project(), "location": _location()}
        # A project is named, so that no key of the Gemini API is sent in place of the credentials.
        return {**super().connection(model), "google_api_key": None, **own}

    def check(self, model: ModelSettings) -> None:
        """Refuse a model without the project whose quota and bill it goes on."""
        if not _project():
            raise BadInput(f"{model.alias!a} needs a project of Google Cloud; set {_PROJECT}")
        if not re.fullmatch(r"[a-z\d-]+", _location()):
            raise BadInput(f"{_LOCATION} is no location, such as global or europe-west4; mend it")

    def find_credentials(self) -> OwnCredentials:
        return google_credentials()


_PROJECT, _LOCATION = "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"


def _project() -> str:
    return os.environ.get(_PROJECT, "").strip()


def _location() -> str:
    return os.environ.get(_LOCATION, "").strip() or "global"


@cache
def _chat_class() -> type[ChatGoogleGenerativeAI]:
    """Return LangChain's class, mended where it drops why a prompt was blocked."""
    from langchain_google_genai import ChatGoogleGenerativeAI

    class Gemini(ChatGoogleGenerativeAI):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
            result = await super()._agenerate(*args, **kwargs)
            feedback = (result.llm_output or {}).get("prompt_feedback") or {}
            reason = feedback.get("block_reason")
            if reason is not None:
                said = str(getattr(reason, "value", reason))
                for generation in result.generations:
                    generation.message.response_metadata["block_reason"] = said
            return result

    return Gemini
