"""Which of two is ahead on the same units, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from scoring.cells import number
from scoring.intervals import LEVEL


class Lead(NamedTuple):
    """How far one is ahead of the other, -1 to 1, with its 95 % interval; NaN without a unit."""

    value: float
    low: float
    high: float
    n: int
    better: float
    """How likely the first is better than the second, 0 to 1; NaN where nothing tells it."""


def measure_lead(first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None) -> Lead:
    """Return by how much the mean of `first` exceeds that of `second`, unit by unit.

    Only differences count, so that what makes a unit hard for both widens nothing. Two units more
    are thought of, which speak for nobody in the mean and for both in the scatter: where few units
    differ, and all the same way, those found say too little of how far others would. Deviations of
    a cluster are summed and scaled by G / (G - 1), with Student's t of G - 1 degrees; `better` is
    of the same t, so that it is beyond 97.5 % just where the interval holds no 0.

    Args:
        first: shape (units,), 0 to 1.
        second: shape (units,), 0 to 1; of the same units.
        cluster: whole numbers; units that share one (a video) are not independent.

    Returns:
        Bounds within [-1, 1], never both the value; -1 and 1, and no chance, with one cluster.

    Raises:
        ValueError: a figure that is not between 0 and 1, or unequal lengths.

    Source: Agresti and Min (2005), Statistics in Medicine 24, for the two units more; Liang and
        Zeger (1986), Biometrika 73, for the clusters.
    """
    one, two = (np.asarray(given, dtype=np.float64) for given in (first, second))
    group = np.arange(len(one)) if cluster is None else np.asarray(cluster, dtype=np.int64)
    if one.ndim != 1 or not one.shape == two.shape == group.shape:
        raise ValueError("both must have a figure, and a cluster, for each unit")
    if not all(((x >= 0.0) & (x <= 1.0)).all() for x in (one, two)):
        raise ValueError("figures must be from 0 to 1")
    gaps = one - two
    if len(gaps) == 0:
        return Lead(np.nan, np.nan, np.nan, 0, np.nan)
    value, (distinct, place) = float(gaps.mean()), number(group)
    if len(distinct) < 2:
        return Lead(value, -1.0, 1.0, len(gaps), np.nan)
    clusters, units = len(distinct), len(gaps) + 2
    sums = np.bincount(place, gaps - value)
    error = np.sqrt((sums**2).sum() * clusters / (clusters - 1) + 1.0) / units
    centre = float(gaps.sum()) / units
    half = float(stdtrit(clusters - 1, 0.5 + LEVEL / 2.0)) * error
    return Lead(
        value,
        float(max(-1.0, min(centre - half, value))),
        float(min(1.0, max(centre + half, value))),
        len(gaps),
        float(stdtr(clusters - 1, centre / error)),
    )
