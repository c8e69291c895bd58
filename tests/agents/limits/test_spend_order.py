"""Money goes to the first battles, so that a cap ends few that are begun; nobody waits for ever."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.asking import Pages, load_bytes, request_of, run
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.budget import ENOUGH, CappedBudget, SpendOrder
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.prices import MoneyAndTokens
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.records import Nonce, Price, Usage

DEAR = Model(
    alias="r",
    model="openai:x",
    base_url="http://127.0.0.1:9/v1",
    price=Price(input_usd=0, output_usd=1_000_000),
    parameters={"max_tokens": 10},
)
"""A dollar a token, ten dollars a call at most."""
CALLS = 4
"""Of a battle here, one after the other."""


def usd(amount: float) -> MoneyAndTokens:
    return MoneyAndTokens(int(amount * 1e9), 0)


def spend_order(battles: int, likely: float) -> SpendOrder:
    return SpendOrder({f"s{place}": place for place in range(battles)}, usd(likely))


def test_a_battle_needs_what_is_left_of_all_before_it_and_of_those_begun() -> None:
    of = spend_order(9, likely=10)
    of.begin(0)
    of.pay(0, usd(4))
    for place in (5, 7):
        of.begin(place)
    assert of.need(2, usd(1)) == usd(10 + 10 + 10 + 10 + 10 - 4)
    of.end("s1")
    assert of.need(2, usd(1)) == usd(10 + 10 + 10 + 10 - 4)
    assert of.need(2, usd(13)) == usd(13 + 10 + 10 + 10 - 4)


def test_what_battles_came_to_takes_the_place_of_what_was_expected() -> None:
    of = spend_order(9, likely=100)
    for place in range(ENOUGH):
        of.begin(place)
        of.pay(place, usd(place + 1))
        of.end(f"s{place}")
    assert of.need(ENOUGH, MoneyAndTokens()) == usd(ENOUGH)


def test_a_battle_that_ended_without_a_call_makes_room_and_teaches_nothing() -> None:
    of = spend_order(9, likely=10)
    for place in range(8):
        of.end(f"s{place}")
    assert of.need(8, MoneyAndTokens()) == usd(10)


def test_a_scope_that_nobody_knows_comes_first_and_begins_nothing() -> None:
    of = spend_order(2, likely=10)
    assert of.place("elsewhere") == -1
    of.begin(-1)
    of.end("elsewhere")
    assert of.begun == {}


class Odd:
    """Clients whose replies take a few turns of the loop and come to what the seed has it."""

    def __init__(self, seed: int, tokens: tuple[int, int]) -> None:
        self._random = random.Random(seed)
        self._tokens = tokens

    def __call__(self, _model: Model, _load: object) -> Odd:
        return self

    async def send(self, _sending: OutgoingCall) -> ReceivedReply:
        for _ in range(self._random.randrange(4)):
            await asyncio.sleep(0)
        tokens = self._random.randint(*self._tokens)
        return ReceivedReply("yes", Usage(input_tokens=1, output_tokens=tokens))

    async def aclose(self) -> None:
        """Have nothing to close."""


class Played:
    """Battles of four calls each, all at once, with so much money.

    In waves they come as late as they like, and each waits, after its first call, for all battles
    up to the wave before the last.
    """

    def __init__(
        self, client: Odd, cap: float, *, likely: float, places: int, battles: int, wave: int = 0
    ) -> None:
        self._wave = wave
        self._late = random.Random(battles)
        self.order = spend_order(battles, likely)
        estimates = Estimates()
        self.spend_cap = CappedBudget(SpendCaps(cap), estimates, spend_order=self.order)
        self.asker = Asker(
            Pages(),
            load_bytes,
            make_client=client,
            concurrency=places,
            spend_cap=self.spend_cap,
            estimates=estimates,
        )
        self.settled: list[int] = []
        self._battles = battles

    async def battle(self, place: int) -> None:
        for _ in range(self._late.randrange(60) if self._wave else 0):
            await asyncio.sleep(0)
        for ordinal in range(CALLS):
            while ordinal and self._wave and not self._is_known(place):
                await asyncio.sleep(0)
            request = request_of(ordinal=ordinal, scope=f"s{place}")
            await self.asker.ask(DEAR, request)
            await asyncio.sleep(0)
        self.settled.append(place)
        self.spend_cap.end(f"s{place}")

    def _is_known(self, place: int) -> bool:
        before = range((place // self._wave - 1) * self._wave)
        return set(before) <= set(self.settled)

    async def all(self) -> bool:
        """Play until all are settled or the cap is reached; return whether all are."""
        tasks = [asyncio.ensure_future(self.battle(place)) for place in range(self._battles)]
        every = asyncio.ensure_future(asyncio.wait(tasks))
        over = asyncio.ensure_future(self.asker.drained.wait())
        async with asyncio.timeout(60):
            await asyncio.wait([every, over], return_when=asyncio.FIRST_COMPLETED)
        is_whole = every.done()
        for task in (*tasks, every, over):
            task.cancel()
        await asyncio.gather(*tasks, every, over, return_exceptions=True)
        return is_whole


@given(
    seed=st.integers(0, 10**6),
    cap=st.integers(0, 500),
    likely=st.sampled_from([0.0, 20.0, 1000.0]),
    places=st.sampled_from([1, 4, 16]),
    wave=st.sampled_from([0, 1, 3]),
)
@settings(max_examples=20, deadline=None)
def test_it_ends_with_the_battles_or_with_the_money_whatever_was_expected(
    seed: int, cap: int, likely: float, places: int, wave: int
) -> None:
    client = Odd(seed, (0, 10))
    played = Played(client, cap, likely=likely, places=places, battles=10, wave=wave)
    is_whole = run(played.all())
    spent = played.spend_cap.spent.nano / 1e9
    assert spent <= cap
    assert is_whole == (len(played.settled) == 10)
    assert is_whole or spent > cap - 10
    assert played.spend_cap.held == MoneyAndTokens()


@pytest.mark.parametrize("places", [1, 16])
@pytest.mark.parametrize("share", [2 / 27, 0.1, 0.5])
def test_a_cap_settles_about_its_share_of_the_battles_and_the_first_ones(
    share: float, places: int
) -> None:
    battles = 60
    each = CALLS * 4.5
    cap = share * battles * each
    played = Played(Odd(1, (3, 6)), cap, likely=each, places=places, battles=battles)
    assert not run(played.all())
    assert len(played.settled) >= 0.6 * share * battles
    first = set(range(int(len(played.settled) * 0.8)))
    assert first <= set(played.settled)


def test_a_call_of_a_battle_that_is_begun_goes_before_an_earlier_one_that_is_not() -> None:
    async def play() -> list[str]:
        order = spend_order(3, likely=0)
        spend_cap = CappedBudget(SpendCaps(25), Estimates(), spend_order=order)
        held = [await spend_cap.hold(DEAR, request_of(scope="s2")) for _ in range(2)]
        went = list[str]()

        async def ask(scope: str) -> None:
            assert await spend_cap.hold(DEAR, request_of(scope=scope))
            went.append(scope)

        tasks = [asyncio.ensure_future(ask(scope)) for scope in ("s1", "s0", "s2")]
        await asyncio.sleep(0)
        for hold in held:
            assert hold is not None
            spend_cap.settle(hold, None)
            for _ in range(3):
                await asyncio.sleep(0)
        assert spend_cap.rank(Nonce(scope="s1", role="judge")) == 1
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return went

    assert run(play())[0] == "s2"
