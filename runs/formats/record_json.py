"""Records as JSON: their fields, in their order, under their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.records import SCHEMA

LEFT_OUT = {"json": "left out"}
"""Metadata of a field that is left out of JSON if it is None."""
SPREAD = {"json": "spread"}
"""Metadata of a field that is replaced by its own fields in JSON, or left out if it is None."""


def keyed(name: str) -> dict[str, str]:
    """Return the metadata of a field with another name in JSON, such as a Python keyword."""
    return {"key": name}


def record_json(record: Any) -> dict[str, Any]:
    """Return a record as a command prints it with `--json`, the version of its shape first."""
    return {"schema": SCHEMA, **fields_json(record)}


def fields_json(record: Any) -> dict[str, Any]:
    """Return a dataclass or named tuple as JSON-ready values.

    A class that holds more than JSON has, or computes some of it, names in `SHOWN` its fields and
    properties that stand there.
    """
    known = getattr(record, "__dataclass_fields__", {})
    names = getattr(record, "SHOWN", None) or getattr(record, "_fields", None) or known
    found: dict[str, Any] = {}
    for name in names:
        value = getattr(record, name)
        how = known[name].metadata if name in known else {}
        if how.get("json") is None:
            found[how.get("key", name)] = value_json(value)
        elif value is not None:
            is_spread = how["json"] == "spread"
            found |= fields_json(value) if is_spread else {name: value_json(value)}
    return found


def value_json(value: Any) -> Any:
    """Return a value as JSON-ready values: records by their fields, NaN and infinities as null."""
    # First: a record with a shape of its own is not taken apart.
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__"):
        return fields_json(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: value_json(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [value_json(one) for one in value]
    return value
