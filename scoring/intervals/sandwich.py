"""How sure a strength is: Huber's sandwich, clustered by video.

Battles about one video share its quirks, so the video is what is drawn from a population and what
is counted: G videos give G pieces of evidence, whatever the number of battles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv
from scipy.sparse import csr_array
from scipy.special import chdtri, expit, ndtri, stdtr, stdtrit

from videoautoarena.scoring.fitting.bradley_terry import (
    information,
    information_weights,
    join,
    pin_mean,
)
from videoautoarena.scoring.fitting.counts import POINTS, Cells, Floats, Ints, sum_seats
from videoautoarena.scoring.fitting.newton import one_blas_thread
from videoautoarena.scoring.fitting.separation import OpenSides, find_open

_FELT = 0.1
"""Largest pull of a cluster that is not corrected: below it the fit would change too little to
matter."""
_TERMS = 50
_SMALL = 1e-10


def cluster_meat(
    cluster: Ints,
    entries: Sequence[tuple[Ints, Floats]],
    inform: Callable[[Floats], Floats],
    *,
    pull: Floats,
    bread: Floats,
) -> tuple[Floats, float]:
    """Return the sum over clusters of the outer product of their summed scores, and how many.

    The scores are corrected where some cluster draws the fit to itself, and the number of clusters
    is the effective one. `cluster`, shape (E,), is the cluster of each score; each of `entries` has
    the parameters and the values of such scores, two arrays of shape (E,).
    """
    shape = (len(pull), len(bread))
    effective = effective_number(pull)
    if not is_felt(pull):
        return sum_outer(cluster, entries, shape=shape), effective
    scores = without_pull(sum_scores(cluster, entries, shape=shape), bread, inform)
    # make_spread multiplies variances by G / (G - 1); together that is the jackknife's (G - 1) / G.
    scores *= 1.0 - 1.0 / len(pull)
    return np.asarray(scores.T @ scores, dtype=np.float64), effective


def sum_outer(
    cluster: Ints, entries: Sequence[tuple[Ints, Floats]], *, shape: tuple[int, int]
) -> Floats:
    """Return the sum over clusters of the outer product of their summed scores."""
    rows, columns = shape
    # Sparse where most clusters have scores for few parameters.
    if 8 * len(cluster) * len(entries) < rows * columns:
        of = np.tile(cluster, len(entries))
        column = np.concatenate([c for c, _ in entries])
        value = np.concatenate([v for _, v in entries])
        scores = csr_array((value, (of, column)), shape=shape)
        return np.asarray((scores.T @ scores).toarray(), dtype=np.float64)
    dense = sum_scores(cluster, entries, shape=shape)
    return np.asarray(dense.T @ dense, dtype=np.float64)


def sum_scores(
    cluster: Ints, entries: Sequence[tuple[Ints, Floats]], *, shape: tuple[int, int]
) -> Floats:
    """Return the summed scores of each cluster, shape (clusters, parameters)."""
    rows, columns = shape
    start = cluster * columns
    dense = np.zeros(rows * columns)
    for column, value in entries:
        dense += np.bincount(start + column, value, rows * columns)
    return dense.reshape(shape)


def sum_pull(cluster: Ints, hat: Floats, clusters: int) -> Floats:
    """Return how much each cluster draws the fit to itself: its hat values, shape (clusters,)."""
    return np.bincount(cluster, hat, clusters).astype(np.float64)


def is_felt(pull: Floats) -> bool:
    """Return whether some cluster draws the fit to itself; `pull` as for `effective_number`."""
    return bool(pull.max(initial=0.0) > _FELT)


def without_pull(scores: Floats, bread: Floats, inform: Callable[[Floats], Floats]) -> Floats:
    """Return each cluster's score as a fit to the other clusters would leave it, as in CR3.

    It is the sum over n of (H_g P)^n s_g, with H_g the information of a cluster and P the inverse
    of that of all, cut off at n = 50, so that a cluster that alone knows a direction keeps a finite
    score.

    Args:
        scores: shape (G, k).
        bread: P, shape (k, k).
        inform: takes directions, shape (G, k), to each cluster's information times its own.

    Source: Bell and McCaffrey (2002), Survey Methodology 28.
    """
    whole = scores.copy()
    term = scores
    least = _SMALL * float(np.abs(scores).max(initial=0.0))
    for _ in range(_TERMS):
        term = inform(term @ bread)
        whole += term
        if np.abs(term).max(initial=0.0) <= least:
            break
    return whole


def effective_number(pull: Floats) -> float:
    """Return how many equal clusters would say as much, from 2 to G; below three clusters G.

    It is one more than Satterthwaite's degrees of freedom of a mean of independent battles, in
    clusters that each hold a share of the information: `pull`, shape (G,), is the trace of each
    cluster's information times the inverse of all of it.

    Source: Bell and McCaffrey (2002); Pustejovsky and Tipton (2018), J. Bus. Econ. Stat. 36.
    """
    clusters = len(pull)
    if clusters < 3 or not pull.sum() > 0.0:
        return float(clusters)
    share = pull / pull.sum()
    # A single cluster may hold nearly all of the information, and leave nothing to divide by.
    beside = share**2 / np.maximum(1.0 - share, 1.0 / clusters**2)
    spread = (share**2).sum() + beside.sum() ** 2 - (beside**2).sum()
    return float(np.clip(1.0 + 1.0 / spread, 2.0, clusters))


LEVEL = 0.95
# Clusters from which on a sandwich may lie below independent battles, and how rarely so low by
# chance; see `hold_up`.
_ENOUGH = 8
_UNLIKELY = 0.01


class StrengthSpread(NamedTuple):
    """How the strengths of one component scatter about the truth, against the zero of the scale.

    The three matrices are covariances in nats^2, each of shape (n, n); `hold_up` makes one variance
    of the first two.
    """

    robust: Floats
    """The sandwich, corrected for how much each cluster draws the fit to itself."""
    least: Floats
    """The covariance that independent battles would have: inverse information times dispersion."""
    prior: Floats
    """The inverse information; one-sided models have at least this."""
    clusters: int
    """G, the independent pieces of evidence."""
    effective: float
    """How many equal clusters would say as much: at most G, less where few hold most battles.
    Student's t has one degree less."""
    seen: Ints
    """Shape (n,), in how many of them each model was seen."""
    one_sided: NDArray[np.bool_]
    open: OpenSides
    """How far strengths are left open on either side, of models with few points or none."""
    zero: Floats
    """Shape (n,), how much each model counts in the mean that is zero; they sum to 1."""


def measure_spread(
    cells: Cells, theta: Floats, *, one_sided: NDArray[np.bool_] | None = None
) -> StrengthSpread:
    """Return how the strengths that `fit_strengths` gave one component scatter.

    Source: Huber (1967), 5th Berkeley Symposium 1; Liang and Zeger (1986), Biometrika 73.
    """
    if one_sided is None:
        one_sided = np.zeros(cells.models, dtype=np.bool_)
    with one_blas_thread():
        zero = information_weights(cells, theta)
        bread = against_zero(inv(pin_mean(information(cells, theta))), zero)
        if cells.parts is None:
            # Each battle is a cluster of its own here, so squares are summed by pair.
            squares = (cells.counts * _residuals(cells, theta) ** 2).sum(axis=1)
            meat = join(cells, squares)
            effective = float(cells.clusters)
        else:
            meat, effective = _cluster_meat(cells, theta, bread)
        robust = bread @ meat @ bread
        alone = _alone(cells, theta, bread=bread)
    return make_spread(
        robust,
        bread,
        alone=alone,
        dispersion=_dispersion(cells, theta),
        clusters=cells.clusters,
        effective=effective,
        seen=count_seen(cells),
        one_sided=one_sided,
        open=find_open(cells, one_sided),
        zero=zero,
    )


def select_spread(spread: StrengthSpread, members: Ints) -> StrengthSpread:
    """Return the spread of some of the models, against the mean of these; none are one-sided."""
    grid = np.ix_(members, members)
    none = np.zeros(len(members), dtype=np.bool_)
    zero = spread.zero[members] / spread.zero[members].sum()
    robust, least, prior = (against_zero(matrix[grid], zero) for matrix in spread[:3])
    return StrengthSpread(
        robust,
        least,
        prior,
        spread.clusters,
        spread.effective,
        spread.seen[members],
        none,
        OpenSides(spread.open.below[members], spread.open.above[members]),
        zero,
    )


def make_spread(
    sandwich: Floats,
    bread: Floats,
    *,
    alone: Floats | None = None,
    dispersion: float,
    clusters: int,
    effective: float,
    seen: Ints,
    one_sided: NDArray[np.bool_],
    open: OpenSides,
    zero: Floats,
) -> StrengthSpread:
    """Return the spread of a sandwich and the inverse information in it.

    `alone` is the covariance of independent battles where their weights differ, else `bread`.
    """
    more = clusters / (clusters - 1) if clusters > 1 else 1.0
    least = bread if alone is None else alone
    return StrengthSpread(
        sandwich * more, least * dispersion, bread, clusters, effective, seen, one_sided, open, zero
    )


def hold_up(robust: Floats, least: Floats, *, seen: Ints, clusters: int) -> Floats:
    """Return variances: the sandwich's, but not below independent battles' where it is untrusted.

    Sums over clusters are zero where all battles tie or a model was seen in one cluster, and zero
    is not certainty. So a sandwich is not let below the variance of independent battles where it
    stands on fewer than eight clusters or on less than half of them, nor where it lies so far below
    as it would by chance once in a hundred times. Where it may, intervals hold what they say; held
    up always, they would hold 98 % with eight videos. `robust` is of the sandwich, `least` of
    independent battles, and `seen` on how many clusters each stands.
    """
    freedom = np.maximum(seen - 1, 1)
    unlikely = robust < least * chdtri(freedom, 1.0 - _UNLIKELY) / freedom
    trusted = (seen >= _ENOUGH) & (2 * seen >= clusters) & ~unlikely
    return np.where(trusted, robust, np.maximum(robust, least))


def place_errors(spread: StrengthSpread) -> Floats:
    """Return the standard error of each strength against the zero of its component, in nats.

    Infinite with fewer than two clusters, which say nothing of another one.
    """
    if spread.clusters < 2:
        return np.full(len(spread.one_sided), np.inf)
    variance = hold_up(
        np.diag(spread.robust), np.diag(spread.least), seen=spread.seen, clusters=spread.clusters
    )
    # A model that always lost hardly scatters, which says nothing of how far below it may be.
    wider = np.maximum(variance, np.diag(spread.prior))
    return np.sqrt(np.where(spread.one_sided, wider, variance))


def gap_errors(spread: StrengthSpread) -> Floats:
    """Return the standard error of each difference of two strengths, shape (n, n), in nats."""
    n = len(spread.one_sided)
    if spread.clusters < 2:
        return np.full((n, n), np.inf)
    variance = hold_up(
        gap_variances(spread.robust),
        gap_variances(spread.least),
        seen=np.minimum(spread.seen[:, None], spread.seen[None, :]),
        clusters=spread.clusters,
    )
    wider = np.maximum(variance, gap_variances(spread.prior))
    either = spread.one_sided[:, None] | spread.one_sided[None, :]
    # Rounding may put the variance of a difference just below zero.
    return np.sqrt(np.maximum(np.where(either, wider, variance), 0.0))


def chance_better(theta: Floats, spread: StrengthSpread) -> Floats:
    """Return how likely each model i is stronger than each j, shape (n, n).

    It follows from their difference and its error by Student's t: 0.975 where the 95 % interval of
    the difference ends at zero. 0.5 on the diagonal, and everywhere with fewer than two clusters.
    """
    gap = theta[:, None] - theta[None, :]
    errors = gap_errors(spread)
    ratio = np.divide(gap, errors, out=np.zeros_like(gap), where=errors > 0)
    return np.asarray(stdtr(max(spread.effective - 1.0, 1.0), ratio), dtype=np.float64)


def place_reaches(spread: StrengthSpread, *, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return how far the interval of each strength reaches down and up, in nats."""
    half = half_widths(place_errors(spread), spread.effective, level=level)
    return open_reaches(half, spread, level=level)


def open_reaches(
    half: Floats, spread: StrengthSpread, *, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return how far intervals of half width `half` reach down and up, further on open sides.

    For a model without a point the penalised log-likelihood falls on the open side by half a nat
    for each nat of strength. To fall as far as at z errors takes z^2 + 1 nats, where the error says
    z sqrt(2): the interval reaches further there by that ratio, and by a part of it where few
    points bound the strength. All in nats, shape (n,).

    Source: Heinze and Schemper (2002), Stat. Med. 21, for profiles of the penalised likelihood.
    """
    z = float(ndtri(0.5 + level / 2.0))
    more = max((z * z + 1.0) / (z * np.sqrt(2.0)), 1.0) - 1.0
    return half * (1.0 + more * spread.open.below), half * (1.0 + more * spread.open.above)


def half_widths(errors: Floats, clusters: float, *, level: float = LEVEL) -> Floats:
    """Return half the width of each interval: Student's t with `clusters` - 1 degrees.

    Clusters are counted as `StrengthSpread.effective` counts them; infinite with fewer than two.

    Raises:
        ValueError: `level` is not between 0 and 1.
    """
    check_level(level)
    if clusters < 2:
        return np.full_like(errors, np.inf)
    return np.asarray(errors * stdtrit(clusters - 1, 0.5 + level / 2.0), dtype=np.float64)


def check_level(level: float) -> None:
    """Raise ValueError where `level` is not between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not between 0 and 1")


def against_zero(matrix: Floats, zero: Floats) -> Floats:
    """Return the covariance of strengths against the zero of the scale."""
    rows = matrix - (zero @ matrix)[None, :]
    return np.asarray(rows - (rows @ zero)[:, None], dtype=np.float64)


def _alone(cells: Cells, theta: Floats, *, bread: Floats) -> Floats | None:
    """Return the covariance of independent battles of unequal weight; None where each weighs 1."""
    if cells.squares is None:
        return None
    counts = np.zeros_like(cells.counts)
    # The information counts battles and not how they ended, so any column will do.
    counts[:, 0] = cells.squares
    squared = information(Cells(cells.models, cells.i, cells.j, counts), theta)
    return np.asarray(bread @ squared @ bread, dtype=np.float64)


def gap_variances(covariance: Floats) -> Floats:
    """Return the variance of each difference of two strengths, from their covariance."""
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own[None, :] - 2.0 * covariance, dtype=np.float64)


def _residuals(cells: Cells, theta: Floats) -> Floats:
    """Return how far a loss, a tie and a win of `i` exceed its expected points, shape (P, 3)."""
    chance = expit(theta[cells.i] - theta[cells.j])
    return np.asarray(POINTS - chance[:, None], dtype=np.float64)


def count_seen(cells: Cells) -> Ints:
    """Return in how many clusters each model was seen, or how many battles it fought."""
    n = cells.models
    parts = cells.parts
    if parts is None:
        fought = sum_seats(cells, cells.battles, cells.battles)
        return np.asarray(np.rint(fought), dtype=np.int64)
    seats = np.concatenate([cells.i[parts.cell], cells.j[parts.cell]])
    there = np.tile(parts.cluster, 2) * n + seats
    # A table of clusters by models would be mostly empty.
    if cells.clusters * n > 8 * len(there):
        return np.asarray(np.bincount(np.unique(there) % n, minlength=n), dtype=np.int64)
    seen = np.zeros(cells.clusters * n, dtype=np.bool_)
    seen[there] = True
    return np.asarray(seen.reshape(-1, n).sum(axis=0), dtype=np.int64)


def _cluster_meat(cells: Cells, theta: Floats, bread: Floats) -> tuple[Floats, float]:
    """Return the sum of outer products of the clusters' scores, and the effective clusters."""
    parts = cells.parts
    assert parts is not None
    i = cells.i[parts.cell]
    j = cells.j[parts.cell]
    shape = (cells.clusters, cells.models)
    chance = expit(theta[cells.i] - theta[cells.j])
    # By column, since summing along rows of three takes six times as long.
    lost, tied, won = parts.counts.T
    battles = lost + tied + won
    surplus = won + 0.5 * tied - battles * chance[parts.cell]
    weight = battles * (chance * (1.0 - chance))[parts.cell]
    across = gap_variances(bread)[cells.i, cells.j]
    pull = sum_pull(parts.cluster, weight * across[parts.cell], cells.clusters)

    def inform(along: Floats) -> Floats:
        flat = along.ravel()
        start = parts.cluster * cells.models
        moved = weight * (flat[start + i] - flat[start + j])
        return sum_scores(parts.cluster, [(i, moved), (j, -moved)], shape=shape)

    entries = [(i, surplus), (j, -surplus)]
    return cluster_meat(parts.cluster, entries, inform, pull=pull, bread=bread)


def _dispersion(cells: Cells, theta: Floats) -> float:
    """Return squared residuals over their expectation, with an even battle added to both."""
    chance = expit(theta[cells.i] - theta[cells.j])
    expected = float((cells.battles * chance * (1.0 - chance)).sum())
    found = float((cells.counts * _residuals(cells, theta) ** 2).sum())
    # An even battle, whose squared residual is 1/4, keeps it above zero where all went as expected.
    return (found + 0.25) / (expected + 0.25)
