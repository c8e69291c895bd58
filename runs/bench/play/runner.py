"""Running a bench: models answer, judges compare; all calls stand in one file beside results.

It shares order, caps, tally and the way items are played with `PaidJob` and is none: what is left
of it is known call by call and not item by item, one game plays all items, whose players wait for
each other, and workers of a cluster may play a part and this process the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import AnyResult
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.play.calls import (
    begin_calls,
    calls_file,
    keep_prompts,
    open_calls,
    own_prompts,
    prompt_notes,
)
from videoautoarena.runs.bench.play.cast import BenchCast, CastRequest
from videoautoarena.runs.bench.play.forecast import Forecast
from videoautoarena.runs.bench.play.game import Outcome
from videoautoarena.runs.bench.play.plan import BenchPlan, Left, look_ahead, plan_of, priced_plan
from videoautoarena.runs.bench.play.rules import Rules
from videoautoarena.runs.bench.play.tally import BenchTally, Outcomes, keep_results
from videoautoarena.runs.bench.play.videos import (
    find_bench_videos,
    refuse_missing,
    remember_videos,
    subtitle_chars,
    video_notes,
)
from videoautoarena.runs.bench.play.work import (
    BenchEngine,
    BenchWork,
    Pair,
    Remaining,
    Repetition,
)
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.jobs.paid_job import (
    IN_BATCHES,
    Generations,
    JobAudience,
    JobOrder,
    OnDone,
    in_batches,
    play_each,
    refuse_unbatched,
    settle_caps,
)
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.budget import possibly_paid
from videoautoarena.runs.run.rundir.context import Calling
from videoautoarena.runs.run.rundir.failures import pardon
from videoautoarena.runs.tournament.past_calls import PastCalls, remember_calls
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders


@dataclass(frozen=True)
class BenchOrder(JobOrder):
    """What was typed of a bench that is to be played."""

    wanted: CastRequest = CastRequest()  # noqa: RUF009 - a tuple, which nobody can change
    allow_missing: bool = False
    """Play what is asked of the videos that are there; questions of the others are void."""
    limit: int | None = None
    """Ask so many of the questions, drawn by the seed; a higher number holds those of a lower."""
    prompts: Path | None = None
    """Folder of prompts that replace ours in all that ever plays this bench."""
    engine: BenchEngine | None = None
    """What plays; None: this process."""


class Ran(NamedTuple):
    """How a bench was played."""

    tally: BenchTally
    judge: str
    players: tuple[str, ...]
    results: tuple[AnyResult, ...]
    """Empty unless all was played."""
    files: tuple[Path, ...]
    """The results that were written."""
    kept: tuple[str, ...]
    """Why others were not written: those that are there decide more."""
    anchor: str | None = None
    """Name of the anchor, if there is one."""


@dataclass(frozen=True)
class _Ready:
    """A bench that can be played."""

    bench: OpenBench[Any]
    work: BenchWork
    store: Store | None
    """None if nothing was ever played and it is only planned."""
    left: Left
    notes: tuple[str, ...]
    held: ExitStack
    """Has the file of calls open until it ends."""

    @property
    def plan(self) -> BenchPlan:
        """What it takes, in calls."""
        work = self.work
        return plan_of(work.cast, work.items, left=self.left, notes=self.notes, store=self.store)

    @property
    def forecast(self) -> Forecast:
        """What sizes calls in tokens and dollars."""
        work = self.work
        spoken = subtitle_chars(self.bench, self.store, work.films)
        return Forecast(work.cast, work.films, work.prompts, self.store, spoken)


async def plan_bench(bench: OpenBench[Any], asked: BenchOrder, *, rules: Rules) -> BenchPlan:
    """Return what it would take to play a bench, or BadInput; calls and writes nothing."""
    async with _ready(bench, asked, rules, write=False) as ready:
        items = ready.work.items
        kept = NO_CAPS if ready.store is None else kept_caps(ready.store)
        caps = merged_caps(kept, asked.caps)
        forecast = replace(ready.forecast, concurrency=asked.concurrency, past=PastCalls.read())
        plan = priced_plan(ready.plan, items, left=ready.left, forecast=forecast, caps=caps)
        if not asked.batch:
            return plan
        lines = tuple(map(in_batches, plan.lines))
        notices = (*plan.notices, IN_BATCHES)
        return replace(plan, lines=lines, notices=notices, is_batched=True)


async def run_bench(
    bench: OpenBench[Any],
    asked: BenchOrder,
    *,
    rules: Rules,
    audience: JobAudience,
) -> Ran:
    """Play what of a bench is not played yet, and write the results when all of it is.

    BadInput as `plan_bench`, or where an imported result stands in the way; RunLocked where
    another process plays this bench.
    """
    async with _ready(bench, asked, rules, write=True) as ready:
        for line in ready.plan.as_lines():
            audience.say(line)
        work = ready.work
        cast = work.cast
        items = work.items
        if ready.left.videos and work.films.folder is None:
            raise BadInput(
                f"{bench.folder} is not finished and holds no copies of its videos"
                f"{cast.why_videos}; pass their folder with {option('videos')}"
            )
        # What is known needs no key: only models that are still called are asked for theirs.
        called = [cast.config.model_of(name) for name, n in ready.left.calls.items() if n]
        check_keys(called)
        if asked.batch:
            refuse_unbatched(called, audience.listeners.say)
        unit = "dialogue" if isinstance(items[0], DialogueItem) else "answer"
        tally = BenchTally(total=len(items) * len(cast.players), unit=unit)
        with audience.job_progress(tally.total) as on_done:
            settled = _Settled(tally, on_done)
            outcomes = await _play(ready, asked, settled=settled, listeners=audience.listeners)
        results = list[AnyResult]()
        if tally.done == tally.total:
            results = rules.results(bench, cast, items, outcomes, prompts=work.prompts)
        files, kept = keep_results(bench, results)
        names = tuple(player.name for player in cast.players)
        anchor = cast.anchor.name if cast.anchor else None
        return Ran(tally, cast.judge, names, tuple(results), files, kept, anchor)


@asynccontextmanager
async def _ready(
    bench: OpenBench[Any], asked: BenchOrder, rules: Rules, *, write: bool
) -> AsyncIterator[_Ready]:
    """Yield a bench that can be played, or one that can only be planned."""
    if asked.batch and asked.engine is not None:
        raise BadInput(
            f"{option('batch', True)} asks from this process; leave it out, or the cluster"
        )
    cast = rules.cast(bench, asked.wanted)
    seed = asked.wanted.seed
    asked_items = rules.items(bench, asked.wanted)
    if not asked_items:
        raise BadInput(f"{bench.folder} has no questions")
    # Only the seed decides which questions a limit leaves.
    ordered = sorted(asked_items, key=lambda item: derive(seed, "bench order", item.qid))
    items = ordered[: asked.limit]
    _refuse_imported(bench, cast, rules)
    with ExitStack() as stack:
        store = open_calls(bench, write=write, prompts=asked.prompts)
        if store is not None:
            stack.enter_context(store)
        # Only looked at here; once kept, caps hold for all that ever plays this bench.
        settle_caps(store, cast.config, asked.caps, write=False)
        # The other video is drawn from all of them, so that a limit does not change it.
        about = asked_items if "other" in asked.wanted.views else items
        wanted = list(dict.fromkeys(item.video_id for item in about))
        films = find_bench_videos(
            bench,
            wanted,
            folder=asked.videos,
            store=store,
            is_needed=cast.needs_videos,
            why=cast.why_videos,
        )
        refuse_missing(bench, films, allowed=asked.allow_missing)
        prompts = own_prompts(store, asked.prompts)
        notes = [*prompt_notes(bench, prompts, used=cast.roles, typed=asked.prompts)]
        if write:
            # Only what is not refused leaves a trace, which binds whatever plays this bench later.
            if store is None:
                store = stack.enter_context(begin_calls(bench, prompts))
            keep_prompts(store, prompts)
            settle_caps(store, cast.config, asked.caps, write=True)
            notes += remember_videos(bench, store, films)
        notes += video_notes(bench, films)
        if not cast.needs_videos:
            notes.append("nobody here is sent frames: the videos are not looked at")
        if write and asked.retry_failed and store is not None:
            pardon(store, [video.id for video in films.videos.values()], 0)
        work = BenchWork(rules, cast, items, films, prompts)
        left = await _look(work, store)
        if write and asked.retry_failed and left.failed:
            # A failure is an answer for good in its generation; in the next its calls are missing
            # again.
            Generations(store).add(left.failed)
            left = await _look(work, store)
        yield _Ready(bench, work, store, left, tuple(notes), stack)


def _refuse_imported(bench: OpenBench[Any], cast: BenchCast, rules: Rules) -> None:
    """Refuse to write over a result that was not made here."""
    results = rules.kept(bench, cast)
    there = {(one.model, one.judge or "") for one in results if one.how == "import"}
    for player in cast.players:
        if (player.name, cast.judge) in there:
            raise BadInput(
                f"{bench.folder} has an imported result of {quoted(player.name)} by "
                f"{quoted(cast.judge)}; give the model or the judge another name in arena.toml"
            )


async def _look(work: BenchWork, store: Store | None) -> Left:
    """Return what is left to be called, by repeating all that is known."""
    failed: set[str] = set()
    game = replace(work.repeated(store), on_failed=failed.add) if store is not None else None
    unknown = work.rules.unknown
    items = work.items
    left = await look_ahead(unknown, game, work.cast, items=items, films=work.films)
    left.failed |= failed
    return left


async def _play(
    ready: _Ready,
    asked: BenchOrder,
    *,
    settled: _Settled,
    listeners: Listeners,
) -> Outcomes:
    """Play every question for every player; at an interrupt or a cap, as many as came to an end."""
    store = ready.store
    work = ready.work
    if store is None:
        raise RuntimeError("a bench was to be played without a file for its calls")
    tally = settled.tally
    # Where no call is left no worker is asked: all of it is repeated here.
    if asked.engine is not None and ready.left.calls.total():
        store = await _play_elsewhere(ready, store, asked, settled=settled, listeners=listeners)
    left = [pair for pair in work.pairs if pair not in settled.outcomes]
    if left and not tally.is_early:
        await _play_here(work, store, asked, settled=settled, listeners=listeners)
    tally.lost = possibly_paid(work.cast.config, store.journal)
    played = Counter(qid for _, qid in settled.outcomes)
    players = len(work.cast.players)
    open_ = (k for k, one in enumerate(work.items) if played[one.qid] < players)
    tally.complete = next(open_, len(work.items))
    return settled.outcomes


@dataclass
class _Settled:
    """How questions ended, counted as they end."""

    tally: BenchTally
    on_done: OnDone
    outcomes: dict[Pair, Outcome] = field(default_factory=dict)

    def add(self, pair: Pair, outcome: Outcome) -> None:
        """Count one."""
        self.outcomes[pair] = outcome
        self.tally.settle(outcome, pair[0])
        self.on_done(self.tally)

    async def add_known(self, pairs: Iterable[Pair], repetition: Repetition) -> None:
        """Count those that the file of calls knows to their end."""
        for pair in pairs:
            if pair in self.outcomes:
                continue
            if (outcome := await repetition.outcome(pair)) is not None:
                self.add(pair, outcome)


async def _play_here(
    work: BenchWork, store: Store, asked: BenchOrder, *, settled: _Settled, listeners: Listeners
) -> None:
    """Play in this process what was not played before."""
    async with Decoders(FrameCache()) as decoders:
        run_frames = work.frames(store, decoders)

        def player(asker: Asker) -> Callable[[Pair], Awaitable[None]]:
            # One game for all: players of one model wait for each other's answers in it.
            game = work.game(asker, store, run_frames)

            async def play(pair: Pair) -> None:
                item, one = work.pairs[pair]
                settled.add(pair, await game.play(item, one))

            return play

        await play_each(
            [pair for pair in work.pairs if pair not in settled.outcomes],
            player,
            Calling(store, work.cast.config, run_frames.jpegs),
            order=asked,
            tally=settled.tally,
            listeners=listeners,
            as_sent=True,
            is_batching=asked.batch,
        )


async def _play_elsewhere(
    ready: _Ready, store: Store, asked: BenchOrder, *, settled: _Settled, listeners: Listeners
) -> Store:
    """Have played what is not known, and repeat it; return the file of calls, open again."""
    work = ready.work
    file = calls_file(ready.bench)
    engine = asked.engine
    known = Repetition(work, store)
    await settled.add_known(work.pairs, known)
    open_ = (known.due(pair) for pair in work.pairs if pair not in settled.outcomes)
    # Workers are chosen by their videos; questions that need none are played here, afterwards.
    due = [one for one in open_ if one.videos]
    called = frozenset(name for name, calls in ready.left.calls.items() if calls)
    if engine is None or not due:
        return store
    before = store.journal.last_place()
    # One process at a time may write to the file, and from here on it is another.
    store.close()
    # Others write it now; what is read of it here is what they have committed.
    with Store.open(file, write=False) as seen:
        written = Repetition(work, seen)
        await engine.play_bench(
            Remaining(work, due, file, called),
            settled.tally,
            pace=asked,
            listeners=listeners,
            on_played=partial(settled.add_known, repetition=written),
        )
    # The stack closes the first one again at its end, too, which is harmless.
    store = ready.held.enter_context(Store.open(file, write=True))
    if lost := remember_calls(store.journal, work.cast.config, after=before, as_sent=True):
        listeners.say(lost)
    await settled.add_known(work.pairs, Repetition(work, store))
    return store
