"""Which of a video's frames a question is answered from, where a model is sent the best clips.

The frames are cut into clips. Each clip has a vector, of its pictures or of the words of a model
that captions it, and the question has one in the same space. Vectors and captions are calls like
any other: what is kept of them decides the clips again. Those of a video serve all its questions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt

from videoautoarena.agents.models.registry import Model, Retrieval
from videoautoarena.agents.prompting.contracts import QUESTION_LINE
from videoautoarena.agents.prompting.layout import Request, thinned
from videoautoarena.agents.roles.prompter import Prompter, all_done
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import EmptyReply, UnusableReply
from videoautoarena.memory.records.records import CallRow, Nonce, Role, VideoFrames
from videoautoarena.video.sampling.thinning import take

CAPTION_LINE = "Caption:"
_PICTURES = "The vector of these frames."
_CAPTION = (
    "These frames are a short part of a video, in the order of time. Say in one or two plain "
    "sentences what can be seen in them: who or what, where, what happens, which colours there "
    "are, how bright it is, and any text in the picture."
)
_CAPTION_PROMPT = digest(_CAPTION)
LONGEST_CAPTION = 2_000
"""Characters of a caption that are embedded."""
_LARGEST = 1e100
Vector = Sequence[float]


def clips_of(total: int, each: int) -> list[range]:
    """Return the places of so many frames in clips of `each`; the last may be shorter."""
    return [range(first, min(first + each, total)) for first in range(0, total, each)]


def best(clips: Sequence[Vector], question: Vector, *, keep: int) -> list[int]:
    """Return the places of the clips most like the question, ascending; of equal ones the first.

    Sums are exact, so that another machine chooses the same.
    """
    wanted = _length(question)
    likeness = []
    for clip in clips:
        lengths = _length(clip) * wanted
        # Not NumPy's, whose sums depend on the machine's vector units.
        product = fsum(x * y for x, y in zip(clip, question, strict=True))
        likeness.append(product / lengths if lengths else 0.0)
    ranked = sorted(range(len(clips)), key=lambda place: (-likeness[place], place))
    return sorted(ranked[:keep])


def _length(vector: Vector) -> float:
    return sqrt(fsum(x * x for x in vector))


async def share_of(
    prompter: Prompter, model: Model, *, frames: VideoFrames, question: str, slot: str
) -> VideoFrames:
    """Return what a model answers from: its share of all frames, or of those of the best clips.

    A video of no more clips than are kept is taken whole. CallFailed if a clip or the question
    has no vector.
    """
    if model.retrieval is not None:
        clips = clips_of(len(frames.frames), model.retrieval.frames_per_clip)
        if len(clips) > model.retrieval.keep:
            scout = _Scout(prompter, model.retrieval, slot)
            kept = await scout.choose(frames, clips, question)
            frames = take(frames, [place for clip in kept for place in clips[clip]])
    return thinned(frames, model.frame_limit("contestant"))


@dataclass(frozen=True)
class _Scout:
    """Asks for the vectors that one question needs."""

    prompter: Prompter
    retrieval: Retrieval
    slot: str

    async def choose(self, frames: VideoFrames, clips: Sequence[range], question: str) -> list[int]:
        """Return the places of the clips that are kept."""
        works = [self._of_clip(_shown(frames, clip), place) for place, clip in enumerate(clips)]
        wanted, *vectors = await all_done([self._of_question(question), *works])
        if len({len(vector) for vector in (wanted, *vectors)}) > 1:
            raise UnusableReply("embedder gave vectors of several lengths")
        return best(vectors, wanted, keep=self.retrieval.keep)

    async def _of_question(self, question: str) -> Vector:
        return await self._vector(question_request(question, self._nonce("embedder")))

    async def _of_clip(self, clip: VideoFrames, place: int) -> Vector:
        """Return a clip's vector; with a captioner, that of its words."""
        captioner = self.retrieval.captioner
        nonce = self._nonce("embedder", clip.video, place)
        if captioner is None:
            return await self._vector(pictures_request(clip, nonce))
        shown = thinned(clip, captioner.frame_limit("captioner"))
        asked = f"{QUESTION_LINE}\n{_CAPTION}"
        said = self._nonce("captioner", clip.video, place)
        request = Request("captioner", asked, shown, said, prompt=_CAPTION_PROMPT)
        words = await self.prompter.ask_shared(captioner, request, self._caption)
        return await self._vector(Request("embedder", f"{CAPTION_LINE}\n{words}", None, nonce))

    def _caption(self, row: CallRow) -> str:
        """Return the words for a clip, as many as embeddings surely take."""
        words = self.prompter.answer_in(row).strip()
        if not words:
            raise EmptyReply("the caption holds reasoning and no words")
        return words[:LONGEST_CAPTION]

    async def _vector(self, request: Request) -> Vector:
        return await ask_vector(self.prompter, self.retrieval.embedder, request)

    def _nonce(self, role: Role, scope: str | None = None, place: int = 0) -> Nonce:
        *_, generation = self.prompter.generations(self.slot)
        # Even, as for any first ask; odd ordinals are those of repair rounds.
        return Nonce(scope=scope or self.slot, role=role, generation=generation, ordinal=2 * place)


def question_request(question: str, nonce: Nonce) -> Request:
    """Return the request for the vector of a question."""
    return Request("embedder", f"{QUESTION_LINE}\n{question}", None, nonce)


def pictures_request(shown: VideoFrames, nonce: Nonce) -> Request:
    """Return the request for the mean vector of some frames, which must have no subtitles."""
    return Request("embedder", _PICTURES, shown, nonce)


async def ask_vector(prompter: Prompter, embedder: Model, request: Request) -> Vector:
    """Return a vector. One model call for all who want it; or CallFailed."""
    return await prompter.ask_shared(embedder, request, _read)


def _shown(frames: VideoFrames, clip: Sequence[int]) -> VideoFrames:
    shown = tuple(frames.frames[place] for place in clip)
    bare = {"frames": shown, "subtitles": None, "captions": ()}
    return frames.model_copy(update=bare)


def _read(row: CallRow) -> Vector:
    try:
        vector = [float(number) for number in json.loads(row.reply or "")]
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        vector = []
    # Squares of larger ones are infinite.
    if not vector or not all(isfinite(number) and abs(number) < _LARGEST for number in vector):
        raise UnusableReply("embedder gave no vector")
    return vector
