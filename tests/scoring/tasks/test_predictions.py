"""How often sampling hits a short stretch, counted, and how results are held against it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.scoring.tasks.predictions import (
    compare_prediction,
    predict_right,
    share_hit,
)


@given(st.data())
def test_the_share_is_that_of_all_places_counted(data: st.DataObject) -> None:
    frames = data.draw(st.integers(3, 60))
    length = data.draw(st.integers(1, frames - 2))
    sampled = data.draw(st.lists(st.integers(0, frames - 1), max_size=12))
    places = range(1, frames - length)
    hit = [any(start <= frame < start + length for frame in sampled) for start in places]
    assert share_hit(sampled, frames, length) == pytest.approx(sum(hit) / len(hit))


def test_the_two_ends_never_hold_it() -> None:
    assert share_hit([0, 99], 100, 20) == 0.0
    assert share_hit([], 100, 98) == 0.0
    assert share_hit([50], 100, 98) == 1.0


def test_four_frames_of_which_two_are_ends_hit_like_two() -> None:
    # 1,800 frames, 50 long: the frames 600 and 1,199 are hit from 50 places each, of 1,749.
    assert share_hit([0, 600, 1199, 1799], 1800, 50) == pytest.approx(100 / 1749)


@pytest.mark.parametrize(("sampled", "frames", "length"), [([], 10, 9), ([], 10, 0), ([10], 10, 3)])
def test_what_fits_nowhere_is_refused(sampled: list[int], frames: int, length: int) -> None:
    with pytest.raises(ValueError, match=r"must be of the video|fits nowhere"):
        share_hit(sampled, frames, length)


def test_who_sees_nothing_guesses() -> None:
    assert predict_right([0.0, 1.0, 0.5], [4, 4, 2]).tolist() == [0.25, 1.0, 0.75]


def test_results_that_came_as_predicted_lie_within_three_errors() -> None:
    rng = np.random.default_rng(2)
    likely = np.repeat(predict_right([0.3, 0.6], 4), 300)
    hit = rng.random(600) < np.repeat([0.3, 0.6], 300)
    right = hit | (rng.random(600) < 0.25)
    found = compare_prediction(right, likely, hit, np.full(600, 4))
    assert abs(found.errors) < 3
    assert found.predicted == pytest.approx((0.475 + 0.7) / 2)
    assert found.when_hit.value == 1.0
    assert found.when_missed.low < found.chance_missed == 0.25 < found.when_missed.high
    better = compare_prediction(np.ones(600), likely, hit, np.full(600, 4))
    assert better.errors == pytest.approx(
        (600 - likely.sum()) / np.sqrt((likely * (1 - likely)).sum())
    )
    assert better.errors > 10


def test_what_was_certain_and_came_so_is_no_error_and_else_an_endless_one() -> None:
    sure = compare_prediction([1, 1], [1, 1], [1, 1], [4, 4])
    assert (sure.errors, sure.when_missed.n, np.isnan(sure.chance_missed)) == (0.0, 0, True)
    assert compare_prediction([1, 0], [1, 1], [1, 1], [4, 4]).errors == -np.inf


@pytest.mark.parametrize("likely", [[0.5], [0.5, 1.5]])
def test_chances_are_needed_for_each_item(likely: list[float]) -> None:
    with pytest.raises(ValueError, match=r"for each item|from 0 to 1"):
        compare_prediction([1, 0], likely, [1, 0], [4, 4])
