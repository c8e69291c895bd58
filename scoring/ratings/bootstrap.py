"""What the strengths might have been: fits of redrawn battles, or of redrawn videos, all at once.

Drawing battles with replacement is drawing the counts of the cells from a multinomial; drawing
videos is drawing how often each counts. The fits of all draws then take their Newton steps together
from the fit of the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, ndtr, stdtrit

from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.counts import (
    BattleRows,
    Cells,
    Floats,
    select_models,
    select_rows,
    to_cells,
)
from videoautoarena.scoring.fitting.newton import Likelihood, one_blas_thread
from videoautoarena.scoring.fitting.separation import find_components
from videoautoarena.scoring.intervals.sandwich import StrengthSpread
from videoautoarena.scoring.ratings.covariates import CovariateFit, fit_terms

ROUNDS = 1000
_AT_REST, _PULLED, _FAINT = 1e-4, 1e-8, 0.01
"""Nats. A draw rests once a step is this short: Newton squares the distance, so 1e-8 is left.
Changing hat values leave more, a share of the step as large as theirs of a pair's battles; where
that share is faint, they are left out of what a step divides by."""
_STEPS = 30
_LONGEST = 1.0
_NEAR = 0.03
"""Nats. After a step no longer than this the inverse is improved, by Newton and Schulz, not
redone."""
# Numbers up to which a table of sides is kept dense.
_DENSE = 20_000
# Numbers in one array of a chunk of draws: 16 MB.
_CHUNK_NUMBERS = 2_000_000


def bootstrap(
    cells: Cells,
    theta: Floats,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    likelihood: Likelihood = "mle",
) -> Floats:
    """Return the strengths of `rounds` redrawn tournaments, each centred on zero.

    Clusters are drawn where the cells have them, battles where not. A draw without a finite plain
    maximum is fitted bias-reduced. `theta` are the strengths of the component; the same seed gives
    the same draws. Shape (rounds, models).
    """
    rng = np.random.default_rng(seed)
    # Each draw takes a matrix of models by models and a table of counts; chunks bound the memory.
    chunk = max(1, min(rounds, _CHUNK_NUMBERS // max(cells.models**2, cells.counts.size)))
    made = np.empty((rounds, cells.models))
    with one_blas_thread():
        for start in range(0, rounds, chunk):
            end = min(start + chunk, rounds)
            drawn = draw_counts(cells, rng, rounds=end - start)
            made[start:end] = fit_counts(cells, drawn, start=theta, likelihood=likelihood)
    return made


def draw_counts(cells: Cells, rng: np.random.Generator, *, rounds: int) -> Floats:
    """Return the counts of redrawn tournaments, shape (rounds, P, 3)."""
    counts = cells.counts.ravel()
    parts = cells.parts
    if parts is None:
        there = np.flatnonzero(counts)
        battles = cells.clusters
        drawn = np.zeros((rounds, counts.size))
        # Poisson counts would be drawn faster, but each draw must have as many battles as there
        # were.
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
    # Whole clusters are drawn, as the videos are what is taken from a population.
    share = np.full(clusters, 1.0 / clusters)
    return rng.multinomial(clusters, share, size=rounds).astype(np.float64)


def fit_counts(
    cells: Cells, counts: Floats, *, start: Floats, likelihood: Likelihood = "mle"
) -> Floats:
    """Return the strengths of each of many tables of counts, centred on zero, shape (B, models).

    The counts, shape (B, P, 3), are as `draw_counts` draws them, and `start` is where Newton's
    method begins. Tables without a finite maximum are bias-reduced.
    """
    lost, tied, won = (counts[:, :, k] for k in range(3))
    battles = lost + tied + won
    points = won + 0.5 * tied
    whole = _connected(cells, battles)
    reduced = np.full(len(counts), likelihood == "firth")
    if likelihood == "mle":
        reduced = ~_strongly_connected(cells, battles, points)
    theta = np.repeat(start[None], len(counts), axis=0)
    settled = ~whole
    for penalised in (False, True):
        mine = np.flatnonzero(whole & (reduced == penalised))
        if len(mine):
            theta[mine], settled[mine] = _climb_all(
                cells, start, battles=battles[mine].T, points=points[mine].T, penalised=penalised
            )
    for k in np.flatnonzero(~settled | ~whole):
        drawn = Cells(cells.models, cells.i, cells.j, counts[k])
        theta[k] = _fit_alone(drawn, start, "firth" if reduced[k] else "mle")
    return np.asarray(theta - theta.mean(axis=1, keepdims=True), dtype=np.float64)


def _fit_alone(drawn: Cells, start: Floats, likelihood: Likelihood) -> Floats:
    """Return the fit of one draw; groups that it does not join stay as far apart as they were."""
    there = drawn.battles > 0
    met = Cells(drawn.models, drawn.i[there], drawn.j[there], drawn.counts[there])
    theta = start.copy()
    for members in find_components(met):
        found = fit_strengths(select_models(met, members), likelihood=likelihood)
        theta[members] = found + start[members].mean()
    return theta


def _climb_all(
    cells: Cells, start: Floats, *, battles: Floats, points: Floats, penalised: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    """Take the steps of all fits at once; return strengths, shape (B, n), and which came to rest.

    The first step is one of the plain likelihood, which leads most of the way. Draws are columns,
    since gathering rows of pairs is fast: `battles` and `points` have the shape (P, B).
    """
    b = battles.shape[1]
    n = cells.models
    sides = _sides(cells)
    twice = 2.0 * np.eye(n)
    around: Floats = np.empty((0, n, n))
    far = np.inf
    has = np.ascontiguousarray(battles)
    won = np.ascontiguousarray(points)
    at = np.repeat(start[:, None], b, axis=1)
    moving = np.arange(b)
    theta = np.empty((b, n))
    settled = np.zeros(b, dtype=np.bool_)
    for turn in range(_STEPS):
        chance = expit(at[cells.i] - at[cells.j])
        even = chance * (1.0 - chance)
        missing = won - has * chance
        weight = has * even
        matrix = _laplacians(cells, sides, weight)
        pull = 0.0
        if penalised and turn:
            if far > _NEAR:
                around = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
            else:
                around = around @ (twice - matrix @ around)
            hat = weight * _across(cells, around)
            missing += hat * (0.5 - chance)
            # A draw may lack a pair altogether.
            pull = (hat / np.maximum(has, 1.0)).max(axis=0)
            if pull.max() > _FAINT:
                step = _solve(_laplacians(cells, sides, weight + hat * even), sides @ missing)
            else:
                step = (around @ (sides @ missing).T[..., None])[..., 0].T
        else:
            step = _solve(matrix, sides @ missing)
        largest = np.abs(step).max(axis=0)
        # The first step leaves no inverse that the next one could improve.
        far = float(largest.max()) if turn else np.inf
        # Far from the top a whole step may lead too far; one of no length must not be divided by.
        at += step * np.minimum(1.0, _LONGEST / np.maximum(largest, 1e-300))
        rest = (largest <= _AT_REST) & (pull * largest <= _PULLED) & (not penalised or turn > 0)
        if rest.any() or turn == _STEPS - 1:
            theta[moving], settled[moving[rest]] = at.T, True
            # Draws at rest leave, so that later steps cost less.
            moving = moving[~rest]
            at = at[:, ~rest]
            has = has[:, ~rest]
            won = won[:, ~rest]
            around = around[~rest] if len(around) else around
        if len(moving) == 0:
            break
    return theta, settled


def _sides(cells: Cells) -> Any:
    """Return 1 where a model is first of a pair, -1 where second, shape (n, P); sparse if large."""
    pairs = np.arange(len(cells.i))
    if cells.models * len(pairs) <= _DENSE:
        dense = np.zeros((cells.models, len(pairs)))
        dense[cells.i, pairs], dense[cells.j, pairs] = 1.0, -1.0
        return dense
    signs = np.repeat([1.0, -1.0], len(pairs))
    place = (np.concatenate([cells.i, cells.j]), np.tile(pairs, 2))
    return csr_array((signs, place), shape=(cells.models, len(pairs)))


def _laplacians(cells: Cells, sides: Any, weight: Floats) -> Floats:
    """Return the information of each fit, shape (B, n, n), pinned as by `pin_mean`."""
    n = cells.models
    b = weight.shape[1]
    matrix = np.zeros((n * n, b))
    matrix[cells.i * n + cells.j] = matrix[cells.j * n + cells.i] = -weight
    own = abs(sides) @ weight
    matrix[:: n + 1] = own
    matrix += own.sum(axis=0) / n**2
    return np.ascontiguousarray(matrix.T).reshape(b, n, n)


def _across(cells: Cells, around: Floats) -> Floats:
    """Return the variance of each pair's gap, shape (P, B)."""
    n = cells.models
    flat = np.ascontiguousarray(around.reshape(len(around), -1).T)
    own = flat[:: n + 1]
    return np.asarray(own[cells.i] + own[cells.j] - 2.0 * flat[cells.i * n + cells.j])


def _solve(matrix: Floats, gradient: Floats) -> Floats:
    """Return the steps, shape (n, B)."""
    return np.asarray(np.linalg.solve(matrix, gradient.T[..., None])[..., 0].T, dtype=np.float64)


def _connected(cells: Cells, battles: Floats) -> NDArray[np.bool_]:
    """Return which draws join all models, shape (B,)."""
    if (battles > 0).all():
        return np.ones(len(battles), dtype=np.bool_)
    # Products of zeros and ones need no more than 32 bits.
    met = np.zeros((len(battles), cells.models, cells.models), dtype=np.float32)
    met[:, cells.i, cells.j] = met[:, cells.j, cells.i] = battles > 0
    return _reaches_all(met)


def _strongly_connected(cells: Cells, battles: Floats, points: Floats) -> NDArray[np.bool_]:
    """Return which draws have a finite fit from their battles alone, shape (B,)."""
    took = np.zeros((len(battles), cells.models, cells.models), dtype=np.float32)
    took[:, cells.i, cells.j] = points > 0
    took[:, cells.j, cells.i] = points < battles
    return _reaches_all(took) & _reaches_all(took.transpose(0, 2, 1))


def _reaches_all(edges: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which graphs lead from their first node to every other, shape (B,)."""
    reached = np.zeros(edges.shape[:2], dtype=np.float32)
    reached[:, 0] = 1.0
    while True:
        wider = ((reached[:, None, :] @ edges)[:, 0] + reached > 0).astype(np.float32)
        if (wider == reached).all() or wider.all():
            return np.asarray(wider.all(axis=1), dtype=np.bool_)
        reached = wider


def bootstrap_terms(
    rows: BattleRows,
    terms: CovariateFit,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    likelihood: Likelihood = "mle",
) -> Floats:
    """Return what `bootstrap` does, for battles with terms, one fit after another.

    A model that a draw joins to no other stays where it was.
    """
    rng = np.random.default_rng(seed)
    made = np.empty((rounds, rows.models))
    for k in range(rounds):
        made[k] = _fit_drawn(replace(rows, counts=_draw_rows(rows, rng)), terms, likelihood)
    return made


def _fit_drawn(drawn: BattleRows, terms: CovariateFit, likelihood: Likelihood) -> Floats:
    theta = terms.theta.copy()
    there = drawn.counts.sum(axis=1) > 0
    met = replace(
        drawn,
        i=drawn.i[there],
        j=drawn.j[there],
        counts=drawn.counts[there],
        x=drawn.x[there],
        cluster=None if drawn.cluster is None else drawn.cluster[there],
        squares=None if drawn.squares is None else drawn.squares[there],
    )
    for members in find_components(to_cells(met)):
        part = met if len(members) == met.models else select_rows(met, members)
        start = terms if part is met else terms._replace(theta=terms.theta[members])
        davidson = terms.log_nu is not None
        try:
            found = fit_terms(part, davidson=davidson, likelihood=likelihood, start=start)
        except ArithmeticError:
            # A redrawn field may have no finite plain maximum; bias-reduced it always has one.
            found = fit_terms(part, davidson=davidson, likelihood="firth", start=start)
        theta[members] = found.theta + terms.theta[members].mean()
    return np.asarray(theta - theta.mean(), dtype=np.float64)


def expanded_percentiles(
    drawn: Floats, spread: StrengthSpread, *, level: float
) -> tuple[Floats, Floats]:
    """Return percentiles of draws, a little further out: few clusters scatter too little.

    Source: Hesterberg (2015), The American Statistician 69, expanded percentiles.
    """
    more = np.sqrt(spread.clusters / (spread.clusters - 1))
    tail = ndtr(-more * stdtrit(max(spread.effective - 1.0, 1.0), 0.5 + level / 2.0))
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    return low, high


def _draw_rows(rows: BattleRows, rng: np.random.Generator) -> Floats:
    if rows.cluster is not None:
        times = draw_clusters(rows.clusters, rng, rounds=1)[0]
        return np.asarray(rows.counts * times[rows.cluster][:, None], dtype=np.float64)
    flat = rows.counts.ravel()
    drawn = rng.multinomial(rows.clusters, flat / flat.sum())
    return drawn.reshape(rows.counts.shape).astype(np.float64)
