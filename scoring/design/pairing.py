"""Who meets whom: pair weights that follow what is still open, and pairs and seats drawn by them.

Owns the rules, not the chance: the caller derives every number from its seed, so that a draw
depends on nothing but what the caller put into it. Keeping one pair through a lineage is the
caller's choice too: it draws once for the lineage instead of once for each slot.

The rule `mix` gives half of the chance to pairs whose order is open, which finds the order with
fewer battles, and half to all pairs alike, so that intervals hold and the battles can be weighted
back to uniform ones. Chances are whole millionths: a library's last digit moves no pick.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import inv
from scipy.special import expit, ndtr

from videoautoarena.scoring.fitting.bradley_terry import join
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, select_models
from videoautoarena.scoring.fitting.newton import LikelihoodPoint, climb, one_blas_thread
from videoautoarena.scoring.fitting.separation import find_components
from videoautoarena.scoring.intervals.sandwich import gap_variances

# Propensities are recorded, and a replay compares them: no last digit of a library may count.
PROPENSITY_DECIMALS = 6


class DrawnPair(NamedTuple):
    """A pair drawn: its row in `roster_pairs`, and how likely that unordered pair was."""

    pair: int
    propensity: float


class DeckPlace(NamedTuple):
    """Where a slot stands when pairs are dealt: which deck, and how many cards are above it."""

    deck: int
    card: int


class SeatPair(NamedTuple):
    """Roster indices of the model read first and of the model read second."""

    a: int
    b: int


def count_pairs(n: int) -> int:
    """Return how many unordered pairs `n` models have; ValueError for fewer than two models."""
    if n < 2:
        raise ValueError(f"{n} models make no pair; pass at least two")
    return n * (n - 1) // 2


def roster_pairs(n: int) -> NDArray[np.int64]:
    """Return all unordered pairs of two models or more, shape (n(n-1)/2, 2), in roster order."""
    count_pairs(n)
    return np.array(list(combinations(range(n), 2)), dtype=np.int64)


def pick_uniform(u: float, n: int) -> DrawnPair:
    """Return the pair that `u` falls on when all pairs of `n` models are equally wide.

    The propensity is rounded to 1e-6.

    Raises:
        ValueError: `u` is not in [0, 1), or fewer than two models.
    """
    pairs = count_pairs(n)
    # A number just below 1 may round up to `pairs` in the product.
    pair = min(int(_in_unit(u) * pairs), pairs - 1)
    return DrawnPair(pair, round(1.0 / pairs, PROPENSITY_DECIMALS))


def find_place(ordinal: int, n: int) -> DeckPlace:
    """Return the deck and card of the slot `ordinal`, counted from 0; a deck holds every pair once.

    Raises:
        ValueError: a negative ordinal, or fewer than two models.
    """
    if ordinal < 0:
        raise ValueError(f"slot {ordinal} is before the first; ordinals count from 0")
    return DeckPlace(*divmod(ordinal, count_pairs(n)))


def deal(ordinal: int, n: int, *, keys: ArrayLike) -> int:
    """Return the pair dealt to the slot `ordinal`: decks in turn, each with every pair once.

    The pairs of a deck lie in the order of their `keys`, shape (n(n-1)/2,), which belong to the
    deck that `find_place` names. Counts of two pairs never differ by more than one, wherever
    dealing stops.

    Raises:
        ValueError: a negative ordinal, fewer than two models, or keys that are not one finite
            number a pair.
    """
    card = find_place(ordinal, n).card
    order = np.asarray(keys, dtype=np.float64)
    if order.shape != (count_pairs(n),) or not np.isfinite(order).all():
        raise ValueError(f"keys must be {count_pairs(n)} finite numbers, one a pair")
    # Stable, so that equal keys keep the order of the roster on every machine.
    return int(np.argsort(order, kind="stable")[card])


def take_seats(pair: int, n: int, *, u: float) -> SeatPair:
    """Return who is read first: the earlier in the roster when `u` is below one half.

    Raises:
        ValueError: `u` is not in [0, 1), no such pair, or fewer than two models.
    """
    if not 0 <= pair < count_pairs(n):
        raise ValueError(f"there is no pair {pair}; {n} models have {count_pairs(n)}")
    first, second = (int(index) for index in roster_pairs(n)[pair])
    return SeatPair(first, second) if _in_unit(u) < 0.5 else SeatPair(second, first)


def _in_unit(u: float) -> float:
    if not 0.0 <= u < 1.0:
        raise ValueError(f"{u} is not in [0, 1)")
    return u


WHOLE = 1_000_000
"""What the weights of all pairs sum to; a propensity is a weight over this."""
_HALF = WHOLE // 2
_PRIOR = 0.5
"""Imagined battles of each model against one of strength zero, half won and half lost."""
_STEPS = 100


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
    # Beyond that some pair's equal share would be nothing, and battles cannot be weighed by a
    # propensity of 0.
    if pairs > _HALF:
        raise ValueError(f"{cells.models} models have more pairs than millionths to share")
    every = np.ones(pairs, dtype=np.int64)
    # Rounded to whole numbers here, so that equal pairs stay equal whatever their last digits.
    is_open = np.rint(WHOLE * measure_overlap(cells)).astype(np.int64)
    return _share_half(every) + _share_half(is_open if is_open.any() else every)


def measure_overlap(cells: Cells) -> Floats:
    """Return the probability that each pair's order is the other way round than it looks.

    Phi(-|gap| / error), 0.5 where the two are equal or where no chain of battles joins them.

    The fit is the rule's own and no rating: a prior of half a battle a model at any time keeps it
    finite from the first battle on, and lets no strength jump from one wave to the next. It is part
    of the rule: with any other, a run that was begun would neither go on nor be replayed, since its
    pairs are drawn again to be compared with those it holds. The error is that of independent
    battles. Clustered by video it would be more honest but, of few videos, mostly noise: in a few
    trials the order then took about a tenth more battles, with and without effects of the videos.
    What is drawn next needs no honest interval; every pair keeps its equal share.

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


def pick_weighted(u: float, weights: ArrayLike) -> DrawnPair:
    """Return the pair that `u` falls on when every pair is as wide as its weight.

    `u` counts in steps of one millionth. The weights are whole numbers that sum to `WHOLE`.

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
    return DrawnPair(pair, int(widths[pair]) / WHOLE)


def _overlap(part: Cells) -> Floats:
    """Return the overlaps of one component, shape (n, n)."""
    start = np.zeros(part.models)
    with one_blas_thread():
        theta = climb(
            lambda theta: _look(part, theta), start, likelihood="mle", steps=_STEPS, tolerance=1e-10
        )
        # Gaps stay, but the prior's curvature changes: without it, runs that were begun would draw
        # other pairs.
        theta = theta - theta.mean()
        error = np.sqrt(gap_variances(inv(_look(part, theta).curvature)))
    # A model has no error against itself; any number keeps the division below from failing.
    np.fill_diagonal(error, 1.0)
    return np.asarray(ndtr(-np.abs(theta[:, None] - theta[None, :]) / error), dtype=np.float64)


def _look(part: Cells, theta: Floats) -> LikelihoodPoint:
    """Return the likelihood at these strengths; the prior follows Davidson and Solomon (1973)."""
    gap = theta[part.i] - theta[part.j]
    battles = part.battles
    chance = expit(gap)
    alone = expit(theta)
    height = part.points @ gap - battles @ np.logaddexp(0.0, gap)
    height += _PRIOR * (0.5 * theta.sum() - np.logaddexp(0.0, theta).sum())
    missing = part.points - battles * chance
    gradient = np.bincount(part.i, missing, part.models) + _PRIOR * (0.5 - alone)
    gradient -= np.bincount(part.j, missing, part.models)
    curvature = join(part, battles * chance * (1.0 - chance))
    curvature += np.diag(_PRIOR * alone * (1.0 - alone))
    return LikelihoodPoint(float(height), np.asarray(gradient, dtype=np.float64), curvature)


def _share_half(parts: Ints) -> Ints:
    """Return half of `WHOLE` shared out in proportion to the parts, in whole numbers."""
    # Running sums are rounded down and not the shares, which so add up to the half exactly.
    ends = np.cumsum(parts) * _HALF // parts.sum()
    return np.asarray(np.diff(ends, prepend=0), dtype=np.int64)
