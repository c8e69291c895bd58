"""Asking hard questions again: what it will take, and holding it, once in effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from videoautoarena.agents.models.registry import check_keys
from videoautoarena.memory.records.errors import BadInput, JournalMiss
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.selecting.ground import (
    Asking,
    Ground,
    Progress,
    known_of,
    mean_costs,
    opened,
)
from videoautoarena.runs.bench.selecting.hard import (
    HARD_SCOPE,
    BadQuestion,
    Candidates,
    Meeting,
    Tried,
    WhyNot,
    candidates_of,
    questions_of,
    try_model,
)
from videoautoarena.runs.console.progress.events import Listeners, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import dollars
from videoautoarena.runs.run.config.agreement import Trust, agreed
from videoautoarena.runs.run.config.disclosure import REPAIR, clip_calls, embedders, judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.context import Calling, draining_asker, work_off
from videoautoarena.runs.run.rundir.reader import Run, counted
from videoautoarena.runs.run.rundir.subtitles import has_subtitles

OnTried = Callable[[Progress], None]
"""Takes how far the asking is, after each model at each question."""
Wanted = Callable[[Run], WhyNot]
"""Returns of a run which of its questions are not to be asked, and why."""


def all_wanted(_: Run) -> WhyNot:
    """Leave no question out."""
    return lambda _: None


def counts_in_words(reasons: Mapping[str, int]) -> str:
    """Return how many are left out by each reason."""
    return "; ".join(f"{count} {why}" for why, count in reasons.items() if count)


@dataclass(frozen=True)
class HardPlan:
    """What asking hard questions again will take, before anything is sent."""

    questions: int
    """With both answers called bad, and not left out."""
    left_out: Mapping[str, int]
    """Others that nobody is asked, by the reason."""
    answers: int
    """New answers that are wanted of models that did not play them, those known among them."""
    known: int
    """Of these, so many are known and cost nothing."""
    calls_at_most: Mapping[str, int]
    """Model to calls, transport retries aside."""
    cost_usd: float | None
    """About what they will cost, by what such calls of the run cost; None where that is unknown."""
    notices: tuple[str, ...]
    """What leaves the machine."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `hard` in `arena freeze --hard --plan --json`."""
        return {"schema": SCHEMA, **vars(self), "notices": list(self.notices)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        most = sum(self.calls_at_most.values())
        known = f", {self.known:,} of them known" if self.known else ""
        left_out = sum(self.left_out.values())
        others = f" ({left_out:,} more left out: {counts_in_words(self.left_out)})"
        cost = "" if not most else f", about {dollars(self.cost_usd)}" if self.cost_usd else ""
        unknown = ", of unknown cost" if most and self.cost_usd is None else ""
        return [
            f"hard questions: {counted(self.questions, 'question')} with both answers called bad"
            f"{others if left_out else ''}, "
            f"{counted(self.answers, 'new answer')} to them{known}; at most "
            f"{counted(most, 'call')}{cost}{unknown}",
            *map(safe, self.notices),
        ]


@dataclass(frozen=True)
class HardFound:
    """What is known of a run's hard questions."""

    questions: Sequence[BadQuestion]
    """All whose answers were called bad, hard or not, in the order of the slots."""
    asked: int = 0
    """Answers that were asked for, in all processes."""
    calls: int = 0
    """What that took."""
    cost_usd: float | None = 0.0
    """None where the cost of any call is unknown."""

    @property
    def lost_share(self) -> float:
        """The share of the answers asked for that have no verdict since a call failed, 0 to 1."""
        lost = sum(
            tried.is_lost and tried.came == "void" for one in self.questions for tried in one.tried
        )
        return lost / self.asked if self.asked else 0.0


@dataclass
class _Work:
    """What is known of every meeting, and which are still to be had."""

    found: Candidates
    tried: dict[str, Tried] = field(default_factory=dict)
    """By scope."""
    left: list[Meeting] = field(default_factory=list)
    generations: dict[str, int] = field(default_factory=dict)


async def plan_hard(out: Path, asking: Asking, wanted: Wanted = all_wanted) -> HardPlan:
    """Return what asking will take; nobody is called, and nothing is written. Or BadInput."""
    async with opened(out, asking, write=False) as ground:
        return _plan(ground, await _known(ground, asking, wanted))


async def ask_hard(
    out: Path,
    asking: Asking,
    wanted: Wanted = all_wanted,
    *,
    listeners: Listeners,
    on_tried: OnTried,
    check: Callable[[], None] = lambda: None,
) -> tuple[HardFound, Progress]:
    """Ask what is missing, and return all that is known of the run's hard questions.

    Nobody is asked where `wanted` says why a question is left out; `check` may still raise where
    anything is about to be asked.

    Where `Progress.is_whole` is False it was ended early, and nothing is found. Where all is known
    nothing is written, and neither videos nor keys are needed. BadInput where no question can be
    asked or frames are gone; RunLocked where another process is at the run.
    """
    async with opened(out, asking, write=False) as ground:
        work = await _known(ground, asking, wanted)
        plan = _plan(ground, work)
    for line in plan.as_lines():
        listeners.say(line)
    progress = Progress(total=len(work.left))
    if work.left:
        check()
        async with opened(out, asking, write=True) as ground:
            await _ask(ground, work, asking, progress, listeners=listeners, on_tried=on_tried)
    if not progress.is_whole:
        return HardFound(()), progress
    async with opened(out, asking, write=False) as ground:
        took = known_of(ground.store, HARD_SCOPE, work.tried).took
    found = questions_of(work.found, work.tried)
    asked = len(work.found.meetings)
    return HardFound(found, asked, took.calls, took.known_cost), progress


async def _known(ground: Ground, asking: Asking, wanted: Wanted) -> _Work:
    """Return what the journal knows of every meeting, and which are left; or BadInput."""
    run = ground.run
    config = ground.config
    work = _Work(candidates_of(run.battles, config, wanted(run)))
    if not work.found.battles:
        raise BadInput(
            f"in no battle of {safe(str(run.folder))} were both answers called bad, so it has no "
            "hard questions; freeze without --hard"
        )
    if len(work.found.left_out) == len(work.found.battles):
        raise BadInput(
            f"of {counted(len(work.found.battles), 'question')} with both answers called bad none "
            f"is left ({counts_in_words(work.found.reasons)}); relax the selection"
        )
    if not work.found.meetings and not work.found.known:
        raise BadInput(
            "every model that sees frames played each question whose answers were both called "
            f"bad; add one: arena add {safe(str(run.folder))} --model MODEL"
        )
    work.generations |= known_of(ground.store, HARD_SCOPE).generations
    prompter = ground.recalling(work.generations)
    for meeting in work.found.meetings:
        try:
            tried = await try_model(prompter, config, meeting, ground.run_frames)
        except JournalMiss:
            work.left.append(meeting)
            continue
        work.tried[meeting.scope] = tried
        if tried.is_lost and asking.retry_failed:
            work.generations[meeting.scope] = work.generations.get(meeting.scope, 0) + 1
            work.left.append(meeting)
    return work


def _plan(ground: Ground, work: _Work) -> HardPlan:
    config = ground.config
    store = ground.store
    judgings = REPAIR * (2 if config.swap == "all" else 1)
    calls = Counter[str]()
    wanted = Counter[tuple[str, str]]()
    for meeting in work.left:
        calls[meeting.model] += 1
        wanted[meeting.model, "contestant"] += 1
        for name in config.judges:
            calls[name] += judgings
            wanted[name, "judge"] += judgings // REPAIR
    videos = {meeting.battle.video for meeting in work.left}
    _add_scouts(calls, config, work.left, videos=len(videos))
    means = mean_costs(store)
    costs = [
        None if (mean := means.get(key)) is None else mean * count for key, count in wanted.items()
    ]
    known = [cost for cost in costs if cost is not None]
    notices = judges_notice(
        config,
        calls,
        videos=len(videos),
        has_subtitles=has_subtitles(store),
        answering=config.models,
    )
    total = len(work.found.meetings)
    return HardPlan(
        questions=len(work.found.battles) - len(work.found.left_out),
        left_out=work.found.reasons,
        answers=total,
        known=total - len(work.left),
        calls_at_most=dict(calls),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        notices=tuple(notices) if calls else (),
    )


def _add_scouts(
    calls: Counter[str], config: RunConfig, left: Sequence[Meeting], *, videos: int
) -> None:
    """Count the calls of whoever finds clips for the models that are asked."""
    for (scout, _), clips in clip_calls(config, {meeting.model for meeting in left}).items():
        calls[scout] += clips * videos
    for meeting in left:
        for scout in embedders(config, (meeting.model,)):
            calls[scout] += 1


async def _ask(
    ground: Ground,
    work: _Work,
    asking: Asking,
    progress: Progress,
    *,
    listeners: Listeners,
    on_tried: OnTried,
) -> None:
    """Ask what is left; what was had is in `work.tried`."""
    run_frames = ground.run_frames
    names = dict.fromkeys([*(meeting.model for meeting in work.left), *ground.config.judges])
    trust = Trust(asking.config, asking.trust)
    config = agreed(ground.config, names, out=ground.run.folder, trust=trust)
    check_keys(config.model_of(name) for name in names)
    firsts = {}
    for video in dict.fromkeys(meeting.battle.video for meeting in work.left):
        frames = ground.store.frames(video)
        if frames is not None and frames.frames:
            firsts[video] = frames.frames[0].digest
    await ground.check_frames(firsts)
    asker = draining_asker(
        Calling(ground.store, config, run_frames.jpegs),
        progress,
        pace=asking,
        hear=partial(pass_on, listeners=listeners),
    )
    prompter = ground.prompter(asker, work.generations)

    async def ask_one(meeting: Meeting) -> None:
        tried = await try_model(prompter, config, meeting, run_frames)
        work.tried[meeting.scope] = tried
        progress.count((tried.reason or "no reason recorded") if tried.is_lost else None)
        on_tried(progress)

    workers = min(len(work.left), 2 * asking.concurrency)
    try:
        stopped = await until_done(asker, work_off(work.left, ask_one, workers=workers), listeners)
    finally:
        await asker.aclose()
    progress.end(asker, stopped=stopped)
