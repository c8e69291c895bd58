"""Vectors of questions and of frames that their answers were given, for topics of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from videoautoarena.agents.calls.ask import journal_key
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.providers.embeddings import sees_images
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.retrieve import ask_vector, pictures_request, question_request
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import CallRow, Frame, Nonce, VideoFrames
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.record_json import keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.job_run import (
    JobRun,
    RunJob,
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
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.cast import CastEntry, embedder_of
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import counted, run_file
from videoautoarena.runs.tournament.plan import PLAN_FIGURES, known_sum
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.video.sampling.thinning import kept_places

TOPICS_SCOPE = f"{TRIAL_SCOPE}topics:"
"""What the scope of every call for a vector begins with."""
FRAMES = 4
"""Frames of a question that are embedded: a call each, shared by all questions about a video. More
of one video look alike; fewer miss what a question is about where scenes change."""


class EmbeddedQuestion(NamedTuple):
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
    """The vector of each question, by qid, as `document_of` makes it of words and frames."""
    with_frames: int = 0
    """Questions that had frames; the others' vectors are those of their words alone."""
    calls: int = 0
    """Calls, over all processes."""
    cost_usd: float | None = 0.0
    """Their cost; None if that of any call is unknown."""


@dataclass(frozen=True, kw_only=True)
class DocumentPlan(JobPlan):
    """What embedding takes, before anything is sent."""

    SHOWN: ClassVar = ("questions", "frames", "known", "vectors", *PLAN_FIGURES, "notices")
    questions: int
    """Questions, a vector each."""
    frames: int
    """Different frames, a vector each."""
    vectors: int = field(metadata=keyed("calls_at_most"))
    """Calls, transport retries aside."""

    def headlines(self) -> Iterator[str]:
        """Yield how much there is to be asked."""
        total = counted(self.questions + self.frames, "vector")
        yield (
            f"topics: {total} of {counted(self.questions, 'question')} and "
            f"{counted(self.frames, 'frame')}{self.known_words}; at most "
            f"{counted(self.vectors, 'call')}{self.cost_words()}"
        )


class _Piece(NamedTuple):
    """One vector that is wanted: of a question, or of a frame."""

    video: str | None
    content: str
    """The question, or the digest of the frame."""
    shown: VideoFrames | None

    @property
    def scope(self) -> str:
        return f"{TOPICS_SCOPE}{self.video or 'questions'}"

    def request(self, generation: int) -> Request:
        """Return what asks for it."""
        nonce = Nonce(scope=self.scope, role="embedder", generation=generation)
        if self.shown is None:
            return question_request(self.content, nonce)
        return pictures_request(self.shown, nonce)

    @property
    def key(self) -> _Key:
        """Return what tells it from others."""
        return self.video, self.content


_Key = tuple[str | None, str]


@dataclass(kw_only=True)
class EmbeddingJob(RunJob[_Piece, Floats]):
    """Asks for the vectors of questions and frames; a reply is a vector."""

    IS_BATCHED = False
    model: Model
    pieces: Mapping[str, Sequence[_Piece]]
    """The pieces of each question, by qid: its words, then its frames."""
    found: dict[_Key, Floats] = field(default_factory=dict)

    @property
    def wanted(self) -> list[_Piece]:
        """All that is wanted, each once."""
        return list({one.key: one for each in self.pieces.values() for one in each}.values())

    def forecast(self, piece: _Piece) -> Iterable[ExpectedCalls]:
        """Yield one call."""
        frames = 0 if piece.shown is None else 1
        yield ExpectedCalls(self.model.alias, "embedder", 1.0, 1, frames=frames)

    async def begin(self) -> None:
        """Look for the frames of every video."""
        await self.job_run.check_frames(piece.shown for piece in self.left)

    async def play(self, piece: _Piece, prompter: Prompter) -> Floats:
        """Return a vector; one model call, or CallFailed."""
        *_, generation = prompter.generations(piece.scope)
        found = await ask_vector(prompter, self.model, piece.request(generation))
        return np.array(found, dtype=np.float64)

    async def keep(self, piece: _Piece, outcome: Floats) -> None:
        """Take a vector; it stands in the journal alone."""
        self.found[piece.key] = outcome
        self.tally.count()

    def plan(self) -> DocumentPlan:
        """Return what is left to be embedded."""
        frames = [piece for piece in self.left if piece.shown is not None]
        notice = (
            f"{counted(len(self.left) - len(frames), 'question')} and "
            f"{counted(len(frames), 'frame')} of "
            f"{counted(len({piece.video for piece in frames}), 'video')} go to "
            f"{self.model.endpoint} for {self.model.alias}, one a call"
        )
        notices = (notice,) if self.left and not self.model.is_offline else ()
        shown = sum(piece.shown is not None for piece in self.wanted)
        return DocumentPlan(
            **(vars(super().plan()) | {"notices": notices}),
            questions=len(self.wanted) - shown,
            frames=shown,
            vectors=len(self.left),
        )

    def took(self, store: Store) -> Iterator[CallRow]:
        """Yield the calls that the vectors took, failed ones too, but none of other benches."""
        for piece in self.wanted:
            for generation in self.generations(piece.scope):
                row = store.journal.find(journal_key(self.model, piece.request(generation)))
                if row is not None:
                    yield row


def picture_embedder(name: str, file: ArenaFile) -> Embedder | None:
    """Return the model that a name of embeddings stands for if it takes pictures, too; else None.

    BadInput if there is no such model.
    """
    table = file.table(name)
    model = name if table is None else table.model
    if not model.startswith("offline:") and not sees_images(model):
        return None
    return Embedder(name, embedder_of(name, file, place=option("embeddings")))


async def plan_documents(
    out: Path, order: JobOrder, embedder: Embedder, wanted: Sequence[EmbeddedQuestion]
) -> DocumentPlan:
    """Return what embedding will take; nobody is called, and nothing is written."""
    recast = to_go_on([embedder.name], **{embedder.name: embedder.entry})
    async with open_job_run(out, order, recast, write=False) as found:
        return (await _job(found, order, wanted)).plan()


async def embed_documents(
    out: Path,
    order: JobOrder,
    embedder: Embedder,
    wanted: Sequence[EmbeddedQuestion],
    *,
    audience: JobAudience = NOBODY,
    check: Callable[[], None] = lambda: None,
) -> tuple[Documents, JobTally]:
    """Return the documents of questions; what the journal lacks is asked for.

    `check` may still raise where anything is about to be asked.

    If `JobTally` is not whole, or has failures, there are none. BadInput if frames are gone
    or pictures and words have vectors of several lengths; RunLocked.
    """
    recast = to_go_on([embedder.name], **{embedder.name: embedder.entry})
    async with open_job_run(out, order, recast, write=False) as found:
        job = await _job(found, order, wanted)
        if not job.left:
            await job.run(audience)
    if job.left:
        check()
        async with open_job_run(out, order, recast, write=True) as found:
            await replace(job, **found.parts).run(audience)
    if job.tally.failed or not job.tally.is_whole:
        return Documents({}), job.tally
    with Store.open(run_file(out), write=False) as store:
        rows = list(job.took(store))
    vectors = {
        qid: _document(embedder.name, [job.found[piece.key] for piece in pieces])
        for qid, pieces in job.pieces.items()
    }
    with_frames = sum(len(pieces) > 1 for pieces in job.pieces.values())
    return Documents(vectors, with_frames, len(rows), known_sum(map(_cost, rows))), job.tally


async def _job(found: JobRun, order: JobOrder, wanted: Iterable[EmbeddedQuestion]) -> EmbeddingJob:
    """Return the job with what the journal has of the vectors that are wanted."""
    generations = Generations(None, known_of(found.store, TOPICS_SCOPE).generations)
    job = EmbeddingJob(
        **found.parts,
        prompts=stored_prompts(found.store),
        order=order,
        generations=generations,
        tally=JobTally(unit="vector"),
        model=found.config.model_of(found.called[0]),
        pieces={one.qid: list(_pieces(found.store, one)) for one in wanted},
    )
    known = await job.recall(job.wanted)
    job.found.update((piece.key, vector) for piece, vector in known.known)
    if order.retry_failed:
        # Pieces of one video share a scope, whose generation is raised once for all of them.
        generations.add({piece.scope for piece in known.failed})
    # Failed pieces are played, too: in the same generation the journal fails them again, unpaid.
    job.left = [piece for piece in job.wanted if piece.key not in job.found]
    job.tally.known = len(job.found)
    return job


def _cost(row: CallRow) -> float | None:
    """Return what all tries of a call cost; None if that of its last one is unknown."""
    if row.cost_usd is None:
        return None
    return row.cost_usd + sum(attempt.cost_usd or 0.0 for attempt in row.attempts)


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


def _pieces(store: Store, asked: EmbeddedQuestion) -> Iterator[_Piece]:
    """Yield a question, then up to FRAMES of those its answers were given, spread evenly."""
    yield _Piece(None, asked.question, None)
    battle = store.battle(asked.battle)
    frames = store.frames(battle.video) if battle is not None else None
    if battle is None or frames is None:
        return
    # Frames of either answer: its two models may have been sent different ones.
    times = {*battle.frames_a, *battle.frames_b}
    given = [frame for frame in frames.frames if frame.time_s in times]
    for place in kept_places(len(given), FRAMES):
        yield _Piece(battle.video, given[place].digest, _alone(frames, given[place]))


def _alone(frames: VideoFrames, frame: Frame) -> VideoFrames:
    # Nothing of the question or of speech goes along, so one call serves all questions about a
    # video.
    bare = {"frames": (frame,), "subtitles": None, "captions": ()}
    return frames.model_copy(update=bare)
