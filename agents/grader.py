"""The difficulty grader: says how hard two questions are, not knowing which one is new."""

from __future__ import annotations

from agents.contracts import GradeReply, GraderReply
from agents.desk import Desk, Task
from agents.models import Model
from memory.digests import unit_interval
from memory.records import Frames, Grade, Persona


async def grade(
    desk: Desk,
    model: Model,
    *,
    frames: Frames,
    persona: Persona,
    old: str,
    new: str,
    slot: str,
    attempt: int,
) -> tuple[Grade, Grade]:
    """Return how hard the old and the new question are. One model call.

    Which of them stands first in the prompt is drawn from the seed, the slot and the attempt.

    Raises:
        CallFailed: no usable reply; the slot is void.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2); the drawn order is our own.
    """
    old_first = unit_interval(desk.seed, slot, attempt) < 0.5
    first, second = (old, new) if old_first else (new, old)
    texts = {"persona": persona.text, "question_1": first, "question_2": second}
    task = Task("grader", frames, scope=slot, ask=attempt, texts=texts)
    reply = await desk.ask_json(model, task, GraderReply)
    grades = _grade(reply.question_1), _grade(reply.question_2)
    return grades if old_first else (grades[1], grades[0])


def is_harder(old: Grade, new: Grade, *, overall_only: bool) -> bool:
    """Return whether `new` is the harder question: by overall grade, then by the sum of the four.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2) ; the sum is our own.
    """
    if new.overall != old.overall or overall_only:
        return new.overall > old.overall
    return new.total > old.total


def _grade(reply: GradeReply) -> Grade:
    return Grade(**{name: round(score, 1) for name, score in reply.model_dump().items()})
