"""The JSON schema of a reply, in the few words that servers of structured output all know.

Only shapes, choices and counts of lists stand in it. Bounds of numbers, lengths of texts and
defaults are left out, since some servers refuse a schema for them; the reader holds to them anyway.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from videoautoarena.agents.prompting.contracts import Reply

_KEPT = ("type", "enum", "minItems", "maxItems")


@cache
def reply_schema(kind: type[Reply]) -> dict[str, Any]:
    """Return the JSON schema of a reply, every key required and no other allowed."""
    whole = kind.model_json_schema()
    return _plain(whole, whole.get("$defs", {}))


def _plain(schema: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Return one part of a schema, with what it refers to in its place."""
    if "$ref" in schema:
        return _plain(parts[schema["$ref"].rpartition("/")[2]], parts)
    if "anyOf" in schema:
        return {"anyOf": [_plain(one, parts) for one in schema["anyOf"]]}
    if "const" in schema:
        return {"type": "string", "enum": [schema["const"]]}
    found = {word: schema[word] for word in _KEPT if word in schema}
    if "properties" in schema:
        properties = schema["properties"]
        found["properties"] = {name: _plain(one, parts) for name, one in properties.items()}
        found["required"] = list(properties)
        found["additionalProperties"] = False
    # A tuple of so many equal entries: most servers know a list with that count alone.
    items = schema.get("items") or next(iter(schema.get("prefixItems", ())), None)
    if items is not None:
        found["items"] = _plain(items, parts)
    return found
