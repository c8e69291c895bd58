"""A server on this machine alone: bound, begun, and ended by Ctrl-C with all streams open."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from videoautoarena.memory.records.errors import BadInput, need_package
from videoautoarena.runs.console.progress.interrupts import heard
from videoautoarena.runs.formats.terminal import print_result, safe, say
from videoautoarena.runs.serve.server.guard import Guard

T = TypeVar("T")
PARTS = ("starlette", "uvicorn")
FINISHING_S = 1
"""How long requests that write may take to finish once the server is to end."""
MOST_AT_ONCE = 256
"""Connections; a browser opens six."""
IDLE_S = 5
"""How long a connection may rest between two requests."""
LAST_PORT = 65_535


def refuse_without_web() -> None:
    """Raise BadInput, which says what to install, where pages cannot be served."""
    for part in PARTS:
        need_package(part, f"pages need {part}", "web")


def listen(port: int | None) -> socket.socket:
    """Return a socket that listens on the loopback address, at a free port where none is given.

    Raises:
        BadInput: the port is none, is taken, or not for this user.
    """
    if port is not None and not 0 <= port <= LAST_PORT:
        raise BadInput(f"port {port} is none; pass a --port up to {LAST_PORT}, or none")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port that was in use a moment ago may be waited on by nobody but the kernel.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port or 0))
        listener.listen()
    except OSError as error:
        listener.close()
        taken = error.errno == errno.EADDRINUSE
        why = "is taken" if taken else f"cannot be used: {os.strerror(error.errno or 0)}"
        raise BadInput(f"port {port} {why}; pass another --port, or none") from None
    return listener


def port_of(listener: socket.socket) -> int:
    """Return the port that a socket listens on."""
    port: int = listener.getsockname()[1]
    return port


def announce(links: Mapping[str, str], *, opens: bool = False) -> None:
    """Print links, each after the name of the person it is for, if it has one.

    Nothing else goes to a pipe. With `opens` the first one is opened in a browser.
    """
    for name, link in links.items():
        print_result(f"{safe(name)}: {link}" if name else link)
    sys.stdout.flush()
    if sys.stdout.isatty():
        say("each link opens in one browser, as often as you like; Ctrl-C ends the pages")
    if opens:
        # A browser without windows stays in the foreground until somebody leaves it.
        first = next(iter(links.values()))
        threading.Thread(target=webbrowser.open, args=(first,), daemon=True).start()


async def serve(guard: Guard, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Answer requests until somebody interrupts; `on_ready` is called once links lead here."""
    import uvicorn

    from videoautoarena.runs.serve.server.connections import HttpConnection, check_libraries

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Leave signals alone: they are handled below and not raised again afterwards."""
            yield

        async def main_loop(self) -> None:
            """Keep the date of answers, and end the moment that is asked for."""
            while not await self.on_tick(0):
                with suppress(TimeoutError):
                    await asyncio.wait_for(ending.wait(), 1)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Abort all connections at once, since streams have no end of their own."""
            await guard.end(FINISHING_S)
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            await super().shutdown(sockets)

    most = _most_at_once()
    # No log: an address may hold a token. What goes wrong is said by the guard.
    config = uvicorn.Config(
        guard,
        http=HttpConnection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        # No proxy stands in front, so where a request comes from is nobody's to say.
        proxy_headers=False,
        # The one that reaches the limit is refused.
        limit_concurrency=most + 1,
        timeout_keep_alive=IDLE_S,
        # So few are accepted at a time that each is read before as many newer ones are there.
        backlog=most // 2,
        timeout_graceful_shutdown=FINISHING_S,
    )
    check_libraries(config)
    server = Server(config)
    ending = asyncio.Event()

    def end() -> None:
        server.should_exit = True
        ending.set()

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with heard(dict.fromkeys(signals, end)):
        on_ready()
        try:
            await server.serve(sockets=[listener])
        except asyncio.CancelledError:
            if server.started:
                await server.shutdown([listener])
            raise


def _most_at_once() -> int:
    """Return how many connections are kept: most file handles stay free for videos and the run."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # No limit is -1 here.
    return MOST_AT_ONCE if soft < 0 else max(min(MOST_AT_ONCE, soft // 4), 2)


async def aside(work: Callable[[], T]) -> T:
    """Return the result of `work` from a thread of its own, which no interrupt has to wait for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
            error = None
        except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
            result = None
            error = raised
        # Nobody waits for it any more where the loop was closed meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, done, result, error)

    # Not `asyncio.to_thread`, whose threads are waited for when the loop ends: Ctrl-C would hang on
    # a long reading.
    threading.Thread(target=run, daemon=True).start()
    return await done


def _settle(done: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)
