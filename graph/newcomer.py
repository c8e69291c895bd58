"""A newcomer meets a stored answer: it answers the old question, the run's judges judge, no more.

The slot has an id of its own; question, user and the other answer are those of a past battle.
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from videoautoarena.agents.roles.judge import Case, judge, settle_verdict
from videoautoarena.graph.context import Arena
from videoautoarena.graph.lineage import LOST, Asked, answer_or_forfeit
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.graph.state import Settled
from videoautoarena.memory.records.records import Answer, Battle, Draw, Forfeit, Judging, Verdict

Update = dict[str, Any]


class NewcomerState(Settled, total=False):
    """One slot of a newcomer."""

    slot: str
    source: Battle
    """The battle whose question and answer are used again."""
    draw: Draw
    answer: Answer | Forfeit


async def contestant(state: NewcomerState, runtime: Runtime[Arena]) -> Update:
    """Let the newcomer answer; the other answer is there."""
    source = state["source"]
    draw = state["draw"]
    asked = Asked(source.video, source.question or "", base_of(state["slot"]), _seat(draw))
    return {"answer": await answer_or_forfeit(runtime.context, draw, asked)}


async def referee(state: NewcomerState, runtime: Runtime[Arena]) -> Update:
    """Judge the battle as every other one of the run, and settle its slot."""
    arena = runtime.context
    said = state["answer"]
    if isinstance(said, Forfeit):
        lost: Verdict = "forfeit_a" if _seat(state["draw"]) == 0 else "forfeit_b"
        why = f"no answer: {said.reason}" if said.is_ours else said.reason
        ended = _battle(arena, state, verdict="void" if said.is_ours else lost, reason=why)
        return await _settled(arena, ended)
    try:
        verdicts = await judge(
            arena.prompter,
            arena.judges,
            frames=await arena.frames(state["source"].video),
            case=_case(state, said),
            slot=base_of(state["slot"]),
        )
    except LOST as failure:
        why = f"no verdict: {failure}"
        return await _settled(arena, _battle(arena, state, verdict="void", reason=why))
    verdict, reason = settle_verdict(verdicts, audit_only=not arena.rules.seats_count)
    battle = _battle(arena, state, verdict=verdict, reason=reason, verdicts=verdicts)
    return await _settled(arena, battle)


async def play_newcomer(arena: Arena, slot: str, source: Battle) -> str:
    """Play a slot and return its battle's id. Costs a model call, and one a judge and seating."""
    draw = await arena.draw(slot)
    start = NewcomerState(slot=slot, source=source, draw=draw, settled=[])
    result = await guest.ainvoke(start, context=arena)
    return str(result["settled"][0])


async def _settled(arena: Arena, battle: Battle) -> Update:
    await arena.settle(battle)
    return {"settled": [battle.id]}


def _seat(draw: Draw) -> Literal[0, 1]:
    """Return the newcomer's seat: the one whose answer is not borrowed."""
    if draw.borrowed is None:
        raise RuntimeError("a guest was reached without an answer to meet")
    return 1 if draw.borrowed.seat == "a" else 0


def _answers(state: NewcomerState, said: Answer | None) -> tuple[Answer | None, Answer | None]:
    source = state["source"]
    draw = state["draw"]
    if _seat(draw) == 0:
        kept = Answer(model=draw.model_b, text=source.answer_b or "", frames=source.frames_b)
        return said, kept
    return Answer(model=draw.model_a, text=source.answer_a or "", frames=source.frames_a), said


def _case(state: NewcomerState, said: Answer) -> Case:
    a, b = _answers(state, said)
    return Case(
        persona=state["source"].persona_text or "",
        question=state["source"].question or "",
        answer_a=a.text if a else "",
        answer_b=b.text if b else "",
        swap=state["draw"].swap,
        language=state["source"].language,
    )


def _battle(
    arena: Arena,
    state: NewcomerState,
    *,
    verdict: Verdict,
    reason: str | None,
    verdicts: tuple[Judging, ...] = (),
) -> Battle:
    said = state["answer"]
    draw = state["draw"]
    a, b = _answers(state, said if isinstance(said, Answer) else None)
    return state["source"].model_copy(
        update={
            "id": state["slot"],
            "model_a": draw.model_a,
            "model_b": draw.model_b,
            "answer_a": a.text if a else None,
            "answer_b": b.text if b else None,
            "frames_a": a.frames if a else (),
            "frames_b": b.frames if b else (),
            "verdict": verdict,
            "reason": reason,
            "verdicts": verdicts,
            "evolution": (),
            "prompts": dict(arena.prompts),
            "propensity": draw.propensity,
            "basis": None,
            "borrowed": draw.borrowed,
        }
    )


builder = StateGraph(NewcomerState, context_schema=Arena, output_schema=Settled)
builder.add_node("contestant", contestant)
builder.add_node("judge", referee)
builder.add_edge(START, "contestant")
builder.add_edge("contestant", "judge")
builder.add_edge("judge", END)
guest = builder.compile(name="guest")
