"""A cluster without Ray: owner, lender and workers in one event loop, messages are calls."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from videoautoarena.agents.limits.outages import Outage
from videoautoarena.agents.transport.transport import guard_sending
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.work import OnPlayed, Remaining
from videoautoarena.runs.cluster.bench import DrainedOnce, bench_setup, jobs_of, play_apart
from videoautoarena.runs.cluster.fence import Fence, RemoteCall
from videoautoarena.runs.cluster.jobs import Job, Refused, WorkerSetup
from videoautoarena.runs.cluster.lender import Lender
from videoautoarena.runs.cluster.owner import Owner
from videoautoarena.runs.cluster.worker import Worker
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.run.rundir.context import CallPacing, EarlyEnd

LEASE_S = 600.0
"""Longer than any test: nobody is given up."""


def carried(value: Any) -> Any:
    """Return what arrives at the other end of a wire."""
    return pickle.loads(pickle.dumps(value))


def asking(target: Callable[[], object]) -> RemoteCall:
    """Return a way to what stands there by then; values go through a message."""

    async def ask(method: str, *values: Any) -> Any:
        return carried(await getattr(target(), method)(*carried(values)))

    return ask


def end_loudly() -> None:
    """Stand for the end of a process, which no test of these comes to."""
    raise AssertionError("a worker was given up")


async def hired(
    name: str,
    setup: WorkerSetup,
    owner: RemoteCall,
    lender: Lender,
    *,
    on_end: Callable[[], object] = end_loudly,
) -> Worker:
    """Return a worker on a machine of its own, at work."""
    fence = Fence(on_end=on_end)
    to_lender = asking(lambda: lender)
    hand = Worker(name, f"machine-{name}", carried(setup), owner, to_lender, fence, LEASE_S)
    assert (await hand.start()).lacks == ()
    await lender.enlist(hand.name, hand.node)
    await hand.go()
    return hand


async def end(hands: list[Worker], lender: Lender, *beside: asyncio.Task[Any]) -> None:
    """End workers and their lender; calls of this process are nobody's business any more."""
    for hand in hands:
        await hand.stop()
    hands.clear()
    for task in filter(None, (*beside, lender._ticking)):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    guard_sending(lambda: None)


@dataclass
class OneLoop:
    """Plays benches by so many workers."""

    workers: int = 2
    jobs: list[Job] = field(default_factory=list)
    """Those that were played."""
    is_broke: bool = False
    lost: Outage | None = None
    under_way: int = 0
    drained: asyncio.Event = field(default_factory=asyncio.Event)
    _hands: list[Worker] = field(default_factory=list)

    async def play_bench(
        self,
        left: Remaining,
        ending: EarlyEnd,
        *,
        pace: CallPacing,
        listeners: Listeners,
        on_played: OnPlayed,
    ) -> None:
        """Fill a file of calls, as `RayEngine` does."""
        self.drained = asyncio.Event()
        hearing = DrainedOnce(ending, listeners)
        hearing.drain = self.drain
        with Store.open(left.file, write=False) as seen:
            setup = bench_setup(seen, left, pace)
        config = left.work.cast.config
        path = str(left.file)
        owner = Owner(path)
        lender = Lender(path, config, concurrency=pace.concurrency, lease_s=LEASE_S)
        await owner.begin()
        await lender.begin()
        watching = None
        try:
            for number in range(self.workers):
                self._hands.append(await hired(str(number), setup, asking(lambda: owner), lender))
            watching = asyncio.create_task(self._watch(lender, hearing))

            async def play(job: Job) -> None:
                await self._play(job, owner)
                await on_played(job.questions)

            work = play_apart(jobs_of(left), play, most=pace.concurrency)
            ending.end(self, stopped=await until_done(self, work, listeners))
        finally:
            await end(self._hands, lender, *filter(None, [watching]))
            await owner.close()

    async def _play(self, job: Job, owner: Owner) -> None:
        self.jobs.append(job)
        hand = self._hands[len(self.jobs) % len(self._hands)]
        while isinstance(found := await hand.play(job), Refused):
            await owner.condemn(found.video, f"no machine has its file ({found.reason})")
            job = replace(job, lost=job.lost | {found.video})

    async def _watch(self, lender: Lender, hearing: DrainedOnce) -> None:
        while True:
            roll = await lender.roll([hand.name for hand in self._hands])
            for hand in self._hands:
                for event in await hand.events():
                    if not isinstance(event, Outage):
                        hearing.hear(event)
            if roll.is_broke and not self.is_broke:
                self.is_broke = True
                self.drain()
            if all(hand._asker.drained.is_set() for hand in self._hands):
                self.drained.set()
            await asyncio.sleep(0.01)

    def announce(self, on_empty: object, on_outage: object) -> None:
        """Say nothing."""

    def drain(self) -> None:
        """Send nothing more."""
        for hand in self._hands:
            hand._drain()
