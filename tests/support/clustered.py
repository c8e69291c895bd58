"""A run on a cluster without Ray, in which workers and the owner die on command."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.lanes import BlockGame
from tests.support.one_loop import LEASE_S, asking, carried, end, hired
from videoautoarena.graph.context import BlockQueue, Visit
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.fence import RemoteCall
from videoautoarena.runs.cluster.jobs import Job, Unit, WorkerSetup
from videoautoarena.runs.cluster.lender import Lender
from videoautoarena.runs.cluster.owner import RunOwner
from videoautoarena.runs.cluster.worker import Worker
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.run.config.stopping_rule import kept_caps, kept_rule
from videoautoarena.runs.run.rundir.opener import Opened
from videoautoarena.runs.run.rundir.reader import run_file
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among
from videoautoarena.runs.tournament.runner import Limits
from videoautoarena.runs.tournament.schedule import blocks_of


class Ended(BaseException):
    """A worker's process would have ended here."""


def _end() -> None:
    raise Ended


@dataclass
class InOneLoop:
    """An engine whose machines are objects; `at_battle` is called after each one is settled."""

    workers: int = 3
    at_battle: Callable[[InOneLoop, int], None] = lambda _engine, _count: None
    hands: list[Worker] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    busy: Counter[str] = field(default_factory=Counter)
    """Units that each was ever given."""
    played: list[str] = field(default_factory=list)
    """Names of the workers, by the units that they ended."""
    _settled: int = 0
    _asked: set[asyncio.Task[Any]] = field(default_factory=set)
    """Calls of the owner's present life that it has not answered."""

    @asynccontextmanager
    async def playing(
        self, run: Opened, out: Path, *, limits: Limits, listeners: Listeners, newcomers_only: bool
    ) -> AsyncIterator[BlockGame]:
        """Yield a game that is played as a cluster would play it."""
        path = run_file(out)
        with Store.open(path, write=False) as seen:
            slots = Lineup(seen.slots()).slots.without(seen.settled_ids())
            rule = kept_rule(seen).rule
            caps = kept_caps(seen)
            sizes = {video.id: video.size_bytes for video in seen.videos()}
        self._open = lambda: RunOwner(str(path), run.config)
        self.owner = self._open()
        self.lender = Lender(str(path), run.config, concurrency=limits.concurrency, lease_s=LEASE_S)
        await self.owner.begin()
        await self.lender.begin()
        setup = WorkerSetup(run.config, run.prompts, 1.0, caps=caps, has_rule=rule is not None)
        for number in range(self.workers):
            ask = self._counting(self._ask_owner)
            hand = await hired(f"w{number}", setup, ask, self.lender, on_end=_end)
            self.hands.append(hand)
        of_newcomer = newcomers_among(slots)

        async def visit(one: Visit) -> None:
            await self.give(_job(run, one.video, sizes, generation=one.generation))

        async def meet(video: str) -> None:
            await self.give(_job(run, video, sizes, newcomers=True))

        blocks = [] if newcomers_only else blocks_of(slots.where(~of_newcomer))
        guests = list(dict.fromkeys(slot.video for slot in slots.where(of_newcomer)))
        try:
            yield BlockGame(BlockQueue(blocks), visit, guests, meet)
            for hand in self.hands:
                for event in await hand.events():
                    listeners.hear(event)
        finally:
            await end(self.hands, self.lender)
            await self.owner.close()

    async def _ask_owner(self, method: str, *values: Any) -> Any:
        """Return what a method comes to, of a later life where the owner dies meanwhile."""
        while True:
            asked = asyncio.ensure_future(self._once(method, *values))
            owner = self.owner
            self._asked.add(asked)
            try:
                return await asked
            except asyncio.CancelledError:
                if self.owner is owner:
                    raise
            finally:
                self._asked.discard(asked)

    async def _once(self, method: str, *values: Any) -> Any:
        return await asking(lambda: self.owner)(method, *values)

    def _counting(self, ask: RemoteCall) -> RemoteCall:
        async def counted(method: str, *values: Any) -> Any:
            answer = await ask(method, *values)
            if method == "settle":
                self._settled += 1
                self.at_battle(self, self._settled)
            return answer

        return counted

    async def give(self, job: Job) -> None:
        """Have a job played by whoever is not lost and has the least to do."""
        while True:
            able = [hand for hand in self.hands if hand.name not in self.lost]
            hand = min(able, key=lambda one: self.busy[one.name])
            self.busy[hand.name] += 1
            task = asyncio.ensure_future(hand.play(carried(job)))
            try:
                await task
            except (asyncio.CancelledError, Ended):
                if hand.name not in self.lost:
                    task.cancel()
                    raise
            else:
                self.played.append(hand.name)
                return

    def lose(self, name: str) -> None:
        """Let a worker die in the middle of whatever it does."""
        self.lost.add(name)
        hand = next(one for one in self.hands if one.name == name)
        for task in [*hand._playing.values(), *hand._background]:
            task.cancel()

    def begin_owner_anew(self) -> None:
        """Let the owner of the file die, and another open it."""
        for asked in self._asked:
            asked.cancel()
        self.owner._store.close()
        self.owner = self._open()


def _job(run: Opened, video: str, sizes: dict[str, int], **more: Any) -> Job:
    file = run.files[video].resolve()
    return Job(Unit(video, (video,)), str(file), sizes[video], **more)
