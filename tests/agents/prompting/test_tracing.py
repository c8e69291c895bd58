"""Callbacks see digests in the place of pictures, and no key; models are sent what they ever were.

Real callback handlers, real chat models and LangSmith's own client, with servers on loopback.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.manager import AsyncCallbackManager
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.langchain import LangChainTracer, wait_for_all_tracers
from langsmith import Client

from tests.agents.providers.test_declared import Parrot
from tests.agents.providers.test_own_credentials import AWS, REPLY
from tests.support.bodies import Book, HttpReply, keeping
from tests.support.film import PROVIDERS, Film, images_of, model_at, send
from tests.support.langsmith import listening
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.tracing import MediaDigests
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Cue, Subtitles

KEY = "hk-4f9Q2mZr8WvT6bYx"
SUBTITLES = Subtitles(
    path="a.srt", sha256="0" * 64, code="0f0f", cues=(Cue(start_s=0, end_s=1, text="Quack."),)
)


class Careless(Parrot):
    """Keeps its key where whoever prints it sees it."""

    house_api_key: Any = None


class Reckless(Careless):
    """Counts its key among what makes it what it is."""

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"api_key": self.house_api_key}


class Outer(Parrot):
    """Asks another chat model, and hands no callbacks on."""

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **_more: Any) -> ChatResult:
        inner = Parrot(model="inner", api_key=KEY)  # type: ignore[call-arg, arg-type]
        said = await inner.ainvoke(messages)
        return Parrot._generate(self, messages).model_copy(
            update={"llm_output": {"inner": said.text}}
        )


class Piecewise(Parrot):
    """Says its reply in pieces."""

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **_more: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        said = Parrot._generate(self, messages).generations[0].text
        for word in (said[:1], said[1:]):
            yield ChatGenerationChunk(message=AIMessageChunk(word))


class Ear(BaseCallbackHandler):
    """Keeps what it is shown of each call."""

    def __init__(self, *, run_inline: bool) -> None:
        self.run_inline = run_inline
        self.heard: list[str] = []
        self.texts: list[list[str]] = []

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **more: Any
    ) -> None:
        self.heard.append(repr((serialized, messages, more)))
        blocks: Any = messages[0][-1].content
        self.texts.append([block["text"] for block in blocks])


@pytest.fixture
def book() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


def declared(name: str) -> Model:
    said = Declaration(chat_model=f"{__name__}:{name}", key_env="HOUSE_KEY")
    return parse_model("house:big", {"declared": said})


def ask(model: Model, film: Film, *callbacks: BaseCallbackHandler, as_list: bool = False) -> str:
    """Return what a model says that is asked where these callbacks listen."""

    async def once() -> ReceivedReply:
        manager = AsyncCallbackManager([], [])
        for handler in callbacks:
            manager.add_handler(handler)
        listening = list(callbacks) if as_list else manager
        var_child_runnable_config.set({"callbacks": listening} if callbacks else {})
        frames = film.frames.model_copy(update={"subtitles": SUBTITLES})
        client = ChatClient(model, film.load)
        try:
            return await send(client, frames)
        finally:
            # Anthropic's class keeps a client that nobody closes.
            kept = getattr(client._chat, "_async_client", None)
            if kept is not None:
                await kept.close()
            await client.aclose()

    return asyncio.run(once()).text


def shown_of(film: Film) -> list[str]:
    first, *others = [(f"t={n / 2:.2f}s", f"sha256:{one}") for n, one in enumerate(film.digests)]
    cue = "<<<subtitles 0f0f>>>\n0.00s to 1.00s: Quack.\n<<<end subtitles 0f0f>>>"
    return [*first, cue, *(text for pair in others for text in pair), "Well?"]


def leaks_in(heard: str, film: Film) -> list[str]:
    """Return which forms of any frame or of the key stand in what was heard."""
    forms = [repr(jpeg)[2:-1] for jpeg in film.jpegs]
    forms += [base64.b64encode(jpeg)[:80].decode() for jpeg in film.jpegs]
    forms += [base64.urlsafe_b64encode(jpeg)[:80].decode() for jpeg in film.jpegs]
    return [form for form in (KEY, *forms) if form in heard]


@pytest.fixture(params=["Parrot", "Careless", "Reckless", "Outer", "offline:parrot", *PROVIDERS])
def model(request: pytest.FixtureRequest, book: Book, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    name = str(request.param)
    if name in PROVIDERS:
        return model_at(name, book.url, key_env="HOUSE_KEY")
    return parse_model(name) if ":" in name else declared(name)


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("run_inline", [False, True])
def test_every_callback_sees_each_frame_by_its_digest(
    model: Model, book: Book, *, run_inline: bool, as_list: bool
) -> None:
    film = Film()
    ear = Ear(run_inline=run_inline)
    ask(model, film, ear, as_list=as_list)
    assert ear.texts
    for texts in ear.texts:
        assert texts == shown_of(film)
    assert leaks_in("".join(ear.heard), film) == []
    for request in book.requests:
        assert images_of(request) == film.jpegs


def test_the_model_is_sent_its_frames_whoever_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    for name in ("Parrot", "Outer"):
        assert ask(declared(name), Film(), Ear(run_inline=True)).startswith("3 ")
        assert ask(declared(name), Film()).startswith("3 ")


def test_a_reply_in_pieces_is_shown_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    film = Film()
    ear = Ear(run_inline=False)

    async def once() -> str:
        var_child_runnable_config.set({"callbacks": [ear]})
        client = ChatClient(declared("Piecewise"), film.load)
        sending = OutgoingCall("k" * 64, "judge", "Well?", film.frames, is_streamed=True)
        return (await client.send(sending)).text

    assert asyncio.run(once()).startswith("3 ")
    assert f"sha256:{film.digests[0]}" in ear.texts[0]
    assert leaks_in("".join(ear.heard), film) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_headers_go_out_as_they_are_though_callbacks_see_no_key(provider: str, book: Book) -> None:
    ear = Ear(run_inline=True)
    ask(model_at(provider, book.url), Film(), ear)
    headers = {name.lower(): value for name, value in book.requests[0].headers.items()}
    assert headers["idempotency-key"] == "k" * 64
    assert "k" * 64 not in ear.heard[0]


FORMS: dict[str, dict[str, Any]] = {
    "LangChain": {"type": "image", "base64": "{}", "mime_type": "image/jpeg"},
    "LangChain's first": {"type": "image", "source_type": "base64", "data": "{}"},
    "OpenAI": {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,{}"}},
    "OpenAI's short": {"type": "image_url", "image_url": "data:image/jpeg;base64,{}"},
    "Anthropic": {"type": "image", "source": {"type": "base64", "data": "{}"}},
    "Gemini": {"inline_data": {"mime_type": "image/jpeg", "data": "{}"}},
}


def _filled(form: Any, text: str) -> Any:
    if isinstance(form, dict):
        return {name: _filled(value, text) for name, value in form.items()}
    return form.replace("{}", text)


@pytest.mark.parametrize("form", FORMS)
def test_media_are_found_in_every_form(form: str) -> None:
    media = b"\xff\xfeheron"
    block = _filled(FORMS[form], base64.b64encode(media).decode())
    shown = list(MediaDigests()._blocks(block))
    assert shown == [{"type": "text", "text": f"sha256:{digest(media)}"}]


def test_bytes_are_media_and_texts_are_none() -> None:
    raw = {"image": {"format": "jpeg", "source": {"bytes": b"heron"}}}
    (shown,) = MediaDigests()._blocks(raw)
    assert shown == {"type": "text", "text": f"sha256:{digest(b'heron')}"}
    text = {"type": "text", "text": "data:image/jpeg;base64,aGVyb24="}
    assert list(MediaDigests()._blocks(text)) == [text]
    assert list(MediaDigests()._blocks("Well?")) == ["Well?"]


@pytest.mark.parametrize("name", ["Careless", "openai"])
def test_langsmith_is_sent_digests_and_no_key(
    name: str, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    film = Film()
    with listening() as (address, heard):
        client = Client(api_url=address, api_key="planted", auto_batch_tracing=False)
        is_declared = name == "Careless"
        asked = declared(name) if is_declared else model_at(name, book.url, key_env="HOUSE_KEY")
        ask(asked, film, LangChainTracer(client=client))
        wait_for_all_tracers()
        client.cleanup()
    sent = "".join(one.body.decode() for one in heard)
    assert all(f"sha256:{one}" in sent for one in film.digests)
    assert leaks_in(sent, film) == []


ANTHROPIC = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "A heron."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 2},
}


@pytest.mark.slow  # their packages take seconds to be imported
@pytest.mark.parametrize(
    ("chat_model", "reply"),
    [
        ("langchain_anthropic:ChatAnthropic", ANTHROPIC),
        ("langchain_aws:ChatBedrockConverse", REPLY),
    ],
)
def test_the_real_classes_show_no_more(
    chat_model: str, reply: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {**AWS, "AWS_SECRET_ACCESS_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    film = Film()
    ear = Ear(run_inline=False)
    with keeping(script=lambda _request: HttpReply(json.dumps(reply).encode())) as book:
        said = Declaration(chat_model=chat_model, auth="own")
        name = "anthropic.claude-sonnet-4-20250514-v1:0"
        model = parse_model(f"house:{name}", {"declared": said, "base_url": book.url})
        assert ask(model, film, ear) == "A heron."
    assert ear.texts == [shown_of(film)]
    assert leaks_in("".join(ear.heard), film) == []
    (request,) = book.requests
    for jpeg in film.jpegs:
        assert base64.b64encode(jpeg) in request.body
