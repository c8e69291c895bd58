"""A worker's part of the run's budget, and what becomes of it when the lender dies."""

from __future__ import annotations

import asyncio
from typing import Any

from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.prices import MoneyAndTokens
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.records import Attempt, Nonce, Price
from videoautoarena.runs.cluster.budget import WorkerBudget
from videoautoarena.runs.cluster.jobs import Grant

PRICE = Price(input_usd=1.0, output_usd=1.0, source="own")
MODEL = Model(alias="far", model="openai:far", base_url="http://far/v1", price=PRICE)
NONCE = Nonce(scope="v-p1-r0", role="judge", ordinal=2)
REQUEST = Request(role="judge", text="?", frames=None, nonce=NONCE, prompt="p")


class Books:
    """Stands for a lender: what it has set aside, in the life that it is in."""

    def __init__(self) -> None:
        self.boot = "first"
        self.held = dict[int, MoneyAndTokens]()
        self.settled: list[int] = []
        self.paid: list[tuple[int, MoneyAndTokens, MoneyAndTokens]] = []
        """Step, cost, and what is set aside for the next try."""

    def die(self) -> None:
        self.boot = "second"
        self.held = {}

    async def __call__(self, method: str, _worker: str, number: int, *values: Any) -> Any:
        if method == "hold":
            self.held[number] = values[1]
            return Grant(0, self.boot)
        if method == "pay":
            self.paid.append(values)  # type: ignore[arg-type]
        if method == "settle":
            self.settled.append(number)
            self.held.pop(number, None)
        return True


def test_what_a_dead_lender_had_set_aside_is_asked_for_again_and_once() -> None:
    async def live() -> None:
        books = Books()
        budget = WorkerBudget(books, "w", Estimates())
        hold = await budget.hold(MODEL, REQUEST)
        assert hold is not None
        assert budget.is_enough(hold, MODEL, REQUEST)
        books.die()
        budget.boot = "second"
        assert not budget.is_enough(hold, MODEL, REQUEST)
        assert await budget.enlarge(hold, MODEL, REQUEST)
        assert budget.is_enough(hold, MODEL, REQUEST)
        assert len(books.held) == 1

    asyncio.run(live())


def test_what_a_call_frees_while_it_waits_for_another_is_asked_for_again_once() -> None:
    async def live() -> None:
        books = Books()
        budget = WorkerBudget(books, "w", Estimates())
        hold = await budget.hold(MODEL, REQUEST)
        assert hold is not None
        held = dict(books.held)
        budget.suspend(hold)
        assert not budget.is_enough(hold, MODEL, REQUEST)
        await asyncio.sleep(0)
        assert (books.held, books.settled) == ({}, [1])
        # Cancelled now, it has nothing to give back.
        budget.settle(hold, None)
        await asyncio.sleep(0)
        assert books.settled == [1]
        assert await budget.enlarge(hold, MODEL, REQUEST)
        assert budget.is_enough(hold, MODEL, REQUEST)
        assert list(books.held.values()) == list(held.values())
        budget.settle(hold, None)
        await asyncio.sleep(0)
        assert books.held == {}

    asyncio.run(live())


def test_what_a_successor_grants_before_it_is_heard_of_is_not_asked_for_twice() -> None:
    async def live() -> None:
        books = Books()
        budget = WorkerBudget(books, "w", Estimates(), boot="first")
        books.die()
        hold = await budget.hold(MODEL, REQUEST)
        assert hold is not None
        assert budget.is_enough(hold, MODEL, REQUEST)
        budget.settle(hold, None)
        await asyncio.sleep(0)
        assert not books.held

    asyncio.run(live())


def test_what_a_dead_lender_had_set_aside_is_settled_with_nobody() -> None:
    async def live() -> None:
        books = Books()
        budget = WorkerBudget(books, "w", Estimates(), boot="first")
        lost = await budget.hold(MODEL, REQUEST)
        books.die()
        budget.boot = "second"
        kept = await budget.hold(MODEL, REQUEST)
        assert lost is not None
        assert kept is not None
        for hold in (lost, kept):
            budget.settle(hold, None)
        await asyncio.sleep(0)
        assert books.settled == [kept.number]

    asyncio.run(live())


def test_each_try_that_may_be_on_the_bill_is_paid_for_by_a_step_of_its_own_and_no_other() -> None:
    async def live() -> None:
        books = Books()
        budget = WorkerBudget(books, "w", Estimates())
        hold = await budget.hold(MODEL, REQUEST)
        assert hold is not None
        for kind in ("timeout", "http-429", "unreachable", "timeout"):
            assert await budget.renew(hold, Attempt(kind=kind, reason="", waited_s=1.0))
        assert books.paid == [(step, hold.size, hold.size) for step in (1, 2)]

    asyncio.run(live())
