"""The mean of two shares of the same units, with an interval that is as narrow as theirs allow."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scoring.cells import Floats, Ints, number
from scoring.shares import NOTHING, Share, measure_share


def measure_average(first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None) -> Share:
    """Return the mean of two shares of the same units, and its 95 % interval.

    The distances of the bounds of both from their values are put together as standard errors would
    be, with the correlation of the two between clusters; a negative one is taken for none.

    Args:
        first: shape (units,), 0 to 1.
        second: shape (units,), 0 to 1; of the same units.
        cluster: whole numbers; units that share one (a video) are not independent.

    Returns:
        Bounds within [0, 1], never both the value; 0 and 1 with one cluster.

    Raises:
        ValueError: as `measure_share`, or unequal lengths.

    Source: Zou and Donner (2008), Statistics in Medicine 27, recovering variances from bounds.
    """
    one, two = measure_share(first, cluster), measure_share(second, cluster)
    if one.n != two.n:
        raise ValueError("there must be both figures for each unit")
    if one.n == 0:
        return NOTHING
    groups = np.arange(one.n) if cluster is None else number(np.asarray(cluster))[1]
    together = _correlation(_sums(first, groups), _sums(second, groups))
    value = (one.value + two.value) / 2.0
    down = _joined(one.value - one.low, two.value - two.low, together) / 2.0
    up = _joined(one.high - one.value, two.high - two.value, together) / 2.0
    return Share(value, max(value - down, 0.0), min(value + up, 1.0), one.n)


def _sums(hits: ArrayLike, groups: Ints) -> Floats:
    """Return by how much each cluster lies above what was to be expected of its size."""
    points = np.asarray(hits, dtype=np.float64)
    return np.bincount(groups, points - points.mean()).astype(np.float64)


def _correlation(one: Floats, two: Floats) -> float:
    """Return how sums of clusters go together, 0 to 1; 1 where one cluster cannot tell."""
    if len(one) < 2:
        return 1.0
    scatter = float(np.sqrt((one @ one) * (two @ two)))
    return max(float(one @ two) / scatter, 0.0) if scatter > 0.0 else 0.0


def _joined(one: float, two: float, together: float) -> float:
    return float(np.sqrt(one**2 + two**2 + 2.0 * together * one * two))
