"""Asks a model for the name of each topic, once, through the run's journal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.classify import name_topic
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.store.evidence import TAG_SCOPE
from videoautoarena.runs.analysis.categories.tagging import TagOrder, classifying, prompts_with
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.job_run import RunJob, known_of, open_job_run
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    Generations,
    JobAudience,
    JobOrder,
    JobTally,
)
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.tournament.plan import REPAIRED

_TOPICS = f"{TAG_SCOPE}topic:"
LONGEST = 60
"""Characters of a name."""


@dataclass(kw_only=True)
class NamingJob(RunJob[str, str]):
    """Asks a model what the questions of each topic have in common."""

    ROLE = "topic_namer"
    model: Model
    topics: Mapping[str, Sequence[str]]
    """The words that stand for a topic to its questions."""
    said: dict[str, str]

    def forecast(self, _item: str) -> Iterable[ExpectedCalls]:
        """Yield one call of words alone, which may be mended."""
        yield ExpectedCalls(self.model.alias, "topic_namer", 1.0 + REPAIRED, REPAIR, frames=0)

    async def play(self, item: str, prompter: Prompter) -> str:
        """Return what a model says of a topic."""
        questions = self.topics[item]
        return await name_topic(prompter, self.model, questions=questions, scope=self.scope(item))

    def scope(self, item: str) -> str:
        """Return the scope of the calls about a topic."""
        # All that is asked is in it, so that other questions under the same words are asked anew.
        return f"{_TOPICS}{digest(canonical_json([item, *self.topics[item]]))[:16]}"

    async def keep(self, item: str, outcome: str) -> None:
        """Take a name; it stands in the journal alone."""
        self.said[item] = outcome
        self.tally.count()


async def name_topics(
    out: Path,
    topics: Mapping[str, Sequence[str]],
    namer: str,
    *,
    order: JobOrder,
    audience: JobAudience = NOBODY,
) -> tuple[dict[str, str], JobTally]:
    """Return a name for each topic, by the words that stand for it, and how the calls went.

    No two names are equal; there is none where the calls ended early, and the same command goes on.
    One model call a topic, two where a reply is mended, none where the run's journal has it. What
    could not be named is left out and said, and asked again if the order says so. BadInput for a
    model that cannot be.
    """
    recast = partial(classifying, order=TagOrder(**vars(order), classifier=namer))
    async with open_job_run(out, order, recast, write=True, looks=False) as found:
        generations = Generations(None, known_of(found.store, _TOPICS).generations)
        job = NamingJob(
            **found.parts,
            generations=generations,
            prompts=prompts_with(found.store, "topic_namer"),
            order=order,
            model=found.config.model_of(found.called[0]),
            topics=topics,
            said={},
        )
        known = await job.recall(topics)
        job.said.update(known.known)
        if order.retry_failed:
            generations.add(map(job.scope, known.failed))
        # One that failed before is asked like the others: unless it is to be asked again, its call
        # fails again and costs nothing.
        job.left = [*known.failed, *known.left]
        if job.left:
            await job.run(audience)
    if not job.tally.is_whole:
        return {}, job.tally
    for reason, count in job.tally.failures.items():
        audience.say(safe(f"not named, {count}: {reason[:200]}"))
    names = distinct({words: job.said[words] for words in topics if words in job.said})
    return names, job.tally


def distinct(said: Mapping[str, str]) -> dict[str, str]:
    """Return names on one line, harmless, short and unlike each other; a blank one is left out."""
    names: dict[str, str] = {}
    for words, text in said.items():
        plain = _plain(text)
        if not plain:
            continue
        taken = set(names.values())
        name = plain
        count = 1
        # A model may name two topics alike, or one as another is called once it is numbered.
        while name in taken:
            count += 1
            name = f"{plain} ({count})"
        names[words] = name
    return names


def _plain(text: str) -> str:
    """Return letters, signs and single blanks of a text, without what turns or hides others."""
    seen = "".join(
        " " if char.isspace() else char
        for char in text
        # Category C are controls, among them marks that would turn the text around a name.
        if char.isspace() or unicodedata.category(char)[0] not in "C"
    )
    return " ".join(seen.split())[:LONGEST].strip()
