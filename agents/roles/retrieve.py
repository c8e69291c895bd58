"""Which of a video's frames a question is answered from, where a model is sent the best clips.

The frames are cut into clips. Each clip has a vector, of its pictures or of the words of a model
that captions it, and the question has one in the same space. Vectors and captions are calls like
any other: what is kept of them decides the clips again. Those of a video serve all its questions.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from typing import Any

from videoautoarena.agents.calls.replies import without_reasoning
from videoautoarena.agents.models.registry import Model, Retrieval
from videoautoarena.agents.prompting.contracts import QUESTION_LINE
from videoautoarena.agents.prompting.layout import Request, thinned
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import UnusableReply
from videoautoarena.memory.records.records import CallRow, Frames, Nonce, Role
from videoautoarena.video.sampling.sampler import take

CAPTION_LINE = "Caption:"
_PICTURES = "The vector of these frames."
_CAPTION = (
    "These frames are a short part of a video, in the order of time. Say in one or two plain "
    "sentences what can be seen in them: who or what, where, what happens, which colours there "
    "are, how bright it is, and any text in the picture."
)
_CAPTION_PROMPT = digest(_CAPTION)
Vector = Sequence[float]


def clips_of(total: int, each: int) -> list[range]:
    """Return the places of so many frames in clips of `each`; the last may be shorter."""
    return [range(first, min(first + each, total)) for first in range(0, total, each)]


def best(clips: Sequence[Vector], question: Vector, *, keep: int) -> list[int]:
    """Return the places of the clips most like the question, ascending; of equal ones the first.

    Sums are exact, so that another machine chooses the same.
    """
    likeness = [_cosine(clip, question) for clip in clips]
    ranked = sorted(range(len(clips)), key=lambda place: (-likeness[place], place))
    return sorted(ranked[:keep])


def _cosine(one: Vector, other: Vector) -> float:
    length = sqrt(fsum(x * x for x in one)) * sqrt(fsum(x * x for x in other))
    return fsum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0


async def retrieved(
    prompter: Prompter, retrieval: Retrieval, *, frames: Frames, question: str, slot: str
) -> Frames:
    """Return the frames of the best clips, in order of time; all where there are no more clips.

    CallFailed where a clip or the question has no vector.
    """
    clips = clips_of(len(frames.frames), retrieval.frames_per_clip)
    if len(clips) <= retrieval.keep:
        return frames
    scout = _Scout(prompter, retrieval, slot)
    works = [scout.of_clip(_shown(frames, clip), place) for place, clip in enumerate(clips)]
    wanted, *vectors = await _all([scout.of_question(question), *works])
    if len({len(vector) for vector in (wanted, *vectors)}) > 1:
        raise UnusableReply("embedder gave vectors of several lengths")
    kept = best(vectors, wanted, keep=retrieval.keep)
    return take(frames, [place for clip in kept for place in clips[clip]])


def _shown(frames: Frames, clip: Sequence[int]) -> Frames:
    shown = tuple(frames.frames[place] for place in clip)
    bare = {"frames": shown, "subtitles": None, "captions": ()}
    return frames.model_copy(update=bare)


@dataclass(frozen=True)
class _Scout:
    """Asks for the vectors that one question needs."""

    prompter: Prompter
    retrieval: Retrieval
    slot: str

    async def of_question(self, question: str) -> Vector:
        """Return the question's vector."""
        text = f"{QUESTION_LINE}\n{question}"
        return await self._vector(Request("embedder", text, None, self._nonce("embedder")))

    async def of_clip(self, clip: Frames, place: int) -> Vector:
        """Return a clip's vector; with a captioner, that of its words."""
        captioner, text, shown = self.retrieval.captioner, _PICTURES, clip
        nonce = self._nonce("embedder", clip.video, place)
        if captioner is None:
            return await self._vector(Request("embedder", text, shown, nonce))
        shown = thinned(clip, captioner.frame_limit("captioner"))
        asked = f"{QUESTION_LINE}\n{_CAPTION}"
        said = self._nonce("captioner", clip.video, place)
        request = Request("captioner", asked, shown, said, prompt=_CAPTION_PROMPT)
        row = await self._row(captioner, request)
        words = without_reasoning(row.reply or "").strip()
        return await self._vector(Request("embedder", f"{CAPTION_LINE}\n{words}", None, nonce))

    async def _vector(self, request: Request) -> Vector:
        row = await self._row(self.retrieval.embedder, request)
        return _read(row)

    async def _row(self, model: Model, request: Request) -> CallRow:
        return await self.prompter.ask_shared(model, request)

    def _nonce(self, role: Role, scope: str | None = None, place: int = 0) -> Nonce:
        *_, generation = self.prompter.generations(self.slot)
        return Nonce(scope=scope or self.slot, role=role, generation=generation, ordinal=2 * place)


def _read(row: CallRow) -> Vector:
    try:
        vector = [float(number) for number in json.loads(row.reply or "")]
    except (ValueError, TypeError):
        vector = []
    if not vector or not all(map(isfinite, vector)):
        raise UnusableReply("embedder gave no vector")
    return vector


async def _all(works: Sequence[Coroutine[Any, Any, Vector]]) -> list[Vector]:
    """Return all vectors; the first failure is raised once all have ended, as each may be paid."""
    found = await asyncio.gather(*works, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]
