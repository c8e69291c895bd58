"""Who can be compared with whom, and how sure the place is of models that lost or won everything.

Two models are comparable when a chain of battles joins them. Their distance is finite when, beyond
that, a chain of points taken leads from each to the other; a tie is a point to both.

A model that lost or won everything has no strength that a fit could find, and no error of it. But a
model as good as the weakest of the others would hardly lose to everybody time and again, and how
unlikely that is can be computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, select_models, sum_seats


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
    """
    labels = _label(cells, strong=True)
    sizes = np.bincount(labels)
    largest = int(sizes.max())
    if largest == 1 or np.count_nonzero(sizes == largest) > 1:
        return np.full(cells.models, len(sizes) > 1)
    return np.asarray(sizes[labels] < largest, dtype=np.bool_)


class OpenSides(NamedTuple):
    """How far each model's strength is left open on either side, each of shape (models,).

    1 where nothing bounds it, 0 from FEW_POINTS points on, and in between with fewer.
    """

    below: Floats
    above: Floats


FEW_POINTS = 5.0
"""Points from which on they bound a strength as well as its error says."""


def find_open(cells: Cells, one_sided: NDArray[np.bool_]) -> OpenSides:
    """Return on which side the battles leave the strength of each model open, and by how much.

    Below it is where the group of a one-sided model took no point from another, above it where it
    gave none; where it did both, it goes with one of its neighbours, and nobody knows with which.
    A model of the body is open below by as much as FEW_POINTS points that it took are missing, and
    above by those that it gave.
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
    took = took[labels]
    gave = gave[labels]
    both = took & gave
    points = sum_seats(cells, cells.points, cells.battles - cells.points)
    lost = sum_seats(cells, cells.battles, cells.battles) - points
    few, fell = (np.clip(1.0 - of / FEW_POINTS, 0.0, 1.0) for of in (points, lost))
    below = np.where(one_sided, ~took | both, few)
    above = np.where(one_sided, ~gave | both, fell)
    return OpenSides(below.astype(np.float64), above.astype(np.float64))


def _label(cells: Cells, *, strong: bool) -> Ints:
    """Return the group of each model; edges lead from each model to those it took points from."""
    scored = cells.points > 0
    lost = cells.points < cells.battles
    taker = np.concatenate([cells.i[scored], cells.j[lost]])
    giver = np.concatenate([cells.j[scored], cells.i[lost]])
    shape = (cells.models, cells.models)
    graph = csr_array((np.ones(len(taker)), (taker, giver)), shape=shape)
    _, labels = connected_components(
        graph, directed=True, connection="strong" if strong else "weak", return_labels=True
    )
    return np.asarray(labels, dtype=np.int64)


class ExtremeModel(NamedTuple):
    """A model at one end of the order, since it lost or won all its battles."""

    model: int
    neighbour: int
    """The model at that end once this one is taken away."""
    is_first: bool
    """Whether it won every battle; it lost every one otherwise."""
    evidence: float
    """Natural logarithm of how many times likelier its battles are if it always ends so than if it
    were as strong as its neighbour; from 0 on."""


class ComponentEnds(NamedTuple):
    """A component and its extremes."""

    body: Ints
    """The models that are left without them, ascending: one, or several."""
    extremes: list[ExtremeModel]


def find_extremes(cells: Cells, theta: Floats) -> ComponentEnds | None:
    """Take away models that lost or won every battle, one by one; None where others stay.

    The others are groups of which one never took a point from the other.

    The evidence is a likelihood ratio with its boundary where the two are equal: a battle with the
    neighbour counts twice, one with a model that the neighbour hardly ever beats about once. Of
    battles about one video the mean counts, as it may whatever they have in common. So under what
    it speaks against, e to the power of it is 1 on average, and exceeds 1 / p with a probability of
    at most p. The strengths `theta` are those of a bias-reduced fit of the component.

    Source: Wald (1945), Ann. Math. Stat. 16, for the ratio; Vovk and Wang (2021), Ann. Stat. 49,
        for means of such ratios.
    """
    body = np.arange(cells.models)
    taken = list[tuple[int, bool]]()
    while len(body) > 1 and (found := _find(select_models(cells, body))) is not None:
        taken.append((int(body[found[0]]), found[1]))
        body = np.delete(body, found[0])
    if len(body) > 1 and find_one_sided(select_models(cells, body)).any():
        return None
    return ComponentEnds(body, list(_weigh(cells, body, theta=theta, taken=taken)))


def find_evident(
    cells: Cells, theta: Floats, *, share: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which models surely stand above which, and which models only that is known of.

    The first, shape (models, models), is about models that lost or won every battle: row above
    column where that is `1 / share` times likelier if the one always ends so than if both were
    equal, and what follows from two such statements. It holds of no two models of the body. The
    second, shape (models,), is which models are not of the body. Nothing is evident where
    `find_extremes` has no answer. `theta` are the strengths of a bias-reduced fit of the component.
    """
    n = cells.models
    above = np.zeros((n, n), dtype=np.bool_)
    outside = find_one_sided(cells)
    ends = find_extremes(cells, theta) if outside.any() else None
    if ends is None:
        return above, outside
    outside = np.ones(n, dtype=np.bool_)
    outside[ends.body] = False
    strength = np.where(outside, np.nan, theta)
    enough = -np.log(share)
    for one in ends.extremes:
        rivals = [int(k) for k in ends.body]
        weighed = [(k, _evidence(cells, one, k, strength=strength)) for k in rivals]
        if one.neighbour not in rivals:
            weighed.append((one.neighbour, one.evidence))
        for rival, evidence in weighed:
            if evidence >= enough:
                above[(one.model, rival) if one.is_first else (rival, one.model)] = True
    for k in range(n):
        # Warshall's closure: who stands above a model stands above all that this one stands above.
        above |= above[:, [k]] & above[[k], :]
    return above, outside


def _find(part: Cells) -> tuple[int, bool] | None:
    """Return the first model that lost all its battles, or else won all, and whether it won."""
    battles = sum_seats(part, part.battles, part.battles)
    points = sum_seats(part, part.points, part.battles - part.points)
    for is_first, wanted in ((False, 0.0), (True, battles)):
        found = np.flatnonzero((battles > 0) & (points == wanted))
        if len(found):
            return int(found[0]), is_first
    return None


def _weigh(
    cells: Cells, body: Ints, *, theta: Floats, taken: list[tuple[int, bool]]
) -> list[ExtremeModel]:
    """Weigh each model against the outermost, on its side, of the body and those taken after it.

    What was taken later has no strength, so only battles with itself speak then.
    """
    strength = np.full(cells.models, np.nan)
    strength[body] = theta[body]
    last = {False: int(body[np.argmin(theta[body])]), True: int(body[np.argmax(theta[body])])}
    found = []
    # Innermost first: the neighbour of each is the one that was weighed before it on its side.
    for model, is_first in reversed(taken):
        one = ExtremeModel(model, last[is_first], is_first, 0.0)
        evidence = _evidence(cells, one, one.neighbour, strength=strength)
        found.append(one._replace(evidence=evidence))
        last[is_first] = model
    return found[::-1]


def _evidence(cells: Cells, one: ExtremeModel, against: int, *, strength: Floats) -> float:
    """Return how unlikely the battles of `one` are for a model as strong as `against`, in nats."""
    mine = (cells.i == one.model) | (cells.j == one.model)
    rival = np.where(cells.i == one.model, cells.j, cells.i)
    gap = (
        strength[against] - strength[rival] if one.is_first else strength[rival] - strength[against]
    )
    # A rival without a strength tells nothing, unless it is the one that is compared with.
    gap = np.nan_to_num(gap, nan=np.inf)
    gap[rival == against] = 0.0
    ratio = np.where(mine, 1.0 / expit(gap), 0.0)
    if cells.parts is None:
        return float(cells.battles @ np.log(np.where(mine, ratio, 1.0)))
    battles = np.where(mine[cells.parts.cell], cells.parts.counts.sum(axis=1), 0.0)
    number = np.bincount(cells.parts.cluster, battles)
    # The mean of a video's ratios and not their product, which holds for independent battles only.
    total = np.bincount(cells.parts.cluster, battles * ratio[cells.parts.cell])
    return float(np.log(total[number > 0] / number[number > 0]).sum())
