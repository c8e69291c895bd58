"""Running a run again from its journal: no network, nothing written, every battle the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Self

from agents.ask import Asker
from graph.context import Arena
from graph.state import is_guest, lineage_id
from memory.digests import canonical_json
from memory.errors import JournalMiss, StoreError
from memory.records import Battle, Slot
from memory.store import Store
from runs.assembly import Ways, assemble
from runs.config import RunConfig
from runs.draws import Draws, WrittenDraws
from runs.footage import Footage
from runs.guests import GuestDraws
from runs.opening import stored_prompts
from runs.reading import run_file
from runs.schedule import Visit, blocks_of, play_blocks
from runs.slots import Lineup
from runs.waves import Waves


@dataclass
class Replayed:
    """What a replay found."""

    battles: int = 0
    """How many came out the same."""
    others: int = 0
    """How many did not."""
    differences: list[str] = field(default_factory=list)
    """What was different, a line each."""


async def replay(out: Path) -> Replayed:
    """Play every settled slot of the run in `out` from its journal and compare, byte for byte.

    Where slots were superseded the run is played as it stood in each generation. Costs no model
    call and touches no network, no video and no file but the run's.
    """
    with Store.open(run_file(out), write=False) as store:
        found = Replayed()
        settled = store.settled_ids()
        again: set[str] = set()

        async def compare(battle: Battle) -> None:
            again.add(battle.id)
            _compare(found, store, battle)

        slots, config = store.slots(), RunConfig.of_manifest(store.manifest())
        waves = Waves.of(store, config.models)
        for generation in sorted({slot.generation for slot in slots}):
            view = _View.of(slots, generation, settled)
            if view.fresh:
                arena = _arena(store, compare, view, waves)
                await _play(arena, [s for s in view.fresh if not is_guest(s.id)], found)
                guests = [slot.id for slot in view.fresh if is_guest(slot.id)]
                await _play_guests(arena, guests, GuestDraws(config, store), found)
        missing = sorted(settled - again)
        found.differences += [f"{battle}: was not reached again" for battle in missing]
        found.others = len(settled) - found.battles
        return found


class _View(NamedTuple):
    """A run as it stood in one generation."""

    generation: int
    lineup: Lineup
    fresh: list[Slot]
    """What was settled in this generation; earlier ones have had their turn."""
    before: set[str]
    """Ids of what was settled in earlier ones and still counts."""

    @classmethod
    def of(cls, slots: Sequence[Slot], generation: int, settled: Container[str]) -> Self:
        lineup = Lineup(slot for slot in slots if slot.generation <= generation)
        done = [slot for slot in lineup.slots if slot.id in settled]
        fresh = [slot for slot in done if slot.generation == generation]
        before = {slot.id for slot in done} - {slot.id for slot in fresh}
        return cls(generation, lineup, fresh, before)


def _arena(
    store: Store, compare: Callable[[Battle], Awaitable[None]], view: _View, waves: Waves
) -> Arena:
    config = RunConfig.of_manifest(store.manifest())
    videos = {video.id: video for video in store.videos()}
    slots = {slot.id: slot for slot in store.slots()}
    if strangers := sorted({slot.video for slot in slots.values()} - videos.keys()):
        raise StoreError(f"the run has slots of {strangers[0]}, but no such video")
    sampling, then = config.sampling, view.generation
    footage = Footage(store, None, files={}, sampling=sampling, videos=videos, generation=then)
    asker = Asker(store.journal, footage.jpegs, seed=config.seed, is_replay=True)
    fresh = {slot.id for slot in view.fresh}
    ways = Ways(
        frames=footage.frames,
        draw=WrittenDraws(
            Draws(config, slots, waves, GuestDraws(config, store)), store, read_only=True
        ),
        settle=compare,
        settled=lambda slot: store.battle(slot) if slot in view.before else None,
        wanted=fresh.__contains__,
        lineup=view.lineup,
    )
    return assemble(config, asker, prompts=stored_prompts(store), videos=videos, ways=ways)


async def _play(arena: Arena, slots: Sequence[Slot], found: Replayed) -> None:
    from graph.tournament import play

    users: dict[str, set[int]] = {}
    for slot in slots:
        users.setdefault(slot.video, set()).add(slot.persona)

    async def play_lineage(video: str, persona: int) -> None:
        try:
            await play(_alone(arena, video, persona), video)
        except (JournalMiss, StoreError) as wrong:
            found.differences.append(f"{lineage_id(video, persona)}: {wrong}")

    # Each lineage by itself: what is wrong with one must not end the others.
    async def play_again(visit: Visit) -> None:
        for persona in sorted(users[visit.video]):
            await play_lineage(visit.video, persona)

    await play_blocks(blocks_of(slots), play_again)


async def _play_guests(
    arena: Arena, slots: Sequence[str], guests: GuestDraws, found: Replayed
) -> None:
    from graph.guest import play_guest

    for slot in slots:
        try:
            await play_guest(arena, slot, guests.source_of(slot))
        except (JournalMiss, StoreError) as wrong:
            found.differences.append(f"{slot}: {wrong}")


def _alone(arena: Arena, video: str, persona: int) -> Arena:
    """Return an arena that knows of one lineage only."""
    mine = {arena.slot(video, persona, round_) for round_ in range(arena.rules.rounds)}
    return replace(
        arena,
        wanted=lambda slot: slot in mine and arena.wanted(slot),
        settled=lambda slot: arena.settled(slot) if slot in mine else None,
    )


def _compare(found: Replayed, store: Store, battle: Battle) -> None:
    now = canonical_json(battle.model_dump(mode="json", by_alias=True))
    then = store.battle_bytes(battle.id)
    if then == now.encode():
        found.battles += 1
        return
    try:
        was = store.battle(battle.id)
    except StoreError as wrong:
        found.differences.append(f"{battle.id}: {wrong}")
        return
    fields = [
        name for name in Battle.model_fields if getattr(was, name, None) != getattr(battle, name)
    ]
    found.differences.append(f"{battle.id}: {', '.join(fields) or 'bytes'} came out differently")
