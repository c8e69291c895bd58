"""Weights by which battles count as if every pair had been equally likely to meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graph.state import base_of
from memory.errors import BadInput
from memory.records import DECIDED, Battle, Slot
from memory.slots import Slots


def weigh_battles(battles: Sequence[Battle], slots: Iterable[Slot]) -> dict[str, float]:
    """Return how much each decided battle counts: one over the propensity of its pair.

    In each generation of slots, whose pairs were drawn from one roster, weights are 1 on average:
    pairs that were drawn uniformly weigh 1 throughout.

    Raises:
        BadInput: a battle whose pair was dealt, so that nothing was left to chance.
    """
    slots = Slots.of(slots)
    generations = slots.generations
    groups: dict[int, dict[str, float]] = {}
    for battle in battles:
        if battle.verdict in DECIDED:
            row = slots.find(base_of(battle.id))
            group = groups.setdefault(0 if row is None else int(generations[row]), {})
            group[battle.id] = 1.0 / _propensity(battle)
    return {id_: weight for group in groups.values() for id_, weight in _scaled(group).items()}


def _propensity(battle: Battle) -> float:
    if battle.propensity is None:
        raise BadInput(
            f"battle {battle.id} has no propensity, since its pair was dealt and not drawn; leave "
            "--reweight out"
        )
    return battle.propensity


def _scaled(weights: Mapping[str, float]) -> dict[str, float]:
    mean = sum(weights.values()) / len(weights)
    return {id_: weight / mean for id_, weight in weights.items()}
