"""A server that takes whatever LangSmith's client sends, and keeps it as it was before packing."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import zstandard


class Traced(NamedTuple):
    """One request: where it went, and its body unpacked."""

    path: str
    body: bytes


@contextmanager
def listening() -> Iterator[tuple[str, list[Traced]]]:
    """Give the address of a server that takes everything, and what it was sent."""
    heard: list[Traced] = []

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kind = self.headers.get("Content-Encoding", "")
            if kind == "zstd":
                body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
            elif kind == "gzip":
                body = gzip.decompress(body)
            heard.append(Traced(self.path, body))
            self.send_response(202)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_PATCH = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ear)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
