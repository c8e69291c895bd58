"""LangChain chat models that a program passes as objects; they are known as long as it lives.

Such a model is called by its class and parameters, which so become part of each call's key and row.
Who serves it, with which key and how patiently, is no part of its name. A run builds it anew from
what it was made of: its connections belong to one event loop, and retries are counted here alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from videoautoarena.agents.providers.base import ModelSettings, Provider
from videoautoarena.agents.transport.redaction import know_values
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

ChatModel: TypeAlias = "BaseChatModel"
"""What a program may pass."""
OBJECT = "object"
"""Stands for the provider in names of chat models that were passed as objects."""
LONGEST = 400
"""The most letters of such a name: a run refuses one of more than 500."""
# What reaches a server, or holds a key, makes no other model, nor does what LangChain's own version
# or the address decide.
_NO_PART = re.compile(
    r"(?i)key|secret|token$|passw|credential|auth|cookie|header|url|base$|endpoint|proxy|region|"
    r"profile|time_?out|retries|client|callback|cache$|verbose|tags|metadata|organization|project|"
    r"streaming|limiter|query|stream_usage|disabled_params|api_type"
)
_ADDRESS = re.compile(r"(?i)url|base$|endpoint")
_PASS = re.compile(r"(?i)key|secret|token|passw|credential|auth|cookie|sig")
"""Names of headers, and of what stands in an address, that let somebody in."""
_HELD: dict[str, BaseChatModel] = {}
"""The objects of this process by name."""
_CONNECTIONS = ("http_client", "http_async_client")
_CLOSERS = (
    *("http_client.close", "http_async_client.aclose", "client.aio.aclose", "client.close"),
    *("_async_client.close", "_client.close", "aclose"),
)
"""What closes the connections of a chat model: of OpenAI, Google, Anthropic, and others."""


_CLIENT_ADDRESSES = ("root_client.base_url", "client._api_client._http_options.base_url")
"""Where the clients of OpenAI and Google hold the address that they call."""
_NAMED = re.compile(r'\b(?:model(?:_name|_id)?|deployment_name)=("(?:[^"\\]|\\.)*")')
"""What a chat model calls its model, among its parameters."""


def is_chat_model(thing: object) -> bool:
    """Return whether this is a LangChain chat model, without importing LangChain."""
    return any(base.__name__ == "BaseChatModel" for base in type(thing).__mro__)


def hold(chat: BaseChatModel) -> str:
    """Keep a chat model until the process ends; return the name by which it plays.

    BadInput for one that LangChain cannot write down by class and parameters, or in too many words.
    """
    from langchain_core.load import dumpd

    said = dumpd(chat)
    kind = type(chat).__name__
    if said.get("type") != "constructor":
        raise BadInput(
            f"a {kind} does not say what it is made of (LangChain cannot serialize it); pass "
            "provider:model, or declare its class in arena.toml"
        )
    path = f"{type(chat).__module__.partition('.')[0]}.{kind}"
    parts = ", ".join(
        f"{name}={canonical_json(value)}"
        for name, value in sorted(_plain(chat, said["kwargs"]).items())
    )
    name = f"{OBJECT}:{path}({parts})"
    if len(name) > LONGEST:
        raise BadInput(
            f"the parameters of a {kind} are too many to be its name ({len(name)} letters, at most "
            f"{LONGEST}); declare its class in arena.toml"
        )
    given = [field for field in _CONNECTIONS if getattr(chat, field, None) is not None]
    # For a proxy LangChain makes them.
    if given and not getattr(chat, "openai_proxy", None):
        raise BadInput(
            f"a {kind} with {' and '.join(given)} of its own would lose them: its connections are "
            "made anew for each run; leave them out, or declare its class in arena.toml"
        )
    know_values(_passes(chat))
    _HELD[name] = chat
    return name


def is_same_server(one: BaseChatModel, other: BaseChatModel) -> bool:
    """Return whether two chat models of one name reach the same server in the same way."""
    from langchain_core.load import dumpd

    return bool(dumpd(one) == dumpd(other))


def _passes(chat: BaseChatModel) -> Iterator[str]:
    """Yield what lets a chat model in at its server, as far as it can be read."""
    from langchain_core.load import dumpd

    for name, value in dumpd(chat)["kwargs"].items():
        if _is_secret(value):
            held = getattr(chat, name, None)
            yield from _texts(getattr(held, "get_secret_value", lambda: None)())
        elif isinstance(value, Mapping) and _NO_PART.search(name):
            yield from _texts({at: said for at, said in value.items() if _PASS.search(str(at))})


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value; of a header, what stands behind the word for its kind."""
    if isinstance(value, str):
        yield value.removeprefix("Bearer ").removeprefix("Basic ")
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)


def _plain(chat: BaseChatModel, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that make a chat model what it is; BadInput for one that is no JSON."""
    found = {}
    for name, value in said.items():
        if _is_secret(value) or value is None or _NO_PART.search(name):
            continue
        if _has_object(value):
            raise BadInput(
                f"{name!a} of a {type(chat).__name__} is no plain value, so that its calls could "
                "not be told from others; declare its class in arena.toml"
            )
        found[name] = value
    return found


def _has_object(value: object) -> bool:
    if isinstance(value, Mapping):
        return "lc" in value or any(
            _NO_PART.search(str(name)) or _has_object(inner) for name, inner in value.items()
        )
    return isinstance(value, list | tuple) and any(map(_has_object, value))


@dataclass(frozen=True)
class _HeldObjects(Provider):
    """Where chat models that were passed as objects are found again."""

    def check(self, model: ModelSettings) -> None:
        self._held(model)

    def build(self, model: ModelSettings) -> BaseChatModel:
        """Return a chat model like the object; BadInput where another process had that."""
        chat = self._held(model)
        return type(chat)(**_arguments(chat))

    def _held(self, model: ModelSettings) -> BaseChatModel:
        name = f"{OBJECT}:{model.name}"
        if name not in _HELD:
            raise BadInput(
                f"{name!a} was passed as an object by a program that is gone; go on with "
                "va.simulate and such an object"
            )
        return _HELD[name]

    def sampling(self, model: ModelSettings, role: Role) -> dict[str, Any]:  # noqa: ARG002
        # An object is called as it is: whoever made it has said how.
        return {}

    def made_with(self, model: ModelSettings) -> Mapping[str, Any]:
        """Return the object's own parameters, its limit of output among them."""
        from langchain_core.load import dumpd

        # Whoever only looks at a run does without the object.
        chat = _HELD.get(f"{OBJECT}:{model.name}")
        return {} if chat is None else dict(dumpd(chat)["kwargs"])

    def place(self, model: ModelSettings) -> str:
        """Return what tells the server of an object from others, and does not name it."""
        # Whoever only looks at a run does without the object.
        chat = _HELD.get(f"{OBJECT}:{model.name}")
        return OBJECT if chat is None else f"{OBJECT}-{digest(canonical_json(_server(chat)))[:8]}"

    def title(self, model: ModelSettings) -> str:
        """Return the class of an object, and what it calls its model."""
        kind = model.name.partition("(")[0].rpartition(".")[2]
        named = _NAMED.search(model.name)
        return f"{kind} {json.loads(named[1])}" if named else kind

    def host(self, model: ModelSettings) -> str:
        """Return the host that an object calls; its class, where nothing in it says which."""
        chat = _HELD.get(f"{OBJECT}:{model.name}")
        return "" if chat is None else ", ".join(_client_hosts(chat) or _server(chat))

    async def close(self, chat: Any) -> None:
        """Close what is known to hold connections."""
        for path in _CLOSERS:
            closer = _reached(chat, path)
            closing = closer() if callable(closer) else None
            if isawaitable(closing):
                await closing


def _arguments(chat: BaseChatModel) -> dict[str, Any]:
    """Return what a chat model was made with, with its secrets and no retries of its own."""
    from langchain_core.load import dumpd

    said = {
        name: getattr(chat, name) if _is_secret(value) else value
        for name, value in dumpd(chat)["kwargs"].items()
    }
    fields = type(chat).model_fields
    if "max_retries" in fields:
        said["max_retries"] = 0
    # With a proxy LangChain makes clients of their own for it, and takes none beside it.
    if "http_async_client" in fields and not getattr(chat, "openai_proxy", None):
        # Without its own, LangChain lends it one that all models of its address share.
        from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

        said["http_client"] = DefaultHttpxClient()
        said["http_async_client"] = DefaultAsyncHttpxClient()
    return said


def _server(chat: BaseChatModel) -> list[str]:
    """Return host and port that a chat model is told to call; else its class, which knows them."""
    told = [getattr(chat, name) for name in type(chat).model_fields if _ADDRESS.search(name)]
    hosts = []
    for address in told:
        parts = urlsplit(address) if isinstance(address, str) else None
        if parts is not None and parts.hostname:
            # Without what may let somebody in, before the host or behind it.
            hosts.append(parts.netloc.rpartition("@")[2])
    return sorted(hosts) or [f"{type(chat).__module__.partition('.')[0]}.{type(chat).__name__}"]


def _client_hosts(chat: BaseChatModel) -> list[str]:
    """Return the host that a chat model's own client calls, where it can be looked up."""
    addresses = (_reached(chat, path) for path in _CLIENT_ADDRESSES)
    found = next((str(address) for address in addresses if address), "")
    return [urlsplit(found).netloc.rpartition("@")[2]] if urlsplit(found).hostname else []


def _reached(thing: Any, path: str) -> Any:
    """Return what stands at the end of a path of attributes, or None."""
    for name in path.split("."):
        thing = getattr(thing, name, None)
    return thing


def _is_secret(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "secret"


OBJECTS = _HeldObjects(OBJECT, parameters=())
