"""Strengths by Bradley-Terry: P(i beats j) = 1 / (1 + exp(-(strength i - strength j))).

Owns the fit of one component. What may be fitted, and with which prior, is decided in
`scoring.components`; how sure it is, in `scoring.intervals`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from scoring.cells import Cells, Floats
from scoring.threads import one_blas_thread

SCALE = 400.0 / float(np.log(10.0))
"""Rating points per nat: 400 points are odds of ten to one."""
MEAN = 1000.0
"""Mean rating of a component."""
PHANTOM = 0.5
"""Phantom battles per model where the data alone set no finite strength."""
_STEPS = 100
_CAUTIOUS = 2.0


def fit_strengths(cells: Cells, *, phantom: float = 0.0, tolerance: float = 1e-10) -> Floats:
    """Return each model's strength in nats, centred on zero; a tie is half a win to both.

    Newton's method on the likelihood of the cells, six or seven steps.

    Args:
        cells: the battles of one component, at least one.
        phantom: battles per model against a model of strength zero, that is an average one; half
            of each is won and half lost. With 0.5 a model gets a quarter of a win and a quarter
            of a loss. 0 asks for the plain maximum, which needs a strongly connected win graph.
        tolerance: largest change of any strength, in nats, that is still rest.

    Returns:
        shape (models,): a gap of ln 3 means three points in four.

    Raises:
        ArithmeticError: there is no finite maximum, or it was not reached.

    Source: Bradley and Terry (1952), Biometrika 39; the prior follows Davidson and Solomon
        (1973), Biometrika 60.
    """
    theta = np.zeros(cells.models)
    height = _log_likelihood(cells, theta, phantom)
    with one_blas_thread():
        for _ in range(_STEPS):
            step = _newton_step(cells, theta, phantom)
            largest = float(np.abs(step).max())
            if largest < tolerance:
                return np.asarray(theta + step - (theta + step).mean(), dtype=np.float64)
            theta, height = _climb(cells, theta, step=step, height=height, phantom=phantom)
    raise ArithmeticError("strengths did not settle; some model was never beaten or never won")


def information(cells: Cells, theta: Floats, *, phantom: float = 0.0) -> Floats:
    """Return minus the Hessian of the log-likelihood, shape (models, models), nats^-2."""
    chance = expit(theta[cells.i] - theta[cells.j])
    weight = cells.battles * chance * (1.0 - chance)
    matrix = np.zeros((cells.models, cells.models))
    matrix[cells.i, cells.j] = matrix[cells.j, cells.i] = -weight
    np.fill_diagonal(matrix, -matrix.sum(axis=1) + phantom * expit(theta) * expit(-theta))
    return matrix


def pin_mean(matrix: Floats) -> Floats:
    """Return `matrix` with weight on the direction in which all strengths move together.

    Without a prior the data say nothing of that direction, and the matrix has no inverse.
    """
    return np.asarray(matrix + np.trace(matrix) / matrix.size, dtype=np.float64)


def to_ratings(theta: Floats) -> Floats:
    """Return strengths as ratings: 400 points for odds of ten to one, mean 1000."""
    return np.asarray(MEAN + SCALE * (theta - theta.mean()), dtype=np.float64)


def _newton_step(cells: Cells, theta: Floats, phantom: float) -> Floats:
    missing = cells.points - cells.battles * expit(theta[cells.i] - theta[cells.j])
    gradient = (
        np.bincount(cells.i, missing, cells.models)
        - np.bincount(cells.j, missing, cells.models)
        + phantom * (0.5 - expit(theta))
    )
    matrix = information(cells, theta, phantom=phantom)
    try:
        factor = cho_factor(matrix if phantom else pin_mean(matrix))
    except np.linalg.LinAlgError:
        raise ArithmeticError(
            "strengths run away; some model was never beaten or never won"
        ) from None
    return np.asarray(cho_solve(factor, gradient), dtype=np.float64)


def _climb(
    cells: Cells, theta: Floats, *, step: Floats, height: float, phantom: float
) -> tuple[Floats, float]:
    """The step taken, halved for as long as a long one leads downhill."""
    share = 1.0
    while True:
        reached = theta + share * step
        level = _log_likelihood(cells, reached, phantom)
        if level >= height or share * np.abs(step).max() < _CAUTIOUS:
            return reached, level
        share /= 2.0


def _log_likelihood(cells: Cells, theta: Floats, phantom: float) -> float:
    gap = theta[cells.i] - theta[cells.j]
    battles = cells.points @ gap - cells.battles @ np.logaddexp(0.0, gap)
    prior = 0.5 * theta.sum() - np.logaddexp(0.0, theta).sum()
    return float(battles + phantom * prior)
