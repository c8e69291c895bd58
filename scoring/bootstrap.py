"""What the strengths might have been: fits of redrawn battles, or of redrawn videos, all at once.

Drawing battles with replacement is drawing the counts of the cells from a multinomial; drawing
videos is drawing how often each counts. The fits of all draws then take their Newton steps together
from the fit of the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from scoring.bradley_terry import PHANTOM, fit_strengths
from scoring.cells import POINTS, Cells, Floats
from scoring.rows import Rows
from scoring.terms import Terms, fit_terms
from scoring.threads import one_blas_thread

ROUNDS = 1000
_AT_REST = 1e-4
"""Nats. A Newton step squares the distance, so that after the last one 1e-8 is left."""
_STEPS = 30
_LONGEST = 1.0
_CHUNK_NUMBERS = 2_000_000


def bootstrap(
    cells: Cells, theta: Floats, *, rounds: int = ROUNDS, seed: int = 0, phantom: float = 0.0
) -> Floats:
    """Return the strengths of `rounds` redrawn tournaments, each centred on zero.

    Clusters are drawn where the cells have them, battles where not. A draw whose win graph is not
    strongly connected is fitted with `PHANTOM` battles a model, as `rate` would.

    Args:
        cells: the battles of one component.
        theta: shape (models,), their strengths.
        rounds: how many draws.
        seed: the same seed gives the same draws.
        phantom: phantom battles per model in the fit, and in every draw.

    Returns:
        shape (rounds, models).
    """
    rng = np.random.default_rng(seed)
    chunk = max(1, min(rounds, _CHUNK_NUMBERS // max(cells.models**2, cells.counts.size)))
    made = np.empty((rounds, cells.models))
    with one_blas_thread():
        for start in range(0, rounds, chunk):
            end = min(start + chunk, rounds)
            drawn = draw_counts(cells, rng, rounds=end - start)
            made[start:end] = _fit(cells, theta, drawn, phantom)
    return made


def draw_counts(cells: Cells, rng: np.random.Generator, *, rounds: int) -> Floats:
    """Return the counts of redrawn tournaments, shape (rounds, P, 3)."""
    counts, parts = cells.counts.ravel(), cells.parts
    if parts is None:
        there, battles = np.flatnonzero(counts), cells.clusters
        drawn = np.zeros((rounds, counts.size))
        drawn[:, there] = rng.multinomial(battles, counts[there] / counts.sum(), size=rounds)
        return drawn.reshape(rounds, -1, 3)
    column = (3 * parts.cell[:, None] + np.arange(3)).ravel()
    shape = (cells.clusters, counts.size)
    of_cluster = csr_array(
        (parts.counts.ravel(), (np.repeat(parts.cluster, 3), column)), shape=shape
    )
    times = draw_clusters(cells.clusters, rng, rounds=rounds)
    return np.asarray(times @ of_cluster, dtype=np.float64).reshape(rounds, -1, 3)


def draw_clusters(clusters: int, rng: np.random.Generator, *, rounds: int) -> Floats:
    """Return how often each cluster counts in each redrawn tournament, shape (rounds, clusters)."""
    share = np.full(clusters, 1.0 / clusters)
    return rng.multinomial(clusters, share, size=rounds).astype(np.float64)


def fit_counts(cells: Cells, counts: Floats, *, start: Floats, phantom: float = 0.0) -> Floats:
    """Return the strengths that each of many tables of counts gives, centred on zero.

    Args:
        cells: which pairs there are.
        counts: shape (B, P, 3), as drawn by `draw_counts`.
        start: shape (models,), where Newton's method begins.
        phantom: phantom battles per model; tables that need some get `PHANTOM` where it is 0.

    Returns:
        shape (B, models).
    """
    with one_blas_thread():
        return _fit(cells, start, counts, phantom)


def _fit(cells: Cells, start: Floats, counts: Floats, phantom: float) -> Floats:
    battles, points = counts.sum(axis=2), counts @ POINTS
    prior = np.full(len(counts), phantom)
    if not phantom:
        prior[~_strongly_connected(cells, battles, points)] = PHANTOM
    theta = np.repeat(start[None], len(counts), axis=0)
    moving = np.arange(len(counts))
    for _ in range(_STEPS):
        step = _steps(
            cells, theta[moving], battles=battles[moving], points=points[moving],
            prior=prior[moving],
        )  # fmt: skip
        largest = np.abs(step).max(axis=1)
        theta[moving] += step * np.minimum(1.0, _LONGEST / np.maximum(largest, 1e-300))[:, None]
        moving = moving[largest > _AT_REST]
        if len(moving) == 0:
            break
    for k in moving:
        redrawn = Cells(cells.models, cells.i, cells.j, counts[k])
        theta[k] = fit_strengths(redrawn, phantom=prior[k])
    return np.asarray(theta - theta.mean(axis=1, keepdims=True), dtype=np.float64)


def _steps(
    cells: Cells, theta: Floats, *, battles: Floats, points: Floats, prior: Floats
) -> Floats:
    """One Newton step of each fit, shape (B, models)."""
    b, n = theta.shape
    chance = expit(theta[:, cells.i] - theta[:, cells.j])
    missing = points - battles * chance
    weight = battles * chance * (1.0 - chance)
    own = expit(theta)
    surplus = np.zeros((b, n, n))
    surplus[:, cells.i, cells.j] = missing
    surplus[:, cells.j, cells.i] = -missing
    gradient = surplus.sum(axis=2) + prior[:, None] * (0.5 - own)
    matrix = np.zeros((b, n, n))
    matrix[:, cells.i, cells.j] = matrix[:, cells.j, cells.i] = -weight
    diagonal = -matrix.sum(axis=2)
    # Without a prior nothing holds the common level; pin_mean does the same for one matrix.
    matrix += np.where(prior > 0, 0.0, diagonal.sum(axis=1) / n**2)[:, None, None]
    matrix.reshape(b, -1)[:, :: n + 1] += diagonal + prior[:, None] * own * (1.0 - own)
    return np.asarray(np.linalg.solve(matrix, gradient[..., None])[..., 0], dtype=np.float64)


def _strongly_connected(cells: Cells, battles: Floats, points: Floats) -> NDArray[np.bool_]:
    """Which draws have a finite fit from their battles alone, shape (B,)."""
    took = np.zeros((len(battles), cells.models, cells.models), dtype=np.float32)
    took[:, cells.i, cells.j] = points > 0
    took[:, cells.j, cells.i] = points < battles
    return _reaches_all(took) & _reaches_all(took.transpose(0, 2, 1))


def _reaches_all(edges: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which graphs lead from their first node to every other, shape (B,)."""
    reached = np.zeros(edges.shape[:2], dtype=np.float32)
    reached[:, 0] = 1.0
    while True:
        wider = ((reached[:, None, :] @ edges)[:, 0] + reached > 0).astype(np.float32)
        if (wider == reached).all() or wider.all():
            return np.asarray(wider.all(axis=1), dtype=np.bool_)
        reached = wider


def bootstrap_terms(
    rows: Rows, terms: Terms, *, rounds: int = ROUNDS, seed: int = 0, phantom: float = 0.0
) -> Floats:
    """Return what `bootstrap` does, of battles with terms, one fit after another.

    A draw whose strengths run away is fitted with `PHANTOM` battles a model.
    """
    rng = np.random.default_rng(seed)
    made = np.empty((rounds, rows.models))
    for k in range(rounds):
        drawn = replace(rows, counts=_draw_rows(rows, rng))
        try:
            made[k] = fit_terms(
                drawn, davidson=terms.log_nu is not None, phantom=phantom, start=terms
            ).theta
        except ArithmeticError:
            made[k] = fit_terms(
                drawn, davidson=terms.log_nu is not None, phantom=PHANTOM, start=terms
            ).theta
    return made


def _draw_rows(rows: Rows, rng: np.random.Generator) -> Floats:
    if rows.cluster is not None:
        times = draw_clusters(rows.clusters, rng, rounds=1)[0]
        return np.asarray(rows.counts * times[rows.cluster][:, None], dtype=np.float64)
    flat = rows.counts.ravel()
    drawn = rng.multinomial(rows.clusters, flat / flat.sum())
    return drawn.reshape(rows.counts.shape).astype(np.float64)
