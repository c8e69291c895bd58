"""Connections on which no request comes: they lock nobody out, and end."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing, suppress

import h11
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.support.served import Site, Visitor, site
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.serve.server import connections, guard
from videoautoarena.runs.serve.server import serve as server
from videoautoarena.runs.serve.server.guard import Guard, Sessions

SHORT_S = 0.05
LONGEST_S = 60
"""After so long a test fails in which something is never cut."""
PICTURES = b"x" * 20_000_000
"""More than any socket holds by itself."""
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
BEGUN: list[asyncio.StreamWriter] = []
"""What the test at hand has opened."""


async def page(_request: Request) -> Response:
    return PlainTextResponse("here")


async def vote(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def events(_request: Request) -> Response:
    async def stream() -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n"
            await asyncio.sleep(SHORT_S / 2)

    return StreamingResponse(stream(), media_type="text/event-stream")


async def pictures(_request: Request) -> Response:
    return PlainTextResponse(PICTURES)


ROUTES = [
    Route("/", page),
    Route("/vote", vote, methods=["POST"]),
    Route("/events", events),
    Route("/pictures", pictures),
]


def visit(happens: Callable[[Site, Visitor], Awaitable[None]]) -> None:
    """Serve the pages while somebody with a session and others come to them."""
    with site(Router(ROUTES), posts=("/vote",)) as opened:

        async def run() -> None:
            visitor = await opened.visitor("ann")
            try:
                await asyncio.wait_for(happens(opened, visitor), LONGEST_S)
            finally:
                for writer in BEGUN:
                    writer.transport.abort()
                BEGUN.clear()

        opened.runner.run(run())


async def begin(visitor: Visitor, raw: bytes = b"") -> Ends:
    """Connect and send the beginning of something."""
    reader, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
    BEGUN.append(writer)
    writer.write(raw)
    return reader, writer


async def is_cut(ends: Ends) -> bytes:
    """Return what still comes once the server has ended a connection."""
    rest = b""
    with suppress(ConnectionError):
        while more := await ends[0].read(1000):
            rest += more
    return rest


async def dribble(ends: Ends) -> None:
    """Send a byte again and again, for as long as anybody takes it."""
    with suppress(ConnectionError):
        while not ends[0].at_eof():
            ends[1].write(b"x")
            await ends[1].drain()
            await asyncio.sleep(SHORT_S / 5)


async def listen_to(visitor: Visitor) -> Ends:
    """Open a stream of events."""
    ends = await begin(visitor, head(visitor, "GET /events"))
    assert b"200 OK" in await ends[0].readline()
    return ends


async def is_heard(stream: Ends, times: int = 5) -> bool:
    """Wait for so many more events of a stream."""
    for _ in range(times):
        await stream[0].readuntil(b": still here\n")
    return True


def head(visitor: Visitor, asked: str, *more: str) -> bytes:
    """Return the head of a request of somebody with a session."""
    own = (f"Host: 127.0.0.1:{visitor.port}", f"Cookie: {visitor.cookie}")
    return "\r\n".join([f"{asked} HTTP/1.1", *own, *more, "", ""]).encode()


def posted(visitor: Visitor) -> bytes:
    """Return the head of a vote."""
    more = (f"Origin: http://127.0.0.1:{visitor.port}", "Content-Type: application/json")
    return head(visitor, "POST /vote", *more, "Content-Length: 1000")


def test_a_labeller_is_answered_while_300_half_open_connections_hang() -> None:
    async def happens(_: Site, ann: Visitor) -> None:
        for begun in 100 * (b"", b"GET / HTTP/1.1\r\nHost:", posted(ann)):
            await begin(ann, begun)
        for _ in range(3):
            stream = await listen_to(ann)
            assert (await ann.ask("/")).text == "here"
            assert (await ann.ask("/vote", "POST", body=b"{}")).text == "{}"
            assert await is_heard(stream)

    visit(happens)


def test_the_connection_that_owes_a_request_for_longest_gives_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "MOST_AT_ONCE", 6)

    async def happens(_: Site, ann: Visitor) -> None:
        waiting = [await begin(ann) for _ in range(6)]
        # Whoever was answered owes the next request from then on.
        waiting[0][1].write(head(ann, "GET /"))
        assert b"200 OK" in await waiting[0][0].readline()
        newer = await begin(ann)
        assert await is_cut(waiting[1]) == b""
        for _, writer in (waiting[0], newer, waiting[2]):
            writer.write(head(ann, "GET /", "Connection: close"))
        assert all([b"here" in await is_cut(one) for one in (waiting[0], newer, waiting[2])])

    visit(happens)


def test_an_answer_that_is_not_read_to_its_end_yet_does_not_give_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "MOST_AT_ONCE", 4)

    async def happens(_: Site, ann: Visitor) -> None:
        reader, _ = await begin(ann, head(ann, "GET /pictures"))
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        flood = [await begin(ann) for _ in range(30)]
        await is_cut(flood[0])
        assert await reader.readexactly(len(PICTURES)) == PICTURES

    visit(happens)


@pytest.mark.parametrize(
    ("library", "name"), [(H11Protocol, "on_response_complete"), (h11.Connection, "trailing_data")]
)
def test_pages_are_not_served_unbounded_with_a_library_that_has_changed(
    library: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(library, name)

    def fail() -> None:
        raise AssertionError

    refused = pytest.raises(BadInput, match=r"cannot be served with (uvicorn|h11) [\d.]+, which is")
    with closing(server.listen(None)) as listener, refused:
        asyncio.run(server.serve(Guard(Router(), Sessions(1), policy=""), listener, fail))


def test_what_does_not_become_a_request_in_time_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether nothing more of it comes or a byte now and then."""
    monkeypatch.setattr(connections, "REQUEST_S", SHORT_S)
    # What rests between two requests is cut by another rule.
    monkeypatch.setattr(server, "IDLE_S", LONGEST_S)

    async def happens(_: Site, ann: Visitor) -> None:
        answered = {
            b"": 0,
            b"GET / HTTP/1.1\r\nHost: ": 0,
            posted(ann): 0,
            head(ann, "GET /") + b"GET / HTTP/1.1\r\nHost: ": 1,
            head(ann, "GET /") + posted(ann): 1,
            posted(ann).replace(b"1000", b"1000000"): 1,
        }
        for raw, count in answered.items():
            quiet, dribbled = await begin(ann, raw), await begin(ann, raw)
            rest, more, _ = await asyncio.gather(is_cut(quiet), is_cut(dribbled), dribble(dribbled))
            assert (rest.count(b"HTTP/1.1"), more.count(b"HTTP/1.1")) == (count, count), raw

    visit(happens)


def test_300_that_send_their_heads_slowly_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 4 * SHORT_S)
    monkeypatch.setattr(server, "MOST_AT_ONCE", 400)

    async def happens(_: Site, ann: Visitor) -> None:
        slow = [await begin(ann, b"GET / HTTP/1.1\r\nX: ") for _ in range(300)]
        await asyncio.gather(*map(dribble, slow))
        assert not any(await asyncio.gather(*map(is_cut, slow)))
        assert (await ann.ask("/")).text == "here"

    visit(happens)


def test_a_connection_that_rests_between_requests_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_S", SHORT_S)

    async def happens(_: Site, ann: Visitor) -> None:
        assert b"here" in await is_cut(await begin(ann, head(ann, "GET /")))

    visit(happens)


def test_who_is_refused_holds_no_connection() -> None:
    async def happens(_: Site, ann: Visitor) -> None:
        stranger = Visitor(ann.port)
        for asked in ("GET /", "GET /favicon.ico", "GET /no/../such", "PUT /"):
            reply = await is_cut(await begin(stranger, 3 * head(stranger, asked)))
            assert reply.count(b"HTTP/1.1") == 1, asked
            assert b"connection: close" in reply

    visit(happens)


def test_streams_of_events_outlive_every_time_out_and_every_flood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", SHORT_S)
    monkeypatch.setattr(server, "IDLE_S", SHORT_S)
    monkeypatch.setattr(server, "MOST_AT_ONCE", 4)

    async def happens(_: Site, ann: Visitor) -> None:
        streams = [await listen_to(ann) for _ in range(3)]
        flood = [await begin(ann) for _ in range(30)]
        assert all([await is_heard(stream) for stream in streams])
        assert not any([await is_cut(one) for one in flood])
        assert all([await is_heard(stream) for stream in streams])
        # With every place in use there is one to say so on.
        streams.append(await listen_to(ann))
        assert (await ann.ask("/")).status == 503
        assert all([await is_heard(stream) for stream in streams])

    visit(happens)


def test_one_session_has_so_many_streams_and_leaves_the_others_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "MOST_ANSWERS", 2)

    async def happens(opened: Site, ann: Visitor) -> None:
        first = await listen_to(ann)
        second = await listen_to(ann)
        refused = await ann.ask("/events")
        assert (refused.status, refused.text) == (503, "too many pages are open; close some\n")
        bob = await opened.visitor("bob")
        assert (await bob.ask("/")).text == "here"
        second[1].close()
        while (await ann.ask("/")).status == 503:
            assert await is_heard(first, 1)
        assert await is_heard(first)

    visit(happens)


@pytest.mark.parametrize(("files", "kept"), [(64, 16), (4, 2), (resource.RLIM_INFINITY, 256)])
def test_where_few_files_may_be_open_fewer_connections_are_kept(
    files: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (files, files))
    most: list[int] = []
    made = connections.HttpConnection.connection_made

    def seen(one: connections.HttpConnection, transport: asyncio.Transport) -> None:
        made(one, transport)
        most.append(len(one.connections))

    monkeypatch.setattr(connections.HttpConnection, "connection_made", seen)

    async def happens(_: Site, ann: Visitor) -> None:
        for _ in range(260 if kept > 200 else 20):
            await begin(ann)
        assert (await ann.ask("/")).text == "here"

    visit(happens)
    assert max(most) == kept
