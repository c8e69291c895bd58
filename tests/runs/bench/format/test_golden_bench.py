"""A bench of the sample clips and what the offline cast scores on it, as they were checked in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import invoke
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import schemas
from videoautoarena.runs.bench.freeze.selection import longer

BENCH = Path(__file__).parents[2] / "golden" / "bench-samples"
SEALED = "5de675805b30323b55543bda4f7033272151c9142bd06eb4f9aab83e8ed28376"
SCORES = {
    "offline:hawk": (71.875, 100.0, 85.9375),
    "offline:mole": (21.875, 37.5, 29.6875),
    "offline:parrot": (0.0, 0.0, 0.0),
}
"""Against selected, against rejected, average."""
POINTS = {
    "selected": {"win": 1.0, "tie": 0.5, "loss": 0.0},
    "rejected": {"win": 1.0, "tie": 0.0, "loss": 0.0},
}


@pytest.fixture(scope="module")
def scored() -> dict[str, dict[str, Any]]:
    result = invoke("bench", "score", BENCH, "--json")
    assert result.exit_code == 0, result.exception
    return {row["model"]: row for row in json.loads(result.output)["models"]}


def test_it_is_the_bench_that_was_checked_in() -> None:
    result = invoke("bench", "verify", BENCH, "--json")
    told = json.loads(result.output)
    assert (result.exit_code, told["ok"], told["problems"]) == (0, True, [])
    assert (told["bench"], told["questions"], told["videos"]) == (SEALED, 16, 10)


@pytest.mark.parametrize("name", ["manifest.json", "questions.jsonl", "card.md"])
def test_no_byte_of_it_may_change(name: str, tmp_path: Path) -> None:
    copy = shutil.copytree(BENCH, tmp_path / "bench")
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 3] ^= 1
    (copy / name).write_bytes(content)
    result = invoke("bench", "verify", copy)
    assert result.exit_code == 1
    assert name in result.output


def test_it_has_what_its_manifest_says_was_asked_for() -> None:
    bench = open_bench(BENCH)
    assert bench.manifest.selection["length_matched"] is True
    assert sum(map(longer, bench.items)) == 0
    assert len({item.question for item in bench.items}) == len(bench.items)
    assert bench.manifest.licence == "Apache-2.0"
    known = schemas()["bench-question.schema.json"]["properties"]
    lines = (BENCH / "questions.jsonl").read_text().splitlines()
    assert all(set(json.loads(line)) <= set(known) for line in lines)


def test_its_scores_are_those_of_before(scored: dict[str, dict[str, Any]]) -> None:
    keys = ("vs_selected", "vs_rejected", "average")
    found = {model: tuple(row[key] for key in keys) for model, row in scored.items()}
    assert found == {model: pytest.approx(told) for model, told in SCORES.items()}
    assert all(row["low"] <= row["average"] <= row["high"] for row in scored.values())


def test_its_scores_are_what_its_lines_add_up_to(scored: dict[str, dict[str, Any]]) -> None:
    for path in sorted((BENCH / "results").glob("*.jsonl")):
        head, *lines = map(json.loads, path.read_text().splitlines())
        row = scored[head["model"]]
        for against, points in POINTS.items():
            given = [points[line["verdict"]] for line in lines if line["against"] == against]
            assert len(given) == 16
            assert row[f"vs_{against}"] == pytest.approx(100 * sum(given) / 16)


def test_the_model_that_sees_more_leads_and_the_constant_answer_is_last(
    scored: dict[str, dict[str, Any]],
) -> None:
    assert list(scored) == ["offline:hawk", "offline:mole", "offline:parrot"]
    assert scored["offline:hawk"]["low"] > scored["offline:mole"]["high"]
