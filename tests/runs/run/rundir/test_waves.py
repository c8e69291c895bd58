"""Waves stand in one order, are settled whole, and never keep each other waiting for ever."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.run.rundir.test_slots import VIDEOS, video
from tests.support.lanes import play_blocks
from videoautoarena.graph.context import Visit
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.store.store import BattleEnding
from videoautoarena.runs.run.rundir.slots import Lineup, new_slots, superseding_slots
from videoautoarena.runs.run.rundir.waves import Wave, Waves
from videoautoarena.runs.tournament.schedule import blocks_of
from videoautoarena.scoring.design.pairing import WHOLE, mix_weights
from videoautoarena.scoring.fitting.counts import Cells

MODELS = ("hawk", "owl", "mole")
PATIENCE_S = 60
SLOTS = new_slots(VIDEOS[:4], rounds=3, block=2, existing=[])


def ended(slot: Slot, verdict: str | None = "a", a: str = "hawk", b: str = "owl") -> BattleEnding:
    return BattleEnding(slot.id, a, b, verdict)


def of_wave(slots: list[Slot], *wave: int) -> list[Slot]:
    return [slot for slot in slots if (slot.generation, slot.block, slot.round) == wave]


def settle(waves: Waves, slots: list[Slot]) -> None:
    for slot in slots:
        waves.note(ended(slot))


def counts(cells: Cells) -> list[list[float]]:
    return cells.counts.tolist()


def test_a_wave_is_a_generation_a_block_and_a_round_in_that_order() -> None:
    waves = Waves(SLOTS, MODELS)
    assert waves.order == [Wave(0, block, round_) for block in (0, 1) for round_ in (0, 1, 2)]
    assert [waves.wave_of(slot.id) for slot in SLOTS[::6]] == list(range(6))
    assert [waves.basis_of(slot.id) for slot in SLOTS[::6]] == [None, None, 0, 1, 2, 3]


def test_a_wave_is_settled_with_its_last_battle_and_only_after_those_before() -> None:
    waves = Waves(SLOTS, MODELS)
    settle(waves, of_wave(SLOTS, 0, 0, 1))
    first = of_wave(SLOTS, 0, 0, 0)
    settle(waves, first[:-1])
    assert waves.settled == 0
    waves.note(ended(first[-1], "void"))
    assert waves.settled == 2
    assert waves.is_settled(1)
    assert not waves.is_settled(2)


def test_whoever_waits_for_a_wave_goes_on_when_it_is_settled() -> None:
    async def wait() -> list[int]:
        waves = Waves(SLOTS, MODELS)
        met = list[int]()

        async def one(wave: int) -> None:
            await waves.until_settled(wave)
            met.append(wave)

        async with asyncio.TaskGroup() as group:
            for wave in (2, 0, 1):
                group.create_task(one(wave))
            for round_ in (1, 0, 2):
                await asyncio.sleep(0)
                settle(waves, of_wave(SLOTS, 0, 0, round_))
                met.append(-1)
        return met

    assert asyncio.run(wait()) == [-1, -1, 0, 1, -1, 2]


def test_cells_hold_decided_battles_of_these_waves_and_no_later_ones() -> None:
    waves = Waves(SLOTS, MODELS)
    one, two, three, *others = of_wave(SLOTS, 0, 0, 0)
    waves.note(ended(one, "b", "owl", "hawk"))
    waves.note(ended(two, "split"))
    waves.note(ended(three, "void"))
    for other in others:
        waves.note(ended(other, "forfeit_a"))
    settle(waves, of_wave(SLOTS, 0, 0, 1))
    cells = waves.cells(0, 3)
    assert (cells.i.tolist(), cells.j.tolist(), counts(cells)) == ([0], [1], [[0, 1, 1]])
    assert cells.clusters == 1
    assert waves.cells(1, 3).counts.sum() == 8


@pytest.mark.parametrize("strange", [("hawk", "hawk"), ("hawk", "stranger"), (None, None)], ids=str)
def test_a_battle_that_was_tampered_with_settles_its_slot_and_counts_nowhere(
    strange: tuple[str | None, str | None],
) -> None:
    waves = Waves(SLOTS, MODELS)
    for slot in of_wave(SLOTS, 0, 0, 0):
        waves.note(BattleEnding(slot.id, *strange, "a"))
    waves.note(BattleEnding("no such slot", "hawk", "owl", "a"))
    assert waves.settled == 1
    assert waves.cells(0, 3).counts.sum() == 0


def test_weights_are_those_of_the_mix_and_do_not_change_when_more_is_known() -> None:
    waves = Waves(SLOTS, MODELS)
    settle(waves, of_wave(SLOTS, 0, 0, 0))
    found = waves.weights(0, 3)
    assert found.sum() == WHOLE
    assert found.tolist() == mix_weights(replace(waves.cells(0, 3), parts=None)).tolist()
    settle(waves, [slot for slot in SLOTS if slot.round])
    assert waves.weights(0, 3).tolist() == found.tolist()
    again = Waves(SLOTS, MODELS)
    settle(again, SLOTS[::-1])
    assert again.weights(0, 3).tolist() == found.tolist()


def test_what_was_superseded_counts_where_it_stood_and_its_successor_after_that() -> None:
    failed = of_wave(SLOTS, 0, 0, 1)[0]
    again = superseding_slots({failed.id}, existing=SLOTS)
    more = new_slots(VIDEOS[:4], rounds=4, block=2, existing=[*SLOTS, *again])
    waves = Waves([*SLOTS, *again, *more], MODELS)
    settle(waves, [slot for slot in SLOTS if slot.id != failed.id])
    waves.note(ended(failed, "void"))
    assert waves.settled == 6
    assert [waves.wave_of(slot.id) for slot in again] == [1, 2]
    for slot in again:
        waves.note(ended(slot, "b"))
    # Two battles of hawk's were superseded: one void, one won; both are lost now.
    assert counts(waves.cells(5, 3)) == [[0, 0, 35]]
    assert counts(waves.cells(7, 3)) == [[2, 0, 34]]


def test_what_was_superseded_unplayed_keeps_nobody_waiting() -> None:
    failed = of_wave(SLOTS, 0, 0, 0)[0]
    before = Waves(SLOTS, MODELS)
    settle(before, [slot for slot in SLOTS if slot.round == 0])
    assert before.settled == 1
    again = superseding_slots({slot.id for slot in SLOTS[6:18]} | {failed.id}, existing=SLOTS)
    waves = Waves([*SLOTS, *again], MODELS)
    settle(waves, [slot for slot in SLOTS if slot.round == 0])
    assert waves.settled == 4
    assert counts(waves.cells(2, 3)) == counts(before.cells(0, 3))


class Players:
    """Lineages that wait for their waves and end in any order, as those of the graph do."""

    def __init__(self, slots: list[Slot], settled: set[str], seed: int) -> None:
        self.slots = {slot.id: slot for slot in slots}
        self.lineup = Lineup(slots)
        self.lineages: dict[tuple[str, int], list[Slot]] = {}
        for slot in self.lineup.slots:
            self.lineages.setdefault((slot.video, slot.persona), []).append(slot)
        self.waves = Waves(slots, MODELS)
        self.chance = random.Random(seed)
        self.settled = set(settled)
        for id_ in settled:
            self.waves.note(ended(self.slots[id_]))

    async def play(self) -> None:
        left = [slot for slot in self.lineup.slots if slot.id not in self.settled]
        await play_blocks(blocks_of(left), self._visit)

    async def _visit(self, visit: Visit) -> None:
        async with asyncio.TaskGroup() as group:
            for persona in (1, 2, 3):
                group.create_task(self._lineage(visit, persona))

    async def _lineage(self, visit: Visit, persona: int) -> None:
        mine = self.lineages.get((visit.video, persona), [])
        for slot in sorted(mine, key=lambda slot: slot.round):
            if slot.id in self.settled:
                continue
            if slot.generation > visit.generation:
                return
            basis = self.waves.basis_of(slot.id)
            if basis is not None:
                await self.waves.until_settled(basis)
            for _ in range(self.chance.randrange(4)):
                await asyncio.sleep(0)
            assert slot.id not in self.settled
            self.settled.add(slot.id)
            self.waves.note(ended(slot))


@settings(max_examples=25)
@given(
    videos=st.lists(st.integers(1, 9), min_size=1, max_size=3).map(sorted),
    rounds=st.lists(st.integers(1, 3), min_size=3, max_size=3).map(sorted),
    block=st.integers(1, 4),
    data=st.data(),
)
def test_every_slot_is_played_however_a_run_has_grown_was_stopped_and_is_repaired(
    videos: list[int], rounds: list[int], block: int, data: st.DataObject
) -> None:
    slots: list[Slot] = []
    settled: set[str] = set()
    for number, length in zip(videos, rounds, strict=False):
        films = [video(n) for n in range(number)]
        slots += new_slots(films, rounds=length, block=block, existing=slots)
        standing = Lineup(slots).slots
        # A lineage is settled up to some round; what was played again goes with all after it.
        reached = {
            (slot.video, slot.persona): data.draw(st.integers(0, length)) for slot in standing
        }
        settled |= {s.id for s in standing if s.round < reached[s.video, s.persona]}
        failed = {s.id for s in standing if s.id in settled and data.draw(st.integers(0, 9)) == 0}
        unsettled = {
            s.id
            for s in standing
            if s.id not in settled and s.video in {slot[:12] for slot in failed}
        }
        slots += superseding_slots(failed | unsettled, existing=slots)
    players = Players(slots, settled & {slot.id for slot in slots}, seed=len(slots))
    asyncio.run(asyncio.wait_for(players.play(), PATIENCE_S))
    assert players.lineup.ids <= players.settled
    assert players.waves.settled == len(players.waves.order)


@pytest.mark.parametrize(
    ("videos", "block"),
    [(9, 21), (30, 4), *(pytest.param(300, n, marks=pytest.mark.slow) for n in (4, 21))],
)
def test_many_videos_come_to_their_end(videos: int, block: int) -> None:
    films = [video(number) for number in range(videos)]
    slots = new_slots(films, rounds=3, block=block, existing=[])
    players = Players(slots, set(), seed=videos)
    asyncio.run(asyncio.wait_for(players.play(), PATIENCE_S))
    assert len(players.settled) == len(slots)


def test_the_order_of_endings_changes_no_cell() -> None:
    chance = random.Random(1)
    waves = Waves(SLOTS, MODELS)
    endings = [ended(slot, chance.choice("ab")) for slot in SLOTS]
    for ending in endings:
        waves.note(ending)
    for _ in range(5):
        chance.shuffle(endings)
        other = Waves(SLOTS, MODELS)
        for ending in endings:
            other.note(ending)
        for wave in range(6):
            assert np.array_equal(waves.cells(wave, 3).counts, other.cells(wave, 3).counts)


def test_a_place_has_one_wave_however_often_it_is_played() -> None:
    again = superseding_slots({SLOTS[0].id}, existing=SLOTS)
    waves = Waves([*SLOTS, *again], MODELS)
    assert all(waves.wave_of(slot.id) == waves.wave_of(base_of(slot.id)) for slot in again)
