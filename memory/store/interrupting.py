"""Leaving a long query when the process is to end: while SQLite works, Python hears no signal."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 0.5
"""So long a query may go on that nobody waits for any more."""


class Ending:
    """Since when this process is to end, where what is to end it cannot be heard by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s: float | None = None

    def ask(self) -> None:
        """Let long queries end, wherever they are made; the first time counts."""
        if self._since_s is None:
            self._since_s = self._clock()

    def clear(self) -> None:
        """Let queries be: it was heard, or what asked for it is over."""
        self._since_s = None

    def is_overdue(self) -> bool:
        """Return whether it was asked for a while ago, and nobody has heard."""
        return self._since_s is not None and self._clock() - self._since_s > PATIENCE_S


ENDING = Ending()
"""That of this process: signals are heard by one thread, and queries made by several."""
