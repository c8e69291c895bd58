"""Classifying real questions as those of a run were: one call each, through the run's journal.

A reply stands in the journal alone: what was asked is read there again, and nobody pays for it
twice. Real questions have no frames here, so that they are decided by their words.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.estimates import output_limit
from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.classify import classify
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput, CallFailed, JournalMiss
from videoautoarena.memory.store.store import Store
from videoautoarena.memory.store.tags import TAG_SCOPE
from videoautoarena.runs.analysis.categories.plan import TagPlan
from videoautoarena.runs.analysis.categories.tagging import (
    AT_WORK,
    OnTagged,
    TagOrder,
    TagTally,
    classifying,
    prompts_with,
)
from videoautoarena.runs.analysis.categories.tags import SHOWN, tags_of
from videoautoarena.runs.analysis.realism.categories import Categories, Classified
from videoautoarena.runs.analysis.realism.question_file import read_questions
from videoautoarena.runs.console.progress.events import Listeners, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.run.config.agreement import Trust, agreed
from videoautoarena.runs.run.config.disclosure import tracing_lines
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import check_caps
from videoautoarena.runs.run.rundir.caps import keep_caps, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.context import Calling, draining_asker, no_frames, work_off
from videoautoarena.runs.run.rundir.reader import Run, counted, run_file
from videoautoarena.runs.tournament.plan import WORDS, Line, Mean, filled


class _Known(NamedTuple):
    """What the journal holds of one question."""

    generation: int
    """Of the last call."""
    is_answered: bool
    categories: Categories | None


@dataclass(frozen=True)
class _Ready:
    store: Store
    config: RunConfig
    model: Model
    prompts: PromptSet
    known: Mapping[str, _Known]
    wanted: Sequence[str]
    plan: TagPlan


async def plan_classifying(out: Path, file: Path, order: TagOrder) -> TagPlan:
    """Return what classifying the questions of a file would take; calls and writes nothing."""
    async with _ready(out, file, order, write=False) as ready:
        return ready.plan


async def classify_questions(
    out: Path, file: Path, order: TagOrder, *, listeners: Listeners, on_tagged: OnTagged
) -> tuple[Classified, TagTally]:
    """Return what the classifier says of the questions of a file, equal ones asked once.

    One model call each, none where the journal of the run in `out` has it. BadInput for a file or
    a classifier that cannot be, or one by which the run is not tagged; RunLocked where another
    process is at the run.
    """
    async with _ready(out, file, order, write=True) as ready:
        for line in ready.plan.as_lines():
            listeners.say(line)
        tally = TagTally(asked=ready.plan.questions, known=ready.plan.known)
        said = {text: one.categories for text, one in ready.known.items()}
        if ready.wanted:
            check_keys([ready.model])
            await _ask(ready, order, said, tally=tally, listeners=listeners, on_tagged=on_tagged)
        return Classified(ready.model.alias, said), tally


@asynccontextmanager
async def _ready(out: Path, file: Path, order: TagOrder, *, write: bool) -> AsyncIterator[_Ready]:
    """Yield what can be classified; without leave to write what can only be planned."""
    texts = list(dict.fromkeys(one.text for one in read_questions(file)))
    with Store.open(run_file(out), write=write) as store:
        config, name = classifying(RunConfig.of_manifest(store.manifest()), order)
        if write:
            config = agreed(config, [name], out=out, trust=Trust(order.config, order.trust))
        model = config.model_of(name)
        _check_tagged(Run(out, store), model)
        caps = merged_caps(kept_caps(store), order.caps)
        check_caps(config, caps)
        if write:
            keep_caps(store, caps)
        prompts = prompts_with(store, "classifier", keep=write)
        known = await _recall(store, config, model, prompts, texts)
        wanted = [
            text
            for text in texts
            if text not in known or (order.retry_failed and not known[text].is_answered)
        ]
        plan = _plan(config, name, wanted, of=len(texts))
        yield _Ready(store, config, model, prompts, known, wanted, plan)


def _check_tagged(run: Run, model: Model) -> None:
    """Raise BadInput where the same classifier did not tag the run: nothing is paid in vain."""
    by = {tag.model for tag in tags_of(run, model.alias).values()}
    if by != {model.resolved}:
        given = f" --classifier {quote(model.alias)}"
        tag = f"arena categories tag {quote(str(run.folder))}{given}"
        raise BadInput(
            f"{run.folder} is not tagged by {model.alias} ({model.resolved}), so that both sides "
            f"would be told by different means; first: {tag}"
        )


async def _recall(
    store: Store, config: RunConfig, model: Model, prompts: PromptSet, texts: Sequence[str]
) -> dict[str, _Known]:
    """Return what the journal holds of questions; those that were never asked are not there."""
    asker = Asker(store.journal, no_frames, seed=config.seed, is_replay=True)
    prompter = Prompter(asker, prompts, config.seed)
    found: dict[str, _Known] = {}
    for text in texts:
        generation = 0
        with suppress(JournalMiss):
            while True:
                try:
                    categories = await _one(prompter, model, text, generation)
                except CallFailed:
                    found[text] = _Known(generation, is_answered=False, categories=None)
                    generation += 1
                else:
                    found[text] = _Known(generation, is_answered=True, categories=categories)
                    break
    await asker.aclose()
    return found


async def _one(prompter: Prompter, model: Model, text: str, generation: int) -> Categories | None:
    """Return the categories of a question as they are shown; None where nothing could be read."""
    prompter = replace(prompter, generations=lambda _scope: (generation,))
    scope = f"{TAG_SCOPE}real:{digest(canonical_json(text))[:16]}:{model.alias}"
    found = await classify(prompter, model, frames=None, question=text, scope=scope)
    if found.reason is not None:
        return None
    return frozenset(SHOWN[name] for name, said in found.categories.items() if said == "yes")


def _plan(config: RunConfig, name: str, wanted: Sequence[str], *, of: int) -> TagPlan:
    words = WORDS["classifier"]
    model = config.model_of(name)
    # A token is a byte at least, and the questions of a file are as long as somebody made them.
    longest = words.most_text + max((len(text.encode()) for text in wanted), default=0)
    usual = Mean(words.text, min(words.reply, output_limit(model, "classifier")))
    line = Line(name, "classifier", float(len(wanted)), len(wanted))
    line = filled(model, line, usual, longest=longest, is_measured=False)
    notices = []
    if wanted and not config.cast[name].is_offline:
        many = counted(len(wanted), "question")
        notices = [f"{many} of the file go to {model.endpoint} for {name}; no frames go with them"]
        notices += tracing_lines()
    return TagPlan(line, of, of - len(wanted), tuple(notices))


async def _ask(
    ready: _Ready,
    order: TagOrder,
    said: dict[str, Categories | None],
    *,
    tally: TagTally,
    listeners: Listeners,
    on_tagged: OnTagged,
) -> None:
    calling = Calling(ready.store, ready.config, no_frames)
    asker = draining_asker(calling, tally, pace=order, hear=partial(pass_on, listeners=listeners))
    prompter = Prompter(asker, ready.prompts, ready.config.seed)

    async def ask(text: str) -> None:
        before = ready.known.get(text)
        try:
            generation = 0 if before is None else before.generation + 1
            said[text] = await _one(prompter, ready.model, text, generation)
            tally.unread += said[text] is None
        except CallFailed as why:
            said[text] = None
            tally.failures[str(why)] += 1
        tally.tagged += 1
        on_tagged(tally)

    workers = max(1, min(len(ready.wanted), AT_WORK * order.concurrency))
    try:
        stopped = await until_done(asker, work_off(ready.wanted, ask, workers=workers), listeners)
    finally:
        await asker.aclose()
    tally.end(asker, stopped=stopped)
