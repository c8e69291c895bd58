"""Strengths by Bradley-Terry, and online Elo for comparison.

Owns the fit of one component, by bias-reduced or by maximum likelihood. Maximum likelihood makes
gaps too wide, and infinite where a model won everything. Firth's penalty, half the logarithm of the
determinant of the information, takes the bias away: strengths are always finite, and the penalty of
a new model hardly touches the others. How sure a strength is tells `scoring.intervals.sandwich`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from videoautoarena.scoring.fitting import newton
from videoautoarena.scoring.fitting.counts import Cells, Floats, read_battles
from videoautoarena.scoring.fitting.newton import Likelihood, LikelihoodPoint

SCALE = 400.0 / float(np.log(10.0))
"""Rating points per nat: 400 points are odds of ten to one."""
MEAN = 1000.0
"""Rating of the zero of the scale: the mean of a component's models by what is known of each."""
# The plain maximum takes six or seven; the penalised one in sparse fields takes many more.
_STEPS = 500


def fit_strengths(
    cells: Cells, *, likelihood: Likelihood = "mle", tolerance: float = 1e-10
) -> Floats:
    """Return each model's strength in nats, centred on zero; a tie is half a win to both.

    The plain maximum takes six or seven steps of Newton's method. The penalised one is where each
    pair's points are made up for by its hat value, half of it to each side; steps are Newton's as
    if hat values did not change, so that the distance shrinks by a factor, from a hundred with
    dense battles to two with sparse ones.

    The cells are those of one component. `firth` is always finite; `mle` needs a strongly connected
    win graph. A gap of ln 3 means three points in four.

    Raises:
        ArithmeticError: there is no finite maximum, or it was not reached.

    Source: Bradley and Terry (1952), Biometrika 39; Firth (1993), Biometrika 80; for paired
        comparisons Kosmidis and Firth (2021), Biometrika 108.
    """
    battles = cells.battles
    points = cells.points

    def look(theta: Floats) -> LikelihoodPoint:
        return _look(cells, theta, battles=battles, points=points, likelihood=likelihood)

    with newton.one_blas_thread():
        theta = newton.climb(
            look, np.zeros(cells.models), likelihood=likelihood, steps=_STEPS, tolerance=tolerance
        )
    return np.asarray(theta - theta.mean(), dtype=np.float64)


def information(cells: Cells, theta: Floats) -> Floats:
    """Return minus the Hessian of the log-likelihood, shape (models, models), nats^-2."""
    chance = expit(theta[cells.i] - theta[cells.j])
    return join(cells, cells.battles * chance * (1.0 - chance))


def join(cells: Cells, weight: Floats) -> Floats:
    """Return the sum over pairs of `weight`, shape (P,), times (e_i - e_j)(e_i - e_j)'."""
    matrix = np.zeros((cells.models, cells.models))
    matrix[cells.i, cells.j] = matrix[cells.j, cells.i] = -weight
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix


def pin_mean(matrix: Floats) -> Floats:
    """Return `matrix` with weight on the direction in which all strengths move together.

    The battles say nothing of that direction, and without it the matrix has no inverse. The
    determinant is that of the other directions times the weight.
    """
    return np.asarray(matrix + np.trace(matrix) / matrix.size, dtype=np.float64)


def centre(theta: Floats, zero: Floats) -> Floats:
    """Return strengths about the mean in which each model counts as much as `zero` says."""
    return np.asarray(theta - theta @ zero, dtype=np.float64)


def information_weights(cells: Cells, theta: Floats) -> Floats:
    """Return how much each model counts in the mean that is zero, shape (n,), summing to 1.

    A model counts as much as its battles tell about its strength. So one that loses everything, or
    has hardly fought, hardly moves the ratings of the others, and a single battle more, such as the
    first that it wins, does not make it count all at once.
    """
    known = np.diag(information(cells, theta))
    return np.asarray(known / known.sum(), dtype=np.float64)


def to_ratings(theta: Floats) -> Floats:
    """Return strengths as ratings: 400 points for odds of ten to one, mean 1000."""
    return np.asarray(MEAN + SCALE * (theta - theta.mean()), dtype=np.float64)


def _look(
    cells: Cells, theta: Floats, *, battles: Floats, points: Floats, likelihood: Likelihood
) -> LikelihoodPoint:
    gap = theta[cells.i] - theta[cells.j]
    chance = expit(gap)
    weight = battles * chance * (1.0 - chance)
    height = float(points @ gap - battles @ np.logaddexp(0.0, gap))
    missing = points - battles * chance
    matrix = pin_mean(join(cells, weight))
    if likelihood == "firth":
        factor = newton.factorise(matrix)
        around = newton.invert(factor)
        own = np.diag(around)
        hat = weight * (own[cells.i] + own[cells.j] - 2.0 * around[cells.i, cells.j])
        # Half the log-determinant without the pin, which is a constant share of the trace.
        height += float(np.log(np.diag(factor)).sum() - 0.5 * np.log(weight.sum()))
        missing += hat * (0.5 - chance)
        # Not the whole curvature: hat values count as constant, which spares their derivatives.
        matrix = pin_mean(join(cells, weight + hat * chance * (1.0 - chance)))
    gradient = np.bincount(cells.i, missing, cells.models)
    gradient -= np.bincount(cells.j, missing, cells.models)
    return LikelihoodPoint(height, np.asarray(gradient, dtype=np.float64), matrix)


K = 4.0
"""Points that a battle moves at most."""


def play_elo(
    a: ArrayLike,
    b: ArrayLike,
    *,
    outcome: ArrayLike,
    models: int,
    seed: int | None = None,
    k: float = K,
) -> Floats:
    """Return each model's Elo rating after all battles, from 1000 at the start.

    It depends on the order of the battles, weighs late ones more, and with this `k` needs hundreds
    of battles for each model to settle. `seed` shuffles the battles; None keeps their order. A
    battle moves `k` points at most. The rest is as for `count_cells`.

    Raises:
        ValueError: as `count_cells`.

    Source: Elo (1978), The Rating of Chessplayers.
    """
    read = read_battles(a, b, outcome=outcome, models=models, cluster=None)
    order = np.arange(len(read.a))
    if seed is not None:
        np.random.default_rng(seed).shuffle(order)
    ratings = [MEAN] * models
    points = read.halves[order] / 2.0
    rows = zip(read.a[order].tolist(), read.b[order].tolist(), points.tolist(), strict=True)
    for first, second, point in rows:
        # On a Python list, since items of an array take three times as long.
        expected = 1.0 / (1.0 + 10.0 ** ((ratings[second] - ratings[first]) / 400.0))
        moved = k * (point - expected)
        ratings[first] += moved
        ratings[second] -= moved
    return np.array(ratings)
