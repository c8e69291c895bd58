"""Differences with intervals: of every model to an anchor, and of two models on the same units."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, stdtr, stdtrit

from videoautoarena.scoring.fitting.counts import (
    BattleRows,
    Cells,
    Floats,
    Ints,
    select_models,
    select_rows,
    to_cells,
)
from videoautoarena.scoring.fitting.newton import Likelihood
from videoautoarena.scoring.fitting.separation import find_components, find_one_sided
from videoautoarena.scoring.intervals import ranks, sandwich
from videoautoarena.scoring.intervals.proportions import read_clusters
from videoautoarena.scoring.intervals.sandwich import LEVEL
from videoautoarena.scoring.ratings.bootstrap import (
    bootstrap,
    bootstrap_terms,
    expanded_percentiles,
)
from videoautoarena.scoring.ratings.covariates import CovariateFit, Identification, identify
from videoautoarena.scoring.ratings.ratings import FitMethod, rate


class AnchorGaps(NamedTuple):
    """What is known of each model against the anchor, each array of shape (models,)."""

    gap: Floats
    """Strength less the anchor's, in nats; 0 of the anchor itself."""
    low: Floats
    """Lower end of the 95 % interval; infinite, as `high`, with fewer than two clusters."""
    high: Floats
    one_sided: NDArray[np.bool_]
    """Never won, or never lost: nothing bounds these on one side."""
    clusters: int
    terms: CovariateFit | None
    """Terms fitted beside the strengths; None for `Cells`."""
    halves: Floats
    """Half widths of the 95 % intervals of these terms, in nats."""
    control: Identification | None
    """How well the battles tell covariates from strengths; None without any."""
    errors: Floats
    """Errors of the differences of two models, shape (models, models)."""
    lead: ranks.ModelOrder


def measure_gaps(
    battles: Cells | BattleRows, anchor: int, *, rounds: int = 0, seed: int = 0
) -> AnchorGaps:
    """Return the gaps of models that all met the anchor.

    Gaps are by plain maximum likelihood, as arena-hard's are. One-sided models have none: theirs
    come from a bias-reduced fit of all, and move nobody else's.

    Intervals are made from `rounds` of the bootstrap; 0 takes the clustered sandwich.

    Raises:
        ValueError: some model did not meet the anchor, not even over others.
    """
    cells = to_cells(battles) if isinstance(battles, BattleRows) else battles
    components = find_components(cells)
    if len(components) != 1 or len(components[0]) != cells.models:
        raise ValueError("every model must have met the anchor")
    one_sided = find_one_sided(cells)
    draw = {"rounds": rounds, "seed": seed}
    if not one_sided.any():
        return _measure(battles, anchor, "mle", **draw)
    found = _measure(battles, anchor, "firth", **draw)
    if one_sided[anchor]:
        return found
    body = np.flatnonzero(~one_sided)
    chosen = (
        select_rows(battles, body)
        if isinstance(battles, BattleRows)
        else select_models(cells, body)
    )
    plain = _measure(chosen, int(np.searchsorted(body, anchor)), "mle", **draw)
    # Gap, low and high of everybody else come from the fit without one-sided models.
    for every, some in zip(found[:3], plain[:3], strict=True):
        every[body] = some
    return found._replace(terms=plain.terms, halves=plain.halves, control=plain.control)


def _measure(
    battles: Cells | BattleRows, anchor: int, likelihood: Likelihood, *, rounds: int, seed: int
) -> AnchorGaps:
    ratings = rate(battles, FitMethod(likelihood=likelihood))
    (fit,), theta = ratings.fits, ratings.theta
    one_sided = np.asarray(ratings.one_sided, dtype=np.bool_)
    gap = np.asarray(theta - theta[anchor], dtype=np.float64)
    errors = sandwich.gap_errors(fit.spread)
    half = sandwich.half_widths(errors[:, anchor], fit.spread.effective)
    half[anchor] = 0.0
    under, over = sandwich.open_reaches(half, fit.spread)
    low = gap - under
    high = gap + over
    if rounds and fit.spread.clusters > 1:
        draw: Any = {"rounds": rounds, "seed": seed, "likelihood": likelihood}
        if isinstance(battles, BattleRows):
            assert fit.terms is not None
            drawn = bootstrap_terms(battles, fit.terms, **draw)
        else:
            drawn = bootstrap(battles, theta, **draw)
        least, most = expanded_percentiles(drawn - drawn[:, [anchor]], fit.spread, level=LEVEL)
        least = np.minimum(least, gap)
        most = np.maximum(most, gap)
        low = np.where(one_sided, np.minimum(low, least), least)
        high = np.where(one_sided, np.maximum(high, most), most)
    halves = np.empty(0)
    control = None
    if isinstance(battles, BattleRows) and fit.terms is not None:
        effective = fit.spread.effective
        halves = sandwich.half_widths(fit.errors, effective)
        if battles.x.shape[1]:
            control = identify(battles, fit.terms, fit.errors, effective=effective)
    (lead,) = ratings.leads
    return AnchorGaps(
        gap, low, high, one_sided, fit.spread.clusters, fit.terms, halves, control, errors, lead
    )


def to_win_rates(gaps: Floats) -> Floats:
    """Return the predicted shares of games won against the anchor, 0 to 1, from gaps in nats."""
    return np.asarray(expit(gaps), dtype=np.float64)


class PairedLead(NamedTuple):
    """How far one is ahead of the other, -1 to 1, with the 95 % interval; NaN without a unit."""

    value: float
    low: float
    high: float
    n: int
    better: float
    """How likely the first is better than the second, 0 to 1; NaN where nothing says so."""


def measure_lead(
    first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None
) -> PairedLead:
    """Return by how much the mean of `first` exceeds that of `second`, unit by unit.

    Only differences count, so what makes a unit hard for both widens nothing. Two units are added
    that leave the sum of differences as it is and add to its scatter: few units that differ, and
    all the same way, tell too little of how far others would. Deviations of a cluster are summed
    and scaled by G / (G - 1), with Student's t of G - 1 degrees; `better` is of the same t, so that
    it is beyond 97.5 % just where the interval holds no 0. Bounds lie within [-1, 1] and are never
    both the value; -1 and 1, and no chance, with one cluster.

    Raises:
        ValueError: a figure that is not between 0 and 1, unequal lengths, or clusters that are no
            whole numbers.

    Source: Agresti and Min (2005), Statistics in Medicine 24, for the two units more; Liang and
        Zeger (1986), Biometrika 73, for the clusters.
    """
    one, two = (np.asarray(given, dtype=np.float64) for given in (first, second))
    if one.ndim != 1 or one.shape != two.shape:
        raise ValueError("both must have a figure for each unit")
    groups = read_clusters(cluster, one.shape)
    if not all(((x >= 0.0) & (x <= 1.0)).all() for x in (one, two)):
        raise ValueError("figures must be from 0 to 1")
    gaps = one - two
    if len(gaps) == 0:
        return PairedLead(np.nan, np.nan, np.nan, 0, np.nan)
    value = float(gaps.mean())
    sums = np.bincount(groups, gaps - value)
    clusters = len(sums)
    if clusters < 2:
        return PairedLead(value, -1.0, 1.0, len(gaps), np.nan)
    units = len(gaps) + 2
    # The two added units put 1 into the sum of squares, so no error is ever 0.
    error = np.sqrt((sums**2).sum() * clusters / (clusters - 1) + 1.0) / units
    centre = float(gaps.sum()) / units
    half = float(stdtrit(clusters - 1, 0.5 + LEVEL / 2.0)) * error
    return PairedLead(
        value,
        float(max(-1.0, min(centre - half, value))),
        float(min(1.0, max(centre + half, value))),
        len(gaps),
        float(stdtr(clusters - 1, centre / error)),
    )


class Standings(NamedTuple):
    """The order of models that have scores on the same units."""

    mean: Floats
    """Mean of each model on its own units, or what was given for it; shape (models,)."""
    errors: Floats
    """Errors of the differences of two models, shape (models, models)."""
    clusters: int
    lead: ranks.ModelOrder


def lead_on_units(
    scores: ArrayLike,
    cluster: ArrayLike,
    task: ArrayLike | None = None,
    *,
    means: ArrayLike | None = None,
) -> Standings:
    """Return who may be best of models, and which places each may have, from paired differences.

    Two models are held against each other on the units that both have, with the error of
    `measure_lead`: of two models alone, one may be best as long as a one-sided interval of their
    difference holds 0. Where the units of both say less than the means of each do, they count.

    Args:
        scores: shape (units, models), 0 to 1; NaN where a model has none. Every model has some.
        cluster: shape (units,), whole numbers; units that share one (a video) are not independent.
        task: shape (units,), whole numbers, each of which counts as much in a mean; None is one.
        means: shape (models,), by which models stand where that is not quite the mean of their
            scores; on the same scale.

    Raises:
        ValueError: a figure that is not between 0 and 1, unequal lengths, or clusters or tasks that
            are no whole numbers.
    """
    points = np.asarray(scores, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError("there must be a row of scores for each unit")
    group = read_clusters(cluster, points.shape[:1])
    tasks = np.zeros_like(group) if task is None else read_clusters(task, group.shape)
    if not (np.isnan(points) | ((points >= 0.0) & (points <= 1.0))).all():
        raise ValueError("scores must be from 0 to 1")
    there = ~np.isnan(points)
    models = points.shape[1]
    clusters = int(group.max(initial=-1)) + 1
    mean = np.empty(models)
    sums = np.empty((models, clusters))
    for k in range(models):
        mean[k], sums[k], _ = _sum_by_cluster(points[:, k], there[:, k], group, tasks)
    if means is not None:
        mean = np.asarray(means, dtype=np.float64)
    errors = np.zeros((models, models))
    unbound = np.zeros((models, models), dtype=np.bool_)
    for i, j in combinations(range(models), 2):
        both = there[:, i] & there[:, j]
        seen = len(np.unique(group[both]))
        unbound[i, j] = unbound[j, i] = seen < 2
        if seen > 1:
            gaps = _sum_by_cluster(points[:, i] - points[:, j], both, group, tasks)
            error = _paired_error(gaps, float(mean[i] - mean[j]), seen, clusters)
            errors[i, j] = errors[j, i] = error
    # Pairs seen on one video get an error as wide as the scale, so that no difference parts them.
    errors[unbound] = 1.0
    more = clusters / max(clusters - 1, 1)
    lead = ranks.lead_of(mean, more * sums @ sums.T, max(clusters - 1, 1), errors=errors)
    errors[unbound] = np.inf
    return Standings(mean, errors, clusters, lead)


class _ClusterSums(NamedTuple):
    mean: float
    deviations: Floats
    """Deviations from the mean, by cluster."""
    unit: float
    """The most that one unit adds to the mean."""


def _sum_by_cluster(
    values: Floats, there: NDArray[np.bool_], group: Ints, tasks: Ints
) -> _ClusterSums:
    """Return the mean over tasks of the units that are there, and how clusters deviate from it."""
    sizes = np.bincount(tasks[there])
    share = 1.0 / (np.count_nonzero(sizes) * sizes[tasks[there]])
    each = share * values[there]
    mean = float(each.sum())
    deviations = np.bincount(group[there], each - mean / len(each), minlength=int(group.max()) + 1)
    return _ClusterSums(mean, np.asarray(deviations, dtype=np.float64), float(share.max()))


def _paired_error(gaps: _ClusterSums, gap: float, seen: int, clusters: int) -> float:
    """Return the error of the difference of two models whose means lie `gap` apart.

    With it, `gap` is as many errors as the mean of the paired gaps is of its own.
    """
    squares = float((gaps.deviations**2).sum()) * seen / (seen - 1)
    error = float(np.sqrt(squares + gaps.unit**2))
    # `lead_of` knows one number of degrees of freedom: a pair seen on fewer videos has a wider
    # error.
    error *= float(stdtrit(seen - 1, 0.975) / stdtrit(clusters - 1, 0.975))
    ratio = np.sign(gap) * gaps.mean / error
    return abs(gap) / ratio if ratio > 1.0 else max(error, abs(gap))
