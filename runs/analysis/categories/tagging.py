"""Tags the questions of a run: one call of a classifier each, through the run's own journal.

No call shares a key with one of the run, and no battle changes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.offline.players.model import PANEL
from videoautoarena.agents.prompting.layout import thinned
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.classify import FRAMES, Classification, classify
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput, CallFailed
from videoautoarena.memory.records.records import QUESTION_CATEGORIES, Role, VideoFrames
from videoautoarena.memory.store.evidence import TAG_SCOPE, QuestionTag, generation_of, trial_id
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.categories.tags import TaggedQuestion, questions_of
from videoautoarena.runs.analysis.trials.trial import entry_in
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.job_run import RunJob, open_job_run
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    JobAudience,
    JobOrder,
    JobPlan,
    JobTally,
    at_generation,
    plan_lines,
)
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.tournament.plan import PLAN_FIGURES

PROMPT_FILE = "tags/"
"""Start of the names of prompts that came into a run after it was played."""


@dataclass(frozen=True)
class TagOrder(JobOrder):
    """What tagging is asked for."""

    classifier: str | None = None
    """None: the run's examiner."""
    sample: int | None = None
    """Number of questions to draw at random; None for all."""
    seed: int = 0
    """Seed of that draw: a larger one holds the smaller."""


@dataclass(kw_only=True)
class TagTally(JobTally):
    """How tagging went in one process."""

    SHOWN: ClassVar = ("questions", "known", "tagged", "unreadable", "failed")
    unit: str = "question"

    @property
    def questions(self) -> int:
        """Questions that were wanted, those of earlier among them."""
        return self.known + self.total

    @property
    def tagged(self) -> int:
        """Questions tagged now, whatever came of it."""
        return self.done

    @property
    def unreadable(self) -> int:
        """Replies of now in which nothing could be read."""
        return self.asides["unreadable"]


@dataclass(frozen=True, kw_only=True)
class TagPlan(JobPlan):
    """What is left to be tagged."""

    SHOWN: ClassVar = (
        *("classifier", "questions", "known", "calls", "cost_usd", *PLAN_FIGURES, "notices"),
    )
    classifier: str
    """Its name in the cast."""
    questions: int
    """Questions that are wanted; equal ones about one video count once."""

    @property
    def calls(self) -> int:
        """One a question."""
        return self.most_calls

    def headlines(self) -> Iterator[str]:
        """Yield how many questions and calls there are."""
        yield (
            f"{counted(self.questions, 'question')}{self.known_words}: "
            f"{counted(self.calls, 'call')} of {safe(self.classifier)}{self.cost_words()}"
        )


class UntaggedQuestion(NamedTuple):
    """A question that is still to be tagged."""

    asked: TaggedQuestion
    frames: VideoFrames
    first: str
    """The id of its first tag."""
    generation: int
    """How often the call failed before."""


@dataclass(kw_only=True)
class TaggingJob(RunJob[UntaggedQuestion, QuestionTag]):
    """Asks a classifier about the questions of a run that have no tag of it."""

    ROLE = "classifier"
    model: Model
    tally: TagTally = field(default_factory=TagTally)

    def forecast(self, item: UntaggedQuestion) -> Iterable[ExpectedCalls]:
        """Yield one call: a reply that cannot be read is not asked for again."""
        yield ExpectedCalls(
            self.model.alias, "classifier", 1.0, 1, frames=FRAMES, videos=(item.asked.video,)
        )

    async def begin(self) -> None:
        """Look for the frames of every video."""
        await self.job_run.check_frames(one.frames for one in self.left)

    async def play(self, item: UntaggedQuestion, prompter: Prompter) -> QuestionTag:
        """Return the tag of a question; a call that failed gives one, too."""
        asked = item.asked
        model = self.model
        is_failed = False
        try:
            found = await classify(
                at_generation(prompter, item.generation),
                model,
                frames=item.frames,
                question=asked.text,
                scope=f"{TAG_SCOPE}{asked.id}:{model.alias}",
            )
        # A tag all the same: the question was asked, and is asked again only on demand.
        except CallFailed as why:
            is_failed = True
            found = Classification(dict.fromkeys(QUESTION_CATEGORIES, "unknown"), str(why))
        return QuestionTag(
            id=trial_id(item.first, item.generation),
            question=asked.id,
            video=asked.video,
            text=asked.text,
            classifier=model.alias,
            model=model.resolved,
            categories=found.categories,
            reason=found.reason,
            is_failed=is_failed,
        )

    async def keep(self, _item: UntaggedQuestion, outcome: QuestionTag) -> None:
        """Keep a tag beside the battles."""
        await self.job_run.store.evidence.put_tag(outcome)
        reason = outcome.reason or "no reason recorded"
        unread = "unreadable" if outcome.reason is not None else None
        self.tally.count(reason if outcome.is_failed else None, unread)

    def plan(self) -> TagPlan:
        """Return what tagging takes; who tags is named even where nothing is left."""
        return tag_plan(super().plan(), self.config, self.model.alias, left=len(self.left))


def tag_plan(plan: JobPlan, config: RunConfig, classifier: str, *, left: int) -> TagPlan:
    """Return a plan in the words of tagging, with a line of its classifier in any case."""
    nothing = ExpectedCalls(classifier, "classifier", 0.0, 0)
    lines = plan.lines or plan_lines(config, [nothing], None)
    facts = vars(plan) | {"lines": lines}
    return TagPlan(**facts, classifier=classifier, questions=plan.known + left)


async def plan_tagging(out: Path, order: TagOrder) -> TagPlan:
    """Return what tagging would take; calls no model and writes nothing."""
    async with _ready(out, order, write=False) as job:
        return job.plan()


async def tag_questions(out: Path, order: TagOrder, audience: JobAudience = NOBODY) -> TagTally:
    """Tag the questions that were asked for and that the run in `out` has no tag of.

    One model call each. BadInput for a classifier that cannot be, or frames that are gone;
    RunLocked where another process is at the run.
    """
    async with _ready(out, order, write=True) as job:
        await job.run(audience)
        return job.tally


@asynccontextmanager
async def _ready(out: Path, order: TagOrder, *, write: bool) -> AsyncIterator[TaggingJob]:
    """Yield what can be tagged; without leave to write what can only be planned."""
    async with open_job_run(out, order, partial(classifying, order=order), write=write) as found:
        store = found.store
        model = found.config.model_of(found.called[0])
        prompts = prompts_with(store, "classifier", keep=write)
        drawn = draw(questions_of(found.run.battles), order.sample, order.seed)
        wanted = _open(store, drawn, model, prompts, retry_failed=order.retry_failed)
        yield TaggingJob(
            **found.parts,
            prompts=prompts,
            order=order,
            tally=TagTally(known=len(drawn) - len(wanted)),
            model=model,
            left=wanted,
        )


def classifying(config: RunConfig, order: TagOrder) -> tuple[RunConfig, list[str]]:
    """Return a run's settings with the classifier among its cast, and its name.

    It is a name of the file or of the run, or `provider:model`. BadInput where it cannot classify.
    """
    return asking(config, order.classifier, order, deed="classify")


def asking(
    config: RunConfig, named: str | None, order: JobOrder, *, deed: str
) -> tuple[RunConfig, list[str]]:
    """Return a run's settings with a model that looks at its questions, and the model's name.

    None names the run's examiner. BadInput for an offline model that cannot do the deed.
    """
    name = named or config.examiner
    entry = entry_in(name, config, arena_file(order.config))
    if entry.is_offline and entry.model.partition(":")[2] not in PANEL:
        raise BadInput(f"{name} cannot {deed}; the offline model that can is offline:examiner")
    return config.model_copy(update={"cast": {**config.cast, name: entry}}), [name]


def draw(questions: Sequence[TaggedQuestion], count: int | None, seed: int) -> list[TaggedQuestion]:
    """Return `count` questions drawn by a seed, in slot order; all with None."""
    if count is None:
        return list(questions)
    order = sorted(questions, key=lambda one: digest(canonical_json(["tag", seed, one.id])))
    chosen = set(order[:count])
    return [one for one in questions if one in chosen]


def prompts_with(store: Store, role: Role, *, keep: bool = True) -> PromptSet:
    """Return the run's prompts with that of a role that came later; it stays as first used."""
    own = stored_prompts(store, missing=PromptSet.load(categories=True))
    kept = store.file(f"{PROMPT_FILE}{role}")
    # The prompt that was used first stays, so that all tags of a run answer the same words.
    if kept is None and keep:
        store.put_file(f"{PROMPT_FILE}{role}", own.texts[role])
    texts = dict(own.texts) | ({role: kept.text} if kept else {})
    return PromptSet.from_texts(texts, contracts=own.contracts, reading=own.reading)


def _open(
    store: Store,
    questions: Iterable[TaggedQuestion],
    model: Model,
    prompts: PromptSet,
    *,
    retry_failed: bool,
) -> list[UntaggedQuestion]:
    """Return the questions without a tag of this classifier and, on demand, failed ones."""
    latest: dict[str, tuple[int, QuestionTag]] = {}
    for tag in store.evidence.tags():
        first, generation = generation_of(tag.id)
        if first not in latest or latest[first][0] < generation:
            latest[first] = (generation, tag)
    judge = [model.resolved, model.keyed("classifier"), prompts.contracts]
    # Frames of a video are read once, however many questions were asked about it.
    seen: dict[str, VideoFrames] = {}
    wanted = []
    for asked in questions:
        frames = seen.get(asked.video) or store.frames(asked.video)
        if frames is None:
            continue
        seen[asked.video] = frames
        sent = thinned(frames, min(FRAMES, model.frame_limit("classifier"))).frames
        # All that is sent is in the id: another prompt, setting or choice of frames is asked anew.
        put = [*judge, prompts.digests["classifier"], [(one.time_s, one.digest) for one in sent]]
        first = f"{asked.id}:{model.alias}:{digest(canonical_json(put))[:16]}"
        if first not in latest:
            wanted.append(UntaggedQuestion(asked, frames, first, 0))
        elif retry_failed and latest[first][1].is_failed:
            wanted.append(UntaggedQuestion(asked, frames, first, latest[first][0] + 1))
    return wanted
