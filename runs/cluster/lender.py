"""What workers of a cluster share: time to go on, places at endpoints, and the dollars of a cap.

All is lent for some seconds. A worker that says nothing for so long has nothing any more, and knows
it: its own clock ends the loan a little earlier, and it sends nothing after that. So what was lent
comes back by time alone, whoever died of whatever. The lender may die as well: in its next life it
lends nothing until all that it lent in the last one has run out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from videoautoarena.agents.limits.prices import MoneyAndTokens
from videoautoarena.agents.limits.rate_limit import MINUTE_S
from videoautoarena.agents.limits.scheduler import EndpointKey, LimitLoan, PlaceDemand
from videoautoarena.agents.transport.deadlines import boot_s
from videoautoarena.memory.records.records import Nonce
from videoautoarena.runs.cluster.budget import LenderBudget
from videoautoarena.runs.cluster.jobs import Grant, Lease, Roll, WorkerReport, WorkerStatus
from videoautoarena.runs.run.config.run_config import RunConfig

TICK_S = 0.5
GRACE = 1.2
"""A restarted lender lends nothing for so many leases, unless it hears of all workers earlier."""
NOTHING = PlaceDemand(0, 0)
NO_LOAN = LimitLoan(0, {}, {})


@dataclass(frozen=True)
class Limit:
    """What an endpoint takes from all workers together."""

    places: int
    is_rated: bool = False
    """Whether it has rates a minute, of which each worker keeps to a share."""
    is_scant: bool = False
    """Whether its rates are so low that only one worker may call it at a time."""


@dataclass
class _Worker:
    node: str
    enlisted_s: float
    until_s: float
    report: WorkerReport = field(default_factory=lambda: WorkerReport(NOTHING, {}, 0))
    loan: LimitLoan = NO_LOAN
    """The latest loan, of which it may not have heard yet."""
    total: int = 0
    """The most tries it may have under way, by that loan, the one before or its report."""
    places: dict[EndpointKey, int] = field(default_factory=dict)

    def take(self, loan: LimitLoan) -> None:
        """Note a new loan; the one before counts until the worker has heard of it."""
        before = self.loan
        self.loan = loan
        wants = self.report.places
        self.total = max(loan.total, before.total, self.report.total.under_way)
        for place in {*loan.places, *before.places, *wants}:
            under_way = wants.get(place, NOTHING).under_way
            lent = max(loan.places.get(place, 0), before.places.get(place, 0))
            self.places[place] = max(lent, under_way)


class Lender:
    """Lends what workers share; one that follows a dead one waits before it lends."""

    def __init__(
        self,
        path: str,
        config: RunConfig,
        *,
        concurrency: int,
        lease_s: float,
        limits: Mapping[EndpointKey, Limit] | None = None,
        newcomers_only: bool = False,
        clock: Callable[[], float] = boot_s,
    ) -> None:
        self.boot = uuid4().hex
        self._clock = clock
        self._lease_s = lease_s
        self._concurrency = concurrency
        # Given, where the variables of this process may name other addresses than the command's.
        self._limits = limits_in(config, concurrency) if limits is None else limits
        self._purse = LenderBudget(Path(path), config, newcomers_only=newcomers_only)
        self._workers: dict[str, _Worker] = {}
        self._gone: dict[str, str] = {}
        """Worker whose lease has run out to its node."""
        self._given_up: set[str] = set()
        # More than a lease: the last one may have been given right before the death.
        self._opens_s = clock() + GRACE * lease_s
        """When nothing that an earlier life lent can be in use any more."""
        self._is_open = False
        self._ticking: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Lend at once, since no earlier lender lent anything."""
        await self._open()

    async def enlist(self, worker: str, node: str) -> None:
        """Add a worker, whose first lease begins now."""
        now_s = self._clock()
        self._workers[worker] = one = _Worker(node, now_s, now_s + self._lease_s)
        one.report = one.report._replace(boot=self.boot)

    async def renew(self, worker: str, node: str, report: WorkerReport) -> Lease | None:
        """Lend to a worker for another lease; None if its lease has run out."""
        self._keep_ticking()
        now_s = self._clock()
        self._tick()
        # More time would let it play on beside the one that gets its videos.
        if worker in self._given_up:
            return None
        one = self._workers.get(worker)
        if one is None and worker not in self._gone and not self._is_open:
            # An earlier life lent to it.
            one = self._workers[worker] = _Worker(node, now_s, 0.0)
        if one is None:
            return None
        one.until_s = now_s + self._lease_s
        one.report = report
        self._tick()
        loan = self._lend(one) if self._is_open else NO_LOAN
        one.take(loan)
        return Lease(self._lease_s, loan, self.boot)

    async def roll(self, known: Iterable[str]) -> Roll:
        """Return the state of all workers; `known` are those that may still be at work."""
        self._keep_ticking()
        now_s = self._clock()
        if not self._is_open and set(known) <= self._workers.keys():
            # All that an earlier life may have lent to was heard of.
            self._opens_s = now_s
        self._tick()
        hands = [_hand(name, one, now_s, self._lease_s) for name, one in self._workers.items()]
        hands += [WorkerStatus(name, node, True, 0.0, 0, 0, 0) for name, node in self._gone.items()]
        reports = {name: one.report for name, one in self._workers.items()}
        lost = [report.lost for report in reports.values() if report.lost]
        return Roll(
            self.boot,
            tuple(hands),
            self._purse.is_empty or any(report.is_broke for report in reports.values()),
            lost[0] if lost else None,
            frozenset(name for name, report in reports.items() if report.is_drained),
        )

    async def is_gone(self, worker: str) -> bool:
        """Give a worker up, and return whether its lease has run out: then it does nothing more.

        It may be alive and well, and out of the head's reach alone: it is given no more time.
        """
        self._given_up.add(worker)
        self._tick()
        # A lender that is open has heard of all who live.
        return worker in self._gone or (self._is_open and worker not in self._workers)

    async def hold(
        self, worker: str, number: int, nonce: Nonce, size: MoneyAndTokens
    ) -> Grant | None:
        """Set the dollars and tokens of a call aside; None if the cap is reached."""
        await self._until_open()
        if worker not in self._workers:
            # It was given up while it waited; whoever is alive was heard of by now.
            return None
        place = await self._purse.hold((worker, number), nonce, size)
        return None if place is None else Grant(place, self.boot)

    async def pay(
        self, worker: str, number: int, step: int, cost: MoneyAndTokens, size: MoneyAndTokens
    ) -> bool:
        """Count the cost of a try, and set `size` aside for the next; False at the cap."""
        return await self._purse.pay((worker, number), step, cost, size)

    async def settle(self, worker: str, number: int, cost: MoneyAndTokens) -> None:
        """Count the final cost of a call, and free the rest."""
        self._purse.settle((worker, number), cost)

    async def needed(self) -> MoneyAndTokens:
        """Return the least cap under which the call that did not fit would fit."""
        return self._purse.needed

    async def _until_open(self) -> None:
        while not self._is_open:
            await asyncio.sleep(TICK_S / 5)
            self._tick()
            self._raise_what_failed()

    def _keep_ticking(self) -> None:
        if self._ticking is None:
            self._ticking = asyncio.get_running_loop().create_task(self._go_on_ticking())
        self._raise_what_failed()

    def _raise_what_failed(self) -> None:
        for task in (self._ticking, self._opening):
            if task is not None and task.done() and not task.cancelled():
                task.result()

    async def _go_on_ticking(self) -> None:
        while True:
            self._tick()
            if self._is_open:
                self._purse.look()
            await asyncio.sleep(TICK_S)

    def _tick(self) -> None:
        now_s = self._clock()
        for name in [name for name, one in self._workers.items() if one.until_s < now_s]:
            self._gone[name] = self._workers.pop(name).node
            self._purse.release(name)
        is_due = not self._is_open and self._opening is None and now_s >= self._opens_s
        if is_due and self._has_all():
            self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        # Of a large run it takes a while, in which workers are to hear that they may go on.
        await asyncio.to_thread(self._purse.open)
        self._is_open = True

    def _has_all(self) -> bool:
        """Return whether every try that was not lent by this life stands in the file.

        A worker goes on with what it was lent until it hears of a new life; what it announces
        after the file was read would be spent beside the cap.
        """
        return all(one.report.boot == self.boot for one in self._workers.values())

    def _lend(self, worker: _Worker) -> LimitLoan:
        others = [one for one in self._workers.values() if one is not worker]
        total = shared(
            self._concurrency,
            worker.report.total,
            wants=[one.report.total for one in others],
            held=sum(one.total for one in others),
        )
        places = {}
        for place, limit in self._limits.items():
            places[place] = shared(
                self._open_places(limit, worker),
                worker.report.places.get(place, NOTHING),
                wants=[one.report.places.get(place, NOTHING) for one in others],
                held=sum(one.places.get(place, 0) for one in others),
                # Whoever has one of an endpoint that is one worker's alone keeps all others out.
                ahead=0 if limit.is_scant else 1,
            )
            if limit.is_scant and any(one.places.get(place) for one in others):
                places[place] = 0
        rated = (place for place, limit in self._limits.items() if limit.is_rated)
        share = 1.0 / len(self._workers)
        return LimitLoan(
            total,
            places,
            {place: 1.0 if self._limits[place].is_scant else share for place in rated},
        )

    def _open_places(self, limit: Limit, worker: _Worker) -> int:
        """Return the places of an endpoint; none for a minute if it has rates and a worker is new.

        What others sent in that minute, by the larger shares that they had, still counts there.
        """
        now_s = self._clock()
        first_s = min(one.enlisted_s for one in self._workers.values())
        is_late = worker.enlisted_s > first_s + self._lease_s
        is_new = is_late and now_s < worker.enlisted_s + MINUTE_S
        return 0 if limit.is_rated and is_new else limit.places


def shared(
    capacity: int, mine: PlaceDemand, *, wants: Iterable[PlaceDemand], held: int, ahead: int = 1
) -> int:
    """Return how much of a capacity one of several workers gets, of what others do not hold.

    Whoever wants less than an equal part leaves the rest to the others (max-min fairness). Where
    there is enough for all, each gets one `ahead`, so that nobody has to ask before it begins.
    """
    others = [one.under_way + one.waiting for one in wants]
    want = mine.under_way + mine.waiting
    if sum(others) + want + len(others) < capacity:
        want += ahead
    left = capacity
    fair = 0
    # Among equals the one who asks comes last, and gets what cannot be parted evenly.
    for rank, one in enumerate(sorted([*others, want])):
        part = left // (len(others) + 1 - rank)
        if one == want:
            fair = min(want, part)
        left -= min(one, part)
    return max(0, min(fair, capacity - held))


def limits_in(config: RunConfig, concurrency: int) -> Mapping[EndpointKey, Limit]:
    """Return what the endpoints of a run take, by its settings."""
    found: dict[EndpointKey, Limit] = {}
    for alias in config.cast:
        model = config.model_of(alias)
        if model.is_offline:
            continue
        place = (model.endpoint, model.key_names)
        rates = [model.limits.requests_per_minute, model.limits.tokens_per_minute]
        most = min(concurrency, model.limits.concurrency or concurrency)
        before = found.get(place, Limit(most))
        scant = rates[0] is not None and rates[0] < MINUTE_S
        found[place] = Limit(
            min(before.places, most),
            before.is_rated or any(rates),
            before.is_scant or scant,
        )
    return found


def _hand(name: str, one: _Worker, now_s: float, lease_s: float) -> WorkerStatus:
    silent_s = now_s - (one.until_s - lease_s)
    total = one.report.total
    return WorkerStatus(
        name, one.node, False, silent_s, total.under_way, total.waiting, one.report.calls
    )
