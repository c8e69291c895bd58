"""LangSmith hears of a run if the user turned it on, and of nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.clips import draw_folder

WATCHED = """
import langsmith.client
made = langsmith.client.Client.__init__
def counted(self, *args, **kwargs):
    print("a LangSmith client was made")
    made(self, *args, **kwargs)
langsmith.client.Client.__init__ = counted
from videoautoarena.runs.cli.program.main import arena_main
arena_main()
"""
RUN = ("simulate", "--videos", "videos", "--out", "out", "--rounds", "1")
CAST = ("--models", "offline:hawk,offline:mole")


@contextmanager
def listening() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Give the address of a server that takes everything, and what it was sent."""
    heard: list[tuple[str, bytes]] = []

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append((self.path, self.rfile.read(int(self.headers.get("Content-Length", 0)))))
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


def play(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    draw_folder(folder / "videos", 1, seconds=2)
    words = [sys.executable, "-c", WATCHED, *RUN, *CAST]
    env = os.environ | environment
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_in_a_clean_environment_no_client_is_made(tmp_path: Path) -> None:
    done = play(tmp_path)
    assert "LangSmith" not in done.stdout + done.stderr


def test_a_key_and_an_address_alone_send_nothing(tmp_path: Path) -> None:
    with listening() as (address, heard):
        done = play(tmp_path, LANGSMITH_API_KEY="planted", LANGSMITH_ENDPOINT=address)
    assert heard == []
    assert "LangSmith" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["LANGSMITH_TRACING", pytest.param("LANGCHAIN_TRACING_V2", marks=pytest.mark.slow)]
)
def test_who_turns_it_on_gets_traces_and_is_told_so_first(tmp_path: Path, name: str) -> None:
    with listening() as (address, heard):
        settings = {"LANGSMITH_API_KEY": "planted", "LANGSMITH_ENDPOINT": address, name: "true"}
        done = play(tmp_path, **settings)
    assert any("/runs" in path for path, _ in heard), done.stderr
    told = "LangSmith tracing is on: all requests and replies also go to 127.0.0.1"
    assert told in done.stderr
    assert "planted" not in done.stdout + done.stderr
