"""Freezing a run: its battles with a winner become a bench folder that outlives it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.runs.analysis.audit.canaries import blind_of
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.report import find_all, read_input
from videoautoarena.runs.analysis.categories.topics import LEAST, OTHER, need_topics
from videoautoarena.runs.bench.format.schema import (
    CARD,
    PARQUET,
    QUESTIONS,
    README,
    RUN,
    Generator,
    Item,
    Manifest,
    Source,
    counts_of,
    digest_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import (
    Copy,
    SealedBench,
    copied,
    copies_of,
    entries_of,
    put,
    refuse_taken,
    seal,
)
from videoautoarena.runs.bench.freeze.card import (
    NOBODY_BLIND,
    CardInput,
    card_text,
    need_pyarrow,
    parquet_bytes,
    readme_text,
)
from videoautoarena.runs.bench.freeze.items import (
    HardPool,
    QuestionPool,
    categorised,
    counts_of_hard,
    hard_pool_of,
    named_topics,
    pool_of,
    with_facts,
    with_names,
    worth_of,
)
from videoautoarena.runs.bench.freeze.selection import (
    UNLICENSED,
    UNSTATED,
    BenchSelection,
    ChosenQuestions,
    Embed,
    candidates_of,
    choose_items,
)
from videoautoarena.runs.bench.selecting.asking import HardFound, counts_in_words
from videoautoarena.runs.bench.selecting.pictures import FRAMES, Documents, EmbeddedQuestion
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.runs.run.inputs.facts import plain_licence
from videoautoarena.runs.run.rundir.opener import videos_folder
from videoautoarena.runs.run.rundir.reader import RunReader, counted, one_line, open_run

FACTS = (
    "version", "seed", "rounds", "models", "cast", "judges", "examiner", "pairing", "swap",
    "preset", "rules", "sampling", "subtitles", "limit", "prompts", "offline", "self_judging",
    "offline_judge_on_real",
)  # fmt: skip
"""What a bench repeats of the run's settings; nothing of a clock or a machine."""
FURTHER_FACTS = ("contracts", "reading", "personas", "diverse", "blind_referee")
"""What it repeats likewise, but only of a run that has it."""
CAST_FACTS = ("model", "max_frames", "parameters")
"""What it repeats of each model: not where its server stands."""
TAKEN = "taken"
NAMED = 8
"""The most licences that are named where none of those asked for is there."""


@dataclass(frozen=True)
class BenchExtras:
    """What a bench has beside its questions."""

    licence: str | None = None
    with_videos: bool = False
    videos: Path | None = None
    """Where the videos are; None for where they lay when the run was last at work."""
    parquet: bool = False
    topic_names: Mapping[str, str] = field(default_factory=dict)
    """Words that stand for a topic to a name for it; harmless, but anybody's text."""
    topics_named_by: str | None = None
    """The model that gave the names."""


@dataclass(frozen=True)
class FreezeInputs:
    """What models were asked before a freeze, which itself asks nobody."""

    hard: HardFound | None = None
    """Needed where hard questions are selected."""
    documents: Documents | None = None
    """Vectors for topics of questions and frames; None: of the questions alone."""


@dataclass(frozen=True)
class FrozenBench:
    """A bench that was written, or was already there."""

    folder: Path
    """Where it lies."""
    bench: str
    """Its digest."""
    questions: int
    """Questions in it."""
    videos: int
    """Videos that they are about."""
    battles: int
    """Battles of the run that count: each is a question, in one of the next two, or dropped."""
    left_out: int
    """Battles without a winner."""
    borrowed: int
    """Battles of newcomers over stored answers; the questions are those answers' own battles'."""
    unsettled: int
    """Slots of the run that had no battle yet."""
    was_there: bool
    """The folder held this bench already."""
    wanted: int | None = None
    """How many questions were asked for."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Reason to number of questions that options left out."""
    without_answer: list[str] = field(default_factory=list)
    """Models of the run that gave none of the answers in the bench."""
    hard: dict[str, Any] | None = None
    """How [hard questions](#a-hard-question) were found; None without `--hard`."""
    is_leak_known: bool = True
    """False if `--leak-filter` found no model that played without frames."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena freeze --json`."""
        return {"schema": SCHEMA, **asdict(self), "folder": str(self.folder)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        made = "already holds this bench" if self.was_there else "frozen"
        whole = counted(self.battles, "battle")
        out_of = f" out of {whole}" if self.questions < self.battles else ""
        lines = [
            f"{safe(str(self.folder))} {made}: {counted(self.questions, 'question')} about "
            f"{counted(self.videos, 'video')}{out_of}, bench {self.bench[:12]}"
        ]
        if self.wanted is not None and self.questions < self.wanted:
            lines.append(f"{self.wanted} were requested; there are no more")
        if self.left_out:
            lines.append(f"left out: {counted(self.left_out, 'battle')} without a winner ({CARD})")
        if self.borrowed:
            borrowed = f"{counted(self.borrowed, 'battle')} of newcomers over stored answers"
            lines.append(f"left out: {borrowed} ({CARD})")
        if self.hard is not None:
            lines.append(
                "hard: {hard} of {questions} questions with both answers called bad; of {tried} "
                "answers to them {failed} failed, {void} have no verdict".format(
                    **self.hard, tried=self.hard["asked"] + self.hard["known"]
                )
            )
        if dropped := counts_in_words(self.dropped):
            lines.append(f"not chosen: {dropped}")
        if self.without_answer:
            lines.append(f"without an answer in it: {', '.join(map(safe, self.without_answer))}")
        if not self.is_leak_known:
            lines.append(f"{option('leak_filter', True)} found nothing: {NOBODY_BLIND}")
        if self.unsettled:
            lines.append(f"the run is not finished: {counted(self.unsettled, 'slot')} to go")
        return lines


def _added(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Any]:
    """Return how many each reason left out before models were asked or after."""
    return {why: before.get(why, 0) + after.get(why, 0) for why in {**before, **after}}


def freeze(
    folder: Path,
    to: Path,
    selection: BenchSelection | None = None,
    extras: BenchExtras | None = None,
    told: FreezeInputs | None = None,
) -> FrozenBench:
    """Freeze the run in `folder` into the bench folder `to`, whole or not at all; or BadInput."""
    selection = selection or BenchSelection()
    with open_run(folder) as run:
        bench = bench_of(run, selection, extras or BenchExtras(), told or FreezeInputs())
        battles = len(run.battles)
        unsettled = len(run.slots) - battles
    copies = [what.source for what in bench.files.values() if isinstance(what, Copy)]
    if copies:
        size = sum(path.stat().st_size for path in copies)
        say(f"copying {counted(len(copies), 'file')}, {size / 1e6:,.0f} MB")
    was_there = put(bench.files, to)
    counts = bench.manifest["selection"]
    return FrozenBench(
        folder=to,
        bench=bench.manifest["bench"],
        questions=bench.manifest["count"],
        videos=len(bench.manifest["videos"]),
        battles=battles,
        left_out=sum(counts["without_winner"].values()),
        borrowed=sum(counts.get("borrowed", {}).values()),
        unsettled=unsettled,
        was_there=was_there,
        wanted=selection.size,
        dropped=counts["left_out"],
        without_answer=counts.get("without_answer", []),
        hard=counts.get("hard_questions"),
        is_leak_known=not selection.leak_filter or bool(counts["blind"]),
    )


def playing_command(folder: Path, to: Path, videos: Path | None, with_videos: bool) -> str:
    """Return what is typed to play the bench `to` of the run in `folder`, safe to print."""
    with open_run(folder) as run:
        films = videos_folder(run.store, videos)
        plays_offline = bool(run.manifest.get("offline"))
    typed = ["arena", "bench", "run", str(to)]
    if not with_videos:
        typed += ["--videos", "VIDEOS" if films is None else str(films)]
    # Without a name the offline cast plays, as in the run.
    typed += [] if plays_offline else ["--model", "MODEL"]
    return safe(shlex.join(typed))


def bench_of(
    run: RunReader, selection: BenchSelection, extras: BenchExtras, told: FreezeInputs
) -> SealedBench:
    """Return the bench of a run; the same run, wishes and answers give the same bytes."""
    given = read_input(run)
    pool, chosen = _chosen(run, selection, told, given)
    if not pool.items and isinstance(pool, HardPool):
        raise BadInput(
            f"none of {counted(pool.left_out.total(), 'question')} with both answers called bad is "
            f"hard ({counts_in_words(pool.left_out)}); freeze without {option('hard', True)}"
        )
    if not pool.items:
        raise BadInput(
            f"no battle in {run.folder} has a winner ({len(run.battles)} settled); {_advice(run)}"
        )
    if not chosen.items:
        why = counts_in_words(chosen.left_out)
        raise BadInput(f"none of {len(pool.items)} questions is left ({why}); relax the selection")
    items = with_names(chosen.items, extras.topic_names)
    entries = entries_of(run.store, {item.video_id for item in items})
    # Which battles count, how each ended and what people said of them.
    battles = [[battle.id, battle.verdict] for battle in run.outlines]
    labels = [label.model_dump() for label in run.store.evidence.labels()]
    facts = {name: run.manifest.get(name) for name in FACTS}
    # Not written as null where a run has none, so that benches of older runs keep their bytes.
    facts |= {name: run.manifest[name] for name in FURTHER_FACTS if run.manifest.get(name)}
    facts["cast"] = {
        alias: {key: entry[key] for key in CAST_FACTS if key in entry}
        for alias, entry in (run.manifest.get("cast") or {}).items()
    }
    draft = Manifest(
        generator=Generator(name="videoautoarena", version=version("videoautoarena")),
        source=Source(kind=RUN, format="videoautoarena", digest=digest_of([battles, labels])),
        run=facts,
        selection={
            "seed": _seed(run, selection),
            **selection.as_json(),
            # If nobody played without frames, a leak filter found nothing because it could not.
            "blind": [*blind_of(given)],
            "without_winner": {} if selection.hard else dict(sorted(pool.left_out.items())),
            "left_out": _added(pool.left_out if selection.hard else {}, chosen.left_out),
            **_beside(run, selection, pool, items, told),
            **named_topics(items, extras.topic_names, extras.topics_named_by),
        },
        licence=extras.licence,
        counts=counts_of(items),
        files={},
        videos=copied(entries) if extras.with_videos else entries,
        with_videos=extras.with_videos,
        count=len(items),
    )
    about = CardInput(draft, items, [found.to_json() for found in find_all(given)])
    files = {QUESTIONS: question_bytes(items), CARD: _plain(card_text(about))}
    if extras.parquet:
        files |= {PARQUET: parquet_bytes(items), README: _plain(readme_text(about))}
    copies = copies_of(run.store, entries, extras.videos) if extras.with_videos else {}
    return seal(draft, files, copies)


def refuse_vain(folder: Path, to: Path, selection: BenchSelection, extras: BenchExtras) -> None:
    """Raise BadInput for what no freeze could end well with, before anything is asked for it."""
    with open_run(folder) as run:
        _check_columns(run, selection)
        # Only for what it raises, like the check of columns: no model is asked in vain.
        _licence_counts(run, selection)
        # Of no items: only for what it raises where nothing is tagged.
        categorised(run, [], selection)
    if extras.parquet:
        need_pyarrow()
    if selection.draws and "topic" in selection.by:
        need_topics()
    refuse_taken(to)


def documents_wanted(
    folder: Path, selection: BenchSelection, told: FreezeInputs
) -> list[EmbeddedQuestion]:
    """Return the questions whose documents a draw over topics needs; or BadInput.

    Empty if there are too few for topics, so that nobody pays for vectors of no use.
    """
    with open_run(folder) as run:
        given = read_input(run)
        seed = _seed(run, selection)
        pool = _pool(run, selection, told, given=given, seed=seed)
        worth = _worth(pool, selection, given)
        found = candidates_of(pool.items, selection, seed=seed, leaked=pool.leaked, worth=worth)
    if len(found.items) < LEAST:
        return []
    return [EmbeddedQuestion(item.qid, item.question, item.battle or "") for item in found.items]


def topics_in(folder: Path, selection: BenchSelection, told: FreezeInputs) -> dict[str, list[str]]:
    """Return the topics that freezing a run would make, and the questions of each."""
    with open_run(folder) as run:
        _, chosen = _chosen(run, selection, told, read_input(run))
    found: dict[str, list[str]] = {}
    for item in chosen.items:
        if item.topic not in (None, OTHER):
            found.setdefault(str(item.topic), []).append(item.question)
    return found


def _chosen(
    run: RunReader, selection: BenchSelection, told: FreezeInputs, given: AuditInput
) -> tuple[QuestionPool | HardPool, ChosenQuestions]:
    """Return what there is to choose from, and what is chosen; topics are unnamed."""
    seed = _seed(run, selection)
    pool = _pool(run, selection, told, given=given, seed=seed)
    return pool, choose_items(
        pool.items,
        selection,
        seed=seed,
        leaked=pool.leaked,
        worth=_worth(pool, selection, given),
        embed=_embed(run.folder, selection, told),
    )


def _seed(run: RunReader, selection: BenchSelection) -> int:
    return int(run.manifest.get("seed") or 0) if selection.seed is None else selection.seed


def _pool(
    run: RunReader, selection: BenchSelection, told: FreezeInputs, *, given: AuditInput, seed: int
) -> QuestionPool | HardPool:
    _check_columns(run, selection)
    _licence_counts(run, selection)
    if selection.hard and told.hard is None:
        raise WrongArgument(
            f"hard questions have to be asked for first: {step('freeze', hard=True)} does"
        )
    found = hard_pool_of(told.hard, given, seed) if told.hard else pool_of(run.battles, given)
    found = with_facts(found, run.facts())
    return replace(found, items=categorised(run, found.items, selection))


def _check_columns(run: RunReader, selection: BenchSelection) -> None:
    # A title tells one video from all others, and a stated category is the item's own already.
    own = [name for name in run.known_facts.columns if name not in ("title", "category")]
    selection.check_columns(own)


def _licence_counts(run: RunReader, selection: BenchSelection) -> dict[str, int]:
    """Return how many videos a wish for licences takes or leaves out; BadInput if it takes none.

    Empty without such a wish.
    """
    if not selection.only_licence:
        return {}
    facts = run.facts()
    videos = {one.video for one in run.outlines}
    stated = [facts[id_].licence if id_ in facts else None for id_ in sorted(videos)]
    whys = Counter(selection.why_no_licence(licence) or TAKEN for licence in stated)
    if not whys[TAKEN]:
        raise BadInput(
            f"{option('only_licence')} {safe(', '.join(selection.licences))}: no question of "
            f"{run.folder} is about such a video; there are {_licences_in_words(stated)}"
        )
    return {why: whys[why] for why in (TAKEN, UNSTATED, UNLICENSED)}


def _licences_in_words(stated: Iterable[str | None]) -> str:
    names: dict[str, str] = {}
    for licence in filter(None, stated):
        # Named as it was spelled first, and counted under all spellings.
        names.setdefault(plain_licence(licence), licence)
    counts = Counter(plain_licence(licence) if licence else None for licence in stated)
    words = [
        f"{one_line(names[key], 60)} ({counted(counts[key], 'video')})"
        for key in sorted(names)[:NAMED]
    ]
    if len(names) > NAMED:
        words.append(counted(len(names) - NAMED, "other licence"))
    if none := counts[None]:
        words.append(f"{counted(none, 'video')} without a stated one")
    return ", ".join(words)


class TopicDocuments(TypedDict):
    """What topics of questions and frames were made of."""

    questions: int
    """Questions that were clustered."""
    with_frames: int
    """How many of these had frames."""
    frames: int
    """Most frames of each."""
    calls: int
    """Calls that the vectors took, in all processes."""
    cost_usd: float | None
    """What they cost; None if that of any is unknown."""


def _beside(
    run: RunReader,
    selection: BenchSelection,
    pool: QuestionPool,
    items: Sequence[Item],
    told: FreezeInputs,
) -> dict[str, Any]:
    """Return what a manifest says only where there is any: what else of the run is not here."""
    answered = {name for item in items for name in (item.selected_model, item.rejected_model)}
    silent = [name for name in run.manifest.get("models") or () if name not in answered]
    beside: dict[str, Any] = {
        "borrowed": dict(sorted(pool.borrowed.items())),
        "without_answer": silent,
        "licence_videos": _licence_counts(run, selection),
    }
    if isinstance(pool, HardPool) and told.hard is not None:
        beside["hard_questions"] = counts_of_hard(told.hard, len(pool.items))
    if told.documents is not None and told.documents.vectors:
        documents: TopicDocuments = {
            "questions": len(told.documents.vectors),
            "with_frames": told.documents.with_frames,
            "frames": FRAMES,
            "calls": told.documents.calls,
            "cost_usd": told.documents.cost_usd,
        }
        beside["topic_documents"] = documents
    # Empty ones are left out, so that benches without them keep their bytes.
    return {name: found for name, found in beside.items() if found}


def _worth(
    pool: QuestionPool, selection: BenchSelection, given: AuditInput
) -> Mapping[str, float] | None:
    if isinstance(pool, HardPool):
        return pool.worth
    return worth_of(pool.items, given.outlines) if selection.separating else None


def _embed(folder: Path, selection: BenchSelection, told: FreezeInputs) -> Embed | None:
    if told.documents is not None:
        vectors = told.documents.vectors
        if not vectors:
            return None
        return lambda items: np.array([vectors[item.qid] for item in items])
    if (model := selection.embeddings) is None:
        return None
    from videoautoarena.runs.run.rundir.embeddings import vectors_of

    return lambda items: vectors_of([i.question for i in items], model, folder=folder, say=say)


def _advice(run: RunReader) -> str:
    """Return what a run without a winner needs, which more of the same may not give."""
    same = sum(bool(a) and a == b for a, b in run.battles.answers())
    if same and 2 * same >= len(run.battles):
        return (
            f"in {same} of them both models gave the same answer, word for word; play models "
            "that differ"
        )
    return "play more rounds or videos"


def _plain(text: str) -> bytes:
    # Names and answers may hold lone surrogates, which UTF-8 cannot write.
    return text.encode("utf-8", "backslashreplace")
