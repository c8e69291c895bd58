"""The difference of two shares of the same clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.intervals.proportions import (
    ClusterCounts,
    Contrast,
    measure_contrast,
    measure_counts,
    measure_share,
)


def counts(hits: list[int], sizes: list[int]) -> ClusterCounts:
    return ClusterCounts(np.array(hits), np.array(sizes))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_units_counted_by_cluster_have_the_share_of_the_units(pairs: list[tuple[int, int]]) -> None:
    hits = np.array([min(p) for p in pairs])
    sizes = np.array([max(p) for p in pairs])
    cluster = np.repeat(np.arange(len(pairs)), sizes)
    units = np.concatenate([np.arange(n) < k for k, n in zip(hits, sizes, strict=True)])
    found = measure_counts(hits, sizes)
    expected = measure_share(units, cluster)
    assert found == pytest.approx(expected, nan_ok=True)
    assert found.spread == pytest.approx(expected.spread) or found.spread == expected.spread


def test_the_distances_of_unrelated_shares_add_as_squares() -> None:
    one = counts([4, 4, 2, 2], [6, 6, 6, 6])
    other = counts([3, 1, 3, 1], [6, 6, 6, 6])
    found = measure_contrast(one, other)
    low, high = found.bounds()
    down = np.hypot(found.one.value - found.one.low, found.other.high - found.other.value)
    up = np.hypot(found.one.high - found.one.value, found.other.value - found.other.low)
    assert found.together == 0.0
    assert (found.value - low, high - found.value) == pytest.approx((down, up))


def test_what_is_hard_for_both_widens_nothing() -> None:
    hard = counts([9, 1, 8, 2] * 10, [10] * 40)
    easy = counts([7, 0, 6, 1] * 10, [10] * 40)
    mixed = counts([0, 7, 1, 6] * 10, [10] * 40)
    together = measure_contrast(hard, easy)
    apart = measure_contrast(hard, mixed)
    assert together.together > 0.9 > -0.9 > apart.together
    assert np.ptp(together.bounds()) < 0.4 * np.ptp(apart.bounds())


def test_two_videos_that_go_together_by_chance_narrow_nothing() -> None:
    one = counts([0, 4], [5, 5])
    other = counts([2, 18], [20, 20])
    found = measure_contrast(one, other)
    assert found.together == 0.0
    assert found.bounds()[0] < -0.7


@settings(max_examples=25)
@given(st.data())
def test_bounds_hold_the_difference_and_turn_with_the_sides(data: st.DataObject) -> None:
    sizes = st.lists(st.integers(1, 6), min_size=2, max_size=8)
    first = data.draw(sizes)
    second = data.draw(st.lists(st.integers(1, 6), min_size=len(first), max_size=len(first)))
    hits = [[data.draw(st.integers(0, n)) for n in side] for side in (first, second)]
    one = counts(hits[0], first)
    other = counts(hits[1], second)
    found = measure_contrast(one, other)
    turned = measure_contrast(other, one)
    low, high = found.bounds()
    assert -1.0 <= low <= found.value + 1e-12
    assert found.value - 1e-12 <= high <= 1.0
    assert turned.bounds() == pytest.approx((-high, -low))
    assert turned.side() == -found.side()
    if found.together <= 0.0:
        assert np.ptp(found.bounds(0.99)) >= np.ptp(found.bounds()) - 1e-9


def test_one_video_says_nothing_and_no_answer_less() -> None:
    one = counts([2], [4])
    none = counts([0], [0])
    assert measure_contrast(one, counts([1], [4])).bounds() == (-1.0, 1.0)
    assert np.isnan(measure_contrast(one, none).value)
    assert np.isnan(measure_contrast(one, none).bounds()).all()
    assert measure_contrast(one, none).side() == 0


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(ValueError, match="as many hits as units"):
        measure_contrast(counts([3], [2]), counts([1], [2]))
    with pytest.raises(ValueError, match="the same clusters"):
        measure_contrast(counts([1], [2]), counts([1, 1], [2, 2]))


def _drawn(rng: np.random.Generator, gap: float, *, videos: int) -> Contrast:
    """Return what some models' answers to shared videos come to; the first has a share of `gap`
    more."""
    ease = rng.beta(0.3 * 4, 0.7 * 4, videos)
    one = np.full(videos, 4)
    rest = np.full(videos, 16)
    first = rng.binomial(one, np.clip(ease + gap, 0, 1))
    return measure_contrast(
        ClusterCounts(first, one), ClusterCounts(rng.binomial(rest, ease), rest)
    )


@pytest.mark.parametrize("videos", [10, 30])
def test_intervals_hold_no_difference_as_often_as_they_promise(videos: int) -> None:
    rng = np.random.default_rng(4)
    sides = [_drawn(rng, 0.0, videos=videos).side() for _ in range(600)]
    assert 0.01 <= np.mean(np.abs(sides)) <= 0.075


def test_a_difference_is_found_where_there_is_one() -> None:
    rng = np.random.default_rng(4)
    sides = [_drawn(rng, 0.25, videos=30).side(0.99) for _ in range(100)]
    assert np.mean(sides) > 0.8
