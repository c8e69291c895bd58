"""Keeping a worker that was given up from doing anything more, and its calls to the head.

A process that stood still for a minute cannot know that it was given up. So it looks at its own
clock at the last moment before it sends anything, and ends where its lease has run out.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, Protocol

from videoautoarena.agents.transport.deadlines import boot_s

GIVEN_UP = 75
"""Exit code of a worker whose lease has run out: EX_TEMPFAIL of sysexits.h."""
SURE = 0.8
"""The share of its lease that a worker relies on: clocks and message times differ."""
GAP_S = 0.2
"""Seconds between two tries of a message to the head while nobody is there."""


class RemoteCall(Protocol):
    """A way to the owner of the file or to the lender, which waits until it is answered."""

    async def __call__(self, method: str, *values: Any) -> Any:
        """Return the result of a method; ask again if the other side died meanwhile."""


def now_s() -> float:
    """Return seconds of a clock that runs on while the process or the machine is stopped."""
    return boot_s()


def _exit() -> NoReturn:
    # At once: an orderly exit would let tasks and finalizers send or commit something more.
    os._exit(GIVEN_UP)


class Fence:
    """The lease of this process, by its own clock; `on_end` is called once it has run out.

    Before the first lease nothing is checked: nobody else waits for it to run out.
    """

    def __init__(
        self, *, clock: Callable[[], float] = now_s, on_end: Callable[[], object] = _exit
    ) -> None:
        self.clock = clock
        self._on_end = on_end
        self._until_s: float | None = None

    def extend(self, asked_s: float, lease_s: float) -> None:
        """Extend the lease, counted from the moment at which it was requested."""
        # From when it was asked for: the answer may have been under way for long, and the lender
        # counts from when it gave the lease. An answer that comes late shortens nothing.
        self._until_s = max(self._until_s or 0.0, asked_s + SURE * lease_s)

    def check(self) -> None:
        """Return while the lease holds; else end the process."""
        if self._until_s is not None and self.clock() >= self._until_s:
            self._on_end()

    def end(self) -> None:
        """End the lease, and with it the process."""
        self._on_end()


class Fenced:
    """A way to the head that is closed once the lease is over."""

    def __init__(
        self,
        call: Callable[..., Awaitable[Any]],
        fence: Fence,
        *,
        is_away: Callable[[Exception], bool],
    ) -> None:
        """Take a function that calls a method once, and one that tells a death from an error."""
        self._call = call
        self._fence = fence
        self._is_away = is_away

    async def __call__(self, method: str, *values: Any) -> Any:
        """Return the result of a method; ask again for as long as nobody is there."""
        while True:
            self._fence.check()
            try:
                return await self._call(method, *values)
            except Exception as error:
                if not self._is_away(error):
                    raise
            await asyncio.sleep(GAP_S)
