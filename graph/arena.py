"""The whole run: open it, play its videos in two lanes, let newcomers in, rate, and freeze.

Only the outer graph knows a run by what it was asked to be, which is plain values that a server or
a form can send. Its nodes hold counts: which videos there are and what became of them stands in the
run's file, which is also why no checkpoint is needed below it.
"""

from __future__ import annotations

import asyncio
from contextvars import Context
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import Field
from typing_extensions import TypedDict

from videoautoarena.graph.context import LiveRun, NoInput, R, RunDoors, Update, Visit
from videoautoarena.graph.tournament import VideoState, is_due, most_steps, tournament

LANES = 2
"""Blocks under way at once. A draw looks at waves up to two before its own, so a third open block
could only wait."""


@dataclass(frozen=True)
class Lane:
    """What a lane is played with."""

    game: LiveRun


class LaneState(TypedDict, total=False):
    """A lane: which block it is at."""

    block: int | None
    """Its number; None where no block is left."""


class VisitState(TypedDict):
    """One visit, on its way to its node."""

    video: str
    generation: int


async def take(state: LaneState, runtime: Runtime[Lane]) -> Update:
    """Take the next block that nobody has begun."""
    return {"block": runtime.context.game.queue.take()}


async def after_take(state: LaneState, runtime: Runtime[Lane]) -> list[Send] | Literal["__end__"]:
    """Send every visit of the block to be played, side by side."""
    block = state["block"]
    if block is None:
        return "__end__"
    visits = runtime.context.game.queue.blocks[block]
    return [Send("visit", VisitState(video=v.video, generation=v.generation)) for v in visits]


async def visit(state: VisitState, runtime: Runtime[Lane]) -> None:
    """Play a video, here or on other machines, as far as this generation of slots goes."""
    video = state["video"]
    async with runtime.context.game.visiting(Visit(video, state["generation"])) as arena:
        if arena is not None and await is_due(arena, video):
            start = VideoState(video=video, settled=[])
            limit = most_steps(arena)
            await tournament.ainvoke(start, {"recursion_limit": limit}, context=arena)


lane_builder = StateGraph(LaneState, context_schema=Lane)
lane_builder.add_node("take", take)
lane_builder.add_node("visit", visit)
lane_builder.add_edge(START, "take")
lane_builder.add_conditional_edges("take", after_take, ["visit", END])
lane_builder.add_edge("visit", "take")
lane = lane_builder.compile(name="lane")


class ArenaState(TypedDict, total=False):
    """A whole run in counts: no list of videos, no ids of battles."""

    slots: Annotated[int, Field(description="Places for a battle.")]
    left: Annotated[int, Field(description="Slots that were not settled when the run was opened.")]
    newcomers: Annotated[
        int, Field(description="Those of them in which a newcomer meets a stored answer.")
    ]
    settled: Annotated[int, Field(description="Slots whose battle has ended.")]
    void: Annotated[int, Field(description="Ended battles without a verdict.")]
    ended: Annotated[
        str, Field(description="Why the run ended before all was played; empty if it did not.")
    ]
    board: Annotated[
        list[dict[str, Any]],
        Field(description="The models rated, the best first; empty where nothing is decided."),
    ]
    bench: Annotated[str, Field(description="Folder of the frozen set, where one was asked for.")]


ArenaGraph = CompiledStateGraph[ArenaState, R, NoInput, ArenaState]


def arena_graph(context: type[R], doors: RunDoors[R]) -> ArenaGraph[R]:
    """Return the graph of a whole run, whose context says what the run is asked to be."""

    def request_of(runtime: Runtime[R]) -> R:
        # A server passes none where nothing was filled in.
        return context() if runtime.context is None else runtime.context

    async def open_run(state: ArenaState, runtime: Runtime[R]) -> Update:
        """Begin the run, or open the one that is there."""
        return await doors.open(request_of(runtime), _owner(runtime), runtime.stream_writer)

    async def play(state: ArenaState, runtime: Runtime[R]) -> None:
        """Play block after block until none is left, beside the other lane."""
        request = request_of(runtime)
        async with doors.playing(request, _owner(runtime), runtime.stream_writer) as game:
            # Two steps a block, and the way in and out.
            limit = 2 * len(game.queue.blocks) + 8
            blocks = lane.ainvoke({}, {"recursion_limit": limit}, context=Lane(game))
            # A run of its own, to which neither callbacks nor the checkpointer of a server come
            # down: it would keep at three times a battle's CPU what the run's file knows.
            await game.until_drained(asyncio.create_task(blocks, context=Context()))

    async def newcomers(state: ArenaState, runtime: Runtime[R]) -> None:
        """Let models that joined later meet stored answers."""
        request = request_of(runtime)
        async with doors.playing(request, _owner(runtime), runtime.stream_writer) as game:
            await game.until_drained(game.meet_newcomers())

    async def rate(state: ArenaState, runtime: Runtime[R]) -> Update:
        """Count what is settled and rate the models."""
        return await doors.rate(request_of(runtime), _owner(runtime), runtime.stream_writer)

    async def freeze(state: ArenaState, runtime: Runtime[R]) -> Update:
        """Freeze the questions into a set that anybody can play."""
        return await doors.freeze(request_of(runtime), _owner(runtime), runtime.stream_writer)

    def after_open(state: ArenaState) -> list[Send] | Literal["newcomers", "rate"]:
        if state["left"] > state["newcomers"]:
            return [Send("lane", {}) for _ in range(LANES)]
        return after_lane(state)

    def after_lane(state: ArenaState) -> Literal["newcomers", "rate"]:
        return "newcomers" if state["newcomers"] else "rate"

    def after_rate(state: ArenaState, runtime: Runtime[R]) -> Literal["freeze", "__end__"]:
        is_due = not state["ended"] and doors.is_to_be_frozen(request_of(runtime))
        return "freeze" if is_due else "__end__"

    builder = StateGraph(ArenaState, context_schema=context, input_schema=NoInput)
    builder.add_node("open", open_run)
    builder.add_node("lane", play)
    builder.add_node("newcomers", newcomers)
    builder.add_node("rate", rate)
    builder.add_node("freeze", freeze)
    builder.add_edge(START, "open")
    builder.add_conditional_edges("open", after_open, ["lane", "newcomers", "rate"])
    builder.add_conditional_edges("lane", after_lane)
    builder.add_edge("newcomers", "rate")
    builder.add_conditional_edges("rate", after_rate)
    builder.add_edge("freeze", END)
    return builder.compile(name="arena")


def _owner(runtime: Runtime[Any]) -> str:
    """Return the thread that asks; empty where nobody keeps checkpoints."""
    info = runtime.execution_info
    return (info.thread_id if info else None) or ""
