"""The workers of a run: who plays what, who was lost, and the state of all of them.

A job is handed to the machine with the least to do. Where a worker is lost it is played by another,
but not before the lender says that the lost one's time has run out: until then nobody can know
whether it still sends.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ray.exceptions import RayError

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.limits.outages import Outage, ServerWait
from videoautoarena.memory.records.errors import ArenaError, BadInput, StoreError
from videoautoarena.runs.cluster.actors import (
    ClusterWorker,
    HeadClient,
    WorkerActor,
    calls_of,
    is_away,
)
from videoautoarena.runs.cluster.connection import ClusterConnection, Node, own_version
from videoautoarena.runs.cluster.jobs import Job, Refused, Roll, WorkerSetup
from videoautoarena.runs.cluster.worker import Ready
from videoautoarena.runs.console.progress.events import Hear, Say
from videoautoarena.runs.console.progress.local_state import Machine, Machines
from videoautoarena.runs.formats.terminal import safe

LOOK_S = 0.5
"""Seconds between two looks at all workers."""
START_S = 120.0
"""How long a worker may take to be set up."""
CPUS_EACH = 4
"""Processors of a machine for each worker, whose decoders are processes of their own."""
TROUBLE = 5
"""A machine is left out once so many workers in a row died there without ending a job."""


@dataclass(eq=False)
class Crew:
    """All workers of one run."""

    cluster: ClusterConnection
    setup: WorkerSetup
    owner: HeadClient
    lender: HeadClient
    lease_s: float
    say: Say
    hear: Hear
    is_draining: bool = False
    is_broke: bool = False
    lost: Outage | None = None
    drained: asyncio.Event = field(default_factory=asyncio.Event)
    watching: asyncio.Task[None] | None = None
    """The task that looks after the workers; if it fails, the run ends."""
    _hands: list[WorkerActor] = field(default_factory=list)
    _roll: Roll | None = None
    _losses: int = 0
    _troubles: dict[str, int] = field(default_factory=dict)
    _left_out: dict[str, str] = field(default_factory=dict)
    """Machines that are not played on, by their ids, and why."""
    _unheard: set[str] = field(default_factory=set)
    """Ids of machines that did not answer when they were asked last."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _on_empty: Callable[[], None] = lambda: None
    _on_outage: Callable[[Outage | ServerWait], None] = lambda _outage: None
    _away: set[str] = field(default_factory=set)
    """Addresses that some worker cannot reach."""
    _full: set[str] = field(default_factory=set)
    """Addresses that refuse calls of some worker for now."""
    _calls: Counter[str] = field(default_factory=Counter)
    """Machine to the calls that finished there, those of lost workers included."""
    _lost: Counter[str] = field(default_factory=Counter)
    """Machine to the number of its workers that were given up."""
    _shown: Machines | None = None

    @property
    def under_way(self) -> int:
        """How many tries have been sent and have not come back, on all machines."""
        return sum(one.under_way for one in self._roll.hands) if self._roll else 0

    def announce(
        self, on_empty: Callable[[], None], on_outage: Callable[[Outage | ServerWait], None]
    ) -> None:
        """Set what is called at the cap, and when an endpoint is gone, full or back."""
        self._on_empty = on_empty
        self._on_outage = on_outage

    def drain(self) -> None:
        """Send nothing more; calls under way are finished."""
        self.is_draining = True
        for hand in self._hands:
            hand.actor.drain.remote()
        if not self._hands:
            self.drained.set()

    async def start(self) -> None:
        """Start workers on all machines that have what they need; BadInput if none has."""
        await self._man(self.cluster.nodes())
        if not self._hands:
            none = "none of them answers" if self._unheard else "none has processors"
            reasons = "; ".join(self._left_out.values()) or none
            raise BadInput(f"no machine of the cluster can play ({safe(reasons)})")

    async def _man(self, nodes: Sequence[Node]) -> None:
        """Start workers on machines; one that lacks something is named once and left out."""
        await asyncio.gather(*(self._man_one(node) for node in nodes))

    async def _man_one(self, node: Node) -> None:
        found = await self.cluster.probe(node, (), ())
        why = None
        if found is None:
            # It may be gone, or come back: it is asked again for as long as the cluster lists it.
            if node.id not in self._unheard:
                self._unheard.add(node.id)
                self.say(f"machine {safe(node.name)} does not answer")
            return
        self._unheard.discard(node.id)
        if "error" in found:
            why = f"videoautoarena cannot be used there ({found['error']}); install it there"
        elif found["version"] != own_version():
            why = f"it has videoautoarena {found['version']}, this machine {own_version()}"
        if why is None:
            starting = (self._enlist(node) for _ in range(self._missing(node)))
            whys = await asyncio.gather(*starting)
            why = next(filter(None, whys), None)
        if why is not None and node.id not in self._left_out:
            self._left_out[node.id] = f"{node.name}: {why}"
            self.say(f"machine {safe(node.name)} is left out: {safe(why)}")

    def _missing(self, node: Node) -> int:
        """Return how many more workers a machine should have."""
        there = sum(hand.node.id == node.id for hand in self._hands)
        return max(1, node.cpus // CPUS_EACH) - there

    async def _enlist(self, node: Node) -> str | None:
        """Start a worker; return what it lacks, if anything."""
        # Never the name of an earlier worker, the number of whose last message stands in the file.
        name = f"{node.id[:8]}-{next(self._numbers)}-{id(self):x}"
        head = (self.owner.actor, self.lender.actor)
        values = (name, node.name, self.setup, head, self.lease_s)
        actor = self.cluster.on_node(node, ClusterWorker, *values)
        try:
            async with asyncio.timeout(START_S):
                ready: Ready = await calls_of(actor)("start")
            if ready.lacks:
                self.cluster.kill(actor)
                return "; ".join(ready.lacks)
            # Only now: to import and to connect may take longer than a lease.
            await self.lender("enlist", name, node.name)
            await calls_of(actor)("go")
        # It means that the owner or the lender is gone, and not that this machine is unfit.
        except StoreError:
            raise
        except (ArenaError, RayError, TimeoutError) as error:
            # Whatever is wrong with a machine, the others go on.
            self.cluster.kill(actor)
            if is_away(error):
                return "its worker ended before it began"
            if isinstance(error, TimeoutError):
                return f"its worker takes longer than {START_S:.0f} s to begin"
            words = " ".join(str(error).split())[:200]
            return f"its worker cannot begin ({words or type(error).__name__})"
        hand = WorkerActor(name, node, actor)
        self._hands.append(hand)
        if self.is_draining:
            actor.drain.remote()
        self._changed.set()
        return None

    async def play(self, job: Job) -> None:
        """Play a job to its end on any machine; void if none of them has its video."""
        refused: dict[str, Refused] = {}
        while True:
            hand = await self._pick(refused)
            if hand is None:
                those = [one for _, one in sorted(refused.items())]
                why = "; ".join(f"{one.node}: {one.reason}" for one in those)
                lost = {one.video for one in those}
                for video in sorted(lost):
                    # Written down before the job is given out again, as the reason of the voids.
                    await self.owner("condemn", video, f"no machine has its file ({why})")
                job = replace(job, lost=job.lost | lost)
                refused = {}
                continue
            found = await self._try(hand, job)
            if found is None:
                return
            if isinstance(found, Refused):
                refused[hand.node.id] = found

    async def _try(self, hand: WorkerActor, job: Job) -> Refused | str | None:
        """Let a worker play a job; return why it has to be played again, None if it ended."""
        hand.busy.add(job.unit.name)
        playing = asyncio.ensure_future(calls_of(hand.actor)("play", job))
        gone = asyncio.ensure_future(hand.gone.wait())
        try:
            await asyncio.wait({playing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                return "its worker was lost"
            try:
                refusal: Refused | None = playing.result()
            except Exception as error:
                if not is_away(error):
                    raise
                self._lose(hand)
                # Until its lease has run out it may still send: a second worker would pay for the
                # same calls.
                await hand.gone.wait()
                return "its worker was lost"
            hand.has_ended_one = True
            self._troubles.pop(hand.node.id, None)
            return refusal
        finally:
            hand.busy.discard(job.unit.name)
            playing.cancel()
            gone.cancel()
            self._changed.set()

    async def _pick(self, refused: Mapping[str, Refused]) -> WorkerActor | None:
        """Return the worker with the least to do; None if every machine refused.

        A machine that has lost its worker has not refused: it is waited for until it has a new one.
        """
        loop = asyncio.get_running_loop()
        # As long as for a server that cannot be reached.
        until_s = loop.time() + self.setup.patience_s
        is_said = False
        while True:
            alive = [hand for hand in self._hands if not hand.is_lost]
            able = [hand for hand in alive if hand.node.id not in refused]
            if able:
                return min(able, key=lambda hand: len(hand.busy))
            is_late = loop.time() > until_s
            if alive and (is_late or not await self._is_awaited(refused)):
                return None
            if is_late:
                raise StoreError(
                    "no machine of the cluster is left to play on; nothing is lost: the same "
                    "command continues once there is one"
                )
            if not alive and not is_said:
                is_said = True
                self.say("no machine of the cluster is left to play on; waiting for one")
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LOOK_S)

    async def _is_awaited(self, refused: Mapping[str, Refused]) -> bool:
        """Return whether the cluster lists a machine that has no worker, but may get one."""
        manned = {hand.node.id for hand in self._hands if not hand.is_lost}
        # Ray answers in its own time, and blocks meanwhile.
        nodes = await asyncio.to_thread(self.cluster.nodes)
        others = {node.id for node in nodes} - manned - refused.keys()
        return bool(others - self._left_out.keys())

    def _lose(self, hand: WorkerActor) -> None:
        """Give a worker up; `gone` is set once its time has run out."""
        if hand.losing is None:
            self._losses += 1
            self._lost[hand.node.name] += 1
            hand.losing = asyncio.ensure_future(self._see_off(hand))

    async def _see_off(self, hand: WorkerActor) -> None:
        self.say(
            f"a worker on {safe(hand.node.name)} is lost with {len(hand.busy)} videos; they are "
            "played again once its lease has run out"
        )
        while not await self.lender("is_gone", hand.name):
            await asyncio.sleep(LOOK_S / 2)
        # Before anybody else claims its videos, so that a late message of it changes nothing.
        await self.owner("cut_off", hand.name)
        self.cluster.kill(hand.actor)
        hand.gone.set()
        self._hands.remove(hand)
        if not hand.has_ended_one:
            self._troubles[hand.node.id] = self._troubles.get(hand.node.id, 0) + 1
        # Else workers would be started and lost there for as long as the run lasts.
        if self._troubles.get(hand.node.id, 0) >= TROUBLE:
            self._left_out[hand.node.id] = f"{hand.node.name}: its workers die"
            self.say(f"machine {safe(hand.node.name)} is left out: its workers die")
        self._changed.set()

    async def guarding(self, work: Awaitable[object]) -> None:
        """Await work that workers do; raise the error of `watching` if that ends first."""
        working = asyncio.ensure_future(work)
        try:
            await asyncio.wait(
                {working, *filter(None, [self.watching])}, return_when=asyncio.FIRST_COMPLETED
            )
            if not working.done() and self.watching is not None:
                self.watching.result()
            await working
        finally:
            working.cancel()
            await asyncio.wait({working})

    async def watch(self) -> None:
        """Look after all workers, until cancelled."""
        manning: asyncio.Task[None] | None = None
        asking: asyncio.Future[bool] | None = None
        while True:
            if asking is None or asking.done():
                if asking is not None:
                    asking.result()
                # Workers would wait for an owner for ever.
                asking = asyncio.ensure_future(self.owner("is_there"))
            known = [hand.name for hand in self._hands]
            self._roll = await self.lender("roll", known)
            self._look(self._roll)
            self._raise_what_failed()
            self._listen()
            self._show()
            if manning is None or manning.done():
                if manning is not None:
                    manning.result()
                # Machines may join, or come back, at any time.
                manning = asyncio.ensure_future(self._man_more())
            await asyncio.sleep(LOOK_S)

    async def _man_more(self) -> None:
        """Start workers on machines that have none: new ones, and those that lost theirs."""
        await asyncio.sleep(LOOK_S)
        nodes = await asyncio.to_thread(self.cluster.nodes)
        free = [n for n in nodes if self._missing(n) > 0 and n.id not in self._left_out]
        if free and not self.is_draining:
            await self._man(free)

    def _raise_what_failed(self) -> None:
        for hand in self._hands:
            if hand.losing is not None and hand.losing.done():
                hand.losing.result()

    def _look(self, roll: Roll) -> None:
        gone = {one.worker for one in roll.hands if one.is_gone}
        for hand in list(self._hands):
            if hand.name in gone:
                self._lose(hand)
        if roll.is_broke and not self.is_broke:
            self.is_broke = True
            self._on_empty()
            self.drain()
        if roll.lost is not None and self.lost is None and not self.is_broke:
            self.lost = roll.lost
            self._on_outage(roll.lost)
            self.drain()
        working = {hand.name for hand in self._hands if not hand.is_lost}
        if self.is_draining and working <= roll.drained:
            self.drained.set()

    def _listen(self) -> None:
        """Pass on the events of the workers, without waiting for one that is silent."""
        for hand in [hand for hand in self._hands if not hand.is_lost]:
            if hand.telling is None:
                hand.telling = asyncio.ensure_future(calls_of(hand.actor)("events"))
            elif hand.telling.done():
                told = hand.telling
                hand.telling = None
                self._hear_of(hand, told)

    def _hear_of(self, hand: WorkerActor, told: asyncio.Future[list[Any]]) -> None:
        try:
            events = told.result()
        except Exception as error:
            if not is_away(error):
                raise
            self._lose(hand)
            return
        for event in events:
            self._pass_on(event)

    def _pass_on(self, event: Any) -> None:
        if isinstance(event, ServerWait):
            if (event.state == "waiting") != (event.address in self._full):
                self._full ^= {event.address}
                self._on_outage(event)
            return
        if not isinstance(event, Outage):
            if isinstance(event, CallEvent) and event.kind == "finished":
                self._calls[event.node] += 1
            self.hear(event)
            return
        if event.state == "given-up":
            # Said once for all workers, when the run drains.
            return
        # Each worker finds out for itself; a person hears of it once.
        if (event.state == "waiting") != (event.address in self._away):
            self._away ^= {event.address}
            self._on_outage(event)

    def _show(self, *, is_over: bool = False) -> None:
        workers = Counter(hand.node.name for hand in self._hands if not hand.is_lost)
        flying: Counter[str] = Counter()
        for one in self._roll.hands if self._roll and not is_over else ():
            flying[one.node] += one.under_way
        names = sorted({*workers, *self._calls, *self._lost})
        of = (Machine(n, workers[n], flying[n], self._calls[n], self._lost[n]) for n in names)
        shown = Machines(tuple(of), self._losses)
        if shown != self._shown:
            self._shown = shown
            self.hear(shown)

    async def stop(self) -> None:
        """End all workers; what they have under way is written down first."""
        hands = [hand for hand in self._hands if not hand.is_lost]
        with suppress(TimeoutError):
            # A worker that hangs ends by itself once its lease has run out.
            async with asyncio.timeout(self.lease_s):
                await asyncio.gather(*map(self._end, hands), return_exceptions=True)
        self._show(is_over=True)
        for hand in self._hands:
            if hand.losing is not None:
                hand.losing.cancel()
            self.cluster.kill(hand.actor)

    async def _end(self, hand: WorkerActor) -> None:
        """End a worker, and pass on what it still had to tell."""
        await calls_of(hand.actor)("stop")
        told = [hand.telling] if hand.telling is not None else []
        for events in (*told, calls_of(hand.actor)("events")):
            for event in await events:
                self._pass_on(event)
