"""One video, whole: examiner, persona, then a lineage for each of the three users."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from agents.examiner import examine
from agents.persona import invent_personas
from graph.battles import unplayed
from graph.context import Arena
from graph.lineage import LOST, LineageOutput, lineage
from graph.state import PERSONAS, LineageState, VideoState, slot_id
from memory.records import Battle, Persona

Update = dict[str, Any]


class TournamentState(VideoState, total=False):
    """A video's state, with the ids of the lineages that have ended."""

    ended: Annotated[list[str], add]


async def examiner(state: TournamentState, runtime: Runtime[Arena]) -> Update:
    """Watch the video and write its brief."""
    arena = runtime.context
    try:
        frames = await arena.frames(state["video"])
        return {"brief": await examine(arena.desk, arena.examiner, frames=frames)}
    except LOST as failure:
        return {"failure": f"the video could not be examined: {failure}"}


async def persona(state: TournamentState, runtime: Runtime[Arena]) -> Update:
    """Invent the video's three users."""
    arena, brief = runtime.context, state["brief"]
    if brief is None:
        raise RuntimeError("personas were asked for without a brief")
    try:
        frames = await arena.frames(state["video"])
        invented = await invent_personas(arena.desk, arena.examiner, frames=frames, brief=brief)
    except LOST as failure:
        return {"failure": f"no personas: {failure}"}
    return {"personas": invented}


async def abandon(state: TournamentState, runtime: Runtime[Arena]) -> Update:
    """Settle every slot of a video that cannot be played as void."""
    arena = runtime.context
    reason = state["failure"] or ""
    for battle in unplayed(arena, state["video"], reason=reason, brief=state.get("brief")):
        if arena.settled(battle.id) is None:
            await arena.settle(battle)
    return {}


def after_examiner(state: TournamentState) -> Literal["persona", "abandon"]:
    """Go on to the personas, unless the video could not be examined."""
    return "abandon" if state.get("failure") else "persona"


def after_persona(state: TournamentState, runtime: Runtime[Arena]) -> list[Send] | Literal["abandon"]:
    """Send each user down a lineage of its own, to its first unsettled slot."""
    if state.get("failure"):
        return "abandon"
    return [Send("lineage", resumed(runtime.context, state, user)) for user in state["personas"]]


def resumed(arena: Arena, state: TournamentState, user: Persona) -> LineageState:
    """Return a lineage's state at its first unsettled slot."""
    brief = state["brief"]
    if brief is None:
        raise RuntimeError("a lineage was started without a brief")
    done = settled_rounds(arena, state["video"], user.index)
    return LineageState(
        video=state["video"],
        brief=brief,
        persona=user,
        round=len(done),
        last=done[-1] if done else None,
        asked=tuple(battle.question for battle in done if battle.question),
        evolution=(),
        proposal=None,
        question=None,
        draw=None,
        answer_a=None,
        answer_b=None,
    )


def settled_rounds(arena: Arena, video: str, persona: int) -> list[Battle]:
    """Return a lineage's settled battles from its first round up to the first gap."""
    done: list[Battle] = []
    while len(done) < arena.rules.rounds:
        battle = arena.settled(slot_id(video, persona, len(done)))
        if battle is None:
            break
        done.append(battle)
    return done


def is_finished(arena: Arena, video: str) -> bool:
    """Return whether every slot of a video is settled."""
    return all(len(settled_rounds(arena, video, p)) == arena.rules.rounds for p in PERSONAS)


async def play(arena: Arena, video: str) -> None:
    """Play a video from where its slots stand to the end; what is settled stays as it is."""
    if is_finished(arena, video):
        return
    config = {"recursion_limit": 8 * arena.rules.rounds + 16}
    await tournament.ainvoke({"video": video}, config, context=arena)


builder = StateGraph(TournamentState, context_schema=Arena, output_schema=LineageOutput)
builder.add_node("examiner", examiner)
builder.add_node("persona", persona)
builder.add_node("abandon", abandon)
builder.add_node("lineage", lineage)
builder.add_edge(START, "examiner")
builder.add_conditional_edges("examiner", after_examiner)
builder.add_conditional_edges("persona", after_persona, ["lineage", "abandon"])
builder.add_edge("lineage", END)
builder.add_edge("abandon", END)
tournament = builder.compile(name="tournament")
