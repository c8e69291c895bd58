"""How records stand in a row: as canonical JSON, which any program can read."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import ValidationError

from memory.digests import canonical_json
from memory.errors import StoreError
from memory.records import Record

R = TypeVar("R", bound=Record)


def write_body(
    record: Record, *, without: frozenset[str] = frozenset(), defaults: bool = True
) -> str:
    """Return the record as canonical JSON.

    Args:
        record: what is to be kept.
        without: fields that have columns of their own.
        defaults: whether fields are written that say no more than when they are not there.
    """
    # Not model_dump_json: it refuses the surrogates of file names that are no UTF-8.
    return canonical_json(
        record.model_dump(
            mode="json",
            by_alias=True,
            exclude=set(without) or None,
            exclude_defaults=not defaults,
        )
    )


def read_body(kind: type[R], body: str, **columns: object) -> R:
    """Return the record that `write_body` wrote; raises StoreError for anything else."""
    try:
        return kind.model_validate({**read_json(body), **columns})
    except ValidationError as error:
        raise StoreError(f"the run holds a {kind.__name__} that cannot be read") from error


def read_json(body: str) -> dict[str, Any]:
    """Return the object that stands in a body; raises StoreError for anything else."""
    try:
        found: dict[str, Any] = json.loads(body)
    except ValueError as error:
        raise StoreError(f"the run holds a row that is no JSON ({error})") from error
    return found
