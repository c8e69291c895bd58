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
