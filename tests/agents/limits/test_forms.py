"""Over real sockets: servers that take no system message, and servers that answer in pieces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import wire
from tests.support.asking import Pages, frames_of, load_bytes, no_pause, request_of
from tests.support.bodies import Book, HttpReply, Kept, keeping
from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.server_limits import ServerLimits
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import label
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.errors import BadInput, ProviderFailed
from videoautoarena.memory.records.records import CallRow, LearntLimits

NO_SYSTEM = {
    "openai": (400, "System role not supported"),
    "declared": (400, "Only user and assistant roles are supported!"),
    "google_genai": (400, "Developer instruction is not enabled for models/gemma-9-27b-it"),
}
NO_WHOLE = (400, "This model only supports stream mode, please enable the stream parameter.")
DECLARED = Declaration(chat_model="langchain_openai:ChatOpenAI", key_env="TEST_KEY")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "any-word")


def model_at(book: Book, provider: str = "openai", **settings: Any) -> Model:
    url = book.url if provider == "google_genai" else f"{book.url}/v1"
    chosen: dict[str, Any] = {"base_url": url, "key_env": "TEST_KEY", **settings}
    if provider == "declared":
        return parse_model("house:m", {"declared": DECLARED, **chosen})
    return parse_model(f"{provider}:m", chosen)


def ask(
    model: Model, *, calls: int = 1, frames: int = 3, known: tuple[LearntLimits, ...] = ()
) -> tuple[list[CallRow], list[LearntLimits], list[str]]:
    """Return the rows of calls made at once, what was learnt of the server, and what was said."""
    kept: list[LearntLimits] = list(known)
    said: list[str] = []

    def keep(learnt: list[LearntLimits]) -> None:
        kept[:] = learnt

    async def ask_all() -> list[CallRow]:
        asker = Asker(
            Pages(),
            load_bytes,
            pause=no_pause,
            estimates=Estimates(limits=ServerLimits.of(known, keep)),
            on_event=lambda event: said.append(event.text) if event.kind == "learnt" else None,
        )
        shown = frames_of(frames) if frames else None
        requests = [request_of("Why?", frames=shown, ordinal=2 * n) for n in range(calls)]
        try:
            return await asyncio.gather(*(asker.ask_row(model, one) for one in requests))
        finally:
            await asker.aclose()

    return asyncio.run(ask_all()), kept, said


def refusing(
    is_refused: Callable[[dict[str, Any]], bool], status: int, words: str
) -> Callable[[Kept], HttpReply | None]:
    def script(request: Kept) -> HttpReply | None:
        told = json.loads(request.body)
        protocol: Any = "gemini" if "contents" in told else "openai"
        if is_refused(told):
            return HttpReply(wire.error(protocol, status, words), status)
        if not told.get("stream"):
            return None
        body = wire.reply(wire.read(request.target, told), wire.AIMessage("In pieces."))
        return HttpReply(wire.pieces(body), kind="text/event-stream")

    return script


def has_system(told: dict[str, Any]) -> bool:
    roles = [message["role"] for message in told.get("messages", [])]
    return "systemInstruction" in told or not {"system", "developer"}.isdisjoint(roles)


def texts(request: Kept) -> list[str]:
    return [part["text"] for part in request.parts if "text" in part]


@pytest.mark.parametrize("provider", list(NO_SYSTEM))
def test_a_refused_system_text_goes_to_the_head_of_the_users_message(provider: str) -> None:
    with keeping(script=refusing(has_system, *NO_SYSTEM[provider])) as book:
        rows, kept, said = ask(model_at(book, provider))
        first, second = book.requests
    assert rows[0].reply == "A heron."
    assert texts(second) == [f"{SYSTEM}\n\n", *texts(first)]
    assert texts(second)[1:4] == [label(frame) for frame in frames_of(3).frames]
    assert [attempt.waited_s for attempt in rows[0].attempts] == [0.0]
    assert [one.system_role for one in kept] == ["user"]
    assert len(said) == 1
    assert "at the head of the user's message" in said[0]


def test_it_is_learnt_once_for_all_calls_of_a_model() -> None:
    with keeping(script=refusing(has_system, *NO_SYSTEM["openai"])) as book:
        _, kept, said = ask(model_at(book), calls=8)
        first = len(book.requests)
        rows, _, again = ask(model_at(book), calls=3, known=tuple(kept))
    assert len(said) == 1
    assert first <= 16
    assert len(book.requests) - first == 3
    assert (again, [len(row.attempts) for row in rows]) == ([], [0, 0, 0])


def test_it_may_be_set_instead() -> None:
    with keeping(script=refusing(has_system, *NO_SYSTEM["openai"])) as book:
        rows, kept, said = ask(model_at(book, system="user"), frames=0)
        (request,) = book.requests
    assert texts(request) == [f"{SYSTEM}\n\n", "Why?"]
    assert (len(rows[0].attempts), kept, said) == (0, [], [])


def test_a_status_that_others_recover_from_is_no_reason_to_wait() -> None:
    words = "Jinja Exception: System role not supported"
    with keeping(script=refusing(has_system, 500, words)) as book:
        rows, _, _ = ask(model_at(book))
    assert (rows[0].reply, len(book.requests)) == ("A heron.", 2)


def test_a_server_that_refuses_either_way_ends_the_call() -> None:
    with keeping(script=refusing(lambda _told: True, *NO_SYSTEM["openai"])) as book:
        with pytest.raises(ProviderFailed, match="System role not supported"):
            ask(model_at(book))
        assert len(book.requests) == 2


def test_who_says_the_words_is_no_part_of_a_calls_key() -> None:
    plain = parse_model("openai:m", {"base_url": "http://h/v1"})
    request = request_of(frames=frames_of(2))
    assert journal_key(plain, request) == journal_key(plain.with_settings(system="user"), request)


@pytest.mark.parametrize(
    ("name", "system", "words"),
    [
        ("openai:m", "assistant", 'system must be "user"'),
        ("offline:hawk", "user", "takes no system"),
    ],
)
def test_another_system_is_refused(name: str, system: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse_model(name, {"system": system})


def is_whole(told: dict[str, Any]) -> bool:
    return not told.get("stream")


@pytest.mark.parametrize("provider", ["openai", "declared"])
def test_a_server_that_answers_in_pieces_alone_is_asked_so(provider: str) -> None:
    with keeping(script=refusing(is_whole, *NO_WHOLE)) as book:
        rows, kept, said = ask(model_at(book, provider), calls=1)
    assert (rows[0].reply, len(book.requests)) == ("In pieces.", 2)
    assert json.loads(book.requests[-1].body)["stream_options"] == {"include_usage": True}
    assert [(one.is_streaming, one.system_role) for one in kept] == [(True, None)]
    assert len(said) == 1
    assert "in pieces from now on" in said[0]


def test_later_calls_are_asked_so_at_once() -> None:
    with keeping(script=refusing(is_whole, *NO_WHOLE)) as book:
        _, kept, _ = ask(model_at(book))
        rows, _, said = ask(model_at(book), calls=2, known=tuple(kept))
        assert len(book.requests) == 4
    assert ([row.reply for row in rows], said) == (["In pieces."] * 2, [])


def test_a_server_may_want_both() -> None:
    def script(request: Kept) -> HttpReply | None:
        told = json.loads(request.body)
        refuses = (
            refusing(has_system, *NO_SYSTEM["openai"])
            if has_system(told)
            else (refusing(is_whole, *NO_WHOLE))
        )
        return refuses(request)

    with keeping(script=script) as book:
        rows, kept, _ = ask(model_at(book))
    assert rows[0].reply == "In pieces."
    assert [(one.is_streaming, one.system_role) for one in kept] == [(True, "user")]


def test_pieces_that_a_parameter_forbids_are_named_as_the_cure() -> None:
    forbidding = {"parameters": {"stream": False}}
    with (
        keeping(script=refusing(is_whole, *NO_WHOLE)) as book,
        pytest.raises(ProviderFailed, match=r"write parameters = { stream = true }"),
    ):
        ask(model_at(book, **forbidding))
    assert len(book.requests) == 1


def test_what_was_learnt_says_nothing_of_what_was_not() -> None:
    learnt = LearntLimits(model="openai:m", endpoint="h", images=4)
    assert not {"system_role", "is_streaming"} & learnt.model_dump(mode="json").keys()
    told = learnt.model_copy(update={"system_role": "user", "is_streaming": True})
    assert LearntLimits.model_validate_json(told.model_dump_json()) == told
