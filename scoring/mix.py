"""The `mix` rule: half of the chance goes to pairs whose order is open, half to all pairs alike.

The first half finds the order with fewer battles; the second keeps every pair in sight, so that
intervals hold what they say and the battles can be weighed back to uniform ones. Chances are whole
millionths: a library's last digit moves no pick.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import inv
from scipy.special import ndtr

from scoring.bradley_terry import fit_strengths, information, pin_mean
from scoring.cells import Cells, Floats, Ints, select_models
from scoring.components import find_components
from scoring.intervals import gap_variances
from scoring.pairing import Pick, count_pairs, roster_pairs
from scoring.threads import one_blas_thread

WHOLE = 1_000_000
"""What the weights of all pairs sum to; a propensity is a weight over this."""
_HALF = WHOLE // 2


def mix_weights(cells: Cells) -> Ints:
    """Return how likely each pair is to be drawn next, in millionths.

    Half of a pair's weight is its share of one half, the other its share of what is open in all
    pairs, see `measure_overlap`. Without a battle all pairs are alike, as they are once every order
    is settled beyond a millionth.

    Returns:
        shape (n(n-1)/2,), in the order of `roster_pairs`; each at least 1, summing to `WHOLE`.

    Raises:
        ValueError: fewer than two models, or more pairs than half of `WHOLE`.
    """
    pairs = count_pairs(cells.models)
    if pairs > _HALF:
        raise ValueError(f"{cells.models} models have more pairs than millionths to share")
    every = np.ones(pairs, dtype=np.int64)
    # Sums of whole numbers from here on: equal pairs stay equal whatever the last digits were.
    is_open = np.rint(WHOLE * measure_overlap(cells)).astype(np.int64)
    return _share_half(every) + _share_half(is_open if is_open.any() else every)


def measure_overlap(cells: Cells) -> Floats:
    """Return the probability that each pair's order is the other way round than it looks.

    Phi(-|gap| / error), 0.5 where the two are equal or where no chain of battles joins them.

    The fit is bias-reduced, which is finite from the first battle on and lets no strength jump from
    one wave to the next. The error is that of independent battles. Clustered by video it would be
    more honest but, of few videos, mostly noise: in a few trials the order then took about a tenth
    more battles, with and without effects of the videos. What is drawn next
    needs no honest interval; every pair keeps its equal share.

    Returns:
        shape (n(n-1)/2,), 0 to 0.5, in the order of `roster_pairs`.

    Raises:
        ValueError: fewer than two models.
    """
    pairs = roster_pairs(cells.models)
    overlap = np.full((cells.models, cells.models), 0.5)
    for members in find_components(cells):
        overlap[np.ix_(members, members)] = _overlap(select_models(cells, members))
    return np.asarray(overlap[pairs[:, 0], pairs[:, 1]], dtype=np.float64)


def pick_weighted(u: float, weights: ArrayLike) -> Pick:
    """Return the pair that `u` falls on when every pair is as wide as its weight.

    Args:
        u: in [0, 1); looked at in steps of one millionth.
        weights: shape (pairs,), whole numbers that sum to `WHOLE`, as `mix_weights` returns them.

    Raises:
        ValueError: `u` is not in [0, 1), or the weights are not such numbers.
    """
    if not 0.0 <= u < 1.0:
        raise ValueError(f"{u} is not in [0, 1)")
    widths = np.asarray(weights)
    if widths.ndim != 1 or widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ValueError("weights must be a row of whole numbers, none below zero")
    ends = np.cumsum(widths)
    if ends.size == 0 or ends[-1] != WHOLE:
        raise ValueError(f"weights must sum to {WHOLE}")
    # The largest number below 1 still falls short of `WHOLE` in the product.
    pair = int(np.searchsorted(ends, int(u * WHOLE), side="right"))
    return Pick(pair, int(widths[pair]) / WHOLE)


def _overlap(part: Cells) -> Floats:
    """Of one component, shape (n, n)."""
    theta = fit_strengths(part, likelihood="firth")
    with one_blas_thread():
        error = np.sqrt(gap_variances(inv(pin_mean(information(part, theta)))))
    np.fill_diagonal(error, 1.0)
    return np.asarray(ndtr(-np.abs(theta[:, None] - theta[None, :]) / error), dtype=np.float64)


def _share_half(parts: Ints) -> Ints:
    """Half of `WHOLE` in proportion to the parts: differences of rounded-down running sums."""
    ends = np.cumsum(parts) * _HALF // parts.sum()
    return np.asarray(np.diff(ends, prepend=0), dtype=np.int64)
