"""One video, whole: examiner, persona, then a lineage for each of the three users."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from videoautoarena.agents.roles.question import examine, invent_personas
from videoautoarena.graph.context import Arena, Update
from videoautoarena.graph.lineage import (
    LOST,
    LineageState,
    SettledSlots,
    lineage,
    void_of,
)
from videoautoarena.graph.slot_ids import DIVERSE_ASKS, PERSONAS
from videoautoarena.memory.records.records import Battle, Brief, Persona, VideoFrames


class VideoState(SettledSlots, total=False):
    """One video, up to its three lineages."""

    video: str
    brief: Brief
    starts: list[LineageState]
    """Each unfinished lineage at its first unsettled slot."""
    failure: str | None
    """Why this video cannot be played; its slots become void."""


async def examiner(state: VideoState, runtime: Runtime[Arena]) -> Update:
    """Watch the video and write its brief."""
    arena = runtime.context
    try:
        frames = await arena.frames(state["video"])
        brief = await examine(
            arena.prompter,
            arena.examiner,
            frames=frames,
            facts=arena.facts.get(state["video"]),
            categories=arena.categories,
        )
    except LOST as failure:
        return {"failure": f"the video could not be examined: {failure}"}
    return {"brief": brief}


async def persona(state: VideoState, runtime: Runtime[Arena]) -> Update:
    """Find the video's three users: those brought along, the others invented."""
    arena = runtime.context
    brief = state["brief"]
    try:
        frames = await arena.frames(state["video"])
        users = await find_users(arena, frames, brief)
    except LOST as failure:
        return {"failure": f"no personas: {failure}"}
    starts = [opened(arena, state["video"], brief=brief, persona=user) for user in users]
    return {"starts": [start for start in starts if start["round"] < arena.rules.rounds]}


async def find_users(arena: Arena, frames: VideoFrames, brief: Brief) -> list[Persona]:
    """Return a video's users by index; no model call where all were brought, else 1 or CallFailed.

    Where the run looks for users that are alike, up to `DIVERSE_ASKS`; those of the ask with the
    fewest repetitions play, of the first among equals. A failed ask fails the video, so that users
    never change between two rounds of a lineage.
    """
    near, interested, far = (arena.language_of(frames.video, index) for index in PERSONAS)
    brought = {
        index: user.model_copy(update={"language": arena.language_of(frames.video, index)})
        for index, user in arena.brought(frames.video).items()
    }
    found = dict(brought)
    fewest = len(PERSONAS) + 1
    refused = list[str]()
    for ask in range(DIVERSE_ASKS if arena.alike else 1):
        if len(brought) == len(PERSONAS):
            break
        invented = await invent_personas(
            arena.prompter,
            arena.examiner,
            frames=frames,
            brief=brief,
            languages=(near, interested, far),
            refused=refused,
            ask=ask,
        )
        fresh = [user for user in invented if user.index not in brought]
        texts = [user.text for user in (*brought.values(), *fresh)]
        repeated = arena.alike(texts) if arena.alike else frozenset()
        # Two that were brought are nothing that inventing others could part.
        again = sum(place >= len(brought) for place in repeated)
        if again < fewest:
            fewest = again
            found = {**brought, **{user.index: user for user in fresh}}
        if not again:
            break
        # Users that were brought are the same in every ask, so they are told once.
        refused += texts if not refused else texts[len(brought) :]
    return [found[index] for index in PERSONAS]


async def abandon(state: VideoState, runtime: Runtime[Arena]) -> Update:
    """Settle every slot of a video that cannot be played as void."""
    arena = runtime.context
    video = state["video"]
    brief = state.get("brief")
    settled = []
    for index in PERSONAS:
        persona = Persona(index=index, text="", language=arena.language_of(video, index))
        for round_ in range(arena.rules.rounds):
            slot = arena.slot(video, index, round_)
            # What was settled before the video failed stays as it is.
            if not arena.wanted(slot) or arena.settled(slot) is not None:
                continue
            battle = void_of(
                arena,
                video,
                persona=persona,
                round_=round_,
                category=brief.category if brief else None,
                reason=state["failure"] or "",
            )
            await arena.settle(battle)
            settled.append(slot)
    return {"settled": settled}


async def after_examiner(state: VideoState) -> Literal["persona", "abandon"]:
    """Go on to the personas, unless the video could not be examined."""
    return "abandon" if state.get("failure") else "persona"


async def after_persona(state: VideoState) -> list[Send] | Literal["abandon"]:
    """Send each user down a lineage of its own."""
    if state.get("failure"):
        return "abandon"
    return [Send("lineage", start) for start in state["starts"]]


def opened(arena: Arena, video: str, *, brief: Brief, persona: Persona) -> LineageState:
    """Return a lineage's state at its first unsettled slot."""
    done = settled_rounds(arena, video, persona.index)
    return LineageState(
        # Empty, since what was settled before is not settled now.
        settled=[],
        video=video,
        brief=brief,
        persona=persona,
        round=len(done),
        last=done[-1] if done else None,
        asked=tuple(battle.question for battle in done if battle.question),
        evolution=(),
        proposal=None,
        failure=None,
        question=None,
        draw=None,
        answer_a=None,
        answer_b=None,
    )


def settled_rounds(arena: Arena, video: str, persona: int) -> list[Battle]:
    """Return a lineage's settled battles from its first round up to the first gap."""
    done: list[Battle] = []
    while len(done) < arena.rules.rounds:
        battle = arena.settled(arena.slot(video, persona, len(done)))
        if battle is None:
            break
        done.append(battle)
    return done


def next_slot(arena: Arena, video: str) -> str | None:
    """Return the first slot of a video that is not settled, by round; None if all are."""
    done = {p: len(settled_rounds(arena, video, p)) for p in PERSONAS}
    persona = min(PERSONAS, key=lambda p: done[p])
    return arena.slot(video, persona, done[persona]) if done[persona] < arena.rules.rounds else None


async def is_due(arena: Arena, video: str) -> bool:
    """Return whether a video has a slot to be played; may take long, as `Arena.turn` does."""
    # Asked before its examiner is paid, who would speak of a video that nobody asks about.
    first = next_slot(arena, video)
    return first is not None and await arena.turn(first)


def most_steps(arena: Arena) -> int:
    """Return how many of LangGraph's steps a video takes at most; two refusals make a round 8."""
    # The rest is room for the way in and out.
    return 8 * arena.rules.rounds + 16


async def play(arena: Arena, video: str) -> list[str]:
    """Play a video from where its slots stand to the end, and return the battles settled now.

    Costs 2 model calls a video, and in each slot 2 for answers, 1 a judge and seating, and 1 for a
    first question or 2 to 5 for an evolved one.
    """
    if not await is_due(arena, video):
        return []
    start = VideoState(video=video, settled=[])
    result = await tournament.ainvoke(start, {"recursion_limit": most_steps(arena)}, context=arena)
    return list(result["settled"])


builder = StateGraph(VideoState, context_schema=Arena, output_schema=SettledSlots)
for node in (examiner, persona, abandon):
    builder.add_node(node.__name__, node)
builder.add_node("lineage", lineage)
builder.add_edge(START, "examiner")
builder.add_conditional_edges("examiner", after_examiner)
builder.add_conditional_edges("persona", after_persona, ["lineage", "abandon"])
builder.add_edge("lineage", END)
builder.add_edge("abandon", END)
# Without a checkpointer: it would cost three times a battle's CPU to keep what the journal and the
# store know.
tournament = builder.compile(name="tournament")
