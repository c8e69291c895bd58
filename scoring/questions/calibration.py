"""Weights that turn one mix of units into another, none of them above a cap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit

from videoautoarena.scoring.fitting.counts import Floats

_RIDGE = 1e-5
"""What holds the multiplier of a cell whose share cannot be had."""
_TINY = 1e-12
_STEPS = 200
_HALVINGS = 40
_REST = 1e-8
"""The largest slope that is still rest."""


class Calibrated(NamedTuple):
    """Weights, and how near they come to what was asked."""

    weights: Floats
    """Shape (units,), above 0 and below the cap, 1 on average."""
    reached: Floats
    """Shape (cells,), the weighted share of each cell."""


def calibrate(cells: ArrayLike, shares: ArrayLike, *, cap: float) -> Calibrated:
    """Return weights by which each cell holds its share, as nearly as the cap allows.

    Of all such weights they are those nearest to 1. Where every unit stands in one cell they are
    those of post-stratification: the share of a cell over the one that it has. A unit may stand in
    several cells, or in none.

    Args:
        cells: shape (units, cells), whether each unit stands in each cell.
        shares: shape (cells,), which weighted share of all units each cell is to hold, 0 to 1.
        cap: the largest weight, above 1.

    Raises:
        ValueError: no unit, shapes that do not fit, a share or a cap that is none.

    Source: Deville and Sarndal (1992), J. Am. Stat. Assoc. 87(418), calibration by the bounded
        logit distance, its lower bound at zero.
    """
    x = np.asarray(cells, dtype=np.float64)
    target = np.asarray(shares, dtype=np.float64)
    if x.ndim != 2 or not len(x) or target.shape != x.shape[1:]:
        raise ValueError("cells must have a row for each unit and a column for each share")
    if not ((target >= 0.0) & (target <= 1.0)).all():
        raise ValueError("shares must lie between 0 and 1")
    if not cap > 1.0 or not np.isfinite(cap):
        raise ValueError(f"a cap of {cap} leaves no weight above 1; take a larger one")
    # Units of the same cells weigh the same, and there are few kinds of them.
    kinds, kind, counts = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    share = counts / len(x)
    rows = np.column_stack([np.ones(len(kinds)), kinds])
    along = rows @ _settle(rows, share, np.append(1.0, target), cap)
    found = _weigh(along + _level(along, share, cap), cap)
    return Calibrated(found[kind.ravel()], np.asarray((share * found) @ kinds, dtype=np.float64))


def effective_units(weights: ArrayLike) -> float:
    """Return as how many units of equal weight weighted ones count; 0 of none.

    Raises:
        ValueError: a weight below 0.

    Source: Kish (1965), Survey Sampling.
    """
    given = np.asarray(weights, dtype=np.float64)
    if (given < 0).any():
        raise ValueError("weights must not be below 0")
    square = float((given**2).sum())
    return float(given.sum()) ** 2 / square if square > 0 else 0.0


def _weigh(along: Floats, cap: float) -> Floats:
    """Weights between 0 and the cap, 1 where `along` is 0."""
    return np.asarray(cap * expit(cap / (cap - 1.0) * along - np.log(cap - 1.0)), np.float64)


def _level(along: Floats, share: Floats, cap: float) -> float:
    """What is to be added so that weights are 1 on average, also where a mix cannot be had."""
    furthest = float(np.abs(along).max()) + 1.0

    def over(by: float) -> float:
        return float(share @ _weigh(along + by, cap)) - 1.0

    return float(brentq(over, -furthest, furthest, xtol=1e-14))


def _settle(rows: Floats, share: Floats, target: Floats, cap: float) -> Floats:
    """The multipliers of the cells, by Newton's method with steps that are halved."""

    def height(at: Floats) -> float:
        steep = cap / (cap - 1.0) * (rows @ at)
        grown = (cap - 1.0) * np.logaddexp(np.log(cap - 1.0), steep)
        return float(share @ grown - at @ target + ridge @ at**2 / 2.0)

    # The mean of the weights is no share, and is held whatever becomes of those.
    ridge = np.append(0.0, np.full(len(target) - 1, _RIDGE))
    at = np.zeros(len(target))
    here = height(at)
    for _ in range(_STEPS):
        weights = _weigh(rows @ at, cap)
        slope = rows.T @ (share * weights) - target + ridge * at
        if np.abs(slope).max() < _REST:
            break
        bend = share * weights * (1.0 - weights / cap) * cap / (cap - 1.0)
        matrix = (rows * bend[:, None]).T @ rows + np.diag(ridge + _TINY)
        step = np.linalg.solve(matrix, slope)
        # A step that is not worth its length would oscillate where the cap binds.
        for _ in range(_HALVINGS):
            there = height(at - step)
            if there <= here - 1e-4 * float(step @ slope):
                break
            step = step / 2.0
        else:
            break
        at = at - step
        here = there
    return at
