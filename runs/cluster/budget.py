"""The money of a run with a cap, for many workers: one budget, by the run's own file.

A worker asks the lender for every dollar before it is spent. What a dead worker held may have been
spent: where the file says that a try was about to be sent, it counts as spent in full; where it
does not, nothing was sent and it is free again. After a death of the lender all of it follows from
the file: every try stands there before it is sent.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from videoautoarena.agents.limits.budget import CallReserve, CappedBudget, cost_of_try
from videoautoarena.agents.limits.estimates import Estimates, may_be_charged, stands_apart
from videoautoarena.agents.limits.prices import NOTHING, MoneyAndTokens, SpendCap, SpendHold, summed
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.records import Attempt, CallRow, Intent, Nonce
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.fence import RemoteCall
from videoautoarena.runs.cluster.jobs import Grant
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import kept_rule
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.tournament.forecast import spend_order_of

Who = tuple[str, int]
"""A worker, and its number for one call."""


@dataclass
class _Held:
    """What is set aside for a call."""

    nonce: Nonce
    reserve: CallReserve
    granted: asyncio.Future[bool]
    step: int = 0
    """The number of the latest payment for it; a repeated message has the same one."""


class _Flying(NamedTuple):
    """Tries of one call that an earlier lender lent to, and that may be under way."""

    size: MoneyAndTokens
    """The most that they may cost together."""
    left_over: int
    """How many earlier tries of it are lost: nobody waits for their replies."""


class LenderBudget:
    """The budget of a run; lends nothing before it was opened."""

    def __init__(self, path: Path, config: RunConfig, *, newcomers_only: bool = False) -> None:
        self._path = path
        self._config = config
        self._newcomers_only = newcomers_only
        self._budget: CappedBudget | None = None
        self._held: dict[Who, _Held] = {}
        self._flying: dict[str, _Flying] = {}
        """Key of a call to its tries from before this life that have not come back."""
        self._place = 0

    @property
    def is_empty(self) -> bool:
        """Whether a call did not fit."""
        return self._budget is not None and self._budget.is_empty

    @property
    def needed(self) -> MoneyAndTokens:
        """The least cap under which that call would fit."""
        return self._budget.needed if self._budget else NOTHING

    def open(self) -> None:
        """Read from the file what was spent, and what tries under way may spend."""
        # Read as of one moment: a try that ends between two reads would count twice or not at all.
        with self._reading() as store, store.of_one_moment():
            if store.manifest().get("bench") is not None:
                budget = Budget.of(store, self._config)
            else:
                in_waves = kept_rule(store).rule is not None or self._config.pairing == "mix"
                order = partial(
                    spend_order_of,
                    self._config,
                    store,
                    in_waves=in_waves,
                    newcomers_only=self._newcomers_only,
                )
                budget = Budget.of(store, self._config, spend_order=order)
            if not isinstance(budget.spend_cap, CappedBudget):
                return
            self._budget = budget.spend_cap
            self._place = store.last_settled()
            tries = store.journal.intents()
            left_over = Counter(one.key for one in tries if one.is_left_over)
            for intent in tries:
                if not intent.is_left_over:
                    self._fly(intent, left_over[intent.key])

    def _fly(self, intent: Intent, left_over: int) -> None:
        if self._budget is None:
            return
        size = summed(intent.usd, intent.tokens)
        # It stands in what was spent so far, and is no more than held.
        before = self._flying.get(intent.key, _Flying(NOTHING, left_over))
        self._flying[intent.key] = before._replace(size=before.size.plus(size))
        self._budget.spent = self._budget.spent.minus(size)
        self._budget.held = self._budget.held.plus(size)

    async def hold(self, who: Who, nonce: Nonce, size: MoneyAndTokens) -> int | None:
        """Set an amount aside; return the place of its battle once it fits, None at the cap."""
        budget = self._budget
        if budget is None:
            return 0
        # A worker asks again where the answer was lost; the hold it has waits on and is not
        # doubled.
        held = self._held.get(who)
        if held is None:
            reserve = CallReserve(size, budget.rank(nonce))
            granted = asyncio.ensure_future(budget.take(reserve))
            held = self._held[who] = _Held(nonce, reserve, granted)
        # Shielded: a request that is cut off must not cancel the hold, which is asked for again.
        if await asyncio.shield(held.granted):
            return held.reserve.place
        self._held.pop(who, None)
        return None

    async def pay(self, who: Who, step: int, cost: MoneyAndTokens, size: MoneyAndTokens) -> bool:
        """Count what a try cost and set aside for another; once for each `step`, from 1."""
        budget = self._budget
        held = self._held.get(who)
        if budget is None or held is None:
            return True
        # A repeated message has the same step, and counts once.
        if step > held.step:
            held.step = step
            reserve = held.reserve
            budget.spend(reserve, cost)
            held.granted = asyncio.ensure_future(budget.retake(reserve, size))
        return await asyncio.shield(held.granted)

    def settle(self, who: Who, cost: MoneyAndTokens) -> None:
        """Count the final cost of a call; one not known here was counted from the file."""
        held = self._held.pop(who, None)
        if held is None or self._budget is None:
            return
        # The try that it waits for money for was not sent, and earlier ones are counted.
        if not held.granted.done():
            held.granted.cancel()
            return
        if not held.granted.cancelled() and held.granted.result():
            self._budget.spend(held.reserve, cost)

    def release(self, worker: str) -> None:
        """Settle all that a dead worker held, by what the file says of each call."""
        # An intent without a reply may be on the bill: its cost stays all that was held.
        mine = {who: held for who, held in self._held.items() if who[0] == worker}
        if not mine:
            return
        with self._reading() as store:
            open_ = {_where(one.nonce) for one in store.journal.intents()}
            for who, held in mine.items():
                cost = held.reserve.size
                if _where(held.nonce) not in open_:
                    rows = store.journal.calls(held.nonce.scope)
                    row = next((row for row in rows if row.nonce == held.nonce), None)
                    cost = cost_of_call(row, cost) if row else NOTHING
                self.settle(who, cost)

    def look(self) -> None:
        """Read from the file which battles have ended, and how tries of earlier lives ended."""
        budget = self._budget
        if budget is None:
            return
        with self._reading() as store, store.of_one_moment():
            place, ended = store.settled_after(self._place)
            costs = dict(self._landed(store)) if self._flying else {}
        self._place = place
        for id_ in ended:
            budget.end(base_of(id_))
        for key, cost in costs.items():
            budget.spend(CallReserve(self._flying.pop(key).size), cost)

    def _landed(self, store: Store) -> Iterator[tuple[str, MoneyAndTokens]]:
        """Yield the costs of tries from before this life that have ended, by the key of their call.

        One that was left over counts in full, though its call is made again by now: that is paid
        for by another hold.
        """
        tries = store.journal.intents()
        left_over = Counter(one.key for one in tries if one.is_left_over)
        flying = {one.key for one in tries if not one.is_left_over}
        for key, tried in self._flying.items():
            if left_over[key] > tried.left_over:
                yield key, tried.size
            elif key not in flying:
                row = store.journal.find(key)
                yield key, cost_of_call(row, tried.size) if row else NOTHING

    @contextmanager
    def _reading(self) -> Iterator[Store]:
        with Store.open(self._path, write=False) as store:
            yield store


def cost_of_call(row: CallRow, held: MoneyAndTokens) -> MoneyAndTokens:
    """Return the cost of all tries of a finished call; an unknown one counts as all held."""
    cost = cost_of_try(row, held)
    for attempt in row.attempts:
        if may_be_charged(attempt.kind) and not stands_apart(attempt.kind):
            cost = cost.plus(cost_of_try(attempt, held))
    return cost


def _where(nonce: Nonce) -> tuple[str, str, int, int]:
    return (nonce.scope, nonce.role, nonce.generation, nonce.ordinal)


@dataclass(eq=False)
class CallHold:
    """What one call of a worker holds of the run's budget."""

    number: int
    nonce: Nonce
    size: MoneyAndTokens
    boot: str | None
    """The life of the lender that has set it aside; None while nothing is."""
    step: int = 0


@dataclass
class WorkerBudget(SpendCap):
    """The budget of a run as a worker sees it: every amount is asked of the lender."""

    ask: RemoteCall
    worker: str
    estimates: Estimates
    boot: str = ""
    """The present life of the lender; amounts lent by an earlier one are requested again."""
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _places: dict[str, int] = field(default_factory=dict)
    """Scope of a call to the place of its battle in the order of spending."""
    _settling: set[asyncio.Task[None]] = field(default_factory=set)

    async def hold(self, model: Model, request: Request) -> CallHold | None:
        """Wait until what a call may cost at most is set aside; None: the cap is reached."""
        lent = CallHold(next(self._numbers), request.nonce, self._most(model, request), self.boot)
        return lent if await self._take(lent) else None

    async def _take(self, lent: CallHold) -> bool:
        lent.step = 0
        granted: Grant | None
        granted = await self.ask("hold", self.worker, lent.number, lent.nonce, lent.size)
        if granted is None:
            return False
        # A lender that died meanwhile has a successor, which may not have been heard of yet.
        self.boot = lent.boot = granted.boot
        self._places[lent.nonce.scope] = granted.place
        return True

    def _most(self, model: Model, request: Request) -> MoneyAndTokens:
        most = self.estimates.most(model, request)
        return summed(most.usd, most.tokens)

    async def renew(self, hold: SpendHold, attempt: Attempt) -> bool:
        """Count a try's cost, and wait until as much is set aside for the next; False: the cap."""
        lent = _lent(hold)
        if not may_be_charged(attempt.kind):
            return True
        return await self._pay(lent, cost_of_try(attempt, lent.size), lent.size)

    def is_enough(self, hold: SpendHold, model: Model, request: Request) -> bool:
        """Return whether a call may be sent with what is set aside, as far as is known now."""
        lent = _lent(hold)
        # It was suspended, or set aside by an earlier life, of which the present one knows nothing.
        if lent.boot != self.boot:
            return False
        if not self.estimates.is_overrun(model, request):
            return True
        most = self._most(model, request)
        return most.nano <= lent.size.nano and most.tokens <= lent.size.tokens

    async def enlarge(self, hold: SpendHold, model: Model, request: Request) -> bool:
        """Set aside what a call may cost by what is known now; waits and ends like `renew`."""
        lent = _lent(hold)
        most = self._most(model, request)
        if lent.boot != self.boot:
            lent.number = next(self._numbers)
            lent.size = most
            return await self._take(lent)
        return await self._pay(lent, NOTHING, most)

    async def _pay(self, lent: CallHold, cost: MoneyAndTokens, size: MoneyAndTokens) -> bool:
        lent.step += 1
        lent.size = size
        paid: bool = await self.ask("pay", self.worker, lent.number, lent.step, cost, size)
        return paid

    def suspend(self, hold: SpendHold) -> None:
        self.settle(hold, None)
        _lent(hold).boot = None

    def settle(self, hold: SpendHold, row: CallRow | None) -> None:
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
        """Return the rank of a call: lower ones go first, equal ones in order of arrival."""
        return self._places.get(nonce.scope, 0)


def _lent(hold: SpendHold) -> CallHold:
    if not isinstance(hold, CallHold):
        raise TypeError("another cap gave out what is settled here")
    return hold
