"""Playing a run on a Ray cluster: the head hands out videos, one process there owns the file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from videoautoarena.agents.limits.prices import NOTHING
from videoautoarena.graph.context import BlockQueue, Visit
from videoautoarena.memory.store.shares import Unit
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.work import OnPlayed, Remaining
from videoautoarena.runs.cluster.actors import (
    CallsOwnerActor,
    HeadClient,
    LenderActor,
    RunOwnerActor,
)
from videoautoarena.runs.cluster.bench import DrainedOnce, bench_setup, jobs_of, play_apart
from videoautoarena.runs.cluster.connection import ClusterConnection
from videoautoarena.runs.cluster.crew import LOOK_S, Crew
from videoautoarena.runs.cluster.jobs import LEASE_S, Job, WorkerSetup, setup_from
from videoautoarena.runs.cluster.lender import limits_in
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    Hear,
    Listeners,
    RuleRead,
    RunEvent,
    all_of,
)
from videoautoarena.runs.console.progress.interrupts import until_done, until_drained
from videoautoarena.runs.console.progress.local_state import Machines
from videoautoarena.runs.console.progress.otlp import recorded
from videoautoarena.runs.jobs.paid_job import AT_WORK
from videoautoarena.runs.run.config.stopping_rule import RuleReading, kept_rule
from videoautoarena.runs.run.rundir.context import CallPacing, EarlyEnd, all_done
from videoautoarena.runs.run.rundir.opener import Opened
from videoautoarena.runs.run.rundir.reader import run_file
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among
from videoautoarena.runs.tournament.runner import Early, Limits
from videoautoarena.runs.tournament.schedule import blocks_of


@dataclass(frozen=True)
class RayEngine:
    """Plays runs and benches on a cluster."""

    cluster: ClusterConnection
    lease_s: float = LEASE_S

    @asynccontextmanager
    async def playing(
        self, run: Opened, out: Path, *, limits: Limits, listeners: Listeners, newcomers_only: bool
    ) -> AsyncIterator[ClusterGame]:
        """Yield the game of a run whose videos are played by workers."""
        path = run_file(out).resolve()
        # For reading alone: the owner holds the lock of the file.
        with Store.open(path, write=False) as seen:
            setup = setup_of(seen, run, patience_s=limits.patience_s)
            left = Lineup(seen.slots()).slots.without(seen.settled_ids())
            is_newcomer = newcomers_among(left)
            blocks = [] if newcomers_only else blocks_of(left.where(~is_newcomer))
            news = _News(seen, listeners.hear)
            owner = HeadClient(
                self.cluster.on_head(RunOwnerActor, str(path), run.config), "the run's file"
            )
            async with self.hired(
                owner, path, setup, limits, listeners, newcomers_only=newcomers_only
            ) as crew:
                sizes = {video.id: video.size_bytes for video in seen.videos()}
                jobs = _Jobs(run, crew, sizes)
                newcomers = list(dict.fromkeys(s.video for s in left.where(is_newcomer)))
                # Battles are settled by the owner, and their texts are in the file: they are read
                # from there instead of travelling to the command.
                async with news.told(owner):
                    yield ClusterGame(
                        jobs, crew, owner, BlockQueue(blocks), newcomers, has_caps=bool(setup.caps)
                    )
            # What was settled since the last look.
            news.look()

    async def play_bench(
        self,
        left: Remaining,
        ending: EarlyEnd,
        *,
        pace: CallPacing,
        listeners: Listeners,
        on_played: OnPlayed,
    ) -> None:
        """Have workers fill a bench's file of calls; `on_played` repeats it from there."""
        path = left.file.resolve()
        with Store.open(path, write=False) as seen:
            setup = bench_setup(seen, left, pace)
        owner = HeadClient(self.cluster.on_head(CallsOwnerActor, str(path)), "the file of calls")
        hearing = DrainedOnce(ending, listeners)
        heard = Listeners(listeners.say, hearing.hear)
        async with (
            recorded(heard, left.work.cast.config, "bench") as recording,
            self.hired(owner, path, setup, pace, recording) as crew,
        ):

            async def play(job: Job) -> None:
                await crew.play(job)
                await on_played(job.questions)

            hearing.drain = crew.drain
            work = play_apart(jobs_of(left), play, most=AT_WORK * pace.concurrency)
            ending.end(crew, stopped=await until_done(crew, crew.guarding(work), listeners))

    @asynccontextmanager
    async def hired(
        self,
        owner: HeadClient,
        path: Path,
        setup: WorkerSetup,
        pace: CallPacing,
        listeners: Listeners,
        *,
        newcomers_only: bool = False,
    ) -> AsyncIterator[Crew]:
        """Yield all workers of a cluster, set up; end them and the owner of the file afterwards."""
        async with AsyncExitStack() as undo:
            # Undone from the last to the first: watching ends before the workers, those before the
            # lender, and the owner outlives them all, so that it writes what they still send.
            undo.push_async_callback(self._close, owner)
            await owner("begin")
            lending = self.cluster.on_head(
                LenderActor,
                str(path),
                setup.config,
                concurrency=pace.concurrency,
                lease_s=self.lease_s,
                limits=limits_in(setup.config, pace.concurrency),
                newcomers_only=newcomers_only,
            )
            lender = HeadClient(lending, "the lender")
            undo.callback(self.cluster.kill, lending)
            await lender("begin")
            note = _Note(owner)
            undo.push_async_callback(note.close)
            hear = all_of(note.hear, listeners.hear)
            crew = Crew(self.cluster, setup, owner, lender, self.lease_s, listeners.say, hear)
            undo.push_async_callback(crew.stop)
            await crew.start()
            crew.watching = asyncio.create_task(crew.watch())
            undo.push_async_callback(_ended, crew.watching)
            yield crew

    async def _close(self, owner: HeadClient) -> None:
        """Have the owner write what it was handed and close the file."""
        with suppress(Exception):
            async with asyncio.timeout(self.lease_s):
                await owner("close")
        self.cluster.kill(owner.actor)


async def _ended(task: asyncio.Task[None]) -> None:
    """End a task; raise the error that it had failed with."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def setup_of(store: Store, run: Opened, *, patience_s: float) -> WorkerSetup:
    """Return what every worker of a run is told."""
    has_rule = kept_rule(store).rule is not None
    return replace(
        setup_from(store, run.config, run.prompts, patience_s=patience_s), has_rule=has_rule
    )


@dataclass(frozen=True)
class _Jobs:
    """Turns videos into jobs, and has them played."""

    run: Opened
    crew: Crew
    sizes: Mapping[str, int]
    """Id of a video to the size of its file, in bytes."""

    async def play(self, visit: Visit) -> None:
        await self.crew.play(self._job(visit.video, generation=visit.generation))

    async def meet(self, video: str) -> None:
        """Play the slots of newcomers about a video."""
        await self.crew.play(self._job(video, newcomers=True))

    def _job(self, video: str, *, generation: int = 0, newcomers: bool = False) -> Job:
        file = self.run.files.get(video)
        return Job(
            Unit(video, (video,)),
            str(file.resolve()) if file else "",
            self.sizes[video],
            generation,
            newcomers,
            lost=frozenset() if file else frozenset({video}),
        )


@dataclass
class ClusterGame:
    """A run whose videos are played by the workers of a cluster."""

    jobs: _Jobs
    crew: Crew
    owner: HeadClient
    queue: BlockQueue
    newcomers: Sequence[str]
    """Videos about which newcomers have slots left."""
    has_caps: bool
    is_stopped: bool = False
    """Whether something was left when no more calls were sent."""

    @property
    def calls(self) -> Crew:
        """What makes its calls."""
        return self.crew

    @asynccontextmanager
    async def visiting(self, visit: Visit) -> AsyncIterator[None]:
        """Have a visit played by a worker; nothing is left to be played here."""
        async with self.queue.turn_of(visit.video):
            await self.jobs.play(visit)
            yield None

    async def meet_newcomers(self) -> None:
        """Play the slots of newcomers over stored answers."""
        await all_done(self.jobs.meet(video) for video in self.newcomers)

    async def until_drained(self, work: Awaitable[object]) -> None:
        """Await work whose calls are all the game's; cancel it once no call is sent any more."""
        self.is_stopped |= await until_drained(self.crew, self.crew.guarding(work))

    async def end(self) -> Early:
        """Return why the game ended before all was played, if it did."""
        needed = await self.crew.lender("needed") if self.has_caps else NOTHING
        reading: RuleReading | None = await self.owner("reading")
        return Early(
            self.is_stopped,
            is_capped=self.is_stopped and self.crew.is_broke,
            gone=self.crew.lost if self.is_stopped else None,
            needed=needed,
            met=reading if reading and reading.is_met else None,
        )


class _News:
    """Passes on the battles that the run's file has got, and what its stopping rule has seen."""

    def __init__(self, seen: Store, hear: Hear) -> None:
        self._seen = seen
        self._hear = hear
        self._place = seen.last_settled()
        self._reading: RuleReading | None = None

    @asynccontextmanager
    async def told(self, owner: HeadClient) -> AsyncIterator[None]:
        """Pass news on for as long as the block lasts."""
        telling = asyncio.create_task(self._go_on(owner))
        try:
            yield
        finally:
            await _ended(telling)

    async def _go_on(self, owner: HeadClient) -> None:
        while True:
            self.look()
            reading = await owner("reading")
            if reading is not None and reading != self._reading:
                self._reading = reading
                self._hear(RuleRead(reading))
            await asyncio.sleep(LOOK_S)

    def look(self) -> None:
        """Pass on the battles that were settled since the last look."""
        self._place, ids = self._seen.settled_after(self._place)
        for id_ in ids:
            battle = self._seen.battle(id_)
            if battle is not None:
                self._hear(BattleSettled(battle))


class _Note:
    """Keeps the state of the machines in the run's file, for those who follow it."""

    def __init__(self, owner: HeadClient) -> None:
        self._owner = owner
        self._latest: Machines | None = None
        self._noting: asyncio.Task[None] | None = None

    def hear(self, event: RunEvent) -> None:
        """Write the state of the machines down; of several that come meanwhile, only the last."""
        if not isinstance(event, Machines):
            return
        self._latest = event
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._latest is not None:
            latest = self._latest
            self._latest = None
            await self._owner("note_machines", latest)

    async def close(self) -> None:
        """Finish writing the latest state, if the owner is there."""
        if self._noting is not None:
            with suppress(Exception):
                async with asyncio.timeout(LOOK_S):
                    await self._noting
