"""One beginning for all roles of a video, and what a provider is told of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, get_args

import pytest

from tests.support.asking import frames_of, run
from tests.support.bodies import Book, Kept, keeping
from tests.support.film import PROVIDERS, Film, images_of, model_at, send
from tests.support.prompt_caches import PromptCache, serving_as
from tests.support.titles import cue, titled
from videoautoarena.agents.calls.clients import ChatClient, ReceivedReply
from videoautoarena.agents.limits.prices import cost_of
from videoautoarena.agents.models.registry import parse_model
from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Price, Role, VideoFrames

MARK = {"mode": "explicit"}
SHARING = tuple(role for role in get_args(Role) if role != "contestant")
SPOKEN = (cue(0.0, 0.2, "one"), cue(0.6, 0.9, "two 視"), cue(1.2, 3.0, "behind the last"))


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def book() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


def sent_by(
    book: Book,
    frames: VideoFrames,
    film: Film,
    *,
    roles: tuple[Role, ...] = SHARING,
    **settings: Any,
) -> list[Kept]:
    """Return what a client sends for one call of each of these roles, which see all frames."""

    async def call() -> None:
        client = ChatClient(model_at(**settings), film.load)
        for role in roles:
            await send(client, frames, text=f"You are the {role}.", role=role)
        await client.aclose()

    run(call())
    return book.requests


@pytest.mark.parametrize(("detail", "spoken"), [(None, ()), ("high", SPOKEN)])
def test_the_bodies_of_all_roles_are_equal_up_to_the_role_text(
    provider: str, book: Book, detail: str | None, spoken: tuple[Any, ...]
) -> None:
    film = Film(count=8)
    frames = titled(film.frames, *spoken) if spoken else film.frames
    kept = sent_by(book, frames, film, provider=provider, url=book.url, detail=detail)
    beginnings = {
        request.body.partition(f"You are the {role}.".encode())[0]
        for role, request in zip(SHARING, kept, strict=True)
    }
    (beginning,) = beginnings
    assert len(beginning) > sum(map(len, film.jpegs))
    assert images_of(kept[0]) == film.jpegs


def test_openai_compatible_servers_are_told_nothing_of_caches(book: Book) -> None:
    film = Film()
    told = {"provider": "openai", "url": book.url}
    kept = sent_by(book, film.frames, film, roles=SHARING[:2], **told)
    assert all(b"prompt_cache" not in request.body for request in kept)


def test_a_mark_stands_on_the_last_frame_alone(book: Book) -> None:
    film = Film()
    frames = titled(film.frames, *SPOKEN)
    told = {"provider": "openai", "url": book.url, "cache_breakpoint": True}
    kept = sent_by(book, frames, film, roles=SHARING[:2], **told)
    for request in kept:
        images = [part for part in request.parts if part["type"] == "image_url"]
        assert [part.get("prompt_cache_breakpoint") for part in images] == [None, None, MARK]
        assert not any("prompt_cache_breakpoint" in p for p in request.parts if "text" in p)
        assert json.loads(request.body)["prompt_cache_options"] == MARK


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("gpt-4o", False),
        ("gpt-4.1-mini", False),
        ("gpt-5", False),
        ("gpt-5.5-pro", False),
        ("gpt-5-2025-08-07", False),
        ("o3", False),
        ("gpt-5.6", True),
        ("gpt-5.10-mini", True),
        ("gpt-5.6-sol-2026-07-01", True),
        ("gpt-6", True),
        ("ft:gpt-5.6-mini:house::1", True),
    ],
)
def test_a_mark_is_needed_from_gpt_5_6_on(name: str, needed: bool) -> None:
    model = parse_model(f"openai:{name}")
    assert model.maker.needs_breakpoint(model) is needed
    assert parse_model(f"openai:{name}").cache_breakpoint is needed


def test_a_server_of_ones_own_is_sent_a_mark_only_when_told_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"base_url": "http://127.0.0.1:9/v1"}
    assert not parse_model("openai:gpt-5.6", there).cache_breakpoint
    assert parse_model("openai:gpt-5.6", there | {"cache_breakpoint": True}).cache_breakpoint
    assert not parse_model("openai:gpt-5.6", {"cache_breakpoint": False}).cache_breakpoint
    monkeypatch.setenv("OPENAI_BASE_URL", there["base_url"])
    assert not parse_model("openai:gpt-5.6").cache_breakpoint


def test_nobody_else_has_a_mark() -> None:
    with pytest.raises(BadInput, match="takes no cache_breakpoint"):
        parse_model("google_genai:gemini-2.5-pro", {"cache_breakpoint": True})


def test_openai_itself_learns_which_calls_begin_alike() -> None:
    model = parse_model("openai:gpt-4o")
    one = frames_of(4)
    other = frames_of(5)
    keys = [
        model.maker.cache_options(model, frames)["prompt_cache_key"] for frames in (one, one, other)
    ]
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) <= 64
    low = parse_model("openai:gpt-4o", {"detail": "low"})
    assert low.maker.cache_options(low, one)["prompt_cache_key"] != keys[0]


@pytest.mark.parametrize("name", ["google_genai:gemini-2.5-pro", "offline:hawk"])
def test_no_other_provider_is_told_of_its_cache(name: str) -> None:
    assert parse_model(name).maker.cache_options(parse_model(name), frames_of(4)) == {}


def test_a_call_without_frames_says_nothing_of_caches() -> None:
    model = parse_model("openai:gpt-5.6")
    assert model.cache_breakpoint
    assert model.maker.cache_options(model, None) == {}
    assert model.maker.cache_options(model, frames_of(0)) == {}


CLAUDES = {
    "anthropic": "anthropic:claude-haiku-4-5",
    "openrouter": "openrouter:anthropic/claude-haiku-4.5",
}
CLAUDE_PRICE = Price(input_usd=2, cached_usd=0.2, output_usd=10)
"""What is written costs 1.25 times as much as other input, since nothing else is said of it."""


def replies_of_claude(
    name: str, times_s: Iterable[float] = (0.0, 0.0), **settings: Any
) -> list[ReceivedReply]:
    """Return the replies to calls about the same frames at these times, at the model's home."""
    film = Film(count=8)
    cache = PromptCache("cache_control", 350)

    async def call() -> list[ReceivedReply]:
        model = parse_model(CLAUDES[name], settings)
        client = ChatClient(model, film.load)
        replies = []
        for role, time_s in zip(SHARING, times_s, strict=False):
            cache.clock = partial(float, time_s)
            replies.append(await send(client, film.frames, text=f"You are the {role}.", role=role))
        await client.aclose()
        return replies

    with serving_as(BUILT_IN[name], cache):
        return run(call())


@pytest.mark.parametrize("name", CLAUDES)
def test_claude_writes_frames_once_and_reads_them_once_and_each_is_priced_so(name: str) -> None:
    wrote, read = (one.usage for one in replies_of_claude(name))
    kept = wrote.written_tokens or 0
    assert kept >= 7 * 350
    assert (wrote.cached_tokens, read.cached_tokens, read.written_tokens) == (0, kept, 0)
    model = parse_model(CLAUDES[name], {"price": CLAUDE_PRICE})
    for usage, share in ((wrote, 1.25), (read, 0.1)):
        # What is written and read counts as input here, whatever an API counts.
        rest = (usage.input_tokens or 0) - kept
        assert 0 < rest < 800
        due = (rest + share * kept) * 2 + (usage.output_tokens or 0) * 10
        assert cost_of(model, usage).usd == pytest.approx(due / 1e6, rel=1e-12)


@pytest.mark.parametrize("name", CLAUDES)
def test_claude_keeps_nothing_without_the_mark(name: str) -> None:
    replies = replies_of_claude(name, cache_breakpoint=False)
    said = [(one.usage.cached_tokens, one.usage.written_tokens) for one in replies]
    assert said == [(0, 0), (0, 0)]


def test_claude_writes_frames_anew_once_nobody_has_read_them_for_five_minutes() -> None:
    replies = replies_of_claude("anthropic", (0.0, 299.0, 598.0, 898.0))
    assert [bool(one.usage.cached_tokens) for one in replies] == [False, True, True, False]
