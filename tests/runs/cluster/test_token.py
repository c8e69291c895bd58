"""A head that asks for a token is found out at once, and none is sent to one that does not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.cluster import connection
from videoautoarena.runs.cluster.connection import (
    PREFACE,
    Token,
    knock,
    own_token,
    refuse_unreachable,
)

TOKEN = "5f" * 32
# What Ray 2.60 sent, shortened by what nobody looks at: its settings, then the end of the call.
SETTINGS = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0d"
OPEN = b"\0\0\x0f\x01\x05\0\0\0\x01@\x0bgrpc-status\x010"
LOCKED = b"\0\0\x10\x01\x05\0\0\0\x01\x00\x0bgrpc-status\x0216"


@contextmanager
def head(token: str | None) -> Iterator[tuple[int, list[bytes]]]:
    """Give the port of a head that wants a token, and what was said to it, call by call."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                with line:
                    said = line.recv(4096)
                    heard.append(said)
                    is_let_in = token is None or f"Bearer {token}".encode() in said
                    line.sendall(SETTINGS)
                    line.sendall(OPEN if is_let_in else LOCKED)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No token anywhere."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE", "RAY_USE_TLS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_an_open_head_is_told_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    with head(None) as (port, heard):
        assert refuse_unreachable(f"127.0.0.1:{port}") is False
    assert len(heard) == 1
    assert heard[0].startswith(PREFACE)
    assert TOKEN.encode() not in heard[0]


def test_a_head_that_asks_for_a_token_is_given_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    with head(TOKEN) as (port, heard):
        assert refuse_unreachable(f"127.0.0.1:{port}") is True
    assert [TOKEN.encode() in said for said in heard] == [False, True]


def test_no_token_and_a_wrong_one_are_one_line_that_shows_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with head(TOKEN) as (port, _):
        with pytest.raises(BadInput, match=r"asks for its token; set RAY_AUTH_TOKEN to"):
            refuse_unreachable(f"127.0.0.1:{port}")
        monkeypatch.setenv("RAY_AUTH_TOKEN", "wrong" * 9)
        with pytest.raises(BadInput, match="does not take the token in RAY_AUTH_TOKEN") as refused:
            refuse_unreachable(f"127.0.0.1:{port}")
    assert "wrong" not in str(refused.value)


def test_a_mode_that_says_not_to_send_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with head(TOKEN) as (port, _), pytest.raises(BadInput, match="RAY_AUTH_MODE is disabled here"):
        refuse_unreachable(f"127.0.0.1:{port}")


def test_tokens_are_looked_for_where_ray_looks_in_its_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert own_token() is None
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("usual\n")
    assert own_token() == Token("usual", "~/.ray/auth_token")
    (tmp_path / "named").write_text("named")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "named"))
    assert own_token() == Token("named", "RAY_AUTH_TOKEN_PATH")
    monkeypatch.setenv("RAY_AUTH_TOKEN", " given ")
    assert own_token() == Token("given", "RAY_AUTH_TOKEN")
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    (tmp_path / "named").write_bytes(b"\xff")
    assert own_token() is None


def test_a_long_token_is_sent_as_long_as_hpack_writes_it() -> None:
    # RFC 7541, C.1.2: 1337 in a prefix of five bits; here one of seven, of 1337 bytes.
    text = connection._text("x" * 1337)
    assert text[:3] == bytes([127, (1337 - 127) % 128 + 128, (1337 - 127) // 128])
    assert text[3:] == b"x" * 1337
    assert connection._text("x" * 126)[:1] == bytes([126])
    assert connection._text("x" * 127)[:2] == bytes([127, 0])


def test_a_head_that_only_greets_is_taken_for_an_open_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REACH_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        lines = []

        def serve() -> None:
            line, _ = server.accept()
            lines.append(line)
            line.sendall(SETTINGS)

        serving = threading.Thread(target=serve)
        serving.start()
        assert knock("127.0.0.1", server.getsockname()[1]) == "open"
        serving.join()
        lines[0].close()
