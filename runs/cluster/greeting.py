"""Talking to the head of a cluster before Ray does, to say at once why it would not be let in.

Ray asks for minutes where nobody listens, and for half of one where it has the wrong token. A
head's first service is gRPC (https://grpc.io, "gRPC over HTTP/2"), of which one call is enough.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

REACH_S = 5.0
"""How long a cluster's address may take to answer."""
SETTINGS, HEADERS, DATA = 4, 1, 0
"""Kinds of frames (RFC 9113, 6)."""
END_OF_STREAM, END_OF_HEADERS = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
METHOD = "/ray.rpc.NodeInfoGcsService/GetClusterId"
NO_MESSAGE = b"\0" * 5
"""A message without fields, uncompressed."""
UNAUTHENTICATED = b"grpc-status\x0216"
LONGEST = 1 << 16
"""Bytes of an answer that are looked at."""

Door = Literal["open", "locked", "none"]
"""Whether a head lets in who asks, does not, or none answers there."""


class Token(NamedTuple):
    """What a cluster's head may ask for, and where this process has it from."""

    text: str
    place: str


def own_token() -> Token | None:
    """Return the token that Ray would use here, by its own rules; None where there is none."""
    if text := os.environ.get("RAY_AUTH_TOKEN", "").strip():
        return Token(text, "RAY_AUTH_TOKEN")
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(named) if named else Path.home() / ".ray" / "auth_token"
    with suppress(OSError, UnicodeDecodeError):
        if text := file.read_text(encoding="ascii").strip():
            return Token(text, "RAY_AUTH_TOKEN_PATH" if named else "~/.ray/auth_token")
    return None


def knock(host: str, port: int, token: Token | None = None) -> Door:
    """Ask a head for its id, with a token if any; OSError where nobody is there in time."""
    with socket.create_connection((host, port), timeout=REACH_S) as line:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return "open"  # it greets nobody before it has seen a certificate
        with suppress(ConnectionResetError, BrokenPipeError):
            line.sendall(b"".join(_call(host, token)))
            return _answer(line)
    return "none"


def _answer(line: socket.socket) -> Door:
    heard = b""
    while len(heard) < LONGEST:
        with _late_is_no_error(bool(heard)):
            if said := line.recv(4096):
                heard += said
                if b"grpc-status" not in heard:
                    continue
        break
    if heard[3:4] != bytes([SETTINGS]):
        return "none"
    return "locked" if UNAUTHENTICATED in heard else "open"


@contextmanager
def _late_is_no_error(has_greeted: bool) -> Iterator[None]:
    """Let a server take its time once it has greeted as heads do: what it says is up to it."""
    try:
        yield
    except TimeoutError:
        if not has_greeted:
            raise


def _call(host: str, token: Token | None) -> Iterator[bytes]:
    yield PREFACE + _frame(SETTINGS, 0, b"", stream=0)
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": METHOD,
        ":authority": host,
        "content-type": "application/grpc",
        "te": "trailers",
    }
    if token is not None:
        fields["authorization"] = f"Bearer {token.text}"
    block = b"".join(b"\0" + _text(name) + _text(value) for name, value in fields.items())
    yield _frame(HEADERS, END_OF_HEADERS, block)
    yield _frame(DATA, END_OF_STREAM, NO_MESSAGE)


def _frame(kind: int, flags: int, body: bytes, *, stream: int = 1) -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def _text(text: str) -> bytes:
    """A text as HPACK has it, not by its own code (RFC 7541, 5.2)."""
    data = text.encode()
    length, most = len(data), 127
    if length < most:
        return bytes([length]) + data
    head, rest = bytes([most]), length - most
    while rest >= 128:
        head += bytes([rest % 128 + 128])
        rest //= 128
    return head + bytes([rest]) + data
