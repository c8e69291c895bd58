"""An event loop whose clock stands still while it works and jumps while it waits."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

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

    def stand_still(self, seconds: float) -> None:
        """Do nothing for so long, as if the process were stopped."""
        self._leap.now_s += seconds


class StoppableLoop(asyncio.SelectorEventLoop):
    """A loop on the machine's clock that may stand still for as long as a test likes."""

    stopped_s = 0.0

    def time(self) -> float:
        """Return the seconds of the machine's clock and all that it stood still."""
        return super().time() + self.stopped_s

    def stand_still(self, seconds: float) -> None:
        """Have done nothing for so long."""
        self.stopped_s += seconds


GRACE_S = 0.02
"""How long something may take to come before time is taken to be all that is waited for."""
LONGEST_LEAP_S = 130.0
"""A pause; what waits for longer is a limit on a call that may be under way."""


class _Skip(selectors.DefaultSelector):
    """A selector that waits for sockets and threads, and leaps where nobody is at work."""

    def __init__(self, is_idle: Callable[[], bool]) -> None:
        super().__init__()
        self.is_idle = is_idle
        self.skipped_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; with nothing for a while, be as late as was asked for."""
        if timeout is None or not GRACE_S < timeout <= LONGEST_LEAP_S:
            return super().select(timeout)
        left_s = timeout
        while left_s > GRACE_S:
            ready = super().select(GRACE_S)
            left_s -= GRACE_S
            if ready:
                return ready
            if self.is_idle():
                self.skipped_s += left_s
                return []
        return super().select(max(0.0, left_s))


class SkippingLoop(asyncio.SelectorEventLoop):
    """A loop that skips pauses while a server that it speaks to over sockets does nothing."""

    def __init__(self, is_idle: Callable[[], bool]) -> None:
        self._skip = _Skip(is_idle)
        super().__init__(self._skip)

    def time(self) -> float:
        """Return the seconds of the machine's clock and all that were skipped."""
        return super().time() + self._skip.skipped_s


@contextmanager
def skipping(is_idle: Callable[[], bool]) -> Iterator[None]:
    """Let whatever is run within the block skip its pauses."""

    def run(work: Coroutine[Any, Any, T]) -> T:
        with asyncio.Runner(loop_factory=lambda: SkippingLoop(is_idle)) as runner:
            return runner.run(work)

    with patch("asyncio.run", run):
        yield


def run_virtual(work: Coroutine[Any, Any, T]) -> T:
    """Run one test on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
