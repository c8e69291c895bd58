"""The whole run as a graph: whole blocks in stored order, two unsettled ones at most."""

from __future__ import annotations

import asyncio

import pytest
from langgraph._internal import _config
from langgraph.errors import GraphRecursionError

from tests.support.lanes import BlockGame, play_blocks
from videoautoarena.graph.arena import Lane, lane
from videoautoarena.graph.context import BlockQueue, Visit


def blocks(*videos: str) -> list[list[Visit]]:
    """Return a block for each word, with a video for each of its letters."""
    return [[Visit(video, 0) for video in word] for word in videos]


def test_every_video_is_played_once() -> None:
    played: list[str] = []

    async def play(visit: Visit) -> None:
        played.append(visit.video)

    asyncio.run(play_blocks(blocks("ab", "c", "de"), play))
    assert sorted(played) == ["a", "b", "c", "d", "e"]


def test_a_third_block_waits_until_one_of_the_first_two_is_settled() -> None:
    under_way: set[str] = set()
    together: list[set[str]] = []

    async def play(visit: Visit) -> None:
        under_way.add(visit.video)
        together.append(set(under_way))
        for _ in range(5):
            await asyncio.sleep(0)
        under_way.discard(visit.video)

    asyncio.run(play_blocks(blocks("a", "b", "c", "d"), play))
    assert max(map(len, together)) == 2
    assert together[-1] <= {"c", "d"}


def test_a_video_is_never_visited_twice_at_once() -> None:
    under_way: list[int] = []

    async def play(visit: Visit) -> None:
        under_way.append(visit.generation)
        await asyncio.sleep(0.01)
        assert under_way.pop() == visit.generation
        assert not under_way

    asyncio.run(play_blocks([[Visit("a", 0)], [Visit("a", 1)]], play))


def test_the_first_bug_ends_the_rest_and_keeps_its_class() -> None:
    async def play(visit: Visit) -> None:
        if visit.video == "b":
            raise ZeroDivisionError("boom")
        await asyncio.get_running_loop().create_future()

    with pytest.raises(ZeroDivisionError, match="boom"):
        asyncio.run(play_blocks(blocks("gb", "w", "n"), play))


def test_no_blocks_are_played_at_once() -> None:
    played: list[str] = []

    async def play(visit: Visit) -> None:
        played.append(visit.video)

    asyncio.run(play_blocks([], play))
    assert played == []


def test_more_blocks_are_played_than_langgraph_takes_steps_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = 0

    async def play(_visit: Visit) -> None:
        nonlocal played
        played += 1

    # 10,007 steps are the default; with fewer it takes fewer blocks, each of two of its lane's, to
    # go beyond.
    usual = _config.DEFAULT_RECURSION_LIMIT
    assert usual > 10_000
    monkeypatch.setattr(_config, "DEFAULT_RECURSION_LIMIT", type(usual)(20))
    with pytest.raises(GraphRecursionError):
        asyncio.run(lane.ainvoke({}, context=Lane(BlockGame(BlockQueue(many(100)), play))))
    played = 0
    asyncio.run(play_blocks(many(100), play))
    assert played == 100


def many(count: int) -> list[list[Visit]]:
    return [[Visit(str(number), 0)] for number in range(count)]
