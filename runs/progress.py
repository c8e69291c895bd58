"""Plain lines of a run as it goes: one a battle, and how far it is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from memory.records import DECIDED, Battle
from runs.reading import one_line, outcome

QUESTION = 60
"""Characters of a question that a progress line shows."""


class Progress:
    """Says each battle as it is settled."""

    def __init__(self, *, total: int, done: int, say: Callable[[str], None] | None) -> None:
        self.total = total
        self.done = done
        self.verdicts: Counter[str] = Counter()
        self._say = say
        self._began = time.monotonic()
        self._fresh = 0

    def settled(self, battle: Battle) -> None:
        """Count a battle and print its line."""
        self.done += 1
        self._fresh += 1
        self.verdicts[battle.verdict if battle.verdict not in DECIDED else "decided"] += 1
        if self._say:
            width = len(str(self.total))
            self._say(
                f"[{self.done:>{width}}/{self.total}]{self._left()} {battle.id}  "
                f"{outcome(battle)}{self._question(battle)}"
            )

    def _question(self, battle: Battle) -> str:
        return f"  | {one_line(battle.question, QUESTION)}" if battle.question else ""

    def _left(self) -> str:
        """Return the time that is left, once ten battles say how long one takes."""
        if self._fresh < 10 or self.done >= self.total:
            return ""
        left_s = (time.monotonic() - self._began) / self._fresh * (self.total - self.done)
        return f" ~{left_s / 60:.0f} min left" if left_s >= 90 else f" ~{left_s:.0f} s left"
