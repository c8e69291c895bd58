"""How sure a strength is: Huber's sandwich, clustered by video.

Battles about one video share its quirks, so the video is what is drawn from a population and what
is counted: G videos give G pieces of evidence, whatever the number of battles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv
from scipy.special import expit, stdtrit

from scoring.bradley_terry import information, pin_mean
from scoring.cells import POINTS, Cells, Floats
from scoring.threads import one_blas_thread

LEVEL = 0.95


def standard_errors(
    cells: Cells,
    theta: Floats,
    *,
    phantom: float = 0.0,
    one_sided: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return the standard error of each strength against the mean of its component, in nats.

    The square root of the sandwich's diagonal, scaled by sqrt(G / (G - 1)) for G clusters.

    It is never below the error that independent battles would have: sums over clusters come out as
    zero where all battles tie or where a model was seen in one cluster, and zero is not certainty.
    That floor is the inverse of the information times the dispersion (squared residuals over their
    expectation), both taken as though one more battle between equals had been decisive.

    One-sided models get at least the error of the information with its prior. The others' errors
    take the places of one-sided models as given.

    Args:
        cells: the battles of one component.
        theta: shape (models,), what `fit_strengths` returned with the same `phantom`.
        phantom: phantom battles per model in that fit.
        one_sided: shape (models,), see `find_one_sided`.

    Returns:
        shape (models,); infinite with fewer than two clusters, which tell nothing of another one.

    Source: Huber (1967), 5th Berkeley Symposium 1; Liang and Zeger (1986), Biometrika 73.
    """
    clusters = cells.clusters
    if clusters < 2:
        return np.full(cells.models, np.inf)
    with one_blas_thread():
        matrix = information(cells, theta, phantom=phantom)
        bread = _against_mean(inv(matrix if phantom else pin_mean(matrix)))
        meat = _cell_meat(cells, theta) if cells.parts is None else _cluster_meat(cells, theta)
        robust = np.diag(bread @ meat @ bread) * clusters / (clusters - 1)
    plain = np.diag(bread)
    variance = np.maximum(robust, plain * _dispersion(cells, theta))
    if one_sided is not None:
        variance = np.where(one_sided, np.maximum(variance, plain), variance)
    return np.sqrt(variance)


def half_widths(errors: Floats, clusters: int, *, level: float = LEVEL) -> Floats:
    """Return half the width of each interval: Student's t with `clusters` - 1 degrees.

    Raises:
        ValueError: `level` is not between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not between 0 and 1")
    if clusters < 2:
        return np.full_like(errors, np.inf)
    return np.asarray(errors * stdtrit(clusters - 1, 0.5 + level / 2.0), dtype=np.float64)


def _residuals(cells: Cells, theta: Floats) -> Floats:
    """What a loss, a tie and a win of `i` were above expectation, shape (P, 3)."""
    chance = expit(theta[cells.i] - theta[cells.j])
    return np.asarray(POINTS - chance[:, None], dtype=np.float64)


def _cell_meat(cells: Cells, theta: Floats) -> Floats:
    """The sum of outer products of the battles' scores, without looking at a battle."""
    square = (cells.counts * _residuals(cells, theta) ** 2).sum(axis=1)
    meat = np.zeros((cells.models, cells.models))
    meat[cells.i, cells.j] = meat[cells.j, cells.i] = -square
    np.fill_diagonal(meat, -meat.sum(axis=1))
    return meat


def _cluster_meat(cells: Cells, theta: Floats) -> Floats:
    """The sum of outer products of the clusters' summed scores."""
    parts, n = cells.parts, cells.models
    assert parts is not None
    surplus = (parts.counts * _residuals(cells, theta)[parts.cell]).sum(axis=1)
    shape = cells.clusters * n
    gained = np.bincount(parts.cluster * n + cells.i[parts.cell], surplus, shape)
    given = np.bincount(parts.cluster * n + cells.j[parts.cell], surplus, shape)
    scores = (gained - given).reshape(-1, n)
    return np.asarray(scores.T @ scores, dtype=np.float64)


def _dispersion(cells: Cells, theta: Floats) -> float:
    chance = expit(theta[cells.i] - theta[cells.j])
    expected = float((cells.battles * chance * (1.0 - chance)).sum())
    found = float((cells.counts * _residuals(cells, theta) ** 2).sum())
    return (found + 0.25) / (expected + 0.25)


def _against_mean(matrix: Floats) -> Floats:
    """The covariance of distances to the mean, of a covariance of places."""
    rows = matrix - matrix.mean(axis=0, keepdims=True)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True), dtype=np.float64)
