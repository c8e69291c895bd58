"""Running a bench: models answer, judges compare; all calls stand in one file beside results."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.budget import Caps
from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import AnyResult
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.play.calls import (
    Generations,
    begin_calls,
    keep_prompts,
    open_calls,
    own_prompts,
    prompt_notes,
)
from videoautoarena.runs.bench.play.cast import BenchCast, Player, Wanted
from videoautoarena.runs.bench.play.forecast import Forecast
from videoautoarena.runs.bench.play.game import Game, Outcome
from videoautoarena.runs.bench.play.plan import BenchPlan, Left, look_ahead, plan_of, priced_plan
from videoautoarena.runs.bench.play.rules import Rules
from videoautoarena.runs.bench.play.tally import BenchTally, Outcomes, keep_results
from videoautoarena.runs.bench.play.videos import (
    BenchVideos,
    find_bench_videos,
    refuse_strangers,
    remember_videos,
    subtitle_chars,
    video_notes,
)
from videoautoarena.runs.console.events import Listeners, pass_on
from videoautoarena.runs.console.interrupts import until_done
from videoautoarena.runs.rundir.budget import (
    NO_CAPS,
    check_caps,
    keep_caps,
    kept_caps,
    merged_caps,
)
from videoautoarena.runs.rundir.context import Calling, draining_asker, work_off
from videoautoarena.runs.rundir.failures import pardon
from videoautoarena.runs.rundir.frames import RunFrames
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

_AT_WORK = 2
"""Questions in hand for each call that may be under way: the next one is worded meanwhile."""
OnSettled = Callable[[BenchTally], None]
"""Called after every question of every model with how all of them went so far."""


@dataclass(frozen=True)
class Asked:
    """What was typed of a bench that is to be played."""

    wanted: Wanted = Wanted()  # noqa: RUF009 - a tuple, which nobody can change
    videos: Path | None = None
    concurrency: int = 16
    patience_s: float = PATIENCE_S
    """How long an endpoint is waited for that cannot be reached."""
    caps: Caps = NO_CAPS
    limit: int | None = None
    """Ask so many of the questions, drawn by the seed; a higher number holds those of a lower."""
    retry_failed: bool = False
    prompts: Path | None = None
    """Folder of prompts that replace ours in all that ever plays this bench."""


class Ran(NamedTuple):
    """How a bench was played."""

    tally: BenchTally
    judge: str
    players: tuple[str, ...]
    results: tuple[AnyResult, ...]
    """None where not all was played."""
    files: tuple[Path, ...]
    """The results that were written."""
    kept: tuple[str, ...]
    """Why others were not: what is there decides what these do not."""
    anchor: str | None = None
    """Against whose answers, where it is one model's."""


@dataclass(frozen=True)
class _Ready:
    """A bench that can be played."""

    bench: OpenBench[Any]
    rules: Rules
    cast: BenchCast
    items: list[Any]
    films: BenchVideos
    store: Store | None
    """None where nothing was ever played, and nothing is to be."""
    left: Left
    notes: tuple[str, ...]
    prompts: PromptSet

    @property
    def plan(self) -> BenchPlan:
        """What it takes, in calls."""
        return plan_of(self.cast, self.items, left=self.left, notes=self.notes, store=self.store)

    @property
    def forecast(self) -> Forecast:
        """What sizes calls in tokens and dollars."""
        spoken = subtitle_chars(self.bench, self.store, self.films)
        return Forecast(self.cast, self.films, self.prompts, self.store, spoken)


async def plan_bench(bench: OpenBench[Any], asked: Asked, *, rules: Rules) -> BenchPlan:
    """Return what it would take to play a bench, or BadInput; calls and writes nothing."""
    async with _ready(bench, asked, rules, write=False) as ready:
        return priced_plan(ready.plan, ready.items, left=ready.left, forecast=ready.forecast)


async def run_bench(
    bench: OpenBench[Any],
    asked: Asked,
    *,
    rules: Rules,
    listeners: Listeners,
    on_settled: OnSettled,
) -> Ran:
    """Play what of a bench is not played yet, and write the results when all of it is.

    BadInput as `plan_bench`, or where an imported result stands in the way; RunLocked where
    another process plays this bench.
    """
    async with _ready(bench, asked, rules, write=True) as ready:
        for line in ready.plan.as_lines():
            listeners.say(line)
        if ready.left.calls.total() and ready.films.folder is None:
            raise BadInput(
                f"{bench.folder} is not finished and holds no copies of its videos; pass "
                "their folder with --videos"
            )
        config = ready.cast.config
        check_keys(config.model_of(name) for name, count in ready.left.calls.items() if count)
        unit = "dialogue" if isinstance(ready.items[0], DialogueItem) else "answer"
        tally = BenchTally(len(ready.items) * len(ready.cast.players), unit=unit)
        outcomes = await _play(
            ready, asked, tally=tally, listeners=listeners, on_settled=on_settled
        )
        results = list[AnyResult]()
        if tally.settled == tally.total:
            prompts = own_prompts(ready.store)
            results = rules.results(bench, ready.cast, ready.items, outcomes, prompts=prompts)
        files, kept = keep_results(bench, results)
        names = tuple(player.name for player in ready.cast.players)
        anchor = ready.cast.anchor.name if ready.cast.anchor else None
        return Ran(tally, ready.cast.judge, names, tuple(results), files, kept, anchor)


@asynccontextmanager
async def _ready(
    bench: OpenBench[Any], asked: Asked, rules: Rules, *, write: bool
) -> AsyncIterator[_Ready]:
    """Yield a bench that can be played, or one that can only be planned."""
    cast, seed = rules.cast(bench, asked.wanted), asked.wanted.seed
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
        # They hold from now on for all that ever plays this bench.
        caps = merged_caps(kept_caps(store) if store is not None else NO_CAPS, asked.caps)
        check_caps(cast.config, caps)
        # Which other video is shown depends on no limit.
        about = asked_items if "other" in asked.wanted.views else items
        wanted = list(dict.fromkeys(item.video_id for item in about))
        films = find_bench_videos(bench, wanted, folder=asked.videos, store=store)
        refuse_strangers(bench, films)
        prompts = own_prompts(store, asked.prompts)
        notes = [*prompt_notes(bench, prompts, used=cast.roles, typed=asked.prompts)]
        if write:
            # Only what is not refused leaves a trace, which binds whatever plays this bench later.
            if store is None:
                store = stack.enter_context(begin_calls(bench, prompts))
            keep_prompts(store, prompts)
            keep_caps(store, caps)
            notes += remember_videos(bench, store, films)
        notes += video_notes(bench, films)
        if write and asked.retry_failed and store is not None:
            pardon(store, [video.id for video in films.videos.values()], 0)
        left = await _look(rules, cast, items, films=films, store=store)
        if write and asked.retry_failed and left.failed:
            Generations(store).add(left.failed)
            left = await _look(rules, cast, items, films=films, store=store)
        yield _Ready(bench, rules, cast, items, films, store, left, tuple(notes), prompts)


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


async def _look(
    rules: Rules, cast: BenchCast, items: list[Any], *, films: BenchVideos, store: Store | None
) -> Left:
    """Return what is left to be called, by repeating all that is known."""
    if store is None:
        return await look_ahead(rules.unknown, None, cast, items=items, films=films)
    asker = Asker(store.journal, _no_bytes, is_replay=True)
    failed: set[str] = set()
    run_frames = _run_frames(cast, films, store, decoders=None)
    game = rules.game(cast, _prompter(cast, asker, store), run_frames, films)
    game = replace(game, on_failed=failed.add)
    left = await look_ahead(rules.unknown, game, cast, items=items, films=films)
    left.failed |= failed
    return left


async def _no_bytes(_video: str, _digests: list[str]) -> list[bytes]:
    raise RuntimeError("a game that only repeats what is known asked for frames")


def _run_frames(
    cast: BenchCast, films: BenchVideos, store: Store, *, decoders: Decoders | None
) -> RunFrames:
    videos = {video.id: video for video in films.videos.values()}
    files = films.files if decoders is not None else {}
    return RunFrames(
        store,
        decoders,
        files=files,
        sampling=cast.config.sampling,
        videos=videos,
        preset=cast.preset,
    )


def _prompter(cast: BenchCast, asker: Asker, store: Store) -> Prompter:
    return Prompter(asker, own_prompts(store), cast.config.seed, generations=Generations(store))


async def _play(
    ready: _Ready,
    asked: Asked,
    *,
    tally: BenchTally,
    listeners: Listeners,
    on_settled: OnSettled,
) -> Outcomes:
    """Play every question for every player; at an interrupt or a cap, as many as came to an end."""
    store, cast = ready.store, ready.cast
    if store is None:
        raise RuntimeError("a bench was to be played without a file for its calls")
    async with Decoders(FrameCache()) as decoders:
        run_frames = _run_frames(cast, ready.films, store, decoders=decoders)
        calling = Calling(store, cast.config, run_frames.jpegs)
        hear = partial(pass_on, listeners=listeners)
        asker = draining_asker(calling, tally, pace=asked, hear=hear)
        prompter = _prompter(cast, asker, store)
        game: Game[Any] = ready.rules.game(cast, prompter, run_frames, ready.films)
        outcomes: dict[tuple[str, str], Outcome] = {}

        async def play(job: tuple[Any, Player]) -> None:
            item, player = job
            outcome = outcomes[player.name, item.qid] = await game.play(item, player)
            tally.count(outcome, player.name)
            on_settled(tally)

        jobs, workers = product(ready.items, cast.players), _AT_WORK * asked.concurrency
        try:
            stopped = await until_done(asker, work_off(jobs, play, workers=workers), listeners)
        finally:
            await asker.aclose()
    tally.lost = store.journal.lost(besides="offline:*")
    tally.end(asker, stopped=stopped)
    played = Counter(qid for _, qid in outcomes)
    open_ = (k for k, one in enumerate(ready.items) if played[one.qid] < len(cast.players))
    tally.complete = next(open_, len(ready.items))
    return outcomes
