"""When a video is played: whole blocks in stored order, two unsettled blocks at most."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby

from memory.records import Slot

OPEN_BLOCKS = 2


def blocks_of(slots: Sequence[Slot]) -> list[list[str]]:
    """Return the ids of the videos of each block, in the order in which blocks are admitted."""
    by_block = sorted(slots, key=lambda slot: (slot.block, slot.ordinal))
    return [
        list(dict.fromkeys(slot.video for slot in members))
        for _, members in groupby(by_block, key=lambda slot: slot.block)
    ]


async def play_blocks(
    blocks: Sequence[Sequence[str]], play: Callable[[str], Awaitable[object]]
) -> None:
    """Play every video; a block begins only when fewer than two earlier ones are unsettled.

    The first exception ends all others and is raised as it is.
    """
    open_blocks = asyncio.Semaphore(OPEN_BLOCKS)

    async def play_block(videos: Sequence[str]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for video in videos:
                    group.create_task(_played(play, video))
        finally:
            open_blocks.release()

    try:
        async with asyncio.TaskGroup() as group:
            for videos in blocks:
                await open_blocks.acquire()
                group.create_task(play_block(videos))
    except BaseExceptionGroup as several:
        raise _first(several) from None


async def _played(play: Callable[[str], Awaitable[object]], video: str) -> None:
    await play(video)


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    inner: BaseException = several
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return inner
