"""LangChain embeddings: built by their names, and called as models that reply with a vector."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from videoautoarena.agents.providers import google_genai, openai
from videoautoarena.agents.providers.base import ModelSettings, Provider
from videoautoarena.agents.providers.google_genai import GOOGLE_GENAI
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

EMBEDDINGS = "embeddings"
"""What stands for a provider before the name of embeddings that are called like a model."""
KNOWN = {
    "openai": "langchain_openai.OpenAIEmbeddings",
    "google_genai": "langchain_google_genai.GoogleGenerativeAIEmbeddings",
}
SETTINGS: dict[str, dict[str, Any]] = {"openai": {"check_embedding_ctx_length": False}}
"""Beside the model's name. OpenAI's would fetch a vocabulary from another host, to count tokens."""


def build_embeddings(name: str, **more: Any) -> Embeddings:
    """Return the embeddings of a name as `embed` takes it, built with further settings."""
    provider, _, model = name.partition(":")
    try:
        built: Embeddings = embeddings_class(name)(
            model=model, **SETTINGS.get(provider, {}), **more
        )
    except BadInput:
        raise
    # Whatever a package raises: the choice of model is the user's.
    except Exception as wrong:  # noqa: BLE001
        raise BadInput(f"{name!a} cannot be used: {reason_of(wrong)}") from None
    return built


def embeddings_class(name: str) -> Any:
    """Return the class behind a name; BadInput where there is none of LangChain embeddings."""
    provider, _, model = name.partition(":")
    place, _, kind = KNOWN.get(provider, provider).rpartition(".")
    if not place or not model:
        known = ", ".join(f"{provider}:MODEL" for provider in KNOWN)
        raise BadInput(f"{name!a} names no embeddings; pass {known} or package.Class:MODEL")
    from langchain_core.embeddings import Embeddings

    try:
        made: Any = getattr(importlib.import_module(place), kind)
        if not (isinstance(made, type) and issubclass(made, Embeddings)):
            raise TypeError("no class of LangChain embeddings")
    except Exception as wrong:  # noqa: BLE001
        raise BadInput(f"{name!a} cannot be used: {reason_of(wrong)}") from None
    return made


def sees_images(name: str) -> bool:
    """Return whether the class behind a name embeds pictures, too."""
    return hasattr(embeddings_class(name), "embed_image")


def reason_of(wrong: Exception) -> str:
    """Return what went wrong in a line, without keys."""
    return redacted(f"{type(wrong).__name__}: {wrong}")


@dataclass(frozen=True)
class _Embeddings(Provider):
    """Embeddings called like a model: its name is theirs, `provider:MODEL` or a class's."""

    def build(self, model: ModelSettings) -> BaseChatModel:
        from videoautoarena.agents.providers.embedding_chat import EmbeddingChat

        return EmbeddingChat(embeddings=build_embeddings(model.name, **self.way(model)))

    def way(self, model: ModelSettings) -> dict[str, Any]:  # noqa: ARG002
        """Return what they are built with besides their name."""
        return {}

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        # A vector is not paid for by tokens of output.
        return {"max_tokens": 1}

    def keyed(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        return {}


@dataclass(frozen=True)
class _Served(_Embeddings):
    """Those of a provider whose chat models are known here, too: reached like them."""

    chat: Provider = OPENAI

    def check(self, model: ModelSettings) -> None:
        from videoautoarena.agents.transport.transport import check_proxies

        check_proxies()
        self.chat.check(model)

    def way(self, model: ModelSettings) -> dict[str, Any]:
        return WAYS[self.chat.name](model)

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:  # noqa: ARG002
        is_openai = self.chat is OPENAI
        return {"extra_headers": {"Idempotency-Key": key}} if is_openai else {}

    async def close(self, chat: Any) -> None:
        await self.chat.close(chat.embeddings)


WAYS: Mapping[str, Callable[[ModelSettings], dict[str, Any]]] = {
    "openai": openai.connection,
    "google_genai": google_genai.connection,
}
ANY_EMBEDDINGS = _Embeddings(EMBEDDINGS, parameters=())
"""Of any class; keys and addresses are its own matter."""


def embedding_provider(name: str) -> Provider:
    """Return what is behind embeddings of a name as `embed` takes it."""
    chat = {"openai": OPENAI, "google_genai": GOOGLE_GENAI}.get(name.partition(":")[0])
    if chat is None:
        return ANY_EMBEDDINGS
    return _Served(
        EMBEDDINGS,
        home=chat.home,
        key_names=chat.key_names,
        base_names=chat.base_names,
        parameters=(),
        chat=chat,
    )
