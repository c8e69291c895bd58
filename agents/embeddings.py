"""Vectors of texts, from any LangChain embeddings model; for topics, never for ratings."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from agents.redaction import told
from memory.errors import BadInput

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

KNOWN = {
    "openai": "langchain_openai.OpenAIEmbeddings",
    "google_genai": "langchain_google_genai.GoogleGenerativeAIEmbeddings",
}
SETTINGS: dict[str, dict[str, Any]] = {"openai": {"check_embedding_ctx_length": False}}
"""Beside the model's name. OpenAI's would fetch a vocabulary from another host, to count tokens."""


def embed(name: str, texts: Sequence[str]) -> list[list[float]]:
    """Return a vector for each text, in the model's own batches; keys are in its usual variables.

    Args:
        name: `openai:model`, `google_genai:model`, or `package.Class:model` for any class of
            LangChain embeddings that is installed.
        texts: which go to the model as they are.

    Raises:
        BadInput: there is no such model, it fails, or what it returns are no vectors.
    """
    model = _build(name)
    try:
        vectors = model.embed_documents(list(texts))
    # Whatever a package raises: the choice of model is the user's.
    except Exception as wrong:  # noqa: BLE001
        raise BadInput(f"{name!a} gave no embeddings: {_reason(wrong)}") from None
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
        raise BadInput(f"{name!a} gave {len(vectors)} embeddings of {len(texts)} texts")
    return [[float(number) for number in vector] for vector in vectors]


def _build(name: str) -> Embeddings:
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
        make = cast("Callable[..., Embeddings]", made)
        built = make(model=model, **SETTINGS.get(provider, {}))
    except Exception as wrong:  # noqa: BLE001
        raise BadInput(f"{name!a} cannot be used: {_reason(wrong)}") from None
    return built


def _reason(wrong: Exception) -> str:
    return told(f"{type(wrong).__name__}: {wrong}")
