"""Whose turn it is: order, ceilings, cancelled waiters, and pauses that end early."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.support.virtual import VirtualLoop, run_virtual
from videoautoarena.agents.limits.scheduler import LimitLoan, PlaceDemand, Scheduler, SendTurn
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.deadlines import BEAT_S, deadline
from videoautoarena.memory.records.records import CallLimits

FAR = Model(alias="far", model="openai:far", base_url="http://far/v1")
NEAR = Model(alias="near", model="openai:near", base_url="http://near/v1")
STAND_IN = Model(alias="m", model="offline:hawk")


def limited(**limits: float) -> Model:
    return Model(alias="l", model="openai:l", base_url="http://far/v1", limits=CallLimits(**limits))


async def take(turns: Scheduler, model: Model) -> SendTurn:
    return await turns.take(turns.queue_of(model), 0.0)


def stand_still(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.stand_still(seconds)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_whoever_came_first_goes_first_whatever_its_endpoint() -> None:
    async def order() -> list[str]:
        turns = Scheduler(1)
        went = list[str]()

        async def go(model: Model, name: str) -> None:
            turn = await take(turns, model)
            went.append(name)
            await asyncio.sleep(1)
            turns.give_back(turn)

        names = [(FAR, "1"), (NEAR, "2"), (STAND_IN, "3"), (FAR, "4"), (NEAR, "5")]
        await asyncio.gather(*[go(model, name) for model, name in names])
        return went

    assert run_virtual(order()) == ["1", "2", "3", "4", "5"]


def test_a_full_endpoint_holds_nobody_up_elsewhere() -> None:
    async def both() -> bool:
        turns = Scheduler(8)
        slow = limited(concurrency=1)
        await take(turns, slow)
        waiting = asyncio.create_task(take(turns, slow))
        await take(turns, NEAR)
        await settle()
        is_waiting = not waiting.done()
        waiting.cancel()
        return is_waiting

    assert run_virtual(both())


def test_the_ceiling_holds_over_all_endpoints() -> None:
    async def most() -> int:
        turns = Scheduler(5)
        models = [FAR, NEAR, STAND_IN] * 10
        tasks = [asyncio.create_task(take(turns, model)) for model in models]
        await settle()
        for task in tasks:
            task.cancel()
        return turns.under_way

    assert run_virtual(most()) == 5


def test_models_behind_one_address_keep_to_the_least_of_their_ceilings() -> None:
    for models in ((limited(concurrency=2), FAR), (FAR, limited(concurrency=2))):
        turns = Scheduler(8)
        gates = [turns.queue_of(model).gate for model in models]
        assert [gate.ceiling for gate in gates if gate] == [2, 2]


def test_a_cancelled_waiter_leaves_no_place_taken() -> None:
    async def left() -> tuple[int, int]:
        turns = Scheduler(2)
        held = [await take(turns, FAR) for _ in range(2)]
        waiting = [asyncio.create_task(take(turns, FAR)) for _ in range(6)]
        await settle()
        waiting[0].cancel()
        turns.give_back(held[0])
        # These have been given their places and have not heard of it yet.
        waiting[1].cancel()
        waiting[2].cancel()
        await settle()
        turns.give_back(held[1])
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for task in waiting:
            if not task.cancelled():
                turns.give_back(task.result())
        gate = turns.queue_of(FAR).gate
        assert gate is not None
        return turns.under_way, gate.under_way

    assert run_virtual(left()) == (0, 0)


def test_who_was_cancelled_in_line_wants_nothing_any_more() -> None:
    async def wanted() -> PlaceDemand:
        turns = Scheduler(1)
        await take(turns, FAR)
        waiting = [asyncio.create_task(take(turns, FAR)) for _ in range(3)]
        await settle()
        waiting[1].cancel()
        await settle()
        found, _ = turns.wants()
        for task in waiting:
            task.cancel()
        return found

    assert run_virtual(wanted()) == PlaceDemand(1, 2)


def test_of_those_who_wait_the_lowest_rank_goes_first_whatever_its_endpoint() -> None:
    async def order() -> list[str]:
        turns = Scheduler(1)
        went = list[str]()

        async def go(model: Model, name: str, rank: int) -> None:
            turn = await turns.take(turns.queue_of(model), 0.0, rank=rank)
            went.append(name)
            await asyncio.sleep(1)
            turns.give_back(turn)

        calls = [(FAR, "first", 9), (NEAR, "late", 7), (FAR, "soon", 2), (FAR, "late too", 7)]
        calls += [(NEAR, "soon too", 2), (STAND_IN, "at once", 1)]
        await asyncio.gather(*[go(*call) for call in calls])
        return went

    assert run_virtual(order()) == ["first", "at once", "soon", "soon too", "late", "late too"]


def test_once_closed_it_lets_nobody_in_and_those_who_are_in_come_out() -> None:
    async def closing() -> list[bool | int]:
        turns = Scheduler(4)
        turn = await take(turns, FAR)
        turns.close()
        late = asyncio.create_task(take(turns, FAR))
        await settle()
        told: list[bool | int] = [late.done(), turns.under_way]
        turns.give_back(turn)
        await settle()
        told += [late.done(), turns.under_way]
        late.cancel()
        return told

    assert run_virtual(closing()) == [False, 1, False, 0]


async def refused(turns: Scheduler, *, hint_s: float, own_s: float) -> float:
    turn = await take(turns, FAR)
    turn.outcome = "refused"
    turns.give_back(turn)
    return await turns.wait_out(turn.queue, hint_s, at_least_s=own_s)


async def taken(turns: Scheduler, model: Model) -> None:
    turn = await take(turns, model)
    turn.outcome = "taken"
    turns.give_back(turn)


def rested_s(*models: Model, after_s: float = 5.0) -> float:
    """Return how long a call rests that was told 80 s, while calls of others are taken."""

    async def rest() -> float:
        turns = Scheduler(8)
        resting = asyncio.create_task(refused(turns, hint_s=80.0, own_s=10.0))
        await asyncio.sleep(after_s)
        for model in models:
            await taken(turns, model)
        return await resting

    return run_virtual(rest())


def test_a_pause_is_kept_while_nothing_shows_that_it_is_needless() -> None:
    assert rested_s() == 80.0


def test_a_pause_ends_when_a_later_call_was_taken_but_not_before_its_own_time() -> None:
    assert rested_s(FAR) == 10.0
    assert rested_s(FAR, after_s=30.0) == 30.0


def test_another_endpoint_or_model_proves_nothing() -> None:
    other = Model(alias="other", model="openai:other", base_url="http://far/v1")
    assert rested_s(NEAR, other, STAND_IN) == 80.0


def test_a_call_that_was_sent_before_proves_nothing() -> None:
    async def rest() -> float:
        turns = Scheduler(8)
        early = await take(turns, FAR)
        resting = asyncio.create_task(refused(turns, hint_s=80.0, own_s=10.0))
        await asyncio.sleep(1)
        early.outcome = "taken"
        turns.give_back(early)
        return await resting

    assert run_virtual(rest()) == 80.0


def test_a_cancelled_rest_is_forgotten() -> None:
    async def forgotten() -> int:
        turns = Scheduler(8)
        resting = asyncio.create_task(refused(turns, hint_s=80.0, own_s=10.0))
        await asyncio.sleep(1)
        resting.cancel()
        await asyncio.gather(resting, return_exceptions=True)
        return len(turns.queue_of(FAR).paused)

    assert run_virtual(forgotten()) == 0


def test_models_that_state_the_same_rate_share_it() -> None:
    async def times() -> list[float]:
        turns = Scheduler(8)
        limits = CallLimits(requests_per_minute=60)
        models = [
            Model(alias=name, model=f"openai:{name}", base_url="http://far/v1", limits=limits)
            for name in "ab"
        ]
        began = list[float]()
        for model in models * 2:
            turns.give_back(await take(turns, model))
            began.append(round(asyncio.get_running_loop().time(), 3))
        return began

    assert run_virtual(times()) == [0.0, 1.0, 2.0, 3.0]


def test_what_is_lent_is_all_that_is_used_and_less_of_it_ends_with_what_is_under_way() -> None:
    async def counts() -> list[int]:
        turns = Scheduler(100)
        asked = list[int]()
        turns.on_waiting = lambda: asked.append(1)
        turns.lend(LimitLoan(0, {}, {}))
        place = (FAR.endpoint, FAR.key_names)
        waiting = [asyncio.create_task(take(turns, FAR)) for _ in range(6)]
        await settle()
        seen = [turns.under_way, len(asked), turns.wants()[1][place].waiting]
        turns.lend(LimitLoan(4, {place: 2}, {}))
        await settle()
        seen.append(turns.under_way)
        turns.lend(LimitLoan(4, {place: 5}, {}))
        await settle()
        seen.append(turns.under_way)
        turns.lend(LimitLoan(1, {place: 5}, {}))
        for task in waiting[:3]:
            turns.give_back(task.result())
        await settle()
        seen.append(turns.under_way)
        for task in waiting:
            task.cancel()
        await settle()
        return seen

    assert run_virtual(counts()) == [0, 6, 6, 2, 4, 1]


def test_a_model_that_is_first_called_while_nothing_is_lent_keeps_nobody_out_later() -> None:
    async def count() -> int:
        turns = Scheduler(8)
        place = (FAR.endpoint, FAR.key_names)
        turns.lend(LimitLoan(8, {place: 8}, {}))
        turns.queue_of(FAR)
        turns.lend(LimitLoan(0, {}, {}))
        turns.queue_of(FAR.with_settings(alias="another", model="openai:another"))
        turns.lend(LimitLoan(8, {place: 8}, {}))
        waiting = [asyncio.create_task(take(turns, FAR)) for _ in range(6)]
        await settle()
        for task in waiting:
            task.cancel()
        return sum(task.done() for task in waiting)

    assert run_virtual(count()) == 6


def test_a_share_of_declared_rates_is_kept_to() -> None:
    async def second_start_s() -> float:
        turns = Scheduler(8)
        model = limited(requests_per_minute=60)
        place = (model.endpoint, model.key_names)
        turns.queue_of(model)
        turns.lend(LimitLoan(8, {place: 8}, {place: 0.25}))
        await take(turns, model)
        await take(turns, model)
        return asyncio.get_running_loop().time()

    assert run_virtual(second_start_s()) >= 4.0


def test_a_stop_is_no_slowness_of_a_server() -> None:
    async def places(stop_s: float) -> float:
        turns = Scheduler(64)

        async def call() -> None:
            turn = await take(turns, FAR)
            turn.outcome = "taken"
            async with deadline(300.0):
                await asyncio.sleep(1.0)
            turns.give_back(turn)

        for round_ in range(6):
            if round_ > 2:
                asyncio.get_running_loop().call_later(0.6, stand_still, stop_s)
            await asyncio.gather(*[call() for _ in range(64)])
        gate = turns.queue_of(FAR).gate
        return gate.limit if gate else 0.0

    assert run_virtual(places(75.0)) == run_virtual(places(0.0))


@pytest.mark.parametrize("is_before", [True, False])
def test_a_stop_that_no_beat_has_seen_yet_is_not_put_down_to_another_turn(is_before: bool) -> None:
    async def latency_s() -> float:
        turns = Scheduler(8)
        async with deadline(300.0):
            if is_before:
                stand_still(75.0)
            turn = await take(turns, FAR)
            turn.outcome = "taken"
            await asyncio.sleep(1.0)
            if not is_before:
                stand_still(75.0)
        turns.give_back(turn)
        assert turn.sent is not None
        return asyncio.get_running_loop().time() - turn.sent.at_s

    assert run_virtual(latency_s()) == pytest.approx(1.0, abs=BEAT_S)


def test_who_waits_for_a_rate_is_not_sent_in_a_burst_after_a_stop() -> None:
    async def starts() -> list[float]:
        turns = Scheduler(8)
        loop = asyncio.get_running_loop()
        went = list[float]()

        async def call() -> None:
            turn = await take(turns, limited(requests_per_minute=60))
            went.append(loop.time())
            async with deadline(8.0):
                await asyncio.sleep(0.5)
            turns.give_back(turn)

        loop.call_later(2.3, stand_still, 75.0)
        await asyncio.gather(*[call() for _ in range(10)])
        return went

    went = run_virtual(starts())
    assert len(went) == 10
    assert went[2] < 2.3 < 77.3 <= went[3]
    assert min(late - soon for soon, late in pairwise(went)) >= 0.999
