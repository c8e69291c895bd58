"""The published JSON Schemas are those of the shapes, and a bench on disk meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.json_schemas import problems
from tests.support.played import lineage, play, video
from videoautoarena.runs.bench.format.schema import schemas, write_schemas
from videoautoarena.runs.bench.freeze.freeze import freeze

DOCS = Path(__file__).parents[4] / "docs"
QUESTION = "bench-question.schema.json"
MANIFEST = "bench-manifest.schema.json"


@pytest.mark.parametrize("name", [QUESTION, MANIFEST])
def test_what_is_published_is_what_the_shapes_say(name: str, tmp_path: Path) -> None:
    write_schemas(tmp_path)
    assert (DOCS / name).read_text() == (tmp_path / name).read_text(), "make docs"


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
