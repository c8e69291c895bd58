"""When a video is played and when it is decoded: whole blocks in stored order, the next ahead."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple, TypeVar

import numpy as np

from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.records.slots import Longs, Slots

# A draw looks at waves up to two before its own, so a third open block could only wait.
OPEN_BLOCKS = 2
T = TypeVar("T")
Play = Callable[[T], Coroutine[object, object, object]]


class Visit(NamedTuple):
    """A video, played as far as a generation of slots goes.

    Slots of a later one may wait for every block of this one; a visit that went on to them would
    keep its block open until blocks were done that it kept from beginning.
    """

    video: str
    generation: int


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


def one_after_another(play: Play[Visit]) -> Play[Visit]:
    """Return a function that plays visits, those of one video one after another."""
    locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def in_turn(visit: Visit) -> None:
        # Two visits of one video at once would both ask its examiner, under one and the same key.
        async with locks[visit.video]:
            await play(visit)

    return in_turn


async def play_blocks(blocks: Sequence[Sequence[T]], play: Play[T]) -> None:
    """Play every video, two blocks at a time; the first exception ends all others and is raised."""
    open_blocks = asyncio.Semaphore(OPEN_BLOCKS)

    async def play_block(videos: Sequence[T]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for video in videos:
                    group.create_task(play(video))
        finally:
            open_blocks.release()

    try:
        async with asyncio.TaskGroup() as group:
            for videos in blocks:
                # Before its task is made, so that blocks begin in stored order.
                await open_blocks.acquire()
                group.create_task(play_block(videos))
    except BaseExceptionGroup as several:
        inner: BaseException = several
        # The class of the first error decides the exit code; a group would hide it.
        while isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        raise inner from None


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
