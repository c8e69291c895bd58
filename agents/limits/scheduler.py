"""Whose turn it is to send, as far as servers and the run allow: by rank, then who came first."""

from __future__ import annotations

import asyncio
import math
from bisect import insort
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, overload

from videoautoarena.agents.limits.outages import Contact, EndpointWatch, Outage
from videoautoarena.agents.limits.prefixes import CachePrefix
from videoautoarena.agents.limits.rate_limit import (
    AdaptiveLimit,
    Outcome,
    Pacer,
    SentTry,
    StartedRequest,
)
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.deadlines import pulse
from videoautoarena.memory.records.records import CallLimits

EndpointKey = tuple[str, tuple[str, ...]]
"""An endpoint: its host, and the variables that hold its key."""
Rates = tuple[float | None, float | None]
QueueKey = tuple[str, tuple[str, ...], str, CallLimits]
"""Where calls of one model wait: its place, its name and what its server's limits are."""
Pause = Callable[[float], Awaitable[None]]


class LimitLoan(NamedTuple):
    """What a process of several may use of the limits that they share, for the time being."""

    total: int
    """Tries under way at once."""
    places: Mapping[EndpointKey, int]
    """Tries under way at once at each endpoint; 0 at those that are not named."""
    rates: Mapping[EndpointKey, float]
    """Share of an endpoint's declared rates, above 0; all of them where it is not named."""


class PlaceDemand(NamedTuple):
    """What a process could use at once: tries under way, and those that wait for a place."""

    under_way: int
    waiting: int


@dataclass(order=True)
class WaitingCall:
    """A call that wants a place; one of a lower rank is served first, then who came first."""

    rank: int
    number: int
    tokens: float = field(compare=False)
    admitted: asyncio.Future[SendTurn | CachePrefix] = field(compare=False)
    """Its turn, or its prefix, which another call leads."""
    prefix: CachePrefix | None = field(default=None, compare=False)


@dataclass(eq=False)
class PausedCall:
    """A refused call that sits out its pause."""

    since: int
    """Number of the last turn that was given before it was refused."""
    earliest_s: float
    woken: asyncio.Future[None]


@dataclass(eq=False)
class ModelQueue:
    """The calls of one model: its endpoint, gate and pacer, who waits and who sits out a pause."""

    gate: AdaptiveLimit | None
    pacer: Pacer | None
    endpoint: EndpointWatch
    waiting: deque[WaitingCall] = field(default_factory=deque)
    paused: list[PausedCall] = field(default_factory=list)
    last_taken: int = -1
    """Number of the latest turn in which the server took a call."""

    def ready_at(self, now_s: float) -> float:
        """Return when its first waiter may go; infinity while it depends on a call's end."""
        ready_s = self.gate.opens_at(now_s) if self.gate else now_s
        if self.pacer and ready_s < math.inf:
            ready_s = max(ready_s, self.pacer.ready_at(self.waiting[0].tokens, now_s))
        return max(ready_s, self.endpoint.opens_at(now_s))


@dataclass(eq=False)
class SendTurn:
    """One try's place, from when it may be sent until it has come back."""

    number: int
    queue: ModelQueue
    sent: SentTry | None
    started: StartedRequest | None
    is_look: bool = False
    """It looks whether an endpoint is back that was gone."""
    outcome: Outcome = "unknown"
    contact: Contact = "unknown"
    reason: str = ""
    tokens: float | None = None
    """Tokens that it took, once they are known."""
    prefix: CachePrefix | None = None
    """What it shares with others, if a cache may hold that."""
    stood_still_s: float = 0.0
    """Seconds for which the loop had stood still before it, in all."""
    found_nobody: bool = False
    """Set when it is given back: the endpoint is gone, and the call waits until it is back."""


@dataclass
class Scheduler:
    """Gives places to tries, at most `ceiling` at once, and to nobody once it is closed."""

    ceiling: int
    pause: Pause = asyncio.sleep
    patience_s: float | None = None
    """How long an endpoint is waited for that cannot be reached; None: not at all."""
    has_answered: Callable[[str], bool] = lambda _address: False
    """Whether an address ever has, in earlier processes."""
    on_outage: Callable[[Outage], None] = lambda _outage: None
    loan: LimitLoan | None = None
    """What others leave to this process; None: it shares its limits with nobody."""
    on_waiting: Callable[[], None] = lambda: None
    """Called when a try has to wait for a place."""
    under_way: int = 0
    is_closed: bool = False
    _queues: dict[QueueKey, ModelQueue] = field(default_factory=dict)
    _gates: dict[EndpointKey, AdaptiveLimit] = field(default_factory=dict)
    _ceilings: dict[EndpointKey, int] = field(default_factory=dict)
    """Ceilings of the gates while nothing is lent to this process."""
    _endpoints: dict[str, EndpointWatch] = field(default_factory=dict)
    _pacers: dict[tuple[EndpointKey, Rates], Pacer] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)
    _last: int = -1
    """Number of the turn that was given last."""
    _coming: dict[int, int] = field(default_factory=dict)
    """How many calls were woken and have not queued up yet, by the id of their gate."""
    _alarm: asyncio.TimerHandle | None = None
    _most: int = field(init=False, repr=False)
    """Its ceiling while nothing is lent to it."""

    def __post_init__(self) -> None:
        self._most = self.ceiling

    def queue_of(self, model: Model) -> ModelQueue:
        """Return the queue in which calls of a model wait.

        Models behind one address and key share a gate. Those of them that state the same rates
        share a pacer: it is their server's. Where each states its own, they are the models'.
        """
        place: EndpointKey = (model.endpoint, model.key_names)
        key: QueueKey = (*place, model.resolved, model.limits)
        if key not in self._queues:
            gate = None if model.is_offline else self._gate(place, model.limits.concurrency)
            rates: Rates = (model.limits.requests_per_minute, model.limits.tokens_per_minute)
            pacer = self._pacers.setdefault((place, rates), Pacer(*rates)) if any(rates) else None
            if self.loan:
                self.lend(self.loan)
            address = model.endpoint
            endpoint = EndpointWatch(address, self.patience_s, self.has_answered, self.on_outage)
            endpoint = self._endpoints.setdefault(address, endpoint)
            self._queues[key] = ModelQueue(gate, pacer, endpoint)
        return self._queues[key]

    def _gate(self, place: EndpointKey, limit: int | None) -> AdaptiveLimit:
        ceiling = min(self._most, limit or self._most)
        ceiling = min(self._ceilings.get(place, ceiling), ceiling)
        gate = self._gates.setdefault(place, AdaptiveLimit(ceiling))
        # Not by the gate's own, which may be what was lent to it a moment ago.
        gate.ceiling = self._ceilings[place] = ceiling
        return gate

    def lend(self, loan: LimitLoan) -> None:
        """Use so much of the shared limits from now on; what is under way beyond that ends."""
        self.loan = loan
        self.ceiling = loan.total
        for place, gate in self._gates.items():
            gate.ceiling = min(self._ceilings[place], loan.places.get(place, 0))
        for (place, rates), pacer in self._pacers.items():
            share = loan.rates.get(place, 1.0)
            pacer.requests, pacer.tokens = (rate and rate * share for rate in rates)
        self._serve()

    def wants(self) -> tuple[PlaceDemand, dict[EndpointKey, PlaceDemand]]:
        """Return how many places could be used at once, in all and at each endpoint with a gate."""
        waiting: Counter[EndpointKey] = Counter()
        for key, queue in self._queues.items():
            waiting[key[0], key[1]] += len(queue.waiting)
        of = {
            place: PlaceDemand(gate.under_way, waiting[place])
            for place, gate in self._gates.items()
        }
        return PlaceDemand(self.under_way, waiting.total()), of

    def close(self) -> None:
        """Let nobody in any more; those who wait go on waiting until they are cancelled."""
        self.is_closed = True

    @overload
    async def take(self, queue: ModelQueue, tokens: float, *, rank: int = 0) -> SendTurn: ...
    @overload
    async def take(
        self, queue: ModelQueue, tokens: float, *, rank: int = 0, prefix: CachePrefix | None
    ) -> SendTurn | CachePrefix: ...
    async def take(
        self,
        queue: ModelQueue,
        tokens: float,
        *,
        rank: int = 0,
        prefix: CachePrefix | None = None,
    ) -> SendTurn | CachePrefix:
        """Wait for a place and take it, before all of a higher rank; `give_back` must follow.

        Where another call leads its `prefix`, or comes to do so, that is returned and no place is
        taken.
        """
        if prefix is not None and prefix.is_led and not self.is_closed:
            return prefix
        loop = asyncio.get_running_loop()
        waiter = WaitingCall(rank, next(self._numbers), tokens, loop.create_future(), prefix)
        insort(queue.waiting, waiter)
        self._serve()
        if not waiter.admitted.done():
            self.on_waiting()
        try:
            return await waiter.admitted
        except asyncio.CancelledError:
            # Its turn may have come in the very step in which it was cancelled; a turn must not be
            # lost.
            if waiter.admitted.done() and not waiter.admitted.cancelled():
                turn = waiter.admitted.result()
                if isinstance(turn, SendTurn):
                    self.give_back(turn)
            elif waiter in queue.waiting:
                queue.waiting.remove(waiter)
            raise

    def give_back(self, turn: SendTurn) -> None:
        """Free a place and learn from how its call ended."""
        now_s = asyncio.get_running_loop().time()
        queue = turn.queue
        self.under_way -= 1
        if queue.gate and turn.sent:
            # For so long the server was not what took time.
            turn.sent.at_s += pulse().stood_still_s() - turn.stood_still_s
            queue.gate.leave(turn.sent, turn.outcome, now_s)
        if turn.outcome == "taken":
            queue.last_taken = max(queue.last_taken, turn.number)
        if turn.prefix is not None:
            turn.prefix.leave(turn, now_s, is_taken=turn.outcome == "taken")
        if queue.pacer and turn.started and turn.tokens is not None:
            queue.pacer.correct(turn.started, turn.tokens)
        turn.found_nobody = queue.endpoint.leave(
            turn.contact, now_s, is_look=turn.is_look, reason=turn.reason
        )
        self._serve()

    def opens_in(self, queue: ModelQueue) -> float:
        """Return the seconds until a queue's endpoint is looked at again; 0 while a call looks."""
        now_s = asyncio.get_running_loop().time()
        opens_s = queue.endpoint.opens_at(now_s)
        return opens_s - now_s if opens_s < math.inf else 0.0

    async def wait_out(self, queue: ModelQueue, pause_s: float, *, at_least_s: float) -> float:
        """Wait out a pause after a refusal and return its seconds.

        It ends early, though not before `at_least_s`, when the server has taken a later call of
        the same model and a place stands empty for which nobody else waits.
        """
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        call = PausedCall(self._last, began_s + at_least_s, loop.create_future())
        queue.paused.append(call)
        pause = asyncio.ensure_future(self.pause(pause_s))
        self._serve()
        try:
            await asyncio.wait({pause, call.woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            if call in queue.paused:
                queue.paused.remove(call)
            else:
                self._coming[id(queue.gate)] -= 1
        return pause_s if not call.woken.done() else round(loop.time() - began_s, 3)

    def _serve(self) -> None:
        """Give every free place to the first waiter that may go, and set an alarm for the next."""
        if self.is_closed:
            return
        now_s = asyncio.get_running_loop().time()
        while self.under_way < self.ceiling and (queue := self._next_queue(now_s)):
            waiter = queue.waiting.popleft()
            self._last = next(self._numbers)
            sent = queue.gate.enter(now_s) if queue.gate else None
            started = queue.pacer.start(waiter.tokens, now_s) if queue.pacer else None
            self.under_way += 1
            turn = SendTurn(self._last, queue, sent, started, queue.endpoint.enter())
            # Looked at anew, or a stop that no beat has seen yet would be put down to this turn.
            turn.stood_still_s = pulse().stood_still_s()
            turn.prefix = waiter.prefix
            waiter.admitted.set_result(turn)
            if turn.prefix is not None and turn.prefix.enter(turn, now_s):
                self._send_away(queue, turn.prefix)
        self._wake(now_s)
        self._set_alarm(now_s)

    def _send_away(self, queue: ModelQueue, prefix: CachePrefix) -> None:
        """Have those wait outside the queue whose prefix another call leads from now on."""
        led = [waiter for waiter in queue.waiting if waiter.prefix is prefix]
        if led:
            queue.waiting = deque(one for one in queue.waiting if one.prefix is not prefix)
        for waiter in led:
            # One that was cancelled a moment ago has not heard of it yet.
            if not waiter.admitted.done():
                waiter.admitted.set_result(prefix)

    def _next_queue(self, now_s: float) -> ModelQueue | None:
        found: ModelQueue | None = None
        for queue in self._queues.values():
            # One that was cancelled a moment ago has not heard of it yet.
            while queue.waiting and queue.waiting[0].admitted.done():
                queue.waiting.popleft()
            # Every queue is asked: a gate takes note that it kept somebody waiting.
            is_ready = queue.waiting and queue.ready_at(now_s) <= now_s
            if is_ready and (found is None or queue.waiting[0] < found.waiting[0]):
                found = queue
        return found

    def _wake(self, now_s: float) -> None:
        """Let paused calls go on whose places nobody else wants."""
        for queue in self._queues.values():
            if not queue.paused:
                continue
            # Only a call that was sent after a refusal and taken shows that there is room again.
            ready = [
                call
                for call in queue.paused
                if queue.last_taken > call.since and call.earliest_s <= now_s
            ]
            for call in ready:
                if not self._is_idle(queue):
                    break
                queue.paused.remove(call)
                self._coming[id(queue.gate)] = self._coming.get(id(queue.gate), 0) + 1
                call.woken.set_result(None)

    def _is_idle(self, queue: ModelQueue) -> bool:
        if not queue.paused or queue.gate is None or self.under_way >= self.ceiling:
            return False
        wanted = any(other.waiting for other in self._queues.values() if other.gate is queue.gate)
        # Who was woken has not queued up yet; uncounted, one free place would wake several.
        return not wanted and queue.gate.free > self._coming.get(id(queue.gate), 0)

    def _set_alarm(self, now_s: float) -> None:
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None
        times = list[float]()
        for queue in self._queues.values():
            if queue.waiting:
                times.append(queue.ready_at(now_s))
            if queue.paused:
                taken = queue.last_taken
                times += [call.earliest_s for call in queue.paused if taken > call.since]
        coming = [time_s for time_s in times if now_s < time_s < math.inf]
        if coming and self.under_way < self.ceiling:
            loop = asyncio.get_running_loop()
            # asyncio fires up to the resolution of its clock early; a hair later the call is ready
            # for sure.
            self._alarm = loop.call_at(min(coming) + 1e-6, self._serve)


@contextmanager
def giving_back(turns: Scheduler, turn: SendTurn) -> Iterator[SendTurn]:
    """Give a turn back when its try has ended in whatever way."""
    try:
        yield turn
    finally:
        turns.give_back(turn)
