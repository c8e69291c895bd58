"""Holding values against the JSON Schemas that docs/ publishes."""

from __future__ import annotations

import re
from typing import Any


def problems(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    """Check the part of JSON Schema that the published ones use; return what does not fit."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        found = [problems(value, one, whole) for one in schema["anyOf"]]
        return [] if [] in found else [f"{value!r} fits none of {schema['anyOf']}"]
    kinds: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    wrong = []
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        return [f"{value!r} is no {schema['type']}"]
    if "const" in schema and value != schema["const"]:
        wrong.append(f"{value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{value!r} is none of {schema['enum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        wrong.append(f"{value!r} is not like {schema['pattern']}")
    if isinstance(value, dict):
        wrong += [f"lacks {name}" for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        for key, inner in value.items():
            if key not in known and rest is False:
                wrong.append(f"{key} is too many")
            else:
                below = known.get(key, rest)
                wrong += problems(inner, below if isinstance(below, dict) else {}, whole)
    if isinstance(value, list):
        wrong += [bad for one in value for bad in problems(one, schema.get("items", {}), whole)]
    return wrong
