"""Frames that go out by key: the very bytes of the plain way, shared by all calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.asking import run
from tests.support.bodies import Book, keeping
from tests.support.carried import call, call_sync, close, plain_chat, run_for, sent
from tests.support.film import PROVIDERS, Film, images_of, model_at, send_once, texts_of
from tests.support.titles import cue, titled
from videoautoarena.agents.models.registry import build_chat_model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import (
    AS_USUAL,
    ImageOptions,
    cue_blocks,
    messages,
    short_messages,
)
from videoautoarena.agents.transport.splice import FrameBytes, carrying, run_of, spliced
from videoautoarena.memory.records.records import VideoFrames

SPOKEN = (
    cue(0.0, 0.2, 'plain "quoted" \\ back'),
    cue(0.6, 0.9, "ünïcode 視 \U0001f980 \u2028 end"),
    cue(1.2, 3.0, "behind the last frame"),
)
LOOKS = [AS_USUAL, ImageOptions("low"), ImageOptions(None, True), ImageOptions("high", True)]


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def book() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


def laid_out(film: Film, frames: VideoFrames, look: ImageOptions = AS_USUAL) -> list[Any]:
    return messages(
        SYSTEM,
        "Wéll?",
        frames=frames.frames,
        jpegs=film.jpegs,
        subtitles=frames.subtitles,
        look=look,
    )


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("spoken", [(), SPOKEN])
def test_openai_is_sent_the_very_bytes_of_the_plain_way(
    book: Book, look: ImageOptions, spoken: tuple[Any, ...]
) -> None:
    film = Film()
    frames = titled(film.frames, *spoken) if spoken else film.frames
    run(call(plain_chat("openai", book), laid_out(film, frames, look), None))
    plain = sent(book)
    chat = build_chat_model(model_at("openai", book.url))
    carried = run_for(film, look, frames)
    run(call(chat, short_messages(SYSTEM, carried.key, "Wéll?"), carried))
    assert sent(book).body == plain.body


@pytest.mark.parametrize("spoken", [(), SPOKEN])
def test_gemini_is_sent_what_means_the_same(book: Book, spoken: tuple[Any, ...]) -> None:
    film = Film()
    frames = titled(film.frames, *spoken) if spoken else film.frames
    run(call(plain_chat("google_genai", book), laid_out(film, frames), None))
    plain = sent(book)
    look = ImageOptions("high", is_marked=True)
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
    shelf = FrameBytes(film.load)

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
    texts: list[str], count: int, look: ImageOptions, spaced: bool
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


def test_a_sync_call_takes_its_frames_along(provider: str, book: Book) -> None:
    film = Film()
    chat = build_chat_model(model_at(provider, book.url))
    carried = run_for(film)
    call_sync(chat, short_messages(SYSTEM, carried.key, "Well?"), carried)
    assert images_of(sent(book)) == film.jpegs


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_gemini_takes_frames_along_over_either_library(
    library: str, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_HTTP_CLIENT", library)
    film = Film()
    carried = run_for(Film())
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
    film = Film()
    carried = run_for(Film())
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
        images = await FrameBytes(film.load).images(film.video, film.digests)
        carried = run_of(film.frames, images, AS_USUAL)
        with carrying(carried):
            await chat.ainvoke(short_messages(SYSTEM, carried.key, film.video))

    run(all_at_once())
    sent_images = {texts_of(kept)[-1]: images_of(kept) for kept in book.requests}
    assert sent_images == {film.video: film.jpegs for film in films}
