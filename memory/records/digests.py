"""Canonical JSON, bodies of rows, digests, and chance that follows from a seed."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, TypeVar

from pydantic import ValidationError

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Record

_LONGEST_REASON = 200
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Every key and digest hangs on this form: to change it would pay all recorded calls again.
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: Any) -> str:
    r"""Return the one JSON text of `value`: sorted keys, no spaces, characters as they are.

    Lone surrogates, which stand for the bytes of file names that are no UTF-8, are written as
    `\udcXX`, so that every canonical text can be encoded, and every file name comes back as it
    was. Numbers that JSON does not know (NaN, infinities) raise ValueError.
    """
    text = _CANONICAL.encode(value)
    if text.isascii():
        return text
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def digest(content: str | bytes) -> str:
    """Return the sha256 of `content` as 64 lower-case hex digits; text counts as its UTF-8."""
    # Names of files may hold lone surrogates, which plain UTF-8 refuses.
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()


def derive(seed: int, *parts: str | int) -> str:
    """Return 64 hex digits that follow from the seed and the parts; sort by them to shuffle."""
    # As a list, so that the parts ("ab", "c") and ("a", "bc") give different numbers.
    return digest(canonical_json([seed, *parts]))


def unit_interval(seed: int, *parts: str | int) -> float:
    """Return a number in [0, 1) that follows from the seed and the parts."""
    # The 53 bits that a float holds: with more the quotient could round up to 1.
    return (int(derive(seed, *parts)[:16], 16) >> 11) / 2**53


R = TypeVar("R", bound=Record)


def write_body(
    record: Record, *, without: frozenset[str] = frozenset(), defaults: bool = True
) -> str:
    """Return the record as canonical JSON, `without` fields that have columns of their own.

    Without `defaults`, fields that have their default value are left out.
    """
    # Not model_dump_json, which refuses the lone surrogates of file names that are not UTF-8.
    left_out = set(without) or None
    return canonical_json(
        record.model_dump(
            mode="json", by_alias=True, exclude=left_out, exclude_defaults=not defaults
        )
    )


def read_body(kind: type[R], body: str, **columns: object) -> R:
    """Return the record that `write_body` wrote; raises StoreError for anything else."""
    data = {**read_json(body), **columns}
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        # Without the input, which may be a whole reply.
        why = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, why["loc"][:4]))
        raise StoreError(
            f"the run holds a {kind.__name__} that cannot be read "
            f"({_shown(field)}: {_shown(why['msg'])}); use another copy"
        ) from error


def read_json(body: str) -> dict[str, Any]:
    """Return the object that stands in a body; raises StoreError for anything else."""
    try:
        found = _READER.decode(body)
    # RecursionError: a changed file may hold brackets nested thousands deep.
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(
            f"the run holds a row that is no JSON ({_shown(str(error))}); use another copy"
        ) from error
    if not isinstance(found, dict):
        raise StoreError("the run holds a row that is no JSON object; use another copy")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


# Python's own reader takes NaN and Infinity, which are no JSON.
_READER = json.JSONDecoder(parse_constant=_no_number)


def _shown(text: str) -> str:
    # The file may be anybody's, and these words end up in a terminal.
    return ascii(text[:_LONGEST_REASON])[1:-1]
