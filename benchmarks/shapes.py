"""The shape of a run with nothing in it: once as plain asyncio, once as bare LangGraph."""

from __future__ import annotations

import asyncio
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

ROUNDS = 3
PERSONAS = 3


class Lineage(TypedDict, total=False):
    """Where a lineage stands."""

    round: int
    settled: Annotated[list[str], add]


class Film(TypedDict, total=False):
    """Where a video stands."""

    video: str
    settled: Annotated[list[str], add]


async def step(_state: Any = None) -> None:
    """Do nothing, but give way once, as a call would."""
    await asyncio.sleep(0)


async def plain_lineage() -> None:
    """Go through a lineage's steps."""
    for round_ in range(ROUNDS):
        for _ in ("questioner",) if round_ == 0 else ("evolver", "grader"):
            await step()
        await step()
        await asyncio.gather(step(), step())
        await step()


async def plain(_video: str) -> None:
    """Go through a video's steps with nothing but asyncio."""
    await step()
    await step()
    await asyncio.gather(*(plain_lineage() for _ in range(PERSONAS)))


async def judge(state: Lineage) -> Lineage:
    """End a round."""
    await step()
    return {"round": state["round"] + 1, "settled": [str(state["round"])]}


def after_judge(state: Lineage) -> Literal["evolver", "__end__"]:
    """Go on for as many rounds as there are."""
    return "evolver" if state["round"] < ROUNDS else "__end__"


def send_all(_state: Film) -> list[Send]:
    """Send three lineages off."""
    return [Send("lineage", {"round": 0, "settled": []}) for _ in range(PERSONAS)]


def _bare_lineage() -> Any:
    builder = StateGraph(Lineage)
    for name in ("questioner", "evolver", "grader", "draw", "contestant_a", "contestant_b"):
        builder.add_node(name, step)
    builder.add_node("judge", judge)
    builder.add_edge(START, "questioner")
    builder.add_edge("questioner", "draw")
    builder.add_edge("evolver", "grader")
    builder.add_edge("grader", "draw")
    builder.add_edge("draw", "contestant_a")
    builder.add_edge("draw", "contestant_b")
    builder.add_edge(["contestant_a", "contestant_b"], "judge")
    builder.add_conditional_edges("judge", after_judge)
    return builder.compile()


def _bare_film() -> Any:
    builder = StateGraph(Film)
    builder.add_node("examiner", step)
    builder.add_node("persona", step)
    builder.add_node("lineage", _bare_lineage())
    builder.add_edge(START, "examiner")
    builder.add_edge("examiner", "persona")
    builder.add_conditional_edges("persona", send_all, ["lineage"])
    builder.add_edge("lineage", END)
    return builder.compile()


FILM = _bare_film()


async def bare(video: str) -> None:
    """Go through a video's steps with LangGraph, its nodes empty."""
    result = await FILM.ainvoke({"video": video, "settled": []}, {"recursion_limit": 64})
    assert len(result["settled"]) == ROUNDS * PERSONAS
