"""Frames that would leave without their call, or a call without its frames: nothing is sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from tests.support.asking import Pages, request_of, run
from tests.support.bodies import Book, keeping
from tests.support.carried import call, call_async, call_sync, close, plain_chat, run_for, sent
from tests.support.film import PROVIDERS, Film, images_of, model_at, send
from tests.support.loopback import always, serving
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import ChatClient
from videoautoarena.agents.models.registry import Model, build_chat_model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import short_messages
from videoautoarena.agents.transport.splice import Astray, carrying, spliced
from videoautoarena.agents.transport.transport import SplicingTransport, splices


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def book() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


def two_keys(key: str) -> list[Any]:
    part = {"type": "text", "text": key}
    return [SystemMessage(SYSTEM), HumanMessage(content=[part, part])]


def key_within(key: str) -> list[Any]:
    return short_messages(SYSTEM, f"see {key}", "Well?")


def key_quoted(key: str) -> list[Any]:
    return short_messages(SYSTEM, json.dumps({"type": "text", "text": key}), "Well?")


def key_in_system(key: str) -> list[Any]:
    return short_messages(f"{SYSTEM} {key}", "t=0.00s", "Well?")


def no_key(_key: str) -> list[Any]:
    return short_messages(SYSTEM, "t=0.00s", "Well?")


def another_key(_key: str) -> list[Any]:
    return short_messages(SYSTEM, run_for(Film(count=2)).key, "Well?")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (two_keys, "2 times"),
        (key_within, "no part of its own"),
        (key_quoted, "no part of its own"),
        (key_in_system, "no part of its own"),
        (no_key, "0 times"),
        (another_key, "of another"),
    ],
)
@pytest.mark.parametrize("way", ["async", "sync"])
def test_a_key_that_would_leave_as_text_raises_before_anything_is_sent(
    provider: str, book: Book, content: Any, reason: str, way: str
) -> None:
    carried = run_for(Film())
    chat = build_chat_model(model_at(provider, book.url))
    make = call_async if way == "async" else call_sync
    with pytest.raises(Astray, match=reason) as refused:
        make(chat, content(carried.key), carried)
    assert not book.requests
    assert carried.key[:32] not in str(refused.value)


def test_a_key_that_no_call_was_given_is_not_sent(provider: str, book: Book) -> None:
    carried = run_for(Film())
    chat = build_chat_model(model_at(provider, book.url))
    with pytest.raises(Exception) as refused:  # noqa: PT011  each client wraps it in its own
        run(call(chat, short_messages(SYSTEM, carried.key, "Well?"), None))
    assert Astray in {type(refused.value), type(refused.value.__cause__)}
    assert not book.requests


def test_a_client_that_calls_a_refusal_a_broken_connection_is_not_believed() -> None:
    def call_wrapped() -> None:
        with carrying(run_for(Film())):
            try:
                spliced(b"{}")
            except Astray as refusal:
                raise ConnectionError("try again") from refusal

    with pytest.raises(Astray, match="0 times"):
        call_wrapped()


def test_a_chat_model_without_our_transport_is_known_before_it_is_asked(
    provider: str, book: Book
) -> None:
    assert not splices(plain_chat(provider, book))
    assert splices(build_chat_model(model_at(provider, book.url)))


def test_an_answer_to_a_call_that_went_another_way_is_none(provider: str, book: Book) -> None:
    carried = run_for(Film())
    with pytest.raises(Astray, match="another way"):
        run(call(plain_chat(provider, book), no_key(carried.key), carried))


def test_a_client_of_another_make_goes_the_plain_way(
    provider: str, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = plain_chat(provider, book)
    film = Film()
    monkeypatch.setattr("videoautoarena.agents.calls.clients.build_chat_model", lambda _model: chat)

    async def once() -> None:
        await send(ChatClient(model_at(provider, book.url), film.load), film.frames)
        await close(chat)

    run(once())
    assert images_of(sent(book)) == film.jpegs


def test_the_key_is_in_no_log_and_no_row(
    provider: str, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    film = Film()
    journal = Pages()
    with serving(tmp_path / "log", brain=always("So.")) as server:
        model = model_at(provider, server.gemini_url)
        asker = Asker(journal, film.load)
        run(ask_and_close(asker, model, film))
    nonce = run_for(film).key[:32]
    (row,) = journal.rows.values()
    assert caplog.text
    assert nonce not in caplog.text
    assert nonce not in row.model_dump_json()


async def ask_and_close(asker: Asker, model: Model, film: Film) -> None:
    try:
        await asker.ask(model, request_of(frames=film.frames))
    finally:
        await asker.aclose()


def test_frames_that_went_astray_are_a_bug_and_no_fault_of_the_provider(
    provider: str, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SplicingTransport, "handle_async_request", unspliced)
    journal = Pages()
    with pytest.raises(Astray):
        run(ask_and_close(Asker(journal, Film().load), model_at(provider, book.url), Film()))
    assert not journal.rows


async def unspliced(self: SplicingTransport, request: Any) -> Any:
    return await self._client(request, "AsyncClient").send(request, stream=True)
