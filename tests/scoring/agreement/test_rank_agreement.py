from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from videoautoarena.scoring.agreement.rank_agreement import (
    RankedBoard,
    chances_of,
    compare_boards,
    compare_intervals,
    correlate_orders,
    correlate_ranks,
    correlate_ratings,
    count_orders,
    find_turned,
    score_chances,
)
from videoautoarena.scoring.fitting.counts import Floats

RATINGS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=25)


def board(*ratings: float, half: float | None = None) -> RankedBoard:
    rating = np.array(ratings, dtype=np.float64)
    width = np.full(len(rating), np.nan if half is None else half)
    return RankedBoard(rating, rating - width, rating + width)


def split(pairs: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    columns = np.array(pairs, dtype=np.float64)
    return columns[:, 0], columns[:, 1]


@settings(max_examples=25)
@given(RATINGS)
def test_the_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = split(pairs)
    ours = [f(a, b).value for f in (correlate_ranks, correlate_orders, correlate_ratings)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [f(a, b).statistic for f in (stats.spearmanr, stats.kendalltau, stats.pearsonr)]
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@settings(deadline=None)
@given(RATINGS)
def test_an_interval_holds_its_figure_and_is_never_a_point(pairs: list[tuple[int, int]]) -> None:
    a, b = split(pairs)
    for correlate in (correlate_ranks, correlate_orders):
        found = correlate(a, b)
        if not math.isnan(found.value):
            assert -1 <= found.low <= found.value <= found.high <= 1
            assert found.high - found.low > 0.001


@settings(max_examples=25)
@given(RATINGS)
def test_the_unit_of_a_rating_and_the_order_of_models_do_not_matter(
    pairs: list[tuple[int, int]],
) -> None:
    a, b = split(pairs)
    order = np.random.default_rng(1).permutation(len(a))
    one = board(*a, half=2.0)
    two = board(*b, half=3.0)
    scaled = board(*(10 * a[order] + 1000), half=20.0)
    first = compare_boards(one, two)
    second = compare_boards(scaled, board(*b[order], half=3.0))
    for x, y in zip(first, second, strict=True):
        assert list(x) == pytest.approx(list(y), nan_ok=True)


def test_fishers_interval_reaches_as_far_as_the_number_of_models_says() -> None:
    a = np.arange(28.0)
    rest = np.where(a % 2 == 0, 1.0, -1.0) * 14
    b = (a - a.mean()) / np.std(a) + math.sqrt(3) * rest / np.std(rest)
    found = correlate_ratings(a, b)
    z = math.atanh(found.value)
    half = 1.959964 / 5
    assert [found.low, found.high] == pytest.approx([math.tanh(z - half), math.tanh(z + half)])


def test_a_few_models_in_the_same_order_are_not_certainty() -> None:
    found = correlate_ranks(np.arange(6.0), np.arange(6.0))
    assert found.value == found.high == 1
    assert 0.5 < found.low < 0.7


def test_with_too_few_models_an_interval_is_everything() -> None:
    a = np.array([3.0, 2.0, 1.0])
    b = np.array([3.0, 1.0, 2.0])
    assert correlate_ranks(a, b) == (0.5, -1, 1)
    assert correlate_orders(np.arange(4.0), np.arange(4.0)) == (1, -1, 1)


@pytest.mark.parametrize("ratings", [[], [1.0], [1.0, 2.0], [5.0, 5.0, 5.0]])
def test_fewer_than_three_or_all_equal_correlate_with_nothing(ratings: list[float]) -> None:
    found = compare_boards(board(*ratings), board(*ratings))
    for one in found[:3]:
        assert all(math.isnan(figure) for figure in one)


def test_how_often_intervals_of_correlations_hold_the_truth() -> None:
    rng = np.random.default_rng(3)
    truth = 0.8
    held = np.zeros(3)
    drawn = rng.multivariate_normal([0, 0], [[1, truth], [truth, 1]], (400, 12))
    wanted = (6 / np.pi * np.arcsin(truth / 2), 2 / np.pi * np.arcsin(truth), truth)
    for a, b in drawn.transpose(0, 2, 1):
        found = (correlate_ranks(a, b), correlate_orders(a, b), correlate_ratings(a, b))
        held += [one.low <= t <= one.high for one, t in zip(found, wanted, strict=True)]
    assert (held / 400 > 0.92).all()


def test_pairs_apart_on_both_are_asked_whether_they_are_ordered_alike() -> None:
    # Ant is above bee on both, cat below all on the first and between them on the second.
    found = compare_intervals(board(30, 20, 10, half=4), board(30, 10, 20, half=4))
    assert found == (3, 1, 1, 3, 2 / 3, 1 / 3)
    close = compare_intervals(board(30, 20, 10, half=4), board(30, 21, 20, half=4))
    assert close == (3, 1, 2 / 3, 2, 1, 2 / 3)


def test_pairs_that_both_part_and_turn_are_found() -> None:
    first = board(30, 20, 10, half=4)
    second = board(30, 10, 20, half=4)
    assert find_turned(first, second).tolist() == [[1, 2]]
    assert find_turned(second, first).tolist() == [[2, 1]]
    assert find_turned(first, board(30, 10, 20, half=5)).size == 0


def test_pairs_are_alike_turned_or_level() -> None:
    found = count_orders(np.array([4.0, 3.0, 2.0, 2.0]), np.array([4.0, 2.0, 3.0, 1.0]))
    assert found == (4, 1, 1)


def test_intervals_that_touch_are_not_apart() -> None:
    found = compare_intervals(board(30, 20, half=5), board(30, 20, half=4.9))
    assert (found.first, found.second, found.both) == (0, 1, 0)
    assert math.isnan(found.agree)


def test_without_intervals_nothing_is_said_of_them() -> None:
    found = compare_boards(board(3, 2, 1), board(3, 2, 1, half=0.1))
    assert found.apart[1:] == pytest.approx((math.nan, 1, 0, math.nan, math.nan), nan_ok=True)
    assert math.isnan(found.brier.value)
    assert found.spearman.value == 1


def test_intervals_without_end_part_nobody_and_predict_nothing() -> None:
    found = compare_boards(board(3, 2, 1, half=math.inf), board(3, 2, 1, half=0.1))
    assert (found.apart.first, found.apart.balance, found.brier.value) == (0, 0, 0.25)


def test_a_brier_score_is_the_mean_squared_error_of_the_chances() -> None:
    chances = np.array([[np.nan, 0.9, 0.8], [0.1, np.nan, 0.6], [0.2, 0.4, np.nan]])
    knows = RankedBoard(*(np.array([3.0, 2.0, 1.0]) for _ in range(3)), better=chances)
    found = score_chances(knows, board(3, 1, 2))
    assert found == (pytest.approx((0.1**2 + 0.2**2 + 0.6**2) / 3), 3)


def test_what_the_other_board_holds_equal_is_no_order() -> None:
    assert score_chances(board(3, 2, 1, half=9), board(2, 2, 1)).pairs == 2
    assert score_chances(board(3, 2, 1, half=9), board(2, 2, 2)).pairs == 0


def test_one_error_of_the_difference_above_is_five_sixths_likely() -> None:
    apart = board(math.sqrt(2), 0, half=1.959964)
    assert chances_of(apart)[0, 1] == pytest.approx(stats.norm.cdf(1), abs=1e-6)
    assert chances_of(board(5, 5, half=0))[0, 1] == 0.5
    assert chances_of(board(5, 4, half=0))[0, 1] == 1


def test_ratings_near_the_end_of_what_numbers_hold_are_no_trouble() -> None:
    huge = np.array([1e308, 0.0, -1e308])
    assert correlate_ratings(huge, np.array([3.0, 2.0, 1.0])).value == pytest.approx(1)
    tiny = np.array([3e-300, 2e-300, 1e-300])
    assert correlate_ratings(tiny, np.array([3.0, 2.0, 1.0])).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "two", "why"),
    [
        (board(1, 2), board(1, 2, 3), "same models"),
        (board(1, math.nan), board(1, 2), "not finite"),
        (board(1, 2), board(1, 2, half=-1), "below its beginning"),
    ],
)
def test_what_is_no_pair_of_boards_is_refused(one: RankedBoard, two: RankedBoard, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        compare_boards(one, two)
