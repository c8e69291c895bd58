"""Places from intervals, and the videos that are missing."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.ranks import find_rivals, rank, videos_needed

RATINGS = np.array([1100.0, 900.0, 1000.0])
HALF = np.array([60.0, 30.0, 60.0])
LOW = RATINGS - HALF
HIGH = RATINGS + HALF


def test_places_leave_open_what_the_intervals_leave_open() -> None:
    # 1040..1160, 870..930, 940..1060: the first two meet, the last stands apart.
    ranks = rank(RATINGS, LOW, HIGH)
    assert ranks.place.tolist() == [1, 3, 2]
    assert ranks.best.tolist() == [1, 3, 1]
    assert ranks.worst.tolist() == [2, 3, 2]


def test_equal_models_share_the_better_place() -> None:
    same = np.array([1000.0, 1000.0])
    assert rank(same, same - 5, same + 5).place.tolist() == [1, 1]


def test_without_intervals_every_place_is_open() -> None:
    ranks = rank(RATINGS, np.full(3, -np.inf), np.full(3, np.inf))
    assert ranks.best.tolist() == [1, 1, 1]
    assert ranks.worst.tolist() == [3, 3, 3]


def test_the_rivals_are_those_whose_interval_meets_the_leaders() -> None:
    assert find_rivals(RATINGS, LOW, HIGH).tolist() == [2]


def test_a_leader_who_stands_apart_has_no_rivals() -> None:
    assert find_rivals(RATINGS, RATINGS - 1, RATINGS + 1).tolist() == []


def test_half_the_gap_needs_four_times_the_videos() -> None:
    assert videos_needed(50.0, 100.0, videos=12) == 36


def test_neighbours_that_only_just_meet_need_one_more() -> None:
    assert videos_needed(100.0, 100.0, videos=12) == 1


@pytest.mark.parametrize(("gap", "widths"), [(0.0, 10.0), (0.1, 100.0), (5.0, np.inf), (-1.0, 1.0)])
def test_what_is_out_of_reach_is_not_named(gap: float, widths: float) -> None:
    assert videos_needed(gap, widths, videos=12) is None


def test_the_cap_is_the_callers() -> None:
    assert videos_needed(50.0, 100.0, videos=12, at_most=35) is None
