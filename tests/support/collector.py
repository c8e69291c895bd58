"""A collector of OpenTelemetry's on loopback: it takes spans over HTTP, and unpacks them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1 import trace_pb2


@dataclass(frozen=True)
class TakenSpan:
    """One span as it came."""

    name: str
    id: str
    parent: str
    trace: str
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    is_error: bool
    ns: int
    """How long it was."""


@dataclass
class TakenSpans:
    """What a collector was sent, and how it answers."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    """What the next requests are answered with; 200 once they are used up."""
    moved_to: str = ""
    """Where a redirect leads."""
    let_go: threading.Event = field(default_factory=threading.Event)
    """Where it is not set, no request is answered."""

    @property
    def raw(self) -> bytes:
        """All bytes that came."""
        return b"".join(self.bodies)

    @property
    def resources(self) -> list[dict[str, Any]]:
        """What each request says of the process that sent it."""
        asked = (ExportTraceServiceRequest.FromString(body) for body in self.bodies)
        return [_told(one.resource.attributes) for ask in asked for one in ask.resource_spans]

    @property
    def spans(self) -> list[TakenSpan]:
        """Every span, in the order in which they ended."""
        asked = (ExportTraceServiceRequest.FromString(body) for body in self.bodies)
        scopes = (scope for ask in asked for one in ask.resource_spans for scope in one.scope_spans)
        return [_taken(span) for scope in scopes for span in scope.spans]

    @property
    def kinds(self) -> Counter[str]:
        """How many spans there are of calls, of battles, and of the whole."""
        names = (span.name.partition(" ") for span in self.spans)
        return Counter(
            {"chat": "calls", "embeddings": "calls"}.get(
                head, "battles" if tail == "battle" else "whole"
            )
            for head, _, tail in names
        )


def _taken(span: trace_pb2.Span) -> TakenSpan:
    return TakenSpan(
        name=span.name,
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        trace=span.trace_id.hex(),
        attributes=_told(span.attributes),
        events=[(event.name, _told(event.attributes)) for event in span.events],
        is_error=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
        ns=span.end_time_unix_nano - span.start_time_unix_nano,
    )


def _told(attributes: Any) -> dict[str, Any]:
    return {one.key: _plain(one.value) for one in attributes}


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(one) for one in value.array_value.values]
    return getattr(value, str(kind))


@contextmanager
def collecting() -> Iterator[TakenSpans]:
    """Take spans for as long as the block lasts."""
    taken = TakenSpans()
    taken.let_go.set()

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            taken.let_go.wait()
            status = taken.statuses.pop(0) if taken.statuses else 200
            taken.paths.append(self.path)
            taken.headers.append(dict(self.headers.items()))
            if status == 200:
                taken.bodies.append(body)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", taken.moved_to)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def handle(self) -> None:
            # Whoever waited long enough has gone away.
            try:
                super().handle()
            except ConnectionError:
                return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Door)
    taken.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield taken
    finally:
        taken.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()
