"""The way of a spliced call: proxies, certificates, connections, patience as the user set them."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.asking import Pages, request_of, run
from tests.support.bodies import Book, keeping
from tests.support.certificates import self_signed
from tests.support.film import PROVIDERS, Film, images_of, model_at, send, send_once
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import ChatClient
from videoautoarena.agents.calls.retry import fault_of
from videoautoarena.agents.models.registry import check_keys, parse_model
from videoautoarena.agents.transport.transport import (
    CHUNK,
    SplicingTransport,
    _Chunks,
    check_proxies,
)
from videoautoarena.memory.records.errors import BadInput, ProviderFailed

ELSEWHERE = "http://models.example"
"""A host that only a proxy could find."""


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def book() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


@pytest.fixture
def proxy() -> Iterator[Book]:
    with keeping() as kept:
        yield kept


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Book, Path]]:
    """Give a server behind TLS, and the certificate that vouches for it."""
    context, certificate = self_signed(tmp_path)
    with keeping(context) as kept:
        yield kept, certificate


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_call_goes_through_the_proxy_that_the_environment_names(
    provider: str, name: str, proxy: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, proxy.url)
    film = Film()
    run(send_once(model_at(provider, ELSEWHERE), film))
    (kept,) = proxy.requests
    assert kept.target.startswith(f"{ELSEWHERE}/v1")
    assert images_of(kept) == film.jpegs


def test_a_proxy_is_told_who_asks(
    provider: str, proxy: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://heron:lake@127.0.0.1:{proxy.port}")
    run(send_once(model_at(provider, ELSEWHERE), Film()))
    headers = {name.lower(): value for name, value in proxy.requests[0].headers.items()}
    assert headers["proxy-authorization"] == f"Basic {base64.b64encode(b'heron:lake').decode()}"


def test_a_host_that_needs_no_proxy_is_called_without(
    provider: str, book: Book, proxy: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    run(send_once(model_at(provider, book.url), Film()))
    assert (len(book.requests), len(proxy.requests)) == (1, 0)


def test_tls_goes_through_a_tunnel_of_the_proxy(
    provider: str, secure: tuple[Book, Path], proxy: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, certificate = secure
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    film = Film(count=16, size_bytes=40_000)
    run(send_once(model_at(provider, f"https://models.example:{server.port}"), film))
    assert proxy.tunnels == [f"models.example:{server.port}"]
    assert images_of(server.requests[0]) == film.jpegs


def test_a_certificate_that_the_environment_names_is_trusted_and_no_other(
    provider: str, secure: tuple[Book, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, certificate = secure
    model = model_at(provider, f"https://127.0.0.1:{server.port}")
    with pytest.raises(Exception) as refused:  # noqa: PT011  each client has its own
        run(send_once(model, Film()))
    assert isinstance(refused.value, Exception)
    fault = fault_of(refused.value)
    assert fault is not None
    assert fault.kind == "unreachable"
    assert not server.requests
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    run(send_once(model, Film()))
    assert len(server.requests) == 1


def test_a_slow_server_is_a_timeout(provider: str, book: Book) -> None:
    book.pause_s = 0.4
    with pytest.raises(TimeoutError):
        run(send_once(model_at(provider, book.url, timeout_s=0.1), Film()))


def test_a_call_that_was_moved_takes_its_frames_along(provider: str, book: Book) -> None:
    path = "/v1/chat/completions"
    if provider == "google_genai":
        path = "/v1beta/models/gemini-2.5-flash:generateContent"
    book.moved_to = f"/moved{path}"
    film = Film()
    run(send_once(model_at(provider, book.url), film))
    assert [images_of(kept) for kept in book.requests] == [film.jpegs, film.jpegs]
    assert book.requests[1].target == book.moved_to


def test_calls_one_after_the_other_share_a_connection(provider: str, book: Book) -> None:
    async def three() -> None:
        film = Film()
        client = ChatClient(model_at(provider, book.url), film.load)
        for _ in range(3):
            await send(client, film.frames)
        await client.aclose()

    run(three())
    assert [kept.connection for kept in book.requests] == [1, 1, 1]


MORE_THAN_USUAL = 101
"""The libraries open a hundred connections at once, unless they are told otherwise."""


def test_as_many_requests_are_under_way_as_are_let_in(book: Book) -> None:
    book.meet = threading.Barrier(MORE_THAN_USUAL, timeout=60).wait
    said = {"model": "m", "messages": [{"role": "user", "content": "Well?"}]}

    async def all_at_once() -> None:
        to = f"{book.url}/v1/chat/completions"
        way: Any = SplicingTransport(book.url)
        async with httpx.AsyncClient(transport=way, timeout=60) as client:
            await asyncio.gather(*(client.post(to, json=said) for _ in range(MORE_THAN_USUAL)))

    run(all_at_once())
    assert len(book.requests) == MORE_THAN_USUAL


@pytest.mark.slow
def test_as_many_calls_are_under_way_as_are_let_in(provider: str, book: Book) -> None:
    count = MORE_THAN_USUAL
    book.meet = threading.Barrier(count, timeout=60).wait

    async def all_at_once() -> None:
        film = Film()
        client = ChatClient(model_at(provider, book.url), film.load)
        await asyncio.gather(*(send(client, film.frames) for _ in range(count)))
        await client.aclose()

    run(all_at_once())
    assert len(book.requests) == count


def test_a_call_without_frames_goes_out_as_it_is(provider: str, book: Book) -> None:
    async def once() -> None:
        client = ChatClient(model_at(provider, book.url), Film().load)
        await send(client, None)
        await client.aclose()

    run(once())
    (kept,) = book.requests
    assert images_of(kept) == []
    assert len(kept.parts) == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_no_frame_and_no_key_goes_to_a_host_that_nobody_named(
    host: str, provider: str, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERON_KEY", "sk-heron-of-the-lake-42")
    with keeping() as stranger:
        book.moved_to = f"http://{host}:{stranger.port}/v1/chat/completions"
        model = model_at(provider, book.url).with_settings(key_env="HERON_KEY")
        journal = Pages()
        film = Film()

        async def ask() -> None:
            asker = Asker(journal, film.load)
            try:
                await asker.ask(model, request_of(frames=film.frames))
            finally:
                await asker.aclose()

        with pytest.raises(ProviderFailed, match="set base_url"):
            run(ask())
        assert not stranger.requests
    (row,) = journal.rows.values()
    assert (row.failure_kind, row.cost_usd, row.attempts) == ("http-421", 0.0, ())


def test_the_same_host_may_ask_for_encryption_and_not_for_less() -> None:
    def leads_away(home: str, there: str) -> bool:
        return SplicingTransport(home)._leads_away(httpx.Request("POST", there))

    assert not leads_away("http://a.example/v1", "https://A.example/v2/chat")
    assert not leads_away("https://a.example/v1", "https://a.example:443/v1")
    assert leads_away("https://a.example/v1", "http://a.example/v1")
    assert leads_away("http://a.example:8000/v1", "http://a.example:8001/v1")
    assert leads_away("http://a.example/v1", "http://a.example.org/v1")


def test_a_list_of_hosts_without_proxy_that_httpx_cannot_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # httpx2 reads such lists since 2.16; httpx, which other clients bring, does not.
    monkeypatch.setenv("NO_PROXY", "[::1]")
    transport = SplicingTransport("http://a.example")
    with pytest.raises(BadInput, match="NO_PROXY"):
        transport.handle_request(httpx.Request("POST", "http://a.example", content=b"{}"))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("socks5://heron:lake@127.0.0.1:1080", "pip install socksio"),
        ("SOCKS5H://127.0.0.1:1080", "pip install socksio"),
        ("ftp://heron:lake@127.0.0.1:21", "no http, https or socks5"),
        ("http://heron:la/ke@127.0.0.1:21", "is no address"),
        ("http://heron:lake@127.0.0.1:port", "is no address"),
        ("http://heron:lake@[::1", "is no address"),
        ("http://", "is no address"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told_of_before_any_call(
    address: str, reason: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setenv("ALL_PROXY", address)
    with pytest.raises(BadInput, match=reason) as refused:
        check_keys([model_at(provider, ELSEWHERE)])
    assert "lake" not in str(refused.value)
    check_keys([parse_model("offline:hawk")])


@pytest.mark.parametrize("address", ["http://127.0.0.1:3128", "127.0.0.1:3128", "https://there"])
def test_a_proxy_that_can_be_used_passes(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    monkeypatch.setenv("FTP_PROXY", "ftp://there")
    assert check_proxies() is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize("sizes", [[], [1], [CHUNK], [CHUNK - 1, 2, 3], [1000] * 700])
def test_chunks_hold_what_the_pieces_hold_at_every_reading(sizes: list[int]) -> None:
    pieces = [bytes([n % 256]) * size for n, size in enumerate(sizes)]
    chunks = _Chunks(pieces)
    read: list[Any] = [list(chunks), list(chunks)]
    assert read[0] == read[1]
    assert b"".join(read[0]) == b"".join(pieces)
    assert all(len(chunk) >= CHUNK for chunk in read[0][:-1])
