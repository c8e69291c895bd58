"""Freezing a run, and what models are asked before: hard questions, vectors, names of topics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.api.jobs import (
    JobOptions,
    PathLike,
    PlayedJob,
    ReadyJob,
    folder_of,
    ordered,
    paid,
    taken,
)
from videoautoarena.runs.api.models import ModelLike, named

if TYPE_CHECKING:
    from videoautoarena.runs.api.bench import Bench
    from videoautoarena.runs.api.run import Run
    from videoautoarena.runs.bench.freeze.freeze import BenchExtras, FreezeInputs, FrozenBench
    from videoautoarena.runs.bench.freeze.selection import BenchSelection
    from videoautoarena.runs.bench.selecting.asking import HardPlan
    from videoautoarena.runs.bench.selecting.pictures import DocumentPlan, Embedder
    from videoautoarena.runs.jobs.paid_job import JobAudience, JobOrder, JobTally


class FreezeOptions(JobOptions, total=False):
    """What is frozen and how: the fields of `BenchSelection` and `BenchExtras`, and of a job."""

    size: int | None
    per_video: int | None
    distinct: bool
    leak_filter: bool
    length_matched: bool
    separating: bool
    by: Sequence[str]
    embeddings: str | None
    hard: bool
    most: int | None
    seed: int | None
    language: str | None
    turns: int | None
    only_licence: Sequence[str]
    licence: str | None
    with_videos: bool
    parquet: bool


@dataclass(frozen=True)
class FreezePlan:
    """What models would be asked before a freeze; None where nobody is."""

    hard: HardPlan | None
    topics: DocumentPlan | None
    """None also where it shows only once the hard questions are asked."""
    is_open: bool
    """Whether that is so."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena freeze --plan --json`."""
        parts = {"hard": self.hard, "topics": self.topics}
        return {"schema": 1, **{name: part and part.as_json() for name, part in parts.items()}}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        lines = [line for part in (self.hard, self.topics) if part for line in part.as_lines()]
        if self.is_open:
            lines.append("topics: what is embedded shows once the hard questions are asked")
        return lines


@paid
def freeze(
    run: Run | PathLike,
    to: PathLike,
    *,
    name_topics: ModelLike | None = None,
    max_void: float = 0.05,
    **how: Unpack[FreezeOptions],
) -> ReadyJob[FreezePlan, FrozenBench, Bench]:
    """Freeze the questions of a run into a set in the folder `to`, and return the `Bench`.

    As `arena freeze` does. Models are asked for `hard`, `name_topics` and `embeddings` that take
    pictures alone.

    Args:
        run: the run, or its folder.
        to: folder of the set.
        name_topics: a model that names topics, in a call or two for each.
        max_void: share of the answers asked for that may lack a verdict, 0 to 1.
        how: what is frozen and how models are asked, by the names of `FreezeOptions`.

    Raises:
        BadInput: nothing was decided, `to` holds something else, or an option that cannot be.
        Unfinished: asking ended early, or failed too often; nothing is written.
    """
    from videoautoarena.runs.api.bench import open_bench
    from videoautoarena.runs.bench.freeze.freeze import BenchExtras
    from videoautoarena.runs.bench.freeze.freeze import freeze as frozen
    from videoautoarena.runs.bench.freeze.selection import BenchSelection
    from videoautoarena.runs.jobs.paid_job import JobOrder, JobTally

    out = folder_of(run)
    place = Path(to)
    given: dict[str, Any] = {**how}
    # A pair of brackets that was left out is no set of letters.
    for name in ("by", "only_licence"):
        if name in given:
            given[name] = (given[name],) if isinstance(given[name], str) else tuple(given[name])
    videos = given.pop("videos", None)
    extras = taken(BenchExtras, given, videos=None if videos is None else Path(videos))
    selection = taken(BenchSelection, given)
    selection.check()
    before = _Asking(
        out,
        place,
        selection,
        extras,
        ordered(JobOrder, given, videos=videos),
        max_void,
        None if name_topics is None else named(name_topics),
    )
    if before.namer is not None and not (selection.draws and "topic" in selection.by):
        raise WrongArgument(
            f"{option('name_topics')} needs topics, which only a draw over them makes: pass "
            f"{option('size')} or "
            f"{option('length_matched', True)}, and topic in {option('by')}"
        )

    async def play(audience: JobAudience) -> PlayedJob[FrozenBench]:
        try:
            told = await before.asked(audience)
            more = await before.named(told, audience)
        except _NothingWritten as why:
            return PlayedJob(why.tally, None, str(why))
        made = await asyncio.to_thread(frozen, out, place, selection, more, told)
        return PlayedJob(JobTally(), made)

    return ReadyJob(
        lambda _: before.plan(),
        play,
        lambda made: open_bench(made.folder),
        is_planned=selection.hard or before.embedder is not None,
    )


class _NothingWritten(Exception):
    """Why nothing is frozen, and how far asking came."""

    def __init__(self, tally: JobTally, why: str = "") -> None:
        super().__init__(why)
        self.tally = tally


@dataclass(frozen=True)
class _Asking:
    """What models are asked before a freeze."""

    out: Path
    to: Path
    selection: BenchSelection
    extras: BenchExtras
    order: JobOrder
    max_void: float
    namer: str | None

    def check(self) -> None:
        """Raise BadInput where no bench could be written in the end, before anything is asked."""
        from videoautoarena.runs.bench.freeze.freeze import refuse_vain

        refuse_vain(self.out, self.to, self.selection, self.extras)

    @property
    def embedder(self) -> Embedder | None:
        """The model that embeds frames for topics, or None."""
        name = self.selection.embeddings
        if name is None:
            return None
        from videoautoarena.runs.bench.selecting.pictures import picture_embedder
        from videoautoarena.runs.run.config.arena_file import arena_file

        return picture_embedder(name, arena_file(self.order.config))

    async def plan(self) -> FreezePlan:
        """Return what is asked before; names of topics aside, which follow from what is said."""
        from videoautoarena.runs.bench.freeze.freeze import documents_wanted
        from videoautoarena.runs.bench.freeze.items import unasked
        from videoautoarena.runs.bench.selecting.asking import plan_hard
        from videoautoarena.runs.bench.selecting.pictures import plan_documents
        from videoautoarena.runs.jobs.paid_job import NOBODY

        embedder = self.embedder
        hard = topics = None
        if self.selection.hard:
            hard = await plan_hard(self.out, self.order, unasked(self.selection))
        # Which questions are drawn from shows once all are asked.
        is_known = hard is None or hard.known == hard.answers
        if embedder is not None and is_known:
            try:
                told = await self._hard(NOBODY)
            except _NothingWritten:
                is_known = False
            else:
                wanted = documents_wanted(self.out, self.selection, told)
                topics = await plan_documents(self.out, self.order, embedder, wanted)
        return FreezePlan(hard, topics, embedder is not None and not is_known)

    async def asked(self, audience: JobAudience) -> FreezeInputs | None:
        """Return what models say; None where nobody is asked."""
        embedder = self.embedder
        if not self.selection.hard and embedder is None:
            return None
        told = await self._hard(audience)
        return told if embedder is None else await self._embedded(embedder, told, audience)

    async def named(self, told: FreezeInputs | None, audience: JobAudience) -> BenchExtras:
        """Return the extras with a name for each topic; they are kept in the run."""
        if self.namer is None:
            return self.extras
        from videoautoarena.runs.analysis.categories.naming import name_topics
        from videoautoarena.runs.bench.format.schema import MANIFEST
        from videoautoarena.runs.bench.freeze.freeze import FreezeInputs, topics_in

        if not (self.to / MANIFEST).is_file():
            # What is there may be this bench, whose names are known.
            self.check()
        topics = await asyncio.to_thread(
            topics_in, self.out, self.selection, told or FreezeInputs()
        )
        names, tally = await name_topics(
            self.out, topics, self.namer, order=self.order, audience=audience
        )
        if not tally.is_whole:
            raise _NothingWritten(tally)
        return replace(
            self.extras, topic_names=names, topics_named_by=self.namer if names else None
        )

    async def _hard(self, audience: JobAudience) -> FreezeInputs:
        from videoautoarena.runs.bench.freeze.freeze import FreezeInputs
        from videoautoarena.runs.bench.freeze.items import unasked
        from videoautoarena.runs.bench.selecting.asking import ask_hard

        if not self.selection.hard:
            return FreezeInputs()
        wanted = unasked(self.selection)
        found, tally = await ask_hard(
            self.out, self.order, wanted, audience=audience, check=self.check
        )
        _say_reasons(tally, audience)
        if not tally.is_whole:
            raise _NothingWritten(tally)
        if found.lost_share > self.max_void:
            raise _NothingWritten(
                tally,
                f"{found.lost_share:.0%} of the answers asked for have no verdict, since a call "
                f"failed; more than {option('max_void')} allows ({self.max_void:.0%}): no bench "
                "is written",
            )
        return FreezeInputs(hard=found)

    async def _embedded(
        self, embedder: Embedder, told: FreezeInputs, audience: JobAudience
    ) -> FreezeInputs:
        from videoautoarena.runs.bench.freeze.freeze import documents_wanted
        from videoautoarena.runs.bench.selecting.pictures import Documents, embed_documents

        wanted = await asyncio.to_thread(documents_wanted, self.out, self.selection, told)
        if not wanted:
            audience.say("topics: too few questions; nothing is embedded")
            return replace(told, documents=Documents({}))
        ask = partial(embed_documents, self.out, self.order, embedder, wanted)
        found, tally = await ask(audience=audience, check=self.check)
        _say_reasons(tally, audience)
        if not tally.is_whole:
            raise _NothingWritten(tally)
        if tally.failed:
            raise _NothingWritten(tally, f"{tally.in_words}: no bench is written")
        return replace(told, documents=found)


def _say_reasons(tally: JobTally, audience: JobAudience) -> None:
    for line in tally.reasons():
        audience.say(line)
