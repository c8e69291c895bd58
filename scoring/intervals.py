"""How sure a strength is: Huber's sandwich, clustered by video.

Battles about one video share its quirks, so the video is what is drawn from a population and what
is counted: G videos give G pieces of evidence, whatever the number of battles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv
from scipy.sparse import csr_array
from scipy.special import expit, stdtr, stdtrit

from scoring.bradley_terry import information, pin_mean
from scoring.cells import POINTS, Cells, Floats, Ints
from scoring.threads import one_blas_thread

LEVEL = 0.95


class Spread(NamedTuple):
    """How the strengths of one component scatter about the truth, against their mean.

    The three matrices are covariances in nats^2, each of shape (n, n). Variances are never below
    `least`: sums over clusters come out as zero where all battles tie or where a model was seen in
    one cluster, and zero is not certainty.
    """

    robust: Floats
    """The sandwich, scaled by G / (G - 1)."""
    least: Floats
    """What independent battles would have: the inverse information times the dispersion."""
    prior: Floats
    """The inverse information with its prior; one-sided models have at least this."""
    clusters: int
    """G, the independent pieces of evidence."""
    one_sided: NDArray[np.bool_]


def measure_spread(
    cells: Cells,
    theta: Floats,
    *,
    phantom: float = 0.0,
    one_sided: NDArray[np.bool_] | None = None,
) -> Spread:
    """Return how the strengths of one component scatter.

    Args:
        cells: the battles of one component.
        theta: shape (n,), what `fit_strengths` returned with the same `phantom`.
        phantom: phantom battles per model in that fit.
        one_sided: shape (n,), see `find_one_sided`.

    Source: Huber (1967), 5th Berkeley Symposium 1; Liang and Zeger (1986), Biometrika 73.
    """
    with one_blas_thread():
        matrix = information(cells, theta, phantom=phantom)
        bread = against_mean(inv(matrix if phantom else pin_mean(matrix)))
        meat = _cell_meat(cells, theta) if cells.parts is None else _cluster_meat(cells, theta)
        robust = bread @ meat @ bread
    if one_sided is None:
        one_sided = np.zeros(cells.models, dtype=np.bool_)
    return make_spread(
        robust,
        bread,
        dispersion=_dispersion(cells, theta),
        clusters=cells.clusters,
        one_sided=one_sided,
    )


def make_spread(
    sandwich: Floats,
    bread: Floats,
    *,
    dispersion: float,
    clusters: int,
    one_sided: NDArray[np.bool_],
) -> Spread:
    """Return the spread of a sandwich and the inverse information in it."""
    more = clusters / (clusters - 1) if clusters > 1 else 1.0
    return Spread(sandwich * more, bread * dispersion, bread, clusters, one_sided)


def place_errors(spread: Spread) -> Floats:
    """Return the standard error of each strength against the mean of its component, in nats.

    Infinite with fewer than two clusters, which tell nothing of another one.
    """
    if spread.clusters < 2:
        return np.full(len(spread.one_sided), np.inf)
    variance = np.maximum(np.diag(spread.robust), np.diag(spread.least))
    wider = np.maximum(variance, np.diag(spread.prior))
    return np.sqrt(np.where(spread.one_sided, wider, variance))


def gap_errors(spread: Spread) -> Floats:
    """Return the standard error of each difference of two strengths, shape (n, n), in nats."""
    n = len(spread.one_sided)
    if spread.clusters < 2:
        return np.full((n, n), np.inf)
    variance = np.maximum(_gap_variances(spread.robust), _gap_variances(spread.least))
    wider = np.maximum(variance, _gap_variances(spread.prior))
    either = spread.one_sided[:, None] | spread.one_sided[None, :]
    return np.sqrt(np.maximum(np.where(either, wider, variance), 0.0))


def chance_better(theta: Floats, spread: Spread) -> Floats:
    """Return how likely each model i is stronger than each j, shape (n, n).

    From the difference of the two and its error, by Student's t with G - 1 degrees: 0.975 where
    the 95 % interval of the difference ends at zero. 0.5 on the diagonal, and everywhere with
    fewer than two clusters.
    """
    gap = theta[:, None] - theta[None, :]
    errors = gap_errors(spread)
    ratio = np.divide(gap, errors, out=np.zeros_like(gap), where=errors > 0)
    return np.asarray(stdtr(max(spread.clusters - 1, 1), ratio), dtype=np.float64)


def standard_errors(
    cells: Cells,
    theta: Floats,
    *,
    phantom: float = 0.0,
    one_sided: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return `place_errors` of the spread that `measure_spread` finds."""
    if cells.clusters < 2:
        return np.full(cells.models, np.inf)
    return place_errors(measure_spread(cells, theta, phantom=phantom, one_sided=one_sided))


def half_widths(errors: Floats, clusters: int, *, level: float = LEVEL) -> Floats:
    """Return half the width of each interval: Student's t with `clusters` - 1 degrees.

    Raises:
        ValueError: `level` is not between 0 and 1.
    """
    check_level(level)
    if clusters < 2:
        return np.full_like(errors, np.inf)
    return np.asarray(errors * stdtrit(clusters - 1, 0.5 + level / 2.0), dtype=np.float64)


def check_level(level: float) -> None:
    """Refuse what is no share.

    Raises:
        ValueError: `level` is not between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not between 0 and 1")


def sum_outer(cluster: Ints, column: Ints, value: Floats, *, shape: tuple[int, int]) -> Floats:
    """Return the sum over clusters of the outer product of their summed scores.

    Args:
        cluster: shape (E,), whose score an entry belongs to.
        column: shape (E,), of which parameter.
        value: shape (E,).
        shape: clusters and parameters.
    """
    rows, columns = shape
    if 8 * len(value) < rows * columns:
        scores = csr_array((value, (cluster, column)), shape=shape)
        return np.asarray((scores.T @ scores).toarray(), dtype=np.float64)
    dense = np.bincount(cluster * columns + column, value, rows * columns).reshape(shape)
    return np.asarray(dense.T @ dense, dtype=np.float64)


def against_mean(matrix: Floats) -> Floats:
    """Return the covariance of distances to the mean, of a covariance of places."""
    rows = matrix - matrix.mean(axis=0, keepdims=True)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True), dtype=np.float64)


def _gap_variances(covariance: Floats) -> Floats:
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own[None, :] - 2.0 * covariance, dtype=np.float64)


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
    parts = cells.parts
    assert parts is not None
    chance = expit(theta[cells.i] - theta[cells.j])
    surplus = parts.counts @ POINTS - parts.counts.sum(axis=1) * chance[parts.cell]
    return sum_outer(
        np.concatenate([parts.cluster, parts.cluster]),
        np.concatenate([cells.i[parts.cell], cells.j[parts.cell]]),
        np.concatenate([surplus, -surplus]),
        shape=(cells.clusters, cells.models),
    )


def _dispersion(cells: Cells, theta: Floats) -> float:
    """Squared residuals over their expectation, one even decisive battle added to both."""
    chance = expit(theta[cells.i] - theta[cells.j])
    expected = float((cells.battles * chance * (1.0 - chance)).sum())
    found = float((cells.counts * _residuals(cells, theta) ** 2).sum())
    return (found + 0.25) / (expected + 0.25)
