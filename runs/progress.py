"""Plain lines of a run as it goes: one a battle, and how far it is."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable

from memory.records import Battle
from runs.events import Begun, Happening, Hear, Looked, Say, Settled
from runs.reading import one_line, outcome

PIPED = 140
"""Columns of a line where no terminal says how many there are."""
LEAST_QUESTION = 12
"""A question that would be cut shorter than this is left out."""


class Progress:
    """Says each battle as it is settled, on one line that fits the terminal."""

    def __init__(
        self, *, total: int, done: int, say: Callable[[str], None], columns: int | None = None
    ) -> None:
        self.total = total
        self.done = done
        self._say = say
        self._columns = columns or _columns()
        self._began = time.monotonic()
        self._fresh = 0

    def settled(self, battle: Battle) -> None:
        """Count a battle and print its line."""
        self.done += 1
        self._fresh += 1
        counted = f"[{self.done:>{len(str(self.total))}}/{self.total}{self._left()}]"
        line = f"{counted} {outcome(battle)}  {battle.id}"
        self._say(f"{line}{self._question(battle, len(line))}")

    def _question(self, battle: Battle, taken: int) -> str:
        room = self._columns - taken - 2
        if not battle.question or room < LEAST_QUESTION:
            return ""
        return f"  {one_line(battle.question, room)}"

    def _left(self) -> str:
        """Return the time that is left, once ten battles say how long one takes."""
        if self._fresh < 10 or self.done >= self.total:
            return ""
        left_s = (time.monotonic() - self._began) / self._fresh * (self.total - self.done)
        return f" ~{left_s / 60:.0f} min" if left_s >= 90 else f" ~{left_s:.0f} s"


def plain_lines(say: Say) -> Hear:
    """Return what hears a run and says each battle on a line."""
    progress: Progress | None = None

    def hear(event: Happening) -> None:
        nonlocal progress
        match event:
            case Begun():
                progress = Progress(total=len(event.slots), done=len(event.battles), say=say)
            case Settled(battle) if progress is not None:
                progress.settled(battle)
            case Looked(reading):
                mark = "met, " if reading.is_met else ""
                say(f"until {reading.rule}: {mark}{reading.where}")

    return hear


def _columns() -> int:
    return shutil.get_terminal_size().columns if sys.stderr.isatty() else PIPED
