"""Places from intervals, and how far a run is from telling the first two apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoring.bradley_terry import SCALE
from scoring.cells import Floats, Ints
from scoring.intervals import LEVEL, Spread, gap_errors

SAME = 1e-6
"""Ratings no further apart share a place; a fit is no more exact."""
_DRAWS, _AT_ONCE = 4000, 100


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


def rank_simultaneously(
    theta: Floats, spread: Spread, *, level: float = LEVEL, seed: int = 0
) -> Ranks:
    """Return each model's place, and the best and worst it may have, all right at once.

    With probability `level` no model's true place is outside its range, where the ranges of `rank`
    may each be wrong on their own. A model stands above another where the difference exceeds
    its error as many times as the largest of all such ratios would by chance in one of
    1 / (1 - level) tournaments between equals, found by simulation.

    Source: Mogstad, Romano, Shaikh and Wilhelm (2024), Rev. Econ. Stud. 91.
    """
    place = 1 + (theta[None, :] > theta[:, None] + SAME / SCALE).sum(axis=1)
    n = len(theta)
    if spread.clusters < 2:
        return Ranks(place, np.ones(n, dtype=np.int64), np.full(n, n))
    errors = gap_errors(spread)
    bound = _largest_by_chance(spread, errors, level=level, seed=seed)
    above = (theta[None, :] - theta[:, None] > bound * errors).sum(axis=1)
    below = (theta[:, None] - theta[None, :] > bound * errors).sum(axis=1)
    return Ranks(place, 1 + above, n - below)


def _largest_by_chance(spread: Spread, errors: Floats, *, level: float, seed: int) -> float:
    """The quantile of the largest |difference| / error over all pairs of equal models."""
    rng, n = np.random.default_rng(seed), len(errors)
    values, vectors = np.linalg.eigh(spread.robust)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    i, j = np.triu_indices(n, 1)
    divisor = np.maximum(errors[i, j], np.finfo(float).tiny)
    largest = np.empty(_DRAWS)
    for start in range(0, _DRAWS, _AT_ONCE):
        drawn = rng.standard_normal((_AT_ONCE, n)) @ root.T
        largest[start : start + _AT_ONCE] = (np.abs(drawn[:, i] - drawn[:, j]) / divisor).max(1)
    freedom = max(spread.effective - 1.0, 1.0)
    largest /= np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    return float(np.quantile(largest, level))


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
