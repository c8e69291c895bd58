"""Making a set by watching: an examiner writes items, a second ask checks them, all put at once.

Until then calls stand in a draft beside the set, afterwards below its results: the same order goes
on from there, and never pays twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.write_tasks import CHECKERS, WRITERS
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import digest_of
from videoautoarena.runs.bench.score.shortcuts import need_probes, probe_bench
from videoautoarena.runs.console.progress.listeners import gather
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    Generations,
    JobAudience,
    KnownFrames,
)
from videoautoarena.runs.making.tasks.card import watched_card
from videoautoarena.runs.making.tasks.drafting import WritingJob, drafted, keep_calls
from videoautoarena.runs.making.tasks.make import refuse_inside, set_in
from videoautoarena.runs.making.tasks.watched_items import CHOICE, WATCHER
from videoautoarena.runs.making.tasks.watched_set import (
    FailedCall,
    KindCount,
    Watched,
    WatchOrder,
    kind_of,
    selection_of,
    shortfall,
)
from videoautoarena.runs.making.tasks.watching import (
    ASKS,
    PartOutcome,
    TaskPart,
    Watching,
    WatchTally,
    WatchWish,
    deal,
)
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.cast import check_stand_ins, entry_of, officials
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import priced
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.tournament.plan import REPAIRED
from videoautoarena.video.folder.find import Findings
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

FALLEN = 0.1
"""Share of the items that are expected to fall and to be written anew."""


@dataclass(kw_only=True)
class WatchJob(WritingJob[TaskPart, PartOutcome]):
    """Has an examiner write and check the parts of a set."""

    order: WatchOrder
    parts: Sequence[TaskPart]
    run_frames: RunFrames = field(init=False)
    tally: WatchTally = field(default_factory=WatchTally)

    def items(self) -> Sequence[TaskPart]:
        """Return all parts; what is known of them is read again from the journal."""
        return self.parts

    def forecast(self, part: TaskPart) -> Iterable[ExpectedCalls]:
        """Yield what writes a part that is open, and what checks it."""
        if part not in self.left:
            return
        again = 1 - (1 - FALLEN) ** part.wanted
        checked = part.wanted * (1 + FALLEN)
        for role, expected, most in (
            (WRITERS[part.kind], 1 + again, ASKS * REPAIR),
            (CHECKERS[part.kind], checked, ASKS * REPAIR * part.wanted),
        ):
            yield ExpectedCalls(
                self.config.examiner,
                role,
                expected * (1 + REPAIRED),
                most,
                known=self.answered[part.scope, role],
                videos=(part.video.id,),
            )

    async def play(self, part: TaskPart, prompter: Prompter) -> PartOutcome:
        """Return what comes of a part."""
        examiner = self.config.model_of(self.config.examiner)
        watching = Watching(prompter, examiner, self.run_frames, self.order.wish.seed)
        return await watching.play(part)

    async def keep(self, _part: TaskPart, outcome: PartOutcome) -> None:
        """Take what came of a part; it stands in the journal alone."""
        tally = self.tally
        tally.outcomes.append(outcome)
        tally.done += 1
        tally.asides["dropped"] += outcome.fallen.total()
        tally.failures.update(outcome.failures.values())

    async def look(self) -> set[str]:
        """Find out which parts are open, and return the scopes of calls that failed."""
        known = await self.recall(self.parts)
        self.left = known.left
        self.tally.known = len(known.known)
        return {
            scope
            for part, outcome in known.known
            for scope in outcome.failures
            # A video without frames stands under its own id: no call failed that could be made
            # again.
            if scope != part.video.id
        }

    def watched(self, **more: Any) -> Watched:
        """Return what came of it; BadInput if the examiner gives too few items."""
        outcomes = self.tally.outcomes
        made = Counter(one.part.kind for one in outcomes for _ in one.items)
        wanted = Counter[str]()
        for part in self.parts:
            wanted[part.kind] += part.wanted
        watched = Watched(
            folder=self.order.to,
            examiner=self.examiner,
            bench=None,
            wanted=wanted.total(),
            least=1 if self.order.is_upper_bound else wanted.total(),
            tasks=tuple(
                KindCount(kind, wanted[kind], made[kind]) for kind in self.order.wish.kinds
            ),
            videos=len({part.video.id for part in self.parts}),
            fallen=self.tally.fallen,
            failures=tuple(
                FailedCall(one.part.kind, one.part.video.path, why)
                for one in outcomes
                for why in one.failures.values()
            ),
            **more,
        )
        is_whole = self.tally.is_whole and len(outcomes) == len(self.parts)
        if is_whole and watched.is_short and not watched.failures:
            raise BadInput(shortfall(watched))
        return watched

    def put(self, watched: Watched) -> str:
        """Write the set, and return its digest."""
        entries = [item for one in self.tally.outcomes for item in one.items]
        selection = selection_of(self.order.wish, watched)
        kind = kind_of(entries)
        origin = origin_of(self.order.wish, self.config, self.found.videos)
        return self.put_set(entries, kind, selection, card=watched_card, origin=origin)


async def plan_watch(order: WatchOrder, audience: JobAudience = NOBODY) -> Watched:
    """Return what writing a set would take; calls and writes nothing."""
    refuse_inside(order.folder, order.to)
    found = await asyncio.to_thread(gather, order.folder, audience.say)
    if (there := _there(order, found)) is not None:
        return there
    async with _ready(order, found, write=False) as job:
        for note in job.notes:
            audience.say(note)
        return job.watched(plan=job.plan())


async def watch(order: WatchOrder, audience: JobAudience = NOBODY) -> tuple[Watched, WatchTally]:
    """Return the set that was written of a folder, and how it went; equal replies give equal bytes.

    If it ended early, or calls failed, there is no set yet: the same order goes on.
    Raises BadInput: the examiner gives too few items, or something cannot be read or written.
    """
    refuse_inside(order.folder, order.to)
    if any(kind in CHOICE for kind in order.wish.kinds):
        # The set ends with its probes, for which an extra has to be installed: before anything is
        # paid.
        need_probes()
    found = await asyncio.to_thread(gather, order.folder, audience.say)
    if (there := _there(order, found)) is not None:
        keep_calls(order)
        return there, WatchTally()
    async with _ready(order, found, write=True) as job:
        for note in job.notes:
            audience.say(note)
        await job.run(audience)
        tally = job.tally
        # Outcomes came in as parts ended; a set has the order in which they were dealt.
        place = {part: number for number, part in enumerate(job.parts)}
        tally.outcomes.sort(key=lambda one: place[one.part])
        watched = job.watched()
        # Items that failed calls left open may still come when the order is repeated.
        is_open = watched.failures and watched.is_short
        if is_open or not tally.is_whole:
            return watched, tally
        bench = await asyncio.to_thread(job.put, watched)
    keep_calls(order)
    return await asyncio.to_thread(_probed, replace(watched, bench=bench)), tally


def examining(typed: str | None, config: Path | None, seed: int) -> RunConfig:
    """Return the settings of a run in which the examiner is the only model; or BadInput.

    It is who was typed, else the one of the configuration file, else the stand-in.
    """
    file = arena_file(config)
    roster = {name: entry_of(name, file) for name in file.roles.models or ()}
    examiner, _ = officials(typed, (), file=file, cast=roster)
    cast = {examiner: entry_of(examiner, file)}
    check_stand_ins(examiner, (), cast=cast)
    return priced(
        RunConfig(
            seed=seed,
            rounds=1,
            models=(),
            examiner=examiner,
            judges=(),
            cast=cast,
            swap=0.0,
            sampling=Sampling(),
            offline=cast[examiner].is_offline,
        )
    )


def origin_of(wish: WatchWish, config: RunConfig, videos: Sequence[Video]) -> str:
    """Return the digest of all that was asked for: of whom, of what, and how much."""
    examiner = config.cast[config.examiner].identity(config.sampling.frames)
    made_of = sorted(video.sha256 for video in videos)
    return digest_of([WATCHER, asdict(wish), examiner, made_of])


def _there(order: WatchOrder, found: Findings) -> Watched | None:
    """Return the set if it is there already; BadInput if something else is."""
    config = examining(order.examiner, order.config, order.wish.seed)
    origin = origin_of(order.wish, config, found.videos)
    bench = set_in(order.to, origin, order.licence)
    if bench is None:
        return None
    opened = open_bench(order.to)
    made = Counter(item.task for item in opened.items)
    return _probed(
        Watched(
            folder=order.to,
            examiner=config.cast[config.examiner].model,
            bench=bench,
            wanted=int(str(opened.manifest.selection.get("n", len(opened.items)))),
            tasks=tuple(KindCount(kind, made[kind], made[kind]) for kind in order.wish.kinds),
            videos=len(opened.manifest.videos),
            was_there=True,
        )
    )


@asynccontextmanager
async def _ready(order: WatchOrder, found: Findings, *, write: bool) -> AsyncIterator[WatchJob]:
    """Yield a set that can be written, or planned, with what of it is known."""
    config = examining(order.examiner, order.config, order.wish.seed)
    parts = deal(order.wish, found.videos)
    notes = [f"not used: {safe(one.path)} {safe(one.reason)}" for one in found.skipped]
    if config.offline:
        notes.append("the offline stand-in watches: it writes of light, colours and cuts alone")
    videos = {part.video.id: part.video for part in parts}
    prompts = PromptSet.load(writers=True)
    with drafted(order, config, prompts=prompts, found=found, videos=videos, write=write) as (
        store,
        more,
    ):
        generations = Generations(store)
        job = WatchJob(
            store=store,
            config=config,
            prompts=stored_prompts(store, missing=prompts) if store else prompts,
            order=order,
            generations=generations,
            parts=parts,
            found=found,
            notes=(*notes, *more),
        )
        if store is None:
            job.left = parts
            yield job
            return
        job.run_frames = KnownFrames(store, None, files={}, sampling=config.sampling, videos=videos)
        failed = await job.look()
        if write and order.retry_failed and failed:
            # A failure is an answer for good in its generation; in the next its calls are missing
            # again.
            generations.add(failed)
            await job.look()
        async with Decoders(FrameCache()) as decoders:
            job.run_frames = RunFrames(
                store, decoders, files=job.files(), sampling=config.sampling, videos=videos
            )
            job.load = job.run_frames.jpegs
            yield job


def _probed(watched: Watched) -> Watched:
    if not any(one.kind in CHOICE and one.made for one in watched.tasks):
        return watched
    return replace(watched, shortcuts=probe_bench(open_bench(watched.folder)))
