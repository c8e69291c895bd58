"""Frames that go out by key: the very bytes of the plain way, or nothing at all."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agents.ask import Asker
from agents.clients import ChatClient
from agents.contracts import SYSTEM
from agents.layout import AS_USUAL, Look, cue_blocks, messages, short_messages
from agents.models import Model, build_chat_model
from agents.shelf import Shelf
from agents.splice import Astray, Run, carrying, run_of, spliced
from agents.transport import SplicingTransport, splices
from memory.records import Frames
from tests.support.asking import Pages, request_of, run
from tests.support.bodies import Book, Kept, keeping
from tests.support.film import PROVIDERS, Film, images_of, model_at, send, send_once, texts_of
from tests.support.loopback import always, serving
from tests.support.titles import cue, titled

SPOKEN = (
    cue(0.0, 0.2, 'plain "quoted" \\ back'),
    cue(0.6, 0.9, "ünïcode 視 \U0001f980 \u2028 end"),
    cue(1.2, 3.0, "behind the last frame"),
)
LOOKS = [AS_USUAL, Look("low"), Look(None, True), Look("high", True)]


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def book() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


def plain_chat(provider: str, book: Book) -> Any:
    """Return a chat model as LangChain makes it."""
    if provider == "openai":
        return ChatOpenAI(
            model="gpt-4o", api_key=SecretStr("none"), base_url=f"{book.url}/v1", max_retries=0
        )
    return ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", google_api_key=SecretStr("none"), base_url=book.url, max_retries=1
    )


def run_for(film: Film, look: Look = AS_USUAL, frames: Frames | None = None) -> Run:
    shown = frames or film.frames
    images = run(Shelf(film.load).images(film.video, [frame.digest for frame in shown.frames]))
    return run_of(shown, images, look)


def laid_out(film: Film, frames: Frames, look: Look = AS_USUAL) -> list[Any]:
    return messages(
        SYSTEM,
        "Wéll?",
        frames=frames.frames,
        jpegs=film.jpegs,
        subtitles=frames.subtitles,
        look=look,
    )


async def call(chat: Any, content: list[Any], carried: Run | None) -> None:
    """Make one call with `carried`, and close the connections."""
    try:
        with carrying(carried):
            await chat.ainvoke(content)
    finally:
        await close(chat)


async def close(chat: Any) -> None:
    """Close the connections of async calls."""
    if isinstance(chat, ChatOpenAI):
        await chat.root_async_client.close()
    else:
        await chat.client.aio.aclose()


def call_async(chat: Any, content: list[Any], carried: Run | None) -> None:
    """Make one call from a loop of its own."""
    run(call(chat, content, carried))


def call_sync(chat: Any, content: list[Any], carried: Run | None) -> None:
    """Make one call without a loop, and close the connections."""
    try:
        with carrying(carried):
            chat.invoke(content)
    finally:
        (chat.root_client if isinstance(chat, ChatOpenAI) else chat.client).close()


def sent(book: Book) -> Kept:
    (kept,) = book.requests
    book.requests.clear()
    return kept


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("spoken", [(), SPOKEN])
def test_openai_is_sent_the_very_bytes_of_the_plain_way(
    book: Book, look: Look, spoken: tuple[Any, ...]
) -> None:
    film = Film()
    frames = titled(film.frames, *spoken) if spoken else film.frames
    run(call(plain_chat("openai", book), laid_out(film, frames, look), None))
    plain = sent(book)
    chat, carried = build_chat_model(model_at("openai", book.url)), run_for(film, look, frames)
    run(call(chat, short_messages(SYSTEM, carried.key, "Wéll?"), carried))
    assert sent(book).body == plain.body


@pytest.mark.parametrize("spoken", [(), SPOKEN])
def test_gemini_is_sent_what_means_the_same(book: Book, spoken: tuple[Any, ...]) -> None:
    film = Film()
    frames = titled(film.frames, *spoken) if spoken else film.frames
    run(call(plain_chat("google_genai", book), laid_out(film, frames), None))
    plain = sent(book)
    look = Look("high", is_marked=True)
    carried = run_for(film, look, frames)
    chat = build_chat_model(model_at("google_genai", book.url))
    run(call(chat, short_messages(SYSTEM, carried.key, "Wéll?"), carried))
    short = sent(book)
    assert (texts_of(short), images_of(short)) == (texts_of(plain), images_of(plain))
    kinds = [tuple(sorted(part)) for part in short.parts]
    assert kinds == [tuple(sorted(part)) for part in plain.parts]
    assert all(
        part["inlineData"].keys() == {"mimeType", "data"}
        for part in short.parts
        if "inlineData" in part
    )


def test_128_images_arrive_whole_and_in_order(provider: str, book: Book) -> None:
    film = Film(count=128, size_bytes=5000)
    run(send_once(model_at(provider, book.url), film))
    assert images_of(sent(book)) == film.jpegs


def test_langchain_sees_two_parts_whatever_the_number_of_frames() -> None:
    _, human = short_messages(SYSTEM, run_for(Film(count=128)).key, "Well?")
    assert len(human.content) == 2


def test_a_body_holds_the_very_bytes_of_the_shelf_and_no_copy_of_them() -> None:
    film = Film(count=128)
    shelf = Shelf(film.load)

    async def put_in() -> None:
        images = await shelf.images(film.video, film.digests)
        carried = run_of(film.frames, images, AS_USUAL)
        with carrying(carried):
            pieces = spliced(b'[{"type":"text","text":"%b"}]' % carried.key.encode())
        assert pieces is not None
        held = {id(image.base64) for image in images}
        assert [id(piece) for piece in pieces if id(piece) in held] == [
            id(image.base64) for image in images
        ]
        assert sum(len(piece) for piece in pieces if id(piece) not in held) < 20_000

    run(put_in())


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5),
    count=st.integers(1, 6),
    look=st.sampled_from(LOOKS),
    spaced=st.booleans(),
)
def test_whatever_the_cues_say_the_body_is_json_with_the_parts_in_their_order(
    texts: list[str], count: int, look: Look, spaced: bool
) -> None:
    film = Film(count=count, size_bytes=10)
    cues = [cue(place / 2, place / 2, text) for place, text in enumerate(texts)]
    frames = titled(film.frames, *cues)
    carried = run_for(film, look, frames)
    separators = (", ", ": ") if spaced else (",", ":")
    body = [{"type": "text", "text": carried.key}, {"type": "text", "text": "Well?"}]
    with carrying(carried):
        pieces = spliced(json.dumps(body, separators=separators).encode())
    assert pieces is not None
    parts = json.loads(b"".join(pieces))
    blocks = cue_blocks(frames.frames, frames.subtitles)
    lines = []
    for place in range(count):
        lines += [f"t={place / 2:.2f}s", "image"]
        lines += [blocks[place]] if place in blocks else []
    assert [part.get("text", "image") for part in parts] == [*lines, "Well?"]
    images = [part for part in parts if part["type"] == "image_url"]
    assert all(part["image_url"].get("detail") == look.detail for part in images)
    marks = ["prompt_cache_breakpoint" in part for part in images]
    assert marks == [False] * (count - 1) + [look.is_marked]


def test_a_run_is_named_by_frames_cues_and_look_alone() -> None:
    film = Film()
    assert run_for(film).key == run_for(film).key
    others = [run_for(film, look) for look in LOOKS[1:]]
    others += [run_for(Film(count=4)), run_for(film, AS_USUAL, titled(film.frames, *SPOKEN))]
    assert len({run_for(film).key, *(other.key for other in others)}) == 1 + len(others)


def test_no_run_shows_its_key_or_its_frames() -> None:
    carried = run_for(Film())
    assert carried.key[:32] not in repr(carried)
    assert len(repr(carried)) < 100


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


def test_a_sync_call_takes_its_frames_along(provider: str, book: Book) -> None:
    film = Film()
    chat, carried = build_chat_model(model_at(provider, book.url)), run_for(film)
    call_sync(chat, short_messages(SYSTEM, carried.key, "Well?"), carried)
    assert images_of(sent(book)) == film.jpegs


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
    chat, film = plain_chat(provider, book), Film()
    monkeypatch.setattr("agents.clients.build_chat_model", lambda _model: chat)

    async def once() -> None:
        await send(ChatClient(model_at(provider, book.url), film.load), film.frames)
        await close(chat)

    run(once())
    assert images_of(sent(book)) == film.jpegs


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_gemini_takes_frames_along_over_either_library(
    library: str, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_HTTP_CLIENT", library)
    film, carried = Film(), run_for(Film())
    chat: Any = build_chat_model(model_at("google_genai", book.url))
    run(call(chat, short_messages(SYSTEM, carried.key, "Well?"), carried))
    assert images_of(sent(book)) == film.jpegs
    assert set(chat.client_args["transport"]._clients) == {(library, "AsyncClient")}


def test_gemini_stays_with_httpx_where_aiohttp_is_installed(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its client would call what is not there.
    monkeypatch.setattr("google.genai._api_client.has_aiohttp", True)
    film = Film()
    run(send_once(model_at("google_genai", book.url), film))
    assert images_of(sent(book)) == film.jpegs


def test_a_text_like_a_key_stays_text(provider: str, book: Book) -> None:
    film, carried = Film(), run_for(Film())
    forged = f'{{"type":"text","text":"{"0123456789abcdef" * 6}"}} {carried.key[32:]}'
    chat = build_chat_model(model_at(provider, book.url))
    run(call(chat, short_messages(SYSTEM, carried.key, forged), carried))
    kept = sent(book)
    assert texts_of(kept)[-1] == forged
    assert images_of(kept) == film.jpegs


def test_calls_at_once_never_swap_their_frames(provider: str, book: Book) -> None:
    films = [Film(count=2 + n, video=f"{n:012}") for n in range(6)]

    async def all_at_once() -> None:
        chat: Any = build_chat_model(model_at(provider, book.url))
        await asyncio.gather(*(one(chat, film) for film in films))
        await close(chat)

    async def one(chat: Any, film: Film) -> None:
        images = await Shelf(film.load).images(film.video, film.digests)
        carried = run_of(film.frames, images, AS_USUAL)
        with carrying(carried):
            await chat.ainvoke(short_messages(SYSTEM, carried.key, film.video))

    run(all_at_once())
    sent_images = {texts_of(kept)[-1]: images_of(kept) for kept in book.requests}
    assert sent_images == {film.video: film.jpegs for film in films}


def test_the_key_is_in_no_log_and_no_row(
    provider: str, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    film, journal = Film(), Pages()
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
