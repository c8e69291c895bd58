"""How well a question tells the models of its run apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from memory.records import DECIDED, Battle
from runs.leaderboard import points_of
from runs.sealing import Item
from scoring.cells import Floats, count_cells
from scoring.ratings import rate

FLOOR = 1e-6
"""Of the noise of a battle, so that a certain outcome is worth nothing and not everything."""


def worth_of(items: Sequence[Item], battles: Sequence[Battle]) -> dict[str, float]:
    """Return of each qid how well its two answers tell models apart, and how sure its winner is.

    An answer tells two models apart by the squared difference of their chances against it over the
    variance of the two outcomes (Fisher's ratio); every two models count alike. That is taken from
    the run's own ratings, so it favours what the run has found already. It is multiplied by the
    share of judgings, or of people's votes, that chose the winner.
    """
    ratio = _ratios(battles)
    return {
        item.qid: steadiness(item)
        * (ratio.get(item.selected_model or "", 0.0) + ratio.get(item.rejected_model or "", 0.0))
        / 2
        for item in items
    }


def _ratios(battles: Sequence[Battle]) -> Mapping[str, float]:
    decided = [b for b in battles if b.verdict in DECIDED and b.model_a and b.model_b]
    names = list(dict.fromkeys(m for b in decided for m in (b.model_a or "", b.model_b or "")))
    if not names:
        return {}
    place = {name: k for k, name in enumerate(names)}
    cells = count_cells(
        np.array([place[b.model_a or ""] for b in decided]),
        np.array([place[b.model_b or ""] for b in decided]),
        outcome=np.array([points_of(b.verdict) for b in decided]),
        models=len(names),
    )
    theta: Floats = rate(cells).theta
    chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    noise = np.maximum(chance * (1 - chance), FLOOR)
    ratio = np.zeros(len(names))
    for one, other in combinations(range(len(names)), 2):
        apart = (chance[one] - chance[other]) ** 2 / (noise[one] + noise[other])
        ratio += apart / max(float(apart.mean()), FLOOR)
    return dict(zip(names, ratio.tolist(), strict=True))


def steadiness(item: Item) -> float:
    """Return the share of usable judgings, or of people's votes, that selected the same answer."""
    if item.votes is not None:
        total = item.votes.selected + item.votes.rejected + item.votes.tie
        return item.votes.selected / total if total else 0.0
    said = [v.verdict for v in item.judge_verdicts if v.verdict not in ("abstain", "failed")]
    return sum(one == item.selected_seat for one in said) / len(said) if said else 1.0
