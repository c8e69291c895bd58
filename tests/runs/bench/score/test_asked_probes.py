"""Who knows answers without the video shows that a set gives them away."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest
from scipy.stats import binomtest

from tests.support.played import invoke
from tests.support.task_sets import choice, write_set
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import VIEWS, TaskLine, TaskResult, View, write_result
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.shortcuts import probe_all, read_asked

LETTERS = "ABCD"


def a_set(folder: Path, *, size: int = 200, key: int | None = None) -> OpenBench[TaskItem]:
    """Write a set of items whose options nothing tells apart, keys drawn; or all at one place."""
    chance = Random(3)
    items = []
    for k in range(size):
        options = [f"{chance.randrange(10**6):06d}" for _ in LETTERS]
        right = options[chance.randrange(4) if key is None else key]
        items.append(choice(f"v{k}", k, options=options, answer=right))
    return write_set(folder / "set", items)


def hand_in(
    bench: OpenBench[TaskItem],
    view: View,
    right: int,
    *,
    name: str = "m",
    frames: int = 64,
    judge: str | None = None,
) -> None:
    """Write a result that is right on the first so many items."""
    shown = VIEWS.get(view, f"{frames} frames")
    lines = [
        TaskLine(
            qid=item.qid,
            end="answered",
            response=LETTERS[(item.options.index(item.answer or "") + (k >= right)) % 4],
        )
        for k, item in enumerate(bench.items)
    ]
    facts = {"model": "openai:m", "max_frames": frames, "view": view}
    result = TaskResult(
        bench=bench.bench,
        model=f"{name} ({shown})",
        judge=judge,
        how="run",
        facts=facts,
        lines=lines,
    )
    write_result(bench, result)


def test_an_accuracy_without_the_video_is_held_against_chance(tmp_path: Path) -> None:
    bench = a_set(tmp_path)
    rights: dict[View, int] = {"whole": 180, "blind": 90, "other": 55, "shuffled": 170}
    for view, right in rights.items():
        hand_in(bench, view, right)
    found = read_asked(bench)
    by_view = {one.view: one for one in found.probes}
    assert by_view["blind"].accuracy == 45.0
    assert by_view["blind"].chance == 25.0
    for view, right in {"blind": 90, "other": 55}.items():
        exact = binomtest(right, 200, 0.25, alternative="greater").pvalue
        assert by_view[view].p == pytest.approx(exact, rel=1e-6)  # type: ignore[index]
    # Frames that were shuffled are of the video: knowing answers from them gives nothing away.
    assert [one.view for one in found.found] == ["blind"]
    said = " ".join(invoke("bench", "probe", bench.folder).output.split())
    assert "needle: m with no frames is right on 45.0 % of 200 items" in said


def test_beside_a_view_stands_the_whole_with_as_many_frames(tmp_path: Path) -> None:
    bench = a_set(tmp_path)
    for frames, right in {4: 60, 64: 180, 128: 190}.items():
        hand_in(bench, "whole", right, frames=frames)
    hand_in(bench, "blind", 52)
    found = {one.view: one.accuracy for one in read_asked(bench).probes}
    assert len(read_asked(bench).probes) == 2
    assert found == {"whole": 90.0, "blind": 26.0}


def test_two_that_are_one_model_stand_apart(tmp_path: Path) -> None:
    bench = a_set(tmp_path)
    for name, right in {"finder": 52, "spread": 60}.items():
        hand_in(bench, "whole", 3 * right, name=name)
        hand_in(bench, "blind", right, name=name)
    found = {(one.model, one.view): one.accuracy for one in read_asked(bench).probes}
    assert found == {
        ("finder", "whole"): 78.0,
        ("finder", "blind"): 26.0,
        ("spread", "whole"): 90.0,
        ("spread", "blind"): 30.0,
    }
    rows = invoke("bench", "probe", bench.folder).output.splitlines()
    assert [row.split()[1] for row in rows if re.match("needle +[fs]", row)] == ["finder", "spread"]


def test_of_a_clean_set_nobody_is_said_to_know(tmp_path: Path) -> None:
    bench = a_set(tmp_path)
    views: tuple[View, ...] = ("blind", "other")
    for view in views:
        hand_in(bench, view, 52)
    assert read_asked(bench).found == ()
    assert (
        "No model is above chance without the video"
        in invoke("bench", "probe", bench.folder).output
    )


def test_what_is_given_away_is_left_out_of_the_second_score(tmp_path: Path) -> None:
    bench = a_set(tmp_path, key=2)
    hand_in(bench, "whole", 150)
    (one,) = probe_all(open_bench(bench.folder)).scores
    assert one.every.value == 75.0
    assert one.rest is None
    found = json.loads(invoke("bench", "probe", bench.folder, "--json").output)
    assert found["given_away"] == 200
    assert found["scores"][0]["rest"] is None


def test_a_text_that_stands_at_several_lengths_is_one_piece_of_evidence(tmp_path: Path) -> None:
    clean = a_set(tmp_path, size=40).items
    items = [
        choice(
            f"{item.video_id}-{seconds}",
            options=item.options,
            answer=item.answer,
            question=item.question,
            made={"ladder": item.qid, "background_s": seconds},
        )
        for item in clean
        for seconds in (60, 180, 360, 600, 1200)
    ]
    bench = write_set(tmp_path / "ladders", items)
    hand_in(bench, "blind", 5 * 15)
    (probe,) = read_asked(bench).probes
    assert (probe.n, probe.accuracy) == (200, 37.5)
    assert probe.p == pytest.approx(binomtest(15, 40, 0.25, alternative="greater").pvalue, rel=1e-6)
    assert read_asked(bench).found == ()


def test_choices_count_once_whoever_marked_the_free_text(tmp_path: Path) -> None:
    bench = a_set(tmp_path, size=40, key=1)
    for judge in ("J", "K"):
        hand_in(bench, "blind", 40, judge=judge)
        hand_in(bench, "whole", 40, judge=judge)
    found = probe_all(bench)
    assert [one.view for one in found.asked.probes] == ["whole", "blind"]
    assert len(found.asked.found) == len(found.scores) == 1
