"""Grades real questions beside the run's own: one call of the difficulty grader for each.

The grader reads two questions about one video and is not told which is real. So both sides are
graded by the same frames, words and model, in one reply. Replies are kept in the journal alone and
read there again, so nobody pays for one twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.question import grade
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Grade, Persona, VideoFrames
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.runs.analysis.categories.tagging import asking, draw
from videoautoarena.runs.analysis.categories.tags import TaggedQuestion, asked_of
from videoautoarena.runs.analysis.realism.question_file import RealQuestion, read_questions
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.job_run import RunJob, known_of, open_job_run
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    Generations,
    JobAudience,
    JobOrder,
    JobPlan,
    JobTally,
)
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import RunReader, counted
from videoautoarena.runs.tournament.plan import PLAN_FIGURES, REPAIRED

# Of trials, so that their cost is told apart from that of the run's own grader.
_DIFFICULTY = f"{TRIAL_SCOPE}difficulty:"
"""Start of the scope of every call."""
ANYBODY = Persona(
    index=3, text="A person of whom nothing is known but that they watched the video."
)
"""Whom both questions of a pair are said to come from: the run's user would favour its own."""


@dataclass(frozen=True)
class GradingOrder(JobOrder):
    """What grading is asked for."""

    grader: str | None = None
    """None: the run's examiner."""
    sample: int | None = None
    """Number of real questions to draw at random; None for all."""
    seed: int = 0
    """Seed of that draw: a larger one holds the smaller."""


class QuestionPair(NamedTuple):
    """A real question, and one of the run's about the same video."""

    real: TaggedQuestion
    simulated: TaggedQuestion
    origin: str
    """Of the run's question: `first`, `evolved` or `fresh`."""
    frames: VideoFrames


class GradedPair(NamedTuple):
    """What the grader said of a pair."""

    pair: QuestionPair
    real: Grade
    simulated: Grade


class GradedQuestions(NamedTuple):
    """What the grader said of real questions, and of those of the run that stood beside them."""

    grader: str
    """Its name."""
    is_author: bool
    """Whether the same model wrote the run's questions."""
    pairs: tuple[GradedPair, ...]
    failed: int
    """Pairs whose call failed for good."""
    elsewhere: int
    """Real questions about no video of the run, which nobody graded."""


@dataclass(frozen=True, kw_only=True)
class GradingPlan(JobPlan):
    """What is left to be graded."""

    SHOWN: ClassVar = (
        *("grader", "questions", "known", "elsewhere", "most_calls"),
        *("cost_usd", *PLAN_FIGURES, "notices"),
    )
    grader: str
    """Its name in the cast."""
    questions: int
    """Real questions that are wanted; equal ones about one video count once."""
    elsewhere: int
    """Real questions about no video of the run, which cannot be graded."""

    def headlines(self) -> Iterator[str]:
        """Yield how many questions and calls there are."""
        yield (
            f"{counted(self.questions, 'real question')}{self.known_words}, each beside one of the "
            f"run's: at most {counted(self.most_calls, 'call')} of "
            f"{safe(self.grader)}{self.cost_words()}"
        )
        if self.elsewhere:
            yield f"{counted(self.elsewhere, 'real question')} about no video of the run left out"


@dataclass(kw_only=True)
class GradingJob(RunJob[QuestionPair, GradedPair]):
    """Asks the difficulty grader about pairs of a real and a simulated question."""

    ROLE = "grader"
    model: Model
    elsewhere: int
    graded: list[GradedPair] = field(default_factory=list)
    lost: int = 0
    """Pairs whose call failed in an earlier process."""
    tally: JobTally = field(default_factory=lambda: JobTally(unit="pair"))

    def forecast(self, item: QuestionPair) -> Iterable[ExpectedCalls]:
        """Yield one call, which may be mended."""
        yield ExpectedCalls(
            self.model.alias, "grader", 1.0 + REPAIRED, REPAIR, videos=(item.real.video,)
        )

    async def begin(self) -> None:
        """Look for the frames of every video."""
        await self.job_run.check_frames(pair.frames for pair in self.left)

    async def play(self, item: QuestionPair, prompter: Prompter) -> GradedPair:
        """Return both grades; one or two model calls, or CallFailed."""
        simulated, real = await grade(
            prompter,
            self.model,
            frames=item.frames,
            persona=ANYBODY,
            old=item.simulated.text,
            new=item.real.text,
            slot=self.scope(item),
            attempt=0,
        )
        return GradedPair(item, real=real, simulated=simulated)

    def scope(self, item: QuestionPair) -> str:
        """Return the scope of the calls about a pair."""
        asked = digest(canonical_json([item.real.id, item.simulated.id]))[:16]
        return f"{_DIFFICULTY}{asked}:{self.model.alias}"

    async def keep(self, _item: QuestionPair, outcome: GradedPair) -> None:
        """Take both grades; they stand in the journal alone."""
        self.graded.append(outcome)
        self.tally.count()

    def plan(self) -> GradingPlan:
        """Return what is left to be graded, and what of it leaves the machine."""
        plan = super().plan()
        notices = plan.notices
        if self.left and not self.model.is_offline:
            notices = (
                *notices,
                f"{counted(len(self.left), 'question')} of the file, each with one of the run's, "
                f"go to {self.model.endpoint}, too",
            )
        return GradingPlan(
            **(vars(plan) | {"notices": notices}),
            grader=self.model.alias,
            questions=plan.known + len(self.left),
            elsewhere=self.elsewhere,
        )


async def plan_grading(out: Path, file: Path, order: GradingOrder) -> GradingPlan:
    """Return what grading the questions of a file would take; calls and writes nothing."""
    async with _ready(out, file, order, write=False) as job:
        return job.plan()


async def grade_questions(
    out: Path, file: Path, order: GradingOrder, audience: JobAudience = NOBODY
) -> tuple[GradedQuestions, JobTally]:
    """Return the grades of the questions of a file, each beside one of the run's.

    One model call a question, two where a reply is mended, none where the journal of the run in
    `out` has it. BadInput for a file or a grader that cannot be, for a file without a question
    about a video of the run, or frames that are gone; RunLocked where another process is at the
    run.
    """
    async with _ready(out, file, order, write=True) as job:
        await job.run(audience)
        # Kept as they were answered, so shown in an order that does not depend on speed.
        pairs = sorted(job.graded, key=lambda one: (one.pair.real.id, one.pair.simulated.id))
        author = job.config.model_of(job.config.examiner).resolved
        found = GradedQuestions(
            job.model.alias,
            is_author=job.model.resolved == author,
            pairs=tuple(pairs),
            failed=job.lost + job.tally.failed,
            elsewhere=job.elsewhere,
        )
        return found, job.tally


@asynccontextmanager
async def _ready(
    out: Path, file: Path, order: GradingOrder, *, write: bool
) -> AsyncIterator[GradingJob]:
    """Yield what can be graded; without leave to write what can only be planned."""
    given = read_questions(file)
    async with open_job_run(out, order, partial(_grading, order=order), write=write) as found:
        pairs, elsewhere = _pairs(found.run, given, order)
        if not pairs:
            raise BadInput(
                f"no question of {file} is about a video of {out}, whose frames a grader needs; "
                "`video` is its path in the folder of videos"
            )
        generations = Generations(None, known_of(found.store, _DIFFICULTY).generations)
        job = GradingJob(
            **found.parts,
            prompts=stored_prompts(found.store),
            order=order,
            generations=generations,
            model=found.config.model_of(found.called[0]),
            elsewhere=elsewhere,
        )
        known = await job.recall(pairs)
        job.graded.extend(outcome for _, outcome in known.known)
        job.left = known.left
        if order.retry_failed:
            generations.add(map(job.scope, known.failed))
            job.left = [*known.failed, *known.left]
        else:
            # A call that failed is not tried again unasked.
            job.lost = len(known.failed)
        job.tally.known = len(pairs) - len(job.left)
        yield job


def _grading(config: RunConfig, order: GradingOrder) -> tuple[RunConfig, list[str]]:
    return asking(config, order.grader, order, deed="grade")


def _pairs(
    run: RunReader, given: Sequence[RealQuestion], order: GradingOrder
) -> tuple[list[QuestionPair], int]:
    """Return each real question with one of the run's about its video, and how many have none."""
    films = {video.path: video.id for video in run.store.videos()}
    ours: dict[str, dict[TaggedQuestion, str]] = {}
    for battle in run.battles:
        if battle.question is not None and battle.origin is not None:
            asked = asked_of(battle.video, battle.question)
            ours.setdefault(battle.video, {}).setdefault(asked, battle.origin)
    shown = {video: frames for video in ours if (frames := run.store.frames(video)) is not None}
    wanted = list(
        dict.fromkeys(
            asked_of(video, one.text)
            for one in given
            if one.video is not None and (video := films.get(one.video)) in shown
        )
    )
    elsewhere = sum(one.video is None or films.get(one.video) not in shown for one in given)
    seed = int(run.manifest.get("seed") or 0)
    pairs = []
    for real in draw(wanted, order.sample, order.seed):
        # By the two questions alone, so that further ones in the file pay for no pair anew.
        beside = min(
            ours[real.video],
            key=lambda one: digest(canonical_json(["difficulty", seed, real.id, one.id])),
        )
        origin = ours[real.video][beside]
        pairs.append(QuestionPair(real, beside, origin, shown[real.video]))
    return pairs, elsewhere
