"""The roles that make a question: examiner, persona, questioner, evolver and difficulty grader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    EvolverReply,
    ExaminerReply,
    GradeReply,
    GraderReply,
    PersonaReply,
    QuestionerReply,
)
from videoautoarena.agents.roles.judge import Case
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import canonical_json, unit_interval
from videoautoarena.memory.records.records import (
    CATEGORIES,
    Analyses,
    Brief,
    Frames,
    Grade,
    Persona,
    Scene,
)

_BY_NAME = {name.casefold(): name for name in CATEGORIES}


async def examine(prompter: Prompter, model: Model, *, frames: Frames) -> Brief:
    """Return an account of the video, its category and its scenes. One model call; or CallFailed.

    Source: VideoAutoArena, User Simulation (A.1); the category is one of its ten, else "other".
    """
    task = Task("examiner", frames, scope=frames.video)
    reply = await prompter.ask_json(model, task, ExaminerReply)
    return Brief(
        account=reply.account,
        category=_BY_NAME.get(reply.category.casefold(), "other"),
        scenes=tuple(Scene(**scene.model_dump()) for scene in reply.scenes),
    )


async def invent_personas(
    prompter: Prompter,
    model: Model,
    *,
    frames: Frames,
    brief: Brief,
    refused: Sequence[str] = (),
    ask: int = 0,
) -> tuple[Persona, Persona, Persona]:
    """Return three users, close to the content to unrelated. One model call; or CallFailed.

    Of `refused` some were too alike; each of their asks is one of its own.

    Source: VideoAutoArena, User Simulation (A.1); asking again is our own.
    """
    texts = {"brief": canonical_json(brief.model_dump())}
    known = {"alike": canonical_json(list(refused))} if refused else {}
    task = Task("persona", frames, scope=frames.video, ask=ask, texts=texts, known=known)
    near, interested, far = (await prompter.ask_json(model, task, PersonaReply)).personas
    first, second = Persona(index=1, text=near), Persona(index=2, text=interested)
    return first, second, Persona(index=3, text=far)


async def put_question(
    prompter: Prompter,
    model: Model,
    *,
    frames: Frames,
    persona: Persona,
    brief: Brief,
    asked: Sequence[str],
    slot: str,
) -> str:
    """Return a question unlike those `asked` of this persona. One model call; or CallFailed.

    Source: VideoAutoArena, User Simulation (A.1); `asked` is our own.
    """
    texts = {
        "brief": canonical_json(brief.model_dump()),
        "persona": persona.text,
        "asked": canonical_json(list(asked)) if asked else "",
    }
    task = Task("questioner", frames, scope=slot, texts=texts)
    return (await prompter.ask_json(model, task, QuestionerReply)).question


@dataclass(frozen=True, slots=True)
class Refusal:
    """An evolved question that was not harder, with both overall grades."""

    question: str
    old: float
    new: float


async def evolve(
    prompter: Prompter,
    model: Model,
    *,
    frames: Frames,
    case: Case,
    analyses: Analyses | None,
    refused: Sequence[Refusal],
    slot: str,
) -> EvolverReply:
    """Return faults, the weaknesses behind them and a proposal. One model call; or CallFailed.

    `case` is the battle whose faults are looked for, `slot` the one whose question is made. Each
    refusal makes a further ask of its own; without `analyses` the judge's words stay unknown.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2); analyses and refusals are our own.
    """
    texts = case.texts() | {
        "analyses": canonical_json(analyses.model_dump()) if analyses else "",
        "refused": canonical_json([asdict(r) for r in refused]) if refused else "",
    }
    task = Task("evolver", frames, scope=slot, ask=len(refused), texts=texts)
    return await prompter.ask_json(model, task, EvolverReply)


async def grade(
    prompter: Prompter,
    model: Model,
    *,
    frames: Frames,
    persona: Persona,
    old: str,
    new: str,
    slot: str,
    attempt: int,
) -> tuple[Grade, Grade]:
    """Return how hard the old and the new question are. One model call; or CallFailed.

    Which of them stands first in the prompt is drawn from the seed, the slot and the attempt.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2); the drawn order is our own.
    """
    old_first = unit_interval(prompter.seed, slot, attempt) < 0.5
    first, second = (old, new) if old_first else (new, old)
    texts = {"persona": persona.text, "question_1": first, "question_2": second}
    task = Task("grader", frames, scope=slot, ask=attempt, texts=texts)
    reply = await prompter.ask_json(model, task, GraderReply)
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
