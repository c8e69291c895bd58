"""Strengths beside other terms: what a seat is worth, what style is worth, how likely a tie is.

The gap of a battle is strength a - strength b + x @ gamma, with x the battle's covariates: 1 for
the seat read first, or how much longer the answer of a is. Ties count half a win to both, or by
Davidson: a win, a tie and a loss at gap d have weights exp(d / 2), nu and exp(-d / 2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, inv
from scipy.special import expit

from scoring.cells import POINTS, Floats, Ints
from scoring.intervals import Spread, against_mean, hold_up, make_spread, sum_outer
from scoring.rows import Rows
from scoring.threads import one_blas_thread

PRIOR_SD = 2.0
"""Of each term, in nats, where the battles alone set one no bounds; the mean is 0."""
_STEPS = 200
_FLAT = 1e-9
"""Of the information scaled to ones: below this a direction is known by rounding errors only."""
_CAUTIOUS = 2.0
_TIE = np.array([0.0, 1.0, 0.0])


class Terms(NamedTuple):
    """A fit."""

    theta: Floats
    """Shape (models,), strengths in nats, centred on zero."""
    gamma: Floats
    """Shape (K,), nats for one unit of a covariate."""
    log_nu: float | None
    """Davidson's tie term; between equals a share nu / (nu + 2) ties. None where ties are half."""
    held: bool
    """Whether the terms needed their prior."""


def fit_terms(
    rows: Rows, *, davidson: bool = False, phantom: float = 0.0, start: Terms | None = None
) -> Terms:
    """Return strengths and terms of greatest likelihood.

    Where the battles set the terms no bounds, since every longer answer won, or a model always had
    the same seat, they are fitted again with a normal prior of mean 0 and deviation `PRIOR_SD`, and
    `held` says so. Davidson's term needs a tie and a battle that is none; without both, ties are
    half.

    Args:
        rows: the battles of one component, at least one.
        davidson: fit how likely ties are, instead of counting them half.
        phantom: phantom battles per model against an average one, as in `fit_strengths`.
        start: where to begin.

    Raises:
        ArithmeticError: strengths run away; the win graph needs phantom battles.

    Source: Davidson (1970), J. Am. Stat. Assoc. 65.
    """
    ties, battles = float(rows.counts[:, 1].sum()), float(rows.counts.sum())
    davidson = davidson and 0.0 < ties < battles
    k = rows.models + rows.x.shape[1]
    phi = np.zeros(k + davidson)
    if davidson:
        phi[-1] = np.log(2.0 * ties / (battles - ties))
    if start is not None and (start.log_nu is None) != davidson:
        phi[:k] = np.concatenate([start.theta, start.gamma])
    with one_blas_thread():
        try:
            fitted, held = _maximise(rows, phi, phantom, 0.0), False
            _check_bounds(rows, fitted, phantom)
        except ArithmeticError:
            if len(phi) == rows.models:
                raise
            fitted, held = _maximise(rows, phi, phantom, PRIOR_SD**-2), True
    theta = fitted[: rows.models]
    log_nu = float(fitted[-1]) if davidson else None
    return Terms(theta - theta.mean(), fitted[rows.models : k], log_nu, held)


def measure_terms(
    rows: Rows, terms: Terms, *, phantom: float, one_sided: NDArray[np.bool_]
) -> tuple[Spread, Floats]:
    """Return how the strengths scatter, and the standard errors of the terms in nats.

    The errors are those of `gamma` and, where it was fitted, of `log_nu` behind them: the sandwich,
    or independent battles' where `hold_up` says so.
    """
    phi = _pack(terms)
    ridge = PRIOR_SD**-2 if terms.held else 0.0
    with one_blas_thread():
        bread = inv(_information(rows, phi, phantom, ridge))
        meat, seen = _meat(rows, phi)
        sandwich = bread @ meat @ bread
        alone = _alone(rows, phi, bread=bread)
    n, clusters = rows.models, rows.clusters
    dispersion = _dispersion(rows, phi)
    spread = make_spread(
        against_mean(sandwich[:n, :n]),
        against_mean(bread[:n, :n]),
        alone=against_mean(alone[:n, :n]),
        dispersion=dispersion,
        clusters=clusters,
        seen=seen,
        one_sided=one_sided,
    )
    if clusters < 2:
        return spread, np.full(len(phi) - n, np.inf)
    robust = np.diag(sandwich)[n:] * clusters / (clusters - 1)
    everywhere = np.full(len(robust), clusters)
    least = np.diag(alone)[n:] * dispersion
    return spread, np.sqrt(hold_up(robust, least, seen=everywhere, clusters=clusters))


def _alone(rows: Rows, phi: Floats, *, bread: Floats) -> Floats:
    """What independent battles would have, beside the dispersion."""
    if rows.squares is None:
        return bread
    counts = np.zeros_like(rows.counts)
    counts[:, 0] = rows.squares
    squared = _information(replace(rows, counts=counts), phi, 0.0, 0.0)
    return np.asarray(bread @ squared @ bread, dtype=np.float64)


def _pack(terms: Terms) -> Floats:
    tail = [] if terms.log_nu is None else [terms.log_nu]
    return np.concatenate([terms.theta, terms.gamma, tail])


class _Chances(NamedTuple):
    """Of each row, all of shape (R,)."""

    mean: Floats
    """Expected points of `i`."""
    tie: Floats
    """Chance of a tie; zeros where ties are half."""
    log_norm: Floats
    """Minus the log-likelihood of a battle of no points beyond points * gap + tie * log nu."""


def _chances(rows: Rows, phi: Floats) -> _Chances:
    k = rows.models + rows.x.shape[1]
    gap = phi[rows.i] - phi[rows.j] + rows.x @ phi[rows.models : k]
    if len(phi) == k:
        return _Chances(expit(gap), np.zeros(len(gap)), np.logaddexp(0.0, gap))
    # Weights of a loss, a tie and a win are 1, nu exp(gap / 2) and exp(gap).
    tied = phi[-1] + gap / 2.0
    norm = np.logaddexp(np.logaddexp(0.0, gap), tied)
    tie = np.exp(tied - norm)
    return _Chances(np.exp(gap - norm) + tie / 2.0, tie, norm)


def _maximise(rows: Rows, phi: Floats, phantom: float, ridge: float) -> Floats:
    height = _log_likelihood(rows, phi, phantom, ridge)
    for _ in range(_STEPS):
        matrix = _information(rows, phi, phantom, ridge)
        try:
            factor = cho_factor(matrix)
        except np.linalg.LinAlgError:
            raise ArithmeticError("strengths or terms run away") from None
        step = cho_solve(factor, _gradient(rows, phi, phantom, ridge))
        largest = float(np.abs(step).max())
        share = 1.0
        while True:
            reached = phi + share * step
            level = _log_likelihood(rows, reached, phantom, ridge)
            if level >= height or share * largest < _CAUTIOUS:
                break
            share /= 2.0
        phi, height = reached, level
        if largest < 1e-10:
            return phi
    raise ArithmeticError("strengths or terms did not settle")


def _check_bounds(rows: Rows, phi: Floats, phantom: float) -> None:
    """Refuse a fit with a direction of which the battles say nothing."""
    if len(phi) == rows.models:
        return
    matrix = _information(rows, phi, phantom, 0.0)
    scale = np.sqrt(np.diag(matrix))
    if not (scale > 0).all() or np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] < _FLAT:
        raise ArithmeticError("some of the terms say the same")


def _log_likelihood(rows: Rows, phi: Floats, phantom: float, ridge: float) -> float:
    k = rows.models + rows.x.shape[1]
    theta, gamma = phi[: rows.models], phi[rows.models : k]
    gap = theta[rows.i] - theta[rows.j] + rows.x @ gamma
    battles = (rows.counts @ POINTS) @ gap
    battles -= rows.counts.sum(axis=1) @ _chances(rows, phi).log_norm
    if len(phi) > k:
        battles += rows.counts[:, 1].sum() * phi[-1]
    prior = 0.5 * theta.sum() - np.logaddexp(0.0, theta).sum()
    terms = phi[rows.models :]
    return float(battles + phantom * prior - 0.5 * ridge * terms @ terms)


def _gradient(rows: Rows, phi: Floats, phantom: float, ridge: float) -> Floats:
    n, k = rows.models, rows.models + rows.x.shape[1]
    chances, battles = _chances(rows, phi), rows.counts.sum(axis=1)
    missing = rows.counts @ POINTS - battles * chances.mean
    gradient = np.zeros(len(phi))
    gradient[:n] = np.bincount(rows.i, missing, n) - np.bincount(rows.j, missing, n)
    gradient[:n] += phantom * (0.5 - expit(phi[:n]))
    gradient[n:k] = rows.x.T @ missing
    if len(phi) > k:
        gradient[-1] = rows.counts[:, 1].sum() - battles @ chances.tie
    gradient[n:] -= ridge * phi[n:]
    return gradient


def _information(rows: Rows, phi: Floats, phantom: float, ridge: float) -> Floats:
    """Minus the Hessian; without phantom battles with the common level of the strengths pinned."""
    n = rows.models
    chances, battles = _chances(rows, phi), rows.counts.sum(axis=1)
    mean, tie = chances.mean, chances.tie
    spread = mean - tie / 4.0 - mean**2
    both, own = tie * (0.5 - mean), tie * (1.0 - tie)
    matrix = _assemble(rows, len(phi), battles * spread, both=battles * both, own=battles * own)
    level = np.diag(matrix)[:n].sum() / n**2
    matrix[:n, :n] += 0.0 if phantom else level
    theta = phi[:n]
    matrix[np.arange(n), np.arange(n)] += phantom * expit(theta) * expit(-theta)
    rest = np.arange(n, len(phi))
    matrix[rest, rest] += ridge
    return matrix


def _assemble(rows: Rows, size: int, weight: Floats, *, both: Floats, own: Floats) -> Floats:
    """The sum over rows of a symmetric form in (points, tie), carried to the parameters."""
    n, k = rows.models, rows.models + rows.x.shape[1]
    matrix = np.zeros((size, size))
    pairs = np.bincount(rows.i * n + rows.j, weight, n * n).reshape(n, n)
    matrix[:n, :n] = -(pairs + pairs.T)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    for column in range(n, k):
        weighted = weight * rows.x[:, column - n]
        cross = np.bincount(rows.i, weighted, n) - np.bincount(rows.j, weighted, n)
        matrix[:n, column] = matrix[column, :n] = cross
        matrix[n:k, column] = rows.x.T @ weighted
    if size > k:
        cross = np.bincount(rows.i, both, n) - np.bincount(rows.j, both, n)
        matrix[:n, -1] = matrix[-1, :n] = cross
        matrix[n:k, -1] = matrix[-1, n:k] = rows.x.T @ both
        matrix[-1, -1] = own.sum()
    return matrix


def _dispersion(rows: Rows, phi: Floats) -> float:
    """Squared residuals of the points over their expectation, one even battle added to both."""
    chances = _chances(rows, phi)
    found = float((rows.counts * (POINTS - chances.mean[:, None]) ** 2).sum())
    variance = chances.mean * (1.0 - chances.mean) - chances.tie / 4.0
    return (found + 0.25) / (float(rows.counts.sum(axis=1) @ variance) + 0.25)


def _meat(rows: Rows, phi: Floats) -> tuple[Floats, Ints]:
    """The sum of outer products of the scores, and in how many clusters each model was seen."""
    n, k = rows.models, rows.models + rows.x.shape[1]
    chances = _chances(rows, phi)
    points = POINTS - chances.mean[:, None]
    tied = (_TIE - chances.tie[:, None]) * (len(phi) > k)
    if rows.cluster is not None:
        meat, seen = _cluster_meat(rows, points, tied, size=len(phi))
        return meat, seen[:n]
    square = (rows.counts * points**2).sum(axis=1)
    both = (rows.counts * points * tied).sum(axis=1)
    own = (rows.counts * tied**2).sum(axis=1)
    battles = rows.counts.sum(axis=1)
    fought = np.bincount(rows.i, battles, n) + np.bincount(rows.j, battles, n)
    return _assemble(rows, len(phi), square, both=both, own=own), fought.astype(np.int64)


def _cluster_meat(rows: Rows, points: Floats, tied: Floats, *, size: int) -> tuple[Floats, Ints]:
    assert rows.cluster is not None
    n, width = rows.models, rows.x.shape[1]
    surplus = (rows.counts * points).sum(axis=1)
    entries = [(rows.i, surplus), (rows.j, -surplus)]
    entries += [(np.full(len(surplus), n + k), surplus * rows.x[:, k]) for k in range(width)]
    if size > n + width:
        entries.append((np.full(len(surplus), size - 1), (rows.counts * tied).sum(axis=1)))
    return sum_outer(rows.cluster, entries, shape=(rows.clusters, size))
