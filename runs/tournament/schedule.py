"""When a video is played and when it is decoded: whole blocks in stored order, the next ahead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

import numpy as np

from videoautoarena.graph.context import Visit
from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.records.slots import Longs, Slots


def blocks_of(slots: Iterable[Slot]) -> list[list[Visit]]:
    """Return the visits of each block, in the order of their admission: by generation first."""
    slots = Slots.of(slots)
    order = np.lexsort((slots.columns.ordinal, slots.columns.block, slots.generations))
    blocks: dict[tuple[int, int], list[Visit]] = {}
    _, first_rows = np.unique(numbers_of_visits(slots)[order], return_index=True)
    for row in order[np.sort(first_rows)].tolist():
        slot = slots[row]
        visits = blocks.setdefault((slot.generation, slot.block), [])
        visits.append(Visit(slot.video, slot.generation))
    return list(blocks.values())


def numbers_of_visits(slots: Slots) -> Longs:
    """Return a number for generation, block and video of each slot; all three order it."""
    columns = slots.columns
    blocks = 1 + int(slots.columns.block.max(initial=0))
    visits = (slots.generations.astype(np.int64) * blocks + columns.block) * len(slots.videos)
    return visits + columns.video


AHEAD = 21
"""How many videos are decoded beyond the furthest that was requested: a block of them."""

Decode = Callable[[str], Awaitable[object]]
"""Decodes the frames of a video into the cache; what it raises is raised again at its turn."""


class Ahead:
    """Decodes one video at a time, in the order of their turns, and never far ahead.

    No result depends on it: a turn that comes first decodes for itself.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._places: dict[str, int] = {}
        self._furthest = -1
        self._moved = asyncio.Event()

    def note(self, video: str) -> None:
        """Note a video whose turn has come."""
        place = self._places.get(video, -1)
        if place > self._furthest:
            self._furthest = place
            self._moved.set()

    @asynccontextmanager
    async def over(self, videos: Sequence[str], is_over: Callable[[], bool]) -> AsyncIterator[None]:
        """Decode ahead while the block lasts, until nothing more will be needed."""
        self._places = {video: n for n, video in enumerate(videos)}
        self._furthest = -1
        going = asyncio.create_task(self._go(videos, is_over))
        try:
            yield
        finally:
            going.cancel()
            with suppress(asyncio.CancelledError):
                await going

    async def _go(self, videos: Sequence[str], is_over: Callable[[], bool]) -> None:
        for place, video in enumerate(videos):
            # Nothing before the first turn: that one's video is to have the machine for itself.
            while self._furthest < 0 or place > self._furthest + AHEAD:
                self._moved.clear()
                await self._moved.wait()
            if is_over():
                return
            if place > self._furthest:
                # Its own turn tells what is wrong with the video.
                with suppress(ArenaError):
                    await self._decode(video)
