"""A cluster without Ray: owner, lender and workers in one event loop, messages are calls."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from videoautoarena.agents.limits.outages import Outage
from videoautoarena.agents.transport.transport import guard_sending
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.work import OnPlayed, Remaining
from videoautoarena.runs.cluster.bench import DrainedOnce, bench_setup, jobs_of, play_apart
from videoautoarena.runs.cluster.fence import Fence
from videoautoarena.runs.cluster.jobs import Job, Refused, Setup
from videoautoarena.runs.cluster.lender import Lender
from videoautoarena.runs.cluster.owner import Owner
from videoautoarena.runs.cluster.worker import Worker
from videoautoarena.runs.console.events import Listeners
from videoautoarena.runs.console.interrupts import until_done
from videoautoarena.runs.rundir.context import EarlyEnd, Pace

LEASE_S = 600.0
"""Longer than any test: nobody is given up."""


def asked(actor: object) -> Callable[..., Awaitable[Any]]:
    """Return what calls a method of something, with values that went through a message."""

    async def ask(method: str, *values: Any) -> Any:
        found = await getattr(actor, method)(*pickle.loads(pickle.dumps(values)))
        return pickle.loads(pickle.dumps(found))

    return ask


def end_loudly() -> None:
    """Stand for the end of a process, which no test of these comes to."""
    raise AssertionError("a worker was given up")


def worker(name: str, setup: Setup, owner: object, lender: object) -> Worker:
    """Return a worker on a machine of its own."""
    fence = Fence(on_end=end_loudly)
    told = pickle.loads(pickle.dumps(setup))
    return Worker(name, f"machine-{name}", told, asked(owner), asked(lender), fence, LEASE_S)


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
        pace: Pace,
        listeners: Listeners,
        on_played: OnPlayed,
    ) -> None:
        """Fill a file of calls, as `RayEngine` does."""
        self.drained = asyncio.Event()
        hearing = DrainedOnce(ending, listeners)
        hearing.drain = self.drain
        with Store.open(left.file, write=False) as seen:
            setup = bench_setup(seen, left, pace)
        config, path = left.work.cast.config, str(left.file)
        owner = Owner(path)
        lender = Lender(path, config, concurrency=pace.concurrency, lease_s=LEASE_S)
        await owner.begin()
        await lender.begin()
        watching = None
        try:
            for number in range(self.workers):
                hand = worker(str(number), setup, owner, lender)
                assert (await hand.start()).lacks == ()
                await lender.enlist(hand.name, hand.node)
                await hand.go()
                self._hands.append(hand)
            watching = asyncio.create_task(self._watch(lender, hearing))

            async def play(job: Job) -> None:
                await self._play(job, owner)
                await on_played(job.questions)

            work = play_apart(jobs_of(left), play, most=pace.concurrency)
            ending.end(self, stopped=await until_done(self, work, listeners))
        finally:
            for hand in self._hands:
                await hand.stop()
            self._hands.clear()
            for task in (watching, lender._ticking):
                if task is not None:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
            await owner.close()
            guard_sending(lambda: None)

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
