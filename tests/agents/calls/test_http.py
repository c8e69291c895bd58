"""Both providers' clients over real sockets: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from tests.support.asking import Pages, frames_of, load_bytes, no_pause, request_of
from tests.support.loopback import Loopback, Manners, Mishap, serving
from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.errors import CallFailed, EmptyReply, ProviderFailed
from videoautoarena.memory.records.records import CallRow, Usage

KEY = "sk-test-5f0c7d21a4b8e936"
Ask = Callable[..., "Told"]


class Told:
    """What one ask over HTTP left behind."""

    def __init__(self, reply: str | CallFailed, row: CallRow, server: Loopback) -> None:
        self.reply = reply
        self.row = row
        self.server = server

    @property
    def arrived(self) -> list[dict[str, Any]]:
        return self.server.events("arrived")


def model_at(provider: str, server: Loopback, **settings: Any) -> Model:
    url = server.openai_url if provider == "openai" else server.gemini_url
    name = "gpt-4o" if provider == "openai" else "gemini-2.5-flash"
    return Model(
        alias="remote", model=f"{provider}:{name}", base_url=url, key_env="TEST_KEY", **settings
    )


def parrot(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    blocks = messages[-1].content_blocks
    said = [str(block.get("text", "picture")) for block in blocks]
    usage = UsageMetadata(input_tokens=40, output_tokens=8, total_tokens=48)
    return AIMessage(json.dumps([messages[0].text, *said]), usage_metadata=usage)


@pytest.fixture(params=["openai", "google_genai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask one question of a server that misbehaves as told."""
    monkeypatch.setenv("TEST_KEY", KEY)

    def ask_once(
        *mishaps: Mishap, api_key: str = KEY, request: Request | None = None, **settings: Any
    ) -> Told:
        manners = Manners(mishaps=mishaps, api_key=api_key)
        with serving(tmp_path / "log", manners, brain=parrot) as server:
            return asyncio.run(_ask(model_at(provider, server, **settings), request, server))

    return ask_once


async def _ask(model: Model, request: Request | None, server: Loopback) -> Told:
    journal = Pages()
    asker = Asker(journal, load_bytes, pause=no_pause)
    reply: str | CallFailed
    try:
        reply = await asker.ask(model, request or request_of())
    except CallFailed as failure:
        reply = failure
    finally:
        await asker.aclose()
    (row,) = journal.rows.values()
    return Told(reply, row, server)


def test_frames_stand_behind_their_times_and_the_task_last(ask: Ask) -> None:
    told = ask(request=request_of("Well?", frames=frames_of(2)))
    assert isinstance(told.reply, str)
    spoken = json.loads(told.reply)
    assert spoken == [SYSTEM, "t=0.00s", "picture", "t=0.50s", "picture", "Well?"]


def test_the_journal_key_travels_with_every_try(ask: Ask, provider: str) -> None:
    told = ask(Mishap("status", status=503), Mishap("close", nth=2))
    expected = told.row.key
    assert [event["key"] for event in told.arrived] == [expected] * 3


def test_each_call_carries_a_key_of_its_own(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)

    async def ask_many(model: Model) -> set[str]:
        asker = Asker(Pages(), load_bytes, concurrency=4)
        requests = [request_of(ordinal=number) for number in range(4)]
        await asyncio.gather(*[asker.ask(model, request) for request in requests])
        await asker.aclose()
        return {journal_key(model, request) for request in requests}

    with serving(tmp_path / "log", brain=parrot) as server:
        keys = asyncio.run(ask_many(model_at(provider, server)))
        assert {event["key"] for event in server.events("arrived")} == keys


@pytest.mark.parametrize(
    ("name", "role", "said"),
    [
        ("gemini-2.5-flash", "contestant", {}),
        ("gemini-2.0-flash", "judge", {}),
        ("gemini-3-pro", "judge", {}),
        ("gemini-3-pro", "contestant", {"temperature": 0.0}),
        ("gemini-2.5-flash", "judge", {"temperature": 0.0}),
        ("gemini-2.0-flash", "contestant", {"temperature": 0.7}),
    ],
)
def test_gemini_is_sent_the_temperature_that_somebody_set_and_no_other(
    name: str, role: Any, said: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with serving(tmp_path / "log", brain=parrot) as server:
        settings = {"base_url": server.gemini_url, "key_env": "TEST_KEY", "parameters": said}
        model = parse_model(f"google_genai:{name}", settings)
        asyncio.run(_ask(model, replace(request_of(), role=role), server))
        (sent,) = server.events("arrived")
    drawn = {key: value for key, value in sent["sampling"].items() if key != "candidateCount"}
    assert drawn == said | ({"maxOutputTokens": 4096} if role == "contestant" else {})


def test_one_failing_try_is_one_request(ask: Ask) -> None:
    told = ask(Mishap("status", status=400))
    assert isinstance(told.reply, ProviderFailed)
    assert (told.reply.kind, len(told.arrived)) == ("http-400", 1)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_status_is_tried_again_after_what_the_server_asks(ask: Ask, status: int) -> None:
    told = ask(Mishap("status", status=status, retry_after=3))
    assert isinstance(told.reply, str)
    assert [(a.kind, a.waited_s) for a in told.row.attempts] == [(f"http-{status}", 3.0)]


@pytest.mark.parametrize("deed", ["close", "cut"])
def test_a_broken_connection_is_tried_again(ask: Ask, deed: Any) -> None:
    told = ask(Mishap(deed))
    assert isinstance(told.reply, str)
    assert [attempt.kind for attempt in told.row.attempts] == ["connection"]


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
@pytest.mark.parametrize(
    "mishap", [Mishap("close", times=9), Mishap("status", status=404, times=9)]
)
def test_an_address_without_a_version_is_named_where_it_may_be_what_is_wrong(
    tmp_path: Path, provider: str, mishap: Mishap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with serving(tmp_path / "log", Manners(mishaps=(mishap,)), brain=parrot) as server:
        whole = model_at(provider, server)
        bare = whole.with_settings(base_url=server.openai_url.removesuffix("/v1"))
        told = asyncio.run(_ask(bare, None, server))
        assert f"(base_url {bare.base_url}; most addresses" in (told.row.failure or "")
        right = asyncio.run(_ask(whole, None, server)).row.failure or ""
    assert "end in /v1" not in right
    assert (f"(base_url {whole.base_url})" in right) == (mishap.do == "close")


@pytest.mark.parametrize("deed", ["html", "no-choice"])
def test_garbage_with_status_200_is_a_failure_and_no_bug(ask: Ask, deed: Any) -> None:
    told = ask(Mishap(deed, status=200, times=6))
    assert isinstance(told.reply, CallFailed)
    assert told.row.reply is None


def test_a_reply_without_text_is_empty(ask: Ask) -> None:
    assert isinstance(ask(Mishap("empty", times=3)).reply, EmptyReply)


def test_a_refused_key_is_named_nowhere(ask: Ask) -> None:
    told = ask(api_key="another")
    assert isinstance(told.reply, ProviderFailed)
    assert told.reply.kind == "http-401"
    assert KEY not in told.row.model_dump_json()


def test_a_silent_server_is_a_timeout(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Loopback(silent.getsockname()[1], Path())
        model = model_at(provider, server, timeout_s=0.05)
        told = asyncio.run(_ask(model, None, server))
    assert {attempt.kind for attempt in told.row.attempts} == {"timeout"}


def test_nobody_listening_is_a_failed_connection(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with socket.create_server(("127.0.0.1", 0)) as gone:
        server = Loopback(gone.getsockname()[1], Path())
    told = asyncio.run(_ask(model_at(provider, server), None, server))
    assert isinstance(told.reply, ProviderFailed)
    assert told.reply.kind == "unreachable"
    assert told.row.cost_usd == 0.0


def test_tokens_are_counted_as_the_provider_counts_them(ask: Ask) -> None:
    told = ask()
    assert told.row.usage == Usage(
        input_tokens=40, output_tokens=8, cached_tokens=20, reasoning_tokens=2
    )


def test_the_row_names_the_host_alone(ask: Ask) -> None:
    told = ask()
    assert told.row.endpoint == f"127.0.0.1:{told.server.port}"
