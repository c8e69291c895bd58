"""Battles with covariates: they cannot be counted into cells of pairs, so rows stand instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from videoautoarena.scoring.fitting import counts as counting
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, Parts, count_outcomes, number


@dataclass(frozen=True, eq=False)
class Rows:
    """Battles in rows of equal ones, seats kept apart."""

    models: int
    i: Ints
    """Shape (R,), the model in seat a."""
    j: Ints
    counts: Floats
    """Shape (R, 3): losses, ties and wins of `i`."""
    x: Floats
    """Shape (R, K), covariates."""
    cluster: Ints | None
    """Shape (R,), from 0 without gaps; None where battles are independent."""
    squares: Floats | None = None
    """Shape (R,), the sum of the squared weights of a row's battles; None where each weighs 1."""

    @property
    def clusters(self) -> int:
        """Number of independent pieces: clusters, or battles where none were given."""
        return counting.count_pieces(self.counts, self.cluster)


def count_rows(
    a: ArrayLike,
    b: ArrayLike,
    *,
    outcome: ArrayLike,
    models: int,
    x: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    seat: bool = False,
    weight: ArrayLike | None = None,
) -> Rows:
    """Return battles as rows; the arguments are those of `count_cells` and two more.

    `x`, shape (B, K), holds covariates of a less those of b. `seat` puts a covariate of 1 before
    them, so that gamma[0] is what seat a is worth.

    Raises:
        ValueError: as `count_cells`, and where a covariate is not finite.
    """
    read = counting.read_battles(a, b, outcome=outcome, models=models, cluster=cluster)
    worth = counting.read_weights(weight, read)
    rows = len(read.a)
    group = None if read.cluster is None else number(read.cluster)[1]
    given = np.empty((rows, 0)) if x is None else np.asarray(x, dtype=np.float64)
    if given.ndim != 2 or len(given) != rows or not np.isfinite(given).all():
        raise ValueError("x must hold a row of finite covariates for every battle")
    if given.shape[1] == 0:
        pairs = max(models, 1) ** 2
        key = read.a * models + read.b
        key = key if group is None else group * pairs + key
        distinct, place = number(key)
        pair = distinct % pairs
        counts = count_outcomes(place, read.halves, rows=len(distinct), weight=worth)
        group = None if group is None else distinct // pairs
        first = pair // max(models, 1)
        second = pair % max(models, 1)
        given = np.empty((len(distinct), 0))
    else:
        place = np.arange(rows)
        counts = count_outcomes(place, read.halves, rows=rows, weight=worth)
        first = read.a
        second = read.b
    if seat:
        given = np.column_stack([np.ones(len(first)), given])
    squares = None if worth is None else counting.sum_squares(place, worth, rows=len(counts))
    return Rows(models, first, second, counts, given, group, squares)


def to_cells(rows: Rows) -> Cells:
    """Return the battles as cells, without their covariates."""
    low = np.minimum(rows.i, rows.j)
    high = np.maximum(rows.i, rows.j)
    counts = np.where((rows.i == low)[:, None], rows.counts, rows.counts[:, ::-1])
    pair, cell = number(low * rows.models + high)
    cells = Cells(rows.models, pair // rows.models, pair % rows.models, _sum(cell, counts))
    if rows.cluster is None:
        return cells
    part, place = number(rows.cluster * max(len(pair), 1) + cell)
    parts = Parts(part // max(len(pair), 1), part % max(len(pair), 1), _sum(place, counts))
    return Cells(cells.models, cells.i, cells.j, cells.counts, parts)


def select_rows(rows: Rows, members: Ints) -> Rows:
    """Return the battles among `members` alone, with index k standing for `members[k]`."""
    place = counting.place_among(members, rows.models)
    keep = (place[rows.i] >= 0) & (place[rows.j] >= 0)
    return Rows(
        len(members),
        place[rows.i[keep]],
        place[rows.j[keep]],
        rows.counts[keep],
        rows.x[keep],
        None if rows.cluster is None else number(rows.cluster[keep])[1],
        None if rows.squares is None else rows.squares[keep],
    )


def _sum(place: Ints, counts: Floats) -> Floats:
    size = int(place.max(initial=-1)) + 1
    columns = [np.bincount(place, counts[:, k], size) for k in range(3)]
    return np.stack(columns, axis=1).astype(np.float64)
