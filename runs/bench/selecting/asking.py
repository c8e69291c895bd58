"""Asking hard questions again: what it will take, and holding it, once in effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.selecting.hard import (
    HARD_SCOPE,
    BadQuestion,
    Candidates,
    HardMatch,
    Tried,
    WhyNot,
    candidates_of,
    questions_of,
    try_model,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.job_run import (
    JobRun,
    RunJob,
    as_begun,
    known_of,
    open_job_run,
    to_go_on,
)
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    Generations,
    JobAudience,
    JobOrder,
    JobPlan,
    JobTally,
)
from videoautoarena.runs.run.config.disclosure import REPAIR, clip_calls, embedders
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import RunReader, counted, run_file
from videoautoarena.runs.tournament.plan import PLAN_FIGURES

Wanted = Callable[[RunReader], WhyNot]
"""Returns of a run which of its questions are not to be asked, and why."""


def all_wanted(_: RunReader) -> WhyNot:
    """Leave no question out."""
    return lambda _: None


def counts_in_words(reasons: Mapping[str, int]) -> str:
    """Return in words how many are left out for each reason."""
    return "; ".join(f"{count} {why}" for why, count in reasons.items() if count)


@dataclass(frozen=True, kw_only=True)
class HardPlan(JobPlan):
    """What asking hard questions again will take, before anything is sent."""

    SHOWN: ClassVar = (
        *("questions", "left_out", "answers", "known", "calls_at_most", "cost_usd"),
        *(*PLAN_FIGURES, "notices"),
    )
    questions: int
    """Questions with both answers called bad, and not left out."""
    left_out: Mapping[str, int]
    """Number of others that nobody is asked, by the reason."""
    answers: int
    """New answers that are wanted of models that did not play them, those known among them."""

    def headlines(self) -> Iterator[str]:
        """Yield how much there is to be asked."""
        left_out = sum(self.left_out.values())
        others = f" ({left_out:,} more left out: {counts_in_words(self.left_out)})"
        yield (
            f"hard questions: {counted(self.questions, 'question')} with both answers called bad"
            f"{others if left_out else ''}, "
            f"{counted(self.answers, 'new answer')} to them{self.known_words}; at most "
            f"{counted(self.most_calls, 'call')}{self.cost_words()}"
        )


@dataclass(frozen=True)
class HardFound:
    """What is known of a run's hard questions."""

    questions: Sequence[BadQuestion]
    """All whose answers were called bad, hard or not, in the order of the slots."""
    asked: int = 0
    """Answers that were asked for, in all processes."""
    calls: int = 0
    """Calls that this took."""
    cost_usd: float | None = 0.0
    """Their cost; None if that of any call is unknown."""

    @property
    def lost_share(self) -> float:
        """The share of the answers asked for that have no verdict since a call failed, 0 to 1."""
        lost = sum(
            tried.is_lost and tried.came == "void" for one in self.questions for tried in one.tried
        )
        return lost / self.asked if self.asked else 0.0


@dataclass(kw_only=True)
class HardJob(RunJob[HardMatch, Tried]):
    """Asks models hard questions that they did not play, and has their answers judged."""

    found: Candidates
    tried: dict[str, Tried] = field(default_factory=dict)
    """What came of meetings, by scope."""

    def forecast(self, meeting: HardMatch) -> Iterable[ExpectedCalls]:
        """Yield an answer, and its judging by every judge from each seating."""
        videos = (meeting.battle.video,)
        yield ExpectedCalls(meeting.model, "contestant", 1.0, 1, videos=videos)
        seatings = 2 if self.config.swap == "all" else 1
        for judge in self.config.judges:
            yield ExpectedCalls(judge, "judge", seatings, REPAIR * seatings, videos=videos)

    def expected(self) -> list[ExpectedCalls]:
        """Return these calls, and those of whoever finds clips for the models that are asked."""
        calls = super().expected()
        videos = len({meeting.battle.video for meeting in self.left})
        models = {meeting.model for meeting in self.left}
        for (scout, role), clips in clip_calls(self.config, models).items():
            calls.append(ExpectedCalls(scout, role, clips * videos, clips * videos))
        for meeting in self.left:
            for scout in embedders(self.config, (meeting.model,)):
                calls.append(ExpectedCalls(scout, "embedder", 1.0, 1))
        return calls

    async def begin(self) -> None:
        """Look for the frames of every video."""
        videos = dict.fromkeys(meeting.battle.video for meeting in self.left)
        await self.job_run.check_frames(map(self.job_run.store.frames, videos))

    async def play(self, meeting: HardMatch, prompter: Prompter) -> Tried:
        """Return what comes of a model at a question."""
        return await try_model(prompter, self.config, meeting, self.job_run.run_frames)

    async def keep(self, meeting: HardMatch, outcome: Tried) -> None:
        """Take what came of it; it stands in the journal alone."""
        self.tried[meeting.scope] = outcome
        why = outcome.reason or "no reason recorded"
        self.tally.count(why if outcome.is_lost else None)

    def plan(self) -> HardPlan:
        """Return what is left to be asked."""
        found = super().plan()
        battles = self.found.battles
        return HardPlan(
            **vars(found),
            questions=len(battles) - len(self.found.left_out),
            left_out=self.found.reasons,
            answers=len(self.found.meetings),
        )


async def plan_hard(out: Path, order: JobOrder, wanted: Wanted = all_wanted) -> HardPlan:
    """Return what asking will take; nobody is called, and nothing is written. Or BadInput."""
    async with open_job_run(out, order, as_begun, write=False) as found:
        return (await _job(found, order, wanted)).plan()


async def ask_hard(
    out: Path,
    order: JobOrder,
    wanted: Wanted = all_wanted,
    *,
    audience: JobAudience = NOBODY,
    check: Callable[[], None] = lambda: None,
) -> tuple[HardFound, JobTally]:
    """Ask what is missing, and return all that is known of the run's hard questions.

    Nobody is asked where `wanted` says why a question is left out; `check` may still raise where
    anything is about to be asked.

    Where `JobTally.is_whole` is False it was ended early, and nothing is found. Where all is known
    nothing is written, and neither videos nor keys are needed. BadInput if no question can be
    asked or frames are gone; RunLocked if another process is at the run.
    """
    async with open_job_run(out, order, as_begun, write=False) as found:
        job = await _job(found, order, wanted)
        if not job.left:
            # Nobody is called: it only says what is known.
            await job.run(audience)
    if job.left:
        check()
        # Only now opened to write: what is known takes no lock, no videos and no keys.
        names = dict.fromkeys([*(one.model for one in job.left), *job.config.judges])
        async with open_job_run(out, order, to_go_on(names), write=True) as found:
            await replace(job, **found.parts).run(audience)
    if not job.tally.is_whole:
        return HardFound(()), job.tally
    # Opened anew: the file that the job worked on is closed by now.
    with Store.open(run_file(out), write=False) as store:
        took = known_of(store, HARD_SCOPE, job.tried).took
    questions = questions_of(job.found, job.tried)
    asked = len(job.found.meetings)
    return HardFound(questions, asked, took.calls, took.known_cost), job.tally


async def _job(found: JobRun, order: JobOrder, wanted: Wanted) -> HardJob:
    """Return the job with what the journal knows of every meeting; or BadInput."""
    run = found.run
    candidates = candidates_of(run.battles, found.config, wanted(run))
    if not candidates.battles:
        raise BadInput(
            f"in no battle of {safe(str(run.folder))} were both answers called bad, so it has no "
            f"hard questions; freeze without {option('hard', True)}"
        )
    if len(candidates.left_out) == len(candidates.battles):
        raise BadInput(
            f"of {counted(len(candidates.battles), 'question')} with both answers called bad none "
            f"is left ({counts_in_words(candidates.reasons)}); relax the selection"
        )
    if not candidates.meetings and not candidates.known:
        raise BadInput(
            "every model that sees frames played each question whose answers were both called "
            f"bad; add one: {safe(step('add', str(run.folder), model='MODEL'))}"
        )
    # A generation was begun if its calls stand in the run's journal, so nothing is kept beside it.
    generations = Generations(None, known_of(found.store, HARD_SCOPE).generations)
    job = HardJob(
        **found.parts,
        prompts=stored_prompts(found.store),
        order=order,
        generations=generations,
        tally=JobTally(unit="answer"),
        found=candidates,
    )
    known = await job.recall(candidates.meetings)
    job.tried |= {meeting.scope: tried for meeting, tried in known.known}
    lost = [meeting for meeting, tried in known.known if tried.is_lost and order.retry_failed]
    generations.add(meeting.scope for meeting in lost)
    open_ = {meeting.scope for meeting in (*known.left, *lost)}
    job.left = [meeting for meeting in candidates.meetings if meeting.scope in open_]
    job.tally.known = len(candidates.meetings) - len(job.left)
    return job
