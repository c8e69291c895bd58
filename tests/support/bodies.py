"""A server that keeps every request as it came, byte for byte; it can stand as a proxy, too."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage

from tests.support import wire
from tests.support.loopback import Brain


@dataclass(frozen=True)
class Kept:
    """One request.

    Attributes:
        target: what stood in its first line: a path, or a whole address where it came as to a
            proxy.
        connection: which of the connections it came on, counted from 1.
    """

    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Return the parts of its last message, as JSON."""
        told = json.loads(self.body)
        last = (told.get("messages") or told.get("contents"))[-1]
        parts: list[dict[str, Any]] = last.get("content") or last.get("parts")
        return parts


@dataclass(frozen=True)
class HttpReply:
    """One answer, whatever protocol it is of."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Book:
    """What a server was sent.

    Attributes:
        moved_to: where POSTs are sent on to with status 307, until they come there.
        tunnels: hosts that it was asked to make a tunnel to.
        pause_s: how long it waits before each answer.
        meet: what each request waits for before its answer.
        brain: what answers.
        script: what answers instead, whatever protocol it is of; None leaves it to the brain.
    """

    port: int = 0
    requests: list[Kept] = field(default_factory=list)
    tunnels: list[str] = field(default_factory=list)
    connections: int = 0
    moved_to: str | None = None
    pause_s: float = 0.0
    meet: Callable[[], object] = int
    brain: Brain = lambda _model, _messages: AIMessage("A heron.")
    script: Callable[[Kept], HttpReply | None] = lambda _request: None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"


class _Keeper(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.book.connections += 1
        self._number = self.server.book.connections

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        book = self.server.book
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kept = Kept(self.path, dict(self.headers), body, self._number)
        book.requests.append(kept)
        book.meet()
        time.sleep(book.pause_s)
        path = urlsplit(self.path).path
        if book.moved_to is not None and path != book.moved_to:
            return self._send(307, b"", location=book.moved_to)
        said = book.script(kept)
        if said is not None:
            return self._send(said.status, said.body, kind=said.kind, more=said.headers)
        path = path.removeprefix("/moved")
        request = wire.read(path, json.loads(body))
        return self._send(200, wire.reply(request, book.brain(request.model, request.messages)))

    def do_GET(self) -> None:
        """Answer by the script alone."""
        kept = Kept(self.path, dict(self.headers), b"", self._number)
        self.server.book.requests.append(kept)
        said = self.server.book.script(kept) or HttpReply(b"", status=404)
        self._send(said.status, said.body, kind=said.kind, more=said.headers)

    def do_CONNECT(self) -> None:
        """Stand between a client and the TLS server beside this one, whatever host was named."""
        self.server.book.tunnels.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        with socket.create_connection(("127.0.0.1", int(self.path.rsplit(":", 1)[1]))) as far:
            back = threading.Thread(target=_pour, args=(far, self.connection))
            back.start()
            _pour(self.connection, far)
            back.join()
        self.close_connection = True

    def _send(
        self,
        status: int,
        body: bytes,
        *,
        location: str | None = None,
        kind: str = "application/json",
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location is not None:
            self.send_header("Location", location)
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def _pour(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, book: Book, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Keeper)
        self.book = book
        book.port = int(self.server_address[1])
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)

    def handle_error(self, *_: Any) -> None:
        """Let a client hang up, or refuse a certificate."""


@contextmanager
def keeping(tls: ssl.SSLContext | None = None, **settings: Any) -> Iterator[Book]:
    """Keep what is sent, from threads of this process, for as long as the block lasts."""
    book = Book(**settings)
    server = _Server(book, tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005})
    thread.start()
    try:
        yield book
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
