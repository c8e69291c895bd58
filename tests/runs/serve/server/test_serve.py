"""Beginning and ending: where it listens, what it prints, how soon Ctrl-C ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router

from tests.support.served import Visitor, serving
from videoautoarena.memory.records.errors import BadInput, install_command
from videoautoarena.runs.serve.server import serve as server
from videoautoarena.runs.serve.server.guard import Guard, Sessions
from videoautoarena.runs.serve.server.serve import listen, port_of, refuse_without_web, serve


def test_it_listens_on_the_loopback_address_alone() -> None:
    with listen(None) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        assert listener.family == socket.AF_INET
        assert port_of(listener) > 0


def test_a_port_that_is_taken_is_one_line() -> None:
    with listen(None) as listener:
        port = port_of(listener)
        with pytest.raises(BadInput) as refused:
            listen(port)
    assert str(refused.value) == f"port {port} is taken; pass another --port, or none"
    listen(port).close()


@pytest.mark.parametrize("port", [-1, 65_536, 10**30])
def test_a_port_that_is_none_is_one_line_and_opens_nothing(port: int) -> None:
    # A socket that was left open would be a warning, which is an error.
    with pytest.raises(BadInput) as refused:
        listen(port)
    assert str(refused.value) == f"port {port} is none; pass a --port up to 65535, or none"


def test_without_the_extra_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_without_web()

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(BadInput) as refused:
        refuse_without_web()
    assert install_command("web") in str(refused.value)
    assert "\n" not in str(refused.value)


async def endless(request: Request) -> Response:
    async def events() -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(0.02)

    return StreamingResponse(events(), media_type="text/event-stream")


async def flood(request: Request) -> Response:
    async def much() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    return StreamingResponse(much())


def test_ctrl_c_ends_it_at_once_with_streams_open_and_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # Whoever waited for a stream would wait for an hour.
    monkeypatch.setattr(server, "FINISHING_S", 3600)
    writers: list[asyncio.StreamWriter] = []

    async def run() -> None:
        listener = listen(None)
        sessions = Sessions(port_of(listener))
        router = Router([Route("/events", endless), Route("/flood", flood)])
        guard = Guard(router, sessions, policy="default-src 'none'")
        ready = asyncio.Event()
        ended = asyncio.create_task(serve(guard, listener, ready.set))
        await ready.wait()
        visitor = Visitor(sessions.port)
        await visitor.enter(sessions.link())
        for path in ("/events", "/flood", "/events"):
            reader, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
            head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\n"
            writer.write(f"{head}Cookie: {visitor.cookie}\r\n\r\n".encode())
            assert b"200 OK" in await reader.readline()
            writers.append(writer)
        os.kill(os.getpid(), signal.SIGINT)
        await ended
        for writer in writers:
            writer.close()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert len(writers) == 3
    assert capfd.readouterr() == ("", "")


def test_what_is_being_written_down_is_let_finish() -> None:
    kept: list[bytes] = []

    async def keep(request: Request) -> Response:
        begun.set()
        await asyncio.sleep(0.2)
        kept.append(await request.body())
        return Response("kept")

    async def run() -> None:
        listener = listen(None)
        sessions = Sessions(port_of(listener))
        router = Router([Route("/keep", keep, methods=["POST"])])
        guard = Guard(router, sessions, policy="", posts=frozenset({"/keep"}))
        async with serving(guard, listener) as visitor:
            await visitor.enter(sessions.link())
            asking = asyncio.create_task(visitor.ask("/keep", "POST", body=b"{}"))
            await begun.wait()
        await asyncio.wait({asking})

    begun = asyncio.Event()
    asyncio.run(run())
    assert kept == [b"{}"]
