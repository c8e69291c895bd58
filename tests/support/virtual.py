"""An event loop whose clock stands still while it works and jumps while it waits."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Leap(selectors.DefaultSelector):
    """A selector that lets virtual time pass where it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; with nothing, be as late as was asked for."""
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.now_s += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that sleeps for no time at all; sockets and threads are still waited for."""

    def __init__(self) -> None:
        self._leap = _Leap()
        super().__init__(self._leap)

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._leap.now_s


def run_virtual(work: Coroutine[Any, Any, T]) -> T:
    """Run one test on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
