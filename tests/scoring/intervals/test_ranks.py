"""Places from intervals, and the videos that are missing."""

from __future__ import annotations

import numpy as np
import pytest

from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.fitting.separation import Open
from videoautoarena.scoring.intervals.ranks import (
    find_rivals,
    rank,
    rank_simultaneously,
    videos_needed,
)
from videoautoarena.scoring.intervals.sandwich import Spread

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


def apart(gaps: list[float], *, videos: int = 1000, error: float = 0.1) -> tuple[Floats, Spread]:
    """Strengths with independent errors, and their spread."""
    n = len(gaps)
    own, none = error**2 * np.eye(n), np.zeros(n, dtype=np.bool_)
    return np.array(gaps), Spread(
        own, own, own, videos, videos, np.full(n, videos), none, Open(none, none)
    )


def test_two_models_need_the_usual_bound_and_more_models_a_larger_one() -> None:
    # The error of a difference is 0.1414: 1.96 of them are 0.277, and 0.3 are 2.12.
    two = rank_simultaneously(*apart([0.3, 0.0]))
    assert (two.best.tolist(), two.worst.tolist()) == ([1, 2], [1, 2])
    ten = rank_simultaneously(*apart([0.3] + [0.0] * 9))
    assert ten.worst.tolist()[0] == 10
    assert ten.place.tolist() == [1] + [2] * 9


def test_the_bound_over_pairs_is_that_of_the_studentised_range() -> None:
    # Tukey's q(0.95; 5, inf) = 3.858, over sqrt 2 = 2.728 errors of a difference.
    below, above = (
        rank_simultaneously(*apart([gap * 0.1 * np.sqrt(2), 0, 0, 0, 0], videos=10**6))
        for gap in (2.65, 2.81)
    )
    assert below.worst[0] == 5
    assert above.worst[0] == 1


def test_few_videos_need_a_larger_bound() -> None:
    assert rank_simultaneously(*apart([0.35, 0.0], videos=5)).worst.tolist() == [2, 2]
    assert rank_simultaneously(*apart([0.35, 0.0], videos=500)).worst.tolist() == [1, 2]


def test_one_video_leaves_every_place_open_at_once() -> None:
    ranks = rank_simultaneously(*apart([9.0, 0.0], videos=1))
    assert (ranks.best.tolist(), ranks.worst.tolist()) == ([1, 1], [2, 2])


def test_all_places_are_right_at_once_in_at_least_the_share_that_is_said() -> None:
    rng, truth, whole = np.random.default_rng(1), np.linspace(0.3, -0.3, 8), 0
    for _ in range(200):
        theta, spread = apart((truth + rng.normal(0, 0.1, 8)).tolist())
        ranks = rank_simultaneously(theta, spread)
        whole += bool(
            (ranks.best <= np.arange(1, 9)).all() & (ranks.worst >= np.arange(1, 9)).all()
        )
    assert whole >= 186
