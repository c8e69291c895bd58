"""Who is ahead on the same units: paired, clustered, and never surer than the units allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as students

from videoautoarena.scoring.ratings.differences import measure_lead

FIGURES = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=40,
)


def test_four_units_by_hand() -> None:
    # Gaps 1, 1, 0, 0: deviations of a half each, so 4/3 * 1 + 1 under the root, over six units.
    lead = measure_lead([1, 1, 0, 1], [0, 0, 0, 1])
    error = np.sqrt(4 / 3 + 1) / 6
    assert lead.value == 0.5
    assert lead.low == pytest.approx(2 / 6 - students.ppf(0.975, 3) * error)
    assert lead.better == pytest.approx(students.cdf(2 / 6 / error, 3))


def test_what_makes_a_unit_hard_for_both_widens_nothing() -> None:
    hard = np.tile([0.0, 0.5], 20)
    mixed = measure_lead(hard + 0.5, hard)
    even = measure_lead(np.full(40, 0.75), np.full(40, 0.25))
    assert mixed == pytest.approx(even)


def test_units_of_one_video_are_worth_less_than_as_many_videos() -> None:
    one = np.repeat([1.0, 0.0, 1.0, 0.5], 10)
    two = np.repeat([0.0, 0.5, 0.5, 0.5], 10)
    alone = measure_lead(one, two)
    together = measure_lead(one, two, np.repeat(range(4), 10))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_two_that_always_do_the_same_are_even_and_not_for_sure() -> None:
    lead = measure_lead([1.0] * 30, [1.0] * 30)
    assert (lead.value, lead.better) == (0.0, 0.5)
    assert lead.low < 0.0 < lead.high


def test_one_video_tells_nothing() -> None:
    lead = measure_lead([1, 1, 1], [0, 0, 0], [7, 7, 7])
    assert (lead.low, lead.high) == (-1.0, 1.0)
    assert np.isnan(lead.better)


def test_nothing_is_said_of_no_unit() -> None:
    lead = measure_lead([], [])
    assert lead.n == 0
    assert np.isnan([lead.value, lead.low, lead.high, lead.better]).all()


@pytest.mark.parametrize(
    ("one", "two", "videos"),
    [
        ([1.1], [0.0], [0]),
        ([np.nan], [0.0], [0]),
        ([1.0], [0.0, 1.0], [0]),
        ([1.0], [1.0], [0, 1]),
        ([1.0, 0.0], [1.0, 1.0], [0.5, 0.7]),
    ],
)
def test_figures_out_of_range_or_of_other_lengths_are_refused(
    one: list[float], two: list[float], videos: list[float]
) -> None:
    with pytest.raises(ValueError, match="must"):
        measure_lead(one, two, videos)


@given(FIGURES)
def test_to_change_sides_turns_everything_round(figures: list[tuple[float, float, int]]) -> None:
    one, two, videos = zip(*figures, strict=True)
    there = measure_lead(one, two, videos)
    back = measure_lead(two, one, videos)
    assert (back.value, back.low, back.high) == pytest.approx(
        (-there.value, -there.high, -there.low)
    )
    assert back.better == pytest.approx(1.0 - there.better, nan_ok=True)


@given(FIGURES)
def test_interval_and_chance_tell_the_same(figures: list[tuple[float, float, int]]) -> None:
    one, two, videos = zip(*figures, strict=True)
    lead = measure_lead(one, two, videos)
    assert -1.0 <= lead.low <= lead.value <= lead.high <= 1.0
    assert lead.low < lead.high
    if len(set(videos)) > 1 and lead.value not in (lead.low, lead.high):
        assert (lead.low > 0.0) == (lead.better > 0.975)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    held = 0
    reps = 400
    videos = np.repeat(np.arange(24), 3)
    for _ in range(reps):
        lean = np.clip(rng.normal(0.2, 0.2, 24), -0.5, 0.5)[videos]
        gaps = (rng.random(72) < 0.4) * np.where(rng.random(72) < 0.5 + lean, 1.0, -1.0)
        lead = measure_lead(np.maximum(gaps, 0.0), np.maximum(-gaps, 0.0), videos)
        held += lead.low <= 0.4 * 2 * 0.1943 <= lead.high
    assert 0.92 <= held / reps <= 0.98
