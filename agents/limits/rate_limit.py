"""How many calls an endpoint takes at once, learnt from what comes back, and rates that are stated.

An `AdaptiveLimit` does not wait, and the time is passed in. It starts with a few places and doubles
them with every round of replies until the server refuses a call (429 and its like). What went well
until then, a little less with every refusal, are the calm places: after a cut they come back as
quickly as replies do, and beyond them a place is added at a time, four times as fast if only storms
were met. Refusals in a row with no reply between are a storm: places are halved, and single calls
go out to see whether it is over.

Some servers refuse a share of all calls however few they are sent: other tenants of one key, a sick
machine behind many. Calls that were sent after places had been cut show what that share is: if load
is the reason, none of them is refused. Then the places come back, and only a share clearly above it
counts, by Page's cumulative sum (1954). In a storm a server refuses all; a run of refusals without
a call taken between counts as one, so that no storm is taken for noise.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

Outcome = Literal["taken", "refused", "unknown"]
"""The server did the work or began to; it had no room; nothing is known, as after a time-out."""


@dataclass(frozen=True)
class GateTuning:
    """How far a gate moves its places, and how sure of noise it has to be.

    The values were set on the simulated servers of `make bench-gate`, where they get 90 % and more
    of what a limited server gives, and 85 % of one that refuses at random.
    """

    start_places: int = 16
    """Places of a gate that knows nothing yet."""
    cut_share: float = 0.9
    """What the first refusal leaves of the places in use."""
    second_cut_share: float = 0.8
    """What a second refusal in a row leaves."""
    storm_cut_share: float = 0.5
    """What every further one leaves."""
    # A cut to nine tenths that came back to nine tenths alone would wear the places away under
    # refusals that are no fault of theirs, so what went well is given up more slowly than that.
    calm_share: float = 0.97
    """What a refusal leaves of the calm places."""
    calm_cut_places: float = 0.6
    """Fewest places that a refusal takes of them: a share of a few places would never be one."""
    storm_refusals: int = 3
    """Refusals in a row, each sent after the last one was heard of, that make a storm."""
    comeback_share: float = 0.25
    """Share of the calm places that the first reply after a storm brings back."""
    # Short enough to lose little once a storm is over.
    first_probe_pause_s: float = 0.25
    longest_probe_pause_s: float = 2.0
    # The golden ratio: pauses spread evenly and keep no step with a server that counts in seconds.
    probe_pause_spread: float = 0.6180339887
    rounds_per_step: int = 4
    """Rounds of replies between two steps beyond the calm places; one while only storms refused."""
    slow_latency_ratio: float = 2.0
    """A median latency of so many times the best one ends growth."""
    fewest_latencies: int = 8
    """Replies whose median latency is worth looking at."""
    most_latencies: int = 64
    latency_memory_s: float = 600.0
    """How slowly a better latency of earlier is forgotten: e-fold in this time."""

    remembered_tries: int = 1024
    after_cut_share: float = 0.8
    """Tries at so much of the most calm places among them, or less, were sent after cuts."""
    noise_runs: int = 4
    """Runs of refusals among tries sent after cuts that show noise."""
    least_noise_share: float = 0.02
    most_noise_share: float = 0.35
    """Shares of refused tries between which they may be noise."""
    worse_ratio: float = 1.5
    """Noise that is known already is more only if it is so many times what it was."""
    load_odds_ratio: float = 4.0
    """Refusals whose odds are so many times those of noise are clearly more than noise."""
    load_evidence_nats: float = 5.0
    """Evidence from which refusals count as load."""
    trust_s: float = 300.0
    """How long noise is believed in before it has to show again."""


TUNING = GateTuning()
MINUTE_S = 60.0


@dataclass(eq=False, slots=True)
class SentTry:
    """One try as it was sent, and how it ended."""

    epoch: int
    """Number of cuts before it was sent."""
    at_s: float
    places: float
    calm: float
    """Places that went well until then; infinity while nothing had been refused."""
    outcome: Outcome | None = None
    """None while it is under way."""


@dataclass
class RefusalNoise:
    """What is known of refusals at one endpoint that have nothing to do with load."""

    share: float = 0.0
    """Share of all tries; 0 while no noise is known."""
    _believed_until_s: float = -math.inf
    _refusal_s: float = 0.0
    """About how long a refusal takes at most."""

    def __post_init__(self) -> None:
        self._latest: deque[SentTry] = deque(maxlen=TUNING.remembered_tries)

    def enter(self, sent: SentTry) -> None:
        self._latest.append(sent)

    def leave(self, sent: SentTry, outcome: Outcome, now_s: float) -> None:
        sent.outcome = outcome
        if outcome == "refused":
            # The slowest of late: each refusal takes a tenth off what was before.
            self._refusal_s = max(now_s - sent.at_s, 0.9 * self._refusal_s)

    def is_between(self, epoch: int, now_s: float) -> bool:
        """Return whether the server took a try of this epoch, or keeps one as it keeps no other."""
        long_s = 2 * self._refusal_s
        return any(
            sent.outcome == "taken" or (sent.outcome is None and now_s - sent.at_s > long_s)
            for sent in self._of(epoch)
        )

    def explains(self, refused: SentTry, now_s: float) -> bool:
        """Return whether a refusal, and those before it in its epoch, may be no more than noise."""
        # Noise may end, so it has to show again.
        if now_s > self._believed_until_s:
            self.share = 0.0
        if not self.share:
            return False
        score = 0.0
        # Page's cumulative sum of log-likelihood ratios: refusals at `odds` times the odds of
        # noise, against noise alone.
        odds = TUNING.load_odds_ratio
        each = math.log1p((odds - 1) * self.share)
        for sent in self._of(refused.epoch):
            score = max(0.0, score - each) + math.log(odds) * (sent.outcome == "refused")
            if sent is refused:
                break
        return score < TUNING.load_evidence_nats

    def find(self, now_s: float) -> tuple[float, float] | None:
        """Believe in noise if cuts did not help; return the places, and calm ones, before them.

        None if they may have helped.
        """
        few = TUNING.after_cut_share * self._most_calm()
        runs, taken = _counted(sent for sent in self._latest if sent.places <= few)
        share = runs / max(1, taken)
        least = max(TUNING.least_noise_share, TUNING.worse_ratio * self.share)
        if runs < TUNING.noise_runs or not least <= share <= TUNING.most_noise_share:
            return None
        self.share = share
        self._believed_until_s = now_s + TUNING.trust_s
        return max(sent.places for sent in self._latest), max(sent.calm for sent in self._latest)

    def _most_calm(self) -> float:
        known = (sent.calm for sent in self._latest if sent.calm < math.inf)
        return max(known, default=0.0)

    def _of(self, epoch: int) -> Iterator[SentTry]:
        return (sent for sent in self._latest if sent.epoch == epoch)


def _counted(tries: Iterable[SentTry]) -> tuple[int, int]:
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
    """Refusals in a row, of calls that each entered after the last one came back."""
    _closed_until_s: float = -math.inf
    _is_full: bool = False
    """Whether somebody found no place since the last step."""
    _replies: int = 0
    _best_s: float = math.inf
    _best_at_s: float = 0.0
    _is_slow: bool = False
    _steps: int = 0

    def __post_init__(self) -> None:
        self.limit = float(min(self.ceiling, TUNING.start_places))
        self.noise = RefusalNoise()
        latest = max(TUNING.fewest_latencies, min(self.ceiling, TUNING.most_latencies))
        self._latencies: deque[float] = deque(maxlen=latest)

    @property
    def places(self) -> int:
        """How many calls may be under way at once; none only if none are lent to it."""
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

    def enter(self, now_s: float) -> SentTry:
        self.under_way += 1
        sent = SentTry(self._epoch, now_s, self.limit, self._calm)
        self.noise.enter(sent)
        return sent

    def leave(self, sent: SentTry, outcome: Outcome, now_s: float) -> None:
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

    def _refuse(self, sent: SentTry, used: int, now_s: float) -> None:
        if self._refusals and self.noise.is_between(self._epoch, now_s):
            # Not in a row with the last one, even if no reply has come back since.
            self._refusals = 0 if self.noise.share else 1
        if not self._refusals and self.noise.explains(sent, now_s):
            return
        self._shrink(used, now_s)
        before = self.noise.find(now_s)
        if before is not None:
            self.limit, self._calm = before
            self._refusals = 0
            self._closed_until_s = -math.inf

    def _shrink(self, used: int, now_s: float) -> None:
        self._epoch += 1
        self._refusals += 1
        if self._refusals == 1:
            # Places that nobody filled were not refused, but a few calls do not prove the rest bad.
            used = max(used, int(self.limit / 2))
            calm = min(used - 1.0, used * TUNING.calm_share)
            if math.isinf(self._calm):
                self._is_unproven = True
            else:
                # What worked is given up slowly: a refusal may have nothing to do with load.
                fewer = self._calm - TUNING.calm_cut_places
                calm = max(calm, min(self._calm * TUNING.calm_share, fewer))
            self._calm = min(max(1.0, calm), float(self.ceiling))
            self.limit = max(1.0, used * TUNING.cut_share)
        else:
            is_storm = self._refusals >= TUNING.storm_refusals
            share = TUNING.storm_cut_share if is_storm else TUNING.second_cut_share
            self.limit = max(1.0, self.limit * share)
            # Higher powers are beyond the longest pause, and at last beyond what a float holds.
            doubled_s = TUNING.first_probe_pause_s * 2.0 ** min(self._refusals - 2, 8)
            uneven = 0.5 + 0.5 * (self._epoch * TUNING.probe_pause_spread % 1.0)
            # Never by a server's hint: a Retry-After of 89 s froze such a limit for a whole run
            # (inspect_ai 5137).
            pause_s = min(TUNING.longest_probe_pause_s, doubled_s) * uneven
            self._closed_until_s = now_s + pause_s
        self._steps = 0

    def _grow(self, latency_s: float, now_s: float, *, is_news: bool) -> None:
        if self._refusals >= TUNING.storm_refusals:
            self.limit = max(self.limit, self._calm * TUNING.comeback_share)
        elif self._refusals:
            self._is_unproven = False
        if is_news:
            self._refusals = 0
        self._replies += 1
        self._time(latency_s, now_s)
        # Replies prove nothing of places that nobody wanted.
        if not self._is_full:
            return
        if self._is_slow and math.isinf(self._calm):
            self._calm = self.limit = max(1.0, self.limit / 2)
        elif self.limit < self._calm:
            # One more place for one reply: twice as many with every round of replies.
            self.limit = min(self.limit + 1, self._calm, float(self.ceiling))
        rounds = 1 if self._is_unproven else TUNING.rounds_per_step
        if self._replies >= rounds * self.limit and not self._is_slow:
            # One more, and after a while without a refusal more than one more.
            self._steps += 1
            more = max(1.0, self._steps / 2)
            self._calm = min(max(self._calm, self.limit) + more, float(self.ceiling))
            self.limit = min(self.limit + more, float(self.ceiling))
            self._replies = 0
            self._is_full = False

    def _time(self, latency_s: float, now_s: float) -> None:
        fewest = TUNING.fewest_latencies
        self._latencies.append(latency_s)
        if len(self._latencies) < fewest or self._replies % fewest:
            return
        middle_s = median(self._latencies)
        faded = math.exp(min(1.0, (now_s - self._best_at_s) / TUNING.latency_memory_s))
        self._best_s = min(middle_s, self._best_s * faded)
        self._best_at_s = now_s
        self._is_slow = middle_s > TUNING.slow_latency_ratio * self._best_s


@dataclass
class StartedRequest:
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
    """Requests a minute; None is any number."""
    tokens: float | None
    """Tokens a minute; None is any number. A single request above it goes alone."""
    _window: deque[StartedRequest] = field(default_factory=deque)
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

    def start(self, tokens: float, now_s: float) -> StartedRequest:
        started = StartedRequest(now_s, tokens)
        self._window.append(started)
        self._tokens += tokens
        gap_s = max(self._gap_s(1, self.requests), self._gap_s(tokens, self.tokens))
        # From now on, or those who waited out a stop would be sent in a burst.
        self._next_s = max(now_s, self._next_s) + gap_s
        return started

    def correct(self, started: StartedRequest, tokens: float) -> None:
        """Count the tokens that it took in the place of those expected."""
        more = tokens - started.tokens
        started.tokens = tokens
        self._next_s += self._gap_s(more, self.tokens)
        # What has left the window is part of the sum no more.
        if self._window and started.at_s >= self._window[0].at_s:
            self._tokens += more

    def _has_room(self, count: int, held: float, tokens: float) -> bool:
        if self.requests is not None and count + 1 > self.requests:
            return False
        return self.tokens is None or held + tokens <= self.tokens

    @staticmethod
    def _gap_s(amount: float, a_minute: float | None) -> float:
        return 0.0 if a_minute is None else MINUTE_S * amount / a_minute
