"""The roles that mark a free answer by a written key: two scales of MLVU, or a checklist.

A described scene is marked point by point and for relevance, a summary for completeness and
reliability; a reply in a dialogue is held against the items of a checklist, whose expected answers
the marker is not shown. Whoever marks is shown no frames: what counts as true was written down.

Source: MLVU, generation tasks: the scales and how they add up. MT-Video-Bench, evaluation: the
checklist, and that the judge reads question and reference beside it. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    SummaryMarkerReply,
    YesNo,
    checklist_marker_reply,
    scene_marker_reply,
)
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.records import Role

Scale = Literal["scene", "summary"]
LEAST, MOST = 2.0, 10.0
"""Least and largest sum of two scales from 1 to 5."""
MARKERS: Mapping[Scale, Role] = {"scene": "scene_marker", "summary": "summary_marker"}


@dataclass(frozen=True, slots=True)
class AnswerWithKey:
    """An answer and the key that was written for its question."""

    question: str
    reference: str
    answer: str
    points: tuple[str, ...] = ()
    """What a good answer says, each by itself; a scene has one at least."""

    def texts(self) -> dict[str, str]:
        """Return the fenced texts of this case, each point on a line of its own."""
        lines = [f"{n}. {' '.join(point.split())}" for n, point in enumerate(self.points, 1)]
        return {
            "question": self.question,
            "reference": self.reference,
            "points": "\n".join(lines),
            "answer": self.answer,
        }


class AnswerMarks(NamedTuple):
    """The marks of one answer."""

    scores: dict[str, float]
    """Accuracy and relevance of a scene, completeness and reliability of a summary: 1 to 5."""
    points: tuple[int, ...] = ()
    """1, 3 or 5 for each scoring point of a scene; accuracy is their mean."""

    @property
    def total(self) -> float:
        """The sum of both scales, from LEAST to MOST."""
        return sum(self.scores.values())


async def mark(
    prompter: Prompter, model: Model, *, case: AnswerWithKey, scale: Scale, slot: str
) -> AnswerMarks:
    """Return what `model` gives an answer. One model call, or two; or CallFailed."""
    task = Task(MARKERS[scale], None, scope=slot, texts=case.texts())
    if scale == "summary":
        said = await prompter.ask_json(model, task, SummaryMarkerReply)
        scales = {"completeness": said.completeness, "reliability": said.reliability}
        return AnswerMarks({name: one.score for name, one in scales.items()})
    reply = await prompter.ask_json(model, task, scene_marker_reply(len(case.points)))
    points = tuple(point.score for point in reply.points)
    return AnswerMarks({"accuracy": fmean(points), "relevance": reply.relevance.score}, points)


CHECKER: Role = "checklist_marker"


@dataclass(frozen=True, slots=True)
class ReplyWithChecklist:
    """A reply in a dialogue, and the checklist it is held against."""

    question: str
    """What the user said last."""
    reference: str
    reply: str
    items: tuple[str, ...]
    """Questions about the reply, each to be answered yes or no; one at least."""

    def texts(self) -> dict[str, str]:
        """Return the fenced texts of this case, each item on a line of its own."""
        lines = [f"{n}. {' '.join(item.split())}" for n, item in enumerate(self.items, 1)]
        return {
            "question": self.question,
            "reference": self.reference,
            "checklist": "\n".join(lines),
            "answer": self.reply,
        }


async def check_off(
    prompter: Prompter, model: Model, *, case: ReplyWithChecklist, slot: str
) -> tuple[YesNo, ...]:
    """Return what `model` says of a reply to each item. One model call, or two; or CallFailed."""
    task = Task(CHECKER, None, scope=slot, texts=case.texts())
    # As many answers as items: by MT-Video-Bench's scorer, whose judge may fill in five, a perfect
    # reply to three items scores .60.
    reply = await prompter.ask_json(model, task, checklist_marker_reply(len(case.items)))
    return tuple(item.answer for item in reply.items)
