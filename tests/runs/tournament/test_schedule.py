"""Videos are admitted by whole blocks, two unsettled ones at most."""

from __future__ import annotations

import asyncio

import pytest

from videoautoarena.runs.tournament.schedule import play_blocks


def test_every_video_is_played_once() -> None:
    played: list[str] = []

    async def play(video: str) -> None:
        played.append(video)

    asyncio.run(play_blocks([["a", "b"], ["c"], ["d", "e"]], play))
    assert sorted(played) == ["a", "b", "c", "d", "e"]


def test_a_third_block_waits_until_one_of_the_first_two_is_settled() -> None:
    under_way: set[str] = set()
    together: list[set[str]] = []

    async def play(video: str) -> None:
        under_way.add(video[0])
        together.append(set(under_way))
        for _ in range(5):
            await asyncio.sleep(0)
        under_way.discard(video[0])

    asyncio.run(play_blocks([["a1"], ["b1"], ["c1"], ["d1"]], play))
    assert max(map(len, together)) == 2


def test_the_first_bug_ends_the_rest_and_keeps_its_class() -> None:
    async def play(video: str) -> None:
        if video == "bad":
            raise ZeroDivisionError("boom")
        await asyncio.get_running_loop().create_future()

    with pytest.raises(ZeroDivisionError, match="boom"):
        asyncio.run(play_blocks([["good", "bad"], ["waits"], ["never"]], play))


def test_no_blocks_are_played_at_once() -> None:
    played: list[str] = []

    async def play(video: str) -> None:
        played.append(video)

    asyncio.run(play_blocks([], play))
    assert played == []
