"""Leaving a long query when the process is to end: while SQLite works, Python hears no signal."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

PATIENCE_S = 0.5
"""So long a query may go on that nobody waits for any more."""
_OPCODES = 2000
"""Of SQLite's machine, between two looks: some 0.1 ms."""


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


def listen(connection: sqlite3.Connection) -> None:
    """Let each long query on a connection end when the process is to."""
    # A look runs Python code. So in the main thread a signal's own handler is run as well, and
    # what it raises ends the query like a true answer.
    connection.set_progress_handler(ENDING.is_overdue, _OPCODES)


def raise_interrupt(error: Exception) -> None:
    """Raise KeyboardInterrupt where a query was ended: SQLite drops what its handler raised."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        raise KeyboardInterrupt from error
