"""What a pick is worth by chance, held against scipy and against counting every case."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from videoautoarena.scoring.questions.items import measure_rough_tails, measure_tails

ITEMS = st.lists(
    st.integers(2, 6).flatmap(lambda m: st.tuples(st.booleans(), st.integers(1, m), st.just(m))),
    min_size=1,
    max_size=9,
)
PARTS = 2520
"""Which ties of up to ten divide."""


def counted(items: list[tuple[bool, int, int]]) -> tuple[float, float]:
    """Return both tails by going through all cases; credits in parts, so that none is rounded."""
    worth = np.array([PARTS // shared for _, shared, _ in items])
    likely = np.array([shared / offered for _, shared, offered in items])
    cases = np.array(list(product([0, 1], repeat=len(items))))
    chance = np.where(cases == 1, likely, 1.0 - likely).prod(axis=1)
    earned = int(worth @ [hit for hit, _, _ in items])
    total = cases @ worth
    return float(chance[total >= earned].sum()), float(chance[total <= earned].sum())


@given(ITEMS)
@settings(max_examples=40)
def test_tails_are_those_of_every_case_counted(items: list[tuple[bool, int, int]]) -> None:
    # Where all options share the pick, the key is among them.
    items = [(hit or shared == offered, shared, offered) for hit, shared, offered in items]
    found = measure_tails(
        *(np.array(column, dtype=np.int64) for column in zip(*items, strict=True))
    )
    assert found == pytest.approx(counted(items), abs=1e-11)


@pytest.mark.parametrize(("hits", "items", "offered"), [(60, 200, 4), (31, 50, 2), (0, 9, 3)])
def test_single_picks_of_equal_items_are_a_binomial(hits: int, items: int, offered: int) -> None:
    hit = (np.arange(items) < hits).astype(np.int64)
    found = measure_tails(hit, np.ones(items, np.int64), np.full(items, offered))
    for tail, side in zip(found, ("greater", "less"), strict=True):
        exact = binomtest(hits, items, 1 / offered, alternative=side).pvalue
        assert tail == pytest.approx(exact, rel=1e-9)


def test_picks_that_all_options_share_say_nothing() -> None:
    four = np.full(30, 4)
    assert measure_tails(np.ones(30, np.int64), four, four) == (1.0, 1.0)


def test_items_that_say_nothing_change_nothing() -> None:
    hit = np.array([1, 1, 0])
    shared = np.array([1, 2, 3])
    offered = np.array([4, 4, 6])
    more = measure_tails(
        np.append(hit, [1, 1]), np.append(shared, [4, 5]), np.append(offered, [4, 5])
    )
    assert more == pytest.approx(measure_tails(hit, shared, offered), abs=1e-11)


def test_ties_of_more_than_six_are_rounded_against_a_finding() -> None:
    rng = np.random.default_rng(1)
    offered = rng.integers(8, 12, 9)
    shared = rng.integers(5, 11, 9) % offered + 1
    hit = np.array([1, 1, 1, 0, 0, 1, 0, 1, 0]) | (shared == offered)
    rows = [(bool(h), int(t), int(m)) for h, t, m in zip(hit, shared, offered, strict=True)]
    found = measure_tails(hit, shared, offered)
    exact = counted(rows)
    assert all(a >= b - 1e-11 for a, b in zip(found, exact, strict=True))


def test_a_tail_beyond_what_adding_up_can_tell_is_small_and_not_nothing() -> None:
    ones = np.ones(400, np.int64)
    found = measure_tails(ones, ones + np.arange(400) % 2, np.full(400, 4))
    assert 0.0 < found.above < 1e-12


def test_rough_tails_take_a_shared_pick_as_one_of_those_drawn() -> None:
    credits = np.array([1.0, 0.5, 0.5, 0.5, 0.0])
    offered = np.array([4, 4, 3, 3, 2])
    two = np.array([1, 1, 0, 0, 0])
    three = np.array([1, 1, 1, 0, 0])
    found = measure_rough_tails(credits, offered)
    assert found.above == measure_tails(two, np.ones(5, np.int64), offered).above
    assert found.below == measure_tails(three, np.ones(5, np.int64), offered).below
    assert found.above > measure_tails(three, np.ones(5, np.int64), offered).above
