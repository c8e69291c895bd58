"""The transport that puts shared frames into bodies and reads no endless answer.

Behind the transport stands a client of the same library as its user would have it, so that
proxies, their exceptions, certificates and whatever else the environment says hold as without it:
a client that is handed a bare transport would ignore the environment's proxies.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from videoautoarena.agents.transport.answers import hear, kept_answer
from videoautoarena.agents.transport.deadlines import has_deadline, pulse
from videoautoarena.agents.transport.exchange import is_kept_back, keep, stored_answer
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.agents.transport.splice import spliced
from videoautoarena.memory.records.errors import BadInput

MOST_BYTES = 32_000_000
"""Most bytes that are read of one answer, after decompression."""
LONGEST_REPLY = 200_000
"""Characters of a model's words; no role is asked for a hundredth of it."""


def bounded(response: Any, library: Any, most_bytes: int = MOST_BYTES) -> Any:
    """Return the response unread; reading more than `most_bytes` of it raises GarbledAnswer."""
    headers = response.headers.copy()
    # What is passed on is decompressed already, and must not be so again.
    if "Content-Encoding" in headers:
        for name in ("Content-Encoding", "Content-Length"):
            headers.pop(name, None)
    return library.Response(
        response.status_code,
        headers=headers,
        stream=_stream_class(library)(response, most_bytes),
        extensions=response.extensions,
        request=response.request,
    )


class _Counter:
    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._read = 0
        self._kept = kept_answer()

    def passed(self, chunk: bytes) -> bytes:
        """Return a chunk; raises GarbledAnswer if the answer becomes too long by it."""
        self._read += len(chunk)
        if self._read > self._most_bytes:
            raise GarbledAnswer(f"the answer is longer than {self._most_bytes // 10**6} MB")
        if self._kept is not None:
            self._kept.take(chunk)
        return chunk


class _Stream:
    def __init__(self, response: Any, most_bytes: int) -> None:
        self._response = response
        # One for all that is read of it: clients read on behind a stream's last piece.
        self._counter = _Counter(most_bytes)

    def __iter__(self) -> Iterator[bytes]:
        return map(self._counter.passed, self._response.iter_bytes())

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_bytes():
            yield self._counter.passed(chunk)

    def close(self) -> None:
        self._response.close()

    async def aclose(self) -> None:
        await self._response.aclose()


@cache
def _stream_class(library: Any) -> type[_Stream]:
    """Return a class that clients of one library take for a stream."""
    return type("Bounded", (_Stream, library.SyncByteStream, library.AsyncByteStream), {})


# Of 128 frames, pieces as they come cost 30 ms of CPU, 64 kB 15, 256 kB 10 and 1 MB 9.
CHUNK = 256 * 1024
"""Bytes that are handed to a socket at a time: fewer cost more turns, more cost memory."""

CONNECT_S = 20.0
"""How long a connection may take to be made: a host that takes none says so, or never answers."""

MISDIRECTED = 421
"""The status of an answer that comes from here and from no server."""

_guards: list[Callable[[], None]] = []


def guard_sending(guard: Callable[[], None]) -> None:
    """Have this called at the last moment before a request is sent; what it raises keeps it back.

    It is asked again once a connection is there, before the first byte of a body goes out.
    """
    _guards[:] = [guard]


def ask_guard() -> None:
    """Raise what the guard of this process raises, if it has one."""
    for guard in _guards:
        guard()


_SOCKS = ("socks5", "socks5h")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that name the certificates to trust."""


class SplicingTransport:
    """Sends requests through a client of its own, with frames in the place of their key.

    One object serves sync and async clients of both libraries; each request says which it is.
    Connections are not limited here: how many calls are under way is decided elsewhere. Clients
    follow redirects: one to another host is refused with a status of its own, since frames and keys
    go to the host that was named, and to no other.
    """

    def __init__(self, address: str, *, most_bytes: int | None = None) -> None:
        """Take the address that requests go to, and how much is read of an answer at most.

        With `most_bytes` it carries files, whose bodies hold no frames to be put in their place.
        """
        self._address = address
        self._carries_files = most_bytes is not None
        self._most_bytes = MOST_BYTES if most_bytes is None else most_bytes
        self._clients: dict[tuple[str, str], Any] = {}

    def handle_request(self, request: Any) -> Any:
        """Send a request, return the unread response; Astray if frames are missing."""
        if self._leads_away(request):
            return _refusal(request)
        body = request.read() if request.method == "POST" else None
        filled = _filled(request, body, _Chunks)
        client = self._client(request, "Client")
        # Redirects are left to the client in front, whose next request is looked at like this one.
        answer = client.send(filled, stream=True, follow_redirects=False)
        return bounded(answer, _library(request))

    async def handle_async_request(self, request: Any) -> Any:
        if self._leads_away(request):
            return _refusal(request)
        if is_kept_back():
            body = await request.aread()
            keep(spliced(body) or [body])
            return bounded(stored_answer(request, _library(request)), _library(request))
        ask_guard()
        if has_deadline():
            # That of the whole try, which knows when the process stood still; these do not.
            unlimited = dict.fromkeys(("read", "write", "pool"))
            limits = {**(request.extensions.get("timeout") or {}), **unlimited}
            request.extensions = {**request.extensions, "timeout": limits}
        # A file is read while it is sent, and never into memory as a whole.
        is_whole = request.method == "POST" and not self._carries_files
        body = await request.aread() if is_whole else None
        filled = _filled(request, body, _AsyncChunks)
        client = self._client(request, "AsyncClient")
        stood_still_s = pulse().stood_still_s()
        try:
            answer = await client.send(filled, stream=True, follow_redirects=False)
        except _library(request).ConnectTimeout:
            if pulse().stood_still_s() == stood_still_s:
                raise
            # Nothing was sent, and who is there is not to be taken for gone.
            answer = await client.send(filled, stream=True, follow_redirects=False)
        hear(answer.headers)
        return bounded(answer, _library(request), self._most_bytes)

    def _client(self, request: Any, kind: str) -> Any:
        library = _library(request)
        name = library.__name__, kind
        if name not in self._clients:
            # Left to themselves these clients keep to 100 connections.
            limits = library.Limits(max_connections=None, max_keepalive_connections=None)
            try:
                verify = _trusted(library, *map(os.environ.get, _CERTIFICATES))
                self._clients[name] = getattr(library, kind)(limits=limits, verify=verify)
            except library.InvalidURL:
                # What `check_proxies` lets pass; the library's words may hold half a password.
                raise BadInput("NO_PROXY names something that is no host; mend it") from None
        return self._clients[name]

    def _leads_away(self, request: Any) -> bool:
        """Return whether a request goes to another host, or to the same without its encryption."""
        there = request.url
        home = _library(request).URL(self._address)
        if there.host != home.host:
            return True
        ways = [(url.scheme, url.port) for url in (home, there)]
        # From plain HTTP to HTTPS on the usual ports leads to nobody else.
        return ways[0] != ways[1] and ways != [("http", None), ("https", None)]

    def close(self) -> None:
        for (_, kind), client in self._clients.items():
            if kind == "Client":
                client.close()

    async def aclose(self) -> None:
        for (_, kind), client in self._clients.items():
            if kind == "AsyncClient":
                await client.aclose()

    def __enter__(self) -> SplicingTransport:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> SplicingTransport:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


def check_proxies() -> None:
    """Return if the environment's proxies are usable; BadInput names a kind, no address."""
    # It brings half of the standard library's network with it, and most commands call nobody.
    from urllib.request import getproxies

    for kind, address in getproxies().items():
        scheme = address.partition("://")[0].lower() if "://" in address else "http"
        if kind not in ("http", "https", "all"):
            continue
        if not _is_readable(address):
            raise BadInput(f"the {kind} proxy of the environment is no address; mend it")
        if scheme not in ("http", "https", *_SOCKS):
            raise BadInput(f"the {kind} proxy of the environment is no http, https or socks5 one")
        if scheme in _SOCKS and importlib.util.find_spec("socksio") is None:
            socks = f"the {kind} proxy of the environment speaks SOCKS"
            raise BadInput(f"{socks}; pip install socksio for it")


def _is_readable(address: str) -> bool:
    """Return whether an address has a host and, if any, a number for its port."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        return address.isprintable() and (parts.port or 0) >= 0 and bool(parts.hostname)
    except ValueError:
        return False


def splices(chat: Any) -> bool:
    """Return whether a chat model's async calls are known to go through a splicing transport."""
    handed = (getattr(chat, "client_args", None) or {}).get("transport")
    client = getattr(chat, "http_async_client", None)
    # As Anthropic's SDK holds it.
    client = client or getattr(getattr(chat, "_async_client", None), "_client", None)
    return isinstance(handed or getattr(client, "_transport", None), SplicingTransport)


@cache
def _trusted(library: Any, *_named: str | None) -> Any:
    """Return whom clients trust; read once, since that takes 25 ms and each model has one."""
    return library.create_ssl_context()


def _library(request: Any) -> Any:
    """Return httpx or httpx2, whichever made the request."""
    # openai's client runs on httpx2, google-genai's on httpx.
    return sys.modules[type(request).__module__.partition(".")[0]]


def _refusal(request: Any) -> Any:
    words = "the server sends calls on to another address; set base_url to the one that is meant"
    return _library(request).Response(
        MISDIRECTED, json={"error": {"message": words, "code": MISDIRECTED}}, request=request
    )


def _filled(request: Any, body: bytes | None, chunks: Callable[[list[bytes]], Any]) -> Any:
    """Return a request with frames in its body, whose connecting takes no longer than any may."""
    limits = dict(request.extensions.get("timeout") or {})
    if not 0 <= (limits.get("connect") or CONNECT_S + 1) <= CONNECT_S:
        limits["connect"] = CONNECT_S
    request.extensions = {**request.extensions, "timeout": limits}
    pieces = None if body is None else spliced(body)
    # In chunks of ours, so that the guard is asked again before the first byte.
    if body is not None and pieces is None and _guards:
        pieces = [body]
    if pieces is None:
        return request
    headers = request.headers.copy()
    # Else these libraries would send pieces as a chunked body, without a length.
    headers["Content-Length"] = str(sum(map(len, pieces)))
    sent = {"headers": headers, "content": chunks(pieces), "extensions": request.extensions}
    return _library(request).Request(request.method, request.url, **sent)


class _Chunks:
    """Pieces joined to chunks, anew at each reading; one chunk is held at a time."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        held: list[bytes] = []
        size = 0
        for piece in self._pieces:
            held.append(piece)
            size += len(piece)
            if size >= CHUNK:
                yield b"".join(held)
                held = []
                size = 0
        if held:
            yield b"".join(held)


class _AsyncChunks:
    def __init__(self, pieces: list[bytes]) -> None:
        self._chunks = _Chunks(pieces)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Before each: a process may stand still for an hour in the middle of a body.
        for chunk in self._chunks:
            ask_guard()
            yield chunk
