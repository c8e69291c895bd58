"""Providers by name: those of the house, a file each, and others that are installed or declared.

Nothing here imports a provider's package before a model of it is built or checked.
"""

from __future__ import annotations

from agents.providers.base import Provider
from agents.providers.google_genai import GOOGLE_GENAI
from agents.providers.offline import OFFLINE
from agents.providers.openai import OPENAI

__all__ = ["BUILT_IN", "Provider", "find_provider", "provider_keys", "provider_names"]

BUILT_IN = {provider.name: provider for provider in (OFFLINE, OPENAI, GOOGLE_GENAI)}


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers that are there."""
    return tuple(BUILT_IN)


def provider_keys() -> tuple[str, ...]:
    """Return the variables in which the built-in providers' own keys are looked for."""
    return tuple(name for provider in BUILT_IN.values() for name in provider.key_names)


def find_provider(name: str) -> Provider | None:
    """Return the provider of a name; None where there is none."""
    return BUILT_IN.get(name)
