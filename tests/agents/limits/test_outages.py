"""Endpoints that cannot be reached: calls wait, single ones look, and nothing fails for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.asking import (
    REMOTE,
    Line,
    Pages,
    Script,
    Status,
    frames_of,
    load_bytes,
    request_of,
)
from tests.support.virtual import run_virtual
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.outages import (
    LONGEST_GAP_S,
    LONGEST_LOOK_S,
    PATIENCE_S,
    UNPROVEN_S,
    Contact,
    EndpointWatch,
    Outage,
)
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.deadlines import StandstillTimeout
from videoautoarena.memory.records.errors import CallFailed, ProviderFailed
from videoautoarena.memory.records.records import CallRow, Price, Usage

OTHER = REMOTE.with_settings(alias="o", base_url="http://127.0.0.1:10/v1")
HERE = REMOTE.endpoint
THERE = OTHER.endpoint


@dataclass
class House:
    """Servers of which each is gone for stretches of time; they break what they hold then."""

    gone: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    breaks: list[tuple[float, float]] = field(default_factory=list)
    """When a connection is made, and breaks: something listens for the server."""
    takes_s: float = 2.0
    sent: list[tuple[str, float]] = field(default_factory=list)

    def __call__(self, model: Model, _load: object) -> Room:
        return Room(self, model.endpoint)


@dataclass
class Room:
    """One server."""

    house: House
    address: str

    async def send(self, _sending: OutgoingCall) -> ReceivedReply:
        loop = asyncio.get_running_loop()
        house = self.house
        house.sent.append((self.address, loop.time()))
        if any(start <= loop.time() < end for start, end in house.breaks):
            raise httpx.ReadError("reset")
        if any(start <= loop.time() < end for start, end in house.gone.get(self.address, [])):
            raise httpx.ConnectError("[Errno 111] Connection refused")
        await asyncio.sleep(house.takes_s)
        return ReceivedReply("words", Usage(input_tokens=3, output_tokens=1))

    async def aclose(self) -> None:
        """Have nothing to close."""


@dataclass
class Spell:
    """What came of calls to a house."""

    house: House
    calls: int = 40
    journal: Pages = field(default_factory=Pages)
    heard: list[Outage] = field(default_factory=list)
    failed: int = 0
    ended_s: dict[int, float] = field(default_factory=dict)

    def live(self, models: tuple[Model, ...] = (REMOTE,), **settings: Any) -> Asker:
        """Make calls, in turn to each model, and return once all have ended or the run drained."""
        return run_virtual(self._live(models, settings))

    async def _live(self, models: tuple[Model, ...], settings: dict[str, Any]) -> Asker:
        asked = {"concurrency": 8, "patience_s": PATIENCE_S, **settings}
        asker = Asker(self.journal, load_bytes, make_client=self.house, **asked)
        asker.on_outage = self.heard.append

        async def call(number: int) -> None:
            model = models[number % len(models)]
            try:
                await asker.ask(model, request_of(scope=f"{number:012x}-p1-r0"))
            except CallFailed:
                self.failed += 1
            self.ended_s[number] = asyncio.get_running_loop().time()

        tasks = [asyncio.create_task(call(number)) for number in range(self.calls)]
        done: Coroutine[Any, Any, Any] = asyncio.wait(tasks)
        stops = [asyncio.ensure_future(work) for work in (done, asker.drained.wait())]
        await asyncio.wait(stops, return_when=asyncio.FIRST_COMPLETED)
        for task in (*tasks, *stops):
            task.cancel()
        await asyncio.gather(*tasks, *stops, return_exceptions=True)
        return asker


def test_a_server_that_is_down_for_a_minute_costs_no_call() -> None:
    spell = Spell(House({HERE: [(5.0, 65.0)]}))
    asker = spell.live()
    assert (len(spell.journal.rows), spell.failed, asker.lost) == (40, 0, None)
    waiting, over = spell.heard
    assert (waiting.state, waiting.address, waiting.seconds) == ("waiting", HERE, PATIENCE_S)
    assert over.state == "over"
    assert 60 <= over.seconds <= 60 + LONGEST_GAP_S


def test_while_a_server_is_down_single_calls_look_and_nobody_else_is_sent() -> None:
    spell = Spell(House({HERE: [(5.0, 65.0)]}))
    spell.live()
    looks = [at_s for _, at_s in spell.house.sent if 7 <= at_s < 65]
    gaps = [round(late - soon) for soon, late in pairwise(looks)]
    assert gaps == sorted(gaps)
    assert max(gaps) <= LONGEST_GAP_S
    assert len(looks) < 10


def test_what_is_kept_of_a_call_says_once_that_nobody_was_there_and_how_long_it_waited() -> None:
    spell = Spell(House({HERE: [(0.0, 60.0)]}), calls=1)
    # It never answered before, so it is given half a minute; the journal of a run knows better.
    spell.journal.has_answered = lambda _endpoint: True  # type: ignore[method-assign]
    spell.live()
    (row,) = spell.journal.rows.values()
    (attempt,) = row.attempts
    assert attempt.kind == "unreachable"
    assert 60 <= attempt.waited_s <= 60 + LONGEST_GAP_S
    assert (attempt.may_have_cost_usd, attempt.cost_usd, row.reply) == (0.0, None, "words")


@pytest.mark.parametrize(("answered", "most_s"), [(True, PATIENCE_S), (False, UNPROVEN_S)])
def test_patience_is_longer_for_a_server_that_has_answered(answered: bool, most_s: float) -> None:
    spell = Spell(House({HERE: [(5.0 if answered else 0.0, 1e9)]}))
    asker = spell.live()
    assert asker.lost is not None
    assert (asker.lost.state, asker.lost.address) == ("given-up", HERE)
    assert most_s <= asker.lost.seconds < most_s + 1
    assert asker.drained.is_set()
    assert spell.failed == 0


def test_a_server_that_is_given_up_leaves_neither_rows_nor_intents() -> None:
    spell = Spell(House({HERE: [(0.0, 1e9)]}))
    spell.live()
    assert (spell.journal.rows, spell.journal.intents) == ({}, [])


@pytest.mark.parametrize("patience_s", [0.0, 7.0, 60.0])
def test_patience_is_as_long_as_was_asked_for(patience_s: float) -> None:
    spell = Spell(House({HERE: [(5.0, 1e9)]}))
    asker = spell.live(patience_s=patience_s)
    assert asker.lost is not None
    assert patience_s <= asker.lost.seconds <= patience_s + 1


def test_calls_to_other_servers_go_on_meanwhile() -> None:
    spell = Spell(House({HERE: [(0.0, 1e9)]}))
    asker = spell.live((REMOTE, OTHER))
    assert asker.lost is not None
    assert asker.lost.address == HERE
    others = [row for row in spell.journal.rows.values() if row.endpoint == THERE]
    assert len(others) == len(spell.journal.rows) == 20


def test_models_behind_one_address_wait_together() -> None:
    twin = REMOTE.with_settings(alias="t", model="openai:gpt-4o-mini", key_env="OTHER_KEY")
    spell = Spell(House({HERE: [(5.0, 65.0)]}))
    spell.live((REMOTE, twin))
    assert [outage.state for outage in spell.heard] == ["waiting", "over"]
    assert len([at_s for _, at_s in spell.house.sent if 7 <= at_s < 65]) < 10


def test_a_connection_that_breaks_while_a_server_starts_is_no_try_of_the_calls_own() -> None:
    """A container's port is open long before its server is."""
    spell = Spell(House({HERE: [(5.0, 20.0)]}, breaks=[(20.0, 300.0)]))
    spell.live()
    assert (spell.failed, len(spell.journal.rows)) == (0, 40)
    assert [outage.state for outage in spell.heard] == ["waiting", "over"]


def test_what_breaks_while_a_server_starts_is_listed_and_leaves_a_call_all_its_tries() -> None:
    journal = Pages()
    gone: list[Line] = [httpx.ConnectError("refused"), *[httpx.ReadError("reset")] * 6]
    script = Script([*gone, Status(500), "words"])

    async def ask() -> CallRow:
        asker = Asker(journal, load_bytes, make_client=script, patience_s=PATIENCE_S, proven=[HERE])
        return await asker.ask_row(REMOTE, request_of())

    row = run_virtual(ask())
    kinds = [attempt.kind for attempt in row.attempts]
    assert kinds == ["unreachable", *["connection"] * 6, "http-500"]


def test_a_connection_that_breaks_at_other_times_fails_a_call_as_ever() -> None:
    spell = Spell(House(breaks=[(0.0, 1e9)]), calls=2)
    spell.live()
    assert (spell.failed, spell.heard) == (2, [])


def test_without_patience_a_call_fails_for_itself() -> None:
    spell = Spell(House({HERE: [(0.0, 1e9)]}), calls=3)
    asker = spell.live(patience_s=None)
    assert (spell.failed, asker.lost, spell.heard) == (3, None, [])
    assert {row.failure_kind for row in spell.journal.rows.values()} == {"unreachable"}


def test_a_server_that_comes_and_goes_is_told_of_each_time() -> None:
    spell = Spell(House({HERE: [(5.0, 30.0), (60.0, 100.0), (130.0, 131.0)]}), calls=400)
    spell.live()
    assert spell.failed == 0
    assert [o.state for o in spell.heard] == ["waiting", "over"] * (len(spell.heard) // 2)
    assert len(spell.heard) >= 4


def test_a_drained_run_hears_of_no_outage_any_more() -> None:
    house = House({HERE: [(0.0, 1e9)]})
    heard = list[Outage]()

    async def drained_early() -> Asker:
        asker = Asker(Pages(), load_bytes, make_client=house, patience_s=PATIENCE_S)
        asker.on_outage = heard.append
        task = asyncio.create_task(asker.ask(REMOTE, request_of()))
        await asyncio.sleep(5)
        asker.drain()
        await asyncio.sleep(100)
        task.cancel()
        return asker

    assert run_virtual(drained_early()).lost is None
    assert [outage.state for outage in heard] == ["waiting"]


def test_a_client_that_cannot_be_reached_counts_as_any_other_without_patience() -> None:
    asker = Asker(Pages(), load_bytes, make_client=House({HERE: [(0.0, 1e9)]}), most_tries=2)
    with pytest.raises(ProviderFailed, match="refused"):
        run_virtual(asker.ask(REMOTE, request_of()))


CONTACTS: tuple[Contact, ...] = ("reached", "unreached", "broken", "unknown")


@given(st.lists(st.tuples(st.sampled_from(CONTACTS), st.floats(0.1, 400)), max_size=60))
def test_one_call_at_a_time_looks_and_never_later_than_patience_ends(
    steps: list[tuple[Contact, float]],
) -> None:
    heard: list[Outage] = []
    endpoint = EndpointWatch("host", 900.0, lambda _address: True, heard.append)
    now_s = 0.0
    for contact, wait_s in steps:
        opens_s = endpoint.opens_at(now_s)
        assert opens_s <= now_s + LONGEST_GAP_S
        now_s = max(now_s + wait_s, opens_s)
        is_look = endpoint.enter()
        assert (endpoint.opens_at(now_s) == float("inf")) == is_look
        endpoint.leave(contact, now_s, is_look=is_look)
        if any(outage.state == "given-up" for outage in heard):
            break
    states = [outage.state for outage in heard]
    assert all(a != b for a, b in pairwise(states))
    assert states[:1] in ([], ["waiting"])


def test_a_call_that_finds_out_a_limit_keeps_no_money_from_others_while_nobody_is_there() -> None:
    """One call halves its frames while others of its model hold their money and wait for it."""
    limits = Estimates()
    journal = Pages()
    sent = list[int]()
    model = REMOTE.with_settings(price=Price(input_usd=1.0, output_usd=1.0))
    requests = [request_of(f"{n}", ordinal=n, frames=frames_of(8)) for n in range(4)]
    most = limits.most(model, requests[0]).tokens

    class Starting:
        """Too small, then gone, then a port without a server, then there again."""

        async def send(self, sending: OutgoingCall) -> ReceivedReply:
            assert sending.frames is not None
            count = len(sending.frames.frames)
            now_s = asyncio.get_running_loop().time()
            sent.append(count)
            await asyncio.sleep(0.5)
            if count == 8 or (now_s >= 20 and count > 4):
                raise Status(413, body={"message": "Request entity too large"})
            if now_s < 20:
                raise httpx.ConnectError("refused") if now_s < 5 else httpx.ReadError("reset")
            return ReceivedReply("words", Usage(input_tokens=3, output_tokens=1))

        async def aclose(self) -> None:
            """Have nothing to close."""

    async def ask_all() -> list[CallRow]:
        asker = Asker(
            journal,
            load_bytes,
            estimates=limits,
            make_client=lambda _model, _load: Starting(),
            concurrency=4,
            spend_cap=CappedBudget(SpendCaps(tokens=most * 4.5), limits),
            patience_s=PATIENCE_S,
        )
        work = asyncio.gather(*(asker.ask_row(model, request) for request in requests))
        return await asyncio.wait_for(work, 10_000)

    assert [row.reply for row in run_virtual(ask_all())] == ["words"] * 4


def test_a_turn_that_is_given_back_unused_does_not_keep_a_run_from_draining() -> None:
    askers: list[Asker] = []

    class Small:
        """Too small for eight frames; in the turn of the loop that says so somebody interrupts."""

        async def send(self, _sending: OutgoingCall) -> ReceivedReply:
            await asyncio.sleep(0.01)
            asyncio.get_running_loop().call_soon(askers[0].drain)
            raise Status(413, body={"message": "Request entity too large"})

        async def aclose(self) -> None:
            """Have nothing to close."""

    async def drained() -> bool:
        asker = Asker(Pages(), load_bytes, make_client=lambda *_: Small(), concurrency=1)
        askers.append(asker)
        requests = [request_of(f"{n}", ordinal=n, frames=frames_of(8)) for n in range(2)]
        tasks = [asyncio.create_task(asker.ask_row(REMOTE, request)) for request in requests]
        await asyncio.wait_for(asker.drained.wait(), 100)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return asker.under_way == 0

    assert run_virtual(drained())


def test_an_endpoint_is_looked_at_as_often_as_patience_asks_for() -> None:
    endpoint = EndpointWatch("host", 60e6, lambda _address: True, lambda _outage: None)
    endpoint.leave("unreached", 0.0, is_look=endpoint.enter())
    now_s = 0.0
    for _ in range(1_100):
        now_s = endpoint.opens_at(now_s)
        endpoint.leave("unreached", now_s, is_look=endpoint.enter())
    assert endpoint.opens_at(now_s) == now_s + LONGEST_GAP_S


@pytest.mark.parametrize("stop_s", [0.0, 5000.0])
def test_an_endpoint_is_not_given_up_for_as_long_as_nobody_looked(stop_s: float) -> None:
    heard: list[Outage] = []
    endpoint = EndpointWatch("there", PATIENCE_S, lambda _address: True, heard.append)
    endpoint.leave("unreached", 0.0, is_look=endpoint.enter())
    now_s = 0.0
    for look in range(200):
        now_s = endpoint.opens_at(now_s) + stop_s * (look == 20)
        is_look = endpoint.enter()
        now_s += 1.0
        endpoint.leave("unreached", now_s, is_look=is_look)
        if heard[-1].state == "given-up":
            break
    assert [one.state for one in heard] == ["waiting", "given-up"]
    assert abs(now_s - stop_s - PATIENCE_S) <= LONGEST_LOOK_S


def test_a_look_that_a_stop_cut_off_tells_nothing_of_the_endpoint() -> None:
    refused = httpx.ConnectError("refused")
    late = StandstillTimeout("the machine slept for 3600 s")
    script = Script([refused, late, refused, "words"])
    heard = list[Outage]()

    async def live() -> None:
        asker = Asker(Pages(), load_bytes, make_client=script, patience_s=PATIENCE_S)
        asker.on_outage = heard.append
        await asker.ask(REMOTE, request_of())

    run_virtual(live())
    assert [one.state for one in heard] == ["waiting", "over"]
