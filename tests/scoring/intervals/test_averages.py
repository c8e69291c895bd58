"""The mean of two shares of the same units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.intervals.proportions import measure_average, measure_share

hits = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=40)


def test_independent_distances_add_as_squares() -> None:
    # Crossed on purpose: the two are not correlated at all.
    first = np.tile([1.0, 1.0, 0.0, 0.0], 25)
    second = np.tile([1.0, 0.0, 1.0, 0.0], 25)
    one = measure_share(first)
    found = measure_average(first, second)
    assert found.value == 0.5
    assert found.value - found.low == pytest.approx((one.value - one.low) / np.sqrt(2))


@settings(max_examples=25)
@given(hits)
def test_a_share_with_itself_is_the_share(given_hits: list[float]) -> None:
    one = measure_share(given_hits)
    found = measure_average(given_hits, given_hits)
    assert found == pytest.approx(one) or np.ptp(given_hits) == 0


@settings(max_examples=25)
@given(st.data())
def test_bounds_hold_the_value_and_never_meet(data: st.DataObject) -> None:
    first = data.draw(hits)
    second = data.draw(
        st.lists(st.sampled_from([0.0, 1.0]), min_size=len(first), max_size=len(first))
    )
    cluster = data.draw(st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first)))
    found = measure_average(first, second, cluster)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high


def test_one_video_tells_nothing_and_no_unit_less() -> None:
    assert measure_average([1, 0], [1, 1], [3, 3])[:3] == pytest.approx((0.75, 0.0, 1.0))
    assert np.isnan(measure_average([], []).value)


def test_both_must_be_of_the_same_units() -> None:
    with pytest.raises(ValueError, match="both figures"):
        measure_average([1, 0], [1])


def coverage(shares: tuple[float, float], *, videos: int, each: int, runs: int = 1000) -> float:
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(videos), each)
    held = 0
    for _ in range(runs):
        ease = np.repeat(rng.normal(0, 0.15, videos), each)
        drawn = [(rng.random(videos * each) < np.clip(p + ease, 0, 1)) * 1.0 for p in shares]
        truth = np.mean([np.clip(p + rng.normal(0, 0.15, 5_000), 0, 1).mean() for p in shares])
        found = measure_average(*drawn, cluster)
        held += found.low <= truth <= found.high
    return held / runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shares", "videos", "each"), [((0.5, 0.8), 240, 1), ((0.1, 0.6), 60, 3), ((0.7, 0.9), 20, 3)]
)
def test_the_interval_covers_what_it_says(
    shares: tuple[float, float], videos: int, each: int
) -> None:
    assert 0.93 <= coverage(shares, videos=videos, each=each) <= 0.985
