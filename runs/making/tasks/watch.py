"""Making a set by watching: an examiner writes items, a second ask checks them, all put at once.

Until then calls stand in a draft beside the set, afterwards below its results: the same order goes
on from there, and never pays twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput, JournalMiss
from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import digest_of
from videoautoarena.runs.bench.play.calls import Generations
from videoautoarena.runs.bench.score.shortcuts import need_probes, probe_bench
from videoautoarena.runs.console.progress.events import Listeners, Say, nobody, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.console.progress.listeners import gather, progress
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.making.tasks.drafting import drafted, keep_calls, no_bytes
from videoautoarena.runs.making.tasks.make import refuse_inside, set_in
from videoautoarena.runs.making.tasks.watch_plan import WatchPlan, plan_watching
from videoautoarena.runs.making.tasks.watched_items import CHOICE, WATCHER
from videoautoarena.runs.making.tasks.watched_set import (
    FailedCall,
    KindCount,
    Watched,
    WatchOrder,
    put_set,
    shortfall,
)
from videoautoarena.runs.making.tasks.watching import (
    Cell,
    Outcome,
    Watching,
    WatchTally,
    WatchWish,
    deal,
)
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.cast import check_stand_ins, entry_of, officials
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import (
    priced,
)
from videoautoarena.runs.run.rundir.context import Calling, draining_asker, work_off
from videoautoarena.runs.run.rundir.frames import (
    RunFrames,
    subtitle_paths,
)
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.video.folder.find import Findings
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders


@dataclass(frozen=True)
class _Ready:
    """A set that can be written, or one that can only be planned."""

    order: WatchOrder
    config: RunConfig
    cells: list[Cell]
    found: Findings
    origin: str
    store: Store | None
    plan: WatchPlan
    notes: tuple[str, ...]

    def watched(self, outcomes: Sequence[Outcome], **more: Any) -> Watched:
        """Return what came of it."""
        made = Counter(one.cell.kind for one in outcomes for _ in one.items)
        wanted = Counter[str]()
        for cell in self.cells:
            wanted[cell.kind] += cell.wanted
        return Watched(
            folder=self.order.to,
            examiner=self.config.cast[self.config.examiner].model,
            wanted=wanted.total(),
            least=1 if self.order.is_upper_bound else wanted.total(),
            tasks=tuple(
                KindCount(kind, wanted[kind], made[kind]) for kind in self.order.wish.kinds
            ),
            videos=len({cell.video.id for cell in self.cells}),
            **{"bench": None, **more},
        )

    def put(self, tally: WatchTally, watched: Watched) -> str:
        """Write the set, and return its digest."""
        entries = [item for one in tally.outcomes for item in one.items]
        if self.store is None:
            raise RuntimeError("a set was to be put without a file for its calls")
        return put_set(
            self.order,
            watched,
            entries=entries,
            store=self.store,
            paths={video.id: video.path for video in self.found.videos},
            spoken=subtitle_paths(self.store, found=self.found, folder=self.order.folder),
            origin=self.origin,
        )


async def plan_watch(order: WatchOrder, say: Say) -> Watched:
    """Return what writing a set would take; calls and writes nothing."""
    refuse_inside(order.folder, order.to)
    found = await asyncio.to_thread(gather, order.folder, say)
    if (there := _there(order, found)) is not None:
        return there
    async with _ready(order, found, write=False) as ready:
        for note in ready.notes:
            say(note)
        return ready.watched([], plan=ready.plan)


async def watch(order: WatchOrder, say: Say) -> tuple[Watched, WatchTally]:
    """Return the set that was written of a folder, and how it went; equal replies give equal bytes.

    Where it ended early, or calls failed, there is no set yet: the same order goes on.
    Raises BadInput: the examiner gives too few items, or something cannot be read or written.
    """
    refuse_inside(order.folder, order.to)
    if any(kind in CHOICE for kind in order.wish.kinds):
        need_probes()
    found = await asyncio.to_thread(gather, order.folder, say)
    if (there := _there(order, found)) is not None:
        keep_calls(order)
        return there, WatchTally(total=0)
    async with _ready(order, found, write=True) as ready:
        for line in (*ready.notes, *ready.plan.as_lines()):
            say(line)
        if ready.plan.lines:
            check_keys([ready.config.model_of(ready.config.examiner)])
        tally = await _play(ready, say)
        watched = _outcome(ready, tally)
        # What calls that failed left open may be had yet.
        is_open = watched.failures and watched.is_short
        if is_open or len(tally.outcomes) < tally.total:
            return watched, tally
        bench = await asyncio.to_thread(ready.put, tally, watched)
    keep_calls(order)
    return await asyncio.to_thread(_probed, replace(watched, bench=bench)), tally


def _outcome(ready: _Ready, tally: WatchTally) -> Watched:
    """Return what came of all parts; BadInput where the examiner gives too few items."""
    failures = tuple(FailedCall(cell.kind, cell.video.path, why) for cell, why in tally.failures)
    watched = ready.watched(tally.outcomes, fallen=tally.fallen, failures=failures)
    if len(tally.outcomes) == tally.total and watched.is_short and not failures:
        raise BadInput(shortfall(watched))
    return watched


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
    """Return the set where it is there already; BadInput where something else is."""
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
async def _ready(order: WatchOrder, found: Findings, *, write: bool) -> AsyncIterator[_Ready]:
    """Yield a set that can be written, or planned, with what of it is known."""
    config = examining(order.examiner, order.config, order.wish.seed)
    cells = deal(order.wish, found.videos)
    notes = [f"not used: {safe(one.path)} {safe(one.reason)}" for one in found.skipped]
    if config.offline:
        notes.append("the offline stand-in watches: it writes of light, colours and cuts alone")
    videos = {cell.video.id: cell.video for cell in cells}
    prompts = PromptSet.load(writers=True)
    with drafted(order, config, prompts=prompts, found=found, videos=videos, write=write) as (
        store,
        more,
    ):
        notes += more
        open_, failed = await _look(order, config, cells, store)
        if write and order.retry_failed and failed and store is not None:
            Generations(store).add(failed)
            open_, _ = await _look(order, config, cells, store)
        known = len(cells) - len(open_)
        plan = plan_watching(config, open_, known=known, store=store, concurrency=order.concurrency)
        origin = origin_of(order.wish, config, found.videos)
        yield _Ready(order, config, cells, found, origin, store, plan, tuple(notes))


def _watching(
    order: WatchOrder, config: RunConfig, store: Store, *, asker: Asker, run_frames: RunFrames
) -> Watching:
    prompts = stored_prompts(store, missing=PromptSet.load(writers=True))
    prompter = Prompter(asker, prompts, order.wish.seed, generations=Generations(store))
    return Watching(prompter, config.model_of(config.examiner), run_frames, order.wish.seed)


def _run_frames(
    ready: _Ready | None, config: RunConfig, store: Store, *, decoders: Decoders | None
) -> RunFrames:
    """Return the way to frames; of nothing that is ready only to those that are known."""
    here = ready.found.videos if ready else []
    files = {video.id: ready.order.folder / video.path for video in here} if ready else {}
    videos = {video.id: video for video in store.videos()}
    return RunFrames(store, decoders, files=files, sampling=config.sampling, videos=videos)


async def _look(
    order: WatchOrder, config: RunConfig, cells: Sequence[Cell], store: Store | None
) -> tuple[list[Cell], set[str]]:
    """Return the parts that are open and the scopes that failed, by repeating what is known."""
    if store is None:
        return list(cells), set()
    run_frames = _run_frames(None, config, store, decoders=None)
    asker = Asker(store.journal, no_bytes, is_replay=True)
    watching = _watching(order, config, store, asker=asker, run_frames=run_frames)
    open_ = list[Cell]()
    failed = set[str]()
    for cell in cells:
        if not (run_frames.has(cell.video.id) or run_frames.is_quarantined(cell.video.id)):
            open_.append(cell)
            continue
        try:
            outcome = await watching.play(cell)
        except JournalMiss:
            open_.append(cell)
        else:
            failed |= outcome.failures.keys() - {cell.video.id}
    return open_, failed


async def _play(ready: _Ready, say: Say) -> WatchTally:
    """Write and check every part; at an interrupt or a cap, as many as came to an end."""
    order = ready.order
    config = ready.config
    store = ready.store
    if store is None:
        raise RuntimeError("a set was to be written without a file for its calls")
    tally = WatchTally(total=len(ready.cells))
    listeners = Listeners(say, nobody)
    async with Decoders(FrameCache()) as decoders:
        run_frames = _run_frames(ready, config, store, decoders=decoders)
        calling = Calling(store, config, run_frames.jpegs)
        hear = partial(pass_on, listeners=listeners)
        asker = draining_asker(calling, tally, pace=order, hear=hear)
        watching = _watching(order, config, store, asker=asker, run_frames=run_frames)
        with progress(say, is_quiet=order.is_quiet) as on_progress:

            async def play(cell: Cell) -> None:
                tally.outcomes.append(await watching.play(cell))
                on_progress(len(tally.outcomes), tally.total, tally.so_far)

            try:
                work = work_off(ready.cells, play, workers=order.concurrency)
                stopped = await until_done(asker, work, listeners)
            finally:
                await asker.aclose()
    tally.end(asker, stopped=stopped)
    place = {cell: number for number, cell in enumerate(ready.cells)}
    tally.outcomes.sort(key=lambda one: place[one.cell])
    return tally


def _probed(watched: Watched) -> Watched:
    if not any(one.kind in CHOICE and one.made for one in watched.tasks):
        return watched
    return replace(watched, shortcuts=probe_bench(open_bench(watched.folder)))
