"""Counts and win rates."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tournament import fought
from videoautoarena.scoring.fitting.counts import count_cells, tally


def test_every_opponent_weighs_the_same_and_a_tie_wins_nothing() -> None:
    # A wins 1 of 1 against B and 2 of 8 against C: the mean of 1 and 1/4.
    counts = tally(fought("A>B A>C*2 C>A*5 A=C"))
    assert counts.win_rate[0] == pytest.approx(0.625)
    assert counts.win_rate[1] == 0.0
    assert counts.win_rate[2] == pytest.approx(5 / 8)


def test_counts_add_up() -> None:
    counts = tally(fought("A>B A>C*2 C>A*5 A=C"))
    assert counts.battles.tolist() == [9, 1, 8]
    assert counts.wins.tolist() == [3, 0, 5]
    assert counts.losses.tolist() == [5, 1, 2]
    assert counts.ties.tolist() == [1, 0, 1]


def test_the_papers_seats_have_its_win_rates() -> None:
    counts = tally(fought("A>B*5620 B>A*5941 A=B*918"))
    assert counts.battles.tolist() == [12479, 12479]
    assert counts.win_rate == pytest.approx([0.4504, 0.4761], abs=5e-5)


def test_a_model_without_a_battle_has_no_win_rate() -> None:
    counts = tally(count_cells([], [], outcome=[], models=2))
    assert counts.battles.tolist() == [0, 0]
    assert np.isnan(counts.win_rate).all()
