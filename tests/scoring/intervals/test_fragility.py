"""Votes that hold the first place: exact with two models, never too few with more."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.support.battles import draw_battles
from tests.support.tournament import fought
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, count_cells
from videoautoarena.scoring.intervals.ranks import Fall, find_fall


def fall_of(text: str) -> Fall | None:
    cells = fought(text)
    return find_fall(cells, fit_strengths(cells))


@pytest.mark.parametrize("wins", [4, 6, 9, 50, 400])
def test_of_two_models_as_many_as_leave_fewer_wins_than_losses(wins: int) -> None:
    assert fall_of(f"A>B*{wins} B>A*3") == Fall(wins - 2, 1)


def test_a_tie_taken_away_helps_nobody_between_equals_in_ties() -> None:
    assert fall_of("A>B*4 B>A*3 A=B*20") == Fall(2, 1)


def test_one_vote_can_be_enough() -> None:
    fall = fall_of("A>B*10 B>A*10 A>C*11 C>A*9 B>C*10 C>B*9 C>B")
    assert fall is not None
    assert fall.votes <= 2


def brute(cells: Cells, leader: int) -> int:
    """The true minimum, by trying every way to take away one, two, ... battles."""
    kinds = np.flatnonzero(cells.counts.ravel())
    for votes in itertools.count(1):
        for chosen in itertools.combinations_with_replacement(kinds, votes):
            counts = cells.counts.ravel() - np.bincount(chosen, minlength=cells.counts.size)
            if (counts < 0).any():
                continue
            left = Cells(cells.models, cells.i, cells.j, counts.reshape(-1, 3))
            if np.argmax(fit_strengths(left, likelihood="firth").round(6)) != leader:
                return votes
    raise AssertionError


@pytest.mark.parametrize("text", [
    "A>B*6 B>A*4 A>C*5 C>A*4 B>C*5 C>B*4",
    "A>B*5 B>A*4 A>C*9 C>A*2 B>C*4 C>B*5",
    "A>B*4 A=B*3 B>A*2 A>C*5 C>A*4 B>C*5 C=B*4 C>B",
])  # fmt: skip
def test_it_is_the_true_minimum_or_one_more(text: str) -> None:
    cells = fought(text)
    fall = find_fall(cells, fit_strengths(cells))
    least = brute(cells, 0)
    assert fall is not None
    assert least <= fall.votes <= least + 1


@pytest.mark.parametrize("seed", range(5))
def test_taking_them_away_makes_another_lead_and_few_are_enough(seed: int) -> None:
    a, b, y = draw_battles(seed, 6, battles=600)
    cells = count_cells(a, b, outcome=y, models=6)
    theta = fit_strengths(cells)
    fall = find_fall(cells, theta)
    assert fall is not None
    assert fall.rival != np.argmax(theta)
    assert 0 < fall.votes < len(a) / 4


def test_an_unbeaten_leader_falls_only_with_most_of_its_wins() -> None:
    cells = fought("A>B*9 A>C*9 B>C*5 C>B*4")
    theta = fit_strengths(cells, likelihood="firth")
    fall = find_fall(cells, theta)
    assert fall is None or fall.votes > 9


def test_all_ties_cannot_be_turned() -> None:
    assert fall_of("A=B*4 B=C*4") is None


def test_one_battle_after_another_comes_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videoautoarena.scoring.intervals.ranks._count_until", lambda *_, **__: 1)
    assert fall_of("A>B*9 B>A*3") == Fall(7, 1)


def test_a_search_that_never_gets_there_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videoautoarena.scoring.intervals.ranks._ROUNDS", 0)
    assert fall_of("A>B*6 B>A*3") is None
