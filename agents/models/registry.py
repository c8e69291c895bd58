"""Model names, where they lead, and the chat models behind them.

Nothing here imports a provider's package before its model is built: each costs about two seconds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from videoautoarena.agents.models.spec import (
    ResolvedSpec,
    check_key_env,
    check_parameters,
    usual_frames,
)
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.prompting.contracts import replies_in_json
from videoautoarena.agents.providers.base import Provider
from videoautoarena.agents.providers.catalogue import (
    BUILT_IN,
    EMBEDDINGS,
    RESERVED,
    declare,
    find_provider,
    provider_names,
)
from videoautoarena.agents.providers.declared import Declaration, DeclaredProvider
from videoautoarena.agents.providers.embeddings import embedding_provider, sees_images
from videoautoarena.agents.transport.redaction import know_keys, redacted
from videoautoarena.agents.transport.transport import check_proxies
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import (
    Role,
    SystemRole,
    TokenField,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_PROVIDER = re.compile(r"[A-Za-z][\w-]*", re.ASCII)


@dataclass(frozen=True)
class Retrieval:
    """How a model's frames are chosen by its question, and by whom."""

    frames_per_clip: int
    keep: int
    """Clips whose frames are sent."""
    embedder: Model
    captioner: Model | None = None
    """Model whose words about each clip are embedded; None: the clip's pictures are."""


class Model(ResolvedSpec):
    """One model as a run uses it."""

    alias: str
    """What the roster calls it."""
    retrieval: Retrieval | None = None
    """None if its frames are spread over the whole video, whatever it is asked."""
    is_received: bool = False
    """Where it leads is said by a file alone, to which nobody on this machine has agreed."""

    def __hash__(self) -> int:
        # Other settings hold tables, which have no hash.
        return hash((self.alias, self.model))

    def with_settings(self, **settings: Any) -> Model:
        """Return the same model otherwise set; what follows from its settings follows anew."""
        said = {name: getattr(self, name) for name in Model.model_fields}
        if unknown := settings.keys() - said.keys():
            raise TypeError(f"a model has no {', '.join(sorted(unknown))}")
        return Model.model_construct(**{**said, **settings})

    @cached_property
    def provider(self) -> str:
        """What stands before the colon of its name."""
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        """What the provider calls it."""
        return self.model.partition(":")[2]

    @property
    def resolved(self) -> str:
        """`provider:name`, whatever the alias."""
        return self.model

    @cached_property
    def maker(self) -> Provider:
        """Its provider; BadInput if that is not installed."""
        if self.declared is not None:
            return declare(self.provider, self.declared)
        if self.provider == EMBEDDINGS:
            return embedding_provider(self.name)
        found = find_provider(self.provider)
        if found is None:
            lacking = f"{self.alias!a} needs the provider {self.provider!a}"
            raise BadInput(f"{lacking}; install its package")
        return found

    @cached_property
    def is_offline(self) -> bool:
        """Whether it runs inside the process."""
        return self.provider == "offline"

    @property
    def is_foreign(self) -> bool:
        """Whether its chat model is somebody else's: whatever that raises is no bug of ours."""
        return self.maker is not BUILT_IN.get(self.provider)

    @property
    def streams(self) -> bool:
        """Whether its replies are asked for in pieces, since its parameters say so."""
        return self.maker.speaks_openai and self.parameters.get("stream") is True

    @property
    def can_stream(self) -> bool:
        """Whether they may be: its provider can be asked so, and no parameter forbids it."""
        is_forbidden = self.parameters.get("stream") is False
        return not is_forbidden and self.maker.stream_options() is not None

    @property
    def part_detail(self) -> str | None:
        """The detail stated with each image of a message; None if none is stated there."""
        return self.detail if self.maker.has_part_detail else None

    @cached_property
    def url(self) -> str:
        """Where its calls go; empty for an offline model."""
        named = (os.environ.get(name) for name in self.maker.base_names)
        return self.maker.address(self.base_url or next(filter(None, named), None))

    @cached_property
    def endpoint(self) -> str:
        """The host its frames go to, without credentials; "in-process" for an offline model.

        Where only the chat model knows its address, its provider says what stands for it.
        """
        if self.is_offline:
            return "in-process"
        parts = urlsplit(self.url)
        is_embedder = self.provider == EMBEDDINGS
        whose = self.name.partition(":")[0] if is_embedder else self.maker.place(self)
        host = parts.hostname or whose
        return f"{host}:{parts.port}" if parts.port else host

    @property
    def title(self) -> str:
        """What a person is told of it, where it is about to be called."""
        return self.maker.title(self)

    @property
    def host(self) -> str:
        """The host that a person is told its frames go to."""
        return self.maker.host(self) or self.endpoint

    def frame_limit(self, role: Role) -> int:
        """Return the most frames it is sent in `role`."""
        most = usual_frames(self.max_frames, role)
        images = self.limits.images_per_request
        if images is None and self._is_at_home:
            images = self.maker.images
        return most if images is None else min(most, images)

    def sampling(self, role: Role) -> dict[str, Any]:
        """Return the parameters by which a reply in `role` is drawn, as they are sent."""
        return self.maker.sampling(self, role)

    def keyed(self, role: Role) -> dict[str, Any]:
        """Return those parameters of its sampling that are part of the journal's key."""
        keyed = self.maker.keyed(self, role)
        # As it is set, never as it was learnt: what a server refuses must make no call a new one.
        if self.structured is not None and replies_in_json(role):
            return {**keyed, "structured": self.structured}
        return keyed

    @cached_property
    def token_field(self) -> TokenField | None:
        """Name under which its limit of tokens is sent; None if its provider has one name only."""
        return self.maker.token_field(self)

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """Variables that may hold its key; a provider's own key never goes to another server."""
        if self.key_env:
            return (self.key_env,)
        return self.maker.key_names if self._is_at_home else ()

    @cached_property
    def _is_at_home(self) -> bool:
        """Whether its calls go where its provider's own key may go."""
        return not self.base_url or self.maker.is_home(self.base_url)

    def key(self) -> str | None:
        """Return its key from the environment; None if it has none."""
        names = self.key_names
        # What these hold is taken out of every text from now on.
        know_keys(names)
        found = (os.environ.get(name, "").strip() for name in names)
        return next(filter(None, found), None)

    @property
    def key_source(self) -> str:
        """Which variable its key comes from, or why it has none, in words that follow a comma."""
        names = [name for name in self.key_names if os.environ.get(name, "").strip()]
        if names:
            return f"which is that in {names[0]}"
        if self.maker.auth == "own" and not self.key_env:
            return f"which its client takes from {self.maker.credentials}"
        if self.base_url and not self.key_env:
            return f'as no key was sent; add key_env = "..." to [models.{self.alias}]'
        return f"since {' or '.join(self.key_names) or 'no variable'} holds none"


def parse_model(name: str, settings: Mapping[str, Any] | None = None) -> Model:
    """Return the model that `provider:model` names, split at the first colon.

    `settings` are further fields of Model by name; an alias of its own among them. Raises BadInput
    for no such provider, offline model, setting or sampling parameter.
    """
    # Names of models may hold colons themselves, such as Ollama's `llama3.2:3b`.
    provider, colon, model = name.partition(":")
    declared = (settings or {}).get("declared")
    if not colon or not model or not (declared or find_provider(provider)):
        near = get_close_matches(provider, provider_names(), 1) if colon and model else []
        meant = f"{near[0]}:{model} if you mean that, else " if near else ""
        if name in KINDS:
            meant = f"offline:{name} if you mean the stand-in, else "
        raise BadInput(
            f"{name!a} is no model; write {meant}provider:model with a provider of "
            f"{', '.join(provider_names())}, or give it a table in arena.toml"
        )
    if declared:
        _check_declared(provider, declared)
    if provider == "offline" and model not in KINDS:
        raise BadInput(f"{name!a} is no offline model; there are {', '.join(KINDS)}")
    chosen = {"alias": name, **(settings or {}), "model": name}
    # Left out, so that its calls have the keys of calls without the setting.
    if chosen.get("structured") == "off":
        del chosen["structured"]
    if provider == "offline":
        chosen.setdefault("max_frames", KINDS[model])
    if unknown := sorted(chosen.keys() - Model.model_fields.keys()):
        raise BadInput(f"{name!a} has the unknown setting {unknown[0]!a}")
    found = Model.model_construct(**chosen)
    _check_settings(found)
    if "cache_breakpoint" not in chosen:
        found = found.with_settings(cache_breakpoint=found.maker.needs_breakpoint(found))
    return found


def _check_settings(model: Model) -> None:
    """Refuse what cannot be sent, or could hold a key or lead elsewhere; BadInput."""
    if model.declared is not None:
        _check_declared(model.provider, model.declared)
    check_parameters(model.alias, model.maker, parameters=model.parameters)
    _check_looks(model)
    _check_stream(model)
    _check_structured(model)
    if model.key_env is not None:
        check_key_env(model.alias, model.key_env)


def check_keys(models: Iterable[Model]) -> None:
    """Return if every remote model has a key; BadInput names its variable, never its value.

    Before its class is imported or a variable is read, a model must be one that this machine's
    user has agreed to, and its settings such as a configuration file could have them.
    """
    for model in models:
        if model.is_received:
            raise BadInput(
                f"{model.alias!a} is known from a file alone, and nobody here has agreed to where "
                "it leads; give it a table in arena.toml"
            )
        _check_settings(model)
        model.maker.check(model)
        _check_retrieval(model)
        # A proxy that cannot be used is told in one line here, before any call fails by it.
        if model.maker.can_splice:
            check_proxies()
        names = model.key_names
        key = model.key()
        if lack := _lack_of_key(model):
            raise BadInput(lack)
        if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
            raise BadInput(f"{' or '.join(names)} holds a space or stray character")


def lacks_of_keys(models: Iterable[Model]) -> tuple[str, ...]:
    """Return a sentence on each model that lacks its key or an address; no class is imported."""
    lacks = list[str | None]()
    for model in models:
        found = model.retrieval
        scouts = (found.embedder, found.captioner) if found is not None else ()
        lacks += [_lack_of(one) for one in (model, *scouts) if one is not None]
    return tuple(dict.fromkeys(lack for lack in lacks if lack is not None))


def _lack_of(model: Model) -> str | None:
    # A class is asked what it lacks by what builds it alone, which takes its import.
    if not isinstance(model.maker, DeclaredProvider):
        try:
            model.maker.check(model)
        except BadInput as lack:
            return str(lack)
    return _lack_of_key(model)


def _lack_of_key(model: Model) -> str | None:
    names = model.key_names
    if not names or model.key() is not None:
        return None
    return f"{model.alias!a} needs a key; set {' or '.join(names)}"


def _check_retrieval(model: Model) -> None:
    """Refuse clips whose pictures would go to embeddings of texts alone."""
    found = model.retrieval
    if found is not None:
        check_keys(one for one in (found.embedder, found.captioner) if one is not None)
    if found is None or found.captioner is not None or found.embedder.is_offline:
        return
    if not sees_images(found.embedder.name):
        raise BadInput(
            f"models.{model.alias}.retrieval.embeddings: {found.embedder.name!a} embeds no images "
            "(no embed_image); name a model as captioner"
        )


def build_chat_model(model: Model) -> BaseChatModel:
    """Return a chat model without retries of its own; BadInput if key or settings fail."""
    check_keys([model])
    try:
        return model.maker.build(model)
    except ValueError as error:
        # The client's own error lists everything it was given, the key among it.
        reason = redacted(str(error), key_env=model.key_env)
        raise BadInput(f"{model.alias!a} cannot be set up: {reason}") from None


def _check_declared(provider: str, declared: Declaration) -> None:
    if provider in (*RESERVED, EMBEDDINGS):
        raise BadInput(f"providers.{provider}: this one is built in; choose another name")
    if not _PROVIDER.fullmatch(provider):
        raise BadInput(f"{provider!a} is no name for a provider; use letters, digits, - and _")
    if declared.key_env is not None:
        check_key_env(f"providers.{provider}", declared.key_env)


def _check_stream(model: Model) -> None:
    """Refuse a reply in pieces that is asked for in a way in which it could not be read."""
    said = model.parameters.get("stream", False)
    more = model.parameters.get("extra_body")
    if not isinstance(said, bool):
        raise BadInput(f"{model.alias!a}: stream must be true or false")
    if isinstance(more, Mapping) and {"stream", "stream_options"} & more.keys():
        raise BadInput(
            f"{model.alias!a} has stream in its extra_body, where no reply could be read; "
            "write parameters = { stream = true }"
        )


def _check_structured(model: Model) -> None:
    """Refuse structured output where it cannot be asked for, or is asked for twice."""
    said = model.structured
    known = model.maker.reply_formats
    if said is None:
        return
    if not known:
        raise BadInput(
            f"{model.alias!a} cannot be asked for structured output, since {model.provider} is "
            "not known to have any; leave structured out"
        )
    if said not in ("auto", *known):
        choices = ", ".join(("auto", *known, "off"))
        raise BadInput(f"{model.alias!a} cannot have structured = {said!a}; there are {choices}")
    more = model.parameters.get("extra_body")
    if isinstance(more, Mapping) and "response_format" in more:
        raise BadInput(
            f"{model.alias!a} has a response_format in its extra_body and structured; leave one out"
        )


def _check_looks(model: Model) -> None:
    """Refuse what cannot be said to its provider of its frames."""
    known = model.maker.details
    if model.detail is not None and model.detail not in known:
        there = f"there are {', '.join(known)}" if known else f"{model.provider} has none"
        raise BadInput(f"{model.alias!a} cannot have the detail {model.detail!a}; {there}")
    if model.detail is not None and "media_resolution" in model.parameters:
        raise BadInput(f"{model.alias!a} has a detail and a media_resolution; leave one out")
    if model.token_limit_field and not model.maker.speaks_openai:
        raise BadInput(
            f"{model.alias!a} takes no token_limit_field, which is for servers that speak "
            "OpenAI's protocol; leave it out"
        )
    if model.system is not None and model.system not in get_args(SystemRole):
        raise BadInput(f'{model.alias!a}: system must be "user", or left out')
    if model.system and (model.is_offline or model.provider == EMBEDDINGS):
        raise BadInput(
            f"{model.alias!a} takes no system, which is for servers that refuse a message of "
            "that role; leave it out"
        )
    if model.cache_breakpoint and model.maker.mark is None:
        raise BadInput(
            f"{model.alias!a} takes no cache_breakpoint, which {model.provider} is not known to "
            "have; leave it out"
        )
