"""What may be set of a model, and how many frames it is sent where nothing is.

Sampling parameters are written down and travel with a bench, so nothing that holds a key or leads
a client elsewhere is one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role

CONTESTANT_FRAMES = 64
"""Most frames of a contestant that names no limit (VideoAutoArena, experimental settings)."""
MOST_FRAMES = 1024


def usual_frames(max_frames: int | None, role: Role) -> int:
    """Return the most frames a model is sent in `role`, whatever its server takes."""
    if max_frames is not None:
        return max_frames
    return CONTESTANT_FRAMES if role == "contestant" else MOST_FRAMES


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
