"""What a model is asked with: sampling parameters, prompt-cache hints, and embeddings of texts.

Sampling parameters are written down and travel with a bench, so nothing that holds a key or leads
a client elsewhere is one of them. Prompt caches work because the frames stand first and are the
same for all roles of a video (`agents/prompting/layout.py`). Embeddings serve topics, not ratings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from videoautoarena.agents.prompting.layout import BREAKPOINT, fragment
from videoautoarena.agents.providers.base import ModelSettings
from videoautoarena.agents.providers.embeddings import build_embeddings, reason_of
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Frames

_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?!\w)")
FIRST_WITH_BREAKPOINTS = (5, 6)
"""The version of GPT from which OpenAI's cache matches at breakpoints alone."""


def needs_breakpoint(model: ModelSettings) -> bool:
    """Return whether a model is known to find nothing in its cache without a marked end of it.

    A server of one's own is never sent the mark unasked: most refuse fields they do not know.
    """
    if not _is_openai_itself(model):
        return False
    name = model.name.lower()
    versions = (found.groups(default="0") for found in _VERSION.finditer(name))
    return any((int(major), int(minor)) >= FIRST_WITH_BREAKPOINTS for major, minor in versions)


def cache_options(model: ModelSettings, frames: Frames | None) -> dict[str, Any]:
    """Return what a call says of caching besides its mark: to OpenAI itself, which begin alike."""
    if frames is None or not frames.frames or model.provider != "openai":
        return {}
    options: dict[str, Any] = {}
    if _is_openai_itself(model):
        material = f"{fragment(frames)} {model.detail}"
        options["prompt_cache_key"] = hashlib.sha256(material.encode()).hexdigest()[:32]
    if model.cache_breakpoint:
        options["prompt_cache_options"] = dict(BREAKPOINT)
    return options


def _is_openai_itself(model: ModelSettings) -> bool:
    return model.provider == "openai" and model.url.rstrip("/") == model.maker.home


_SECRET = re.compile(
    r"(?i)api[-_]?key|secret|passw|authorization|credential|bearer|cookie|(access|auth|hf)[-_]?token"
)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_parameters(alias: str, known: tuple[str, ...], *, parameters: Mapping[str, Any]) -> None:
    """Return if all parameters can be sent; BadInput names one, never its value."""
    for name in _names(parameters):
        if _SECRET.search(name):
            raise BadInput(f"{alias!a}: {name!a} is no parameter; put keys in a variable (key_env)")
    for name in parameters:
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "offline models take none"
            raise BadInput(f"{alias!a} has the unknown parameter {name!a}; {there}")
    try:
        canonical_json(dict(parameters))
    except (TypeError, ValueError):
        raise BadInput(f"{alias!a} has a parameter that is no JSON value") from None


def check_key_env(alias: str, name: str) -> None:
    """Return if `name` can be that of a variable; BadInput, without it, where it may be a key."""
    if not _VARIABLE.fullmatch(name) or name.startswith("AIza"):
        raise BadInput(f"{alias!a}: key_env is the name of a variable, such as MY_KEY, not a key")


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from map(str, value)
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)


def embed(name: str, texts: Sequence[str]) -> list[list[float]]:
    """Return a vector for each text, in the model's own batches; keys are in its usual variables.

    `name` is `openai:model`, `google_genai:model`, or `package.Class:model` for any installed class
    of LangChain embeddings. Raises BadInput where there is no such model, it fails, or what it
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
