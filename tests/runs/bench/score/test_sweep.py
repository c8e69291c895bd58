"""More frames are worth their price only where a cheaper setting is shown to be worse, or is not
shown to be as good."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.played import invoke
from tests.support.task_sets import choice, write_set
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.score.sweep import Sweep
from videoautoarena.runs.bench.score.task_score import score_tasks
from videoautoarena.runs.views.results.sets import sweep_sentences, sweeps_table

ITEMS = 300


def sweep_of(
    folder: Path, right: Mapping[int, int], *, usd: float | None = 0.001, margin: float = 2.0
) -> Sweep:
    """Return the sweep of a model that is right on the first so many items, by its frames."""
    items = [choice(f"v{k}", k) for k in range(ITEMS)]
    bench = write_set(folder / "set", items)
    for frames, most in right.items():
        lines = [
            TaskLine(
                qid=item.qid,
                end="answered",
                response="B" if k < most else "A",
                usd=None if usd is None else usd * frames,
            )
            for k, item in enumerate(items)
        ]
        facts = {"model": "openai:m", "max_frames": frames, "view": "whole"}
        name = f"m ({frames} frames)"
        result = TaskResult(
            bench=bench.bench, model=name, judge=None, how="run", facts=facts, lines=lines
        )
        write_result(bench, result)
    ((sweep,),) = (board.sweeps for board in score_tasks(bench, margin=margin).boards)
    return sweep


def test_the_cheapest_setting_that_is_shown_to_be_as_good_is_named(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, {4: 120, 16: 240, 64: 240, 128: 241})
    assert (sweep.best, sweep.cheapest, sweep.by) == (128, 16, "dollars")
    assert [one.accuracy.value for one in sweep.settings] == pytest.approx(
        [40.0, 80.0, 80.0, 100 * 241 / 300], abs=0.001
    )
    assert sweep.settings[1].usd == 0.016
    shown = " ".join(invoke("bench", "score", tmp_path / "set").output.split())
    assert (
        "openai:m: 16 frames (80.0 %, $0.0160 an item) are the cheapest setting within 2 points "
        "of the best, 128 frames (80.3 %)." in shown
    )


def said_of(sweep: Sweep) -> str:
    (told,) = sweep_sentences([sweep], sweeps_table([sweep]))
    return told.text


@pytest.mark.slow
def test_what_is_not_shown_to_be_as_good_is_not_enough(tmp_path: Path) -> None:
    # 3 points below, on items that are otherwise answered alike.
    sweep = sweep_of(tmp_path, {16: 231, 64: 240})
    assert sweep.cheapest == 64
    assert "no cheaper setting is shown" in said_of(sweep)
    (tmp_path / "wide").mkdir()
    assert sweep_of(tmp_path / "wide", {16: 231, 64: 240}, margin=10.0).cheapest == 16


def test_without_known_dollars_fewer_frames_are_cheaper(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, {16: 240, 64: 240}, usd=None)
    assert (sweep.by, sweep.cheapest) == ("frames", 16)
    assert sweep.settings[0].usd is None
    assert "which no setting undercuts" in said_of(sweep)


def test_settings_are_held_against_each_other_by_the_figure_that_is_shown(tmp_path: Path) -> None:
    items = [choice(f"v{k}", k, task="few" if k < 10 else "many") for k in range(100)]
    bench = write_set(tmp_path / "set", items)
    # By items 16 frames are better, 45 to 10; by tasks 4 are, 50 to 25.
    right = {4: range(10), 16: range(10, 55)}
    for frames, of in right.items():
        lines = [
            TaskLine(qid=item.qid, end="answered", response="B" if k in of else "A")
            for k, item in enumerate(items)
        ]
        facts = {"model": "openai:m", "max_frames": frames, "view": "whole"}
        name = f"m ({frames} frames)"
        result = TaskResult(
            bench=bench.bench, model=name, judge=None, how="run", facts=facts, lines=lines
        )
        write_result(bench, result)
    ((sweep,),) = (board.sweeps for board in score_tasks(bench).boards)
    assert [one.accuracy.value for one in sweep.settings] == [50.0, 25.0]
    assert (sweep.best, sweep.cheapest) == (4, 4)
    assert sweep.settings[1].behind.value == -25.0
    wide = score_tasks(bench, margin=80.0).boards[0].sweeps[0]
    assert wide.cheapest == 4


def test_a_setting_is_undercut_by_dollars_and_not_by_frames(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path, {1: 240, 4: 100})
    assert "openai:m: 1 frame scores best (80.0 %" in said_of(sweep)
    assert "which no setting undercuts" in said_of(sweep)
    first, second = sweep.settings
    dear = sweep.model_copy(update={"settings": (first.model_copy(update={"usd": 1.0}), second)})
    assert "no cheaper setting is shown" in said_of(dear)


@pytest.mark.parametrize("frames", [0, -4, True, 10**400, "16", None])
def test_a_number_of_frames_that_cannot_be_is_no_setting(tmp_path: Path, frames: object) -> None:
    bench = write_set(tmp_path / "set", [choice(f"v{k}", k) for k in range(3)])
    for name, sent in {"m": frames, "n": 16}.items():
        lines = [TaskLine(qid=item.qid, end="answered", response="B") for item in bench.items]
        facts = {"model": "openai:m", "max_frames": sent, "view": "whole"}
        write_result(
            bench,
            TaskResult.model_validate(
                {"bench": bench.bench, "model": name, "judge": None, "how": "run",
                 "facts": facts, "lines": lines}
            ),
        )  # fmt: skip
    (board,) = score_tasks(bench).boards
    assert board.sweeps == ()
    assert [row.max_frames for row in board.models] == [None, 16]
