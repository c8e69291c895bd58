"""Who may be best, and which places are open.

All of it follows from differences of two models and their errors, and nothing from overlapping
intervals of single models, which may overlap though the models are apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.fitting.newton import one_blas_thread
from videoautoarena.scoring.intervals.sandwich import LEVEL, gap_variances

SAME = 1e-6 / SCALE
"""Nats. Strengths no further apart than this share a place; a fit is no more exact."""
_RANGE_CAUTION = 0.6
"""Share of the risk that ranges of places use: they are made at 97 % where 95 % are promised, since
with some dozen videos errors come out a little small, and the promise holds for the worst model."""
_DRAWS = 4000
_MOST_DRAWN = 100
"""With more models the bounds are Bonferroni's, at most 5 % above those of draws."""
_RIDGE = 0.01
"""Share of the mean variance that is taken for each model's own scatter, since few clusters cannot
tell the covariance of many models."""


class ModelOrder(NamedTuple):
    """What the differences of comparable models say of their order; shapes (n,) and (n, n)."""

    place: Ints
    """By strength, 1 the best; equal ones share a place."""
    best: Ints
    """The best place that the model may have; `worst` is the worst."""
    worst: Ints
    may_be_best: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    """Whether row and column differ, in the order in which they stand, by the bound of the row."""
    bound: Floats
    """How many errors a model must be behind another to be no candidate for the best."""


class ErrorBounds(NamedTuple):
    """How many errors differences of equal models hardly ever exceed."""

    behind: Floats
    """For each model's distance behind others, in one direction; shape (n,)."""
    either: Floats
    """For its distance from others in both directions; shape (n,)."""
    all_pairs: float
    """For any two models."""


def lead_of(
    strengths: Floats,
    covariance: Floats,
    freedom: float,
    *,
    errors: Floats | None = None,
    evident: NDArray[np.bool_] | None = None,
    unknown: NDArray[np.bool_] | None = None,
    level: float = LEVEL,
    simultaneous: bool = False,
    seed: int = 0,
) -> ModelOrder:
    """Return who may be best and which places each model may have.

    A model may be best unless it is behind some other by more errors of the difference than it
    would be, at the furthest of all others, by chance in one of 1 / (1 - level) tournaments between
    equals: so the true best is among those that may be with probability `level`. The places that a
    model may have leave out those that stand ahead of it, or behind it, by more than the same in
    both directions, so each model's range holds its true place with that probability; with
    `simultaneous` all ranges do at once, and who may be best is read off them.

    Args:
        strengths: shape (n,), of models that are comparable.
        covariance: shape (n, n); only its differences count, and how they go together.
        freedom: degrees of freedom of the errors.
        errors: shape (n, n), of the differences; None takes them from the covariance. Infinite
            where nothing is known of another tournament.
        evident: shape (n, n), which model surely stands above which, of those that are `unknown`.
        unknown: shape (n,), models whose differences have no error that bounds them.
        level: the probability, between 0 and 1.
        simultaneous: whether ranges hold all at once.
        seed: of the draws from which bounds come.

    Source: Hsu (1984), Ann. Stat. 12, for the best; Mogstad, Romano, Shaikh and Wilhelm (2024),
        Rev. Econ. Stud. 91, for ranks from pairwise differences.
    """
    n = len(strengths)
    gap = strengths[:, None] - strengths[None, :]
    place = 1 + (gap > SAME).sum(axis=0)
    body = np.ones(n, dtype=np.bool_) if unknown is None else ~unknown
    errors = np.sqrt(gap_variances(covariance)) if errors is None else errors
    # Models whose differences have no error take their share of the risk, too.
    share = (1.0 - level) * (int(body.sum()) - 1) / max(n - 1, 1)
    ratio = np.full((n, n), -np.inf)
    bound = np.full(n, np.inf)
    either = np.full(n, np.inf)
    # With one video all errors are infinite: no draws, and every place stays open.
    if np.isfinite(errors).all() and body.sum() > 1:
        # In order of strength, so that draws do not depend on the order of the models.
        order = np.flatnonzero(body)[np.argsort(-strengths[body], kind="stable")]
        inside = np.ix_(order, order)
        typical = float((errors[inside] ** 2).sum()) / (len(order) * (len(order) - 1))
        found = _bounds(covariance[inside], freedom, typical=typical, share=share, seed=seed)
        # Not by zero: equal models without scatter are 0 errors apart and not NaN.
        ratio[inside] = gap[inside] / np.maximum(errors[inside], np.finfo(float).tiny)
        bound[order] = found.all_pairs if simultaneous else found.behind
        either[order] = found.all_pairs if simultaneous else found.either
    known = np.zeros((n, n), dtype=np.bool_) if evident is None else evident
    # Row above column by more than the column's bound to be best, its bound for ranges, and the
    # row's bound for ranges.
    beats = (ratio > bound[None, :]) | known
    bounds_column = (ratio > either[None, :]) | known
    bounds_row = (ratio > either[:, None]) | known
    best = 1 + bounds_column.sum(axis=0)
    worst = n - bounds_row.sum(axis=1)
    is_behind = best > 1 if simultaneous else beats.any(axis=0)
    apart = bounds_column.T | bounds_row
    return ModelOrder(place, best, worst, np.logical_not(is_behind), apart, bound)


def _bounds(
    covariance: Floats, freedom: float, *, typical: float, share: float, seed: int
) -> ErrorBounds:
    """Return the bounds that equal models cross with a probability of `share`.

    `typical` is the mean variance of a difference.
    """
    n = len(covariance)
    wary = share * _RANGE_CAUTION
    if n > _MOST_DRAWN:
        one = float(stdtrit(freedom, 1.0 - share / (n - 1)))
        two = float(stdtrit(freedom, 1.0 - wary / (2 * (n - 1))))
        every = float(stdtrit(freedom, 1.0 - share / (n * (n - 1))))
        return ErrorBounds(np.full(n, one), np.full(n, two), every)
    own = gap_variances(covariance)
    # Half, since a difference holds the scatter of two models.
    ridge = 0.5 * _RIDGE * typical
    root = np.linalg.cholesky(covariance + ridge * np.eye(n))
    # The draws hold the ridge of both models, so ratios are divided by errors that hold it, too.
    deviation = np.sqrt(own + 2.0 * ridge)
    rng = np.random.default_rng(seed)
    with one_blas_thread():
        # Models as rows, each in one piece of memory, since the loop below reads them one by one.
        drawn = np.ascontiguousarray((rng.standard_normal((_DRAWS, n)) @ root.T).T)
    behind = np.full((n, _DRAWS), -np.inf)
    ahead = np.full((n, _DRAWS), -np.inf)
    # Pair by pair: a matrix of models by models for each draw takes two to five times as long.
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        ratio = (drawn[i] - drawn[j]) / deviation[i, j]
        np.maximum(behind[j], ratio, out=behind[j])
        np.maximum(ahead[i], ratio, out=ahead[i])
        np.negative(ratio, out=ratio)
        np.maximum(behind[i], ratio, out=behind[i])
        np.maximum(ahead[j], ratio, out=ahead[j])
    either = np.maximum(behind, ahead)
    # One divisor for all models of a draw makes of normal draws joint ones of Student's t.
    scale = np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    behind /= scale
    either /= scale
    return ErrorBounds(
        np.quantile(behind, 1.0 - share, axis=1),
        np.quantile(either, 1.0 - wary, axis=1),
        float(np.quantile(either.max(axis=0), 1.0 - share)),
    )


def videos_needed(gap: float, reach: float, *, videos: int, at_most: int = 10_000) -> int | None:
    """Return roughly how many more videos would part two models; None if that is out of reach.

    Errors shrink as 1 / sqrt(videos), so a gap exceeds its `reach`, the bound in errors times their
    size, at videos * (reach / gap)^2. This is crude: it takes today's gap for the true one, while
    the gap of two close models is known least of all, and videos of another kind may reverse their
    order.
    """
    if gap <= 0.0 or not np.isfinite(reach):
        return None
    more = np.ceil(videos * (reach / gap) ** 2 - videos)
    return max(int(more), 1) if more <= at_most else None
