"""Whether two samples of clustered units differ, and weights that take one mix to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit

from videoautoarena.scoring.fitting.counts import Floats, Ints

LEAST_CLUSTERS = 8
"""Least clusters on each side: with fewer the spread of a side is a guess, and no test is made."""
LEAST_EXPECTED = 5.0
"""Noughts, and ones, that the smaller sample must be expected to hold for a column to be tested."""
_BATCH = 64
"""Permutations at a time, which bounds the memory."""
_NOTHING = 1e-9
"""A standard error below this is rounding: nothing scatters."""
_BELIEVED = 3.0
"""Weight, in clusters, of the scatter of both sides together beside that of one side."""


@dataclass(frozen=True, eq=False)
class UnitSample:
    """Units with their figures, and which of them belong together."""

    values: Floats
    """Shape (units, columns), finite."""
    cluster: Ints
    """Shape (units,). A number that stands in both samples is one cluster, such as a video."""


class SampleDifference(NamedTuple):
    """What a test of two samples found."""

    p: float | None
    """The p-value of all columns together; None where no column can be tested."""
    columns: Floats
    """Shape (columns,), p-values with the error held over all columns; NaN for a column that is not
    tested: with fewer than LEAST_CLUSTERS clusters on a side, or too rare."""
    clusters: tuple[int, int]
    """Clusters of each sample."""


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Means of the units of one cluster on one side, which change sides together."""

    means: Floats
    """Shape (blocks, columns), centred."""
    share: Floats
    """Shape (columns,), share of ones in columns of noughts and ones, else NaN."""
    side: NDArray[np.bool_]
    """Whether each block is of the first sample."""
    pairs: Ints
    """Shape (pairs, 2): blocks of one cluster on both sides."""
    alone: Ints
    """Blocks whose cluster is on one side."""


def compare_samples(
    one: UnitSample, other: UnitSample, *, rounds: int, seed: int
) -> SampleDifference:
    """Return whether two samples differ in any column, by a permutation of whole clusters.

    Each cluster counts once, with the mean of its units. The figure of a column is the difference
    of both sides' means in units of its standard error; that of the test is the largest of them.
    Divided so, it is held against permutations rightly also where clusters of one side scatter
    more than those of the other, since they are smaller. A cluster of both samples has a block on
    either side: the two change places. Cost: `rounds` times the number of clusters.

    Args:
        one: as many columns as the other.
        other: of units that could be of the same population.
        rounds: permutations, at least 19.
        seed: of the permutations.

    Raises:
        ValueError: shapes that do not fit, figures that are not finite, or too few rounds.

    Source: Chung and Romano (2013), Ann. Statist. 41(2), the studentised permutation; Westfall and
        Young (1993), Resampling-Based Multiple Testing, the largest of several.
    """
    if rounds < 19:
        raise ValueError(f"{rounds} permutations are too few; take at least 19")
    for sample in (one, other):
        if sample.values.ndim != 2 or sample.cluster.shape != sample.values.shape[:1]:
            raise ValueError("values must have a row, and cluster a number, for each unit")
        if not np.isfinite(sample.values).all():
            raise ValueError("values must be finite")
    if one.values.shape[1] != other.values.shape[1]:
        raise ValueError("both samples must have the same columns")
    columns = np.full(one.values.shape[1], np.nan)
    is_binary, tested = _often_enough(one.values, other.values)
    blocks, clusters = _gather(one, other, tested, is_binary[tested])
    if min(clusters) < LEAST_CLUSTERS or not tested.any():
        return SampleDifference(None, columns, clusters)
    found = _figures(blocks, blocks.side[None, :])[0]
    rng = np.random.default_rng(seed)
    over = np.zeros(len(found), dtype=np.int64)
    for begin in range(0, rounds, _BATCH):
        # Each side keeps its number of blocks; the two blocks of a shared cluster swap places.
        batch = min(rounds - begin, _BATCH)
        sides = np.repeat(blocks.side[None, :], batch, axis=0)
        sides[:, blocks.alone] = rng.permuted(sides[:, blocks.alone], axis=1)
        turned = rng.random((batch, len(blocks.pairs))) < 0.5
        sides[:, blocks.pairs[:, 0]] ^= turned
        sides[:, blocks.pairs[:, 1]] ^= turned
        # A little more, so that the same difference, summed in another order, is not taken as
        # smaller.
        most = _figures(blocks, sides).max(axis=1) + 1e-9
        over += (most[:, None] >= found).sum(axis=0)
    # The sample itself counts as one of its permutations, so that p is never 0.
    columns[tested] = (1.0 + over) / (1.0 + rounds)
    return SampleDifference(float(np.nanmin(columns)), columns, clusters)


def hold_error(ps: ArrayLike) -> Floats:
    """Return p-values by which all tests together are wrong no more often than each is alone.

    Args:
        ps: shape (tests,), 0 to 1.

    Raises:
        ValueError: one is no probability.

    Source: Holm (1979), Scand. J. Statist. 6(2).
    """
    given = np.asarray(ps, dtype=np.float64)
    if given.ndim != 1 or not ((given >= 0.0) & (given <= 1.0)).all():
        raise ValueError("ps must be a row of probabilities")
    order = np.argsort(given, kind="stable")
    many = len(given)
    stepped = np.maximum.accumulate(given[order] * np.arange(many, 0, -1))
    held = np.empty(many)
    held[order] = np.minimum(stepped, 1.0)
    return held


def _often_enough(one: Floats, other: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which columns hold noughts and ones alone, and which are not too rare to be tested.

    Source: Cochran (1954), Biometrics 10(4).
    """
    values = np.concatenate([one, other])
    if not len(values):
        none = np.zeros(values.shape[1], dtype=np.bool_)
        return none, none
    binary = ((values == 0.0) | (values == 1.0)).all(axis=0)
    share = values.mean(axis=0)
    rarer = np.minimum(share, 1.0 - share) * min(len(one), len(other))
    return binary, np.asarray(~binary | (rarer >= LEAST_EXPECTED), dtype=np.bool_)


def _gather(
    one: UnitSample, other: UnitSample, tested: NDArray[np.bool_], is_binary: NDArray[np.bool_]
) -> tuple[_Blocks, tuple[int, int]]:
    values = np.concatenate([one.values, other.values])[:, tested]
    side = np.arange(len(values)) < len(one.values)
    cluster = np.concatenate([one.cluster, other.cluster])
    keys, block = np.unique(np.stack([cluster, side]), axis=1, return_inverse=True)
    means = np.zeros((keys.shape[1], values.shape[1]))
    np.add.at(means, block.ravel(), values)
    means /= np.bincount(block.ravel(), minlength=len(means))[:, None]
    # Blocks are sorted by cluster, so the two blocks of a shared one stand side by side.
    twin = np.flatnonzero(keys[0, :-1] == keys[0, 1:])
    pairs = np.stack([twin, twin + 1], axis=1)
    alone = np.setdiff1d(np.arange(len(means)), pairs.ravel())
    first = keys[1] == 1
    middle = means.mean(axis=0) if len(means) else np.zeros(means.shape[1])
    share = np.where(is_binary, middle, np.nan)
    clusters = int(first.sum()), int((~first).sum())
    return _Blocks(means - middle, share, first, pairs, alone), clusters


def _figures(blocks: _Blocks, sides: NDArray[np.bool_]) -> Floats:
    """Return how many standard errors the means lie apart, shape (rounds, columns)."""
    here = sides.astype(np.float64)
    values = blocks.means
    usual = (values**2).mean(axis=0)
    means = list[Floats]()
    scales = list[Floats]()
    squares = np.zeros((len(sides), values.shape[1]))
    for half in (here, 1.0 - here):
        count = float(half[0].sum())
        mean = half @ values / count
        off = half @ values**2 - count * mean**2
        # A side may lack a rare value by chance, which must not count as certainty.
        variance = (off + _BELIEVED * usual) / (count - 1.0 + _BELIEVED) / count
        # A side that holds few ones by chance also scatters less, and would look all the surer of
        # it: the variance of its share is taken to that of the share of both.
        share = blocks.share
        own = share + mean * count / (count + _BELIEVED)
        scale = np.where(np.isnan(share), 1.0, share * (1.0 - share) / (own * (1.0 - own)))
        means.append(mean)
        scales.append(scale / count**2)
        squares += variance * scale
    if len(blocks.pairs):
        squares -= 2.0 * _together(blocks, sides, *means) * np.sqrt(scales[0] * scales[1])
    gap = np.abs(means[0] - means[1])
    error = np.sqrt(np.maximum(squares, 0.0))
    return np.divide(gap, error, out=np.zeros_like(gap), where=error > _NOTHING)


def _together(
    blocks: _Blocks, sides: NDArray[np.bool_], mean_one: Floats, mean_other: Floats
) -> Floats:
    """Return how shared clusters deviate together: the sum of products of both deviations."""
    first, second = blocks.means[blocks.pairs.T]
    stays = sides[:, blocks.pairs[:, 0]].astype(np.float64)
    turns = 1.0 - stays
    return np.asarray(
        (first * second).sum(axis=0)
        - mean_other * (stays @ first + turns @ second)
        - mean_one * (stays @ second + turns @ first)
        + len(blocks.pairs) * mean_one * mean_other,
        dtype=np.float64,
    )


_RIDGE = 1e-5
"""Keeps the multiplier of a cell finite whose share cannot be had."""
_TINY = 1e-12
_STEPS = 200
_HALVINGS = 40
_REST = 1e-8
"""Largest slope at which the search rests."""


class CalibratedWeights(NamedTuple):
    """Weights, and how near they come to what was asked."""

    weights: Floats
    """Shape (units,), above 0 and below the cap, 1 on average."""
    reached: Floats
    """Shape (cells,), the weighted share of each cell."""


def calibrate(cells: ArrayLike, shares: ArrayLike, *, cap: float) -> CalibratedWeights:
    """Return weights by which each cell holds its share, as nearly as the cap allows.

    They are the weights nearest to 1 that do so. Where every unit stands in one cell they are
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
    # Units in the same cells get the same weight, and there are few combinations of cells.
    kinds, kind, counts = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    share = counts / len(x)
    rows = np.column_stack([np.ones(len(kinds)), kinds])
    along = rows @ _settle(rows, share, np.append(1.0, target), cap)
    # Moved that far, all weights lie on one side of 1, so their mean passes 1 in between.
    furthest = float(np.abs(along).max()) + 1.0

    def over(by: float) -> float:
        """Return how far the mean weight lies above 1, also where a mix cannot be had."""
        return float(share @ _weigh(along + by, cap)) - 1.0

    found = _weigh(along + float(brentq(over, -furthest, furthest, xtol=1e-14)), cap)
    return CalibratedWeights(
        found[kind.ravel()], np.asarray((share * found) @ kinds, dtype=np.float64)
    )


def effective_units(weights: ArrayLike) -> float:
    """Return how many units of equal weight the weighted ones count as; 0 for none.

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
    """Return weights between 0 and the cap, 1 where `along` is 0."""
    return np.asarray(cap * expit(cap / (cap - 1.0) * along - np.log(cap - 1.0)), np.float64)


def _settle(rows: Floats, share: Floats, target: Floats, cap: float) -> Floats:
    """Return the multipliers of the cells, by Newton's method with steps that are halved."""

    def height(at: Floats) -> float:
        steep = cap / (cap - 1.0) * (rows @ at)
        grown = (cap - 1.0) * np.logaddexp(np.log(cap - 1.0), steep)
        return float(share @ grown - at @ target + ridge @ at**2 / 2.0)

    # No ridge on the mean weight, which is held at 1 whatever shares can be had.
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
        # Whole steps would oscillate where the cap binds, so a step must gain enough for its
        # length.
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
