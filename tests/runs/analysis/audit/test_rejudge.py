"""The same answers before another judge."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, judging, manifest, play, slot, video
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.rejudge import rejudged
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.views.results.audit import rejudged_reports
from videoautoarena.runs.views.results.forms import as_text

CLIPS = [video(bytes([number])) for number in range(12)]


def again(of: Battle, verdict: str, *, seats: str = "ab", judge: str = "other") -> Trial:
    said = judging(judge=judge, seats=seats, verdict=verdict, analyses=None)
    return Trial(
        id=f"rejudge:{of.id}:{judge}:{seats}:0",
        kind="rejudge",
        battle=of.id,
        video=of.video,
        model="openai:other",
        judging=said,
    )


def run_with(out: Path, battles: list[Battle], trials: list[Trial], **settings: Any) -> Path:
    place = play(out, battles, videos=CLIPS, settings=manifest(**settings))

    async def fill(store: Store) -> None:
        for trial in trials:
            await store.evidence.put_trial(trial)

    with Store.open(place / RUN_FILE, write=True) as store:
        asyncio.run(fill(store))
    return place


def judged(verdicts: list[str]) -> list[Battle]:
    pairs = [("hawk", "owl"), ("owl", "mole"), ("mole", "hawk")]
    return [
        battle(slot(CLIPS[k], 0), verdict=v, model_a=pairs[k % 3][0], model_b=pairs[k % 3][1])
        for k, v in enumerate(verdicts)
    ]


@pytest.fixture
def two_minds(tmp_path: Path) -> Path:
    """Eight battles; of seven that both decide, two judges agree on five."""
    ours = judged(["a", "a", "b", "b", "tie_good", "a", "a", "void"])
    theirs = ["a", "a", "b", "a", "tie_bad", "tie_good", "failed", "a"]
    trials = [again(b, v) for b, v in zip(ours, theirs, strict=True)]
    return run_with(tmp_path / "out", ours, trials)


def test_agreement_is_counted_over_what_both_decide(two_minds: Path) -> None:
    (judge,) = rejudged(two_minds).judges
    assert judge.battles == 6
    assert judge.undecided == 2
    assert judge.failed == 1
    assert judge.agreement.value == pytest.approx(4 / 6, abs=1e-6)
    assert judge.without_ties.agreement.value == 0.75
    assert judge.without_ties.agreement.n == 4


def test_the_confusion_has_the_run_down_and_the_other_judge_across(two_minds: Path) -> None:
    (judge,) = rejudged(two_minds).judges
    assert judge.confusion.run_by_judge == [[2, 0, 1], [1, 1, 0], [0, 0, 1]]


def test_cohens_kappa_is_what_one_finds_by_hand(two_minds: Path) -> None:
    # Run: a 3, b 2, tie 1; judge: a 3, b 1, tie 2. By chance (3*3 + 2*1 + 1*2) / 36 = 13/36.
    (judge,) = rejudged(two_minds).judges
    chance = 13 / 36
    assert judge.kappa.value == pytest.approx((4 / 6 - chance) / (1 - chance), abs=1e-6)


def test_both_boards_rate_the_battles_that_both_decided(two_minds: Path) -> None:
    (judge,) = rejudged(two_minds).judges
    boards = judge.boards
    assert {row.model for row in boards.models} == {"hawk", "owl", "mole"}
    assert -1 <= (boards.spearman.value or 2) <= 1
    assert all(row.other_rating is not None for row in boards.models)


def test_a_judge_that_says_the_same_makes_the_same_board(tmp_path: Path) -> None:
    ours = judged(["a", "b", "a", "tie_bad", "a", "b"])
    out = run_with(tmp_path / "out", ours, [again(b, b.verdict) for b in ours])
    (judge,) = rejudged(out).judges
    assert judge.agreement.value == judge.kappa.value == 1.0
    assert all(row.rating == row.other_rating for row in judge.boards.models)


def test_where_both_seatings_count_a_judge_must_win_from_both(tmp_path: Path) -> None:
    (ours,) = judged(["a"])
    torn = [again(ours, "a"), again(ours, "b", seats="ba")]
    split = rejudged(run_with(tmp_path / "all", [ours], torn, swap="all"))
    audit = rejudged(run_with(tmp_path / "some", [ours], torn, swap=0.1))
    assert split.judges[0].confusion.run_by_judge[0] == [0, 0, 1]
    assert audit.judges[0].confusion.run_by_judge[0] == [1, 0, 0]


def test_a_run_that_nobody_judged_again_says_so(tmp_path: Path) -> None:
    out = run_with(tmp_path / "out", judged(["a"]), [])
    assert rejudged(out).judges == []
    (told,) = rejudged(out, ["other"]).judges
    assert told.battles == 0
    assert told.agreement.value is None


def test_a_report_is_json_and_fits_a_narrow_terminal(two_minds: Path) -> None:
    report = rejudged(two_minds, ["other"])
    found = report.to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    (one,) = rejudged_reports(report)
    told = as_text(one)
    assert max(map(len, told.splitlines())) <= 80
    assert "66.7 %" in told
    assert "Cohen's kappa 0.48" in told
    assert "1 failed" in told


def test_a_judge_must_be_named(tmp_path: Path) -> None:
    told = invoke("rejudge", tmp_path)
    assert told.exit_code == 2
    assert "--judge" in told.output
