"""One persona's chain of questions on one video: ask, draw, answer twice, judge, evolve, repeat.

Every slot ends as one battle. A call that failed for good ends its slot as a void or a forfeit and
the next round asks afresh; nothing else is caught here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from operator import add
from typing import Annotated, Literal, cast, get_args, get_type_hints

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import TypedDict

from videoautoarena.agents.prompting.contracts import EvolverReply
from videoautoarena.agents.roles.answer import answer
from videoautoarena.agents.roles.judge import JudgeCase, first_analyses, judge, settle_verdict
from videoautoarena.agents.roles.question import (
    RefusedQuestion,
    evolve,
    grade,
    is_harder,
    put_question,
)
from videoautoarena.graph.context import Arena, Update
from videoautoarena.graph.slot_ids import slot_id
from videoautoarena.memory.records.errors import CallFailed, FramesLost, UnusableVideo
from videoautoarena.memory.records.records import (
    Answer,
    Battle,
    Brief,
    Draw,
    Evolution,
    Forfeit,
    Persona,
    Question,
    Verdict,
)

LOST = (CallFailed, UnusableVideo)
"""What may end a slot without a verdict; any other exception is a bug and ends the run."""
REFUSALS = 2
"""Refused so often, an evolved question gives way to a fresh one (protocol 1.4)."""


class SettledSlots(TypedDict):
    """Ids of the battles that were settled: all that a graph gives back."""

    settled: Annotated[list[str], add]


class LineageState(SettledSlots, total=False):
    """One persona's chain of questions on one video: ids, digests and short text, never frames."""

    video: str
    brief: Brief
    persona: Persona
    round: int
    """The round that is being played; equal to `Rules.rounds` when the lineage has ended."""
    last: Battle | None
    """The battle settled before this round."""
    asked: tuple[str, ...]
    """Every question put to contestants so far in this lineage."""
    proposal: EvolverReply | None
    evolution: tuple[Evolution, ...]
    """Attempts of this round to evolve a question."""
    failure: str | None
    """Why this round has no question."""
    is_over: bool
    """The run stops before this round."""
    question: Question | None
    draw: Draw | None
    answer_a: Answer | Forfeit | None
    answer_b: Answer | Forfeit | None


def void_of(
    arena: Arena, video: str, *, persona: Persona, round_: int, category: str | None, reason: str
) -> Battle:
    """Return the battle of a slot in which nothing was said; nobody is known to have asked."""
    return Battle(
        id=arena.slot(video, persona.index, round_),
        video=video,
        duration_s=arena.videos[video].duration_s,
        category=category,
        persona=persona.index,
        persona_text=None,
        round=round_,
        origin=None,
        question=None,
        aimed_at=None,
        difficulty=None,
        model_a=None,
        model_b=None,
        answer_a=None,
        answer_b=None,
        frames_a=(),
        frames_b=(),
        verdict="void",
        reason=reason,
        verdicts=(),
        evolution=(),
        prompts=dict(arena.prompts),
        propensity=None,
        basis=None,
        language=persona.language,
    )


def ended(arena: Arena, state: LineageState, *, verdict: Verdict, reason: str | None) -> Battle:
    """Return the battle of the slot that `state` is in, with all that was said in it."""
    persona = state["persona"]
    battle = void_of(
        arena,
        state["video"],
        persona=persona,
        round_=state["round"],
        category=state["brief"].category,
        reason="",
    )
    found: Update = {
        "persona_text": persona.text,
        "verdict": verdict,
        "reason": reason,
        "evolution": state["evolution"],
    }
    if question := state["question"]:
        found |= {"origin": question.origin, "question": question.text}
        found |= {"aimed_at": question.pair, "difficulty": question.difficulty}
    if draw := state["draw"]:
        found |= draw.model_dump(include={"model_a", "model_b", "propensity", "basis"})
    for seat, said in (("a", state["answer_a"]), ("b", state["answer_b"])):
        if isinstance(said, Answer):
            found |= {f"answer_{seat}": said.text, f"frames_{seat}": said.frames}
    return battle.model_copy(update=found)


def unanswered(arena: Arena, state: LineageState) -> Battle | None:
    """Return a forfeit or a void where an answer is missing; None if both are there."""
    a = state["answer_a"]
    b = state["answer_b"]
    missing = [said for said in (a, b) if isinstance(said, Forfeit)]
    if not missing:
        return None
    # Frames that were lost here are no fault of a contestant, so nobody forfeits for them.
    ours = [said.reason for said in missing if said.is_ours]
    if ours:
        return ended(arena, state, verdict="void", reason=f"no answer: {ours[0]}")
    if len(missing) == 2:
        reason = "; ".join(said.reason for said in missing)
        return ended(arena, state, verdict="void", reason=f"no answer from either: {reason}")
    verdict: Verdict = "forfeit_a" if missing[0] is a else "forfeit_b"
    return ended(arena, state, verdict=verdict, reason=missing[0].reason)


async def questioner(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Ask the first question of a lineage, or a fresh one."""
    arena = runtime.context
    slot = _slot(state)
    if not await arena.turn(_current(arena, state)):
        return {"is_over": True}
    try:
        text = await put_question(
            arena.prompter,
            arena.examiner,
            frames=await arena.frames(state["video"]),
            brief=state["brief"],
            persona=state["persona"],
            asked=state["asked"],
            slot=slot,
        )
    except LOST as failure:
        return {"failure": f"no question: {failure}"}
    first = state["round"] == 0 and not state["asked"]
    return {"question": Question(text=text, origin="first" if first else "fresh")}


async def evolver(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Turn the faults of the last battle into a harder question."""
    arena = runtime.context
    last = _last(state)
    if not await arena.turn(_current(arena, state)):
        return {"is_over": True}
    try:
        proposal = await evolve(
            arena.prompter,
            arena.examiner,
            frames=await arena.frames(state["video"]),
            case=case_of(last),
            analyses=first_analyses(last.verdicts) if arena.rules.share_analyses else None,
            refused=[
                RefusedQuestion(e.question, e.old.overall, e.new.overall)
                for e in state["evolution"]
            ],
            slot=_slot(state),
        )
    except LOST as failure:
        return {"failure": f"no evolved question: {failure}"}
    return {"proposal": proposal}


async def grader(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Let the proposal pass if it is harder than the question it came from."""
    arena = runtime.context
    last = _last(state)
    proposal = state["proposal"]
    if proposal is None:
        raise RuntimeError("the grader was reached without a proposal")
    try:
        old, new = await grade(
            arena.prompter,
            arena.examiner,
            frames=await arena.frames(state["video"]),
            persona=state["persona"],
            old=last.question or "",
            new=proposal.question,
            slot=_slot(state),
            attempt=len(state["evolution"]),
        )
    except LOST as failure:
        return {"failure": f"no grade: {failure}"}
    accepted = is_harder(old, new, overall_only=arena.rules.overall_only)
    pair = last.model_a or "", last.model_b or ""
    graded = {"old": old, "new": new, "accepted": accepted}
    attempt = Evolution(battle=last.id, pair=pair, **proposal.model_dump(), **graded)
    update: Update = {"evolution": (*state["evolution"], attempt), "proposal": None}
    if accepted:
        update["question"] = Question(
            text=proposal.question, origin="evolved", pair=pair, difficulty=new.overall
        )
    return update


async def draw(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Say who meets, before anybody answers."""
    return {"draw": await runtime.context.draw(_current(runtime.context, state))}


async def contestant_a(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Let the first seat answer."""
    return {"answer_a": await _answer(runtime.context, state, 0)}


async def contestant_b(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Let the second seat answer."""
    return {"answer_b": await _answer(runtime.context, state, 1)}


async def referee(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Judge the battle and settle its slot."""
    arena = runtime.context
    battle = unanswered(arena, state)
    if battle is not None:
        return await _next(arena, state, battle)
    draw = state["draw"]
    if draw is None:
        raise RuntimeError("the judge was reached without a draw")
    # How it ends is not known yet: this one is only shown to the judges.
    asked = ended(arena, state, verdict="void", reason=None)
    try:
        verdicts = await judge(
            arena.prompter,
            arena.judges,
            frames=await arena.frames(state["video"]),
            case=case_of(asked, swap=draw.swap),
            slot=_slot(state),
        )
        verdict, reason = settle_verdict(verdicts, audit_only=not arena.rules.seats_count)
        found: Update = {"verdict": verdict, "reason": reason, "verdicts": verdicts}
    except LOST as failure:
        found = {"reason": f"no verdict: {failure}"}
    return await _next(arena, state, asked.model_copy(update=found))


async def void(state: LineageState, runtime: Runtime[Arena]) -> Update:
    """Settle a slot that never got a question."""
    arena = runtime.context
    return await _next(arena, state, ended(arena, state, verdict="void", reason=state["failure"]))


async def _answer(arena: Arena, state: LineageState, seat: Literal[0, 1]) -> Answer | Forfeit:
    draw = state["draw"]
    question = state["question"]
    if draw is None or question is None:
        raise RuntimeError("a contestant was reached without a draw and a question")
    return await answer_or_forfeit(
        arena, draw, seat, video=state["video"], question=question.text, slot=_slot(state)
    )


async def answer_or_forfeit(
    arena: Arena, draw: Draw, seat: Literal[0, 1], *, video: str, question: str, slot: str
) -> Answer | Forfeit:
    """Return what the contestant in a seat says, or why it says nothing. One model call."""
    model = arena.cast[(draw.model_a, draw.model_b)[seat]]
    try:
        frames = await arena.frames(video)
        said = await answer(
            arena.prompter, model, frames=frames, question=question, slot=slot, seat=seat
        )
    except LOST as failure:
        # Frames that are lost or cannot be read are this machine's fault and not the contestant's.
        is_ours = not isinstance(failure, CallFailed) or isinstance(failure, FramesLost)
        return Forfeit(model=model.alias, reason=str(failure), is_ours=is_ours)
    return said.answer


async def _next(arena: Arena, state: LineageState, battle: Battle) -> Update:
    """Settle this round and make room for the next one."""
    await arena.settle(battle)
    # LangGraph keeps what a node does not return, so all that belongs to this round is cleared.
    asked = (*state["asked"], battle.question) if battle.question else state["asked"]
    return {
        "settled": [battle.id],
        "last": battle,
        "round": state["round"] + 1,
        "asked": asked,
        "evolution": (),
        "proposal": None,
        "failure": None,
        "question": None,
        "draw": None,
        "answer_a": None,
        "answer_b": None,
    }


def _slot(state: LineageState) -> str:
    """Return the scope of this round's asks, which stays when its slot is superseded."""
    return slot_id(state["video"], state["persona"].index, state["round"])


def _current(arena: Arena, state: LineageState) -> str:
    return arena.slot(state["video"], state["persona"].index, state["round"])


def _last(state: LineageState) -> Battle:
    last = state["last"]
    if last is None:
        raise RuntimeError("the evolver was reached before any battle")
    return last


def case_of(battle: Battle, *, swap: bool = False) -> JudgeCase:
    """Return what a judge or an evolver is shown of a battle that was asked and answered."""
    return JudgeCase(
        persona=battle.persona_text or "",
        question=battle.question or "",
        answer_a=battle.answer_a or "",
        answer_b=battle.answer_b or "",
        swap=swap,
        language=battle.language,
    )


def opening(state: LineageState, arena: Arena) -> Literal["questioner", "evolver", "__end__"]:
    """Evolve what was judged; after a void, a forfeit or nothing, ask afresh."""
    last = state["last"]
    if state["round"] >= arena.rules.rounds or not arena.wanted(_current(arena, state)):
        return "__end__"
    # A forfeit lacks an answer, so that there is nothing whose faults could be looked for.
    has_faults = last is not None and bool(last.verdicts) and last.verdict != "void"
    return "evolver" if has_faults else "questioner"


def after_questioner(state: LineageState, _arena: Arena) -> Literal["draw", "void", "__end__"]:
    """Draw a pair, unless the question never came or the run stops here."""
    if state.get("is_over"):
        return "__end__"
    return "void" if state["failure"] else "draw"


def after_evolver(state: LineageState, _arena: Arena) -> Literal["grader", "void", "__end__"]:
    """Grade the proposal, unless there is none or the run stops here."""
    if state.get("is_over"):
        return "__end__"
    return "void" if state["failure"] else "grader"


def gate(state: LineageState, _arena: Arena) -> Literal["draw", "evolver", "questioner", "void"]:
    """Pass a harder question on; refused once, evolve again; refused twice, ask afresh."""
    if state["failure"]:
        return "void"
    if state["question"]:
        return "draw"
    return "evolver" if len(state["evolution"]) < REFUSALS else "questioner"


# A coroutine, since LangGraph calls plain functions in another thread.
async def start(
    state: LineageState, runtime: Runtime[Arena]
) -> Literal["questioner", "evolver", "__end__"]:
    """Begin a lineage as a round after another begins."""
    return opening(state, runtime.context)


Node = Callable[[LineageState, Runtime[Arena]], Awaitable[Update]]


def add_fork(name: str, node: Node, after: Callable[[LineageState, Arena], str]) -> None:
    """Add a node to the graph, and what follows by the state that it leaves behind."""

    # In one with the node: for an edge with a condition, LangGraph copies all channels and makes a
    # further task, which takes a third of a millisecond in each battle.
    async def fork(state: LineageState, runtime: Runtime[Arena]) -> Command[str]:
        update = await node(state, runtime)
        left = cast(LineageState, {**state, **update})
        return Command(update=update, goto=after(left, runtime.context))

    ends = get_args(get_type_hints(after)["return"])
    builder.add_node(name, fork, destinations=ends)


# Only ids go out: three lineages end in one step, and LangGraph takes a key without a reducer, such
# as `video`, from one of them alone.
builder = StateGraph(LineageState, context_schema=Arena, output_schema=SettledSlots)
add_fork("questioner", questioner, after_questioner)
add_fork("evolver", evolver, after_evolver)
add_fork("grader", grader, gate)
for node in (draw, contestant_a, contestant_b):
    builder.add_node(node.__name__, node)
add_fork("judge", referee, opening)
add_fork("void", void, opening)
builder.add_conditional_edges(START, start)
# Two edges out of one node: both contestants are asked in the same step.
builder.add_edge("draw", "contestant_a")
builder.add_edge("draw", "contestant_b")
# One edge from both: the judge runs once, after both have answered.
builder.add_edge(["contestant_a", "contestant_b"], "judge")
lineage = builder.compile(name="lineage")
