"""Over real sockets: by which name a limit of tokens goes out, what servers refuse, and pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from tests.support.asking import Pages, frames_of, load_bytes, no_pause, request_of, run
from tests.support.loopback import Loopback, Manners, Mishap, always, serving
from tests.support.manners import Limits
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import CallRow, Usage

FIELDS = ("max_tokens", "max_completion_tokens")


def model_at(server: Loopback, **settings: Any) -> Model:
    return parse_model("openai:m", {"base_url": server.openai_url, **settings})


def ask(
    model: Model, *, calls: int = 1, role: Any = "contestant", frames: int = 3
) -> list[CallRow]:
    async def ask_all() -> list[CallRow]:
        asker = Asker(Pages(), load_bytes, pause=no_pause)
        requests = [
            replace(request_of(frames=frames_of(frames), ordinal=2 * number), role=role)
            for number in range(calls)
        ]
        try:
            return [await asker.ask_row(model, request) for request in requests]
        finally:
            await asker.aclose()

    return asyncio.run(ask_all())


def limits_sent(server: Loopback) -> list[dict[str, Any]]:
    """Return what each request said of its limit, by its own name for it."""
    bodies = (event["sampling"] for event in server.events("arrived"))
    return [{name: body[name] for name in FIELDS if name in body} for body in bodies]


@pytest.mark.parametrize(
    ("settings", "role", "sent"),
    [
        ({}, "contestant", {"max_tokens": 4096}),
        ({}, "judge", {}),
        ({"parameters": {"max_tokens": 7}}, "contestant", {"max_tokens": 7}),
        ({"parameters": {"max_tokens": 7}}, "judge", {"max_tokens": 7}),
        (
            {"parameters": {"max_tokens": 7}, "token_limit_field": "max_completion_tokens"},
            "judge",
            {"max_completion_tokens": 7},
        ),
        (
            {"parameters": {"extra_body": {"max_completion_tokens": 9}}},
            "contestant",
            {"max_completion_tokens": 9},
        ),
    ],
)
def test_a_server_of_ones_own_is_told_one_limit_by_its_usual_name(
    settings: dict[str, Any], role: str, sent: dict[str, int], tmp_path: Path
) -> None:
    with serving(tmp_path / "log", brain=always("So.")) as server:
        ask(model_at(server, **settings), role=role)
        assert limits_sent(server) == [sent]


def test_what_else_stands_in_the_extra_body_goes_out_beside_the_limit(tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=always("So.")) as server:
        ask(model_at(server, parameters={"max_tokens": 7, "extra_body": {"min_p": 0.5}}))
        (sent,) = server.events("arrived")
    assert (sent["sampling"]["max_tokens"], sent["sampling"]["min_p"]) == (7, 0.5)


@pytest.mark.parametrize(
    ("told", "refused"), [(None, "max_tokens"), (FIELDS[1], "max_completion_tokens")]
)
def test_a_name_that_a_server_refuses_costs_one_try_of_all_calls(
    told: str | None, refused: str, tmp_path: Path
) -> None:
    manners = Manners(limits=Limits(unknown_field=refused))
    settings = {"token_limit_field": told} if told else {}
    with serving(tmp_path / "log", manners, brain=always("So.")) as server:
        rows = ask(model_at(server, **settings), calls=3)
        (other,) = set(FIELDS) - {refused}
        assert limits_sent(server) == [{refused: 4096}, *[{other: 4096}] * 3]
    assert [[a.kind for a in row.attempts] for row in rows] == [["http-422"], [], []]
    assert all(row.reply == "So." for row in rows)


@pytest.mark.parametrize("provider", ["openai", "google_genai"])
@pytest.mark.parametrize(("limits", "taken"), [({"images": 5}, 5), ({"long_images": 5}, 4)])
def test_of_either_protocol_one_request_is_refused_or_one_for_each_halving(
    provider: str,
    limits: dict[str, int],
    taken: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", "any-word")
    with serving(tmp_path / "log", Manners(limits=Limits(**limits)), brain=always("So.")) as server:
        url = server.openai_url if provider == "openai" else server.gemini_url
        model = parse_model(f"{provider}:m", {"base_url": url, "key_env": "TEST_KEY"})
        rows = ask(model, calls=3, frames=16)
        images = [event["images"] for event in server.events("arrived")]
    assert [row.frames for row in rows] == [taken] * 3
    assert images == ([16, 5, 5, 5] if taken == 5 else [16, 8, 4, 4, 4])


def test_a_server_that_answers_in_pieces_alone_is_read_to_its_last_one(tmp_path: Path) -> None:
    words = "one word after the other, and then some more " * 9
    manners = Manners(limits=Limits(is_streaming=True))
    with serving(tmp_path / "log", manners, brain=always(words)) as server:
        (row,) = ask(model_at(server, parameters={"stream": True}))
    assert (row.reply, row.ending, row.served_by, row.frames) == (words, "stop", "m", 3)
    assert row.usage == Usage(
        input_tokens=100, output_tokens=8, cached_tokens=50, reasoning_tokens=2
    )


@pytest.mark.parametrize("deed", ["cut", "close", "empty", "broken-off"])
def test_pieces_that_break_off_are_asked_for_again(deed: Any, tmp_path: Path) -> None:
    manners = Manners(mishaps=(Mishap(deed),))
    with serving(tmp_path / "log", manners, brain=always("So it is.")) as server:
        (row,) = ask(model_at(server, parameters={"stream": True}))
    assert (row.reply, len(row.attempts)) == ("So it is.", 1)


def test_pieces_without_a_last_one_are_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    class Chat:
        async def astream(self, *_: Any, **__: Any) -> AsyncIterator[AIMessageChunk]:
            yield AIMessageChunk("Half ")
            yield AIMessageChunk("a")

    settings = {"base_url": "http://127.0.0.1:9/v1", "parameters": {"stream": True}}
    client = ChatClient(parse_model("openai:m", settings), load_bytes)
    monkeypatch.setitem(client.__dict__, "_chat", Chat())
    with pytest.raises(GarbledAnswer, match="the last of them did not come"):
        run(client.send(OutgoingCall("k", "contestant", "Well?", None)))


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("openai:m", {"stream": "yes"}, "stream must be true or false"),
        ("openai:m", {"extra_body": {"stream": True}}, "parameters = { stream = true }"),
        ("google_genai:m", {"stream": True}, "unknown parameter 'stream'"),
        ("offline:hawk", {"stream": True}, "unknown parameter 'stream'"),
    ],
)
def test_pieces_that_could_not_be_read_are_refused_by_name(
    name: str, parameters: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        parse_model(name, {"parameters": parameters})
