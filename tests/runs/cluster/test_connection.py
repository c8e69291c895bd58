"""Why a cluster cannot be used is one line, at once, whatever is wrong."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.cluster import connection
from videoautoarena.runs.cluster.connection import connected, refuse_unreachable, why_not

GREETING_OF_HTTP2 = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0d"


@contextmanager
def answering(words: bytes) -> Iterator[str]:
    """Give the address of a server that says some words to whoever comes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            line, _ = server.accept()
            with line:
                line.recv(1000)
                line.sendall(words)

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        serving.join(10)


@pytest.mark.parametrize(
    "address", ["here", "ray://host:10001", "host:port", ":6379", "host:", "\x1b[2J:1/"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="is no HOST:PORT of a head") as refused:
        refuse_unreachable(address)
    assert str(refused.value).isprintable()


def test_an_address_at_which_nobody_listens_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(BadInput, match=f"no Ray cluster answers at 127.0.0.1:{port} \\("):
        refuse_unreachable(f"127.0.0.1:{port}")


@pytest.mark.parametrize("words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"SSH"])
def test_a_server_that_is_no_head_is_refused(words: bytes) -> None:
    with answering(words) as address, pytest.raises(BadInput, match="is no head of a Ray cluster"):
        refuse_unreachable(address)


def test_a_server_that_answers_and_keeps_the_line_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "REACH_S", 3600.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        lines = []

        def serve() -> None:
            line, _ = server.accept()
            lines.append(line)
            line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        serving = threading.Thread(target=serve)
        serving.start()
        with pytest.raises(BadInput, match="is no head of a Ray cluster"):
            refuse_unreachable(f"127.0.0.1:{server.getsockname()[1]}")
        serving.join()
        lines[0].close()


def test_a_server_that_says_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REACH_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BadInput, match=r"no Ray cluster answers at .* \(timed out\)"):
            refuse_unreachable(address)


def test_a_server_that_greets_as_a_head_does_is_tried() -> None:
    with answering(GREETING_OF_HTTP2) as address:
        assert refuse_unreachable(address) is False


def test_another_version_names_ours_and_what_to_do() -> None:
    error = RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.9.0")
    line = why_not("head:6379", error, ray_version="2.60.0")
    assert line.startswith("the cluster at head:6379 has another version of Ray or Python than")
    assert "Ray 2.60.0 and Python" in line
    assert line.endswith("install the same on all machines")


def test_any_other_refusal_of_ray_is_one_line() -> None:
    line = why_not(None, ConnectionError("no\n\x1b[2J luck" + "!" * 900), ray_version="2.60.0")
    assert line.startswith("no Ray cluster can be used at this machine (no ")
    assert line.isprintable()
    assert len(line) < 300


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match="needs Ray; install it with: pip install "), connected(None):
        pass
