"""How long processes have worked on a run: the one clock in its file, which decides nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from memory.connection import Reader
from memory.errors import StoreError
from memory.writer import Writer

_BEGIN = "INSERT INTO sessions (place, began_at_s, worked_s) VALUES (?, ?, 0)"
_BEAT = "UPDATE sessions SET worked_s = ? WHERE place = ?"


class Session(NamedTuple):
    """One process's work on a run."""

    began_at_s: float
    """Seconds since 1970."""
    worked_s: float
    """From its beginning to its last commit."""


class Sessions:
    """The sessions of one run; without a writer they can only be read."""

    def __init__(self, reader: Reader, writer: Writer | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def begin(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Count from now on; every commit takes the time with it, so a kill loses none before it.

        Raises:
            StoreError: the run was opened for reading.
        """
        if self._writer is None:
            raise StoreError("the run was opened for reading; nobody can work on it")
        place, began_s = len(self.all()) + 1, clock()
        self._writer.write_now(_BEGIN, (place, time.time()))
        self._writer.write_with_each(_BEAT, lambda: (round(clock() - began_s, 3), place))

    def all(self) -> list[Session]:
        """Return all sessions in the order in which they began."""
        found = self._reader.rows("SELECT began_at_s, worked_s FROM sessions ORDER BY place")
        return [Session(float(began_at_s), float(worked_s)) for began_at_s, worked_s in found]
