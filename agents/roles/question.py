"""The roles that make a question: examiner, persona, questioner, evolver and difficulty grader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.categories import UNKNOWN, read_category
from videoautoarena.agents.prompting.contracts import (
    EvolverReply,
    ExaminerReply,
    GradeReply,
    GraderReply,
    PersonaReply,
    QuestionerReply,
    WholeGradeReply,
    WholeGraderReply,
)
from videoautoarena.agents.prompting.languages import language_note
from videoautoarena.agents.roles.judge import JudgeCase
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import canonical_json, unit_interval
from videoautoarena.memory.records.records import (
    CATEGORIES,
    Brief,
    BriefScene,
    Grade,
    Persona,
    VideoFacts,
    VideoFrames,
)
from videoautoarena.memory.records.standards import PAPER_CONTRACTS, Standard

Languages = tuple[str | None, str | None, str | None]
"""What a video's three users ask in, as codes; None if no language is drawn."""

_BY_NAME = {name.casefold(): name for name in CATEGORIES}


_CHOOSE = (
    "Choose the category from the list categories in the block facts, in place of the list below."
)


async def examine(
    prompter: Prompter,
    model: Model,
    *,
    frames: VideoFrames,
    facts: VideoFacts | None = None,
    categories: Sequence[str] | None = None,
) -> Brief:
    """Return an account of the video, its category and its scenes. One model call; or CallFailed.

    Of `facts` it is told title, category and language, as data; a category that these state is the
    brief's. Else that is one of `categories`, or "unknown" where it named none of them. None takes
    the ten as runs once did, with everything that is none of them as "other".

    Source: VideoAutoArena, User Simulation (A.1); facts and categories of others are our own.
    """
    stated = facts.category if facts else None
    # The ten stand in the form of the reply: with them no byte of the prompt changes.
    asked = [] if stated or categories is None or set(categories) == set(CATEGORIES) else categories
    told: dict[str, object] = {} if facts is None else _told(facts)
    if asked:
        told["categories"] = list(asked)
    known = {"facts": canonical_json(told)} if told else {}
    note = _CHOOSE if asked else ""
    task = Task("examiner", frames, scope=frames.video, known=known, note=note)
    reply = await prompter.ask_json(model, task, ExaminerReply)
    if categories is None:
        # As runs did that began without a list; their replays have to say the same.
        category = _BY_NAME.get(reply.category.casefold(), "other")
    else:
        # A category outside the list is not called "other", which may be one of the list.
        category = read_category(reply.category, categories) or UNKNOWN
    return Brief(
        account=reply.account,
        category=stated or category,
        scenes=tuple(BriefScene(**scene.model_dump()) for scene in reply.scenes),
    )


def _told(facts: VideoFacts) -> dict[str, object]:
    """Return the facts that an examiner is told; what is not stated is left out."""
    said = {name: getattr(facts, name) for name in ("title", "category", "language")}
    return {name: text for name, text in said.items() if text}


async def invent_personas(
    prompter: Prompter,
    model: Model,
    *,
    frames: VideoFrames,
    brief: Brief,
    languages: Languages = (None, None, None),
    refused: Sequence[str] = (),
    ask: int = 0,
) -> tuple[Persona, Persona, Persona]:
    """Return three users, close to the content to unrelated. One model call; or CallFailed.

    `languages` are those that they ask in. Of `refused` some were too alike; each of their asks is
    one of its own.

    Source: VideoAutoArena, User Simulation (A.1); asking again is our own.
    """
    texts = {"brief": canonical_json(brief.model_dump())}
    known = {"alike": canonical_json(list(refused))} if refused else {}
    note = "\n".join(
        language_note(code, f"User {index} asks in it and expects answers in it.")
        for index, code in enumerate(languages, start=1)
        if code is not None
    )
    task = Task("persona", frames, scope=frames.video, ask=ask, texts=texts, known=known, note=note)
    said = (await prompter.ask_json(model, task, PersonaReply)).personas
    first, second, third = (
        Persona(index=index, text=text, language=code)
        for index, (text, code) in enumerate(zip(said, languages, strict=True), start=1)
    )
    return first, second, third


async def put_question(
    prompter: Prompter,
    model: Model,
    *,
    frames: VideoFrames,
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
    about = "Ask the question in it; the answer is expected in it, too."
    task = Task("questioner", frames, scope=slot, texts=texts, note=_note(persona.language, about))
    return (await prompter.ask_json(model, task, QuestionerReply)).question


@dataclass(frozen=True, slots=True)
class RefusedQuestion:
    """An evolved question that was not harder, with both overall grades."""

    question: str
    old: float
    new: float


async def evolve(
    prompter: Prompter,
    model: Model,
    *,
    frames: VideoFrames,
    case: JudgeCase,
    analyses: Mapping[Standard, str] | None,
    refused: Sequence[RefusedQuestion],
    slot: str,
) -> EvolverReply:
    """Return faults, the weaknesses behind them and a proposal. One model call; or CallFailed.

    `case` is the battle whose faults are looked for, `slot` the one whose question is made. Each
    refusal makes a further ask of its own; without `analyses` the judge's words stay unknown.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2); analyses and refusals are our own.
    """
    texts = case.texts() | {
        "analyses": canonical_json(analyses) if analyses else "",
        "refused": canonical_json([asdict(r) for r in refused]) if refused else "",
    }
    about = "The question was asked in it; ask the new one in it, too."
    note = _note(case.language, about)
    ask = len(refused)
    task = Task("evolver", frames, scope=slot, ask=ask, texts=texts, note=note)
    return await prompter.ask_json(model, task, EvolverReply)


async def grade(
    prompter: Prompter,
    model: Model,
    *,
    frames: VideoFrames,
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
    # Drawn, so that the grader cannot know which of the two is the old one.
    old_first = unit_interval(prompter.seed, slot, attempt) < 0.5
    first, second = (old, new) if old_first else (new, old)
    texts = {"persona": persona.text, "question_1": first, "question_2": second}
    note = _note(persona.language, "Both questions are asked in it; that makes neither harder.")
    task = Task("grader", frames, scope=slot, ask=attempt, texts=texts, note=note)
    is_whole = prompter.prompts.contracts == PAPER_CONTRACTS
    schema = WholeGraderReply if is_whole else GraderReply
    reply: GraderReply | WholeGraderReply = await prompter.ask_json(model, task, schema)
    grades = _grade(reply.question_1), _grade(reply.question_2)
    return grades if old_first else (grades[1], grades[0])


def is_harder(old: Grade, new: Grade, *, overall_only: bool) -> bool:
    """Return whether `new` is the harder question: by overall grade, then by the sum of the four.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2) ; the sum is our own.
    """
    if new.overall != old.overall or overall_only:
        return new.overall > old.overall
    return new.total > old.total


def _grade(reply: GradeReply | WholeGradeReply) -> Grade:
    return Grade(**{name: round(score, 1) for name, score in reply.model_dump().items()})


def _note(code: str | None, about: str) -> str:
    return "" if code is None else language_note(code, about)
