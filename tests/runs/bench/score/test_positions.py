"""Needles are told apart by where they lie and how long the video is, where an item says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.played import invoke
from tests.support.task_sets import choice, needle, write_set
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.task_points import Positions, place_of, positions_of
from videoautoarena.runs.bench.score.task_score import score_tasks
from videoautoarena.scoring.questions.scores import measure_accuracy


def answered(bench: OpenBench[TaskItem], right: set[str], model: str = "m") -> TaskResult:
    lines = [
        TaskLine(qid=item.qid, end="answered", response="B" if item.qid in right else "A")
        for item in bench.items
    ]
    result = TaskResult(bench=bench.bench, model=model, judge=None, how="run", lines=lines)
    write_result(bench, result)
    return result


def counts_of(of: Positions) -> list[list[tuple[int, int] | None]]:
    return [[cell and (cell.right, cell.n) for cell in row] for row in of.cells]


def test_each_needle_counts_in_the_cell_of_its_middle_and_its_background(tmp_path: Path) -> None:
    early = [needle(f"v{k}", k, at=5.0) for k in range(8)]
    late = [needle(f"v{k}", 10 + k, at=60.0) for k in range(4)]
    long = [needle(f"v{k}", 20 + k, at=90.0, background=180) for k in range(6)]
    bench = write_set(tmp_path / "set", [*early, *late, *long])
    right = {item.qid for item in (*early[:6], *long[:3])}
    (row,) = score_tasks(bench, [answered(bench, right)]).boards[0].models
    found = row.positions
    assert found is not None
    assert found.lengths == (60, 180)
    empty = [None, None]
    assert counts_of(found) == [[(6, 8), None], empty, [None, (3, 6)], empty, [(0, 4), None]]
    assert [cell and cell.right for cell in found.by_length] == [6, 3]
    assert [cell and cell.n for cell in found.by_position] == [8, None, 6, None, 4]
    cell = found.cells[0][0]
    wilson = measure_accuracy([1, 1, 1, 1, 1, 1, 0, 0])
    assert cell is not None
    assert cell.value == 75.0
    assert (cell.low, cell.high) == pytest.approx((100 * wilson.low, 100 * wilson.high), abs=1e-3)


def test_needles_in_films_cut_from_one_video_are_one_piece_of_evidence() -> None:
    made = [needle("one" if k < 4 else "two", k, at=5.0) for k in range(8)]
    apart = [needle(f"v{k}", k, at=5.0) for k in range(8)]
    wide, narrow = (
        positions_of(items, {item.qid: float(k < 4) for k, item in enumerate(items)})
        for items in (made, apart)
    )
    assert wide is not None
    assert narrow is not None
    one = wide.by_length[0]
    other = narrow.by_length[0]
    assert one is not None
    assert other is not None
    assert one.low is not None
    assert other.low is not None
    assert one.low < other.low


@pytest.mark.parametrize(
    ("at", "part"), [(0.0, 0), (10.7, 0), (10.9, 1), (30.0, 2), (49.1, 3), (60.0, 4)]
)
def test_the_middle_of_a_needle_says_which_fifth_it_is_in(at: float, part: int) -> None:
    assert place_of(needle("v", 0, at=at)) == (part, 60)


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"kind": "count"},
        {"probes": []},
        {"probes": [{"at_s": 1.0, "lasts_s": 4.0}] * 2},
        {"probes": [{"at_s": "1", "lasts_s": 4.0}]},
        {"probes": [{"at_s": 10**400, "lasts_s": 4.0}]},
        {"probes": [{"at_s": -1.0, "lasts_s": 4.0}]},
        {"background_s": None},
    ],
)
def test_what_does_not_say_where_one_needle_lies_is_in_no_cell(made: dict[str, object]) -> None:
    whole = needle("v", 0, at=5.0)
    item = whole.model_copy(update={"made": {**whole.made, **made} if made else {}})
    assert place_of(item) is None
    assert place_of(whole.model_copy(update={"duration_s": None})) is None
    assert positions_of([item], {item.qid: 1.0}) is None


def test_scores_as_json_hold_cells_and_null_for_a_set_without_places(tmp_path: Path) -> None:
    plain = write_set(tmp_path / "plain", [choice("v", 0)])
    made = write_set(tmp_path / "made", [needle("v", 0, at=5.0)])
    for bench in (plain, made):
        answered(bench, {item.qid for item in bench.items})
    shown = [invoke("bench", "score", one.folder, "--json").output for one in (plain, made)]
    without, found = (json.loads(one)["boards"][0]["models"][0]["positions"] for one in shown)
    assert without is None
    assert found["cells"][0][0] == {"value": 100.0, "low": 0.0, "high": 100.0, "n": 1, "right": 1}
    assert found["cells"][1:] == [[None]] * 4
    assert "arena pictures" in invoke("bench", "score", made.folder).output
    assert "arena pictures" not in invoke("bench", "score", plain.folder).output
