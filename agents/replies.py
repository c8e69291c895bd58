"""Reading a reply: the last complete JSON object in it binds, held to the role's schema."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import ValidationError

from agents.contracts import Reply

R = TypeVar("R", bound=Reply)


def _finite(digits: str) -> float | None:
    """Return a number; None, which no schema takes, for one beyond all floats."""
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=lambda _: None)
MOST_FAULTS = 5
"""So many faults of one reply are told to its model."""
LONGEST_NAME = 40
PLACEHOLDERS = frozenset({"...", "…", "A person ..."})
"""What the contracts' examples hold: a model that repeats its task has not done it."""


class BadReply(ValueError):
    """A reply that is not in the asked form; the message tells its model why."""


def read_reply(text: str, schema: type[R]) -> R:
    """Return the last complete JSON object in `text` as `schema`.

    Raises:
        BadReply: there is no object, or it breaks the schema.
    """
    found = last_object(text)
    if found is None:
        raise BadReply("there is no complete JSON object in the reply")
    try:
        reply = schema.model_validate(found)
    except ValidationError as error:
        raise BadReply(_faults(error)) from None
    if any(leaf.strip() in PLACEHOLDERS for leaf in _leaves(reply.model_dump())):
        raise BadReply('"..." stands for words of your own; write them out')
    return reply


def last_object(text: str) -> dict[str, Any] | None:
    """Return the complete JSON object that starts last outside all others; None without one."""
    found: dict[str, Any] | None = None
    start = text.find("{")
    while start >= 0:
        value, end = _object_at(text, start)
        if value is not None:
            found = value
        start = text.find("{", end)
    return found


def _object_at(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that begins at `start` and where it ends; None and the next place."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1
    return (value, end) if isinstance(value, dict) else (None, start + 1)


def _faults(error: ValidationError) -> str:
    """Return what is wrong and where, without the values, which may be anything."""
    faults = [
        f"{_place(fault['loc'])}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return "; ".join(faults[:MOST_FAULTS]) + more


def _leaves(value: object) -> Iterator[str]:
    """Yield every text inside an object's values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:LONGEST_NAME] for part in path) or "the object"
