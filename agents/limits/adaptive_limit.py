"""How many calls one endpoint takes at once, learnt from what comes back.

A gate does not wait, and the time is passed in. It starts with a few places and doubles them with
every round of replies until the server refuses a call (429 and its like). What went well until
then, a little less with every refusal, are the calm places: after a cut they come back as quickly
as replies do, and beyond them a place is added at a time, four times as fast where nothing but
storms was met. Refusals in a row with no reply between are a storm: places are halved, and single
calls go out to see whether it is over. Refusals that cutting does not make fewer are noise: they
bring the places back, and from then on only more of them count (`agents/limits/rate_limit.py`).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from statistics import median

from videoautoarena.agents.limits.rate_limit import Before, Noise, Outcome, Sent

START = 16
"""Places of a gate that knows nothing yet."""
CUT = 0.9
"""What a refusal leaves of the places in use; `calm` says how far they come back at once."""
CALM = 0.97
YIELD = 0.6
"""How little of the calm places a refusal takes: a share, but more than half a place."""
AGAIN = 0.8
"""What a second refusal in a row leaves of the places."""
STORM = 3
"""So many refusals in a row, each sent after the last was heard of, are a storm."""
LONG = 5
"""And so many show nothing of what happens outside storms."""
FIRST_BREATH_S = 0.25
LONGEST_BREATH_S = 2.0
"""Pauses between probes in a storm: short enough to lose little once it is over."""
COMEBACK = 0.25
"""Share of the calm places that the first reply after a storm brings back."""
ROUNDS = 4
"""Rounds of replies between two steps beyond the calm places; one while only storms refused."""
SLOW = 2.0
"""A median latency of so many times the best one ends growth."""
FORGET_S = 600.0
"""How slowly a better latency of earlier is forgotten: e-fold in this time."""
FEWEST = 8
"""Replies whose median latency is worth looking at."""
GOLDEN = 0.6180339887


@dataclass
class AdaptiveLimit:
    """Places at one endpoint; never more than `ceiling`."""

    ceiling: int
    limit: float = 0.0
    under_way: int = 0
    _calm: float = math.inf
    _is_unproven: bool = False
    """Whether nothing but storms set the calm places."""
    _epoch: int = 0
    _refusals: int = 0
    """In a row: of calls that each entered after the last one came back."""
    _closed_until_s: float = -math.inf
    _is_full: bool = False
    """Whether somebody found no place since the last step."""
    _replies: int = 0
    _best_s: float = math.inf
    _best_at_s: float = 0.0
    _is_slow: bool = False
    _steps: int = 0
    _tested: Before | None = None
    """What there was before a test of whether cuts help; None while there is none."""
    _tested_for: int = 0
    noise: Noise = field(default_factory=Noise)
    """What of its refusals has nothing to do with its places."""

    def __post_init__(self) -> None:
        self.limit = float(min(self.ceiling, START))
        self._latencies: deque[float] = deque(maxlen=max(FEWEST, min(self.ceiling, 64)))

    @property
    def places(self) -> int:
        """How many calls may be under way at once; none only where none are lent to it."""
        return min(self.ceiling, max(1, int(self.limit)))

    @property
    def free(self) -> int:
        """How many more calls may enter, as far as places go."""
        return max(0, self.places - self.under_way)

    def opens_at(self, now_s: float) -> float:
        """Return when the next call may enter; infinity while every place is taken."""
        if not self.free:
            self._is_full = True
            return math.inf
        return max(now_s, self._closed_until_s)

    def enter(self, now_s: float) -> Sent:
        self.under_way += 1
        sent = Sent(self._epoch, now_s, self.limit, self._calm)
        self.noise.enter(sent)
        return sent

    def leave(self, sent: Sent, outcome: Outcome, now_s: float) -> None:
        """Give a place back and learn from how the call ended."""
        used = self.under_way
        self.under_way -= 1
        # What entered before the last refusal was heard of cannot show whether that one helped.
        is_news = sent.epoch == self._epoch
        self.noise.leave(sent, outcome, now_s)
        if outcome == "refused" and is_news:
            self._refuse(sent, used, now_s)
        elif outcome == "taken" and (is_news or self._refusals < 2):
            self._grow(now_s - sent.at_s, now_s, is_news=is_news)

    def _refuse(self, sent: Sent, used: int, now_s: float) -> None:
        if self._refusals and self.noise.is_between(self._epoch, now_s):
            # Not in a row with the last one, even if no reply has come back since.
            self._refusals = 0 if self.noise.share else 1
        if not self._refusals and self.noise.explains(sent, now_s):
            return
        self._shrink(used, now_s)
        if self._refusals >= LONG:
            self.noise.start_afresh()
        if before := self.noise.find(now_s):
            self._restore(before)
            self._refusals = 0
            self._closed_until_s = -math.inf
        elif test := self.noise.test(now_s):
            self._tested = Before(self.limit, self._calm)
            places, self._tested_for = test
            self.limit = self._calm = max(1.0, min(places, self.limit))

    def _restore(self, before: Before) -> None:
        self.limit, self._calm = before
        self._tested = None

    def _shrink(self, used: int, now_s: float) -> None:
        self._epoch += 1
        self._refusals += 1
        if self._refusals == 1:
            # Places that nobody filled were not refused, but a few calls do not prove the rest bad.
            used = max(used, int(self.limit / 2))
            calm = min(used - 1.0, used * CALM)
            if math.isinf(self._calm):
                self._is_unproven = True
            else:
                # What worked is given up slowly: a refusal may have nothing to do with load.
                calm = max(calm, min(self._calm * CALM, self._calm - YIELD))
            self._calm = min(max(1.0, calm), float(self.ceiling))
            self.limit = max(1.0, used * CUT)
        else:
            self.limit = max(1.0, self.limit * (AGAIN if self._refusals < STORM else 0.5))
            breath_s = FIRST_BREATH_S * 2.0 ** min(self._refusals - 2, 8)
            # Probes keep no step with a server that counts in seconds.
            uneven = 0.5 + 0.5 * (self._epoch * GOLDEN % 1.0)
            self._closed_until_s = now_s + min(LONGEST_BREATH_S, breath_s) * uneven
        self._steps = 0

    def _grow(self, latency_s: float, now_s: float, *, is_news: bool) -> None:
        if self._refusals >= STORM:
            self.limit = max(self.limit, self._calm * COMEBACK)
        elif self._refusals:
            self._is_unproven = False
        if is_news:
            self._refusals = 0
        if self._tested:
            self._tested_for -= 1
            if self._tested_for <= 0:
                self._restore(self._tested)
        self._replies += 1
        self._time(latency_s, now_s)
        if not self._is_full:
            return
        if self._is_slow and math.isinf(self._calm):
            self._calm = self.limit = max(1.0, self.limit / 2)
        elif self.limit < self._calm:
            # One more place for one reply: twice as many with every round of replies.
            self.limit = min(self.limit + 1, self._calm, float(self.ceiling))
        rounds = 1 if self._is_unproven else ROUNDS
        if self._tested is None and self._replies >= rounds * self.limit and not self._is_slow:
            # One more, and after a while without a refusal more than one more.
            self._steps += 1
            more = max(1.0, self._steps / 2)
            self._calm = min(max(self._calm, self.limit) + more, float(self.ceiling))
            self.limit = min(self.limit + more, float(self.ceiling))
            self._replies = 0
            self._is_full = False

    def _time(self, latency_s: float, now_s: float) -> None:
        self._latencies.append(latency_s)
        if len(self._latencies) < FEWEST or self._replies % FEWEST:
            return
        middle_s = median(self._latencies)
        faded_s = self._best_s * math.exp(min(1.0, (now_s - self._best_at_s) / FORGET_S))
        self._best_s = min(middle_s, faded_s)
        self._best_at_s = now_s
        self._is_slow = middle_s > SLOW * self._best_s
