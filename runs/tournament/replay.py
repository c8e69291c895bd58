"""Playing a run again from its journal: no network, nothing written, every battle compared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.graph.context import Arena
from videoautoarena.graph.slot_ids import lineage_id
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import JournalMiss, StoreError
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.records.slots import Ids, Slots
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.inputs.facts import Facts, facts_told
from videoautoarena.runs.run.inputs.users import personas_of
from videoautoarena.runs.run.rundir.context import assemble
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import run_file
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among
from videoautoarena.runs.run.rundir.waves import Waves
from videoautoarena.runs.tournament.draws import Draws, NewcomerDraws, WrittenDraws
from videoautoarena.runs.tournament.merge import runs_in
from videoautoarena.runs.tournament.schedule import blocks_of


@dataclass
class Replayed:
    """What a replay found."""

    battles: int = 0
    """How many battles came out the same."""
    others: int = 0
    """How many did not come out the same."""
    differences: list[str] = field(default_factory=list)
    """The differences, a line each."""


async def replay(out: Path) -> Replayed:
    """Play every settled slot from the run's journal, and compare byte for byte; no model call.

    A run with superseded slots is played as it stood in each generation.
    """
    with Store.open(run_file(out), write=False) as store:
        found = Replayed()
        settled = store.settled()
        is_again = np.zeros(len(settled), dtype=np.bool_)

        async def compare(battle: Battle) -> None:
            if (row := settled.find(battle.id)) is not None:
                is_again[row] = True
            _compare(found, store, battle)

        manifest = store.manifest()
        config = RunConfig.of_manifest(manifest)
        # A merged run is replayed part by part: where `mix` looked at results, it looked at those
        # of its own part.
        for part, slots in enumerate(runs_in(store.slots(), manifest)):
            known = facts_told(store, part)
            waves = Waves.of(store, config.models, slots)
            for generation in np.unique(slots.generations).tolist():
                view = _View.of(slots, generation, settled)
                if view.fresh:
                    arena = _arena(store, compare, view, waves, known)
                    of_newcomer = newcomers_among(view.fresh)
                    await _play(arena, view.fresh.where(~of_newcomer), found)
                    guests = view.fresh.where(of_newcomer).ids
                    await _play_newcomers(arena, guests, NewcomerDraws(config, store), found)
        astray = store.astray()
        missing = sorted([*settled.where(~is_again).ids, *astray])
        found.differences += [f"{battle}: was not reached" for battle in missing]
        found.others = len(settled) + len(astray) - found.battles
        return found


class _View(NamedTuple):
    """A run as it stood in one generation."""

    generation: int
    slots: Slots
    """Slots of the run that was played, in all generations."""
    lineup: Lineup
    fresh: Slots
    """Slots that were settled in this generation; earlier ones are compared already."""
    before: Ids
    """Ids of slots that were settled in earlier generations and still count."""

    @classmethod
    def of(cls, slots: Slots, generation: int, settled: Slots) -> Self:
        lineup = Lineup(slots.where(slots.generations <= generation))
        done = lineup.slots.where(settled.rows_like(lineup.slots, str) >= 0)
        is_fresh = done.generations == generation
        return cls(generation, slots, lineup, done.where(is_fresh), done.where(~is_fresh).ids)


def _arena(
    store: Store,
    compare: Callable[[Battle], Awaitable[None]],
    view: _View,
    waves: Waves,
    known: Facts | None,
) -> Arena:
    config = RunConfig.of_manifest(store.manifest())
    slots = view.slots
    videos = {video.id: video for video in store.videos()}
    if strangers := sorted(slots.videos_of() - videos.keys()):
        raise StoreError(f"the run has slots of {strangers[0]}, but no such video")
    sampling = config.sampling
    then = view.generation
    # Without decoder and files: the digests of frames are all that the key of a call needs.
    run_frames = RunFrames(store, None, files={}, sampling=sampling, videos=videos, generation=then)
    asker = Asker(store.journal, run_frames.jpegs, seed=config.seed, is_replay=True)
    prompts = stored_prompts(store)
    draws = Draws(config, slots, waves, NewcomerDraws(config, store))
    common = assemble(
        config, asker, prompts=prompts, videos=videos, lineup=view.lineup, facts=known
    )
    return common(
        frames=run_frames.frames,
        draw=WrittenDraws(draws, store, read_only=True),
        settle=compare,
        settled=lambda slot: store.battle(slot) if slot in view.before else None,
        wanted=view.fresh.ids.__contains__,
        brought=partial(personas_of, store),
    )


async def _play(arena: Arena, slots: Slots, found: Replayed) -> None:
    from videoautoarena.graph.tournament import play

    users: dict[str, set[int]] = {}
    for persona in np.unique(slots.personas).tolist():
        for video in slots.where(slots.personas == persona).videos_of():
            users.setdefault(video, set()).add(persona)

    for visit in chain.from_iterable(blocks_of(slots)):
        # Each lineage by itself: what is wrong with one must not end the others.
        for persona in sorted(users[visit.video]):
            try:
                await play(_alone(arena, visit.video, persona), visit.video)
            except (JournalMiss, StoreError) as wrong:
                found.differences.append(f"{lineage_id(visit.video, persona)}: {wrong}")


async def _play_newcomers(
    arena: Arena, slots: Iterable[str], guests: NewcomerDraws, found: Replayed
) -> None:
    from videoautoarena.graph.newcomer import play_newcomer

    for slot in slots:
        try:
            await play_newcomer(arena, slot, guests.source_of(slot))
        except (JournalMiss, StoreError) as wrong:
            found.differences.append(f"{slot}: {wrong}")


def _alone(arena: Arena, video: str, persona: int) -> Arena:
    """Return an arena that knows only one lineage."""
    mine = {arena.slot(video, persona, round_) for round_ in range(arena.rules.rounds)}
    return replace(
        arena,
        wanted=lambda slot: slot in mine and arena.wanted(slot),
        settled=lambda slot: arena.settled(slot) if slot in mine else None,
    )


def _compare(found: Replayed, store: Store, battle: Battle) -> None:
    now = canonical_json(battle.model_dump(mode="json", by_alias=True))
    # Bytes and not records: what reading would forgive is a difference, too.
    if store.battle_bytes(battle.id) == now.encode():
        found.battles += 1
        return
    try:
        was = store.battle(battle.id)
    except StoreError as wrong:
        found.differences.append(f"{battle.id}: {wrong}")
        return
    names = Battle.model_fields
    fields = [name for name in names if getattr(was, name, None) != getattr(battle, name)]
    found.differences.append(f"{battle.id}: {', '.join(fields) or 'bytes'} differ")
