"""Pairs, decks and seats from given numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.scoring.design.pairing import (
    count_pairs,
    deal,
    find_place,
    pick_uniform,
    roster_pairs,
    take_seats,
)

models = st.integers(2, 12)
units = st.floats(0, 1, exclude_max=True)


def test_pairs_stand_in_roster_order() -> None:
    assert roster_pairs(4).tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def test_each_of_three_pairs_takes_a_third_of_the_line() -> None:
    assert [pick_uniform(u, 3).pair for u in (0.0, 0.33, 0.34, 0.66, 0.67, 0.99)] == [
        0, 0, 1, 1, 2, 2,
    ]  # fmt: skip


def test_a_propensity_is_rounded_to_a_millionth() -> None:
    assert pick_uniform(0.5, 3).propensity == 0.333333
    assert pick_uniform(0.5, 7).propensity == 0.047619


def test_the_largest_number_below_one_still_picks_the_last_pair() -> None:
    below = float(np.nextafter(1.0, 0.0))
    assert all(pick_uniform(below, n).pair == count_pairs(n) - 1 for n in range(2, 80))


@given(units, models)
def test_every_number_picks_a_pair_that_exists(u: float, n: int) -> None:
    assert 0 <= pick_uniform(u, n).pair < len(roster_pairs(n))


def test_a_deck_is_dealt_in_the_order_of_its_keys() -> None:
    assert [deal(i, 3, keys=[0.9, 0.1, 0.5]) for i in range(3)] == [1, 2, 0]


def test_the_fourth_slot_of_three_models_opens_the_second_deck() -> None:
    assert find_place(2, 3) == (0, 2)
    assert find_place(3, 3) == (1, 0)


def test_equal_keys_leave_a_deck_in_roster_order() -> None:
    assert [deal(i, 3, keys=[0.5, 0.5, 0.5]) for i in range(4)] == [0, 1, 2, 0]


@given(models, st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_dealing_never_favours_a_pair_by_more_than_one_battle(
    n: int, slots: int, seed: int
) -> None:
    decks = np.random.default_rng(seed).random((slots, count_pairs(n)))
    dealt = [deal(i, n, keys=decks[find_place(i, n).deck]) for i in range(slots)]
    counts = np.bincount(dealt, minlength=count_pairs(n))
    assert counts.max() - counts.min() <= 1


def test_the_seat_follows_its_own_number() -> None:
    assert take_seats(1, 3, u=0.49) == (0, 2)
    assert take_seats(1, 3, u=0.5) == (2, 0)


@pytest.mark.parametrize("u", [-0.1, 1.0, float("nan"), float("inf")])
def test_a_number_outside_the_unit_interval_is_refused(u: float) -> None:
    with pytest.raises(ValueError, match="not in"):
        pick_uniform(u, 3)
    with pytest.raises(ValueError, match="not in"):
        take_seats(0, 3, u=u)


@pytest.mark.parametrize("n", [-1, 0, 1])
def test_one_model_makes_no_pair(n: int) -> None:
    with pytest.raises(ValueError, match="at least two"):
        roster_pairs(n)


@pytest.mark.parametrize("keys", [[0.1, 0.2], [0.1, 0.2, float("nan")], [[0.1, 0.2, 0.3]]])
def test_a_deck_needs_one_finite_key_a_pair(keys: list[float]) -> None:
    with pytest.raises(ValueError, match="one a pair"):
        deal(0, 3, keys=keys)


def test_a_pair_that_does_not_exist_has_no_seats() -> None:
    with pytest.raises(ValueError, match="no pair 3"):
        take_seats(3, 3, u=0.0)


def test_no_slot_stands_before_the_first() -> None:
    with pytest.raises(ValueError, match="count from 0"):
        find_place(-1, 3)
