"""What a provider is told so that it finds a prompt's beginning in its cache again.

The frames stand first and are the same for all roles of a video; see agents/layout.py.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from agents.layout import BREAKPOINT, fragment
from agents.providers.base import ModelSettings
from memory.records import Frames

_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?!\w)")
FIRST_WITH_BREAKPOINTS = (5, 6)
"""The version of GPT from which OpenAI's cache matches at breakpoints alone."""


def needs_breakpoint(model: ModelSettings) -> bool:
    """Say whether a model is known to find nothing in its cache without a marked end of it.

    A server of one's own is never sent the mark unasked: most refuse fields they do not know.
    """
    if not _is_openai_itself(model):
        return False
    name = model.name.lower()
    versions = (found.groups(default="0") for found in _VERSION.finditer(name))
    return any((int(major), int(minor)) >= FIRST_WITH_BREAKPOINTS for major, minor in versions)


def cache_options(model: ModelSettings, frames: Frames | None) -> dict[str, Any]:
    """Return what a call says of caching, besides the mark on its last frame.

    OpenAI itself is told which calls begin alike, so that they come to the same machine.
    """
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
