"""How far those who judge the same things agree, beyond what chance would make of their habits.

Cohen's kappa for two, Krippendorff's alpha for any number with gaps. Both are one less observed
over expected disagreement, and both of these come from a matrix that is a sum over units. So the
matrix without one cluster is a subtraction, and a jackknife costs little more than the figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from videoautoarena.scoring.fitting.counts import Floats, Ints, number
from videoautoarena.scoring.intervals.proportions import (
    Share,
    ShareSpread,
    measure_share,
    read_clusters,
)
from videoautoarena.scoring.intervals.sandwich import LEVEL

MISSING = -1


class RaterAgreement(NamedTuple):
    """How far two agree, each with its 95 % interval and the units it stands on."""

    share: Share
    """Share of units on which both say the same, 0 to 1."""
    kappa: Share
    """Cohen's: 0 what chance gives, 1 full agreement, -1 to 1; NaN where both always say the same
    one thing, from which nothing follows."""


class _Disagreement(NamedTuple):
    """Shares of pairs of words that differ, observed and expected by chance."""

    observed: Floats
    expected: Floats


def agree(first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None) -> RaterAgreement:
    """Return how far two raters agree on the units that both rated.

    Args:
        first: shape (units,), codes of categories from 0.
        second: the same of the other rater.
        cluster: whole numbers; units that share one (a video) are not independent.

    Raises:
        ValueError: a code below 0, no whole numbers, or unequal lengths.

    Source: Cohen (1960), Educ. Psychol. Meas. 20; intervals as in `krippendorff`.
    """
    one = _read(first, least=0)
    two = _read(second, least=0)
    group = read_clusters(cluster, one.shape[:1])
    if one.ndim != 1 or one.shape != two.shape:
        raise ValueError("two raters need a row of codes each, equally long")
    _, codes = number(np.concatenate([one, two]))
    size = int(codes.max(initial=-1)) + 1
    key = (group * size + codes[: len(one)]) * size + codes[len(one) :]
    rows = int(group.max(initial=-1)) + 1
    counted = np.bincount(key, minlength=rows * size * size)
    tables = counted.reshape(rows, size, size).astype(np.float64)
    return RaterAgreement(measure_share(one == two, cluster), _corrected(tables, _cohen, len(one)))


def krippendorff(ratings: ArrayLike, cluster: ArrayLike | None = None) -> Share:
    """Return the nominal alpha of any number of raters; units rated by fewer than two are left out.

    Its interval is Wilson's of the observed disagreement, on as many units as scatter like the
    delete-one-cluster jackknife of alpha, with Student's t: full agreement on a few units is not
    certainty.

    Args:
        ratings: shape (units, raters), codes of categories from 0; -1 where a rater said nothing.
        cluster: shape (units,), whole numbers; units that share one are not independent.

    Returns:
        Value and bounds -1 to 1, NaN where nobody was rated twice or only one category was used;
        bounds -1 and 1 with one cluster. `n` counts the units that two or more rated.

    Raises:
        ValueError: a code below -1, no whole numbers, or unequal lengths.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Wilson (1927),
        J. Am. Stat. Assoc. 22.
    """
    read = _read(ratings, least=MISSING)
    if read.ndim != 2:
        raise ValueError("ratings must have a row for each unit and a column for each rater")
    group = read_clusters(cluster, read.shape[:1])
    twice = (read != MISSING).sum(axis=1) > 1
    if not twice.any():
        return Share(np.nan, np.nan, np.nan, 0)
    read = read[twice]
    group = number(group[twice])[1]
    _, codes = number(read.ravel())
    # MISSING is the lowest number where there is a gap; shifted to -1 it gets no column.
    gaps = int(read.min(initial=0) == MISSING)
    codes = codes.reshape(read.shape) - gaps
    # Krippendorff's coincidences, summed by cluster, so that each can be left out by subtraction.
    size = int(codes.max(initial=-1)) + 1
    counts = np.stack([(codes == k).sum(axis=1) for k in range(size)], axis=-1, dtype=np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    # No rating is paired with itself.
    pairs[:, range(size), range(size)] -= counts
    pairs /= np.maximum(counts.sum(axis=1) - 1.0, 1.0)[:, None, None]
    tables = np.zeros((int(group.max(initial=-1)) + 1, size, size))
    np.add.at(tables, group, pairs)
    return _corrected(tables, _pooled, len(read))


def _cohen(tables: Floats) -> _Disagreement:
    """Return the disagreement of two raters with their own habits; tables (..., size, size)."""
    total = tables.sum(axis=(-2, -1))
    same = np.trace(tables, axis1=-2, axis2=-1)
    by_chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    return _Disagreement(1.0 - _ratio(same, total), 1.0 - _ratio(by_chance, total**2))


def _pooled(tables: Floats) -> _Disagreement:
    """Return the disagreement of words drawn without replacement from all that were said."""
    total = tables.sum(axis=(-2, -1))
    said = tables.sum(axis=-1)
    same = np.trace(tables, axis1=-2, axis2=-1)
    by_chance = (said * (said - 1.0)).sum(axis=-1)
    return _Disagreement(1.0 - _ratio(same, total), 1.0 - _ratio(by_chance, total * (total - 1.0)))


def _ratio(above: Floats, below: Floats) -> Floats:
    above = np.asarray(above)
    below = np.asarray(below)
    # Where there is nothing to compare, no disagreement is expected, and callers leave that out.
    return np.divide(above, below, out=np.ones_like(below), where=below > 0)


def _corrected(tables: Floats, of: Callable[[Floats], _Disagreement], units: int) -> Share:
    """Return one minus observed over expected disagreement, with its interval."""
    clusters = len(tables)
    whole = tables.sum(axis=0)
    observed, expected = (float(part) for part in of(whole))
    if units == 0 or expected <= 0.0:
        return Share(np.nan, np.nan, np.nan, units)
    value = 1.0 - observed / expected
    if clusters < 2:
        return Share(value, -1.0, 1.0, units)
    # The jackknife's error of the ratio, from its values without each cluster in turn.
    left = of(whole - tables)
    # Without one cluster a single category may be left, from which no ratio follows.
    known = left.expected > 0.0
    ratio = left.observed[known] / left.expected[known]
    scattered = float(np.sqrt((len(ratio) - 1) * ratio.var())) if len(ratio) > 1 else 0.0
    error = expected * scattered
    spread = observed * (1.0 - observed)
    # Full agreement does not scatter; it counts as one unit per cluster and is no certainty.
    as_many = spread / error**2 if error > 0.0 and spread > 0.0 else float(clusters)
    worth = min(as_many, float(whole.sum()))
    scatter = ShareSpread(observed, worth, clusters, start=1.0, slope=-1.0 / expected)
    return Share(value, np.nan, np.nan, units, scatter).at(LEVEL)


def _read(codes: ArrayLike, *, least: int) -> Ints:
    read = np.asarray(codes)
    if read.size == 0:
        return read.astype(np.int64)
    if read.dtype.kind not in "iub" or read.min() < least:
        raise ValueError(f"codes of categories are whole numbers from {least}")
    return read.astype(np.int64)
