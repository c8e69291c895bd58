"""What length costs is told item by item, and a ladder is one piece of evidence, not several."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support.played import invoke
from tests.support.task_sets import choice, write_set
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.sweep import LengthLadder, ladders_of
from videoautoarena.runs.views.results.sets import ladder_sentences, ladders_table
from videoautoarena.scoring.questions.scores import measure_accuracy
from videoautoarena.scoring.ratings.differences import measure_lead

LENGTHS = (60, 180, 600)


def rungs(ladder: int, *, source: str = "", task: str = "needle") -> list[TaskItem]:
    """Return one item at three lengths, each with a video of its own."""
    ground = [{"video": source or f"source {ladder}", "start_s": 0.0, "seconds": 5.0}]
    return [
        choice(
            f"film-{ladder}-{seconds}",
            ladder,
            task=task,
            made={"ladder": f"l{ladder}", "background_s": seconds, "ground": ground},
        )
        for seconds in LENGTHS
    ]


def answered(items: list[TaskItem], is_right: Callable[[TaskItem], bool]) -> TaskResult:
    lines = [
        TaskLine(qid=item.qid, end="answered", response="B" if is_right(item) else "A")
        for item in items
    ]
    return TaskResult(bench="0" * 64, model="openai:m", judge=None, how="run", lines=lines)


def falling(item: TaskItem) -> bool:
    """Right on all of the shortest, on half of the next, and on none of the longest."""
    seconds = item.background_s or 0
    return seconds == 60 or (seconds == 180 and int(item.question.split()[-1][:-1]) % 2 == 0)


def ladder_of(items: list[TaskItem], result: TaskResult) -> LengthLadder:
    (found,) = ladders_of(items, [result])
    return found


def test_each_length_is_held_against_the_shortest_item_by_item() -> None:
    items = [one for k in range(40) for one in rungs(k)]
    found = ladder_of(items, answered(items, falling))
    assert (found.items, found.clusters) == (40, 40)
    assert [rung.seconds for rung in found.rungs] == list(LENGTHS)
    assert [rung.accuracy.value for rung in found.rungs] == [100.0, 50.0, 0.0]
    assert [rung.change.value for rung in found.rungs] == [0.0, -50.0, -100.0]
    lead = measure_lead([1.0, 0.0] * 20, [1.0] * 40)
    assert found.rungs[1].change.low == pytest.approx(100 * lead.low, abs=1e-4)
    (told,) = ladder_sentences([found], ladders_table([found]))
    assert "3 min 50.0 % [-50.0 (-6" in told.text


def test_intervals_know_that_items_share_the_videos_they_were_cut_from() -> None:
    items = [one for k in range(40) for one in rungs(k, source=f"s{k % 2 + 2 * (k // 10)}")]
    found = ladder_of(items, answered(items, falling))
    assert found.clusters == 8
    groups = np.array([k % 2 + 2 * (k // 10) for k in range(40)])
    half = [float(k % 2 == 0) for k in range(40)]
    share = measure_accuracy(half, groups)
    lead = measure_lead(half, [1.0] * 40, groups)
    middle = found.rungs[1]
    assert (middle.accuracy.low, middle.change.low) == pytest.approx(
        (100 * share.low, 100 * lead.low), abs=1e-4
    )
    apart = [one for k in range(40) for one in rungs(k)]
    alone = ladder_of(apart, answered(apart, falling)).rungs[1]
    widths = [(one.change.high or 0.0) - (one.change.low or 0.0) for one in (middle, alone)]
    assert widths[0] > 1.5 * widths[1]


def test_the_rungs_of_one_ladder_are_one_cluster_though_each_has_its_own_video() -> None:
    items = [one for k in range(5) for one in rungs(k)]
    assert len({item.video_id for item in items}) == 15
    assert len({item.cluster for item in items}) == 5


def test_an_item_that_lacks_a_length_is_left_out_at_all_of_them() -> None:
    items = [one for k in range(10) for one in rungs(k)]
    result = answered(items[:-1], falling)
    found = ladder_of(items, result)
    assert found.items == 9
    assert all(rung.accuracy.n == 9 for rung in found.rungs)
    # In the set itself, too.
    assert ladder_of(items[:-1], result).items == 9


def test_items_at_one_length_are_no_ladder() -> None:
    items = [choice(f"v{k}", k) for k in range(10)]
    assert list(ladders_of(items, [answered(items, lambda _: True)])) == []


def test_scores_say_the_fall_of_all_tasks_and_of_each(tmp_path: Path) -> None:
    items = [one for k in range(20) for one in rungs(k, task=("needle", "order")[k % 2])]
    bench = write_set(tmp_path / "set", items)
    result = answered(items, falling).model_copy(update={"bench": bench.bench})
    write_result(bench, result)
    (board,) = json.loads(invoke("bench", "score", bench.folder, "--json").stdout)["boards"]
    found = {one["task"]: one for one in board["ladders"]}
    assert list(found) == [None, "needle", "order"]
    assert [one["items"] for one in found.values()] == [20, 10, 10]
    assert [rung["change"]["value"] for rung in found[None]["rungs"]] == [0.0, -50.0, -100.0]
    assert [rung["change"]["value"] for rung in found["order"]["rungs"]] == [0.0, -100.0, -100.0]
    shown = " ".join(invoke("bench", "score", bench.folder).output.split())
    assert "openai:m, the same 20 items at each length: 1 min 100.0 %, 3 min 50.0 % [" in shown
