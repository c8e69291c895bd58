"""Who can be compared with whom: connected components, and models the data set no bounds to.

Two models are comparable when a chain of battles joins them. Their distance is finite when, beyond
that, a chain of points taken leads from each to the other; a tie is a point to both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from scoring.cells import Cells, Ints


def find_components(cells: Cells) -> list[Ints]:
    """Return the groups of two and more models that battles join, as ascending indices.

    The group with most models comes first; of equally large ones that with more battles, then
    that with the earliest model. Models without a battle are in none.
    """
    labels = _label(cells, strong=False)
    battles = np.bincount(labels[cells.i], cells.battles, minlength=cells.models)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels[cells.i])]
    return sorted(groups, key=lambda group: (-len(group), -battles[labels[group[0]]], group[0]))


def find_one_sided(cells: Cells) -> NDArray[np.bool_]:
    """Return which models of one component have no distance to the rest from the data alone.

    The win graph falls into groups whose members all took points, directly or through others, from
    each other. Of two such groups one never took a point from the other, so that the likelihood
    would push them apart for ever. The largest group, if it has two models or more and no equal,
    is the body of the component and measured by its battles; every model outside it is one-sided.
    Where no group is the largest, all models are. Where there is a single group, none is.

    Args:
        cells: the battles of one component.

    Returns:
        shape (models,).
    """
    labels = _label(cells, strong=True)
    sizes = np.bincount(labels)
    largest = int(sizes.max())
    if largest == 1 or np.count_nonzero(sizes == largest) > 1:
        return np.full(cells.models, len(sizes) > 1)
    return np.asarray(sizes[labels] < largest, dtype=np.bool_)


class Open(NamedTuple):
    """Where nothing bounds a model's strength, each of shape (models,); no side of the body."""

    below: NDArray[np.bool_]
    above: NDArray[np.bool_]


def find_open(cells: Cells, one_sided: NDArray[np.bool_]) -> Open:
    """Return on which side the battles leave the strength of each one-sided model open.

    Below it is where its group took no point from another, above it where it gave none; where it
    did both, it goes with one of its neighbours, and nobody knows with which.
    """
    labels = _label(cells, strong=True)
    across = labels[cells.i] != labels[cells.j]
    took, gave = np.zeros((2, cells.models), dtype=np.bool_)
    for scored, taker, giver in (
        (cells.points > 0, cells.i, cells.j),
        (cells.points < cells.battles, cells.j, cells.i),
    ):
        took[labels[taker[scored & across]]] = True
        gave[labels[giver[scored & across]]] = True
    took, gave = took[labels], gave[labels]
    both = took & gave
    return Open(one_sided & (~took | both), one_sided & (~gave | both))


def _label(cells: Cells, *, strong: bool) -> Ints:
    """The group of each model; an edge leads from each model to those it took points from."""
    scored, lost = cells.points > 0, cells.points < cells.battles
    taker = np.concatenate([cells.i[scored], cells.j[lost]])
    giver = np.concatenate([cells.j[scored], cells.i[lost]])
    shape = (cells.models, cells.models)
    graph = csr_array((np.ones(len(taker)), (taker, giver)), shape=shape)
    _, labels = connected_components(
        graph, directed=True, connection="strong" if strong else "weak", return_labels=True
    )
    return np.asarray(labels, dtype=np.int64)
