"""How far the shares of two parts lie apart, where both may share their clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.intervals.proportions import measure_difference

SIDES = np.array([True, False] * 20)
VIDEOS = np.arange(40) // 4


def test_a_difference_is_that_of_the_two_shares() -> None:
    hits = np.where(SIDES, np.arange(40) % 8 < 4, np.arange(40) % 8 == 1).astype(float)
    found = measure_difference(hits, SIDES, VIDEOS)
    assert found.value == pytest.approx(0.5 - 0.25)
    assert found.n == 20
    assert found.low < found.value < found.high


def test_independent_units_have_about_the_textbook_error() -> None:
    rng = np.random.default_rng(3)
    hits = rng.random(4000) < 0.3
    inside = np.arange(4000) % 2 == 0
    found = measure_difference(hits, inside, np.arange(4000))
    error = np.sqrt(0.3 * 0.7 * (1 / 2000 + 1 / 2000))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.05)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), max_size=40))
def test_the_other_part_has_the_opposite_difference(
    units: list[tuple[bool, bool, int]],
) -> None:
    hits = np.array([float(hit) for hit, _, _ in units])
    inside = np.array([one for _, one, _ in units], dtype=bool)
    cluster = np.array([video for *_, video in units], dtype=np.int64)
    one, two = (measure_difference(hits, part, cluster) for part in (inside, ~inside))
    assert (one.value, one.low, one.high) == pytest.approx(
        (-two.value, -two.high, -two.low), nan_ok=True
    )
    if one.n:
        assert -1.0 <= one.low <= one.value <= one.high <= 1.0


def test_a_part_in_one_cluster_says_nothing_of_another_one() -> None:
    found = measure_difference(np.ones(20), SIDES[:20], np.where(SIDES[:20], 0, np.arange(20)))
    assert (found.low, found.high, found.spread) == (-1.0, 1.0, None)


def test_where_a_part_has_no_unit_there_is_no_difference() -> None:
    assert np.isnan(measure_difference(np.ones(4), np.ones(4), np.arange(4)).value)


def test_parts_that_never_hit_are_not_surely_alike() -> None:
    found = measure_difference(np.zeros(40), SIDES, VIDEOS)
    assert found.low < -0.05
    assert found.high > 0.05


def test_each_unit_is_in_one_part_or_the_other() -> None:
    with pytest.raises(ValueError, match="in the part or in the rest"):
        measure_difference(np.ones(4), np.ones(3), np.arange(4))


@pytest.mark.parametrize("videos", [6, 12, 40])
def test_intervals_of_equal_parts_hold_nought_as_often_as_they_say(videos: int) -> None:
    rng = np.random.default_rng(videos)
    missed = 0
    for _ in range(400):
        quirk = rng.normal(0, 1, videos)
        video = np.repeat(np.arange(videos), 9)
        chance = 1 / (1 + np.exp(-quirk[video]))
        inside = np.concatenate([rng.permutation([0, 1, 0] * 3) for _ in range(videos)]) > 0
        found = measure_difference(rng.random(len(video)) < chance, inside, video)
        missed += not found.low <= 0.0 <= found.high
    assert missed <= 0.07 * 400
