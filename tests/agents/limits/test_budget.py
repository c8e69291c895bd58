"""A cap is a cap: what a call may cost is set aside first, and nobody waits for nothing."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.asking import Pages, frames_of, load_bytes, request_of, run
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.budget import CallReserve, CappedBudget, cost_of_try
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import (
    OUTPUT_AT_MOST,
    CallBound,
    Estimates,
    may_be_charged,
    output_limit,
)
from videoautoarena.agents.limits.prices import MoneyAndTokens
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce, Price, Usage

MODEL = Model(
    alias="r",
    model="openai:x",
    base_url="http://127.0.0.1:9/v1",
    price=Price(input_usd=0, output_usd=1_000_000),
    parameters={"max_tokens": 10},
)
"""A dollar a token, ten dollars a call at most."""


def row(cost: float | None, *, fault: str | None = None, cost_from: str | None = None) -> CallRow:
    usage = Usage() if cost is None else Usage(input_tokens=1, output_tokens=int(cost))
    return CallRow(
        key="k",
        nonce=Nonce(scope="v-p1-r0", role="contestant"),
        model="openai:x",
        alias="r",
        endpoint="h",
        prompt="",
        reply=None if fault else "yes",
        failure=fault,
        failure_kind=fault,
        usage=usage,
        cost_usd=cost,
        cost_from=cost_from,
    )


def failed(kind: str, **told: Any) -> Attempt:
    return Attempt(kind=kind, reason="", waited_s=1.0, **told)


def spend_cap(usd: float | None = None, tokens: int | None = None) -> CappedBudget:
    return CappedBudget(SpendCaps(usd, tokens), Estimates())


def dollars(of: CappedBudget) -> float:
    return of.spent.nano / 1e9


async def soon(task: asyncio.Task[CallReserve | None]) -> bool:
    """Say whether a task has ended once everybody had a turn."""
    for _ in range(5):
        await asyncio.sleep(0)
    return task.done()


def test_a_call_waits_for_one_under_way_and_goes_when_that_was_cheap() -> None:
    async def play() -> None:
        of = spend_cap(15)
        first = await of.hold(MODEL, request_of())
        assert first is not None
        second = asyncio.ensure_future(of.hold(MODEL, request_of()))
        assert not await soon(second)
        of.settle(first, row(3))
        assert await soon(second)
        assert second.result() is not None

    run(play())


def test_who_was_cancelled_in_line_just_when_money_came_back_holds_up_nobody() -> None:
    async def play() -> None:
        of = spend_cap(15)
        first = await of.hold(MODEL, request_of())
        assert first is not None
        gone, next_ = (asyncio.ensure_future(of.hold(MODEL, request_of())) for _ in range(2))
        assert not await soon(next_)
        gone.cancel()
        of.settle(first, row(3))
        assert await soon(next_)
        assert next_.result() is not None
        assert gone.cancelled()

    run(play())


def test_a_call_that_never_can_fit_is_told_at_once_and_so_is_everybody_after_it() -> None:
    async def play() -> None:
        of = spend_cap(15)
        first = await of.hold(MODEL, request_of())
        assert first is not None
        first_size = first.size.nano
        waiting = asyncio.ensure_future(of.hold(MODEL, request_of()))
        of.settle(first, row(8))
        assert await waiting is None
        assert of.needed.nano == of.spent.nano + first_size
        small = Model(alias="s", model="openai:s", price=Price(input_usd=0, output_usd=0))
        assert await of.hold(small, request_of()) is None
        assert of.is_empty

    run(play())


def test_calls_are_let_through_in_the_order_in_which_they_came() -> None:
    async def play() -> None:
        of = spend_cap(1000)
        order = list[int]()
        holds = [await of.hold(MODEL, request_of()) for _ in range(100)]

        async def wait(number: int) -> None:
            assert await of.hold(MODEL, request_of()) is not None
            order.append(number)

        tasks = [asyncio.ensure_future(wait(number)) for number in range(20)]
        for hold in holds[:20]:
            assert hold is not None
            of.settle(hold, row(0))
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        assert order == list(range(20))

    run(play())


@pytest.mark.parametrize("when", ["waiting", "let through"])
def test_a_call_that_is_cancelled_keeps_nothing(when: str) -> None:
    async def play() -> None:
        of = spend_cap(10)
        first = await of.hold(MODEL, request_of())
        assert first is not None
        second = asyncio.ensure_future(of.hold(MODEL, request_of()))
        await asyncio.sleep(0)
        if when == "let through":
            of.settle(first, row(0))
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        if when == "waiting":
            of.settle(first, row(0))
        assert of.held == MoneyAndTokens()
        assert await of.hold(MODEL, request_of()) is not None

    run(play())


def test_what_nobody_says_counts_as_all_that_was_held_and_a_refusal_as_nothing() -> None:
    async def play() -> None:
        of = spend_cap(100)
        for fault, spent in (("timeout", 10.0), ("http-429", 10.0), ("http-500", 20.0)):
            hold = await of.hold(MODEL, request_of())
            assert hold is not None
            cost, source = (0.0, "refused") if fault == "http-429" else (None, None)
            of.settle(hold, row(cost, fault=fault, cost_from=source))
            assert dollars(of) == spent

    run(play())


@pytest.mark.parametrize(
    ("usage_and_source", "spent"), [((None, None), 10.0), ((0.0, "refused"), 0.0)]
)
def test_a_filter_that_ends_a_reply_may_have_cost_all_and_one_that_refuses_nothing(
    usage_and_source: tuple[float | None, str | None], spent: float
) -> None:
    async def play() -> None:
        of, (cost, source) = spend_cap(100), usage_and_source
        hold = await of.hold(MODEL, request_of())
        assert hold is not None
        most = hold.size.tokens
        ended = row(cost, fault="content-filter", cost_from=source)
        of.settle(hold, ended.model_copy(update={"usage": Usage()}))
        assert (dollars(of), of.spent.tokens) == (spent, most if spent else 0)

    run(play())


@pytest.mark.parametrize("kind", ["timeout", "connection", "http-408", "http-500", "malformed"])
def test_a_try_on_which_a_model_may_have_worked_may_be_on_the_bill(kind: str) -> None:
    assert may_be_charged(kind)


@pytest.mark.parametrize(
    "kind", ["unreachable", "frames", "http-400", "http-429", "http-503", "http-529", "quota"]
)
def test_a_try_that_was_not_sent_or_not_taken_up_is_on_no_bill(kind: str) -> None:
    assert not may_be_charged(kind)


def test_tokens_that_nobody_counted_are_all_that_were_held_though_a_gateway_says_it_is_free() -> (
    None
):
    free = row(None).model_copy(update={"cost_usd": 0.0, "cost_from": "provider"})
    assert cost_of_try(free, MoneyAndTokens(500, 70)) == MoneyAndTokens(0, 70)


def test_a_try_that_tells_cost_or_tokens_is_counted_at_those_and_else_at_its_most() -> None:
    async def play() -> None:
        of = spend_cap(25)
        usage = Usage(input_tokens=3, output_tokens=1)
        hold = await of.hold(MODEL, request_of())
        assert hold is not None
        most = hold.size.tokens
        assert await of.renew(hold, failed("empty", usage=usage, cost_usd=3.0))
        assert (dollars(of), of.spent.tokens) == (3, 4)
        assert await of.renew(hold, failed("empty", cost_usd=0.0))
        assert (dollars(of), of.spent.tokens) == (3, 4 + most)
        assert await of.renew(hold, failed("malformed", usage=usage))
        assert (dollars(of), of.spent.tokens) == (13, 8 + most)
        assert of.held == hold.size
        of.settle(hold, None)
        assert of.held == MoneyAndTokens()

    run(play())


def test_a_try_that_may_have_been_charged_is_counted_before_the_next_one() -> None:
    async def play() -> None:
        of = spend_cap(25)
        hold = await of.hold(MODEL, request_of())
        assert hold is not None
        assert await of.renew(hold, failed("http-429"))
        assert dollars(of) == 0
        assert await of.renew(hold, failed("timeout"))
        assert dollars(of) == 10
        assert not await of.renew(hold, failed("timeout"))
        of.settle(hold, None)
        assert (dollars(of), of.held) == (20, MoneyAndTokens())

    run(play())


def test_tokens_are_capped_without_any_price() -> None:
    unpriced = Model(alias="r", model="openai:x", base_url="http://127.0.0.1:9/v1")

    async def play() -> None:
        most = Estimates().most(unpriced, request_of())
        assert most.usd is None
        of = spend_cap(tokens=most.tokens + 5)
        hold = await of.hold(unpriced, request_of())
        assert hold is not None
        of.settle(hold, row(5))
        assert of.spent.tokens == 6
        assert await of.hold(unpriced, request_of()) is None

    run(play())


def test_an_offline_model_is_never_held_up() -> None:
    offline = Model(alias="o", model="offline:hawk")

    async def play() -> None:
        assert await spend_cap(0.0, 0).hold(offline, request_of()) is not None

    run(play())


class Costly:
    """Clients whose replies come to what the seed has it, some after faults that may have cost."""

    def __init__(self, seed: int, faults: float) -> None:
        self._random = random.Random(seed)
        self._faults = faults
        self.charged = 0.0

    def __call__(self, _model: Model, _load: object) -> Costly:
        return self

    async def send(self, _sending: OutgoingCall) -> ReceivedReply:
        for _ in range(self._random.randrange(4)):
            await asyncio.sleep(0)
        tokens = self._random.randrange(11)
        self.charged += tokens
        if self._random.random() < self._faults:
            raise TimeoutError("nothing came back")
        return ReceivedReply("yes", Usage(input_tokens=1, output_tokens=tokens))

    async def aclose(self) -> None:
        """Have nothing to close."""


@given(
    seed=st.integers(0, 10**6),
    cap=st.integers(0, 300),
    places=st.sampled_from([1, 4, 16]),
    faults=st.sampled_from([0.0, 0.2]),
)
@settings(max_examples=20, deadline=None)
def test_the_cap_is_never_exceeded_and_never_left_with_room_for_a_call(
    seed: int, cap: int, places: int, faults: float
) -> None:
    async def play() -> None:
        client = Costly(seed, faults)
        estimates = Estimates()
        of = CappedBudget(SpendCaps(float(cap)), estimates)
        asker = Asker(
            Pages(),
            load_bytes,
            make_client=client,
            concurrency=places,
            spend_cap=of,
            estimates=estimates,
            pause=lambda _s: asyncio.sleep(0),
        )

        async def ask(number: int) -> None:
            try:
                await asker.ask(MODEL, request_of(ordinal=number))
            except ProviderFailed:
                return

        calls = [asyncio.ensure_future(ask(number)) for number in range(60)]
        every = asyncio.ensure_future(asyncio.wait(calls))
        over = asyncio.ensure_future(asker.drained.wait())
        await asyncio.wait([every, over], return_when=asyncio.FIRST_COMPLETED)
        is_done = every.done()
        for task in (*calls, every, over):
            task.cancel()
        await asyncio.gather(*calls, every, over, return_exceptions=True)
        assert client.charged <= dollars(of) <= cap
        assert asker.is_broke or is_done
        assert is_done or dollars(of) > cap - 10
        assert of.held == MoneyAndTokens()

    run(play())


def test_a_frame_counts_as_it_was_seen_to_and_twice_that_in_another_size() -> None:
    frames = frames_of(8)
    of = Estimates()
    before = of.most(MODEL, request_of(frames=frames)).tokens
    for tokens in (800, 160):
        of.learn(MODEL, frames, Usage(input_tokens=tokens))
    same = of.most(MODEL, request_of(frames=frames)).tokens
    other = of.most(MODEL, request_of(frames=frames.model_copy(update={"width_px": 99}))).tokens
    assert before > other > same
    assert other - same == 800


def test_a_setting_of_the_user_beats_what_was_seen() -> None:
    told = Model(alias="r", model="openai:x", frame_tokens=7)
    frames = frames_of(8)
    of = Estimates()
    blind = Estimates().most(told, request_of()).tokens
    of.learn(told, frames, Usage(input_tokens=8000))
    assert of.most(told, request_of(frames=frames)).tokens == blind + 8 * 7 + 1 + 8 * 12


def test_a_call_without_a_limit_on_its_output_may_come_to_a_stated_one() -> None:
    free = Model(alias="r", model="openai:x", price=MODEL.price)
    judge = Request("judge", "", None, Nonce(scope="v-p1-r0", role="judge"))
    assert Estimates().most(free, judge) == CallBound(
        Estimates().most(MODEL, judge).tokens - 10 + OUTPUT_AT_MOST, float(OUTPUT_AT_MOST)
    )


@pytest.mark.parametrize(
    ("parameters", "most"),
    [
        ({"max_tokens": 10}, 10),
        ({"extra_body": {"max_tokens": 7}}, 7),
        ({"max_tokens": 10, "extra_body": {"max_completion_tokens": 500}}, 500),
        ({"max_tokens": 10, "extra_body": {"n": 4}}, 40),
        ({"max_tokens": 10, "extra_body": {"n": 2, "best_of": 5}}, 50),
        ({"extra_body": {"n": 3}}, 3 * OUTPUT_AT_MOST),
        ({"max_tokens": 10, "extra_body": {"n": 0, "max_tokens": "many"}}, 10),
    ],
)
def test_what_extra_body_asks_for_is_part_of_the_most(
    parameters: dict[str, Any], most: int
) -> None:
    asked = Model(alias="r", model="openai:x", parameters=parameters)
    assert output_limit(asked, "judge") == most
