"""How few votes hold the first place: battles whose removal puts another model there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import inv
from scipy.special import expit

from scoring.bradley_terry import fit_strengths, information, pin_mean
from scoring.cells import POINTS, Cells, Floats, Ints
from scoring.components import find_components
from scoring.threads import one_blas_thread

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
    not taken away.

    Args:
        cells: the battles of one component of two models or more.
        theta: their strengths, so fitted.

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
