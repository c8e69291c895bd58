"""LangChain embeddings: built by their names, and called as models that reply with a vector."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from videoautoarena.agents.providers.base import ModelSettings, Provider
from videoautoarena.agents.providers.catalogue import BUILT_IN, EMBEDDERS, EMBEDDINGS
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel


def build_embeddings(name: str, **more: Any) -> Embeddings:
    """Return the embeddings of a name as `embed` takes it, built with further settings."""
    provider, _, model = name.partition(":")
    try:
        known = BUILT_IN[provider].embedding_settings if provider in BUILT_IN else {}
        built: Embeddings = embeddings_class(name)(model=model, **known, **more)
    except BadInput:
        raise
    # Whatever a package raises: the choice of model is the user's.
    except Exception as wrong:  # noqa: BLE001
        raise BadInput(f"{name!a} cannot be used: {reason_of(wrong)}") from None
    return built


def embed(name: str, texts: Sequence[str]) -> list[list[float]]:
    """Return a vector for each text, in the model's own batches; keys are in its usual variables.

    `name` is `openai:model`, `google_genai:model`, or `package.Class:model` for any installed class
    of LangChain embeddings. Raises BadInput if there is no such model, it fails, or what it
    returns are no vectors.
    """
    model = build_embeddings(name)
    try:
        vectors = model.embed_documents(list(texts))
    # Whatever a package raises: the choice of model is the user's.
    except Exception as wrong:  # noqa: BLE001
        raise BadInput(f"{name!a} gave no embeddings: {reason_of(wrong)}") from None
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
        raise BadInput(f"{name!a} gave {len(vectors)} embeddings of {len(texts)} texts")
    return [[float(number) for number in vector] for vector in vectors]


def embeddings_class(name: str) -> Any:
    """Return the class behind a name; BadInput if that is no class of LangChain embeddings."""
    provider, _, model = name.partition(":")
    place, _, kind = EMBEDDERS.get(provider, provider).rpartition(".")
    if not place or not model:
        known = ", ".join(f"{provider}:MODEL" for provider in EMBEDDERS)
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
class EmbeddingProvider(Provider):
    """Embeddings called like a model, whose name is theirs: `provider:MODEL` or a class's."""

    chat: Provider | None = None
    """Whose chat models are reached as they are; None: keys and addresses are their class's own."""

    def build(self, model: ModelSettings) -> BaseChatModel:
        from videoautoarena.agents.providers.embedding_chat import EmbeddingChat

        way = {} if self.chat is None else self.chat.connection(model)
        return EmbeddingChat(embeddings=build_embeddings(model.name, **way))

    def check(self, model: ModelSettings) -> None:
        if self.chat is not None:
            from videoautoarena.agents.transport.transport import check_proxies

            check_proxies()
            self.chat.check(model)

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        # A vector is not paid for by tokens of output.
        return {"max_tokens": 1}

    def keyed(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:  # noqa: ARG002
        takes_headers = self.chat is not None and self.chat.speaks_openai
        return {"extra_headers": {"Idempotency-Key": key}} if takes_headers else {}

    async def close(self, chat: Any) -> None:
        if self.chat is None:
            await super().close(chat)
        else:
            await self.chat.close(chat.embeddings)


def embedding_provider(name: str) -> Provider:
    """Return what is behind embeddings of a name as `embed` takes it."""
    provider = name.partition(":")[0]
    if provider not in EMBEDDERS:
        return EmbeddingProvider(EMBEDDINGS, parameters=())
    chat = BUILT_IN[provider]
    return EmbeddingProvider(
        EMBEDDINGS,
        home=chat.home,
        key_names=chat.key_names,
        base_names=chat.base_names,
        parameters=(),
        chat=chat,
    )
