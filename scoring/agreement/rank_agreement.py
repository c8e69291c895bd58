"""How far two leaderboards agree about the models they share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.sandwich import LEVEL

LEAST_MODELS = 3
"""Two models are always ordered alike or the other way round, which is no correlation."""
_Z = float(ndtri(0.5 + LEVEL / 2.0))


@dataclass(frozen=True, eq=False)
class RankedBoard:
    """What one leaderboard says of n models, each array of shape (n,)."""

    rating: Floats
    """Finite, more is better; the unit does not matter."""
    low: Floats
    """Lower end of the 95 % interval; as `high`, NaN where none is given and infinite without an
    end."""
    high: Floats
    better: Floats | None = None
    """Shape (n, n), how likely i is better than j, where the board knows; NaN on the diagonal."""

    @property
    def has_intervals(self) -> bool:
        """Whether every model has one."""
        return not bool(np.isnan(self.low).any() or np.isnan(self.high).any())


class RankCorrelation(NamedTuple):
    """A correlation of two boards, -1 to 1; NaN below three models or without an order."""

    value: float
    low: float
    """Lower end of the 95 % interval, -1 to 1. It covers what other models of the kind would give
    and takes no account of the ratings' own intervals."""
    high: float


class PairOrders(NamedTuple):
    """Pairs of models by how two boards order them."""

    alike: int
    turned: int
    level: int
    """Pairs that one board or both hold equal."""


class PairSeparation(NamedTuple):
    """What the intervals say of all pairs of models; NaN where a board gives none."""

    pairs: int
    first: float
    """Separability of the first board: share of pairs whose intervals do not overlap."""
    second: float
    both: int
    """Pairs that are apart on both."""
    agree: float
    """Confidence agreement: the share of those which the boards order alike."""
    balance: float
    """Mean over all pairs of 1 (apart on both, ordered alike), -1 (apart on both, ordered the other
    way round) and 0 (not apart on both)."""


class BrierScore(NamedTuple):
    """Mean squared error of the first board's chances against the order of the second."""

    value: float
    """0 the best; 0.25 for one that always says even; NaN where no pair can be looked at."""
    pairs: int
    """Pairs that the second board orders."""


class BoardComparison(NamedTuple):
    """All figures of a comparison of two boards."""

    spearman: RankCorrelation
    kendall: RankCorrelation
    pearson: RankCorrelation
    orders: PairOrders
    apart: PairSeparation
    brier: BrierScore


def compare_boards(first: RankedBoard, second: RankedBoard) -> BoardComparison:
    """Return how far two boards of the same models, in the same order, agree.

    Raises:
        ValueError: not equally many models, a rating that is not finite, or bounds the wrong way
            round.
    """
    _check(first)
    _check(second)
    if len(first.rating) != len(second.rating):
        raise ValueError("boards can be compared over the same models only")
    a = first.rating
    b = second.rating
    return BoardComparison(
        spearman=correlate_ranks(a, b),
        kendall=correlate_orders(a, b),
        pearson=correlate_ratings(a, b),
        orders=count_orders(a, b),
        apart=compare_intervals(first, second),
        brier=score_chances(first, second),
    )


def correlate_ranks(a: Floats, b: Floats) -> RankCorrelation:
    """Return Spearman's correlation; equal ratings share the mean of their ranks.

    Source: Bonett and Wright (2000), Psychometrika 65, for the interval.
    """
    n = len(a)
    step = 12.0 / (n * (n * n - 1.0)) if n > 1 else 0.0
    value = _pearson(_mean_ranks(a), _mean_ranks(b))
    return _bounded(value, lambda r: (1.0 + r * r / 2.0) / (n - 3), least=4, models=n, step=step)


def correlate_orders(a: Floats, b: Floats) -> RankCorrelation:
    """Return Kendall's tau-b, which takes pairs that are equal on a board out of its reckoning.

    Source: Fieller, Hartley and Pearson (1957), Biometrika 44, for the variance in the interval;
        widened as Spearman's is, without which it holds 87 to 90 % near 1.
    """
    n = len(a)
    one, two = (np.sign(x[:, None] - x[None, :]) for x in (a, b))
    sizes = math.sqrt(float((one * one).sum()) * float((two * two).sum()))
    value = float((one * two).sum()) / sizes if sizes > 0 else math.nan
    step = 4.0 / (n * (n - 1.0)) if n > 1 else 0.0
    return _bounded(
        value, lambda r: 0.437 * (1.0 + r * r / 2.0) / (n - 4), least=5, models=n, step=step
    )


def correlate_ratings(a: Floats, b: Floats) -> RankCorrelation:
    """Return Pearson's correlation.

    Source: Fisher (1921), Metron 1, for the interval.
    """
    n = len(a)
    return _bounded(_pearson(a, b), lambda _: 1.0 / (n - 3), least=4, models=n)


def count_orders(a: Floats, b: Floats) -> PairOrders:
    """Return how many pairs two boards order alike, and how many the other way round."""
    upper = np.triu_indices(len(a), 1)
    both = np.sign(a[:, None] - a[None, :])[upper] * np.sign(b[:, None] - b[None, :])[upper]
    return PairOrders(*(int((both == sign).sum()) for sign in (1, -1, 0)))


def find_turned(first: RankedBoard, second: RankedBoard) -> Ints:
    """Return the pairs that are apart on both boards and ordered the other way round.

    Shape (pairs, 2): the model above on the first, and the one above on the second.
    """
    return np.argwhere((_apart(first) > 0) & (_apart(second) < 0)).astype(np.int64)


def compare_intervals(first: RankedBoard, second: RankedBoard) -> PairSeparation:
    """Return how many pairs the intervals part, and whether the boards then agree.

    Source: Li and others (2024), arXiv 2406.11939, section 3; Chou and others (2025), VisionArena,
        section 6.
    """
    upper = np.triu_indices(len(first.rating), 1)
    one, two = (_apart(board)[upper] for board in (first, second))
    pairs = len(one)
    known = first.has_intervals and second.has_intervals
    both = one * two
    parted = int(np.abs(both).sum()) if known else 0
    alike = int((both > 0).sum())
    return PairSeparation(
        pairs=pairs,
        first=_share(float(np.abs(one).sum()), pairs if first.has_intervals else 0),
        second=_share(float(np.abs(two).sum()), pairs if second.has_intervals else 0),
        both=parted,
        agree=_share(alike, parted),
        balance=_share(float(both.sum()), pairs if known else 0),
    )


def score_chances(first: RankedBoard, second: RankedBoard) -> BrierScore:
    """Return how well the first board's chances predict the order of the second.

    Where the first board does not say how likely one model is better than another, it follows from
    the two intervals as if they were normal and independent. Pairs that the second board holds
    equal are left out.

    Source: Li and others (2024), arXiv 2406.11939, section 3.
    """
    upper = np.triu_indices(len(first.rating), 1)
    chances = (chances_of(first) if first.better is None else first.better)[upper]
    ahead = np.sign(second.rating[:, None] - second.rating[None, :])[upper]
    ordered = (ahead != 0) & np.isfinite(chances)
    errors = chances[ordered] - (ahead[ordered] > 0)
    return BrierScore(_share(float((errors**2).sum()), len(errors)), len(errors))


def chances_of(board: RankedBoard) -> Floats:
    """Return how likely each model is better than each other by their intervals, shape (n, n).

    0.5 where an interval has no end, NaN where one is not given, also on the diagonal.
    """
    error = (board.high - board.low) / (2.0 * _Z)
    spread = np.hypot(error[:, None], error[None, :])
    gap = board.rating[:, None] - board.rating[None, :]
    # Where neither interval has a width, the higher model is surely better.
    sure = np.where(gap == 0, 0.0, np.copysign(np.inf, gap))
    ratio = np.divide(gap, spread, out=sure, where=spread != 0)
    chance = np.asarray(ndtr(ratio), dtype=np.float64)
    np.fill_diagonal(chance, np.nan)
    return chance


def _check(board: RankedBoard) -> None:
    if not np.isfinite(board.rating).all():
        raise ValueError("a rating is not finite; leave models without one out")
    if (board.low > board.high).any():
        raise ValueError("an interval ends below its beginning")


def _bounded(
    value: float, variance: Callable[[float], float], *, least: int, models: int, step: float = 0.0
) -> RankCorrelation:
    """Return a correlation with its interval on Fisher's scale.

    Ranks in full agreement have no spread of their own, so that full agreement is taken as half a
    `step`, the least change there can be, below it: a few models in order are not certainty.
    """
    if models < LEAST_MODELS or math.isnan(value):
        return RankCorrelation(math.nan, math.nan, math.nan)
    # The variance divides by n - 3 or n - 4: with fewer models nothing bounds the correlation.
    if models < least:
        return RankCorrelation(value, -1.0, 1.0)
    most = 1.0 - max(step / 2.0, 1e-12)
    held = min(max(value, -most), most)
    half = _Z * math.sqrt(variance(held))
    low, high = (math.tanh(math.atanh(held) + side * half) for side in (-1.0, 1.0))
    return RankCorrelation(value, min(low, value), max(high, value))


def _mean_ranks(x: Floats) -> Floats:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: Floats = last - (counts - 1) / 2.0
    return means[place]


def _pearson(a: Floats, b: Floats) -> float:
    if len(a) < LEAST_MODELS or (a == a[0]).all() or (b == b[0]).all():
        return math.nan
    # Scaled first, so that no square overflows.
    one, two = (_unit(x - x.mean()) for x in (a / _size(a), b / _size(b)))
    return round(float(np.clip(one @ two, -1.0, 1.0)), 12)


def _size(x: Floats) -> float:
    return float(np.abs(x).max()) or 1.0


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x), dtype=np.float64)


def _apart(board: RankedBoard) -> Ints:
    """Return 1 where i lies wholly above j, -1 where wholly below, 0 where their intervals meet."""
    above = board.low[:, None] > board.high[None, :]
    return above.astype(np.int64) - above.T.astype(np.int64)


def _share(part: float, whole: int) -> float:
    return part / whole if whole else math.nan
