"""Battles counted: rows of (a, b, outcome[, cluster]) become cells of equal battles.

Owns the checks of input. Nothing after this module looks at single battles again, so a fit costs
the same for a thousand battles as for a million.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

POINTS: Floats = np.array([0.0, 0.5, 1.0])
"""What the model `i` of a cell gets for a loss, a tie and a win."""


class BattleArrays(NamedTuple):
    """Battles one by one, each array of shape (B,)."""

    a: Ints
    b: Ints
    halves: Ints
    """Half points of `a`: 0, 1 or 2."""
    cluster: Ints | None


@dataclass(frozen=True, eq=False)
class ClusterParts:
    """The same battles cut further, by cluster."""

    cluster: Ints
    """Shape (Q,), from 0 without gaps."""
    cell: Ints
    """Shape (Q,), the row of `Cells` that a part belongs to."""
    counts: Floats
    """Shape (Q, 3), as in `Cells`."""


@dataclass(frozen=True, eq=False)
class Cells:
    """How often each pair that met ended how."""

    models: int
    i: Ints
    """Shape (P,), the lower index of the pair."""
    j: Ints
    """Shape (P,), the higher index of the pair."""
    counts: Floats
    """Shape (P, 3): losses, ties and wins of `i`."""
    parts: ClusterParts | None = None
    """None where battles count as independent of each other."""
    squares: Floats | None = None
    """Shape (P,), the sum of the squared weights of a pair's battles; None where each weighs 1."""

    @property
    def battles(self) -> Floats:
        """Battles of each pair, shape (P,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    @property
    def points(self) -> Floats:
        """Points of `i` in each pair, shape (P,); a tie is half a point."""
        return np.asarray(self.counts @ POINTS, dtype=np.float64)

    @property
    def clusters(self) -> int:
        """Number of independent pieces: clusters, or battles where none were given."""
        return count_pieces(self.counts, None if self.parts is None else self.parts.cluster)


def count_pieces(counts: Floats, cluster: Ints | None) -> int:
    """Return how many independent pieces there are: clusters, or battles where there are none."""
    return round(float(counts.sum())) if cluster is None else int(cluster.max(initial=-1)) + 1


def count_cells(
    a: ArrayLike,
    b: ArrayLike,
    *,
    outcome: ArrayLike,
    models: int,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Cells:
    """Return the battles as cells, one for each pair that met.

    Args:
        a: shape (B,), model indices in [0, models).
        b: the same of the other seat.
        outcome: points of `a`: 1 a win, 0.5 a tie, 0 a loss.
        models: how many models there are, also those without a battle.
        cluster: whole numbers; battles that share one (a video) are not independent.
        weight: shape (B,), above zero: how much each battle counts, 1 on average. Needs clusters,
            since their sums alone say how sure weighted battles are; each battle its own will do.

    Raises:
        ValueError: not finite, not whole, out of range, unequal lengths, or a self-battle.
    """
    read = read_battles(a, b, outcome=outcome, models=models, cluster=cluster)
    worth = read_weights(weight, read)
    low = np.minimum(read.a, read.b)
    high = np.maximum(read.a, read.b)
    halves = np.where(read.a == low, read.halves, 2 - read.halves)
    pair, cell = number(low * models + high)
    counts = count_outcomes(cell, halves, rows=len(pair), weight=worth)
    parts = None
    if read.cluster is not None:
        _, group = number(read.cluster)
        width = max(len(pair), 1)
        part, row = number(group * width + cell)
        of_part = count_outcomes(row, halves, rows=len(part), weight=worth)
        parts = ClusterParts(part // width, part % width, of_part)
    squares = None if worth is None else sum_squares(cell, worth, rows=len(pair))
    return Cells(models, pair // models, pair % models, counts, parts, squares)


def read_battles(
    a: ArrayLike, b: ArrayLike, *, outcome: ArrayLike, models: int, cluster: ArrayLike | None
) -> BattleArrays:
    """Return what `count_cells` was given, checked.

    Raises:
        ValueError: not finite, not whole, out of range, unequal lengths, or a self-battle.
    """
    first = _read_models(a, "a", models)
    second = _read_models(b, "b", models)
    points = np.asarray(outcome, dtype=np.float64)
    right = (points == 0.0) | (points == 0.5) | (points == 1.0)
    if points.ndim != 1 or not right.all():
        raise ValueError("outcome must be a row of 0, 0.5 and 1")
    # In whole half points counts are exact, and cells of equal battles are found by equality.
    halves = (2 * points).astype(np.int64)
    group = np.zeros_like(first) if cluster is None else _read_whole(cluster, "cluster")
    if not len(first) == len(second) == len(halves) == len(group):
        raise ValueError("a, b, outcome and cluster must be equally long")
    if (first == second).any():
        raise ValueError(f"row {int(np.argmax(first == second))} is a model against itself")
    return BattleArrays(first, second, halves, None if cluster is None else group)


def read_weights(weight: ArrayLike | None, battles: BattleArrays) -> Floats | None:
    """Return the weights of battles, checked.

    Raises:
        ValueError: not finite, not above zero, not one for each battle, or without clusters.
    """
    if weight is None:
        return None
    worth = np.asarray(weight, dtype=np.float64)
    if worth.shape != battles.a.shape or not (np.isfinite(worth) & (worth > 0)).all():
        raise ValueError("weight must hold a finite number above zero for every battle")
    if battles.cluster is None:
        raise ValueError("weighted battles need clusters; give each battle its own")
    return worth


def number(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys, ascending, and the place of each key among them.

    As numpy's unique does, but without sorting where the keys lie close together.
    """
    least, most = (int(keys.min()), int(keys.max())) if len(keys) else (0, -1)
    # A table over the whole range is only faster than sorting while the range is not much larger.
    if most - least > 8 * len(keys) + 1_000_000:
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, place
    seen = np.zeros(most - least + 1, dtype=np.bool_)
    seen[keys - least] = True
    order = np.cumsum(seen) - 1
    return np.flatnonzero(seen) + least, order[keys - least]


def count_outcomes(row: Ints, halves: Ints, *, rows: int, weight: Floats | None = None) -> Floats:
    """Return how often each row has outcomes 0, 1 and 2 half points, shape (rows, 3)."""
    counted = np.bincount(row * 3 + halves, weight, 3 * rows)
    return counted.reshape(-1, 3).astype(np.float64)


def sum_squares(row: Ints, weight: Floats, *, rows: int) -> Floats:
    """Return the sum of the squared weights of each row, shape (rows,)."""
    return np.bincount(row, weight**2, rows).astype(np.float64)


def select_models(cells: Cells, members: Ints) -> Cells:
    """Return the battles among `members`, ascending; index k then stands for `members[k]`."""
    place = place_among(members, cells.models)
    keep = (place[cells.i] >= 0) & (place[cells.j] >= 0)
    parts = cells.parts
    if parts is not None:
        row = np.cumsum(keep) - 1
        mine = keep[parts.cell]
        # Numbered anew: clusters are counted by their highest number, so a gap would count as one.
        _, cluster = number(parts.cluster[mine])
        parts = ClusterParts(cluster, row[parts.cell[mine]], parts.counts[mine])
    return Cells(
        len(members),
        place[cells.i[keep]],
        place[cells.j[keep]],
        cells.counts[keep],
        parts,
        None if cells.squares is None else cells.squares[keep],
    )


def place_among(members: Ints, models: int) -> Ints:
    """Return the place of each model among `members`, shape (models,); -1 where it is not there."""
    place = np.full(models, -1, dtype=np.int64)
    place[members] = np.arange(len(members))
    return place


def _read_models(values: ArrayLike, name: str, models: int) -> Ints:
    indices = _read_whole(values, name)
    wrong = (indices < 0) | (indices >= models)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name}[{row}] is {indices[row]}; there are {models} models, from 0")
    return indices


def _read_whole(values: ArrayLike, name: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be a row of whole numbers")
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.floor(array))).all():
        raise ValueError(f"{name} must hold whole numbers; one is missing or broken")
    return array.astype(np.int64)


class ModelTally(NamedTuple):
    """Counts of each model, each of shape (models,)."""

    battles: Ints
    wins: Ints
    losses: Ints
    ties: Ints
    win_rate: Floats
    """In [0, 1]; NaN for a model without a battle."""


def tally(cells: Cells) -> ModelTally:
    """Return the counts of each model, and its win rate.

    The win rate is the mean over the opponents it met of wins / battles; a tie is in the
    denominator and wins nothing. Every opponent weighs the same, however often they met.

    Source: VideoAutoArena, the win percentage of its main table.
    """
    lost, tied, won = cells.counts.T
    wins = sum_seats(cells, won, lost)
    losses = sum_seats(cells, lost, won)
    ties = sum_seats(cells, tied, tied)
    shares = sum_seats(cells, won / cells.battles, lost / cells.battles)
    opponents = sum_seats(cells, np.ones(len(won)), np.ones(len(won)))
    rate = np.full(cells.models, np.nan)
    np.divide(shares, opponents, out=rate, where=opponents > 0)
    sums = np.rint([wins + losses + ties, wins, losses, ties]).astype(np.int64)
    return ModelTally(sums[0], sums[1], sums[2], sums[3], win_rate=rate)


def sum_seats(cells: Cells, of_i: Floats, of_j: Floats) -> Floats:
    """Return the sum over the pairs of each model of what it has in its seat, shape (models,)."""
    n = cells.models
    return np.asarray(np.bincount(cells.i, of_i, n) + np.bincount(cells.j, of_j, n), np.float64)


@dataclass(frozen=True, eq=False)
class BattleRows:
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
        return count_pieces(self.counts, self.cluster)


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
) -> BattleRows:
    """Return battles as rows; the arguments are those of `count_cells` and two more.

    `x`, shape (B, K), holds covariates of a less those of b. `seat` puts a covariate of 1 before
    them, so that gamma[0] is what seat a is worth.

    Raises:
        ValueError: as `count_cells`, and where a covariate is not finite.
    """
    read = read_battles(a, b, outcome=outcome, models=models, cluster=cluster)
    worth = read_weights(weight, read)
    rows = len(read.a)
    group = None if read.cluster is None else number(read.cluster)[1]
    given = np.empty((rows, 0)) if x is None else np.asarray(x, dtype=np.float64)
    if given.ndim != 2 or len(given) != rows or not np.isfinite(given).all():
        raise ValueError("x must hold a row of finite covariates for every battle")
    # Without covariates equal battles are one row; with them no two battles are surely alike.
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
    squares = None if worth is None else sum_squares(place, worth, rows=len(counts))
    return BattleRows(models, first, second, counts, given, group, squares)


def to_cells(rows: BattleRows) -> Cells:
    """Return the battles as cells, without their covariates."""
    low = np.minimum(rows.i, rows.j)
    high = np.maximum(rows.i, rows.j)
    counts = np.where((rows.i == low)[:, None], rows.counts, rows.counts[:, ::-1])
    pair, cell = number(low * rows.models + high)
    cells = Cells(rows.models, pair // rows.models, pair % rows.models, _sum(cell, counts))
    if rows.cluster is None:
        return cells
    part, place = number(rows.cluster * max(len(pair), 1) + cell)
    parts = ClusterParts(part // max(len(pair), 1), part % max(len(pair), 1), _sum(place, counts))
    return Cells(cells.models, cells.i, cells.j, cells.counts, parts)


def select_rows(rows: BattleRows, members: Ints) -> BattleRows:
    """Return the battles among `members` alone, with index k standing for `members[k]`."""
    place = place_among(members, rows.models)
    keep = (place[rows.i] >= 0) & (place[rows.j] >= 0)
    return BattleRows(
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
