"""Which providers there are: those of this folder, those installed, and those declared.

Nothing here imports a built-in provider's package before a model of it is built. That of another
is imported when it is looked up by its entry point, or when its class is checked.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoints, entry_points

from videoautoarena.agents.providers.base import OFFLINE, Provider
from videoautoarena.agents.providers.chat_objects import OBJECT, OBJECTS
from videoautoarena.agents.providers.claude import CLASS_PATH, DeclaredClaude
from videoautoarena.agents.providers.declared import Declaration, DeclaredProvider
from videoautoarena.agents.providers.google_genai import GOOGLE_GENAI
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.agents.providers.table import TABLE
from videoautoarena.agents.transport.redaction import know_keys, redacted
from videoautoarena.memory.records.errors import BadInput

GROUP = "videoautoarena.providers"
"""Entry points of this group name a Provider, or a LangChain chat model's class."""
EMBEDDINGS = "embeddings"
"""Stands for the provider in names of embeddings that are called like a model."""


RESERVED = (OFFLINE.name, OPENAI.name, GOOGLE_GENAI.name)
"""Names that mean one provider for good; what else is built in gives way to what is declared."""
BUILT_IN: dict[str, Provider] = {one.name: one for one in (OFFLINE, OPENAI, GOOGLE_GENAI, *TABLE)}
"""Every provider that comes with the product, by name, the stand-ins first."""
# From the start, so that a key is taken out of every text whichever provider is used.
for _provider in BUILT_IN.values():
    know_keys((*_provider.key_names, *_provider.secret_names), _provider.key_look)
CLIENT_PACKAGES = frozenset(name for one in BUILT_IN.values() for name in one.packages)
"""Packages of built-in providers' clients; what these raise is no bug of ours."""
EMBEDDERS = {name: one.embeddings for name, one in BUILT_IN.items() if one.embeddings}
"""Class of embeddings by name of the built-in provider, for those that have one."""


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers that are built in or installed."""
    installed = sorted(_offered(tuple(sys.path)).names - BUILT_IN.keys())
    return (*BUILT_IN, *installed)


def provider_keys() -> tuple[str, ...]:
    """Return the variables in which the built-in providers' own keys are looked for."""
    return tuple(name for provider in BUILT_IN.values() for name in provider.key_names)


@cache
def _offered(_places: tuple[str, ...]) -> EntryPoints:
    """Return what the packages in these places offer; looked for once, since it takes 15 ms."""
    return entry_points(group=GROUP)


def find_provider(name: str) -> Provider | None:
    """Return the provider that is built in or installed under a name, if there is one.

    Raises BadInput if its package cannot be imported, or offers something else by that name.
    """
    if name in RESERVED:
        return BUILT_IN[name]
    if name == OBJECT:
        return OBJECTS
    if name == EMBEDDINGS:
        # Which embeddings, and so whose address and key, only the rest of the name says.
        return Provider(EMBEDDINGS, parameters=())
    offered = next(iter(_offered(tuple(sys.path)).select(name=name)), None)
    if offered is None:
        return BUILT_IN.get(name)
    try:
        thing = offered.load()
    # Whatever a package raises while it is imported, it is the user's choice of package.
    except Exception as wrong:  # noqa: BLE001
        reason = redacted(f"{type(wrong).__name__}: {wrong}")
        raise BadInput(f"the provider {name!a} cannot be loaded: {reason}") from None
    if isinstance(thing, Provider):
        return thing
    if not isinstance(thing, type):
        other = f"the provider {name!a} is neither a Provider nor a class"
        raise BadInput(f"{other}; mend {offered.value!a}")
    return declare(name, Declaration(chat_model=f"{thing.__module__}:{thing.__qualname__}"))


def declare(name: str, declaration: Declaration) -> Provider:
    """Return the provider that a declaration makes."""
    is_claude = CLASS_PATH.fullmatch(declaration.chat_model) is not None
    made = DeclaredClaude if is_claude else DeclaredProvider
    return made(
        name,
        home=declaration.base_url or "",
        key_names=(declaration.key_env,) if declaration.key_env else (),
        declaration=declaration,
    )
