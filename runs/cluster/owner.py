"""The one writer: it has the run's file open, on the head's disk, and writes what workers send.

It may die at any moment and begin again: all that it knows stands in the file. Workers repeat what
they were not told was committed, under the same number, so that nothing counts twice. Who was cut
off writes nothing more.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.records.records import Battle, Draw
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.shares import Share, UnitClaim, Write
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.jobs import Claimed, Job, Part
from videoautoarena.runs.console.progress.local_state import Machines, keep_machines
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import RuleReading, kept_rule
from videoautoarena.runs.run.rundir.failures import condemn
from videoautoarena.runs.run.rundir.slots import LineageLanguages, Lineup, newcomers_among
from videoautoarena.runs.run.rundir.waves import Watch, Waves, ending_of
from videoautoarena.runs.tournament.draws import Draws, NewcomerDraws, WrittenDraws, write_draws
from videoautoarena.runs.tournament.runner import at_once


class Owner:
    """Owns a file of calls; raises RunLocked if another process does."""

    def __init__(self, path: str, *, fsync: bool = False) -> None:
        # Calls may be under way of which only workers know: this is not the first life.
        self._store = Store.open(Path(path), write=True, fsync=fsync, is_alone=False)
        self._epochs = self._store.shares.epochs()
        self._numbers = self._store.shares.deliveries()
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._cut_off: set[str] = set()

    async def begin(self) -> None:
        """Begin a session of work on the run, whose time is counted."""
        self._store.sessions.begin()

    async def is_there(self) -> bool:
        """Return True: whoever asks wants to know that somebody answers."""
        return True

    async def common(self) -> Share:
        """Return what every worker needs of the file."""
        return self._store.shares.common()

    async def claim(self, job: Job, worker: str) -> Claimed | None:
        """Give a unit to one worker, and to nobody else; None if that worker was cut off."""
        unit = job.unit
        if worker in self._cut_off:
            return None
        # In the memory before the file: from here on nothing of an earlier claim is taken, while
        # the new one is being committed.
        epoch = self._epochs[unit.name] = self._epochs.get(unit.name, 0) + 1
        await self._store.shares.claim(unit, epoch, worker)
        share = self._store.shares.of(unit)
        return Claimed(UnitClaim(unit.name, epoch), share, self._part(job))

    async def deliver(self, worker: str, number: int, writes: Sequence[Write]) -> list[bool]:
        """Commit a message of a worker, once; return for each write whether its claim holds.

        What is written by a claim that holds no longer is left out. Messages of a worker are
        numbered from 1 and come one after the other; a number that was committed changes nothing.
        """
        # One message of a worker at a time: a repeated one may arrive while the first is being
        # committed, and must find its number in place.
        async with self._locks[worker]:
            held = [worker not in self._cut_off and self._holds(one.claim) for one in writes]
            if number > self._numbers.get(worker, 0):
                pairs = zip(writes, held, strict=True)
                taken = [sql for write, is_held in pairs if is_held for sql in write.statements]
                await self._store.shares.deliver(worker, number, taken)
                self._numbers[worker] = number
            return held

    async def cut_off(self, worker: str) -> None:
        """Take nothing more from a worker, though messages of it may still arrive."""
        self._cut_off.add(worker)

    async def condemn(self, video: str, reason: str) -> None:
        """Write down that no machine has a video, and why."""
        condemn(self._store, video, reason)

    async def note_machines(self, machines: Machines) -> None:
        """Keep the state of the machines in the file, for whoever follows the run from outside."""
        keep_machines(self._store, machines, os.getpid())

    async def close(self) -> None:
        """Write what is under way, and close the file."""
        self._store.close()

    def _holds(self, claim: UnitClaim) -> bool:
        return self._epochs.get(claim.unit) == claim.epoch

    def _part(self, _job: Job) -> Part | None:
        return None


class RunOwner(Owner):
    """Owns a run: it alone draws pairs, since it alone sees whole waves."""

    def __init__(self, path: str, config: RunConfig, *, fsync: bool = False) -> None:
        super().__init__(path, fsync=fsync)
        store = self._store
        self._slots = slots = store.slots()
        self._lineup = Lineup(slots)
        self._videos = {video.id: video for video in store.videos()}
        self._waves = Waves.of(store, config.models)
        rule = kept_rule(store).rule
        self._reading: RuleReading | None = None
        self._watch = rule and Watch(rule, config, self._waves, self._note_reading)
        self._guests = NewcomerDraws(config, store)
        self._draws = WrittenDraws(Draws(config, slots, self._waves, self._guests), store)
        self._languages = LineageLanguages(
            config.languages, self._lineup.lineages, seed=config.seed
        )

    async def begin(self) -> None:
        """Begin a session, and write down whom newcomers meet."""
        await super().begin()
        slots = self._lineup.slots
        guests = slots.where(newcomers_among(slots))
        await write_draws(self._store, self._guests, guests, at_once)

    async def draw(self, claim: UnitClaim, slot: str) -> Draw | None:
        """Return the draw of a slot, which is written down first; None if the claim does not hold.

        Waits until the waves are settled that the draw looks at.
        """
        return await self._draws(slot) if self._holds(claim) else None

    async def turn(self, claim: UnitClaim, slot: str) -> bool | None:
        """Return whether a rule lets a slot be played, once that is known; None as from `draw`."""
        if not self._holds(claim):
            return None
        return self._watch is None or await self._watch.turn(slot)

    async def settle(self, claim: UnitClaim, battle: Battle) -> bool:
        """Commit a battle, and return whether the claim held."""
        if not self._holds(claim):
            return False
        await self._store.put_battle(battle)
        # After the commit: draws that wait for this wave must not rest on what a death could undo.
        self._waves.note(ending_of(battle))
        return True

    async def reading(self) -> RuleReading | None:
        """Return the latest reading of the stopping rule, of the waves settled by now."""
        if self._watch is not None:
            self._watch.look()
        return self._reading

    def _note_reading(self, reading: RuleReading) -> None:
        self._reading = reading

    def _part(self, job: Job) -> Part:
        video = self._videos[job.unit.name]
        # As a table of its own, which is all that goes to the worker.
        about = Slots.of(list(self._slots.where(self._slots.about(video.id))))
        standing = Lineup(about).slots
        of_newcomer = newcomers_among(standing)
        due = standing.where(of_newcomer if job.newcomers else ~of_newcomer)
        # A visit goes as far as one generation; slots of a later one may wait for waves of other
        # blocks.
        if not job.newcomers:
            due = due.where(due.generations <= job.generation)
        met = [slot.id for slot in due if job.newcomers and not self._store.has_battle(slot.id)]
        return Part(
            video,
            about,
            frozenset(due.ids),
            {persona: self._languages.of(video.id, persona) for persona in PERSONAS},
            {slot: self._guests.source_of(slot) for slot in met},
        )
