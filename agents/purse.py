"""A cap on what a run spends: what a call may cost at most is set aside before it is sent.

Given true upper bounds the cap is never exceeded. Calls are let through in the order in which they
come; one that does not fit waits for those under way, since most cost less than they may.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

from agents.ask import Hold, Request
from agents.estimates import Estimates, may_be_charged
from agents.models import Model
from memory.records import CallRow

_NANO = 1_000_000_000


class Caps(NamedTuple):
    """How much may be spent on a run, over all its processes; None is no cap."""

    usd: float | None = None
    tokens: float | None = None
    """Input and output of remote models together."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self != Caps()


class Sum(NamedTuple):
    """Money in billionths of a dollar, since those add up exactly, and tokens."""

    nano: int = 0
    tokens: int = 0

    def plus(self, other: Sum) -> Sum:
        """Return both together."""
        return Sum(self.nano + other.nano, self.tokens + other.tokens)

    def minus(self, other: Sum) -> Sum:
        """Return what is left."""
        return Sum(self.nano - other.nano, self.tokens - other.tokens)


_NOTHING = Sum()


def summed(usd: float | None, tokens: int) -> Sum:
    """Return money and tokens as a sum, rounded up; an unknown cost is left out."""
    return Sum(math.ceil((usd or 0.0) * _NANO), tokens)


@dataclass(eq=False)
class Reserve:
    """What one call holds."""

    size: Sum
    let_through: asyncio.Future[bool] | None = None
    """Set while it waits."""


@dataclass
class CappedPurse:
    """A purse with a bottom. `spent` is what the run has come to before, in all its processes."""

    caps: Caps
    estimates: Estimates
    _: KW_ONLY
    spent: Sum = _NOTHING
    on_empty: Callable[[], None] | None = None
    """Called once, when the first call does not fit any more."""
    held: Sum = field(default=_NOTHING, init=False)
    is_empty: bool = field(default=False, init=False)
    """A call did not fit; since then none is let through."""
    _waiting: deque[Reserve] = field(default_factory=deque, init=False, repr=False)

    async def hold(self, model: Model, request: Request) -> Reserve | None:
        """Set aside what a call may cost at most; None where the cap is reached."""
        most = self.estimates.most(model, request)
        hold = Reserve(summed(most.usd, most.tokens))
        return hold if await self._take(hold) else None

    async def renew(self, hold: Hold, fault: str) -> bool:
        """Count what a failed try may have cost, and set as much aside for the next one."""
        if not may_be_charged(fault) or not isinstance(hold, Reserve):
            return True
        self.spent = self.spent.plus(hold.size)
        self._free(hold.size)
        again = Reserve(hold.size)
        hold.size = Sum()
        if not await self._take(again):
            return False
        hold.size = again.size
        return True

    def settle(self, hold: Hold, row: CallRow | None) -> None:
        """Count what a call did cost, or may have, and free what it held."""
        if not isinstance(hold, Reserve):
            raise TypeError("another purse gave out what is settled here")
        if row is not None:
            self.spent = self.spent.plus(_cost_of(row, hold.size))
        self._free(hold.size)
        hold.size = Sum()

    async def _take(self, hold: Reserve) -> bool:
        if not self._waiting and self._fits(hold.size):
            self.held = self.held.plus(hold.size)
            return True
        hold.let_through = asyncio.get_running_loop().create_future()
        self._waiting.append(hold)
        self._wake()
        try:
            return await hold.let_through
        except asyncio.CancelledError:
            self._leave(hold)
            raise

    def _leave(self, hold: Reserve) -> None:
        """Let go of a call that was cancelled while it waited, or just when it was let through."""
        if hold in self._waiting:
            self._waiting.remove(hold)
            self._wake()
        elif hold.let_through and not hold.let_through.cancelled() and hold.let_through.result():
            self._free(hold.size)

    def _free(self, size: Sum) -> None:
        self.held = self.held.minus(size)
        self._wake()

    def _wake(self) -> None:
        """Let through whoever is first in line, as long as there is enough."""
        while self._waiting:
            first = self._waiting[0]
            if first.let_through is None or first.let_through.done():
                self._waiting.popleft()
                continue
            size = first.size
            fits = self._fits(size)
            # Nothing that is under way can make room for it any more.
            if not self._under(self.spent.plus(size)):
                self._close()
            if not fits and not self.is_empty:
                return
            self._waiting.popleft()
            if fits:
                self.held = self.held.plus(size)
            first.let_through.set_result(fits)

    def _close(self) -> None:
        if not self.is_empty:
            self.is_empty = True
            if self.on_empty is not None:
                self.on_empty()

    def _fits(self, size: Sum) -> bool:
        return not self.is_empty and self._under(self.spent.plus(self.held).plus(size))

    def _under(self, total: Sum) -> bool:
        usd, tokens = self.caps
        # Not math.ceil: a cap is rounded the other way.
        has_money = usd is None or total.nano <= int(usd * _NANO)
        return has_money and (tokens is None or total.tokens <= tokens)


def _cost_of(row: CallRow, held: Sum) -> Sum:
    """Return what a finished call came to; what nobody says counts as all that was held."""
    usage = row.usage
    told = usage.input_tokens is not None and usage.output_tokens is not None
    if row.failure_kind is not None and not told and not may_be_charged(row.failure_kind):
        return Sum()
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0) if told else held.tokens
    money = held.nano if row.cost_usd is None else summed(row.cost_usd, 0).nano
    return Sum(money, tokens)
