"""The shapes of a bench as JSON Schema, for whoever reads one without this program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runs.sealing import Item, Manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DIGEST = {"pattern": "^[0-9a-f]{64}$", "type": "string"}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by the names of their files."""
    manifest = Manifest.model_json_schema()
    manifest["properties"] = {**manifest["properties"], "bench": DIGEST}
    manifest["required"] = [*manifest["required"], "schema", "bench"]
    item = Item.model_json_schema()
    item["required"] = [*item["required"], "schema"]
    return {
        "bench-manifest.schema.json": {"$schema": DIALECT, **manifest},
        "bench-question.schema.json": {"$schema": DIALECT, **item},
    }


def write_schemas(folder: Path) -> None:
    """Write each schema into a folder, which is there."""
    for name, schema in schemas().items():
        (folder / name).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
