"""The money of a run on a cluster: what the dead may have spent counts, nothing else is held."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.lending import LEASE_S, NONCE, Clock, busy, capped_run, lending, nonce_of, run
from tests.support.runfiles import battle, call, intent, slot
from videoautoarena.agents.limits.prices import MoneyAndTokens, summed
from videoautoarena.memory.records.records import Attempt, Usage
from videoautoarena.memory.store.shares import Unit
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.budget import cost_of_call


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return capped_run(tmp_path)


def test_what_a_dead_worker_may_have_spent_counts_and_what_it_did_not_send_is_free(
    path: Path,
) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        await lender.enlist("a", "node")
        for number in (1, 2):
            held = await lender.hold("a", number, nonce_of(number), summed(0.4, 10))
            assert held is not None
        with Store.open(path, write=True) as store:
            await store.journal.intend(intent(usd=0.4)._replace(nonce=nonce_of(1)))
            clock.now_s += 2 * LEASE_S
            assert await lender.is_gone("a")
        await lender.enlist("b", "node")
        # 0.4 of a dollar may be spent, so that 0.6 are left and no more.
        assert await lender.hold("b", 1, nonce_of(3), summed(0.6, 10)) is not None
        await lender.settle("b", 1, MoneyAndTokens())
        assert await lender.hold("b", 2, nonce_of(3), summed(0.61, 10)) is None

    run(live())


def test_what_a_dead_worker_had_written_down_counts_as_that_says(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        await lender.enlist("a", "node")
        assert await lender.hold("a", 1, NONCE, summed(0.9, 10)) is not None
        with Store.open(path, write=True) as store:
            await store.journal.intend(intent(usd=0.9))
            await store.journal.record(call().model_copy(update={"cost_usd": 0.25}))
            clock.now_s += 2 * LEASE_S
            assert await lender.is_gone("a")
        await lender.enlist("b", "node")
        assert await lender.hold("b", 1, nonce_of(3), summed(0.75, 10)) is not None
        await lender.settle("b", 1, MoneyAndTokens())
        assert await lender.hold("b", 2, nonce_of(3), summed(0.76, 10)) is None

    run(live())


def test_a_call_comes_to_its_last_try_and_all_before_it_that_may_be_on_the_bill() -> None:
    tries = [
        Attempt(kind=kind, reason="", waited_s=1.0, cost_usd=cost, usage=Usage())
        for kind, cost in (("timeout", None), ("http-429", None), ("empty", 0.125))
    ]
    row = call().model_copy(update={"cost_usd": 0.25, "attempts": tuple(tries)})
    assert cost_of_call(row, summed(0.5, 10)) == summed(0.5 + 0.125 + 0.25, 30)


def test_a_new_life_reads_from_the_file_what_may_be_being_spent(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        with Store.open(path, write=True) as store:
            await store.journal.intend(intent(usd=0.7)._replace(nonce=nonce_of(1)))
            lender = lending(path, clock)
            await lender.begin()
            await lender.enlist("a", "node")
            waiting = asyncio.ensure_future(lender.hold("a", 1, nonce_of(2), summed(0.5, 10)))
            await asyncio.sleep(0)
            assert not waiting.done()
            # It comes back, and cost next to nothing.
            store.journal.withdraw(intent().key, 1)
            await store.journal.intend(intent("other", usd=0.0)._replace(nonce=nonce_of(9)))
            lender._purse.look()
            assert await waiting is not None

    run(live())


def test_what_a_dead_worker_asked_of_a_new_life_is_not_set_aside(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.renew("dead", "node", busy(0, 1))
        waiting = asyncio.ensure_future(lender.hold("dead", 1, nonce_of(1), summed(0.9, 10)))
        await asyncio.sleep(0)
        clock.now_s += 2 * LEASE_S
        await lender.renew("alive", "node", busy(0, 1, lender.boot))
        assert await waiting is None
        assert await lender.hold("alive", 1, nonce_of(2), summed(0.9, 10)) is not None

    run(live())


def test_a_battle_that_ended_on_some_machine_is_no_longer_begun(path: Path) -> None:
    async def live() -> None:
        lender = lending(path, Clock())
        await lender.begin()
        await lender.enlist("a", "node")
        mine = NONCE.model_copy(update={"scope": slot().id})
        assert await lender.hold("a", 1, mine, summed(0.4, 10)) is not None
        budget = lender._purse._budget
        assert budget is not None
        assert budget.spend_order is not None
        assert list(budget.spend_order.begun) == [0]
        with Store.open(path, write=True) as store:
            await store.put_battle(battle(slot().id))
        lender._purse.look()
        assert not budget.spend_order.begun

    run(live())


def test_a_late_message_of_a_worker_whose_time_has_run_out_sets_nothing_aside(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        await lender.enlist("dead", "node")
        clock.now_s += 2 * LEASE_S
        assert await lender.is_gone("dead")
        assert await lender.hold("dead", 1, nonce_of(1), summed(0.9, 10)) is None
        await lender.enlist("alive", "node")
        assert await lender.hold("alive", 1, nonce_of(2), summed(0.9, 10)) is not None

    run(live())


def test_a_call_that_waits_for_money_gets_none_once_its_worker_is_gone(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        for name in ("alive", "dead"):
            await lender.enlist(name, "node")
        assert await lender.hold("alive", 1, nonce_of(1), summed(0.8, 10)) is not None
        waiting = asyncio.ensure_future(lender.hold("dead", 1, nonce_of(2), summed(0.5, 10)))
        await asyncio.sleep(0)
        assert not waiting.done()
        clock.now_s += 0.9 * LEASE_S
        await lender.renew("alive", "node", busy(1, 0, lender.boot))
        clock.now_s += 0.2 * LEASE_S
        assert await lender.is_gone("dead")
        await asyncio.wait({waiting}, timeout=0.05)
        assert waiting.cancelled()
        await lender.settle("alive", 1, MoneyAndTokens())
        assert await lender.hold("alive", 2, nonce_of(3), summed(0.9, 10)) is not None

    run(live())


def test_books_are_opened_once_in_a_life(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        await lender.enlist("a", "node")
        assert await lender.hold("a", 1, nonce_of(1), summed(0.9, 10)) is not None
        for _ in range(5):
            clock.now_s += LEASE_S / 2
            await lender.renew("a", "node", busy(1, 1, lender.boot))
            await asyncio.sleep(0.02)
        waiting = asyncio.ensure_future(lender.hold("a", 2, nonce_of(2), summed(0.2, 10)))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        waiting.cancel()

    run(live())


def test_a_lost_try_counts_in_full_whatever_its_call_comes_to_when_it_is_made_again(
    path: Path,
) -> None:
    async def live() -> None:
        with Store.open(path, write=True, is_alone=False) as store:
            tried = intent(usd=0.6)
            await store.journal.intend(tried)
            lender = lending(path, Clock())
            await lender.begin()
            await lender.enlist("a", "node")
            # Its worker died, and another has made the call again before anybody looked.
            await store.shares.claim(Unit("v", (tried.nonce.scope,)), 1, "a")
            held = await lender.hold("a", 1, tried.nonce, summed(0.3, 10))
            assert held is not None
            await store.journal.intend(tried._replace(usd=0.3))
            await store.journal.record(call().model_copy(update={"cost_usd": 0.1}))
            await lender.settle("a", 1, summed(0.1, 4))
            lender._purse.look()
            # 0.6 may have been spent by the one, 0.1 were by the other.
            assert await lender.hold("a", 2, nonce_of(5), summed(0.31, 10)) is None

    run(live())


def test_tries_that_were_left_over_before_a_life_say_nothing_of_one_under_way(path: Path) -> None:
    async def live() -> None:
        with Store.open(path, write=True, is_alone=False) as store:
            tried = intent(usd=0.25)
            for epoch in (1, 2):
                await store.journal.intend(tried)
                await store.shares.claim(Unit("v", (tried.nonce.scope,)), epoch, "a")
            await store.journal.intend(tried)
            lender = lending(path, Clock())
            await lender.begin()
            await lender.enlist("a", "node")
            lender._purse.look()
            await store.journal.record(call().model_copy(update={"cost_usd": 0.125}))
            lender._purse.look()
            # Two tries are lost at 0.25 each, and the third has come back and cost 0.125.
            assert await lender.hold("a", 1, nonce_of(5), summed(0.375, 10)) is not None
            await lender.settle("a", 1, MoneyAndTokens())
            assert await lender.hold("a", 2, nonce_of(6), summed(0.376, 10)) is None

    run(live())


def test_what_an_earlier_life_lent_is_settled_by_the_file_and_not_again(path: Path) -> None:
    async def live() -> None:
        with Store.open(path, write=True, is_alone=False) as store:
            await store.journal.intend(intent(usd=0.4))
            paid = call().model_copy(update={"model": "openai:a", "cost_usd": 0.4})
            await store.journal.record(paid)
        lender = lending(path, Clock())
        await lender.begin()
        await lender.enlist("a", "node")
        assert await lender.pay("a", 1, 1, summed(0.4, 10), summed(0.4, 10))
        await lender.settle("a", 1, summed(0.4, 10))
        assert await lender.hold("a", 2, nonce_of(5), summed(0.6, 10)) is not None

    run(live())


def test_a_try_that_a_stop_cut_off_is_not_counted_with_its_call() -> None:
    stopped = Attempt(kind="stopped", reason="", waited_s=1.0, may_have_cost_usd=1.0)
    row = call()
    late = row.model_copy(update={"attempts": (stopped,)})
    assert cost_of_call(late, summed(1.0, 1000)) == cost_of_call(row, summed(1.0, 1000))


def test_a_message_about_money_counts_once_however_often_it_comes(path: Path) -> None:
    async def live() -> None:
        lender = lending(path, Clock())
        await lender.begin()
        await lender.enlist("a", "node")
        for _ in range(3):
            assert await lender.hold("a", 1, NONCE, summed(0.5, 10)) is not None
            assert await lender.pay("a", 1, 1, summed(0.2, 4), summed(0.3, 10))
        await lender.settle("a", 1, summed(0.1, 4))
        await lender.settle("a", 1, summed(0.1, 4))
        assert await lender.hold("a", 2, NONCE, summed(0.7, 10)) is not None
        await lender.settle("a", 2, MoneyAndTokens())
        assert await lender.hold("a", 3, NONCE, summed(0.71, 10)) is None

    run(live())
