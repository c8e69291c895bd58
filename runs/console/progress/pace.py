"""How long work goes on, by the pace of its newest pieces: said wherever pieces are counted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from videoautoarena.runs.formats.words import roughly

LEAST = 10
"""So many pieces say how long one takes; of fewer than a hundred, a tenth of them."""
LEAST_S = 1.0
"""Nobody asks how long less than this takes."""
NEWEST = 100
"""By so many pieces it is told: what is known from before comes all at once, at the beginning."""
LONGEST_LEFT = len(" ~123.4 h")
"""Characters of the words for what is left, but for weeks of work."""


class Pace:
    """Takes how many pieces are done whenever one is, and says how long the rest takes."""

    def __init__(self, *, done: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looks = deque([(clock(), done)], maxlen=NEWEST + 1)

    def left_s(self, done: int, total: int) -> float | None:
        """Take a look, and return the seconds that are left; None where nobody can say yet."""
        if done == self._looks[-1][1]:
            # What went before the first piece takes no time of any.
            self._looks.pop()
        self._looks.append((self._clock(), done))
        since, before = self._looks[0]
        now, _ = self._looks[-1]
        fresh = done - before
        if done >= total or fresh < min(LEAST, max(1, total // 10)):
            return None
        return (now - since) / fresh * (total - done)

    def words(self, done: int, total: int) -> str:
        """Take a look, and return it as it follows a count: ` ~7 min`, or nothing."""
        left_s = self.left_s(done, total)
        return "" if left_s is None or left_s < LEAST_S else f" ~{roughly(left_s)}"
