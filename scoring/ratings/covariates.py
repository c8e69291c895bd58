"""Strengths beside other terms: what a seat is worth, what style is worth, how likely a tie is.

The gap of a battle is strength a - strength b + x @ gamma, with x the battle's covariates: 1 for
the seat read first, or how much longer the answer of a is. Ties count half a win to both, or by
Davidson: a win, a tie and a loss at gap d have weights exp(d / 2), nu and exp(-d / 2). Bias-reduced
fits are those of greatest likelihood times the root of the information's determinant, all
parameters together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv
from scipy.special import expit

from videoautoarena.scoring.fitting import newton
from videoautoarena.scoring.fitting.bradley_terry import SCALE, information_weights
from videoautoarena.scoring.fitting.counts import POINTS, BattleRows, Floats, Ints, to_cells
from videoautoarena.scoring.fitting.newton import Likelihood, LikelihoodPoint, one_blas_thread
from videoautoarena.scoring.fitting.separation import find_open
from videoautoarena.scoring.intervals import sandwich as sandwiches
from videoautoarena.scoring.intervals.sandwich import (
    StrengthSpread,
    against_zero,
    cluster_meat,
    sum_pull,
    sum_scores,
)

PRIOR_SD = 2.0
"""Deviation of each term's prior, in nats, where the battles alone do not bound it; its mean is
0."""
MOST_HALF_WIDTH = 75.0
"""Points to which the 95 % interval of a term may reach to either side, where it is identified."""
MOST_INFLATION = 5.0
"""Times that terms may multiply the variance of a difference of two models, where identified.

Both bounds are set by simulation: 2 to 20 models, a deviation of 100 points, 10 to 300 videos of 3
to 12 battles, five features of style that are worth nothing. Where at least .9 of the variance of
style is the models' own, the terms led to another leader that is truly 50 points worse in .235 of
1,980 tournaments, and within the bounds in none; a pair 50 points apart was turned in .609, within
the bounds in .001. Where .3 or .6 is the models' own, it was .045 and .004 of 1,320. Where style is
worth 40 points, 100 videos of 10 battles pass in 1.00, 1.00 and .95 for shares of 0, .3 and .6;
12,480 battles of 11 models pass in all of these.
"""
_STEPS = 500
_FLAT = 1e-9
"""Least eigenvalue of the information with ones on its diagonal: below it only rounding is known of
some direction."""
_TIE = np.array([0.0, 1.0, 0.0])


class CovariateFit(NamedTuple):
    """Fitted strengths and terms."""

    theta: Floats
    """Shape (models,), strengths in nats, centred on zero."""
    gamma: Floats
    """Shape (K,), nats for one unit of a covariate."""
    log_nu: float | None
    """Davidson's tie term; between equals a share nu / (nu + 2) ties. None where ties are half."""
    held: bool
    """Whether the terms needed their prior."""


class Identification(NamedTuple):
    """How well the battles of one group tell its terms from the strengths."""

    half_width: float
    """Half of the widest 95 % interval of a term, in rating points per standard deviation."""
    inflation: float
    """How many times as large the terms make the variance of a difference of two models, at most;
    infinite where the battles alone do not bound the terms."""

    @property
    def holds(self) -> bool:
        """Whether ratings may be read with the terms taken out."""
        return self.half_width <= MOST_HALF_WIDTH and self.inflation <= MOST_INFLATION


def fit_terms(
    rows: BattleRows,
    *,
    davidson: bool = False,
    likelihood: Likelihood = "mle",
    start: CovariateFit | None = None,
) -> CovariateFit:
    """Return strengths and terms of greatest likelihood, penalised or plain.

    Where the battles say nothing of a term, since a model always had the same seat, or two
    covariates are the same, all are fitted with a normal prior of mean 0 and deviation `PRIOR_SD`,
    and `held` says so. The plain likelihood needs it also where a term runs away, since every
    longer answer won. Davidson's term needs a tie and a battle that is none; without both, ties are
    half.

    Raises:
        ArithmeticError: strengths run away, or did not settle.

    Source: Davidson (1970), J. Am. Stat. Assoc. 65; Firth (1993), Biometrika 80; Kosmidis and Firth
        (2009), Biometrika 96, for several categories.
    """
    ties = float(rows.counts[:, 1].sum())
    battles = float(rows.counts.sum())
    davidson = davidson and 0.0 < ties < battles
    k = rows.models + rows.x.shape[1]
    phi = np.zeros(k + davidson)
    if davidson:
        # Between equals a share nu / (nu + 2) ties: the start is the term of equals.
        phi[-1] = np.log(2.0 * ties / (battles - ties))
    flat = _is_flat(rows, phi)
    if start is not None and (start.log_nu is None) != davidson:
        phi[:k] = np.concatenate([start.theta, start.gamma])
    with one_blas_thread():
        held = flat
        if not held:
            try:
                fitted = _maximise(rows, phi, likelihood, 0.0)
                # A term that runs away ends where the battles no longer tell anything of it.
                held = _is_flat(rows, fitted)
            except ArithmeticError:
                # A prior of terms cannot help where there are none: the strengths themselves run
                # away.
                if len(phi) == rows.models:
                    raise
                held = True
        if held:
            fitted = _maximise(rows, phi, likelihood, PRIOR_SD**-2)
    theta = fitted[: rows.models]
    log_nu = float(fitted[-1]) if davidson else None
    return CovariateFit(theta - theta.mean(), fitted[rows.models : k], log_nu, held)


def measure_terms(
    rows: BattleRows, terms: CovariateFit, *, one_sided: NDArray[np.bool_]
) -> tuple[StrengthSpread, Floats]:
    """Return how the strengths scatter, and the standard errors of the terms in nats.

    The errors are those of `gamma` and, where it was fitted, of `log_nu` after them: by the
    sandwich, or by independent battles where `hold_up` says so.
    """
    tail = [] if terms.log_nu is None else [terms.log_nu]
    phi = np.concatenate([terms.theta, terms.gamma, tail])
    ridge = PRIOR_SD**-2 if terms.held else 0.0
    with one_blas_thread():
        bread = inv(_information(rows, phi, ridge))
        meat, effective = _meat(rows, phi, bread)
        sandwich = bread @ meat @ bread
        alone = _alone(rows, phi, bread=bread)
    n = rows.models
    clusters = rows.clusters
    cells = to_cells(rows)
    zero = information_weights(cells, terms.theta)
    dispersion = _dispersion(rows, phi)
    spread = sandwiches.make_spread(
        against_zero(sandwich[:n, :n], zero),
        against_zero(bread[:n, :n], zero),
        alone=against_zero(alone[:n, :n], zero),
        dispersion=dispersion,
        clusters=clusters,
        effective=effective,
        seen=sandwiches.count_seen(cells),
        one_sided=one_sided,
        open=find_open(cells, one_sided),
        zero=zero,
    )
    if clusters < 2:
        return spread, np.full(len(phi) - n, np.inf)
    robust = np.diag(sandwich)[n:] * clusters / (clusters - 1)
    everywhere = np.full(len(robust), clusters)
    least = np.diag(alone)[n:] * dispersion
    variance = sandwiches.hold_up(robust, least, seen=everywhere, clusters=clusters)
    return spread, np.sqrt(variance)


def identify(
    rows: BattleRows, terms: CovariateFit, errors: Floats, *, effective: float
) -> Identification:
    """Return how well the battles of one group tell its terms from the strengths.

    Style that is a model's own trademark cannot be told from its strength. The inflation is that of
    a variance inflation factor, of differences of two models in place of single coefficients.

    Args:
        rows: the battles that were fitted; covariates with a root mean square of 1.
        terms: the fit.
        errors: of its terms, as `measure_terms` gives them.
        effective: clusters, as `StrengthSpread.effective` counts them.

    Source: Fox and Monette (1992), J. Am. Stat. Assoc. 87, for several coefficients together.
    """
    width = rows.x.shape[1]
    half = SCALE * sandwiches.half_widths(errors[:width], effective)
    if width == 0:
        return Identification(0.0, 1.0)
    if terms.held:
        return Identification(float(half.max()), np.inf)
    n = rows.models
    tail = [] if terms.log_nu is None else [terms.log_nu]
    # Both variances are of the information at the fit, so that their ratio says nothing but how
    # alike covariates and models are: never below 1, and the same for a hundred times the battles.
    matrix = _information(rows, np.concatenate([terms.theta, terms.gamma, tail]), 0.0)
    without = np.delete(np.arange(len(matrix)), np.arange(n, n + width))
    with one_blas_thread():
        beside = sandwiches.gap_variances(inv(matrix)[:n, :n])
        alone = sandwiches.gap_variances(inv(matrix[np.ix_(without, without)])[:n, :n])
    # A model has no variance against itself.
    pairs = ~np.eye(n, dtype=np.bool_)
    inflation = float((beside[pairs] / alone[pairs]).max(initial=1.0))
    return Identification(float(half.max()), inflation)


def _alone(rows: BattleRows, phi: Floats, *, bread: Floats) -> Floats:
    """Return the covariance of independent battles, without the dispersion."""
    if rows.squares is None:
        return bread
    counts = np.zeros_like(rows.counts)
    # The information counts battles and not how they ended, so any column will do.
    counts[:, 0] = rows.squares
    squared = _information(replace(rows, counts=counts), phi, 0.0)
    return np.asarray(bread @ squared @ bread, dtype=np.float64)


class _Chances(NamedTuple):
    """Chances of the battles of each row, each of shape (R,)."""

    mean: Floats
    """Expected points of `i`."""
    tie: Floats
    """Chance of a tie; zeros where ties are half."""
    log_norm: Floats
    """A battle's log-likelihood is points * gap + tie * log nu less this."""

    @property
    def spread(self) -> Floats:
        """The variance of the points."""
        return np.asarray(self.mean - self.tie / 4.0 - self.mean**2, dtype=np.float64)

    @property
    def both(self) -> Floats:
        """The covariance of points and ties."""
        return np.asarray(self.tie * (0.5 - self.mean), dtype=np.float64)

    @property
    def own(self) -> Floats:
        """The variance of ties."""
        return np.asarray(self.tie * (1.0 - self.tie), dtype=np.float64)


def _chances(rows: BattleRows, phi: Floats) -> _Chances:
    k = rows.models + rows.x.shape[1]
    gap = phi[rows.i] - phi[rows.j] + rows.x @ phi[rows.models : k]
    if len(phi) == k:
        return _Chances(expit(gap), np.zeros(len(gap)), np.logaddexp(0.0, gap))
    # Weights of a loss, a tie and a win are 1, nu exp(gap / 2) and exp(gap).
    tied = phi[-1] + gap / 2.0
    norm = np.logaddexp(np.logaddexp(0.0, gap), tied)
    tie = np.exp(tied - norm)
    return _Chances(np.exp(gap - norm) + tie / 2.0, tie, norm)


def _maximise(rows: BattleRows, phi: Floats, likelihood: Likelihood, ridge: float) -> Floats:
    def look(phi: Floats) -> LikelihoodPoint:
        return _look(rows, phi, likelihood, ridge)

    return newton.climb(look, phi, likelihood=likelihood, steps=_STEPS, tolerance=1e-10)


def _is_flat(rows: BattleRows, phi: Floats) -> bool:
    """Return whether the battles say nothing of some direction that involves a term."""
    if len(phi) == rows.models:
        return False
    matrix = _information(rows, phi, 0.0)
    scale = np.sqrt(np.diag(matrix))
    # A covariate that is always zero has no information of its own, and nothing to be divided by.
    if not (scale > 0).all():
        return True
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] < _FLAT)


def _look(rows: BattleRows, phi: Floats, likelihood: Likelihood, ridge: float) -> LikelihoodPoint:
    n = rows.models
    k = rows.models + rows.x.shape[1]
    chances = _chances(rows, phi)
    battles = rows.counts.sum(axis=1)
    gap = phi[rows.i] - phi[rows.j] + rows.x @ phi[n:k]
    height = float((rows.counts @ POINTS) @ gap - battles @ chances.log_norm)
    if len(phi) > k:
        height += float(rows.counts[:, 1].sum() * phi[-1])
    height -= 0.5 * ridge * float(phi[n:] @ phi[n:])
    missing = rows.counts @ POINTS - battles * chances.mean
    untied = rows.counts[:, 1] - battles * chances.tie
    matrix = _information(rows, phi, ridge)
    if likelihood == "firth":
        lifted = _lift(rows, phi, matrix, chances=chances)
        height += lifted.height
        missing = missing + battles * lifted.points
        untied = untied + battles * lifted.ties
        matrix = _information(rows, phi, ridge, weight=1.0 + lifted.hat)
    gradient = np.zeros(len(phi))
    gradient[:n] = np.bincount(rows.i, missing, n) - np.bincount(rows.j, missing, n)
    gradient[n:k] = rows.x.T @ missing
    if len(phi) > k:
        gradient[-1] = untied.sum()
    gradient[n:] -= ridge * phi[n:]
    return LikelihoodPoint(height, gradient, matrix)


class _Penalty(NamedTuple):
    """What the penalty adds: to the height, and to points, ties and weight of one battle a row."""

    height: float
    points: Floats
    ties: Floats
    hat: Floats


def _lift(rows: BattleRows, phi: Floats, matrix: Floats, *, chances: _Chances) -> _Penalty:
    """Return half the log-determinant of the information, and its slope by third moments."""
    n = rows.models
    factor = newton.factorise(matrix)
    around = newton.invert(factor)
    # The penalty must not depend on the pin, a constant share of the strengths' diagonal.
    level = np.trace(matrix[:n, :n]) / (n + 1.0)
    height = float(np.log(np.diag(factor)).sum() - 0.5 * np.log(level))
    gaps, joint, alone = _variances(rows, around)
    points = POINTS[:, None] - chances.mean
    ties = (_TIE[:, None] - chances.tie) * float(len(phi) > n + rows.x.shape[1])
    share = np.stack([1.0 - chances.mean - chances.tie / 2.0, chances.tie,
                      chances.mean - chances.tie / 2.0])  # fmt: skip
    squares = share * (gaps * points**2 + 2.0 * joint * points * ties + alone * ties**2)
    return _Penalty(
        height,
        0.5 * (squares * points).sum(axis=0),
        0.5 * (squares * ties).sum(axis=0),
        squares.sum(axis=0),
    )


def _variances(rows: BattleRows, around: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each row's variance of the gap, covariance with the tie term, and variance of that."""
    n = rows.models
    width = rows.x.shape[1]
    i = rows.i
    j = rows.j
    x = rows.x
    own = np.diag(around)
    terms = around[:, n:]
    across = terms[i] - terms[j]
    gaps = own[i] + own[j] - 2.0 * around[i, j] + 2.0 * (across[:, :width] * x).sum(axis=1)
    gaps += ((x @ around[n : n + width, n : n + width]) * x).sum(axis=1)
    if len(around) == n + width:
        return gaps, np.zeros(len(i)), np.zeros(len(i))
    return gaps, across[:, -1] + x @ around[n : n + width, -1], np.full(len(i), own[-1])


def _information(
    rows: BattleRows, phi: Floats, ridge: float, *, weight: Floats | float = 1.0
) -> Floats:
    """Return minus the Hessian, with the level of strengths pinned; each battle counts `weight`."""
    n = rows.models
    chances = _chances(rows, phi)
    battles = weight * rows.counts.sum(axis=1)
    matrix = _assemble(
        rows, len(phi), battles * chances.spread,
        both=battles * chances.both, own=battles * chances.own,
    )  # fmt: skip
    matrix[:n, :n] += np.diag(matrix)[:n].sum() / n**2
    rest = np.arange(n, len(phi))
    matrix[rest, rest] += ridge
    return matrix


def _assemble(rows: BattleRows, size: int, weight: Floats, *, both: Floats, own: Floats) -> Floats:
    """Return the sum over rows of a symmetric form in (points, tie), in terms of the parameters."""
    n = rows.models
    k = rows.models + rows.x.shape[1]
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


def _dispersion(rows: BattleRows, phi: Floats) -> float:
    """Return squared residuals of points over their expectation, an even battle added to both."""
    chances = _chances(rows, phi)
    found = float((rows.counts * (POINTS - chances.mean[:, None]) ** 2).sum())
    return (found + 0.25) / (float(rows.counts.sum(axis=1) @ chances.spread) + 0.25)


def _meat(rows: BattleRows, phi: Floats, bread: Floats) -> tuple[Floats, float]:
    """Return the sum of outer products of the scores, and the effective clusters."""
    chances = _chances(rows, phi)
    points = POINTS - chances.mean[:, None]
    tied = (_TIE - chances.tie[:, None]) * (len(phi) > rows.models + rows.x.shape[1])
    if rows.cluster is not None:
        return _cluster_meat(rows, phi, bread, points=points, tied=tied)
    square = (rows.counts * points**2).sum(axis=1)
    both = (rows.counts * points * tied).sum(axis=1)
    own = (rows.counts * tied**2).sum(axis=1)
    return _assemble(rows, len(phi), square, both=both, own=own), float(rows.clusters)


def _cluster_meat(
    rows: BattleRows, phi: Floats, bread: Floats, *, points: Floats, tied: Floats
) -> tuple[Floats, float]:
    """Return the same for clustered battles, as `measure_spread` does without terms."""
    assert rows.cluster is not None
    n = rows.models
    width = rows.x.shape[1]
    shape = (rows.clusters, len(phi))
    has_ties = len(phi) > n + width
    group = rows.cluster

    def entries(points: Floats, ties: Floats) -> list[tuple[Ints, Floats]]:
        found = [(rows.i, points), (rows.j, -points)]
        found += [(np.full(len(points), n + k), points * rows.x[:, k]) for k in range(width)]
        return [*found, (np.full(len(points), len(phi) - 1), ties)] if has_ties else found

    chances = _chances(rows, phi)
    battles = rows.counts.sum(axis=1)

    def inform(along: Floats) -> Floats:
        gap = along[group, rows.i] - along[group, rows.j]
        gap += (along[group, n : n + width] * rows.x).sum(axis=1)
        tie = along[group, -1] * has_ties
        moved = battles * (chances.spread * gap + chances.both * tie)
        return sum_scores(
            group, entries(moved, battles * (chances.both * gap + chances.own * tie)), shape=shape
        )

    gaps, joint, alone = _variances(rows, bread)
    hat = chances.spread * gaps + 2.0 * chances.both * joint + chances.own * alone
    pull = sum_pull(group, battles * hat, rows.clusters)
    found = entries((rows.counts * points).sum(axis=1), (rows.counts * tied).sum(axis=1))
    return cluster_meat(group, found, inform, pull=pull, bread=bread)
