"""Keeping to rates that are known beforehand: so many requests, so many tokens a minute."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

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
    within the limits, as a server counts that looks at windows. It is told the time.
    """

    requests: float | None
    """A minute; None is any number."""
    tokens: float | None
    """A minute; None is any number. A single request above it goes alone."""
    _window: deque[Started] = field(default_factory=deque)
    _tokens: float = 0.0
    """Of the window."""
    _next_s: float = -math.inf
    """When what was started has drained at the even rate."""

    def ready_at(self, tokens: float, now_s: float) -> float:
        """Return when a request of so many tokens may start."""
        self._forget(now_s)
        ready_s = max(now_s, self._next_s)
        count, held = len(self._window), self._tokens
        for started in self._window:
            if self._has_room(count, held, tokens):
                break
            ready_s = max(ready_s, started.at_s + MINUTE_S)
            count, held = count - 1, held - started.tokens
        return ready_s

    def start(self, tokens: float, now_s: float) -> Started:
        """Count a request in."""
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
        if self.tokens is not None:
            self._next_s += self._gap_s(more, self.tokens)
        if self._window and started.at_s >= self._window[0].at_s:
            self._tokens += more

    def _has_room(self, count: int, held: float, tokens: float) -> bool:
        if self.requests is not None and count + 1 > max(1.0, self.requests):
            return False
        return self.tokens is None or not count or held + tokens <= self.tokens

    def _forget(self, now_s: float) -> None:
        while self._window and self._window[0].at_s + MINUTE_S <= now_s:
            self._tokens -= self._window.popleft().tokens

    @staticmethod
    def _gap_s(amount: float, a_minute: float | None) -> float:
        return 0.0 if a_minute is None else MINUTE_S * amount / a_minute
