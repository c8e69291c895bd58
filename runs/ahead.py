"""Decoding ahead: the videos whose turn comes next, while others are asked about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from memory.errors import ArenaError

AHEAD = 21
"""Videos beyond the furthest that was asked for: a block. Their frames wait on disk."""

Decode = Callable[[str], Awaitable[object]]
"""Brings the frames of a video to where its turn finds them; so it keeps what it raises."""


class Ahead:
    """Decodes one video at a time, in the order of their turns, and never far ahead.

    Nothing that a run comes to depends on it: a turn that comes first decodes for itself.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._places: dict[str, int] = {}
        self._furthest = -1
        self._moved = asyncio.Event()

    def note(self, video: str) -> None:
        """Take note of a video whose turn has come."""
        place = self._places.get(video, -1)
        if place > self._furthest:
            self._furthest = place
            self._moved.set()

    @asynccontextmanager
    async def over(self, videos: Sequence[str], is_over: Callable[[], bool]) -> AsyncIterator[None]:
        """Decode ahead within the block, until it ends or nothing more will be needed."""
        self._places, self._furthest = {video: n for n, video in enumerate(videos)}, -1
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
                with suppress(ArenaError):
                    await self._decode(video)
