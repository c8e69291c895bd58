"""Following a run of another process: its file is read once a second and turned into events.

Nothing is written. Calls under way in the other process are in no file, so a lineage shows who
spoke last in it.
"""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.limits.outages import ServerWait
from videoautoarena.memory.records.records import CallRow
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    Listeners,
    PairDrawn,
    RuleRead,
    RunBegun,
    RunEnded,
)
from videoautoarena.runs.console.progress.interrupts import heard
from videoautoarena.runs.console.progress.local_state import (
    Machines,
    about_wait,
    machines_at_work,
    waiting_now,
)
from videoautoarena.runs.console.progress.status import holder
from videoautoarena.runs.formats.terminal import is_chatter_unread
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import kept_caps, kept_rule
from videoautoarena.runs.run.rundir.call_facts import FactCount, kept_limits, limit_lines
from videoautoarena.runs.run.rundir.reader import RunReader, lock_file, open_run
from videoautoarena.runs.run.rundir.slots import Lineup
from videoautoarena.runs.run.rundir.waves import Watch, Waves, ending_of, look_ahead

EVERY_S = 1.0


class Follower:
    """Passes on to listeners what is new in a run's file."""

    def __init__(self, folder: Path, listeners: Listeners) -> None:
        self._folder = folder
        self._listeners = listeners
        self._place = 0
        self._lineup = Lineup(())
        self._is_settled = np.zeros(0, dtype=np.bool_)
        """A mask of the slots that count and were passed on or settled before."""
        self._latest = 0
        self._slots = -1
        self._drawn: set[str] = set()
        self._limits: set[str] = set()
        """Lines about servers that were said already."""
        self._waves: Waves | None = None
        self._watch: Watch | None = None
        self._machines: Machines | None = None
        self._waiting: dict[str, float] = {}
        """Address of a server that refuses calls to when that began, in seconds since 1970."""
        self.total = 0

    @property
    def settled(self) -> int:
        """How many battles are settled, as far as the file was read."""
        return int(self._is_settled.sum())

    def look(self, process: int | None = None) -> None:
        """Pass on what is new since the last look; `process` plays the run."""
        # Opened anew for each look, since a Run remembers what it has read.
        with open_run(self._folder) as run:
            # Slots are only ever added.
            if run.store.count_slots() != self._slots:
                self._begin(run)
            self._place, rows = run.store.journal.after(self._place)
            for row in rows:
                self._call(run, row)
            for line in limit_lines(kept_limits(run.store)):
                if line not in self._limits:
                    self._limits.add(line)
                    self._listeners.say(line)
            self._latest, new = run.store.settled_after(self._latest)
            for id_ in new:
                self._settle(run, id_)
            self._look_for_rule(run)
            self._look_for_waits(run, process)
            machines = machines_at_work(run.store, process)
            if machines is not None and machines != self._machines:
                self._machines = machines
                self._listeners.hear(machines)

    def _look_for_waits(self, run: RunReader, process: int | None) -> None:
        """Pass on at which servers calls wait now, and at which they no longer do."""
        waiting = {one.address: one for one in waiting_now(run.store, process)}
        for address, since_s in list(self._waiting.items()):
            if address not in waiting:
                del self._waiting[address]
                # The clock may have been set back meanwhile.
                self._hear_wait(ServerWait(address, "over", max(time.time() - since_s, 0.0)))
        for address, one in waiting.items():
            if address not in self._waiting:
                self._waiting[address] = one.since_s
                self._hear_wait(one.wait)

    def _hear_wait(self, wait: ServerWait) -> None:
        self._listeners.say(about_wait(wait))
        self._listeners.hear(wait)

    def _begin(self, run: RunReader) -> None:
        manifest = run.manifest
        # First: what is settled from here on may be part of `Begun`, and is then passed over.
        self._latest = run.store.last_settled()
        self.total = len(run.slots)
        self._lineup = run.lineup
        self._slots = len(run.store.slots())
        self._is_settled = run.slots.among(run.settled)
        # They were made for the slots that there were before.
        self._watch = self._waves = None
        self._listeners.hear(
            RunBegun(
                out=self._folder,
                seed=manifest["seed"],
                rounds=manifest["rounds"],
                models=tuple(manifest["models"]),
                examiner=manifest["examiner"],
                judges=tuple(manifest["judges"]),
                videos={video.id: video.path for video in run.store.videos()},
                slots=run.slots,
                battles=run.battles,
                caps=kept_caps(run.store),
                # Every call is passed on yet, and of a run that has grown all were.
                facts=None if self._place else FactCount.of_answers(run.store),
                played_s=_played_s(lock_file(self._folder)),
            )
        )

    def _settle(self, run: RunReader, id_: str) -> None:
        row = self._lineup.slots.find(id_)
        battle = run.store.battle(id_) if row is not None and not self._is_settled[row] else None
        if battle is None:
            return
        self._is_settled[row] = True
        self._drawn.discard(id_)
        self._listeners.hear(BattleSettled(battle))
        if self._waves is not None:
            self._waves.note(ending_of(battle))

    def _look_for_rule(self, run: RunReader) -> None:
        """Pass on the present reading of the stopping rule."""
        rule = kept_rule(run.store).rule
        if rule is None:
            self._watch = self._waves = None
            return
        # A rule may change whenever the run is continued.
        if self._watch is None or self._watch.rule != rule or self._waves is None:
            config = RunConfig.of_manifest(run.manifest)
            self._waves = Waves.of(run.store, config.models)
            self._watch = Watch(
                rule, config, self._waves, lambda r: self._listeners.hear(RuleRead(r))
            )
        self._watch.look()

    def _call(self, run: RunReader, row: CallRow) -> None:
        slot = self._lineup.current(row.nonce.scope)
        # No call says who was drawn: the draw is read at the first answer of a slot, and once.
        if row.nonce.role == "contestant" and slot not in self._drawn and self._is_open(slot):
            self._drawn.add(slot)
            draw = run.store.draw(slot)
            if draw is not None:
                self._listeners.hear(PairDrawn(draw))
        self._listeners.hear(
            CallEvent(
                "finished",
                row.alias,
                row.nonce,
                fault=row.failure_kind,
                seconds=row.latency_s,
                usage=row.usage,
                cost_usd=row.cost_usd,
                may_have_cost_usd=row.may_have_cost_usd,
                attempts=row.attempts,
                ending=row.ending,
                text=row.reply or row.failure or "",
            )
        )

    def _is_open(self, slot: str) -> bool:
        row = self._lineup.slots.find(slot)
        return row is None or not self._is_settled[row]


async def follow(folder: Path, listeners: Listeners) -> str:
    """Follow a run until its process ends or somebody interrupts; return its state in a line."""
    lock = lock_file(folder)
    follower = Follower(folder, listeners)
    left = asyncio.Event()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with heard(dict.fromkeys(signals, left.set)):
        while True:
            # Asked before the file is read: what the process committed last, before it ended, is
            # then seen.
            process = holder(lock)
            follower.look(process)
            # A follower does nothing but talk: without a reader it ends.
            if is_chatter_unread():
                left.set()
            if process is None or left.is_set():
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(left.wait(), EVERY_S)
    is_whole = follower.settled >= follower.total
    if not is_whole:
        with open_run(folder) as run:
            # A run that its rule has stopped has come to its end, too.
            is_whole = look_ahead(run.store).is_stopped
    listeners.hear(RunEnded(interrupted=not is_whole))
    counts = f"{follower.settled} of {follower.total} battles settled"
    if left.is_set() and process is not None:
        return f"no longer following: {counts}; process {process} is still running it"
    return f"{'finished' if is_whole else 'stopped, no process is running it'}: {counts}"


def _played_s(lock: Path) -> float:
    """Return the seconds since a process wrote its id into the lock; 0 if none holds it."""
    return max(time.time() - lock.stat().st_mtime, 0.0) if holder(lock) else 0.0
