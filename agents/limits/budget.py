"""A cap on what a run spends, and in which order it is spent.

Nobody wants a cap's worth of questions without answers. A battle is begun only when what is left
would also pay for all that stand before it, and for the rest of those that are begun.

Given true upper bounds the cap is never exceeded. Calls of the first battles are let through first,
else in the order in which they come; one that does not fit waits for those under way, since most
cost less than they may.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates, may_be_charged
from videoautoarena.agents.limits.prices import (
    NANO,
    NOTHING,
    REFUSED,
    MoneyAndTokens,
    SpendCap,
    SpendHold,
    summed,
)
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce

ENOUGH = 3
"""Battles that must have ended before the dearest of them stands for the cost of any."""


@dataclass
class SpendOrder:
    """The battles that are left, in their order, and what was spent on each that is begun."""

    places: Mapping[str, int]
    """Scope of a call to the place of the battle it is made for; from 0 on, without gaps."""
    likely: MoneyAndTokens
    """Expected cost of a battle, before any has ended."""
    begun: dict[int, MoneyAndTokens] = field(default_factory=dict, init=False)
    """What was spent on each battle under way, by its place."""
    _ended: array[int] = field(default_factory=lambda: array("i"), init=False, repr=False)
    _dearest: MoneyAndTokens = field(default=NOTHING, init=False)
    _paid_for: int = field(default=0, init=False)
    """Battles that cost something and have ended."""

    def place(self, scope: str) -> int:
        """Return the place of the battle that a call is made for; -1, before all, where unknown."""
        return self.places.get(scope, -1)

    def is_new(self, place: int) -> bool:
        """Return whether nothing was let through yet for the battle in a place."""
        return place >= 0 and place not in self.begun and not self._has_ended(place)

    def begin(self, place: int) -> None:
        if self.is_new(place):
            self.begun[place] = NOTHING

    def pay(self, place: int, cost: MoneyAndTokens) -> None:
        """Count what a call of a battle cost."""
        if place in self.begun:
            self.begun[place] = self.begun[place].plus(cost)

    def end(self, scope: str) -> None:
        """Take note that a battle is settled."""
        place = self.place(scope)
        if place < 0 or self._has_ended(place):
            return
        insort(self._ended, place)
        cost = self.begun.pop(place, NOTHING)
        if cost != NOTHING:
            self._paid_for += 1
            self._dearest = self._dearest.most(cost)

    def need(self, place: int, size: MoneyAndTokens) -> MoneyAndTokens:
        """Return what must be left for a new battle, all before it, and those begun behind it."""
        is_known = self._paid_for >= ENOUGH
        each = self._dearest if is_known else self._dearest.most(self.likely)
        # Places have no gaps, so the battles before this one are counted without being looked at.
        before = place - bisect_left(self._ended, place)
        behind = sum(other > place for other in self.begun)
        paid = NOTHING
        for spent in self.begun.values():
            paid = paid.plus(spent.least(each))
        return each.times(before + behind).minus(paid).plus(each.most(size))

    def _has_ended(self, place: int) -> bool:
        found = bisect_left(self._ended, place)
        return found < len(self._ended) and self._ended[found] == place


@dataclass(eq=False)
class CallReserve:
    """What is set aside for one call."""

    size: MoneyAndTokens
    place: int = 0
    """Place of the battle that the call is made for."""
    let_through: asyncio.Future[bool] | None = None
    is_suspended: bool = False
    """Nothing is set aside while the call waits for another one."""


@dataclass
class CappedBudget(SpendCap):
    """A cap on spending. `spent` is what the run has cost before, in all its processes."""

    caps: SpendCaps
    estimates: Estimates
    _: KW_ONLY
    spent: MoneyAndTokens = NOTHING
    spend_order: SpendOrder | None = None
    """Which battles come first; None lets calls through as they come."""
    on_empty: Callable[[], None] | None = None
    """Called once, when the first call does not fit any more."""
    held: MoneyAndTokens = field(default=NOTHING, init=False)
    is_empty: bool = field(default=False, init=False)
    """A call did not fit; since then none is let through."""
    _refused: MoneyAndTokens = field(default=NOTHING, init=False, repr=False)
    """The most that the first call which did not fit may have cost."""
    _waiting: list[CallReserve] = field(default_factory=list, init=False, repr=False)

    @property
    def needed(self) -> MoneyAndTokens:
        """The least cap that would let the call through which did not fit."""
        return self.spent.plus(self._refused)

    async def hold(self, model: Model, request: Request) -> CallReserve | None:
        """Set aside what a call may cost at most; None if the cap is reached."""
        hold = CallReserve(self._most(model, request), self.rank(request.nonce))
        return hold if await self.take(hold) else None

    def reserve(self, size: MoneyAndTokens) -> CallReserve:
        """Set aside what counts as spent so far, since its reply may still come."""
        self.spent = self.spent.minus(size)
        self.held = self.held.plus(size)
        return CallReserve(size)

    @property
    def holds_all(self) -> bool:
        """Whether the cap holds what was spent and what is set aside."""
        return self._under(self.spent.plus(self.held))

    def _most(self, model: Model, request: Request) -> MoneyAndTokens:
        most = self.estimates.most(model, request)
        return summed(most.usd, most.tokens)

    async def renew(self, hold: SpendHold, attempt: Attempt) -> bool:
        """Count what a failed try cost, or may have, and set as much aside for the next one."""
        if not may_be_charged(attempt.kind) or not isinstance(hold, CallReserve):
            return True
        size = hold.size
        self.spend(hold, cost_of_try(attempt, size))
        return await self.retake(hold, size)

    def is_enough(self, hold: SpendHold, model: Model, request: Request) -> bool:
        """Return whether enough is set aside for a call, by what is known of its server now."""
        if not isinstance(hold, CallReserve):
            return True
        if hold.is_suspended:
            return False
        if not self.estimates.is_overrun(model, request):
            return True
        size = self._most(model, request)
        return size.nano <= hold.size.nano and size.tokens <= hold.size.tokens

    async def enlarge(self, hold: SpendHold, model: Model, request: Request) -> bool:
        """Set aside what a call may cost by what is known now, in place of what was."""
        if not isinstance(hold, CallReserve):
            return True
        most = self._most(model, request)
        held = hold.size
        # Freed before it waits: calls that kept what they hold might wait for each other for ever.
        hold.size = MoneyAndTokens()
        self.free(held)
        return await self.retake(hold, most)

    async def retake(self, hold: CallReserve, size: MoneyAndTokens) -> bool:
        """Set aside so much for a call that holds nothing; False if the cap is reached."""
        hold.size = MoneyAndTokens()
        again = CallReserve(size, hold.place)
        if not await self.take(again):
            return False
        hold.size = again.size
        hold.is_suspended = False
        return True

    def suspend(self, hold: SpendHold) -> None:
        if isinstance(hold, CallReserve):
            held = hold.size
            hold.size = NOTHING
            hold.is_suspended = True
            self.free(held)

    def settle(self, hold: SpendHold, row: CallRow | None) -> None:
        """Count what a call did cost, or may have, and free what it held."""
        if not isinstance(hold, CallReserve):
            raise TypeError("another cap gave out what is settled here")
        self.spend(hold, cost_of_try(row, hold.size) if row is not None else NOTHING)
        hold.size = MoneyAndTokens()

    def lose(self, hold: SpendHold) -> None:
        if isinstance(hold, CallReserve):
            self.spend(hold, hold.size)
            hold.size = MoneyAndTokens()

    def rank(self, nonce: Nonce) -> int:
        return self.spend_order.place(nonce.scope) if self.spend_order else 0

    def end(self, scope: str) -> None:
        """Take note that the battle in whose scope calls were made is settled."""
        if self.spend_order:
            self.spend_order.end(scope)
            self._wake()

    def spend(self, hold: CallReserve, cost: MoneyAndTokens) -> None:
        """Count what a try cost, and free what was held for it."""
        self.spent = self.spent.plus(cost)
        if self.spend_order:
            self.spend_order.pay(hold.place, cost)
        self.free(hold.size)

    async def take(self, hold: CallReserve) -> bool:
        """Set aside what a call may cost, once that fits; False if the cap is reached."""
        hold.let_through = asyncio.get_running_loop().create_future()
        self._waiting.append(hold)
        self._wake()
        try:
            return await hold.let_through
        except asyncio.CancelledError:
            # While it waited, or just when it was let through.
            if hold in self._waiting:
                self._waiting.remove(hold)
                self._wake()
            elif not hold.let_through.cancelled() and hold.let_through.result():
                self.free(hold.size)
            raise

    def free(self, size: MoneyAndTokens) -> None:
        """Let others have what was held and will not be spent."""
        self.held = self.held.minus(size)
        self._wake()

    def _wake(self) -> None:
        while first := self._first():
            # Its caller was cancelled a moment ago and has not heard of it yet.
            if first.let_through is None or first.let_through.done():
                self._waiting.remove(first)
                continue
            if not self.is_empty and self._comes_too_early(first):
                return
            # Nothing that is under way can make room for it any more.
            if not self.is_empty and not self._under(self.spent.plus(first.size)):
                self.is_empty = True
                self._refused = first.size
                if self.on_empty is not None:
                    self.on_empty()
            fits = not self.is_empty and self._under(self.spent.plus(self.held).plus(first.size))
            if not fits and not self.is_empty:
                return
            self._waiting.remove(first)
            if fits:
                self.held = self.held.plus(first.size)
                if self.spend_order:
                    self.spend_order.begin(first.place)
            first.let_through.set_result(fits)

    def _first(self) -> CallReserve | None:
        """Return the call served next: one of a battle that is begun, else of the earliest one."""
        spend_order = self.spend_order
        if spend_order is None:
            return next(iter(self._waiting), None)
        return min(
            self._waiting, key=lambda r: (spend_order.is_new(r.place), r.place), default=None
        )

    def _comes_too_early(self, hold: CallReserve) -> bool:
        """Return whether a call would begin a battle with money that others need."""
        spend_order = self.spend_order
        if spend_order is None or not spend_order.is_new(hold.place):
            return False
        # Where no earlier one is begun, nobody else may end and make room: those behind may wait
        # for this battle, whose result says who meets in them.
        if not any(other < hold.place for other in spend_order.begun):
            return False
        return not self._under(self.spent.plus(spend_order.need(hold.place, hold.size)))

    def _under(self, total: MoneyAndTokens) -> bool:
        usd, tokens = self.caps
        # Not math.ceil: a cap is rounded the other way.
        has_money = usd is None or total.nano <= int(usd * NANO)
        return has_money and (tokens is None or total.tokens <= tokens)


def cost_of_try(row: CallRow | Attempt, held: MoneyAndTokens) -> MoneyAndTokens:
    """Return what one try cost; what nobody states counts as all that was held for it."""
    tokens = row.usage.total
    # Not by the kind: a filter that refuses costs nothing, one that ends a reply may cost all.
    if tokens is None and isinstance(row, CallRow) and row.cost_from == REFUSED:
        return MoneyAndTokens()
    money = held.nano if row.cost_usd is None else summed(row.cost_usd, 0).nano
    return MoneyAndTokens(money, held.tokens if tokens is None else tokens)
