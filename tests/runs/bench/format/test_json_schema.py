"""The published JSON Schemas are those of the shapes, and a bench on disk meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import lineage, play, video
from videoautoarena.runs.bench.format.schema import schemas, write_schemas
from videoautoarena.runs.bench.freeze.freeze import freeze

DOCS = Path(__file__).parents[4] / "docs"
QUESTION, MANIFEST = "bench-question.schema.json", "bench-manifest.schema.json"


@pytest.mark.parametrize("name", [QUESTION, MANIFEST])
def test_what_is_published_is_what_the_shapes_say(name: str, tmp_path: Path) -> None:
    write_schemas(tmp_path)
    assert (DOCS / name).read_text() == (tmp_path / name).read_text(), "make docs"


def problems(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    """Check the part of JSON Schema that these two use; return what does not fit."""
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
        known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        for key, inner in value.items():
            if key not in known and rest is False:
                wrong.append(f"{key} is too many")
            else:
                below = known.get(key, rest)
                wrong += problems(inner, below if isinstance(below, dict) else {}, whole)
    if isinstance(value, list):
        wrong += [bad for one in value for bad in problems(one, schema.get("items", {}), whole)]
    return wrong


def test_a_bench_on_disk_meets_both(tmp_path: Path) -> None:
    freeze(play(tmp_path / "out", lineage(video())), tmp_path / "bench")
    manifest = json.loads((tmp_path / "bench" / "manifest.json").read_text())
    assert problems(manifest, schemas()[MANIFEST], schemas()[MANIFEST]) == []
    for line in (tmp_path / "bench" / "questions.jsonl").read_text().splitlines():
        assert problems(json.loads(line), schemas()[QUESTION], schemas()[QUESTION]) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chosen_by": "me"}, "none of"),
        ({"qid": 1}, "no string"),
        ({"more": 1}, "too many"),
        ({"schema": 1}, "is not 2"),
    ],
)
def test_what_a_bench_never_holds_does_not_meet_them(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    freeze(play(tmp_path / "out", lineage(video())), tmp_path / "bench")
    line = json.loads((tmp_path / "bench" / "questions.jsonl").read_text().splitlines()[0])
    (wrong,) = problems({**line, **change}, schemas()[QUESTION], schemas()[QUESTION])
    assert said in wrong
