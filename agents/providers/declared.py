"""LangChain chat models that are not known here, named by the path of their class.

Where the class takes the model's name, key, address, time-out and retries is found out by looking
at its fields, so that a declaration is one line for most of them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AliasChoices, field_validator

from videoautoarena.agents.providers.base import COMMON, NO_KEY, ModelSettings, Provider
from videoautoarena.agents.transport.deadlines import LONGEST_STOP_S
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role, Sparse

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*[.:][^\W\d]\w*")
_NAMED = ("model", "model_name", "model_id", "deployment_name")
_URLS = ("base_url", "api_base", "endpoint", "endpoint_url", "azure_endpoint")
_TIME_OUTS = ("timeout", "request_timeout", "default_request_timeout")
# A parameter travels with a bench, so nothing is one that lets somebody in, leads elsewhere, or
# belongs to the client and not to the model.
_NO_PARAMETER = re.compile(
    r"(?i)key|secret|passw|credential|auth|cookie|header|bearer|token$|token_(?:provider|ids)|"
    r"ur[il]s?$|base$|endpoint|host$|socket|proxy|region|profile|location|project|organization|"
    r"server|vertexai|transport|time_?out|retries|client|callback|^cache$|verbose|^tags$|metadata|"
    r"limiter|query|kwargs|^config$|^(?:base_)?model|deployment|^name$|stream|output_version|"
    r"responses_api|previous_response|raw_blocks|^n$|best_of"
)
# Set to 0: tries are counted, paced and paid for here, so that a client makes none of its own.
_RETRIES = ("max_retries",)


class Declaration(Sparse):
    """A provider of one's own, as `arena.toml` declares it."""

    left_out = ("auth",)

    chat_model: str
    """Its class: `package.module:Class`."""
    key_env: str | None = None
    """Name of the environment variable with its key; a model's own `key_env` beats it."""
    base_url: str | None = None
    """Where it is served, if the class has to be told; a model's own `base_url` beats it, and is
    not sent this key."""
    model_parameter: str | None = None
    """Argument of the class that takes the model's name, unless it is `model`, `model_name`,
    `model_id` or `deployment_name`."""
    key_parameter: str | None = None
    """Argument that takes the key, unless it is `api_key` or the only one that ends so."""
    url_parameter: str | None = None
    """Argument that takes the address, unless it is `base_url`, `api_base`, `endpoint`,
    `endpoint_url` or `azure_endpoint`."""
    headers_parameter: str | None = None
    """Argument of a call that takes HTTP headers, in which Idempotency-Key then goes out; none
    without it."""
    auth: Literal["own"] | None = None
    """`own`: the class finds credentials itself, such as AWS variables, a profile or Google's
    application default; without it, one that gets no key is given the word `none` for it, so that
    it sends no key of its own to an address that it was not meant for."""

    @field_validator("chat_model")
    @classmethod
    def _is_path(cls, value: str) -> str:
        if not _PATH.fullmatch(value):
            raise ValueError("is no path of a class; write package.module:Class")
        return value


@dataclass(frozen=True)
class DeclaredProvider(Provider):
    """A provider whose chat model is a class named by its path."""

    declaration: Declaration = field(kw_only=True)
    parameters: tuple[str, ...] = (*COMMON, "top_k")

    def takes(self, name: str) -> bool:
        """Return whether a parameter may be set, as far as its name says; the class may lack it."""
        return name in self.parameters or not _NO_PARAMETER.search(name)

    @cached_property
    def chat_class(self) -> type[BaseChatModel]:
        """The class; imports its package. BadInput for no such package or class or chat model."""
        path = self.declaration.chat_model
        module, name = path.replace(":", ".").rsplit(".", 1)
        try:
            thing = getattr(importlib.import_module(module), name, None)
        except ModuleNotFoundError as wrong:
            lacking = (wrong.name or module).partition(".")[0]
            package = self.pip or module.partition(".")[0].replace("_", "-")
            raise BadInput(
                f"{path!a} of the provider {self.name!a} needs the package {lacking!a}; "
                f"try: pip install {package}"
            ) from None
        # Whatever a package raises while it is imported, it is the user's choice of package.
        except Exception as wrong:  # noqa: BLE001
            reason = redacted(f"{type(wrong).__name__}: {wrong}")
            raise BadInput(f"{path!a} cannot be imported: {reason}") from None
        from langchain_core.language_models import BaseChatModel

        if thing is None:
            raise BadInput(f"{path!a} names a class that is not there; check its spelling")
        if not isinstance(thing, type) or not issubclass(thing, BaseChatModel):
            raise BadInput(f"{path!a} is no LangChain chat model; name a subclass of BaseChatModel")
        return thing

    def check(self, model: ModelSettings) -> None:
        self._arguments(model)

    def build(self, model: ModelSettings) -> BaseChatModel:
        """Return the class's own chat model, its retries off where it has any."""
        arguments = self._arguments(model)
        try:
            return self.chat_class(**arguments)
        # A class may refuse in any way it likes: a missing package of its own, a wrong setting.
        except Exception as wrong:  # noqa: BLE001
            raise ValueError(f"{type(wrong).__name__}: {wrong}") from None

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:  # noqa: ARG002
        """Return the header with the journal key, where the declaration says how to send it."""
        place = self.declaration.headers_parameter
        return {place: {"Idempotency-Key": key}} if place else {}

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        return dict(model.parameters)

    def stream_options(self) -> dict[str, Any] | None:
        from langchain_core.language_models import BaseChatModel

        found = self.chat_class
        if not any(self._has_own(BaseChatModel, way) for way in ("_astream", "_stream")):
            return None
        # Without it, some classes do not ask how many tokens a reply in pieces took.
        return {"stream_usage": True} if "stream_usage" in found.model_fields else {}

    @property
    def _needs_threads(self) -> bool:
        """Whether some way of calling the class has no form that can be awaited."""
        from langchain_core.language_models import BaseChatModel

        ways = (("_generate", "_agenerate"), ("_stream", "_astream"))
        return any(
            self._has_own(BaseChatModel, blocking) and not self._has_own(BaseChatModel, awaited)
            for blocking, awaited in ways
        )

    def _has_own(self, base: type, way: str) -> bool:
        return getattr(self.chat_class, way) is not getattr(base, way)

    def _arguments(self, model: ModelSettings) -> dict[str, Any]:
        """Return the arguments to build the class with; BadInput if it does not take one."""
        taken = frozenset(_taken(self.chat_class))
        said = self.declaration
        key = model.key()
        name_at = self._place(taken, _NAMED, said.model_parameter, needed="model")
        url_at = self._place(taken, _URLS, said.url_parameter, needed="url" if model.url else "")
        key_at = self._place(taken, _keys(taken), said.key_parameter, needed="key" if key else "")
        chosen = self.arguments_of(model.parameters)
        unknown = sorted(set(chosen) - taken)
        if unknown:
            raise BadInput(
                f"{model.alias!a} has the parameter {unknown[0]!a}, "
                f"which {said.chat_model} does not take; leave it out"
            )
        # Without NO_KEY the class would find a key of its own and send it to any address.
        stand_in = "" if said.auth == "own" else NO_KEY
        given: dict[str, Any] = {name_at: model.name, url_at: model.url, key_at: key or stand_in}
        # What waits in the loop is cut off by us, and not while the process is stopped; a thread
        # can only end by itself.
        patience_s = model.timeout_s + (0.0 if self._needs_threads else LONGEST_STOP_S)
        given |= {_first(taken, _TIME_OUTS): patience_s, _first(taken, _RETRIES): 0}
        known = {place: value for place, value in given.items() if place and value != ""}
        twice = sorted(known.keys() & chosen.keys())
        if twice:
            raise BadInput(
                f"{model.alias!a}: {twice[0]!a} is no parameter, but a setting of its own"
            )
        return {**known, **chosen}

    def arguments_of(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of the class that stand for a model's parameters."""
        for name in _inner_names(parameters):
            if _ADDRESS.search(name):
                raise BadInput(f"{self.name}: {name!a} is no parameter; leave it out")
        return parameters

    def _place(
        self, taken: frozenset[str], usual: Iterable[str], named: str | None, *, needed: str
    ) -> str:
        """Return the argument that takes one thing; empty if the class has none and needs none."""
        place = _first(taken, [named] if named else usual)
        if (needed or named) and not place:
            sought = f"{named!a}" if named else f"for a {needed} it is known by"
            raise BadInput(
                f"{self.declaration.chat_model} has no argument {sought}; "
                f"set {needed or 'the right'}_parameter in [providers.{self.name}]"
            )
        return place


_ADDRESS = re.compile(r"(?i)headers?$|ur[il]$|endpoint|proxy|mcp_servers")
"""Fields within a parameter by which a call could be led elsewhere, or let somebody in."""


def _inner_names(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from map(str, value)
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(inner, Iterable) and not isinstance(inner, str | bytes):
        for one in inner:
            yield from _inner_names(one)


def _taken(chat_class: type[BaseChatModel]) -> Iterator[str]:
    config = chat_class.model_config
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    for name, info in chat_class.model_fields.items():
        alias = info.validation_alias or info.alias
        if alias is None or by_name:
            yield name
        if isinstance(alias, AliasChoices):
            yield from (choice for choice in alias.choices if isinstance(choice, str))
        elif isinstance(alias, str):
            yield alias


def _keys(taken: Iterable[str]) -> tuple[str, ...]:
    """Return the arguments that may take a key; none if several could be meant."""
    found = sorted(name for name in taken if name.endswith(("api_key", "api_token")))
    if "api_key" in found:
        return ("api_key",)
    return tuple(found) if len(found) == 1 else ()


def _first(taken: frozenset[str], names: Iterable[str]) -> str:
    return next((name for name in names if name in taken), "")
