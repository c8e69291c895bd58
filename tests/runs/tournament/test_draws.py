"""Draws follow from seed and slot alone: not from names, not from who ended first."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from tests.runs.run.rundir.test_slots import VIDEOS
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.slots import new_slots, superseding_slots
from videoautoarena.runs.run.rundir.waves import Waves
from videoautoarena.runs.tournament.draws import Draws

CAST = ("offline:hawk", "offline:owl", "offline:mole", "offline:blind")
SLOTS = new_slots(VIDEOS, rounds=12, block=21, existing=[])
BY_ID = {slot.id: slot for slot in SLOTS}


def draws(**flags: Any) -> Draws:
    plain = {} if "preset" in flags else {"pairing": "uniform"}
    config = resolve(RunRequest(**{"models": CAST, **plain, **flags})).config
    return Draws(config, SLOTS, Waves(SLOTS, config.models))


def pairs(**flags: Any) -> list[frozenset[str]]:
    found = map(draws(**flags).of, BY_ID)
    return [frozenset((draw.model_a, draw.model_b)) for draw in found]


def test_the_same_slot_gets_the_same_draw_whatever_came_before() -> None:
    one = draws()
    other = draws()
    forth = {slot: one.of(slot) for slot in BY_ID}
    assert forth == {slot: other.of(slot) for slot in reversed(BY_ID)}


def test_another_seed_draws_otherwise() -> None:
    assert pairs(seed=1) != pairs(seed=2)


def test_uniform_draws_every_pair_about_as_often_and_says_how_likely_it_was() -> None:
    counts = Counter(pairs())
    assert set(counts) == set(map(frozenset, combinations(CAST, 2)))
    assert min(counts.values()) > len(SLOTS) / 6 / 2
    assert draws().of(SLOTS[0].id).propensity == pytest.approx(1 / 6, abs=1e-6)


def test_seats_are_even() -> None:
    found = [*map(draws().of, BY_ID)]
    first = sum(CAST.index(d.model_a) < CAST.index(d.model_b) for d in found)
    assert 0.35 < first / len(found) < 0.65


def test_a_renamed_model_changes_nothing_but_its_name() -> None:
    renamed = ("offline:hawk", "offline:owl", "offline:mole", "offline:parrot")
    before = [(d.model_a, d.model_b) for d in map(draws().of, BY_ID)]
    after = [(d.model_a, d.model_b) for d in map(draws(models=renamed).of, BY_ID)]
    swap = dict(zip(CAST, renamed, strict=True))
    assert [(swap[a], swap[b]) for a, b in before] == after


def test_round_robin_gives_every_pair_the_same_share_and_no_propensity() -> None:
    counts = Counter(pairs(pairing="round-robin"))
    assert max(counts.values()) - min(counts.values()) <= 1
    assert draws(pairing="round-robin").of(SLOTS[0].id).propensity is None


def test_keep_pair_keeps_it_through_a_lineage_and_the_paper_keeps_the_seats_too() -> None:
    lineage = [slot.id for slot in SLOTS if slot.id.startswith(f"{VIDEOS[0].id}-p1-")]
    kept = [*map(draws(pairing="keep-pair").of, lineage)]
    paper = [*map(draws(preset="paper").of, lineage)]
    assert len({frozenset((d.model_a, d.model_b)) for d in kept}) == 1
    assert len({d.model_a for d in kept}) == 2
    assert len({(d.model_a, d.model_b) for d in paper}) == 1


@pytest.mark.parametrize(("swap", "share"), [(0.0, 0), ("all", 1), (0.3, 0.3)])
def test_audits_are_drawn_for_the_share_asked_for(swap: float | str, share: float) -> None:
    swapped = [draw.swap for draw in map(draws(swap=swap).of, BY_ID)]
    assert sum(swapped) / len(swapped) == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize(
    "flags", [{}, {"pairing": "uniform"}, {"pairing": "round-robin"}, {"preset": "paper"}]
)
def test_what_is_played_again_is_drawn_as_it_was(flags: dict[str, Any]) -> None:
    again = superseding_slots({SLOTS[7].id}, existing=SLOTS)
    both = [*SLOTS, *again]
    config = resolve(RunRequest(**{"models": CAST, **flags})).config
    found = Draws(config, both, Waves(both, config.models))
    for slot in again:
        first, second = (found.of(id_) for id_ in (base_of(slot.id), slot.id))
        assert second == first.model_copy(update={"slot": slot.id})
