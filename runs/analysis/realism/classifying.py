"""Classifies real questions as those of a run were: one call each, through the run's journal.

Replies are kept in the journal alone and read there again, so nobody pays for one twice. Real
questions have no frames here; they are classified by their words.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from videoautoarena.agents.limits.estimates import output_limit
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.classify import classify
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import step
from videoautoarena.memory.store.evidence import TAG_SCOPE
from videoautoarena.runs.analysis.categories.tagging import (
    TagOrder,
    TagPlan,
    TagTally,
    classifying,
    prompts_with,
)
from videoautoarena.runs.analysis.categories.tags import SHOWN, tags_of
from videoautoarena.runs.analysis.realism.question_file import read_questions
from videoautoarena.runs.analysis.realism.question_traits import Categories, Classified
from videoautoarena.runs.jobs.job_run import RunJob, known_of, open_job_run
from videoautoarena.runs.jobs.paid_job import NOBODY, ExpectedCalls, Generations, JobAudience
from videoautoarena.runs.run.config.disclosure import tracing_lines
from videoautoarena.runs.run.config.stopping_rule import kept_caps, merged_caps
from videoautoarena.runs.run.rundir.reader import RunReader, counted
from videoautoarena.runs.tournament.measures import CallCount, CallMeasure, CallVector
from videoautoarena.runs.tournament.past_calls import Basis, PastCalls, kind_of
from videoautoarena.runs.tournament.plan import WORDS, Line, filled, stated_usage

_REAL = f"{TAG_SCOPE}real:"
"""Start of the scope of every call."""


@dataclass(kw_only=True)
class ClassifyingJob(RunJob[str, Categories | None]):
    """Asks the classifier of a run about questions of others, by their words alone."""

    ROLE = "classifier"
    model: Model
    said: dict[str, Categories | None]
    tally: TagTally = field(default_factory=TagTally)

    def forecast(self, _item: str) -> Iterable[ExpectedCalls]:
        """Yield one call: a reply that cannot be read is not asked for again."""
        yield ExpectedCalls(self.model.alias, "classifier", 1.0, 1, frames=0)

    async def play(self, item: str, prompter: Prompter) -> Categories | None:
        """Return a question's categories as they are shown; None where nothing could be read."""
        found = await classify(
            prompter, self.model, frames=None, question=item, scope=_scope(self.model, item)
        )
        if found.reason is not None:
            return None
        return frozenset(SHOWN[name] for name, said in found.categories.items() if said == "yes")

    async def keep(self, item: str, outcome: Categories | None) -> None:
        """Take what was said; it stands in the journal alone."""
        self.said[item] = outcome
        self.tally.count(aside="unreadable" if outcome is None else None)

    def plan(self) -> TagPlan:
        """Return what it takes, sized by the longest question of the file."""
        words = WORDS["classifier"]
        wanted = len(self.left)
        # A token is a byte at least, and the questions of a file are as long as somebody made them.
        longest = words.most_text + max((len(text.encode()) for text in self.left), default=0)
        stated = stated_usage(words.text, min(words.reply, output_limit(self.model, "classifier")))
        # Not by the run's own calls, whose frames make them another kind.
        kind = kind_of(self.config, self.model, "classifier", 0)
        past = PastCalls.read().kinds.get(kind)
        known: tuple[CallMeasure | CallVector, Basis]
        known = (stated, "guess") if past is None else (past, "machine")
        line = Line(self.model.alias, "classifier", float(wanted), wanted)
        # A question stands for a video: those of one author are alike.
        count = CallCount(wanted, videos=wanted)
        line = filled(self.model, line, count, *known, longest=longest)
        notices = []
        if wanted and not self.model.is_offline:
            notices = [
                f"{counted(wanted, 'question')} of the file go to {self.model.endpoint} for "
                f"{self.model.alias}; no frames go with them",
                *tracing_lines(),
            ]
        return TagPlan(
            (line,),
            self.tally.known,
            tuple(notices),
            caps=merged_caps(kept_caps(self.open_store), self.order.caps),
            classifier=line.alias,
            questions=self.tally.known + wanted,
        )


def _scope(model: Model, text: str) -> str:
    # By the text alone: no frame goes with it, so equal questions about two videos are one.
    return f"{_REAL}{digest(canonical_json(text))[:16]}:{model.alias}"


async def plan_classifying(out: Path, file: Path, order: TagOrder) -> TagPlan:
    """Return what classifying the questions of a file would take; calls and writes nothing."""
    async with _ready(out, file, order, write=False) as job:
        return job.plan()


async def classify_questions(
    out: Path, file: Path, order: TagOrder, audience: JobAudience = NOBODY
) -> tuple[Classified, TagTally]:
    """Return what the classifier says of the questions of a file, equal ones asked once.

    One model call each, none where the journal of the run in `out` has it. BadInput for a file or
    a classifier that cannot be, or one by which the run is not tagged; RunLocked where another
    process is at the run.
    """
    async with _ready(out, file, order, write=True) as job:
        await job.run(audience)
        # What failed is unknown.
        said = dict.fromkeys(job.left) | job.said
        return Classified(job.model.alias, said), job.tally


@asynccontextmanager
async def _ready(
    out: Path, file: Path, order: TagOrder, *, write: bool
) -> AsyncIterator[ClassifyingJob]:
    """Yield what can be classified; without leave to write what can only be planned."""
    texts = list(dict.fromkeys(one.text for one in read_questions(file)))
    recast = partial(classifying, order=order)
    async with open_job_run(out, order, recast, write=write, looks=False) as found:
        store = found.store
        model = found.config.model_of(found.called[0])
        _check_tagged(found.run, model)
        generations = Generations(None, known_of(store, _REAL).generations)
        job = ClassifyingJob(
            **found.parts,
            prompts=prompts_with(store, "classifier", keep=write),
            order=order,
            generations=generations,
            model=model,
            said={},
        )
        known = await job.recall(texts)
        job.said.update(known.known)
        job.left = known.left
        if order.retry_failed:
            generations.add(_scope(model, text) for text in known.failed)
            job.left = [text for text in texts if text not in job.said]
        else:
            # A call that failed is not tried again unasked: nothing is known of its question.
            job.said |= dict.fromkeys(known.failed)
        job.tally.known = len(texts) - len(job.left)
        yield job


def _check_tagged(run: RunReader, model: Model) -> None:
    """Raise BadInput where the same classifier did not tag the run: nothing is paid in vain."""
    by = {tag.model for tag in tags_of(run, model.alias).values()}
    if by != {model.resolved}:
        tag = step("categories tag", str(run.folder), classifier=model.alias)
        raise BadInput(
            f"{run.folder} is not tagged by {model.alias} ({model.resolved}), so that both sides "
            f"would be told by different means; first: {tag}"
        )
