"""A worker's part of the run's budget: every dollar is asked of the lender before it is spent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count

from videoautoarena.agents.limits.budget import cost_of_try
from videoautoarena.agents.limits.estimates import Estimates, may_be_charged
from videoautoarena.agents.limits.prices import NOTHING, Hold, Sum, summed
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce
from videoautoarena.runs.cluster.fence import Ask
from videoautoarena.runs.cluster.jobs import Grant


@dataclass(eq=False)
class Lent:
    """What one call holds of the run's budget."""

    number: int
    nonce: Nonce
    size: Sum
    boot: str
    """Which life of the lender has set it aside."""
    step: int = 0


@dataclass
class LentBudget:
    """The budget of a whole run, of which the lender has the books; see `agents/limits/budget`."""

    ask: Ask
    worker: str
    estimates: Estimates
    boot: str = ""
    """The lender's present life; what an earlier one has lent is asked for again."""
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _places: dict[str, int] = field(default_factory=dict)
    """Scope of a call to the place of the battle it is made for."""
    _settling: set[asyncio.Task[None]] = field(default_factory=set)

    async def hold(self, model: Model, request: Request) -> Lent | None:
        """Wait until what a call may cost at most is set aside; None: the cap is reached."""
        lent = Lent(next(self._numbers), request.nonce, self._most(model, request), self.boot)
        return lent if await self._take(lent) else None

    async def _take(self, lent: Lent) -> bool:
        lent.step = 0
        granted: Grant | None
        granted = await self.ask("hold", self.worker, lent.number, lent.nonce, lent.size)
        if granted is None:
            return False
        # A lender that died meanwhile has a successor, which may not have been heard of yet.
        self.boot = lent.boot = granted.boot
        self._places[lent.nonce.scope] = granted.place
        return True

    def _most(self, model: Model, request: Request) -> Sum:
        most = self.estimates.most(model, request)
        return summed(most.usd, most.tokens)

    async def renew(self, hold: Hold, attempt: Attempt) -> bool:
        """Count a try's cost, and wait until as much is set aside for the next; False: the cap."""
        lent = _lent(hold)
        if not may_be_charged(attempt.kind):
            return True
        return await self._pay(lent, cost_of_try(attempt, lent.size), lent.size)

    def is_enough(self, hold: Hold, model: Model, request: Request) -> bool:
        """Return whether a call may be sent with what is set aside, as far as is known now."""
        lent = _lent(hold)
        if lent.boot != self.boot:
            return False
        if not self.estimates.is_overrun(model, request):
            return True
        most = self._most(model, request)
        return most.nano <= lent.size.nano and most.tokens <= lent.size.tokens

    async def enlarge(self, hold: Hold, model: Model, request: Request) -> bool:
        """Set aside what a call may cost by what is known now; waits and ends like `renew`."""
        lent = _lent(hold)
        most = self._most(model, request)
        if lent.boot != self.boot:
            lent.number = next(self._numbers)
            lent.size = most
            return await self._take(lent)
        return await self._pay(lent, NOTHING, most)

    async def _pay(self, lent: Lent, cost: Sum, size: Sum) -> bool:
        lent.step += 1
        lent.size = size
        paid: bool = await self.ask("pay", self.worker, lent.number, lent.step, cost, size)
        return paid

    def settle(self, hold: Hold, row: CallRow | None) -> None:
        """Take what a call did cost and free the rest; None: it was never sent, or cut off."""
        lent = _lent(hold)
        if lent.boot != self.boot:
            # The lender has read from the file what its earlier life had lent.
            return
        cost = cost_of_try(row, lent.size) if row is not None else NOTHING
        telling = asyncio.ensure_future(self.ask("settle", self.worker, lent.number, cost))
        self._settling.add(telling)
        telling.add_done_callback(self._settling.discard)

    def rank(self, nonce: Nonce) -> int:
        """Return which calls go first: those of a lower rank, and of equal ones who came first."""
        return self._places.get(nonce.scope, 0)


def _lent(hold: Hold) -> Lent:
    if not isinstance(hold, Lent):
        raise TypeError("another cap gave out what is settled here")
    return hold
