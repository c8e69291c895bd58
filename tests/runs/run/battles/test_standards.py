"""What each standard alone decides of a battle is what the slice of that standard rates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.golden import exported, unpack
from tests.support.played import battle, invoke, judging, manifest, play, slot, video
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.analysis.leaderboard.board import slices_of
from videoautoarena.runs.run.battles.standards import by_standard, letters_of, standards_of
from videoautoarena.runs.run.rundir.reader import open_run


def said(seats: str = "ab", judge: str = "judge", **standards: str) -> Any:
    return judging(judge=judge, seats=seats, standards=standards)


def test_the_words_on_standards_are_read_in_the_order_of_the_standards(tmp_path: Path) -> None:
    words = {name: f"on {name}" for name in sorted(STANDARDS)}
    assert list(words) != list(STANDARDS)
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdicts=(judging(analyses=words),))])
    (row,) = exported(out, "battles")
    assert list(row["verdicts"][0]["analyses"]) == list(STANDARDS)


def test_the_slices_of_a_leaderboard_count_the_same_verdicts(tmp_path: Path) -> None:
    votes = [
        {"accuracy": "a", "relevance": "b", "helpfulness": "tie", "instruction_following": "a"},
        {"accuracy": "b", "relevance": "b", "helpfulness": "a"},
        {"accuracy": "tie"},
    ]
    fought = [
        battle(slot(video(), k), verdicts=(said(**vote),), verdict="a")
        for k, vote in enumerate(votes)
    ]
    out = play(tmp_path / "out", fought)
    rows = exported(out, "standards")
    for part in slices_of(out, "standard").to_json()["slices"]:
        mine = [row[part["slice"].replace(" ", "_")] for row in rows]
        decided = [verdict for verdict in mine if verdict in DECIDED]
        hawk = next(row for row in part["models"] if row["model"] == "hawk")
        assert part["battles"] == len(decided)
        assert (hawk["wins"], hawk["losses"]) == (decided.count("a"), decided.count("b"))


def test_letters_stand_in_the_order_of_the_standards(tmp_path: Path) -> None:
    votes = {"instruction_following": "a", "accuracy": "b", "relevance": "tie"}
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdicts=(said(**votes),))])
    with open_run(out) as run:
        (found,) = standards_of(run)
        (fought,) = run.battles
    assert letters_of(by_standard(fought, seats_count=False))[:4] == "abt-"
    assert (found.helpfulness, found.relevance) == ("void", "tie")


def test_a_standard_that_a_judge_was_never_asked_for_is_null_and_one_left_open_is_void(
    tmp_path: Path,
) -> None:
    asked = {"accuracy": "A errs.", "relevance": "Both fit."}
    one = judging(seats="ab", analyses=asked, standards={"accuracy": "b"})
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdicts=(one,))])
    (row,) = exported(out, "standards")
    assert (row["accuracy"], row["relevance"], row["helpfulness"]) == ("b", "void", None)


@pytest.mark.parametrize(("swap", "verdict"), [("all", "split"), (0.1, "a")])
def test_the_swapped_seating_decides_only_where_all_are_judged_so(
    tmp_path: Path, swap: Any, verdict: str
) -> None:
    both = (said(accuracy="a"), said("ba", accuracy="b"))
    fought = [battle(slot(video(), 0), verdicts=both)]
    out = play(tmp_path / "out", fought, settings=manifest(swap=swap))
    assert exported(out, "standards")[0]["accuracy"] == verdict


def test_a_run_whose_judge_was_not_asked_has_none_and_says_nothing_else(tmp_path: Path) -> None:
    out = unpack(tmp_path / "out")
    found = exported(out, "standards")
    assert len(found) == 24
    assert all(row[standard] is None for row in found for standard in STANDARDS)
    with open_run(out) as run:
        decided = [by_standard(one, seats_count=False) for one in run.battles]
    assert {letters_of(one) for one in decided} == {"-" * len(STANDARDS)}
    assert invoke("leaderboard", out, "--by", "standard").exit_code == 1
