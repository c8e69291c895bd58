"""A worker of a cluster: plays videos as one process would, and keeps nothing for itself.

It decodes, caches frames, builds bodies and makes calls on its own machine. What it writes goes to
the owner of the run's file, what it may use of shared limits comes from the lender, and the few
rows that it needs of the file are with it in memory.
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from videoautoarena.agents.calls.ask import Asker, CallEvent
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.prices import SpendCap
from videoautoarena.agents.models.registry import build_chat_model, check_keys
from videoautoarena.agents.transport.transport import guard_sending
from videoautoarena.graph.context import Arena, always
from videoautoarena.memory.records.digests import write_body
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle, Draw, Video, VideoFrames
from videoautoarena.memory.store.shares import CLAIM, ForwardingWriter, Mirror, UnitClaim, Write
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.budget import WorkerBudget
from videoautoarena.runs.cluster.fence import Fence, RemoteCall
from videoautoarena.runs.cluster.jobs import Claimed, Job, Part, Refused, WorkerReport, WorkerSetup
from videoautoarena.runs.console.progress.events import (
    PairDrawn,
    RunEvent,
    VideoWatched,
    why_hopeless,
)
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.inputs.facts import stored_facts
from videoautoarena.runs.run.inputs.users import personas_of
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.run.rundir.call_facts import limits_of
from videoautoarena.runs.run.rundir.context import Calling, asker_of, assemble
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.slots import Lineup
from videoautoarena.runs.tournament.draws import play_newcomers
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

RENEW_S = 1.0
"""Seconds between two requests to the lender; never more than a fifth of a lease."""
SOON_S = 0.02
"""Seconds before the lender is asked again where a call waits for a place."""
CALLS = 1_000_000
"""A limit on calls under way that is never reached: what the lender lends is the limit."""


class Ready(NamedTuple):
    """The answer of a worker that is set up."""

    pid: int
    lacks: tuple[str, ...]
    """Sentences about keys that are missing and addresses that differ; empty if it can play."""


@dataclass(frozen=True)
class _Pace:
    concurrency: int
    patience_s: float


@dataclass(repr=False)
class Worker:
    """One process that plays; its methods are called from the head."""

    name: str
    node: str
    setup: WorkerSetup
    owner: RemoteCall
    lender: RemoteCall
    fence: Fence
    lease_s: float
    _number: int = 0
    _calls: int = 0
    _events: list[RunEvent] = field(default_factory=list)
    _playing: dict[str, asyncio.Task[object]] = field(default_factory=dict)
    _background: list[asyncio.Task[None]] = field(default_factory=list)
    _failed: list[BaseException] = field(default_factory=list)
    _urgent: asyncio.Event = field(default_factory=asyncio.Event)
    _files: dict[str, Path] = field(default_factory=dict)
    _money: WorkerBudget | None = None
    _boot: str = ""
    """The present life of the lender, as far as this worker knows."""
    _handed_in: int = 0
    """Writes that were handed in before this worker knew the present life of the lender."""
    _videos: dict[str, Video] = field(default_factory=dict)

    async def start(self) -> Ready:
        """Set up everything that all videos share."""
        import videoautoarena.graph.tournament  # noqa: F401 - it takes a second

        self._urgent = asyncio.Event()
        setup = self.setup
        self._mirror = mirror = Mirror()
        mirror.add(await self.owner("common"))
        self._writer = ForwardingWriter(mirror, self._send)
        self._store = store = Store(mirror, self._writer, None, is_alone=False)
        # Entered by hand: `stop`, which the head calls, closes it.
        self._decoders = await Decoders(FrameCache()).__aenter__()
        config = setup.config
        self._frames = RunFrames(
            store,
            self._decoders,
            files=self._files,
            sampling=config.sampling,
            videos=self._videos,
            preset=setup.bench.preset if setup.bench else None,
        )
        self._asker = self._make_asker()
        self._facts = stored_facts(store)
        self._keep_going(self._writer.run())
        if (bench := setup.bench) is not None:
            self._videos.update(bench.videos)
            self._files.update(bench.files)
        # Keys and addresses come from the environment of this machine, which may not be the
        # command's.
        called = config.cast if setup.called is None else sorted(setup.called)
        lacks = (*lacking(config, called), *elsewhere(config, called, setup.endpoints))
        if not lacks:
            for alias in called:
                # Importing a client takes seconds, during which nobody would renew the lease.
                build_chat_model(config.model_of(alias))
        guard_sending(self.fence.check)
        # What was imported lives as long as the process: looking through it costs .5 ms a battle.
        gc.freeze()
        return Ready(os.getpid(), lacks)

    async def go(self) -> None:
        """Begin to renew the lease, the first of which the lender has given."""
        self.fence.extend(self.fence.clock(), self.lease_s)
        self._keep_going(self._stay_alive())

    def _keep_going(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in the background; `events` raises what it failed with."""
        task = asyncio.create_task(work)
        self._background.append(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._failed.append(failure)

    def _make_asker(self) -> Asker:
        setup = self.setup
        store = self._store
        estimates = Estimates(dict(setup.seen), limits=limits_of(store))
        self._money = WorkerBudget(self.lender, self.name, estimates) if setup.caps else None
        budget = Budget(setup.caps, self._money or SpendCap(), estimates)
        calling = Calling(store, setup.config, self._frames.jpegs)
        pace = _Pace(CALLS, setup.patience_s)
        asker = asker_of(calling, budget, pace=pace, hear=self._hear)
        asker.on_outage = self._hear
        asker.proven = setup.proven
        asker.share_limits(self._urgent.set)
        return asker

    async def play(self, job: Job) -> Refused | None:
        """Play a unit to its end; return why this machine cannot, None if the end was reached."""
        if (refusal := self._refusal(job)) is not None:
            return refusal
        claimed: Claimed | None = await self.owner("claim", job, self.name)
        # Cut off: the head has given up this process, which must not play on.
        if claimed is None:
            self.fence.end()
            return None
        unit = job.unit
        self._mirror.add(claimed.share)
        CLAIM.set(claimed.claim)
        task = asyncio.current_task()
        if task is not None:
            self._playing[unit.name] = task
        try:
            if job.path and unit.name not in job.lost:
                self._files[unit.name] = Path(job.path)
            if (bench := self.setup.bench) is not None:
                await bench.play(job, self._store, self._asker, self._frames)
            elif claimed.part is not None:
                await self._play_video(job, claimed.claim, claimed.part)
            if not self._writer.is_idle:
                await self._writer.write_all()
        finally:
            self._playing.pop(unit.name, None)
            # Memory holds the videos under way, and none that was played.
            self._mirror.forget(unit)
        return None

    def _refusal(self, job: Job) -> Refused | None:
        """Return why this machine cannot play a unit, None if it has all files."""
        places = {job.unit.name: (job.path, job.size_bytes)}
        for video in job.unit.beside:
            places[video] = (str(self._files[video]), self._videos[video].size_bytes)
        for video, (path, size_bytes) in places.items():
            if path and video not in job.lost and (why := _lack(path, size_bytes)):
                return Refused(self.node, why, video)
        return None

    async def _play_video(self, job: Job, claim: UnitClaim, part: Part) -> None:
        from videoautoarena.graph.tournament import play

        video = part.video.id
        self._videos[video] = part.video
        arena = self._arena(claim, part)
        if job.newcomers:
            slots = [slot for slot in part.slots if slot.id in part.sources]
            await play_newcomers(arena, slots, part.sources.__getitem__)
        else:
            await play(arena, video)

    def _arena(self, claim: UnitClaim, part: Part) -> Arena:
        store = self._store
        setup = self.setup
        common = assemble(
            setup.config,
            self._asker,
            prompts=setup.prompts,
            videos=self._videos,
            lineup=Lineup(part.slots),
            facts=self._facts,
        )
        arena = common(
            frames=self._look,
            draw=partial(self._draw, claim),
            settle=partial(self._settle, claim),
            settled=store.battle,
            wanted=part.wanted.__contains__,
            turn=partial(self._turn, claim) if setup.has_rule else always,
            brought=partial(personas_of, store),
        )
        return replace(arena, language=lambda _video, persona: part.languages.get(persona))

    async def _look(self, video: str) -> VideoFrames:
        self._hear(VideoWatched(video))
        return await self._frames.frames(video)

    async def _draw(self, claim: UnitClaim, slot: str) -> Draw:
        draw: Draw | None = await self.owner("draw", claim, slot)
        if draw is None:
            self._end()
        self._hear(PairDrawn(draw))
        return draw

    async def _turn(self, claim: UnitClaim, slot: str) -> bool:
        is_due: bool | None = await self.owner("turn", claim, slot)
        if is_due is None:
            self._end()
        return bool(is_due)

    async def _settle(self, claim: UnitClaim, battle: Battle) -> None:
        # All that the battle was made from stands in the file before it does.
        if not self._writer.is_idle:
            await self._writer.write_all()
        if not await self.owner("settle", claim, battle):
            self._end()
        # Later rounds of the lineage look it up in this memory.
        self._mirror.add({"battles": [(battle.id, write_body(battle))]})

    def _end(self) -> NoReturn:
        """End the process, since another worker plays this unit now."""
        self.fence.end()
        raise RuntimeError("a worker went on after its end")

    async def _send(self, writes: Sequence[Write]) -> Sequence[bool]:
        self._number += 1
        held: list[bool] = await self.owner("deliver", self.name, self._number, writes)
        if not all(held):
            self.fence.end()
        return held

    def _hear(self, event: RunEvent) -> None:
        if isinstance(event, CallEvent):
            self._calls += event.kind == "finished"
            event = replace(event, node=self.node)
        self._events.append(event)
        if self.setup.bench is not None and why_hopeless(event):
            # The head drains all workers once it hears of it; here nothing more is sent from now.
            self._drain()

    async def events(self) -> list[RunEvent]:
        """Return the events since the last request; raise what a background task failed with."""
        for failure in self._failed:
            raise failure
        events = self._events
        self._events = []
        return events

    async def drain(self) -> None:
        """Send no new call; those under way are finished and written down."""
        self._drain()

    def _drain(self) -> None:
        self._asker.drain()
        self._urgent.set()

    async def stop(self) -> None:
        """End all that is played here, and write what was handed in."""
        for task in [*self._playing.values()]:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._playing.values(), return_exceptions=True)
        await self._asker.aclose()
        while not self._writer.is_idle and not any(task.done() for task in self._background):
            await asyncio.sleep(SOON_S)
        for task in self._background:
            task.cancel()
        await self._decoders.close()

    async def _stay_alive(self) -> None:
        """Renew the lease until the process ends or is given up."""
        gap_s = min(RENEW_S, self.lease_s / 5)
        while True:
            self._urgent.clear()
            # Taken before the request: the lender counts a lease from the moment it gives it.
            asked_s = self.fence.clock()
            lease = await self.lender("renew", self.name, self.node, self._report())
            if lease is None:
                self.fence.end()
                return
            self.fence.extend(asked_s, lease.seconds)
            self._belong_to(lease.boot)
            self._asker.lend(lease.loan)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._urgent.wait(), gap_s)
            await asyncio.sleep(SOON_S)

    def _belong_to(self, boot: str) -> None:
        """Use nothing any more that an earlier life of the lender has lent."""
        if boot == self._boot:
            return
        self._boot = boot
        # Once so many writes are delivered, the file has every try that the earlier life lent to.
        self._handed_in = self._writer.handed_in
        if self._money:
            self._money.boot = boot

    def _report(self) -> WorkerReport:
        asker = self._asker
        total, places = asker.wants()
        return WorkerReport(
            total,
            places,
            self._calls,
            asker.is_broke,
            asker.lost,
            asker.drained.is_set(),
            self._boot if self._writer.delivered >= self._handed_in else "",
        )


def lacking(config: RunConfig, called: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each key that these models need and this process does not have."""
    seen: set[str] = set()
    for alias in called:
        try:
            check_keys([config.model_of(alias)])
        except BadInput as lack:
            if (line := str(lack)) not in seen:
                seen.add(line)
                yield line


def elsewhere(
    config: RunConfig, called: Iterable[str], endpoints: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each model that this process would call at another address."""
    for alias in called:
        model = config.model_of(alias)
        if model.endpoint != endpoints.get(alias, model.endpoint):
            names = " or ".join(model.maker.base_names) or "base_url"
            yield (
                f"{alias} would be called at {model.endpoint} and not at {endpoints[alias]}: set "
                f"{names} as for the command"
            )


def _lack(path: str, size_bytes: int) -> str | None:
    """Return what is wrong with the file at a path, None if nothing."""
    try:
        # By size alone: to hash every file on every machine would read all of them.
        size = os.stat(path).st_size
    except OSError as error:
        return error.strerror or "it cannot be read"
    return None if size == size_bytes else "another file lies there"
