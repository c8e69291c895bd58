"""What `arena freeze` asks of models before it writes: options, a plan, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.formats.terminal import say

if TYPE_CHECKING:
    from videoautoarena.runs.bench.freeze.freeze import BenchExtras, FreezeInputs
    from videoautoarena.runs.bench.freeze.selection import BenchSelection
    from videoautoarena.runs.bench.selecting.asking import Wanted
    from videoautoarena.runs.bench.selecting.pictures import DocumentPlan, Embedder
    from videoautoarena.runs.console.progress.events import Listeners
    from videoautoarena.runs.jobs.paid_job import JobOrder, JobTally, OnDone

T = TypeVar("T")
_Ask: TypeAlias = "Callable[[Listeners, OnDone], Coroutine[Any, Any, tuple[T, JobTally]]]"
AGAIN = "to ask again where a call failed: add --retry-failed"
ASKING = options.together(
    options.config_option(", for models that are asked"),
    options.paid(
        "Ask again where a call failed.", options.max_void("the answers asked for"), options.TRUST
    ),
)
"""Options that only matter where models are asked."""


def refuse_idle() -> None:
    """Refuse options that say how models are asked where none is."""
    idle = options.OF_CALLS | {"max_void", "plan"}
    options.refuse_typed("needs --hard, or --embeddings that take pictures", idle.__contains__)


def refuse_nameless(selection: BenchSelection) -> None:
    """Refuse to name topics where none are made."""
    if not selection.draws or "topic" not in selection.by:
        raise click.UsageError(
            "--name-topics needs topics, which only a draw over them makes: pass --size or "
            "--length-matched, and topic in --by"
        )


@dataclass(frozen=True)
class Before:
    """What is to be asked before a freeze."""

    out: Path
    selection: BenchSelection
    asking: JobOrder
    max_void: float
    is_quiet: bool
    check: Callable[[], None]
    """Raises where nothing that is asked could be written; called before anything is."""

    @cached_property
    def embedder(self) -> Embedder | None:
        """What embeds frames for topics, if anything does."""
        name = self.selection.embeddings
        if name is None:
            return None
        from videoautoarena.runs.bench.selecting.pictures import picture_embedder
        from videoautoarena.runs.run.config.arena_file import arena_file

        return picture_embedder(name, arena_file(self.asking.config))

    @property
    def _wanted(self) -> Wanted:
        from videoautoarena.runs.bench.freeze.items import unasked

        return unasked(self.selection)

    @property
    def is_needed(self) -> bool:
        """Whether any model is asked."""
        return self.selection.hard or self.embedder is not None

    def print_plan(self, *, as_json: bool) -> int:
        """Print what asking will take; return the exit code."""
        from videoautoarena.runs.bench.freeze.freeze import FreezeInputs
        from videoautoarena.runs.bench.selecting.asking import plan_hard

        hard = topics = None
        if self.selection.hard:
            hard = ending.run_async(plan_hard(self.out, self.asking, self._wanted))
        # Which questions are drawn from shows once all are asked.
        if self.embedder is not None and (hard is None or hard.known == hard.answers):
            told = FreezeInputs() if hard is None else self._ask_hard()
            if isinstance(told, FreezeInputs):
                topics = ending.run_async(self._planned_topics(self.embedder, told))
        parts = {"hard": hard, "topics": topics}
        lines = [line for part in parts.values() if part for line in part.as_lines()]
        if self.embedder is not None and topics is None:
            lines.append("topics: what is embedded shows once the hard questions are asked")
        found = {name: part and part.as_json() for name, part in parts.items()}
        options.print_report({"schema": 1, **found}, lines, as_json=as_json)
        return 0

    def ask(self) -> FreezeInputs | int:
        """Ask what has to be asked and say how it went; the exit code if nothing can follow."""
        from videoautoarena.runs.bench.freeze.freeze import FreezeInputs

        told = self._ask_hard() if self.selection.hard else FreezeInputs()
        if isinstance(told, int) or self.embedder is None:
            return told
        return self._embed(self.embedder, told)

    def named(
        self, namer: str, to: Path, extras: BenchExtras, told: FreezeInputs | None
    ) -> BenchExtras:
        """Return the extras with a name for each topic, asked for once and kept in the run."""
        from videoautoarena.runs.analysis.categories.naming import name_topics
        from videoautoarena.runs.bench.format.schema import MANIFEST
        from videoautoarena.runs.bench.freeze.freeze import FreezeInputs, topics_in
        from videoautoarena.runs.run.config.agreement import RunTrust

        if not (to / MANIFEST).is_file():
            # What is there may be this bench, whose names are known.
            self.check()
        topics = topics_in(self.out, self.selection, told or FreezeInputs())
        trust = RunTrust(self.asking.config, self.asking.trust)
        names = ending.run_async(name_topics(self.out, topics, namer, say=say, trust=trust))
        return replace(extras, topic_names=names, topics_named_by=namer if names else None)

    def _ask_hard(self) -> FreezeInputs | int:
        from videoautoarena.runs.bench.freeze.freeze import FreezeInputs
        from videoautoarena.runs.bench.selecting.asking import ask_hard

        ask = partial(ask_hard, self.out, self.asking, self._wanted, check=self.check)
        found, ended = self._run(
            lambda listeners, on_done: ask(listeners=listeners, on_done=on_done)
        )
        if not ended.is_whole:
            return _cut_off(ended)
        if found.lost_share > self.max_void:
            say(
                f"{found.lost_share:.0%} of the answers asked for have no verdict, since a call "
                f"failed; more than --max-void allows ({self.max_void:.0%}): no bench is written"
            )
            say(AGAIN)
            return EXIT_VOIDS
        return FreezeInputs(hard=found)

    def _embed(self, embedder: Embedder, told: FreezeInputs) -> FreezeInputs | int:
        from videoautoarena.runs.bench.freeze.freeze import documents_wanted
        from videoautoarena.runs.bench.selecting.pictures import Documents, embed_documents

        wanted = documents_wanted(self.out, self.selection, told)
        if not wanted:
            say("topics: too few questions; nothing is embedded")
            return replace(told, documents=Documents({}))
        ask = partial(embed_documents, self.out, self.asking, embedder, wanted, check=self.check)
        found, ended = self._run(
            lambda listeners, on_done: ask(listeners=listeners, on_done=on_done)
        )
        if not ended.is_whole:
            return _cut_off(ended)
        if ended.failed:
            say(f"{ended.in_words}: no bench is written")
            say(AGAIN)
            return EXIT_VOIDS
        return replace(told, documents=found)

    async def _planned_topics(self, embedder: Embedder, told: FreezeInputs) -> DocumentPlan:
        from videoautoarena.runs.bench.freeze.freeze import documents_wanted
        from videoautoarena.runs.bench.selecting.pictures import plan_documents

        wanted = documents_wanted(self.out, self.selection, told)
        return await plan_documents(self.out, self.asking, embedder, wanted)

    def _run(self, ask: _Ask[T]) -> tuple[T, JobTally]:
        """Return what asking comes to, shown as it goes."""
        found, ended = ending.followed(ask, is_quiet=self.is_quiet)
        ending.say_reasons(ended.failures)
        return found, ended


def _cut_off(ended: JobTally) -> int:
    left = f"{ended.in_words}, {ended.total - ended.done} left, no bench is written"
    return ending.early_end(ended, left) or EXIT_VOIDS
