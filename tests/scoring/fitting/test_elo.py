"""Online Elo: one battle by hand, and what makes it no measure."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.battles import draw_battles
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths, play_elo, to_ratings
from videoautoarena.scoring.fitting.counts import count_cells


def test_a_win_between_equals_moves_half_of_k() -> None:
    assert play_elo([0], [1], outcome=[1], models=3).tolist() == [1002, 998, 1000]
    assert play_elo([0], [1], outcome=[0], models=2, k=32).tolist() == [984, 1016]
    assert play_elo([0], [1], outcome=[0.5], models=2).tolist() == [1000, 1000]


def test_four_hundred_points_up_a_win_is_worth_a_tenth_and_a_bit() -> None:
    # 1100 and 700 after one win at k = 400 with an expectation of 1/2, and 200 more.
    first = play_elo([0], [1], outcome=[1], models=2, k=400)
    assert first.tolist() == [1200, 800]
    second = play_elo([0, 0], [1, 1], outcome=[1, 1], models=2, k=400)
    assert second[0] - first[0] == pytest.approx(400 / 11)


def test_points_are_only_handed_on() -> None:
    a, b, y = draw_battles(1, 7, battles=500)
    assert play_elo(a, b, outcome=y, models=7).mean() == pytest.approx(1000)


def test_the_order_of_battles_matters_and_follows_the_seed() -> None:
    a, b, y = draw_battles(1, 7, battles=500)
    orders = [play_elo(a, b, outcome=y, models=7, seed=seed).tolist() for seed in (1, 1, 2, None)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert orders[0] != orders[3]


def test_in_the_long_run_it_puts_the_models_in_the_order_of_their_strengths() -> None:
    a, b, y = draw_battles(1, 5, battles=20_000)
    fitted = to_ratings(fit_strengths(count_cells(a, b, outcome=y, models=5)))
    assert np.argsort(play_elo(a, b, outcome=y, models=5, seed=1)).tolist() == (
        np.argsort(fitted).tolist()
    )


def test_a_model_against_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="against itself"):
        play_elo([0, 1], [1, 1], outcome=[1, 1], models=2)
