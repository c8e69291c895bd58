"""Places from intervals, and how far a run is from telling the first two apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoring.cells import Floats, Ints

SAME = 1e-6
"""Ratings no further apart share a place; a fit is no more exact."""


class Ranks(NamedTuple):
    """Places of models that are comparable, 1 the best, each of shape (n,)."""

    place: Ints
    best: Ints
    worst: Ints


def rank(ratings: Floats, low: Floats, high: Floats) -> Ranks:
    """Return each model's place by rating, and the best and worst its interval leaves open.

    Best is one more than the number of models whose whole interval lies above its own, worst is
    the number of models less those whose whole interval lies below.
    """
    above = (low[None, :] > high[:, None]).sum(axis=1)
    below = (high[None, :] < low[:, None]).sum(axis=1)
    place = 1 + (ratings[None, :] > ratings[:, None] + SAME).sum(axis=1)
    return Ranks(place, 1 + above, len(ratings) - below)


def find_rivals(ratings: Floats, low: Floats, high: Floats) -> Ints:
    """Return who cannot be told apart from the leader: intervals that meet its own, best first."""
    order = np.argsort(-ratings, kind="stable")
    meets = high[order] >= low[order[0]]
    return np.asarray(order[1:][meets[1:]], dtype=np.int64)


def videos_needed(gap: float, widths: float, *, videos: int, at_most: int = 10_000) -> int | None:
    """Return roughly how many more videos would part two neighbours; None if that is out of reach.

    Intervals shrink as 1 / sqrt(videos), so that they stop meeting at videos * (widths / gap)^2.
    Crude: it takes today's gap for the true one, while the gap of two close neighbours is the
    figure known worst, and more videos of another kind may turn their order round.

    Args:
        gap: distance of the two ratings.
        widths: sum of the half-widths of their two intervals.
        videos: how many there are.
        at_most: more than this many further videos are not worth naming.
    """
    if gap <= 0.0 or not np.isfinite(widths):
        return None
    more = np.ceil(videos * (widths / gap) ** 2 - videos)
    return max(int(more), 1) if more <= at_most else None
