"""Keeping to rates known beforehand, and parting refusals by load from those that are noise.

Some servers refuse a share of all calls however few they are sent: other tenants of one key, a sick
machine behind many. Calls that were sent after places had been cut show what that share is: where
load is the reason, none of them is refused. From then on only a share clearly above it counts, by
Page's cumulative sum (1954). In a storm a server refuses all; a run of refusals with none between
that was taken counts as one, so that no storm is taken for noise.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, NamedTuple

Outcome = Literal["taken", "refused", "unknown"]
"""The server did the work or began to; it had no room; nothing is known, as after a time-out."""

LATEST = 1024
FEW = 0.8
"""Tries at so much of the most calm places among them, or less, were sent after cuts."""
TESTED = 0.75
"""What a test leaves of the most calm places."""
SUSPECT = 5
"""So many runs of refusals among all that are remembered call for a test,"""
ENOUGH = 1.5
"""which lasts for so many times the calls among which noise would show, unless it does earlier."""
RETEST_S = 600.0
RUNS = 4
"""So many runs of refusals among these show noise."""
LEAST, MOST = 0.02, 0.35
"""Shares that are taken for noise."""
WORSE = 1.5
"""Noise that is known already is more only if it is so many times what it was."""
FADED = 0.01
"""A share of the latest tries below which there is no noise any more."""
ODDS = 4.0
"""Refusals whose odds are so many times those of noise are clearly more than noise."""
EVIDENCE = 5.0
"""How sure of that one has to be, in nats."""
TRUST_S = 300.0
"""How long noise is believed in before it has to show again; each time twice as long."""
LONGEST_TRUST_S = 3600.0


@dataclass(eq=False, slots=True)
class Sent:
    """One try as it was sent, and how it ended."""

    epoch: int
    """Between which two cuts."""
    at_s: float
    places: float
    calm: float
    """Places that went well until then; infinity while nothing had been refused."""
    outcome: Outcome | None = None
    """None while it is under way."""


class Before(NamedTuple):
    """What a gate had before cuts that did not help."""

    places: float
    calm: float


@dataclass
class Noise:
    """What is known of it at one endpoint."""

    share: float = 0.0
    """Of all tries; 0 while no noise is known."""
    _believed_until_s: float = -math.inf
    _trust_s: float = TRUST_S / 2
    _latest: deque[Sent] = field(default_factory=lambda: deque(maxlen=LATEST))
    _tests_at_s: float = -math.inf
    _refusal_s: float = 0.0
    """About how long a refusal takes at most."""

    def enter(self, sent: Sent) -> None:
        self._latest.append(sent)

    def leave(self, sent: Sent, outcome: Outcome, now_s: float) -> None:
        sent.outcome = outcome
        if outcome == "refused":
            self._refusal_s = max(now_s - sent.at_s, 0.9 * self._refusal_s)

    def start_afresh(self) -> None:
        """Forget all tries, though not what was learnt from them."""
        self._latest.clear()

    def is_between(self, epoch: int, now_s: float) -> bool:
        """Return whether the server took a try of this epoch, or keeps one as it keeps no other."""
        long_s = 2 * self._refusal_s
        return any(
            sent.outcome == "taken" or (sent.outcome is None and now_s - sent.at_s > long_s)
            for sent in self._of(epoch)
        )

    def explains(self, refused: Sent, now_s: float) -> bool:
        """Return whether a refusal, and those before it in its epoch, may be no more than noise."""
        # No more noise than there is, and none for ever.
        if self.share and len(self._latest) == LATEST:
            runs, taken = _counted(self._latest)
            self.share = min(self.share, runs / max(1, taken))
        if self.share < FADED or now_s > self._believed_until_s:
            self.share = 0.0
            return False
        score = 0.0
        each = math.log1p((ODDS - 1) * self.share)
        for sent in self._of(refused.epoch):
            score = max(0.0, score - each) + math.log(ODDS) * (sent.outcome == "refused")
            if sent is refused:
                break
        return score < EVIDENCE

    def test(self, now_s: float) -> tuple[float, int] | None:
        """Return to how many places to cut as a test, and for how many calls; None: no need."""
        runs, taken = _counted(self._latest)
        share = runs / max(1, taken)
        is_doubtful = runs >= SUSPECT and LEAST <= share <= MOST and not self.share
        if now_s < self._tests_at_s or not is_doubtful:
            return None
        self._tests_at_s = now_s + RETEST_S
        return TESTED * self._most_calm(), int(ENOUGH * RUNS / share)

    def find(self, now_s: float) -> Before | None:
        """Believe in noise if cuts did not help, and return what they took; None: they may have."""
        few = FEW * self._most_calm()
        runs, taken = _counted(sent for sent in self._latest if sent.places <= few)
        share = runs / max(1, taken)
        if runs < RUNS or not max(LEAST, WORSE * self.share) <= share <= MOST:
            return None
        self.share = share
        self._trust_s = min(2 * self._trust_s, LONGEST_TRUST_S)
        self._believed_until_s = now_s + self._trust_s
        latest = self._latest
        return Before(max(sent.places for sent in latest), max(sent.calm for sent in latest))

    def _most_calm(self) -> float:
        known = (sent.calm for sent in self._latest if sent.calm < math.inf)
        return max(known, default=0.0)

    def _of(self, epoch: int) -> Iterator[Sent]:
        return (sent for sent in self._latest if sent.epoch == epoch)


def _counted(tries: Iterable[Sent]) -> tuple[int, int]:
    """Return how many runs of refusals there are, and how many calls that were taken.

    The first by the second is the chance that a call is refused after one that was taken. Calls
    under way count as taken: refusals come quickly.
    """
    taken = runs = 0
    is_run = False
    for sent in tries:
        if sent.outcome == "unknown":
            continue
        was_run = is_run
        is_run = sent.outcome == "refused"
        taken += not is_run
        runs += is_run and not was_run
    return runs, taken


MINUTE_S = 60.0


@dataclass
class Started:
    """One request as a pacer counts it."""

    at_s: float
    tokens: float


@dataclass
class Pacer:
    """When the next request may start.

    Starts are spread evenly, so that a bucket never overflows, and those of any 60 seconds stay
    within the limits, as a server counts that looks at windows. The time is passed in.
    """

    requests: float | None
    """A minute; None is any number."""
    tokens: float | None
    """A minute; None is any number. A single request above it goes alone."""
    _window: deque[Started] = field(default_factory=deque)
    _tokens: float = 0.0
    _next_s: float = -math.inf
    """When what was started has drained at the even rate."""

    def ready_at(self, tokens: float, now_s: float) -> float:
        """Return when a request of so many tokens may start."""
        while self._window and self._window[0].at_s + MINUTE_S <= now_s:
            self._tokens -= self._window.popleft().tokens
        ready_s = max(now_s, self._next_s)
        count = len(self._window)
        held = self._tokens
        for started in self._window:
            if self._has_room(count, held, tokens):
                break
            ready_s = max(ready_s, started.at_s + MINUTE_S)
            count = count - 1
            held = held - started.tokens
        return ready_s

    def start(self, tokens: float, now_s: float) -> Started:
        started = Started(now_s, tokens)
        self._window.append(started)
        self._tokens += tokens
        gap_s = max(self._gap_s(1, self.requests), self._gap_s(tokens, self.tokens))
        self._next_s = max(now_s, self._next_s) + gap_s
        return started

    def correct(self, started: Started, tokens: float) -> None:
        """Count the tokens that it took in the place of those expected."""
        more = tokens - started.tokens
        started.tokens = tokens
        self._next_s += self._gap_s(more, self.tokens)
        if self._window and started.at_s >= self._window[0].at_s:
            self._tokens += more

    def _has_room(self, count: int, held: float, tokens: float) -> bool:
        if self.requests is not None and count + 1 > self.requests:
            return False
        return self.tokens is None or held + tokens <= self.tokens

    @staticmethod
    def _gap_s(amount: float, a_minute: float | None) -> float:
        return 0.0 if a_minute is None else MINUTE_S * amount / a_minute


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
