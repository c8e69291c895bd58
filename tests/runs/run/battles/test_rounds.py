"""Rounds side by side, counted once more from the exported battles by plain arithmetic."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from tests.support.golden import exported, unpack
from tests.support.played import battle, evolution, lineage, slot, video
from tests.support.small_runs import battles_of
from videoautoarena.memory.records.records import DECIDED, DIFFICULTY_SCALES
from videoautoarena.runs.run.battles.rounds import rounds_of
from videoautoarena.runs.run.rundir.weaknesses import read_looks


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("golden") / "out")


def test_each_round_is_what_its_exported_battles_add_up_to(golden: Path) -> None:
    battles = exported(golden, "battles")
    found = exported(golden, "rounds")
    theme_of = read_looks(battles_of(golden)).theme_of
    assert 1 < len(set(theme_of.values())) < len(theme_of)
    assert [one["round"] for one in found] == [0, 1, 2, 3]
    for one in found:
        here = [b for b in battles if b["round"] == one["round"] and not b["superseded"]]
        tries = [attempt for b in here for attempt in b["evolution"]]
        passed = [attempt for attempt in tries if attempt["accepted"]]
        graded = [b["difficulty"] for b in here if b["difficulty"] is not None]
        assert one["battles"] == len(here)
        assert one["difficulty"]["values"] == graded
        assert one["before"] == [attempt["old"]["overall"] for attempt in passed]
        assert one["gate"] == {"passed": len(passed), "refused": len(tries) - len(passed)}
        assert one["origin"] == Counter(b["origin"] for b in here)
        assert one["verdicts"] == Counter(b["verdict"] for b in here)
        assert one["looked_at"] == len({attempt["battle"] for attempt in tries})
        said = {
            (attempt["battle"], theme_of[words])
            for attempt in tries
            for words in (*attempt["weaknesses_a"], *attempt["weaknesses_b"])
        }
        assert one["themes"] == Counter(theme for _, theme in said)
        if passed:
            assert one["difficulty"]["mean"] == pytest.approx(mean(graded), abs=1e-6)
            for name in DIFFICULTY_SCALES:
                mean_grade = mean(attempt["new"][name] for attempt in passed)
                assert one["standards"][name] == pytest.approx(mean_grade, abs=1e-6)


def test_points_of_a_round_are_one_a_decided_battle(golden: Path) -> None:
    battles = exported(golden, "battles")
    for one in exported(golden, "rounds"):
        decided = [b for b in battles if b["round"] == one["round"] and b["verdict"] in DECIDED]
        points = one["points"].values()
        assert sum(row["n"] for row in points) == 2 * len(decided)
        assert sum(row["share"] * row["n"] for row in points) == pytest.approx(len(decided))


def test_a_lineage_by_hand() -> None:
    first, second, third = rounds_of(lineage(video()))
    assert (first.difficulty.mean, first.standards, first.gate.passed) == (None, None, 0)
    assert {model: row.share for model, row in first.points.items()} == {"hawk": 1.0, "owl": 0.0}
    assert (second.gate.passed, second.gate.refused, second.looked_at) == (1, 1, 1)
    assert (second.difficulty.values, second.before) == ((3.5,), (2.5,))
    assert second.standards == dict.fromkeys(DIFFICULTY_SCALES, 3.5)
    assert {model: row.share for model, row in third.points.items()} == {"hawk": 0.5, "owl": 0.5}


def test_a_battle_that_was_looked_at_twice_shows_a_theme_once() -> None:
    _, second, _ = rounds_of(lineage(video()))
    assert second.themes == {"colour": 1, "small things": 1}


def test_weaknesses_of_one_theme_are_counted_together() -> None:
    themes = {"small things": "looks badly", "colour": "looks badly"}
    _, second, _ = rounds_of(lineage(video()), themes=themes)
    assert second.themes == {"looks badly": 1}
    _, second, _ = rounds_of(lineage(video()), themes={"colour": "hues"})
    assert second.themes == {"hues": 1, "small things": 1}


def test_battles_without_a_question_or_a_verdict_are_counted_and_score_nothing() -> None:
    void = battle(
        slot(video(), 0),
        verdict="void",
        reason="x",
        origin=None,
        question=None,
        model_a=None,
        model_b=None,
    )
    (found,) = rounds_of([void])
    assert (found.origin, found.verdicts, found.points) == ({"none": 1}, {"void": 1}, {})


def test_a_theme_that_more_battles_show_stands_before_others() -> None:
    attempts = [evolution(f"b{k}").model_copy(update={"weaknesses_a": ("rare",) if k else ()})
                for k in range(2)]  # fmt: skip
    (found,) = rounds_of([battle(slot(video(), 1), evolution=tuple(attempts))])
    assert list(found.themes.items()) == [("colour", 2), ("rare", 1)]
