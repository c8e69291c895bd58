"""Ranks from intervals, and how few votes hold the first place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import inv
from scipy.special import expit

from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths, information, pin_mean
from videoautoarena.scoring.fitting.counts import POINTS, Cells, Floats, Ints
from videoautoarena.scoring.fitting.newton import one_blas_thread
from videoautoarena.scoring.fitting.separation import find_components
from videoautoarena.scoring.intervals.sandwich import LEVEL, Spread, gap_errors

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
    """Return whose interval meets that of the leader, best first."""
    order = np.argsort(-ratings, kind="stable")
    meets = high[order] >= low[order[0]]
    return np.asarray(order[1:][meets[1:]], dtype=np.int64)


def videos_needed(gap: float, widths: float, *, videos: int, at_most: int = 10_000) -> int | None:
    """Return roughly how many more videos would part two neighbours; None if that is out of reach.

    Intervals shrink as 1 / sqrt(videos), so that they stop meeting at videos * (widths / gap)^2.
    Crude: it takes today's gap for the true one, while the gap of two close neighbours is the
    figure known worst, and more videos of another kind may turn their order round. `widths` is the
    sum of the half-widths of the two intervals.
    """
    if gap <= 0.0 or not np.isfinite(widths):
        return None
    more = np.ceil(videos * (widths / gap) ** 2 - videos)
    return max(int(more), 1) if more <= at_most else None


_RIVALS = 5
_ROUNDS = 40
_EVEN = 1e-8
"""Nats by which equals may differ, since a fit ends within 1e-10."""


class Fall(NamedTuple):
    """What it takes for the leader to fall."""

    votes: int
    """Battles to take away; no fewer are known to do."""
    rival: int
    """Who leads then."""


def find_fall(cells: Cells, theta: Floats) -> Fall | None:
    """Return how few battles to take away for another model to lead; None if none was found.

    Those that hold up the gap to a rival most are taken first, by their influence on it, and the
    strengths fitted again; the number is then made smaller as long as a fit bears it out. So it is
    enough for certain; fewer might do, though with two models it is exact. The five models next
    to the leader are tried. Fits are bias-reduced; battles that would cut the component in two are
    not taken away. `theta` are the strengths of the component, so fitted.

    Source: Broderick, Giordano and Meager (2020), arXiv:2011.14999.
    """
    order = np.argsort(-theta, kind="stable")
    tried = [_take_away(cells, theta, order[:1], rival) for rival in order[1 : 1 + _RIVALS]]
    falls = [fall for fall in tried if fall is not None]
    return min(falls, default=None)


def _take_away(cells: Cells, theta: Floats, leader: Ints, rival: int) -> Fall | None:
    top = int(leader[0])
    counts, taken = cells.counts.copy(), 0
    with one_blas_thread():
        for _ in range(_ROUNDS):
            effect = _effect_of_removal(cells, counts, theta, (top, rival))
            queue = _worst_first(counts, effect)
            gap = theta[top] - theta[rival]
            needed = _count_until(counts, effect, queue, gap=gap)
            if needed is None:
                return None
            less = _remove(counts, queue, needed)
            left = _refit(cells, less)
            if left is None:
                return None
            theta = left
            if _leads(theta, rival, top):
                fewest = _fewest(cells, counts, queue, (top, rival, needed))
                return Fall(taken + fewest, int(rival))
            counts, taken = less, taken + needed
    return None


def _effect_of_removal(
    cells: Cells, counts: Floats, theta: Floats, pair: tuple[int, int]
) -> Floats:
    """How much one battle less of each cell and outcome moves the gap, shape (P, 3), in nats."""
    now = Cells(cells.models, cells.i, cells.j, counts)
    inverse = inv(pin_mean(information(now, theta)))
    along = inverse[pair[0]] - inverse[pair[1]]
    surplus = POINTS - expit(theta[cells.i] - theta[cells.j])[:, None]
    return np.asarray(-surplus * (along[cells.i] - along[cells.j])[:, None], dtype=np.float64)


def _worst_first(counts: Floats, effect: Floats) -> Ints:
    """Flat indices of cells and outcomes that hold battles and narrow the gap when taken away."""
    flat = effect.ravel()
    useful = np.flatnonzero((counts.ravel() > 0) & (flat < 0))
    return useful[np.argsort(flat[useful], kind="stable")]


def _count_until(counts: Floats, effect: Floats, queue: Ints, *, gap: float) -> int | None:
    """How many battles of the queue close the gap by their effects; at least one."""
    steps = np.repeat(effect.ravel()[queue], counts.ravel()[queue].astype(np.int64))
    if len(steps) == 0:
        return None
    closed = -np.cumsum(steps)
    return min(int(np.searchsorted(closed, gap, side="right")) + 1, len(steps))


def _remove(counts: Floats, queue: Ints, battles: int) -> Floats:
    left = counts.ravel().copy()
    there = left[queue]
    gone = np.clip(battles - (np.cumsum(there) - there), 0, there)
    left[queue] -= gone
    return left.reshape(counts.shape)


def _fewest(cells: Cells, counts: Floats, queue: Ints, case: tuple[int, int, int]) -> int:
    """The smallest number of the queue's first battles that still lets the rival lead."""
    top, rival, enough = case
    low = 0
    while enough - low > 1:
        middle = (low + enough) // 2
        if _leads(_refit(cells, _remove(counts, queue, middle)), rival, top):
            enough = middle
        else:
            low = middle
    return enough


def _refit(cells: Cells, counts: Floats) -> Floats | None:
    """The strengths that are left; None where taking battles away has cut the component in two."""
    there = counts.sum(axis=1) > 0
    now = Cells(cells.models, cells.i[there], cells.j[there], counts[there])
    groups = find_components(now)
    if len(groups) != 1 or len(groups[0]) < cells.models:
        return None
    return fit_strengths(now, likelihood="firth")


def _leads(theta: Floats | None, rival: int, top: int) -> bool:
    return theta is not None and bool(theta[rival] > theta[top] + _EVEN)
