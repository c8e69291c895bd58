"""Vectors of questions and of frames that their answers were given, for topics of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.agents.calls.ask import journal_key
from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.providers.embeddings import sees_images
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.retrieve import ask_vector, pictures_request, question_request
from videoautoarena.memory.records.errors import BadInput, CallFailed, JournalMiss
from videoautoarena.memory.records.records import SCHEMA, CallRow, Frame, Frames, Nonce
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.selecting.ground import Asking, Ground, Progress, known_of, opened
from videoautoarena.runs.console.progress.events import Listeners, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.cast import CastEntry, embedder_of
from videoautoarena.runs.run.rundir.context import Calling, draining_asker, work_off
from videoautoarena.runs.run.rundir.reader import counted, run_file
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.video.sampling.thinning import kept_places

TOPICS_SCOPE = f"{TRIAL_SCOPE}topics:"
"""What the scope of every call for a vector begins with."""
FRAMES = 4
"""Frames of a question that are embedded: a call each, shared by all questions about a video. More
of one video look alike; fewer miss what a question is about where scenes change."""


class Asked(NamedTuple):
    """One question whose document is wanted."""

    qid: str
    question: str
    battle: str
    """Id of the battle whose answers it is from."""


class Embedder(NamedTuple):
    """What embeds questions and frames in one space."""

    name: str
    entry: CastEntry


@dataclass(frozen=True)
class Documents:
    """A vector for each question, and what they took."""

    vectors: Mapping[str, Floats]
    """By qid: the mean of the question's vector and of its frames', as `document_of` says."""
    with_frames: int = 0
    """Questions that had frames; the others' vectors are those of their words alone."""
    calls: int = 0
    """Of all processes."""
    cost_usd: float | None = 0.0
    """None where the cost of any call is unknown."""


@dataclass(frozen=True)
class DocumentPlan:
    """What embedding takes, before anything is sent."""

    questions: int
    """A vector each."""
    frames: int
    """Different ones, a vector each."""
    known: int
    """Vectors that the run has."""
    calls_at_most: int
    """Calls, transport retries aside."""
    notices: tuple[str, ...]
    """What leaves the machine."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `topics` in `arena freeze --plan --json`."""
        return {"schema": SCHEMA, **vars(self), "notices": list(self.notices)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        known = f", {self.known:,} of them known" if self.known else ""
        total = counted(self.questions + self.frames, "vector")
        return [
            f"topics: {total} of {counted(self.questions, 'question')} and "
            f"{counted(self.frames, 'frame')}{known}; at most "
            f"{counted(self.calls_at_most, 'call')}",
            *map(safe, self.notices),
        ]


class _Piece(NamedTuple):
    """One vector that is wanted: of a question, or of a frame."""

    video: str | None
    content: str
    """The question, or the digest of the frame."""
    shown: Frames | None

    @property
    def scope(self) -> str:
        return f"{TOPICS_SCOPE}{self.video or 'questions'}"

    def request(self, generation: int) -> Request:
        """Return what asks for it."""
        nonce = Nonce(scope=self.scope, role="embedder", generation=generation)
        if self.shown is None:
            return question_request(self.content, nonce)
        return pictures_request(self.shown, nonce)

    async def ask(self, prompter: Prompter, model: Model) -> Floats:
        """Return it; one model call, or CallFailed."""
        *_, generation = prompter.generations(self.scope)
        found = await ask_vector(prompter, model, self.request(generation))
        return np.array(found, dtype=np.float64)


@dataclass
class _Work:
    """What is wanted, known and left."""

    of: dict[str, list[_Piece]]
    """By qid: its question, then its frames."""
    found: dict[_Key, Floats] = field(default_factory=dict)
    left: list[_Piece] = field(default_factory=list)
    generations: dict[str, int] = field(default_factory=dict)

    @property
    def pieces(self) -> list[_Piece]:
        """All that is wanted, each once."""
        return list({_key(one): one for each in self.of.values() for one in each}.values())


_Key = tuple[str | None, str]


def _key(piece: _Piece) -> _Key:
    return piece.video, piece.content


def picture_embedder(name: str, file: ArenaFile) -> Embedder | None:
    """Return what a name of embeddings stands for where it takes pictures, too; else None.

    BadInput where there is no such model.
    """
    table = file.table(name)
    model = name if table is None else table.model
    if not model.startswith("offline:") and not sees_images(model):
        return None
    return Embedder(name, embedder_of(name, file, place="--embeddings"))


async def plan_documents(
    out: Path, asking: Asking, embedder: Embedder, wanted: Sequence[Asked]
) -> DocumentPlan:
    """Return what embedding will take; nobody is called, and nothing is written."""
    async with opened(out, asking, write=False, embedder=embedder) as ground:
        work = await _known(ground, asking, embedder.name, wanted)
        return _plan(ground, embedder.name, work)


async def embed_documents(
    out: Path,
    asking: Asking,
    embedder: Embedder,
    wanted: Sequence[Asked],
    *,
    listeners: Listeners,
    on_done: Callable[[Progress], None],
    check: Callable[[], None] = lambda: None,
) -> tuple[Documents, Progress]:
    """Return the documents of questions; what the journal lacks is asked for.

    `check` may still raise where anything is about to be asked.

    Where `Progress` is not whole, or has failures, there are none. BadInput where frames are gone
    or pictures and words have vectors of several lengths; RunLocked.
    """
    async with opened(out, asking, write=False, embedder=embedder) as ground:
        work = await _known(ground, asking, embedder.name, wanted)
        plan = _plan(ground, embedder.name, work)
    for line in plan.as_lines():
        listeners.say(line)
    progress = Progress(what="vector", total=len(work.left))
    if work.left:
        check()
        async with opened(out, asking, write=True, embedder=embedder) as ground:
            await _ask(
                ground, work, asking, embedder.name, progress, listeners=listeners, on_done=on_done
            )
    if progress.failed or not progress.is_whole:
        return Documents({}), progress
    with Store.open(run_file(out), write=False) as store:
        rows = list(_rows(store, ground.config.model_of(embedder.name), work))
    vectors = {
        qid: _document(embedder.name, [work.found[_key(piece)] for piece in pieces])
        for qid, pieces in work.of.items()
    }
    with_frames = sum(len(pieces) > 1 for pieces in work.of.values())
    known = [_cost(row) for row in rows]
    costs = [cost for cost in known if cost is not None]
    cost_usd = sum(costs) if len(costs) == len(known) else None
    return Documents(vectors, with_frames, len(rows), cost_usd), progress


def _cost(row: CallRow) -> float | None:
    """Return what all tries of a call cost; None where that of its last one is unknown."""
    if row.cost_usd is None:
        return None
    return row.cost_usd + sum(attempt.cost_usd or 0.0 for attempt in row.attempts)


def _rows(store: Store, model: Model, work: _Work) -> Iterator[CallRow]:
    """Yield the calls that the vectors took, failed ones too; of other benches none."""
    for piece in work.pieces:
        for generation in range(work.generations.get(piece.scope, 0) + 1):
            row = store.journal.find(journal_key(model, piece.request(generation)))
            if row is not None:
                yield row


def document_of(question: Floats, frames: Sequence[Floats]) -> Floats:
    """Return the mean of a question's vector and of its frames', both of unit length.

    The frames' is the mean of theirs, each of unit length: so words and pictures weigh alike,
    however many frames there are. Without frames it is the question's own.

    Source: VisionArena clusters the mean of a picture's and a text's embedding.
    """
    words = _unit(question)
    if not len(frames):
        return words
    seen = _unit(np.mean([_unit(frame) for frame in frames], axis=0))
    return (words + seen) / 2


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _document(name: str, vectors: Sequence[Floats]) -> Floats:
    if len(widths := sorted({len(vector) for vector in vectors})) > 1:
        raise BadInput(
            f"{safe(name)} gives vectors of several lengths ({', '.join(map(str, widths))}) of "
            "words and pictures, which have no mean; name embeddings of both in one space"
        )
    return document_of(vectors[0], vectors[1:])


async def _known(ground: Ground, asking: Asking, name: str, wanted: Iterable[Asked]) -> _Work:
    """Return what is wanted, and what of it the journal has."""
    store = ground.store
    model = ground.config.model_of(name)
    work = _Work({one.qid: list(_pieces(store, one)) for one in wanted})
    work.generations |= known_of(store, TOPICS_SCOPE).generations
    prompter = ground.recalling(work.generations)
    again: dict[str, int] = {}
    for piece in work.pieces:
        try:
            work.found[_key(piece)] = await piece.ask(prompter, model)
        except JournalMiss:
            work.left.append(piece)
        except CallFailed:
            work.left.append(piece)
            if asking.retry_failed:
                again[piece.scope] = work.generations.get(piece.scope, 0) + 1
    work.generations |= again
    return work


def _pieces(store: Store, asked: Asked) -> Iterator[_Piece]:
    """Yield a question, then up to FRAMES of those its answers were given, spread evenly."""
    yield _Piece(None, asked.question, None)
    battle = store.battle(asked.battle)
    frames = store.frames(battle.video) if battle is not None else None
    if battle is None or frames is None:
        return
    times = {*battle.frames_a, *battle.frames_b}
    given = [frame for frame in frames.frames if frame.time_s in times]
    for place in kept_places(len(given), FRAMES):
        yield _Piece(battle.video, given[place].digest, _alone(frames, given[place]))


def _alone(frames: Frames, frame: Frame) -> Frames:
    bare = {"frames": (frame,), "subtitles": None, "captions": ()}
    return frames.model_copy(update=bare)


def _plan(ground: Ground, name: str, work: _Work) -> DocumentPlan:
    pieces = work.pieces
    model = ground.config.model_of(name)
    frames = [piece for piece in pieces if piece.shown is not None]
    left = [piece for piece in work.left if piece.shown is not None]
    videos = {piece.video for piece in left}
    notice = (
        f"{counted(len(work.left) - len(left), 'question')} and {counted(len(left), 'frame')} of "
        f"{counted(len(videos), 'video')} go to {model.endpoint} for {name}, one a call"
    )
    return DocumentPlan(
        questions=len(pieces) - len(frames),
        frames=len(frames),
        known=len(work.found),
        calls_at_most=len(work.left),
        notices=(notice,) if work.left and not model.is_offline else (),
    )


async def _ask(
    ground: Ground,
    work: _Work,
    asking: Asking,
    name: str,
    progress: Progress,
    *,
    listeners: Listeners,
    on_done: Callable[[Progress], None],
) -> None:
    """Ask for what is left; it is in `work.found` then."""
    model = ground.config.model_of(name)
    check_keys([model])
    await ground.check_frames({piece.video: piece.content for piece in work.left if piece.video})
    asker = draining_asker(
        Calling(ground.store, ground.config, ground.run_frames.jpegs),
        progress,
        pace=asking,
        hear=partial(pass_on, listeners=listeners),
    )
    prompter = ground.prompter(asker, work.generations)

    async def ask_one(piece: _Piece) -> None:
        try:
            work.found[_key(piece)] = await piece.ask(prompter, model)
            progress.count()
        except CallFailed as failure:
            progress.count(str(failure))
        on_done(progress)

    workers = min(len(work.left), 2 * asking.concurrency)
    try:
        stopped = await until_done(asker, work_off(work.left, ask_one, workers=workers), listeners)
    finally:
        await asker.aclose()
    progress.end(asker, stopped=stopped)
