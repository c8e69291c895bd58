"""CPU milliseconds that a battle costs beside the models: `python -m benchmarks.overhead`.

The models answer at once, in the place of a chat model's client, and frames are digests only; the
graph, keys, prompts, parsing, draws, journal and store are those of a real run. Beside it stand the
same steps with nothing in them, as plain asyncio and as bare LangGraph. All CPU time of the process
counts, the writer's thread included. Variants take turns. The least of its turns is what a variant
is held to, since whatever else the machine does can only add to it.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from benchmarks.canned import ROUNDS, canned_arena, keep, parser_of, run_frames
from tests.support.loopback import serving_apart
from videoautoarena.agents.calls.clients import ChatClient, Client, Load, OutgoingCall
from videoautoarena.agents.models.registry import parse_model
from videoautoarena.graph.tournament import play
from videoautoarena.memory.records.records import VideoFrames
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.video.sampling.thinning import thin

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


def _bare_lineage() -> Any:
    builder: Any = StateGraph(Lineage)
    for name in ("questioner", "evolver", "grader", "draw", "contestant_a", "contestant_b"):
        builder.add_node(name, step)
    builder.add_node("judge", judge)
    edges = ((START, "questioner"), ("questioner", "draw"), ("evolver", "grader"))
    for start, end in (
        *edges,
        ("grader", "draw"),
        ("draw", "contestant_a"),
        ("draw", "contestant_b"),
    ):
        builder.add_edge(start, end)
    builder.add_edge(["contestant_a", "contestant_b"], "judge")
    builder.add_conditional_edges("judge", after_judge)
    return builder.compile()


def _bare_film() -> Any:
    def send_all(_state: Film) -> list[Send]:
        return [Send("lineage", {"round": 0, "settled": []}) for _ in range(PERSONAS)]

    builder: Any = StateGraph(Film)
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


BOUND_MS = 5.0
INTENT_BOUND_MS = 0.3
"""What it may cost to write down that a call is about to be sent."""
PAID = "the arena, paid models"
UNWRITTEN = "the same without intents"
VIDEOS = 6
TURNS = 15
CALLS = 6
JPEG_BYTES = 29_000
"""What a frame of 512 pixels takes at quality 85."""
BATTLES = VIDEOS * PERSONAS * ROUNDS
CALLS_OF_A_BATTLE = 2 + 1 + 2 * 2 / 3 + 1 / 3 + 2 / 9
# Frames of a battle's calls: two answers, a verdict; in two rounds of three an evolution and a
# grade, in the third a question; examiner and persona once for all nine battles of a video.
FRAMES_OF_A_BATTLE = {64: 1.0, 16: 1.0, 128: 1 + 2 * 2 / 3 + 1 / 3 + 2 / 9}


async def empty_turn(steps: Callable[[str], Awaitable[object]]) -> float:
    """Return CPU milliseconds a battle of one turn of an empty shape."""
    began = time.process_time()
    await asyncio.gather(*(steps(str(number)) for number in range(VIDEOS)))
    return (time.process_time() - began) * 1000 / BATTLES


async def arena_turn(**settings: bool) -> float:
    """Return CPU milliseconds a battle of one turn of the arena; see `canned_arena`."""
    with (
        tempfile.TemporaryDirectory() as folder,
        canned_arena(Path(folder), VIDEOS, **settings) as arena,
    ):
        began = time.process_time()
        settled = await asyncio.gather(*(play(arena, video) for video in arena.videos))
        took = time.process_time() - began
    if sum(map(len, settled)) != BATTLES:
        raise RuntimeError(f"{sum(map(len, settled))} battles were settled, not {BATTLES}")
    return took * 1000 / BATTLES


async def measure(turns: int) -> dict[str, list[float]]:
    """Return each variant's turns, taken in turn."""
    variants: dict[str, Callable[[], Awaitable[float]]] = {
        "plain asyncio, empty": partial(empty_turn, plain),
        "bare LangGraph, empty": partial(empty_turn, bare),
        "the arena": arena_turn,
        PAID: partial(arena_turn, is_paid=True),
        UNWRITTEN: partial(arena_turn, is_paid=True, intents=False),
    }
    took: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns + 1):
        for name, variant in variants.items():
            cost = await variant()
            # The first turn pays for imports and caches.
            if turn:
                took[name].append(cost)
    return took


async def client_cost(client: Client, frames: VideoFrames | None) -> float:
    """Return the CPU milliseconds of one call through a client, the median of several."""
    took = []
    for call in range(CALLS + 1):
        sending = OutgoingCall(f"{call:064}", "contestant", "Question:\nWhat is it?", frames)
        began = time.process_time()
        await client.send(sending)
        took.append((time.process_time() - began) * 1000)
    return statistics.median(took[1:])


def jpegs() -> Load:
    """Return a loader of bytes as many as pictures have, which no client looks into."""
    pictures: dict[str, bytes] = {}

    async def load(_video: str, digests: list[str]) -> list[bytes]:
        for digest in digests:
            if digest not in pictures:
                pictures[digest] = os.urandom(JPEG_BYTES)
        return [pictures[digest] for digest in digests]

    return load


async def clients(folder: Path) -> dict[int, float]:
    """Return the CPU milliseconds of a call through ChatOpenAI by number of frames."""
    _, frames = run_frames(0)
    with serving_apart(folder / "log", "--say", "A heron.") as server:
        model = parse_model("openai:hawk", {"base_url": server.openai_url, "alias": "hawk"})
        client = ChatClient(model, jpegs())
        counts = (0, *FRAMES_OF_A_BATTLE)
        costs = {n: await client_cost(client, thin(frames, n) if n else None) for n in counts}
        await client.aclose()
    return dict(sorted(costs.items()))


def table(took: dict[str, list[float]]) -> list[str]:
    """Return the variants as lines; the ratio is to bare LangGraph."""
    base = min(took["bare LangGraph, empty"])
    lines = [f"{'CPU ms a battle':<26}{'least':>8}{'median':>8}{'most':>8}{'ratio':>8}"]
    for name, turns in took.items():
        least = min(turns)
        numbers = (least, statistics.median(turns), max(turns), least / base)
        lines.append(f"{name:<26}" + "".join(f"{number:8.2f}" for number in numbers))
    return lines


def client_table(costs: dict[int, float], arena_ms: float) -> list[str]:
    """Return the clients' own cost as lines."""
    battle = sum(share * costs[frames] for frames, share in FRAMES_OF_A_BATTLE.items())
    return [
        "",
        "ChatOpenAI's own cost, over loopback, no part of the bound:",
        *(f"  a call with {frames:>3} frames {cost:8.2f} ms" for frames, cost in costs.items()),
        f"  a battle, 64 against 16 frames {battle:8.1f} ms, {battle / arena_ms:.0f} x the arena's",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if the arena costs more than the bound."""
    options = parser_of(__doc__, turns=TURNS).parse_args(arguments)

    async def run() -> tuple[dict[str, list[float]], dict[int, float]]:
        with tempfile.TemporaryDirectory() as folder:
            return await measure(options.turns), await clients(Path(folder))

    took, costs = run_async(run())
    arena_ms = min(took["the arena"])
    print(*table(took), *client_table(costs, arena_ms), sep="\n")
    kept = keep(f"\n{arena_ms:.2f} ms of at most {BOUND_MS:g}", arena_ms <= BOUND_MS)
    intent_ms = (min(took[PAID]) - min(took[UNWRITTEN])) / CALLS_OF_A_BATTLE
    line = f"{intent_ms:.3f} ms a call for its intent, of at most {INTENT_BOUND_MS:g}"
    return 0 if keep(line, intent_ms <= INTENT_BOUND_MS) and kept else 1


if __name__ == "__main__":
    sys.exit(main())
