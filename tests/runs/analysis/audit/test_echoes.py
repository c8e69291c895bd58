"""Two words on one battle: what is compared with what, and how that is measured by gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.figured import echoing
from tests.support.played import battle, judging, play, slot, video
from videoautoarena.memory.store.evidence import Label, Trial
from videoautoarena.runs.analysis.audit.verdicts import (
    LABELLED,
    REPEATED,
    SWAPPED,
    find_echoes,
    measure_echoes,
)
from videoautoarena.runs.analysis.leaderboard.board import board_of


def test_words_are_compared_with_the_other_seating_a_repeat_and_people() -> None:
    ours = echoing(3)
    again = judging(seats="ba", verdict="tie_good")
    trials = [
        Trial(id="t", kind="repeat", battle=ours[1].id, video="v", model="m", judging=again),
        Trial(id="u", kind="attack", battle=ours[1].id, video="v", model="m", judging=again),
    ]
    labels = [Label(battle=ours[0].id, labeller="ann", verdict="a"),
              Label(battle="elsewhere", labeller="ann", verdict="a")]  # fmt: skip
    found = [(e.kind, e.is_same) for e in find_echoes(ours, trials=trials, labels=labels)]
    assert found == [
        *((SWAPPED, same) for same in (False, True, True)),
        (REPEATED, False),
        (LABELLED, True),
    ]


def test_words_that_abstain_or_tie_differently_are_no_disagreement() -> None:
    words = (judging(seats="ab", verdict="abstain"), judging(seats="ba", verdict="a"))
    ties = (judging(seats="ab", verdict="tie_bad"), judging(seats="ba", verdict="tie_good"))
    film = slot(video(), 0)
    both = [battle(film, verdicts=words), battle(film, verdicts=ties)]
    assert [echo.is_same for echo in find_echoes(both)] == [True]


def test_agreement_stands_over_the_gap_between_the_models(tmp_path: Path) -> None:
    run = play(tmp_path / "out", echoing())
    (found,) = measure_echoes(board_of(run), find_echoes(echoing()))
    assert found.n == 30
    assert [share.n for share in found.shares] == [15, 15]
    assert sum(share.value * share.n for share in found.shares) == pytest.approx(20)


def test_too_few_words_make_no_line(tmp_path: Path) -> None:
    run = play(tmp_path / "out", echoing(19))
    assert measure_echoes(board_of(run), find_echoes(echoing(19))) == []
