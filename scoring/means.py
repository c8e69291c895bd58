"""Means with intervals that know which of their units belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scoring.cells import number
from scoring.intervals import half_widths
from scoring.shares import Share


def measure_mean(values: ArrayLike, cluster: ArrayLike | None = None) -> Share:
    """Return the mean of figures and its 95 % interval.

    The deviations of each cluster are summed, scaled by G / (G - 1), with Student's t of G - 1
    degrees. NaN without a value; without bounds (NaN) with one cluster.

    Args:
        values: shape (units,), finite.
        cluster: whole numbers; units that share one (a video) are not independent.

    Raises:
        ValueError: a value that is not finite, or unequal lengths.

    Source: Liang and Zeger (1986), Biometrika 73, of a mean.
    """
    given = np.asarray(values, dtype=np.float64)
    group = np.arange(len(given)) if cluster is None else np.asarray(cluster, dtype=np.int64)
    if given.ndim != 1 or given.shape != group.shape or not np.isfinite(given).all():
        raise ValueError("values must be finite, with a cluster for each")
    if len(given) == 0:
        return Share(np.nan, np.nan, np.nan, 0)
    mean, (distinct, place) = float(given.mean()), number(group)
    if len(distinct) < 2:
        return Share(mean, np.nan, np.nan, len(given))
    sums = np.bincount(place, given - mean)
    error = np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(given)
    half = float(half_widths(np.array([error]), len(sums))[0])
    return Share(mean, mean - half, mean + half, len(given))
