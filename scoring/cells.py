"""Battles counted: rows of (a, b, outcome[, cluster]) become cells of equal battles.

Owns the check of what comes in. Nothing behind this module looks at a single battle again, so
that a fit costs the same for a thousand battles as for a million.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

POINTS: Floats = np.array([0.0, 0.5, 1.0])
"""What the model `i` of a cell gets for a loss, a tie and a win."""


@dataclass(frozen=True, eq=False)
class Parts:
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
    parts: Parts | None = None
    """None where battles count as independent of each other."""

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
        if self.parts is None:
            return round(float(self.counts.sum()))
        return int(self.parts.cluster.max(initial=-1)) + 1


def count_cells(
    a: ArrayLike, b: ArrayLike, *, outcome: ArrayLike, models: int, cluster: ArrayLike | None = None
) -> Cells:
    """Return the battles as cells, one for each pair that met.

    Args:
        a: shape (B,), model indices in [0, models).
        b: the same of the other seat.
        outcome: points of `a`: 1 a win, 0.5 a tie, 0 a loss.
        models: how many models there are, also those without a battle.
        cluster: whole numbers; battles that share one (a video) are not independent.

    Raises:
        ValueError: not finite, not whole, out of range, unequal lengths, or a self-battle.
    """
    first, second = _read_models(a, "a", models), _read_models(b, "b", models)
    halves = _read_outcomes(outcome)
    group = np.zeros_like(first) if cluster is None else _read_whole(cluster, "cluster")
    if not len(first) == len(second) == len(halves) == len(group):
        raise ValueError("a, b, outcome and cluster must be equally long")
    if (first == second).any():
        raise ValueError(f"row {int(np.argmax(first == second))} is a model against itself")
    low, high = np.minimum(first, second), np.maximum(first, second)
    halves = np.where(first == low, halves, 2 - halves)
    return _gather(models, low, high, halves=halves, cluster=None if cluster is None else group)


def select_models(cells: Cells, members: Ints) -> Cells:
    """Return the battles among `members` alone, with index k standing for `members[k]`.

    Args:
        cells: any cells.
        members: shape (m,), ascending model indices.
    """
    place = np.full(cells.models, -1, dtype=np.int64)
    place[members] = np.arange(len(members))
    keep = (place[cells.i] >= 0) & (place[cells.j] >= 0)
    return Cells(
        len(members),
        place[cells.i[keep]],
        place[cells.j[keep]],
        cells.counts[keep],
        None if cells.parts is None else _select_parts(cells.parts, keep),
    )


def _select_parts(parts: Parts, keep: NDArray[np.bool_]) -> Parts:
    row = np.cumsum(keep) - 1
    mine = keep[parts.cell]
    _, cluster = np.unique(parts.cluster[mine], return_inverse=True)
    return Parts(cluster.astype(np.int64), row[parts.cell[mine]], parts.counts[mine])


def _gather(models: int, low: Ints, high: Ints, *, halves: Ints, cluster: Ints | None) -> Cells:
    pair, cell = np.unique(low * models + high, return_inverse=True)
    counts = np.bincount(cell * 3 + halves, minlength=3 * len(pair)).reshape(-1, 3).astype(float)
    parts = None if cluster is None else _gather_parts(cell, halves, cluster)
    return Cells(models, pair // models, pair % models, counts, parts)


def _gather_parts(cell: Ints, halves: Ints, cluster: Ints) -> Parts:
    _, group = np.unique(cluster, return_inverse=True)
    width = int(cell.max(initial=0)) + 1
    part, row = np.unique(group * width + cell, return_inverse=True)
    counts = np.bincount(row * 3 + halves, minlength=3 * len(part)).reshape(-1, 3).astype(float)
    return Parts(part // width, part % width, counts)


def _read_models(values: ArrayLike, name: str, models: int) -> Ints:
    indices = _read_whole(values, name)
    wrong = (indices < 0) | (indices >= models)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name}[{row}] is {indices[row]}; there are {models} models, from 0")
    return indices


def _read_outcomes(values: ArrayLike) -> Ints:
    """Outcomes as half points, 0, 1 or 2."""
    points = np.asarray(values, dtype=np.float64)
    wrong = ~np.isin(points, POINTS)
    if points.ndim != 1 or wrong.any():
        raise ValueError("outcome must be a row of 0, 0.5 and 1")
    return (2 * points).astype(np.int64)


def _read_whole(values: ArrayLike, name: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be a row of whole numbers")
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.floor(array))).all():
        raise ValueError(f"{name} must hold whole numbers; one is missing or broken")
    return array.astype(np.int64)
