"""A newcomer meets a stored answer: it answers the old question, the run's judges judge, no more.

The slot has an id of its own; question, user and the other answer are those of a past battle.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from videoautoarena.agents.roles.judge import judge, settle_verdict
from videoautoarena.graph.context import Arena, Update
from videoautoarena.graph.lineage import LOST, SettledSlots, answer_or_forfeit, case_of
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.records import Answer, Battle, Draw, Forfeit


class NewcomerState(SettledSlots, total=False):
    """One slot of a newcomer."""

    slot: str
    source: Battle
    """The battle whose question and answer are used again."""
    draw: Draw
    answer: Answer | Forfeit


async def contestant(state: NewcomerState, runtime: Runtime[Arena]) -> Update:
    """Let the newcomer answer; the other answer is there."""
    source = state["source"]
    answer = await answer_or_forfeit(
        runtime.context,
        state["draw"],
        _seat(state["draw"]),
        video=source.video,
        question=source.question or "",
        # Asked in the first slot of its place, where a later generation finds the replies that can
        # be used.
        slot=base_of(state["slot"]),
    )
    return {"answer": answer}


async def referee(state: NewcomerState, runtime: Runtime[Arena]) -> Update:
    """Judge the battle as every other one of the run, and settle its slot."""
    arena = runtime.context
    said = state["answer"]
    battle = _met(arena, state)
    found: Update
    if isinstance(said, Forfeit):
        verdict = "forfeit_a" if _seat(state["draw"]) == 0 else "forfeit_b"
        found = {"verdict": verdict, "reason": said.reason}
        if said.is_ours:
            found = {"verdict": "void", "reason": f"no answer: {said.reason}"}
    else:
        try:
            verdicts = await judge(
                arena.prompter,
                arena.judges,
                frames=await arena.frames(battle.video),
                case=case_of(battle, swap=state["draw"].swap),
                slot=base_of(state["slot"]),
            )
            settled, reason = settle_verdict(verdicts, audit_only=not arena.rules.seats_count)
            found = {"verdict": settled, "reason": reason, "verdicts": verdicts}
        except LOST as failure:
            found = {"verdict": "void", "reason": f"no verdict: {failure}"}
    battle = battle.model_copy(update=found)
    await arena.settle(battle)
    return {"settled": [battle.id]}


async def play_newcomer(arena: Arena, slot: str, source: Battle) -> str:
    """Play a slot and return its battle's id. Costs a model call, and one a judge and seating."""
    draw = await arena.draw(slot)
    start = NewcomerState(slot=slot, source=source, draw=draw, settled=[])
    result = await newcomer.ainvoke(start, context=arena)
    return str(result["settled"][0])


def _seat(draw: Draw) -> Literal[0, 1]:
    """Return the newcomer's seat: the one whose answer is not borrowed."""
    if draw.borrowed is None:
        raise RuntimeError("a newcomer was reached without an answer to meet")
    return 1 if draw.borrowed.seat == "a" else 0


def _met(arena: Arena, state: NewcomerState) -> Battle:
    """Return the source's battle with the newcomer in its seat, before anybody judged it."""
    draw = state["draw"]
    said = state["answer"]
    seat = "ab"[_seat(draw)]
    text = said.text if isinstance(said, Answer) else None
    frames = said.frames if isinstance(said, Answer) else ()
    return state["source"].model_copy(
        update={
            "id": state["slot"],
            "model_a": draw.model_a,
            "model_b": draw.model_b,
            f"answer_{seat}": text,
            f"frames_{seat}": frames,
            "verdicts": (),
            "evolution": (),
            "prompts": dict(arena.prompts),
            "propensity": draw.propensity,
            "basis": None,
            "borrowed": draw.borrowed,
        }
    )


builder = StateGraph(NewcomerState, context_schema=Arena, output_schema=SettledSlots)
builder.add_node("contestant", contestant)
builder.add_node("judge", referee)
builder.add_edge(START, "contestant")
builder.add_edge("contestant", "judge")
builder.add_edge("judge", END)
newcomer = builder.compile(name="newcomer")
