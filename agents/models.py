"""Model names, where they lead, and the chat models behind them.

Nothing here imports a provider's package before its model is built: each costs about two seconds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from agents.offline.cast import KINDS
from agents.parameters import check_key_env, check_parameters
from agents.retry import KEY_NAMES, told
from memory.errors import BadInput
from memory.records import CallLimits, Price, Role

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

PROVIDERS = ("offline", "openai", "google_genai")
CONTESTANT_FRAMES = 64
"""Most frames of a contestant that names no limit (VideoAutoArena, experimental settings)."""
MOST_FRAMES = 1024
CONTESTANT_TOKENS = 4096
"""max_tokens of a remote contestant that names none (VideoAutoArena, experimental settings)."""
GEMINI_TEMPERATURE = 0.7
"""What LangChain sends to Gemini before version 3 where nothing is set."""
NO_LIMITS = CallLimits()
NO_KEY = "none"
"""Stands for the key of a compatible server that asks for none."""

_KEYS = {"openai": ("OPENAI_API_KEY",), "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
_BASES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "google_genai": ("GOOGLE_GEMINI_BASE_URL",),
}
_HOMES = {
    "openai": "https://api.openai.com/v1",
    "google_genai": "https://generativelanguage.googleapis.com",
}
_OTHER_BACKENDS = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")
_GEMINI_MAJOR = re.compile(r"gemini-(\d+)")


@dataclass(frozen=True)
class Model:
    """One model as a run uses it."""

    alias: str
    """What the roster calls it."""
    provider: str
    name: str
    """What the provider calls it."""
    max_frames: int | None = None
    """Most frames it is sent; None leaves it to the role."""
    base_url: str | None = None
    key_env: str | None = None
    """Environment variable that holds its key; None means the provider's own."""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Sampling parameters by LangChain's names, such as temperature or max_tokens."""
    timeout_s: float = 300.0
    """Longest one try may take."""
    detail: Literal["low", "high", "auto"] | None = None
    """How closely the provider looks at each frame; None leaves it to the provider."""
    cache_breakpoint: bool = False
    """Mark the last frame as the end of what the provider's cache should keep."""
    limits: CallLimits = NO_LIMITS
    price: Price | None = None
    """None means unknown."""
    frame_tokens: int | None = None
    """Tokens one frame counts as; None leaves it to what is known of the provider."""

    @property
    def resolved(self) -> str:
        """`provider:name`, whatever the alias."""
        return f"{self.provider}:{self.name}"

    @property
    def is_offline(self) -> bool:
        """Whether it runs inside the process."""
        return self.provider == "offline"

    @cached_property
    def url(self) -> str:
        """Where its calls go, as its client is told; empty for an offline model."""
        named = (os.environ.get(name) for name in _BASES.get(self.provider, ()))
        url = self.base_url or next(filter(None, named), None)
        return url or _HOMES.get(self.provider, "")

    @cached_property
    def endpoint(self) -> str:
        """The host its frames go to, without credentials; "in-process" for an offline model."""
        if self.is_offline:
            return "in-process"
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        return f"{host}:{parts.port}" if parts.port else host

    def frame_limit(self, role: Role) -> int:
        """Return the most frames it is sent in `role`."""
        if self.max_frames is not None:
            return self.max_frames
        return CONTESTANT_FRAMES if role == "contestant" else MOST_FRAMES

    def sampling(self, role: Role) -> dict[str, Any]:
        """Return the sampling parameters that go out in `role`, those of the client included."""
        if self.is_offline:
            return dict(self.parameters)
        chosen = dict(self.parameters)
        if role == "contestant":
            chosen.setdefault("max_tokens", CONTESTANT_TOKENS)
        if self.provider == "google_genai" and not _is_gemini_3(self.name):
            chosen.setdefault("temperature", GEMINI_TEMPERATURE)
        return chosen

    @property
    def key_names(self) -> tuple[str, ...]:
        """Variables that may hold its key; a provider's own key never goes to another server."""
        if self.key_env:
            return (self.key_env,)
        return () if self.base_url else _KEYS.get(self.provider, ())

    def key(self) -> str | None:
        """Return its key from the environment; None where there is none."""
        names = self.key_names
        KEY_NAMES.update(names)
        found = (os.environ.get(name, "").strip() for name in names)
        return next(filter(None, found), None)


def provider_keys() -> tuple[str, ...]:
    """Return the variables in which providers' own keys are looked for."""
    return tuple(name for names in _KEYS.values() for name in names)


def parse_model(name: str, settings: Mapping[str, Any] | None = None) -> Model:
    """Return the model that `provider:model` names.

    Args:
        name: split at its first colon.
        settings: further fields of Model by name; an alias of its own among them.

    Raises:
        BadInput: no such provider, offline model, setting or sampling parameter.
    """
    provider, colon, model = name.partition(":")
    if not colon or not model or provider not in PROVIDERS:
        raise BadInput(
            f"{name!a} is no model; write provider:model with a provider of {', '.join(PROVIDERS)}"
        )
    if provider == "offline" and model not in KINDS:
        raise BadInput(f"{name!a} is no offline model; there are {', '.join(KINDS)}")
    chosen = {"alias": name, **(settings or {}), "provider": provider, "name": model}
    if provider == "offline":
        chosen.setdefault("max_frames", KINDS[model])
    if unknown := sorted(set(chosen) - set(Model.__dataclass_fields__)):
        raise BadInput(f"{name!a} has the unknown setting {unknown[0]!a}")
    found = Model(**chosen)
    check_parameters(found.alias, provider, parameters=found.parameters)
    if found.key_env is not None:
        check_key_env(found.alias, found.key_env)
    return found


def check_keys(models: Iterable[Model]) -> None:
    """Return if every remote model's key is there.

    Raises:
        BadInput: one is missing or cannot be a key; names its variable, never its value.
    """
    for model in models:
        _check_backend(model)
        names, key = model.key_names, model.key()
        if key is None and names:
            raise BadInput(f"{model.alias!a} needs a key; set {' or '.join(names)}")
        if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
            raise BadInput(f"{' or '.join(names)} holds a space or stray character")


def build_chat_model(model: Model) -> BaseChatModel:
    """Return a chat model that sends one request a call, with no retries of its own.

    Raises:
        BadInput: its key is missing, or its client refuses its settings.
    """
    check_keys([model])
    try:
        return _FACTORIES[model.provider](model)
    except ValueError as error:
        # The client's own error lists everything it was given, the key among it.
        reason = told(str(error), key_env=model.key_env)
        raise BadInput(f"{model.alias!a} cannot be set up: {reason}") from None


def call_options(model: Model, role: Role, *, key: str) -> dict[str, Any]:
    """Return what one call hands its chat model besides the messages.

    The journal key travels as the header Idempotency-Key.
    """
    if model.is_offline:
        return {}
    headers = {"Idempotency-Key": key}
    tokens = model.sampling(role).get("max_tokens")
    if model.provider == "openai":
        options: dict[str, Any] = {"extra_headers": headers}
        return options | ({"max_tokens": tokens} if tokens else {})
    options = {"http_options": {"headers": headers}}
    return options | ({"max_output_tokens": tokens} if tokens else {})


async def close_chat_model(chat: Any) -> None:
    """Close the connections that a chat model holds."""
    for client in (getattr(chat, "http_async_client", None), getattr(chat, "client", None)):
        closer = getattr(getattr(client, "aio", client), "aclose", None)
        if closer is not None:
            await closer()


def _check_backend(model: Model) -> None:
    """Refuse a switch that would lead Gemini's client past the address it is given."""
    for name in _OTHER_BACKENDS if model.provider == "google_genai" else ():
        if os.environ.get(name, "").strip().lower() in ("1", "true", "yes"):
            raise BadInput(f"{name} is set; {model.alias!a} uses the Gemini API alone, so unset it")


def _is_gemini_3(name: str) -> bool:
    majors = _GEMINI_MAJOR.findall(name.lower().rsplit("/", 1)[-1])
    return any(int(major) >= 3 for major in majors)


def _offline(model: Model) -> BaseChatModel:
    from agents.offline import OfflineModel

    return OfflineModel(kind=model.name)


def _openai(model: Model) -> BaseChatModel:
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient

    # A client of its own: LangChain shares one across event loops, where it cannot live.
    client = DefaultAsyncHttpxClient(timeout=model.timeout_s)
    return ChatOpenAI(
        model=model.name,
        api_key=model.key() or NO_KEY,
        base_url=model.url,
        timeout=model.timeout_s,
        max_retries=0,
        use_responses_api=False,
        http_async_client=client,
        **model.parameters,
    )


def _google_genai(model: Model) -> BaseChatModel:
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(
        model=model.name,
        google_api_key=model.key() or NO_KEY,
        base_url=model.url,
        timeout=model.timeout_s,
        max_retries=1,
        vertexai=False,
        **(model.sampling("judge")),
    )


_FACTORIES = {"offline": _offline, "openai": _openai, "google_genai": _google_genai}
