"""Calls that are answered while this process is stopped or its machine sleeps, over sockets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage

from tests.support import wire
from tests.support.asking import Pages, load_bytes, no_pause, request_of
from tests.support.loopback import Loopback, Manners, always, serving
from tests.support.virtual import StoppableLoop
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.agents.transport import deadlines
from videoautoarena.memory.records.errors import CallFailed

CALLS = 3
LIMIT_S = 8.0
FOREIGN = Declaration(chat_model="langchain_openai:ChatOpenAI", headers_parameter="extra_headers")
When = Literal["meanwhile", "soon"]
WAYS = ("openai", "streamed", "half-streamed", "google_genai", "foreign")


def model_at(way: str, server: Loopback, timeout_s: float = LIMIT_S) -> Model:
    url = server.gemini_url if way == "google_genai" else server.openai_url
    settings: dict[str, Any] = {"base_url": url, "timeout_s": timeout_s}
    if "streamed" in way:
        settings["parameters"] = {"stream": True}
    if way == "foreign":
        return parse_model("house:big", settings | {"declared": FOREIGN})
    provider = way if way == "google_genai" else "openai"
    return parse_model(f"{provider}:gemini-2.5-flash", settings)


@dataclass
class Stop:
    """A process that is stopped while its calls are answered: the server's side and the loop's."""

    way: str
    answers: When | None = "meanwhile"
    go: threading.Event = field(default_factory=threading.Event)

    def script(self, request: wire.Request, ask: Callable[[], AIMessage]) -> wire.Answer:
        """Answer a call as soon as the process is stopped."""
        body = wire.reply(request, ask())
        if "streamed" not in self.way:
            self.go.wait(20)
            return wire.Answer(200, body)
        whole = wire.pieces(body)
        first = wire.first_pieces(body)
        kind = "text/event-stream"
        if self.way == "half-streamed":
            until = self.go.wait
            return wire.Answer(200, first, kind, rest=whole[len(first) :], until=lambda: until(20))
        self.go.wait(20)
        return wire.Answer(200, whole, kind)

    async def happen(self, server: Loopback, stop_s: float) -> None:
        """Stop once all calls are there, for as long as it takes until all answers are."""
        while len(server.events("arrived")) < CALLS:
            await asyncio.sleep(0.002)
        if self.way == "half-streamed":
            # The first pieces are on their way, and the next are to be waited for.
            await asyncio.sleep(0.05)
        if self.answers == "meanwhile":
            # Nothing is read from here on.
            self.go.set()
            server.after(CALLS)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, StoppableLoop)
        loop.stand_still(stop_s)
        if self.answers == "soon":
            loop.call_later(0.05, self.go.set)


@dataclass
class Found:
    """What came of some calls."""

    replies: list[str | CallFailed]
    journal: Pages
    arrived: list[str]
    took_s: float
    """Once the stop was over."""

    @property
    def kinds(self) -> list[list[str]]:
        return [[one.kind for one in row.attempts] for row in self.journal.rows.values()]


def ask_over_a_stop(log: Path, stop: Stop, stop_s: float, **settings: Any) -> Found:
    """Return what came of calls to a server, of which a stop overtook each."""
    journal = Pages()

    async def reply(asker: Asker, model: Model, number: int) -> str | CallFailed:
        try:
            return await asker.ask(model, request_of(scope=f"{number:012x}-p1-r0"))
        except CallFailed as failure:
            return failure

    async def live(server: Loopback) -> Found:
        asker = Asker(journal, load_bytes, pause=no_pause, **settings)
        model = model_at(stop.way, server)
        calls = [asyncio.ensure_future(reply(asker, model, number)) for number in range(CALLS)]
        await stop.happen(server, stop_s)
        loop = asyncio.get_running_loop()
        woke_s = loop.time()
        replies = await asyncio.gather(*calls)
        took_s = loop.time() - woke_s
        await asker.aclose()
        arrived = [row["key"] for row in server.events("arrived")]
        return Found(replies, journal, arrived, took_s)

    with (
        serving(log, brain=always("words"), script=stop.script) as server,
        asyncio.Runner(loop_factory=StoppableLoop) as runner,
    ):
        try:
            return runner.run(live(server))
        finally:
            stop.go.set()


@pytest.mark.parametrize(
    ("way", "stop_s"), [*((way, 400.0) for way in WAYS), ("openai", 75.0), ("google_genai", 75.0)]
)
def test_what_was_answered_during_a_stop_is_not_asked_again(
    way: str, stop_s: float, tmp_path: Path
) -> None:
    found = ask_over_a_stop(tmp_path / "log", Stop(way), stop_s)
    assert found.replies == ["words"] * CALLS
    assert (len(found.arrived), len(set(found.arrived))) == (CALLS, CALLS)
    assert (found.kinds, found.journal.intents) == ([[]] * CALLS, [])
    assert found.took_s < LIMIT_S


def test_what_was_not_answered_by_then_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "READ_S", 0.05)
    stop = Stop("openai", None)
    found = ask_over_a_stop(tmp_path / "log", stop, 400.0, most_tries=1)
    assert {getattr(one, "kind", one) for one in found.replies} == {"stopped"}
    assert 0.05 <= found.took_s < LIMIT_S


@pytest.mark.parametrize("way", WAYS)
def test_what_is_answered_soon_after_a_stop_is_not_asked_again(way: str, tmp_path: Path) -> None:
    found = ask_over_a_stop(tmp_path / "log", Stop(way, "soon"), 400.0)
    assert found.replies == ["words"] * CALLS
    assert (len(found.arrived), found.kinds) == (CALLS, [[]] * CALLS)


@pytest.mark.parametrize("provider", ["openai", "google_genai"])
def test_connections_of_before_a_sleep_are_used_no_more(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept_s = 0.0
    read = deadlines.boot_s
    monkeypatch.setattr(deadlines, "boot_s", lambda: read() + slept_s)
    made: list[Any] = []

    async def live(server: Loopback) -> list[int]:
        nonlocal slept_s
        asker = Asker(Pages(), load_bytes)
        counts = list[int]()
        model = model_at(provider, server, 30.0)
        for number in range(4):
            await asker.ask(model, request_of(ordinal=number))
            client: Any = asker._tries._clients[model]
            if client._chat not in made:
                made.append(client._chat)
            counts.append(len(made))
            slept_s += 3600.0 * (number == 1)
        closed = made[0].http_async_client.is_closed if provider == "openai" else True
        assert closed
        await asker.aclose()
        return counts

    with serving(tmp_path / "log", Manners(), brain=always("words")) as server:
        assert asyncio.run(live(server)) == [1, 1, 2, 2]
