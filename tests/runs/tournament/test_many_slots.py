"""Slots as numbers say what slots as records say, and take a few bytes each."""

from __future__ import annotations

import asyncio
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.canned import film
from tests.runs.run.rundir.test_slots import VIDEOS
from tests.support import slot_records as records
from tests.support.runfiles import battle
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.graph.slot_ids import base_of, is_newcomer, newcomer_id, place_of
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.store import BattleEnding, Store
from videoautoarena.runs.console.progress.events import RunBegun, nobody
from videoautoarena.runs.console.progress.snapshot import RunSnapshot
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.run.rundir.failures import with_unsettled
from videoautoarena.runs.run.rundir.opener import begin
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.runs.run.rundir.slots import (
    Lineup,
    Tally,
    new_slots,
    newcomers_among,
    next_generation,
    superseding_slots,
)
from videoautoarena.runs.run.rundir.waves import Waves
from videoautoarena.runs.tournament.forecast import Places, _keep_answers
from videoautoarena.runs.tournament.runner import Limits, playing
from videoautoarena.runs.tournament.schedule import blocks_of
from videoautoarena.video.folder.find import Findings

MODELS = ("hawk", "owl")
FEW = 25
"""Histories: one takes as long as hundreds of small examples."""


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Slot], set[str]]:
    """Return the slots of a run that has grown, was repaired and met newcomers, and what ended."""
    slots: list[Slot] = []
    settled: set[str] = set()
    videos = 0
    rounds = 0
    for _ in range(draw(st.integers(1, 3))):
        videos = max(videos, draw(st.integers(1, 4)))
        rounds = max(rounds, draw(st.integers(1, 3)))
        slots += records.new_slots(VIDEOS[:videos], rounds=rounds, block=2, existing=slots)
        standing = records.Lineup(slots).slots
        picked = {s.id for s in standing if draw(st.booleans())}
        settled |= picked
        failed = {id_ for id_ in picked if draw(st.integers(0, 5)) == 0}
        slots += records.superseding_slots(
            records.with_unsettled(failed, slots, settled), existing=slots
        )
        past = [s for s in records.Lineup(slots).slots if not is_newcomer(s.id) and s.id in settled]
        met = [s for s in past if draw(st.integers(0, 3)) == 0]
        generation = records.next_generation(slots)
        slots += [
            s.model_copy(
                update={
                    "id": newcomer_id(place_of(s.id), generation),
                    "generation": generation,
                    "ordinal": len(slots) + number,
                }
            )
            for number, s in enumerate(met)
        ]
    return slots, settled


@settings(max_examples=FEW)
@given(histories())
def test_the_lineup_is_that_of_records(history: tuple[list[Slot], set[str]]) -> None:
    slots, _ = history
    table = Lineup(slots)
    oracle = records.Lineup(slots)
    assert table.slots == oracle.slots
    assert table.ids == oracle.ids
    scopes = {base_of(slot.id) for slot in slots} | {slot.video for slot in slots} | {"nowhere"}
    for scope in scopes:
        assert table.current(scope) == oracle.current(scope)
        assert table.generations(scope) == oracle.generations(scope)
    for generation in range(records.next_generation(slots)):
        then = records.Lineup([s for s in slots if s.generation < generation])
        for base in {base_of(slot.id) for slot in slots}:
            assert table.current(base, before=generation) == then.current(base)


@settings(max_examples=FEW)
@given(histories(), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_growth_is_that_of_records(
    history: tuple[list[Slot], set[str]], videos: int, rounds: int, block: int
) -> None:
    slots, _ = history
    grown = {"rounds": rounds, "block": block}
    films = VIDEOS[: max(videos, len({slot.video for slot in slots}))]
    for existing in ([], slots):
        found = new_slots(films, existing=existing, **grown)
        assert found == records.new_slots(films, existing=existing, **grown)
        assert [*Slots.of(existing) + found] == [*existing, *found]
    assert next_generation(slots) == records.next_generation(slots)


@settings(max_examples=FEW)
@given(histories(), st.data())
def test_repairs_are_those_of_records(
    history: tuple[list[Slot], set[str]], data: st.DataObject
) -> None:
    slots, settled = history
    lineup = Lineup(slots)
    failed = {s for s in lineup.ids if s in settled and data.draw(st.integers(0, 3)) == 0}
    table = lineup.slots.where(lineup.slots.among(settled)).ids
    wider = with_unsettled(failed, slots, table)
    assert wider == records.with_unsettled(failed, slots, settled)
    again = superseding_slots(wider, existing=slots)
    assert again == records.superseding_slots(set(wider), existing=slots)
    assert Lineup(Slots.of(slots) + again).slots == records.Lineup([*slots, *again]).slots


@settings(max_examples=FEW)
@given(histories(), st.booleans())
def test_visits_waves_and_the_order_of_spending_are_those_of_records(
    history: tuple[list[Slot], set[str]], in_waves: bool
) -> None:
    slots, settled = history
    lineup = Lineup(slots)
    left = lineup.slots.without(settled)
    main = left.where(~newcomers_among(left))
    assert blocks_of(main) == records.blocks_of([*main])
    places = Places(lineup, ~lineup.slots.among(settled), in_waves=in_waves)
    expected = records.places([*left], in_waves=in_waves)
    assert dict(places) == expected
    assert len(places) == len(expected)
    assert all(s.id in settled for s in lineup.slots if base_of(s.id) not in places)
    kept = {base_of(slot) for slot in main.where(_keep_answers(main)).ids}
    assert kept == records.keep_answers([*main])


@settings(max_examples=FEW)
@given(histories())
def test_waves_are_those_of_records(history: tuple[list[Slot], set[str]]) -> None:
    slots, settled = history
    waves, (order, number) = Waves(slots, MODELS), records.waves(slots)
    assert waves.order == order
    main = [slot for slot in slots if not is_newcomer(slot.id)]
    assert [waves.wave_of(s.id) for s in main] == [number[base_of(s.id)] for s in main]
    assert waves.waves_of(Slots.of(main)).tolist() == [number[base_of(s.id)] for s in main]
    for slot in sorted(settled):
        waves.note(BattleEnding(slot, *MODELS, "a"))
    open_ = [number[s.id] for s in records.Lineup(main).slots if s.id not in settled]
    assert waves.settled == min(open_, default=len(order))
    battles = [s for s in main if s.id in settled]
    for wave in range(len(order)):
        latest = records.Lineup([s for s in main if number[s.id] <= wave]).ids
        assert waves.cells(wave, 2).counts.sum() == sum(s.id in latest for s in battles)


@settings(max_examples=10)
@given(histories())
def test_a_tally_is_that_of_the_lineup(history: tuple[list[Slot], set[str]]) -> None:
    slots, settled = history
    with TemporaryDirectory() as name, Store.create(Path(name) / "run.sqlite", {}) as store:
        store.add_videos(VIDEOS)
        store.add_slots(slots)

        async def settle() -> None:
            await asyncio.gather(*(store.put_battle(battle(id_)) for id_ in settled))

        asyncio.run(settle())
        tally = Tally.of(store)
        lineup = records.Lineup(store.slots())
        assert store.slots() == slots
        assert tally.superseded == {slot.id for slot in slots} - lineup.ids
        assert tally.slots == len(lineup.slots)
        assert tally.settled == len(lineup.ids & settled)
        assert store.settled() == [slot for slot in slots if slot.id in settled]
        assert store.settled_ids() == settled


FILMS, ROUNDS = 34, 100
"""10,200 slots."""
KEPT_BYTES, MOST_BYTES = 250, 400
"""A slot. As records, with ids in dictionaries, they took 2,960 and 3,010."""


@pytest.mark.slow
def test_a_run_takes_a_few_bytes_a_slot_to_begin_and_to_play(tmp_path: Path) -> None:
    config = resolve(RunRequest(models=("offline:hawk", "offline:owl"), rounds=ROUNDS)).config
    found = Findings(videos=[film(k) for k in range(FILMS)], skipped=[], duplicates=[])
    prompts = PromptSet.load(None)

    async def put_together() -> int:
        run = begin(tmp_path / "out", config, prompts=prompts, found=found, folder=tmp_path)
        with run.store as store:
            async with playing(run, Budget(), limits=Limits(1), hear=nobody) as game:
                assert game.arena.wanted(store.slots()[5].id)
                standing.hear(begun_of(RunReader(tmp_path, store)))
                return tracemalloc.get_traced_memory()[0]

    standing = RunSnapshot()
    tracemalloc.start()
    try:
        kept = asyncio.run(put_together())
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert standing.total == 3 * FILMS * ROUNDS
    assert kept < KEPT_BYTES * standing.total
    assert most < MOST_BYTES * standing.total


def begun_of(run: RunReader) -> RunBegun:
    return RunBegun(
        out=run.folder,
        seed=0,
        rounds=ROUNDS,
        models=MODELS,
        examiner="examiner",
        judges=("judge",),
        videos={},
        slots=run.slots,
        battles=run.battles,
    )
