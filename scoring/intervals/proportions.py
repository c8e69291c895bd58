"""Shares with intervals that know which of their units belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from videoautoarena.scoring.fitting.counts import Floats, Ints, number
from videoautoarena.scoring.intervals.sandwich import LEVEL, check_level, half_widths


class ShareSpread(NamedTuple):
    """What an interval is made of: Wilson's, for a share that the figure is linear in."""

    share: float
    """0 to 1."""
    worth: float
    """How many independent units it counts as."""
    clusters: int
    """At least 2."""
    start: float = 0.0
    """The figure where that share is 0."""
    slope: float = 1.0
    """How much the figure changes as the share goes from 0 to 1."""


class _ShareFigure(NamedTuple):
    value: float
    """NaN where there are no units, as `low` and `high`."""
    low: float
    high: float
    n: int
    """Units: battles, judgings or pairs."""


class Share(_ShareFigure):
    """A figure, its 95 % interval and what it stands on: four values, as a tuple."""

    spread: ShareSpread | None = None
    """None where nothing tells how far it scatters, as with one cluster."""

    def __new__(
        cls, value: float, low: float, high: float, n: int, spread: ShareSpread | None = None
    ) -> Self:
        """Return the figure with what its interval is made of."""
        # The spread is no fifth value: callers unpack a share into four.
        share = super().__new__(cls, value, low, high, n)
        share.spread = spread
        return share

    def at(self, level: float) -> Self:
        """Return the figure with an interval of another level; unchanged without a spread.

        Raises:
            ValueError: a level that is none.
        """
        check_level(level)
        if self.spread is None:
            return self
        share, worth, clusters, start, slope = self.spread
        # A falling slope, as an agreement has, turns the ends round.
        ends = sorted(
            start + slope * end for end in bound_share(share, worth, clusters, level=level)
        )
        low = max(ends[0], -1.0)
        high = min(ends[1], 1.0)
        return type(self)(self.value, low, high, self.n, self.spread)


NOTHING = Share(np.nan, np.nan, np.nan, 0)
"""The figure of no units."""


def measure_share(
    hits: ArrayLike, cluster: ArrayLike | None = None, *, level: float = LEVEL
) -> Share:
    """Return the share of hits; its interval is Wilson's, on as many units as they are worth.

    Units count as so many independent ones as would scatter like their clusters with one more
    added, of which half hit, and at most as many as there are. Student's t has one degree less than
    there are clusters. With few clusters whose units are nearly all alike the interval covers less
    than `level`: about 0.91 with ten clusters and a correlation of 0.6.

    Args:
        hits: shape (units,), 0 to 1; a tie may be half a hit.
        cluster: whole numbers; units that share one (a video) are not independent.
        level: what the interval is to cover, such as 0.95.

    Returns:
        Bounds within [0, 1], never both the value; 0 and 1 with one cluster.

    Raises:
        ValueError: a hit that is not between 0 and 1, unequal lengths, a level that is none.

    Source: Wilson (1927), J. Am. Stat. Assoc. 22; the worth of clusters as in Dean and Pagano
        (2015), J. Surv. Stat. Methodol. 3.
    """
    check_level(level)
    points = _read(hits)
    groups = read_clusters(cluster, np.shape(hits))
    return _measure(points, groups, most=len(points), level=level)


def measure_counts(hits: Ints, sizes: Ints) -> Share:
    """Return `measure_share` of units counted by cluster: both of shape (clusters,).

    Clusters without a unit are left out.

    Raises:
        ValueError: unequal lengths, or more hits than units.
    """
    if hits.shape != sizes.shape or (hits < 0).any() or (hits > sizes).any():
        raise ValueError("each cluster must have from 0 to as many hits as units")
    kept = sizes > 0
    units = int(sizes.sum())
    value = int(hits.sum()) / max(units, 1)
    return _of_clusters(value, hits[kept].astype(np.float64), sizes[kept], most=units, level=LEVEL)


def measure_excess(
    hits: ArrayLike, expected: ArrayLike, cluster: ArrayLike | None = None, *, level: float = LEVEL
) -> Share:
    """Return how far the share of hits lies above what was expected of each unit, taken as known.

    Value and bounds are -1 to 1; the bounds -1 and 1 with one cluster.

    Raises:
        ValueError: as `measure_share`.
    """
    check_level(level)
    points = _read(hits)
    hoped = _read(expected)
    if points.shape != hoped.shape:
        raise ValueError("there must be an expectation for each hit")
    groups = read_clusters(cluster, points.shape)
    # Halved to the scale from 0 to 1, a unit scatters half as far and so counts as four at most.
    found = _measure((points - hoped + 1.0) / 2.0, groups, most=4 * len(points), level=level)
    value, low, high = (2.0 * x - 1.0 for x in found[:3])
    spread = found.spread and found.spread._replace(start=-1.0, slope=2.0)
    return Share(value, low, high, found.n, spread)


def measure_difference(hits: ArrayLike, is_in: ArrayLike, cluster: ArrayLike) -> Share:
    """Return by how much the share of hits in a part of the units lies above that in the rest.

    The sums of each cluster's deviations in both parts make the variance, which is not let below
    that of independent units with a hit and a miss more in each part: what never hits in few
    clusters is not sure to. With Student's t of a degree less than there are clusters in the part
    that is in fewer. The interval is Wilson's of the figure halved and moved to 0 to 1.

    Args:
        hits: shape (units,), 0 to 1.
        is_in: which of the units are in the part.
        cluster: whole numbers; units that share one (a video) are not independent, in whichever
            part they are.

    Returns:
        Value and bounds from -1 to 1, and the units of the smaller part; NaN where a part has no
        unit, and the bounds -1 and 1 without a spread where one lies in a single cluster.

    Raises:
        ValueError: as `measure_share`.

    Source: Liang and Zeger (1986), Biometrika 73; Agresti and Caffo (2000), Am. Stat. 54, for the
        added units.
    """
    points = _read(hits)
    group = read_clusters(cluster, np.shape(hits))
    inside = np.asarray(is_in, dtype=np.bool_)
    if inside.shape != points.shape:
        raise ValueError("each unit must be in the part or in the rest")
    sizes = np.array([inside.sum(), (~inside).sum()])
    if not sizes.all():
        return NOTHING
    shares = np.array([points[inside].mean(), points[~inside].mean()])
    value = float(shares[0] - shares[1])
    few = int(sizes.min())
    clusters = min(len(np.unique(group[part])) for part in (inside, ~inside))
    if clusters < 2:
        return Share(value, -1.0, 1.0, few)
    part = np.where(inside, 0, 1)
    pull = np.where(inside, 1.0, -1.0) * (points - shares[part]) / sizes[part]
    sums = np.bincount(group, pull)
    every = len(np.unique(group))
    # A hit and a miss more in each part: a part that never hit would otherwise have no variance.
    held = (shares * sizes + 1.0) / (sizes + 2.0)
    least = float((held * (1.0 - held) / (sizes + 2.0)).sum())
    variance = max(float(sums @ sums) * every / (every - 1), least)
    share = (float(held[0] - held[1]) + 1.0) / 2.0
    spread = ShareSpread(
        (value + 1.0) / 2.0, 4.0 * share * (1.0 - share) / variance, clusters, -1.0, 2.0
    )
    return Share(value, -1.0, 1.0, few, spread).at(LEVEL)


def bound_share(
    value: float, worth: float, clusters: int, *, level: float = LEVEL
) -> tuple[float, float]:
    """Return Wilson's interval of a share, with Student's t.

    The share counts as `worth` independent units, above 0 and infinite where it is sure; t has a
    degree less than there are clusters. The bounds lie within [0, 1] and hold the value.

    Source: Wilson (1927), J. Am. Stat. Assoc. 22.
    """
    square = float(stdtrit(clusters - 1, 0.5 + level / 2.0)) ** 2 / worth
    half = np.sqrt(square * value * (1.0 - value) + square**2 / 4.0)
    low = value + square / 2.0 - half
    high = value + square / 2.0 + half
    # Rounding must not move a bound across the value, nor outside 0 to 1.
    return (
        min(max(float(low) / (1.0 + square), 0.0), value),
        max(min(float(high) / (1.0 + square), 1.0), value),
    )


def read_clusters(cluster: ArrayLike | None, shape: tuple[int, ...]) -> Ints:
    """Return clusters numbered from 0, shape (units,); each unit its own where there are none.

    Raises:
        ValueError: another shape than that of the units, or no whole numbers.
    """
    if cluster is None:
        return np.arange(shape[0] if shape else 0)
    read = np.asarray(cluster)
    if read.shape != shape or (read.size and read.dtype.kind not in "iu"):
        raise ValueError("cluster must hold a whole number for each unit")
    return np.unique(read, return_inverse=True)[1].astype(np.int64)


def _measure(points: Floats, groups: Ints, *, most: int, level: float) -> Share:
    if len(points) == 0:
        return NOTHING
    hits = np.asarray(np.bincount(groups, weights=points), dtype=np.float64)
    value = float(points.mean())
    return _of_clusters(value, hits, np.bincount(groups), most=most, level=level)


def _of_clusters(value: float, hits: Floats, sizes: Ints, *, most: int, level: float) -> Share:
    """Return a share whose hits and units are counted by cluster, none of them empty."""
    units = int(sizes.sum())
    if units == 0:
        return NOTHING
    if len(sizes) < 2:
        return Share(value, 0.0, 1.0, units)
    spread = ShareSpread(value, min(_worth(hits, sizes), most), len(sizes))
    return Share(value, *bound_share(*spread[:3], level=level), units, spread)


def _worth(hits: Floats, sizes: Ints) -> float:
    """Return how many independent units would scatter as the clusters do, by the sums of each."""
    # One more cluster of usual size, of which half hit: few clusters in which hardly anything hits
    # scatter less than the population they are drawn from, and not at all where nothing hits.
    units = int(sizes.sum())
    clusters = len(sizes)
    usual = units / clusters
    hit = np.append(hits, usual / 2.0)
    size = np.append(sizes, usual)
    share = hit.sum() / size.sum()
    off = hit - size * share
    square = (clusters + 1) / clusters * float(off @ off) / size.sum() ** 2
    # Only where half hit in every cluster; callers bound it by the units there are.
    if square <= 0.0:
        return np.inf
    return float(share * (1.0 - share) / square) * units / float(size.sum())


def _read(hits: ArrayLike) -> Floats:
    read = np.asarray(hits, dtype=np.float64)
    if read.ndim != 1 or not ((read >= 0.0) & (read <= 1.0)).all():
        raise ValueError("hits and expectations must be a row of figures from 0 to 1")
    return read


def measure_mean(values: ArrayLike, cluster: ArrayLike | None = None) -> Share:
    """Return the mean of figures and its 95 % interval.

    The deviations of each cluster are summed, scaled by G / (G - 1), with Student's t of G - 1
    degrees. NaN without a value; without bounds (NaN) with one cluster.

    Raises:
        ValueError: a value that is not finite, unequal lengths, or clusters that are no whole
            numbers.

    Source: Liang and Zeger (1986), Biometrika 73, of a mean.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise ValueError("values must be a row of finite figures")
    groups = read_clusters(cluster, given.shape)
    if len(given) == 0:
        return Share(np.nan, np.nan, np.nan, 0)
    mean = float(given.mean())
    sums = np.bincount(groups, given - mean)
    if len(sums) < 2:
        return Share(mean, np.nan, np.nan, len(given))
    error = np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(given)
    half = float(half_widths(np.array([error]), len(sums))[0])
    return Share(mean, mean - half, mean + half, len(given))


def measure_average(first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None) -> Share:
    """Return the mean of two shares of the same units, and its 95 % interval.

    The distances of the bounds of both from their values are put together as standard errors would
    be, with the correlation of the two between clusters; a negative one is taken for none. Bounds
    lie within [0, 1] and are never both the value; 0 and 1 with one cluster.

    Raises:
        ValueError: as `measure_share`, or unequal lengths.

    Source: Zou and Donner (2008), Statistics in Medicine 27, recovering variances from bounds.
    """
    one = measure_share(first, cluster)
    two = measure_share(second, cluster)
    if one.n != two.n:
        raise ValueError("there must be both figures for each unit")
    if one.n == 0:
        return NOTHING
    groups = np.arange(one.n) if cluster is None else number(np.asarray(cluster))[1]
    # One cluster cannot tell how the two go together, so the widest interval is taken.
    together = 1.0
    if int(groups.max()) > 0:
        together = max(_correlation(_sums(first, groups), _sums(second, groups)), 0.0)
    value = (one.value + two.value) / 2.0
    down = _joined(one.value - one.low, two.value - two.low, together) / 2.0
    up = _joined(one.high - one.value, two.high - two.value, together) / 2.0
    return Share(value, max(value - down, 0.0), min(value + up, 1.0), one.n)


def _sums(hits: ArrayLike, groups: Ints) -> Floats:
    """Return by how much each cluster lies above what was to be expected of its size."""
    points = np.asarray(hits, dtype=np.float64)
    return np.bincount(groups, points - points.mean()).astype(np.float64)


def _correlation(one: Floats, two: Floats) -> float:
    """Return how deviations of clusters go together, -1 to 1; 0 where one has none."""
    scatter = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / scatter if scatter > 0.0 else 0.0


def _joined(one: float, two: float, together: float) -> float:
    """Return the distance of a bound of a sum from its value, from those of its parts."""
    return float(np.sqrt(max(one**2 + two**2 + 2.0 * together * one * two, 0.0)))


class ClusterCounts(NamedTuple):
    """Units of one side by cluster, each of shape (clusters,)."""

    hits: Ints
    sizes: Ints
    """0 where the side has no unit in a cluster."""


@dataclass(frozen=True)
class Contrast:
    """By how much one share exceeds another."""

    one: Share
    other: Share
    together: float
    """Correlation of the two between clusters, -1 to 1, as far as it counts."""

    @property
    def value(self) -> float:
        """The difference, -1 to 1; NaN where a side has no unit."""
        return self.one.value - self.other.value

    def bounds(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval of the difference, within [-1, 1].

        NaN where a side has no unit; -1 and 1 where one has a single cluster.

        Raises:
            ValueError: a level that is none.
        """
        one = self.one.at(level)
        other = self.other.at(level)
        if not (one.n and other.n):
            return np.nan, np.nan
        if one.spread is None or other.spread is None:
            return -1.0, 1.0
        # What both sides have in common cancels out of their difference, hence the minus.
        down = _joined(one.value - one.low, other.high - other.value, -self.together)
        up = _joined(one.high - one.value, other.value - other.low, -self.together)
        return max(self.value - down, -1.0), min(self.value + up, 1.0)

    def side(self, level: float = LEVEL) -> int:
        """Return 1 where the interval lies above 0, -1 where it lies below, else 0."""
        low, high = self.bounds(level)
        return int(low > 0.0) - int(high < 0.0)


def measure_contrast(one: ClusterCounts, other: ClusterCounts) -> Contrast:
    """Return by how much the share of hits of one side exceeds that of the other.

    The distances of the bounds of both shares from their values are put together as standard errors
    would be, with the correlation of the two between clusters, since what makes a cluster hard is
    hard for both. Where that narrows the interval it counts (G - 2) / G, G being the clusters of
    the side with fewer: few clusters go together by chance, two of them always.

    Raises:
        ValueError: unequal lengths, or more hits than units in a cluster.

    Source: Zou and Donner (2008), Statistics in Medicine 27, recovering variances from bounds.
    """
    if one.hits.shape != other.hits.shape:
        raise ValueError("both sides must be counted by the same clusters")
    first = measure_counts(*one)
    second = measure_counts(*other)
    if not (first.n and second.n):
        return Contrast(first, second, 0.0)
    together = float(np.clip(_correlation(_deviations(one), _deviations(other)), -1.0, 1.0))
    clusters = min(int((side.sizes > 0).sum()) for side in (one, other))
    return Contrast(first, second, min(together, together * max(1.0 - 2.0 / clusters, 0.0)))


def _deviations(side: ClusterCounts) -> Floats:
    """Return by how many hits each cluster lies above what was to be expected of its size."""
    share = float(side.hits.sum()) / float(side.sizes.sum())
    return np.asarray(side.hits - share * side.sizes, dtype=np.float64)
