"""The server of the HTTP tests, spoken to by the real clients."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from tests.support.loopback import Brain, Loopback, serving, serving_apart
from tests.support.manners import Chaos, Limits, Manners, Mishap, written

# Bytes whose base64 differs between the two alphabets, so that a mix-up shows.
PICTURE = base64.b64encode(bytes(range(256)) + b"\xff\xfb\xfe").decode()
MESSAGES = [
    SystemMessage("look closely"),
    HumanMessage(
        content=[
            {"type": "text", "text": "t=0.00s"},
            {"type": "image", "base64": PICTURE, "mime_type": "image/jpeg"},
            {"type": "text", "text": "what is it, “exactly”?"},
        ]
    ),
]


def remembering(heard: list[tuple[str, Sequence[BaseMessage]]]) -> Brain:
    def brain(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        heard.append((model, messages))
        usage = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
        return AIMessage("a heron", usage_metadata=usage)

    return brain


def client(protocol: str, server: Loopback, key: str = "k") -> ChatOpenAI | ChatGoogleGenerativeAI:
    if protocol == "openai":
        return ChatOpenAI(
            model="hawk",
            base_url=server.openai_url,
            api_key=key,
            max_retries=0,
            use_responses_api=False,
        )
    return ChatGoogleGenerativeAI(
        model="hawk", base_url=server.gemini_url, api_key=key, max_retries=1
    )


@pytest.fixture(params=["openai", "gemini"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_model_behind_the_wire_sees_the_very_messages_that_were_sent(
    protocol: str, tmp_path: Path
) -> None:
    heard: list[tuple[str, Sequence[BaseMessage]]] = []
    with serving(tmp_path / "log", brain=remembering(heard)) as server:
        reply = client(protocol, server).invoke(MESSAGES)
    [(model, messages)] = heard
    assert (model, reply.text) == ("hawk", "a heron")
    assert [m.content for m in messages] == [m.content for m in MESSAGES]


def test_the_clients_read_tokens_cached_and_thought_ones_among_them(
    protocol: str, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", brain=remembering([])) as server:
        usage = client(protocol, server).invoke(MESSAGES).usage_metadata
    assert usage is not None
    assert (usage["input_tokens"], usage["output_tokens"]) == (100, 8)
    assert usage["input_token_details"]["cache_read"] == 50
    assert usage["output_token_details"]["reasoning"] == 2


def test_a_request_is_in_the_log_when_it_arrives_and_when_its_answer_has_gone(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "log", brain=remembering([])) as server:
        client("openai", server).invoke(MESSAGES, extra_headers={"Idempotency-Key": "k1"})
        came, went = server.after(1)
    assert (came["event"], came["key"], came["images"]) == ("arrived", "k1", 1)
    assert (went["event"], went["key"], went["status"]) == ("sent", "k1", 200)
    assert came["at"] <= went["at"]


def test_a_wrong_key_is_refused(tmp_path: Path) -> None:
    manners = Manners(api_key="right")
    with serving(tmp_path / "log", manners, brain=remembering([])) as server:
        for protocol in ("openai", "gemini"):
            with pytest.raises(Exception, match="no such key"):
                client(protocol, server, "wrong").invoke(MESSAGES)
            assert client(protocol, server, "right").invoke(MESSAGES).text == "a heron"


def post(server: Loopback) -> httpx.Response:
    body = {"model": "hawk", "messages": [{"role": "user", "content": "what is it?"}]}
    return httpx.post(f"{server.openai_url}/chat/completions", json=body)


def test_mishaps_strike_the_requests_they_were_planned_for(tmp_path: Path) -> None:
    plan = (Mishap("status", nth=2, status=429, retry_after=0.2), Mishap("empty", nth=3))
    with serving(tmp_path / "log", Manners(mishaps=plan), brain=remembering([])) as server:
        good, limited, empty, good_again = (post(server) for _ in range(4))
    assert [good.status_code, limited.status_code, empty.status_code] == [200, 429, 200]
    assert limited.headers["retry-after"] == "0.2"
    assert empty.json()["choices"][0]["message"]["content"] == ""
    assert good_again.json() == good.json()


def test_a_third_request_within_a_minute_is_refused_where_two_are_taken(tmp_path: Path) -> None:
    manners = Manners(limits=Limits(per_minute=2, retry_after=7))
    with serving(tmp_path / "log", manners, brain=remembering([])) as server:
        answers = [post(server) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].headers["retry-after"] == "7"


def test_a_second_request_at_once_is_refused_where_one_is_taken(tmp_path: Path) -> None:
    inside = threading.Event()
    leave = threading.Event()

    def brain(_model: str, _messages: Sequence[BaseMessage]) -> AIMessage:
        inside.set()
        assert leave.wait(60)
        return AIMessage("a heron")

    with (
        serving(tmp_path / "log", Manners(limits=Limits(concurrent=1)), brain=brain) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(post, server)
        assert inside.wait(60)
        assert post(server).status_code == 429
        leave.set()
        assert first.result().status_code == 200


@pytest.mark.parametrize("deed", ["close", "half", "cut"])
def test_a_hang_up_is_seen_as_one_and_the_next_request_is_served(deed, tmp_path: Path) -> None:
    manners = Manners(mishaps=(Mishap(deed),))
    with serving(tmp_path / "log", manners, brain=remembering([])) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            post(server)
        assert post(server).status_code == 200


def test_a_body_in_chunks_is_read_whole(tmp_path: Path) -> None:
    body = json.dumps({"model": "hawk", "messages": [{"role": "user", "content": "x" * 70_000}]})
    pieces = (body[i : i + 999].encode() for i in range(0, len(body), 999))
    heard: list[tuple[str, Sequence[BaseMessage]]] = []
    with serving(tmp_path / "log", brain=remembering(heard)) as server:
        httpx.post(f"{server.openai_url}/chat/completions", content=pieces).raise_for_status()
    assert len(heard[0][1][0].content[0]["text"]) == 70_000


def test_thirty_two_requests_stand_in_the_server_at_once(tmp_path: Path) -> None:
    met = threading.Barrier(32, timeout=60)

    def brain(_model: str, _messages: Sequence[BaseMessage]) -> AIMessage:
        met.wait()
        return AIMessage("we are all here")

    async def ask_all(server: Loopback) -> list[str]:
        model = client("openai", server)
        return [m.text for m in await asyncio.gather(*(model.ainvoke(MESSAGES) for _ in range(32)))]

    with serving(tmp_path / "log", brain=brain) as server:
        assert asyncio.run(ask_all(server)) == ["we are all here"] * 32


def test_equal_requests_wait_equally_and_within_the_bounds() -> None:
    manners = Manners(latency_s=(0.1, 0.3), seed=7)
    pauses = [manners.pause_s(f"key {i}", 1) for i in range(100)]
    assert pauses == [manners.pause_s(f"key {i}", 1) for i in range(100)]
    assert 0.1 <= min(pauses) < 0.15 < 0.25 < max(pauses) <= 0.3


def test_it_runs_as_a_process_of_its_own_with_the_manners_it_is_told(tmp_path: Path) -> None:
    mishaps = json.dumps([{"do": "empty"}])
    chaos = written(Chaos(seed=1, rate_5xx=1.0))
    options = ("--mishaps", mishaps, "--chaos", chaos, "--limits", written(Limits(per_minute=2)))
    with serving_apart(tmp_path / "log", *options, "--say", "a heron") as server:
        assert post(server).json()["choices"][0]["message"]["content"] == ""
        assert post(server).status_code >= 500
        assert post(server).status_code == 429
        assert [row["event"] for row in server.after(3)] == ["arrived", "sent"] * 3
