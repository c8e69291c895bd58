"""Owns providers, a file each, and those declared or installed; imports none before use.

Nothing here imports a built-in provider's package before a model of it is built. That of another
is imported when it is looked up by its entry point, or when its class is checked.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from videoautoarena.agents.providers.base import OFFLINE, Provider
from videoautoarena.agents.providers.declared import Declaration, Declared
from videoautoarena.agents.providers.embeddings import ANY_EMBEDDINGS, EMBEDDINGS, embeddings_class
from videoautoarena.agents.providers.google_genai import GOOGLE_GENAI
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.errors import BadInput

__all__ = [
    "BUILT_IN",
    "EMBEDDINGS",
    "Declaration",
    "Provider",
    "declare",
    "embeddings_class",
    "find_provider",
    "provider_keys",
    "provider_names",
]

BUILT_IN = {provider.name: provider for provider in (OFFLINE, OPENAI, GOOGLE_GENAI)}
GROUP = "videoautoarena.providers"
"""Entry points of this group name a Provider, or a LangChain chat model's class."""


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers that are built in or installed."""
    installed = sorted(entry_points(group=GROUP).names - BUILT_IN.keys())
    return (*BUILT_IN, *installed)


def provider_keys() -> tuple[str, ...]:
    """Return the variables in which the built-in providers' own keys are looked for."""
    return tuple(name for provider in BUILT_IN.values() for name in provider.key_names)


def find_provider(name: str) -> Provider | None:
    """Return the provider that is built in or installed under a name; None where there is none.

    Raises BadInput where its package cannot be imported, or offers something else by that name.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name == EMBEDDINGS:
        return ANY_EMBEDDINGS
    offered = next(iter(entry_points(group=GROUP, name=name)), None)
    if offered is None:
        return None
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
    return Declared(
        name,
        home=declaration.base_url or "",
        key_names=(declaration.key_env,) if declaration.key_env else (),
        declaration=declaration,
    )
