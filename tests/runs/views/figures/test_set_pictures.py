"""Figures of a task set: every figure stands on them, and nothing runs into anything else."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from tests.support.drawn import boxes_of, size_of, texts_of
from tests.support.played import invoke
from tests.support.played_sets import Played, play_set
from tests.support.task_sets import choice, write_set
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskSetScores, score_tasks
from videoautoarena.runs.cli.results.leaderboard import SET_NAMES
from videoautoarena.runs.views.figures.album import SET_PICTURES
from videoautoarena.runs.views.figures.canvas import Picture, render
from videoautoarena.runs.views.figures.sets import sweep

RUDE = ("<b>$x_1$</b>", "\x1b[31m" + "x" * 60)


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> TaskSetScores:
    played = Played(models=RUDE, frames=(4, 64), needles=36)
    return score_tasks(play_set(tmp_path_factory.mktemp("set") / "set", played))


@pytest.fixture(scope="module")
def drawn(scores: TaskSetScores) -> dict[str, bytes]:
    made = {name: make(scores, board_of(scores)) for name, make in SET_PICTURES.items()}
    return {name: render(one, "svg") for name, one in made.items() if isinstance(one, Picture)}


def board_of(scores: TaskSetScores) -> TaskBoard:
    (board,) = scores.boards
    return board


@pytest.mark.parametrize("name", SET_PICTURES)
def test_no_text_leaves_a_picture_or_lies_on_another(drawn: dict[str, bytes], name: str) -> None:
    width, height = size_of(drawn[name])
    found = boxes_of(drawn[name])
    assert [one for one in found if one.left < 0 or one.right > width + 0.5] == []
    assert [one for one in found if one.top < 0 or one.bottom > height + 0.5] == []
    assert [(a, b) for a, b in combinations(found, 2) if a.meets(b)] == []
    assert "<b>$x_1$</b> (64 frames)" in [one.text for one in found] or name == "sweep"


def test_a_heat_map_says_the_accuracy_and_the_items_of_every_cell(
    scores: TaskSetScores, drawn: dict[str, bytes]
) -> None:
    board = board_of(scores)
    found = texts_of(drawn["positions"])
    for row in board.models:
        assert row.positions is not None
        cells = [cell for line in row.positions.cells for cell in line if cell]
        assert sum(cell.n for cell in cells) == 36
        for cell in cells:
            assert {f"{cell.value:.1f}", str(cell.n)} <= set(found)
    assert {"30 s", "1 min", "3 min", "0–20 %", "80–100 %"} <= set(found)


def test_a_curve_rings_what_is_enough_and_a_price_gives_it_a_second_axis(
    scores: TaskSetScores, drawn: dict[str, bytes], tmp_path: Path
) -> None:
    board = board_of(scores)
    _, frames, spending = sweep(scores, board).draw(False).axes
    rings = [line for line in frames.lines if line.get_markersize() == 8]
    assert [line.get_xdata()[0] for line in rings] == [one.cheapest for one in board.sweeps]
    assert spending.get_xscale() == frames.get_xscale() == "log"
    assert "dollars an item" in texts_of(drawn["sweep"])
    # The last of these is right on nothing with four frames, which is a point as well.
    played = Played(models=tuple("abcde"), frames=(4, 64), needles=15, usd=0.0)
    free = score_tasks(play_set(tmp_path / "free", played))
    _, frames = sweep(free, board_of(free)).draw(False).axes
    curves = [line for line in frames.lines if line.get_markersize() == pytest.approx(3.2)]
    assert [len(line.get_xdata()) for line in curves] == [2] * 5
    assert min(line.get_ydata()[0] for line in curves) == 0.0


def test_the_command_draws_each_part_of_a_set_and_names_what_it_lacks(tmp_path: Path) -> None:
    parts = ("Dev", "../Dev", "Test")
    played = Played(models=("m",), frames=(8,), splits=parts, needles=6, with_text=False)
    bench = play_set(tmp_path / "set", played)
    only = ("--only", "positions,sweep")
    words = ("pictures", bench.folder, "--to", tmp_path / "p", *only)
    said = json.loads(invoke(*words, "--json").output)
    assert [Path(one["file"]).name for one in said["pictures"]] == [
        "positions-dev.svg", "positions-dev-2.svg", "positions-test.svg"
    ]  # fmt: skip
    assert [one["name"] for one in said["left_out"]] == ["sweep-dev", "sweep-dev-2", "sweep-test"]
    assert "already exists" in str(invoke(*words).exception)


def test_a_set_without_places_has_a_board_alone_and_one_without_results_nothing(
    tmp_path: Path,
) -> None:
    plain = write_set(tmp_path / "plain", [choice("v", 0)])
    words = ("pictures", plain.folder, "--to", tmp_path / "p")
    assert "has no results" in str(invoke(*words).exception)
    assert invoke(*words, "--only", "ladder").exit_code == 2
    assert f"there are {', '.join(SET_NAMES)}" in " ".join(
        invoke(*words, "--only", "ladder").stderr.split()
    )
    assert not (tmp_path / "p").exists()


def test_a_part_on_which_nothing_could_be_scored_has_no_picture(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [choice("v", 0, answer=None)])
    lines = [TaskLine(qid=item.qid, end="answered", response="B") for item in bench.items]
    result = TaskResult(bench=bench.bench, model="m", judge=None, how="run", lines=lines)
    write_result(bench, result)
    said = json.loads(invoke("pictures", bench.folder, "--to", tmp_path / "p", "--json").output)
    assert said["pictures"] == []
    assert {"name": "tasks", "why": "no answer could be scored"} in said["left_out"]


def test_no_part_of_a_set_takes_the_name_of_another(tmp_path: Path) -> None:
    parts = ("x", "x-3", "X")
    items = [choice("v", k, split=split) for k, split in enumerate(parts)]
    bench = write_set(tmp_path / "set", items)
    lines = [TaskLine(qid=item.qid, end="answered", response="B") for item in items]
    result = TaskResult(bench=bench.bench, model="m", judge=None, how="run", lines=lines)
    write_result(bench, result)
    words = ("--to", tmp_path / "p", "--only", "tasks", "--json")
    said = json.loads(invoke("pictures", bench.folder, *words).output)
    assert len({one["file"] for one in said["pictures"]}) == len(parts)
