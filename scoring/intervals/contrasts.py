"""The difference of two shares whose units lie in the same clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_counts
from videoautoarena.scoring.intervals.sandwich import LEVEL


class Counts(NamedTuple):
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
        down = self._reach(one.value - one.low, other.high - other.value)
        up = self._reach(one.high - one.value, other.value - other.low)
        return max(self.value - down, -1.0), min(self.value + up, 1.0)

    def side(self, level: float = LEVEL) -> int:
        """Return 1 where the interval lies above 0, -1 where it lies below, else 0."""
        low, high = self.bounds(level)
        return int(low > 0.0) - int(high < 0.0)

    def _reach(self, first: float, second: float) -> float:
        square = first**2 + second**2 - 2.0 * self.together * first * second
        return float(np.sqrt(max(square, 0.0)))


def measure_contrast(one: Counts, other: Counts) -> Contrast:
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
    together = _correlation(_deviations(one), _deviations(other))
    clusters = min(int((side.sizes > 0).sum()) for side in (one, other))
    return Contrast(first, second, min(together, together * max(1.0 - 2.0 / clusters, 0.0)))


def _deviations(side: Counts) -> Floats:
    """Return by how many hits each cluster lies above what was to be expected of its size."""
    share = float(side.hits.sum()) / float(side.sizes.sum())
    return np.asarray(side.hits - share * side.sizes, dtype=np.float64)


def _correlation(one: Floats, other: Floats) -> float:
    scatter = float(np.sqrt((one @ one) * (other @ other)))
    return float(np.clip(one @ other / scatter, -1.0, 1.0)) if scatter > 0.0 else 0.0
