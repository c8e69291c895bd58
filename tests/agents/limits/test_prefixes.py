"""One call of a cold prefix goes first; the others wait until its reply begins, and no longer."""

from __future__ import annotations

import asyncio
import itertools
import math
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from tests.support import wire
from tests.support.asking import Pages, Status, frames_of, load_bytes, request_of
from tests.support.loopback import serving
from tests.support.prompt_caches import provider_at
from tests.support.virtual import run_virtual
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import Estimates, expected_input
from videoautoarena.agents.limits.prefixes import LIFE_S, CachePrefixes, caching_of
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.contracts import JudgeReply
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import CallLimits, Price, Usage

GPT = parse_model("openai:gpt-4o")
GEMINI = parse_model("google_genai:gemini-2.5-pro")
CALL_S = 10.0
USAGE = Usage(input_tokens=2000, output_tokens=10)
DEAR: dict[str, Any] = {
    "price": Price(input_usd=0, output_usd=1_000_000),
    "parameters": {"max_tokens": 10},
}
"""A dollar a token, ten dollars a call."""


@dataclass(frozen=True)
class Fate:
    """How one try goes: an error or a reply, after so long, which may begin before."""

    takes_s: float = CALL_S
    error: Exception | None = None
    begins_s: float | None = None


@dataclass
class CachingServer:
    """Clients of a server whose cache holds a prefix from when a reply to it has begun.

    `fate` says how the next try goes, by its number.
    """

    fate: Callable[[int], Fate] = lambda _number: Fate()
    sent_s: list[float] = field(default_factory=list)
    began: set[object] = field(default_factory=set)
    cold: Counter[object] = field(default_factory=Counter)
    """Tries under way of each prefix that were sent before a reply to it began."""
    most_cold: int = 0
    misses: int = 0

    def __call__(self, model: Model, _load: object) -> _CachingClient:
        return _CachingClient(self, model)


@dataclass
class _CachingClient:
    server: CachingServer
    model: Model

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        server = self.server
        fate = server.fate(len(server.sent_s))
        server.sent_s.append(asyncio.get_running_loop().time())
        shown = sending.frames.frames if sending.frames else ()
        prefix = (self.model.resolved, shown)
        is_miss = prefix not in server.began
        server.misses += is_miss
        server.cold[prefix] += is_miss
        server.most_cold = max(server.most_cold, server.cold[prefix])
        try:
            if fate.begins_s is not None:
                await asyncio.sleep(fate.begins_s)
                server.began.add(prefix)
                server.cold[prefix] -= is_miss
                is_miss = False
                sending.on_beginning()
            await asyncio.sleep(fate.takes_s)
            if fate.error is not None:
                raise fate.error
            server.began.add(prefix)
        finally:
            server.cold[prefix] -= is_miss
        return ReceivedReply("words", USAGE, "stop")

    async def aclose(self) -> None:
        """Have nothing to close."""


def asked(number: int, *, video: str = "0123456789ab", frames: int = 8) -> Request:
    return request_of(f"Look, {number}.", frames=frames_of(frames, video=video), ordinal=number)


def asker_of(server: CachingServer, **settings: Any) -> Asker:
    return Asker(Pages(), load_bytes, make_client=server, **{"concurrency": 64, **settings})


async def ask_all(asker: Asker, count: int, model: Model = GPT, **asking: Any) -> None:
    await asyncio.gather(*(asker.ask(model, asked(n, **asking)) for n in range(count)))


@pytest.mark.parametrize("model", [GPT, GEMINI])
def test_of_fifty_calls_at_once_one_goes_first_and_all_others_when_its_reply_is_there(
    model: Model,
) -> None:
    server = CachingServer()
    run_virtual(ask_all(asker_of(server), 50, model))
    assert server.sent_s == [0.0] + [CALL_S] * 16 + sorted(server.sent_s[17:])
    assert (server.misses, len(server.sent_s)) == (1, 50)


def test_a_reply_that_comes_in_pieces_lets_the_others_go_with_its_first_piece() -> None:
    server = CachingServer(lambda _n: Fate(begins_s=1.0))
    run_virtual(ask_all(asker_of(server), 5))
    assert server.sent_s == [0.0] + [1.0] * 4


def test_calls_that_come_later_do_not_wait_and_a_prefix_grows_cold_unused() -> None:
    server = CachingServer()

    async def live() -> None:
        asker = asker_of(server)
        await ask_all(asker, 1)
        # Each use keeps it warm for as long again.
        for number in range(1, 4):
            await asyncio.sleep(LIFE_S - 1)
            await asyncio.gather(*(asker.ask(GPT, asked(10 * number + n)) for n in range(2)))
        await asyncio.sleep(LIFE_S + 1)
        await asyncio.gather(*(asker.ask(GPT, asked(50 + n)) for n in range(3)))

    run_virtual(live())
    *warm, first, second, third = server.sent_s
    assert warm[1::2] == warm[2::2]
    assert (second, third) == (first + CALL_S, first + CALL_S)


def test_two_models_two_videos_and_two_forms_of_reply_have_prefixes_of_their_own() -> None:
    server = CachingServer()

    async def live() -> None:
        asker = asker_of(server)
        mini = parse_model("openai:gpt-4o-mini")
        held = parse_model("openai:gpt-4o", {"structured": "auto"})
        judged = Request("judge", "Well?", frames_of(8), asked(9).nonce, schema=JudgeReply)
        await asyncio.gather(
            asker.ask(GPT, asked(0)),
            asker.ask(mini, asked(1)),
            asker.ask(GPT, asked(2, video="another")),
            asker.ask(held, asked(3)),
            asker.ask(held, judged),
        )

    run_virtual(live())
    assert server.sent_s == [0.0] * 5


def test_who_reads_no_cache_waits_for_nobody() -> None:
    own = {"base_url": "http://127.0.0.1:9/v1"}
    assert caching_of(GPT, 8) == "implicit"
    assert caching_of(GEMINI, 8) == "implicit"
    assert caching_of(parse_model("openai:gpt-4o", own), 8) == "none"
    assert caching_of(parse_model("offline:hawk"), 8) == "none"
    # It finds in its cache what ends at a mark alone.
    assert caching_of(parse_model("openai:gpt-5.6"), 8) == "marks"
    assert caching_of(parse_model("openai:gpt-5.6", {"cache_breakpoint": False}), 8) == "none"
    # Models of Bedrock other than Claude are sent no mark, so that nothing is kept of them.
    assert caching_of(parse_model("bedrock:us.anthropic.claude-sonnet-4-5-v1:0"), 8) == "marks"
    assert caching_of(parse_model("bedrock:amazon.nova-pro-v1:0"), 8) == "none"
    # OpenRouter passes the mark on to Claude; the caches of all others need none.
    assert caching_of(parse_model("openrouter:anthropic/claude-sonnet-4.5"), 8) == "marks"
    assert caching_of(parse_model("openrouter:openai/gpt-4o"), 8) == "implicit"
    no_frames = request_of()
    assert CachePrefixes().of(GPT, no_frames, Estimates().limits) is None
    server = CachingServer()
    run_virtual(ask_all(asker_of(server), 5, parse_model("openai:gpt-4o", own)))
    assert server.sent_s == [0.0] * 5


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("openai:gpt-4o", 1_024),
        ("google_genai:gemini-2.0-flash", math.inf),
        ("google_genai:gemini-2.5-pro", 2_048),
        ("google_genai:gemini-3.6-flash", 4_096),
        ("vertex:gemini-2.5-flash", 2_048),
        ("anthropic:claude-opus-5", 512),
        ("anthropic:claude-opus-4-8", 1_024),
        ("anthropic:claude-opus-4-20250514", 1_024),
        ("anthropic:claude-sonnet-4-5", 1_024),
        ("anthropic:claude-opus-4-7", 2_048),
        ("anthropic:claude-3-5-haiku-20241022", 2_048),
        ("anthropic:claude-opus-4-6", 4_096),
        ("anthropic:claude-opus-4-5-20251101", 4_096),
        ("bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0", 4_096),
        ("openrouter:anthropic/claude-opus-4.6", 4_096),
        ("openrouter:openai/gpt-4o", 1_024),
    ],
)
def test_what_is_shorter_than_a_models_cache_keeps_is_in_none(name: str, least: float) -> None:
    model = parse_model(name)
    assert model.maker.shortest_cached(model) == least
    fitting = [frames for frames in range(64) if expected_input(model, frames) >= least]
    cached = [frames for frames in range(64) if caching_of(model, frames) != "none"]
    assert cached == fitting


def test_nobody_waits_for_what_is_too_short_for_the_cache() -> None:
    times = {}
    for name in ("claude-opus-4-8", "claude-opus-4-6"):
        server = CachingServer()
        model = parse_model(f"anthropic:{name}")
        # Eight frames of 350 tokens.
        run_virtual(ask_all(asker_of(server), 3, model))
        times[name] = sorted(server.sent_s)
    assert times["claude-opus-4-8"][0] < times["claude-opus-4-8"][1]
    assert times["claude-opus-4-6"] == [0.0] * 3


def test_a_server_whose_user_states_a_price_of_cached_input_keeps_prompts() -> None:
    said = {"base_url": "http://127.0.0.1:9/v1"}
    for cached_usd, caching in ((None, "none"), (1.0, "none"), (0.1, "implicit")):
        price = Price(input_usd=1.0, output_usd=4.0, cached_usd=cached_usd, source="arena.toml")
        assert caching_of(parse_model("openai:own", {**said, "price": price}), 8) == caching


def test_another_address_in_the_environment_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert caching_of(parse_model("openai:gpt-4o"), 8) == "none"


FAILURES = {
    "500": Status(500),
    "429": Status(429, {"retry-after": "60"}),
    "400": Status(400),
    "time-out": TimeoutError("nothing came back"),
    "connection": ConnectionResetError("gone"),
}
"""What a server may do to a call, and the call's error."""


@pytest.mark.parametrize("error", FAILURES.values(), ids=FAILURES.keys())
def test_a_leader_that_fails_hands_on_to_the_next_one_at_once(error: Exception) -> None:
    server = CachingServer(lambda n: Fate(error=error) if n < 2 else Fate())
    asker = asker_of(server)

    async def live() -> None:
        await asyncio.gather(*(asker.ask(GPT, asked(n)) for n in range(5)), return_exceptions=True)

    run_virtual(live())
    # A server that refuses is left alone for a moment, whoever is next.
    told_s = [0.0, CALL_S, 2 * CALL_S, 3 * CALL_S, 3 * CALL_S]
    assert server.sent_s[:5] == pytest.approx(told_s, abs=0.5)
    assert server.most_cold == 1


@pytest.mark.parametrize("gone", [4, 10**6])
def test_an_endpoint_that_is_gone_is_looked_at_by_one_call_and_no_other_waits_for_that(
    gone: int,
) -> None:
    """It comes back, or is given up and the run drains."""
    nobody = Fate(0.0, httpx.ConnectError("nobody is there"))
    server = CachingServer(lambda n: nobody if n < gone else Fate())
    asker = asker_of(server, patience_s=60.0)

    async def live() -> int:
        tasks = [asyncio.create_task(asker.ask(GPT, asked(n))) for n in range(5)]
        whole = asyncio.gather(*tasks)
        drained = asyncio.create_task(asker.drained.wait())
        async with asyncio.timeout(1000):
            await asyncio.wait({whole, drained}, return_when=asyncio.FIRST_COMPLETED)
        answered = sum(task.done() for task in tasks)
        for task in (*tasks, drained):
            task.cancel()
        await asyncio.gather(whole, drained, return_exceptions=True)
        return answered

    assert run_virtual(live()) == (5 if gone == 4 else 0)
    assert (asker.lost is None) == (gone == 4)
    assert server.most_cold == 1


def test_a_leader_whose_reply_breaks_off_has_written_the_prefix_all_the_same() -> None:
    broken = Fate(begins_s=1.0, error=ConnectionResetError("gone"))
    server = CachingServer(lambda n: Fate() if n else broken)
    run_virtual(ask_all(asker_of(server), 3))
    assert server.sent_s[:3] == [0.0, 1.0, 1.0]


def test_a_leader_that_is_cancelled_keeps_nobody_waiting() -> None:
    server = CachingServer()

    async def live() -> None:
        asker = asker_of(server)
        tasks = [asyncio.create_task(asker.ask(GPT, asked(n))) for n in range(4)]
        await asyncio.sleep(3)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run_virtual(live())
    assert server.sent_s == [0.0, 3.0, 3.0 + CALL_S, 3.0 + CALL_S]


def test_a_waiter_that_is_cancelled_is_waited_for_by_nobody() -> None:
    server = CachingServer()

    async def live() -> Asker:
        asker = asker_of(server)
        tasks = [asyncio.create_task(asker.ask(GPT, asked(n))) for n in range(4)]
        await asyncio.sleep(3)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return asker

    asker = run_virtual(live())
    assert server.sent_s == [0.0, CALL_S, CALL_S]
    assert asker.under_way == 0


def test_in_a_drain_the_leader_is_finished_and_the_others_wait_until_cancelled() -> None:
    server = CachingServer()

    async def live() -> list[bool]:
        asker = asker_of(server)
        tasks = [asyncio.create_task(asker.ask(GPT, asked(n))) for n in range(4)]
        await asyncio.sleep(3)
        asker.drain()
        await asker.drained.wait()
        await asyncio.sleep(10 * LIFE_S)
        done = [task.done() for task in tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return done

    assert run_virtual(live()) == [True, False, False, False]
    assert server.sent_s == [0.0]


def test_a_waiter_holds_no_place_and_no_turn_of_a_stated_rate() -> None:
    server = CachingServer()
    slow = parse_model("openai:gpt-4o", {"limits": CallLimits(requests_per_minute=60)})

    async def live() -> None:
        asker = asker_of(server, concurrency=2)
        led = asyncio.gather(*(asker.ask(slow, asked(n)) for n in range(5)))
        await asyncio.sleep(1)
        await asker.ask(GEMINI, asked(9))
        await led

    run_virtual(live())
    # The other model goes beside the leader, and nobody that waited was counted against the rate.
    assert server.sent_s[:4] == [0.0, 1.0, CALL_S, pytest.approx(CALL_S + 1)]


def test_calls_that_wait_for_a_place_do_not_go_beside_the_first_of_them() -> None:
    """Two places are taken by calls of another prefix, and come free together."""
    server = CachingServer(lambda n: Fate(CALL_S if n < 2 else 1.0))

    async def live() -> None:
        asker = asker_of(server, concurrency=2)
        others = [asker.ask(GEMINI, asked(n, frames=1)) for n in range(2)]
        await asyncio.gather(*others, *(asker.ask(GPT, asked(n)) for n in range(10, 14)))

    run_virtual(live())
    assert server.sent_s == [0.0, 0.0, CALL_S, CALL_S + 1, CALL_S + 1, CALL_S + 2]


def test_a_waiter_holds_no_money_that_others_need() -> None:
    server = CachingServer()
    dear = parse_model("openai:gpt-4o", DEAR)
    estimates = Estimates()
    cap = CappedBudget(SpendCaps(usd=60.0), estimates)

    async def live() -> None:
        asker = asker_of(server, spend_cap=cap, estimates=estimates)
        led = asyncio.gather(*(asker.ask(dear, asked(n)) for n in range(2)))
        await asyncio.sleep(1)
        assert cap.held.nano == 10 * 10**9
        # Ten dollars each: of sixty, two that lead leave room for what needs all the rest.
        others = [asker.ask(dear, asked(n, video=f"video {n}")) for n in range(10, 14)]
        await asyncio.gather(led, *others)

    run_virtual(live())
    assert server.sent_s == [0.0, 1.0, 1.0, 1.0, 1.0, CALL_S]
    assert cap.held.nano == 0


def test_where_a_cap_ends_the_run_nobody_but_the_unpaid_waits() -> None:
    """Ten dollars a call, and thirty in all: three are answered, and the run drains."""
    server = CachingServer()
    dear = parse_model("openai:gpt-4o", DEAR)
    estimates = Estimates()
    asker = asker_of(
        server, spend_cap=CappedBudget(SpendCaps(usd=30.0), estimates), estimates=estimates
    )

    async def live() -> int:
        tasks = [asyncio.create_task(asker.ask(dear, asked(n))) for n in range(5)]
        await asker.drained.wait()
        answered = sum(task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return answered

    assert run_virtual(live()) == 3
    assert asker.is_broke


def test_a_drain_is_no_end_of_the_money() -> None:
    """The leader takes all that there is; whoever waits for it comes to know nothing of that."""
    server = CachingServer()
    dear = parse_model("openai:gpt-4o", DEAR)
    estimates = Estimates()
    cap = CappedBudget(SpendCaps(usd=29.0), estimates)
    asker = asker_of(server, spend_cap=cap, estimates=estimates)

    async def live() -> None:
        tasks = [asyncio.create_task(asker.ask(dear, asked(n))) for n in range(2)]
        await asyncio.sleep(1)
        cap.spent = cap.spent.plus(cap.held)
        asker.drain()
        await asker.drained.wait()
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run_virtual(live())
    assert not asker.is_broke


def test_nobody_waits_longer_than_one_try_may_take() -> None:
    """Every try runs into its time limit: one by one, fifty calls would take hours."""
    most_s = 300.0
    server = CachingServer(lambda _n: Fate(takes_s=most_s, error=TimeoutError("nothing")))
    asker = asker_of(server, most_tries=1)

    async def live() -> None:
        asking = (asker.ask(GPT, asked(n)) for n in range(50))
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(one, ProviderFailed) for one in found)

    run_virtual(live())
    assert GPT.timeout_s == most_s
    # One leads, at most one more comes to, and then all go.
    assert sum(sent_s <= most_s for sent_s in server.sent_s) >= 1 + 16


def test_intents_are_written_as_each_try_is_sent_and_none_while_a_call_waits() -> None:
    pages = Pages()
    server = CachingServer()

    async def live() -> None:
        asker = Asker(pages, load_bytes, make_client=server)
        asking = asyncio.gather(*(asker.ask(GPT, asked(n)) for n in range(4)))
        await asyncio.sleep(1)
        assert [intent.nonce.ordinal for intent in pages.intents] == [0]
        await asyncio.sleep(CALL_S)
        assert [intent.nonce.ordinal for intent in pages.intents] == [1, 2, 3]
        await asking

    run_virtual(live())
    assert (pages.intents, len(pages.rows)) == ([], 4)


def test_a_prefix_is_forgotten_once_it_is_cold_and_unused() -> None:
    server = CachingServer()

    async def live() -> tuple[int, int]:
        asker = asker_of(server)
        known = asker._tries.prefixes._known
        await asyncio.gather(*(asker.ask(GPT, asked(n, video=f"video {n}")) for n in range(20)))
        warm = len(known)
        await asyncio.sleep(LIFE_S + 1)
        await asker.ask(GPT, asked(99))
        return warm, len(known)

    assert run_virtual(live()) == (20, 1)


def test_over_http_the_first_piece_of_a_reply_lets_the_others_go(tmp_path: Path) -> None:
    """The server ends its first reply only when all others have come."""
    arrivals = itertools.count(1)
    have_come = threading.Event()
    were_there: list[bool] = []

    def script(request: wire.Request, _ask: object) -> wire.Answer:
        number = next(arrivals)
        if number == 4:
            have_come.set()
        usage = {"input_tokens": 2000, "output_tokens": 10, "total_tokens": 2010}
        said = AIMessage.model_validate({"content": "A heron.", "usage_metadata": usage})
        body = wire.reply(request, said)
        whole = wire.pieces(body)
        first = wire.first_pieces(body) if number == 1 else whole
        return wire.Answer(
            200,
            first,
            "text/event-stream",
            rest=whole[len(first) :],
            until=lambda: were_there.append(have_come.wait(20)),
        )

    async def live() -> None:
        model = parse_model("openai:gpt-4o", {"parameters": {"stream": True}})
        asker = Asker(Pages(), load_bytes)
        try:
            await ask_all(asker, 4, model)
        finally:
            await asker.aclose()

    with serving(tmp_path / "log", script=script) as server, provider_at(OPENAI, server.gemini_url):
        asyncio.run(live())
    assert were_there == [True]


LINES = st.builds(
    Fate,
    takes_s=st.sampled_from([0.0, 1.0, 20.0]),
    error=st.sampled_from([None, None, *FAILURES.values(), httpx.ConnectError("nobody")]),
    begins_s=st.sampled_from([None, None, 0.0, 2.0]),
)
CALLS = st.tuples(
    st.sampled_from([0.0, 0.0, 0.5, 30.0, 400.0]),
    st.sampled_from(["one", "two"]),
    st.sampled_from([GPT, GEMINI]),
    st.none() | st.sampled_from([0.0, 0.5, 5.0]),
)


@given(
    calls=st.lists(CALLS, min_size=1, max_size=20),
    lines=st.lists(LINES, max_size=40),
    places=st.integers(1, 8),
    usd=st.none() | st.sampled_from([15.0, 60.0]),
    drain_s=st.none() | st.sampled_from([0.5, 15.0]),
    patience_s=st.none() | st.sampled_from([5.0, 900.0]),
)
def test_nobody_waits_for_ever_and_one_call_of_a_cold_prefix_is_under_way(
    calls: list[tuple[float, str, Model, float | None]],
    lines: list[Fate],
    places: int,
    usd: float | None,
    drain_s: float | None,
    patience_s: float | None,
) -> None:
    """Each call comes at some time, and may be cancelled some time later."""
    server = CachingServer(lambda n: lines[n] if n < len(lines) else Fate())
    estimates = Estimates()
    # No try takes so long that the others stop waiting for it and those behind it.
    set_ = DEAR | {"timeout_s": 1e6}
    cap = CappedBudget(SpendCaps(usd=usd), estimates)
    waiting: dict[str, Any] = {"concurrency": places, "patience_s": patience_s}
    asker = asker_of(server, **waiting, spend_cap=cap, estimates=estimates)

    async def one(number: int, call: tuple[float, str, Model, float | None]) -> None:
        at_s, video, model, cancel_s = call
        await asyncio.sleep(at_s)
        asking = asker.ask(model.with_settings(**set_), asked(number, video=video))
        with suppress(ProviderFailed, TimeoutError):
            await (asking if cancel_s is None else asyncio.wait_for(asking, cancel_s))

    async def live() -> None:
        tasks = [asyncio.create_task(one(*numbered)) for numbered in enumerate(calls)]
        if drain_s is not None:
            await asyncio.sleep(drain_s)
            asker.drain()
        drained = asyncio.create_task(asker.drained.wait())
        async with asyncio.timeout(1e5):
            whole = asyncio.gather(*tasks)
            await asyncio.wait({whole, drained}, return_when=asyncio.FIRST_COMPLETED)
        for task in (*tasks, drained):
            task.cancel()
        await asyncio.gather(whole, drained, return_exceptions=True)

    run_virtual(live())
    assert server.most_cold <= 1
    assert asker.under_way == 0
    assert cap.held.nano == 0
    assert not any(prefix.is_led for prefix in asker._tries.prefixes._known.values())
