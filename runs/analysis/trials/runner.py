"""How far trials are, and how they went."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.limits.caps import Caps
from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput, FramesChanged, UnusableVideo
from videoautoarena.memory.store.evidence import Trial, TrialKind
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.trials.cases import (
    attack_cases,
    constant_cases,
    rejudge_cases,
    repeat_cases,
)
from videoautoarena.runs.analysis.trials.trial import (
    CaseMaker,
    Leave,
    Material,
    Seating,
    Tally,
    TrialGame,
    Wanted,
    loading,
    open_seatings,
    seatings_of,
    with_judges,
)
from videoautoarena.runs.analysis.trials.truth_cases import truth_cases
from videoautoarena.runs.console.progress.events import Listeners, Say, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.console.progress.listeners import progress
from videoautoarena.runs.formats.record_json import keyed, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.agreement import Trust, agreed
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.disclosure import REPAIR, judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.sampling import refuse_text_read
from videoautoarena.runs.run.rundir.budget import check_caps, priced
from videoautoarena.runs.run.rundir.caps import NO_CAPS, keep_caps, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.context import Calling, draining_asker
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import stored_prompts, videos_folder
from videoautoarena.runs.run.rundir.reader import Run, counted, run_file
from videoautoarena.runs.run.rundir.subtitles import has_subtitles
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

NO_LEAVE = Leave()
CASES = 100
"""Cases of each kind, where nobody says how many."""
MAKERS: dict[TrialKind, CaseMaker] = {
    "repeat": repeat_cases,
    "attack": attack_cases,
    "constant": constant_cases,
    "rejudge": rejudge_cases,
    "truth": truth_cases,
}


OnHeld = Callable[[Trial, Tally], None]
"""Takes a trial that is kept, and how all of them went so far."""


@dataclass(frozen=True)
class Asked:
    """What was typed."""

    kinds: tuple[TrialKind, ...]
    judges: tuple[str, ...] = ()
    """None named: the run's own."""
    cases: int | None = CASES
    """Of each kind at most; None for all."""
    config: Path | None = None
    videos: Path | None = None
    """Where the videos are, if they moved."""
    concurrency: int = 16
    patience_s: float = PATIENCE_S
    """How long an endpoint is waited for that cannot be reached."""
    caps: Caps = NO_CAPS
    retry_failed: bool = False
    """Hold those again that failed."""
    leave: Leave = NO_LEAVE
    trust: str | None = None
    """The digest of what is agreed to of the run's file."""


@dataclass(frozen=True)
class TrialPlan:
    """What trials will take, before anything is sent."""

    judges: tuple[str, ...]
    """Who judges."""
    kinds: Mapping[str, int] = field(metadata=keyed("judgings"))
    """Judgings of each kind, those that the run has among them."""
    known: int
    """Judgings that the run has."""
    calls_at_most: Mapping[str, int]
    """Judge to the most calls it may cost, transport retries aside."""
    notices: tuple[str, ...]
    """What leaves the machine."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena audit --trials --plan --json`."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items())
        total = sum(self.kinds.values())
        most = sum(self.calls_at_most.values())
        known = f", {self.known:,} of them known" if self.known else ""
        return [
            f"trials of {safe(', '.join(self.judges))}: {kinds or 'no case fits'}; "
            f"{counted(total, 'judging')}{known}, at most {counted(most, 'call')}",
            *map(safe, self.notices),
        ]


@dataclass(frozen=True)
class Ready:
    """Trials that can be held."""

    store: Store
    config: RunConfig
    run_frames: RunFrames
    load: Load
    wanted: Sequence[Wanted]
    plan: TrialPlan


async def plan_trials(out: Path, asked: Asked) -> TrialPlan:
    """Return what these trials would take; nobody is called, and nothing is written."""
    async with _ready(out, asked, listeners=None) as ready:
        return ready.plan


async def hold_trials(out: Path, asked: Asked, *, listeners: Listeners, on_held: OnHeld) -> Tally:
    """Hold the trials that were asked for and that the run in `out` lacks.

    BadInput for a judge that cannot be, or frames that are gone; RunLocked where another
    process is at the run.
    """
    async with _ready(out, asked, listeners=listeners) as ready:
        for line in ready.plan.as_lines():
            listeners.say(line)
        tally = Tally(sum(ready.plan.kinds.values()), known=ready.plan.known)
        if ready.wanted:
            check_keys(ready.config.model_of(alias) for alias in ready.config.judges)
            await _find_frames(ready)
            await _hold(ready, asked, tally=tally, listeners=listeners, on_held=on_held)
        return tally


@asynccontextmanager
async def _ready(out: Path, asked: Asked, *, listeners: Listeners | None) -> AsyncIterator[Ready]:
    """Yield trials that can be held; without listeners such as can only be planned."""
    write = listeners is not None
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open(run_file(out), write=write))
        # With the judges on trial, and the prices that hold now.
        kept = RunConfig.of_manifest(store.manifest())
        file = arena_file(asked.config)
        config = with_judges(kept, asked.judges, file=file, leave=asked.leave)
        if any(config.cast[alias].is_offline for alias in config.judges):
            refuse_text_read(config.sampling, "name a real --judge")
        if write:
            trust = Trust(asked.config, asked.trust)
            config = agreed(config, config.judges, out=out, trust=trust)
        config = priced(config)
        caps = merged_caps(kept_caps(store), asked.caps)
        check_caps(config, caps)
        if write:
            keep_caps(store, caps)
        decoders = await stack.enter_async_context(Decoders(FrameCache()))
        material = _material(Run(out, store), config, decoders, asked)
        if listeners is not None:
            material = replace(material, say=listeners.say)
        cases = [case for kind in asked.kinds for case in await MAKERS[kind](material)]
        seatings = list({one.id: one for one in seatings_of(cases, material.judges)}.values())
        wanted = open_seatings(store, seatings, retry_failed=asked.retry_failed)
        plan = _plan(store, config, seatings, wanted)
        plan = replace(plan, notices=(*material.notes, *plan.notices))
        run_frames = material.run_frames
        yield Ready(store, config, run_frames, loading(run_frames, cases), wanted, plan)


def _material(run: Run, config: RunConfig, decoders: Decoders, asked: Asked) -> Material:
    videos = {video.id: video for video in run.store.videos()}
    # With a folder given, where each was found there; else where it should lie.
    folder = videos_folder(run.store, asked.videos)
    found = find_videos(asked.videos).videos if asked.videos is not None else videos.values()
    files = {video.id: folder / video.path for video in found} if folder else {}
    run_frames = RunFrames(
        run.store, decoders, files=files, sampling=config.sampling, videos=videos
    )
    return Material(
        run=run,
        config=config,
        run_frames=run_frames,
        decoders=decoders,
        files=files,
        judges=tuple(config.model_of(alias) for alias in config.judges),
        count=asked.cases,
    )


def _plan(
    store: Store, config: RunConfig, seatings: Sequence[Seating], wanted: Sequence[Wanted]
) -> TrialPlan:
    calls = Counter[str]()
    for one in wanted:
        calls[one.seating.model.alias] += REPAIR
    cases = [one.seating.case for one in wanted]
    videos = len({video for case in cases for video in (case.video, *case.others)})
    notices = judges_notice(config, calls, videos=videos, has_subtitles=has_subtitles(store))
    kinds = Counter[str](one.case.kind for one in seatings)
    known = len(seatings) - len(wanted)
    return TrialPlan(config.judges, dict(kinds), known, dict(calls), tuple(notices))


async def _find_frames(ready: Ready) -> None:
    """Raise BadInput where frames of a video that is shown cannot be had: later it costs calls."""
    shown = (one.seating.case for one in ready.wanted)
    videos = {case.frames.video: case.frames for case in shown if case.load is None}
    for video, frames in videos.items():
        try:
            await ready.run_frames.jpegs(video, [frame.digest for frame in frames.frames[:1]])
        except (UnusableVideo, FramesChanged) as gone:
            raise BadInput(
                f"the frames of video {video} are not available ({gone}); pass the folder "
                "of videos with --videos"
            ) from None


async def _hold(
    ready: Ready, asked: Asked, *, tally: Tally, listeners: Listeners, on_held: OnHeld
) -> None:
    store = ready.store
    config = ready.config
    calling = Calling(store, config, ready.load)
    hear = partial(pass_on, listeners=listeners)
    asker = draining_asker(calling, tally, pace=asked, hear=hear)
    prompter = Prompter(asker, stored_prompts(store), config.seed)
    game = TrialGame(store, prompter, asked.concurrency, tally, lambda trial: on_held(trial, tally))
    try:
        stopped = await until_done(asker, game.hold(ready.wanted), listeners)
    finally:
        await asker.aclose()
    tally.end(asker, stopped=stopped)


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnHeld]:
    """Yield what takes every trial as it is held and shows how far they are."""
    with progress(say, is_quiet=is_quiet) as on_progress:

        def on_held(_trial: Trial, tally: Tally) -> None:
            on_progress(tally.held, tally.asked - tally.known, in_words(tally))

        yield on_held


def in_words(tally: Tally) -> str:
    """Return in a few words how trials went in this process."""
    words = [counted(tally.held, "judging")]
    words += [f"{tally.abstained} abstained"] * bool(tally.abstained)
    words += [f"{tally.failed} failed"] * bool(tally.failed)
    return ", ".join(words)
