"""Models that lost every battle, or won every one: how sure their place at the end is.

Such a model has no strength that a fit could find, nor an error of it. But to lose to everybody,
time and again, is what a model as good as the weakest of the others would hardly do, and how
hardly is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from scoring.cells import Cells, Floats, Ints, select_models
from scoring.components import find_one_sided


class Extreme(NamedTuple):
    """A model with an end of the order to itself."""

    model: int
    neighbour: int
    """The last of those that are left when it is taken away."""
    is_first: bool
    """Whether it won every battle; it lost every one otherwise."""
    evidence: float
    """Natural logarithm of how many times likelier its battles are if it always ends so than if it
    were as strong as its neighbour; from 0 on."""


class Ends(NamedTuple):
    """A component and its extremes."""

    body: Ints
    """The models that are left without them, ascending: one, or several."""
    extremes: list[Extreme]


def find_extremes(cells: Cells, theta: Floats) -> Ends | None:
    """Take models that lost or won every battle away, one after the other; None where others stay.

    Others are groups of which one never took a point from the other.

    The evidence is a likelihood ratio with its boundary where the two are equal: a battle with the
    neighbour counts twice, one with a model that the neighbour hardly ever beats about once. Of
    battles about one video the mean counts, as it may whatever they have in common. So under what
    it speaks against, e to the power of it is 1 on average, and exceeds 1 / p with a probability of
    at most p. The others' strengths are taken as they were found.

    Args:
        cells: the battles of one component of two models or more.
        theta: shape (models,), strengths in nats from a bias-reduced fit.

    Source: Wald (1945), Ann. Math. Stat. 16, for the ratio; Vovk and Wang (2021), Ann. Stat. 49,
        for means of such ratios.
    """
    body, taken = np.arange(cells.models), list[tuple[int, bool]]()
    while len(body) > 1 and (found := _find(select_models(cells, body))) is not None:
        taken.append((int(body[found[0]]), found[1]))
        body = np.delete(body, found[0])
    if len(body) > 1 and find_one_sided(select_models(cells, body)).any():
        return None
    return Ends(body, list(_weigh(cells, body, theta=theta, taken=taken)))


def _find(part: Cells) -> tuple[int, bool] | None:
    """The first model that lost all its battles, or else won all of them."""
    battles, points = (
        np.bincount(part.i, of_i, part.models) + np.bincount(part.j, of_j, part.models)
        for of_i, of_j in (
            (part.battles, part.battles),
            (part.points, part.battles - part.points),
        )
    )
    for is_first, wanted in ((False, 0.0), (True, battles)):
        found = np.flatnonzero((battles > 0) & (points == wanted))
        if len(found):
            return int(found[0]), is_first
    return None


def _weigh(
    cells: Cells, body: Ints, *, theta: Floats, taken: list[tuple[int, bool]]
) -> list[Extreme]:
    """Weigh each against the one that is last, on its side, of those taken after it and the body.

    What was taken later has no strength, so only battles with itself speak then.
    """
    strength = np.full(cells.models, np.nan)
    strength[body] = theta[body]
    last = {False: int(body[np.argmin(theta[body])]), True: int(body[np.argmax(theta[body])])}
    found = []
    for model, is_first in reversed(taken):
        neighbour = last[is_first]
        evidence = _evidence(cells, model, neighbour, strength=strength)
        found.append(Extreme(model, neighbour, is_first, evidence))
        last[is_first] = model
    return found[::-1]


def _evidence(cells: Cells, model: int, neighbour: int, *, strength: Floats) -> float:
    mine = (cells.i == model) | (cells.j == model)
    rival = np.where(cells.i == model, cells.j, cells.i)
    # Where it stands beyond the neighbour, what it does to others is likelier than the reverse.
    gap = np.abs(np.nan_to_num(strength[neighbour] - strength[rival], nan=np.inf))
    gap[rival == neighbour] = 0.0
    ratio = np.where(mine, 1.0 / expit(gap), 0.0)
    if cells.parts is None:
        return float(cells.battles @ np.log(np.where(mine, ratio, 1.0)))
    battles = np.where(mine[cells.parts.cell], cells.parts.counts.sum(axis=1), 0.0)
    number = np.bincount(cells.parts.cluster, battles)
    total = np.bincount(cells.parts.cluster, battles * ratio[cells.parts.cell])
    return float(np.log(total[number > 0] / number[number > 0]).sum())
