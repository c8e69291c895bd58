"""`langgraph dev` in a process of its own, asked over HTTP as Studio asks it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.whole_runs import KEY

ROOT = Path(__file__).parents[2]
LANGGRAPH = ROOT / ".venv-graph" / "bin" / "langgraph"
PATIENCE_S = 120.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class GraphServer:
    """A LangGraph server in `place`, where it keeps what it has to remember."""

    place: Path
    port: int
    process: subprocess.Popen[bytes]

    def asked(self, path: str, body: object = None, *, method: str | None = None) -> Any:
        """Return the JSON that the server answers with."""
        with self._sent(path, body, method=method) as reply:
            return json.load(reply)

    def streamed(self, context: Mapping[str, object] | None) -> list[tuple[str, Any]]:
        """Play the graph with this context, as the form does; return the events of its stream."""
        body = {"assistant_id": "arena", "input": {}, "stream_mode": ["updates", "custom"]}
        if context is not None:
            body["context"] = dict(context)
        events = []
        with self._sent("/runs/stream", body) as reply:
            kind = ""
            for line in reply.read().decode().splitlines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    events.append((kind, json.loads(line.removeprefix("data: "))))
        return events

    def begun(self, context: Mapping[str, object]) -> tuple[str, str]:
        """Begin to play in a thread of its own; return the ids of thread and run."""
        thread = self.asked("/threads", {})["thread_id"]
        body = {"assistant_id": "arena", "input": {}, "context": dict(context)}
        return thread, self.asked(f"/threads/{thread}/runs", body)["run_id"]

    def status(self, thread: str, run: str) -> str:
        """Return the state of a run, such as `pending`, `running`, `success` or `error`."""
        return str(self.asked(f"/threads/{thread}/runs/{run}")["status"])

    def ended(self, thread: str, run: str) -> str:
        """Wait until a run has ended; return its state."""
        until = time.monotonic() + PATIENCE_S
        while (status := self.status(thread, run)) in ("pending", "running"):
            assert time.monotonic() < until, self.log
            time.sleep(0.2)
        return status

    def state(self, thread: str) -> dict[str, Any]:
        """Return the state of the graph in a thread."""
        return dict(self.asked(f"/threads/{thread}/state")["values"])

    @property
    def log(self) -> str:
        """What the server has written so far."""
        return (self.place / "server.log").read_text(errors="replace")

    def remember(self) -> None:
        """Wait until the server has written down what it was asked, as it does every ten seconds.

        A run that is younger is unknown to it after a crash.
        """
        since = time.time()
        until = time.monotonic() + PATIENCE_S
        files = self.place / ".langgraph_api"
        while not any(file.stat().st_mtime > since for file in files.glob(".langgraph_ops*")):
            assert time.monotonic() < until, self.log
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as a crash does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _sent(self, path: str, body: object, *, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data,
            {"content-type": "application/json"},
            method=method,
        )
        return urllib.request.urlopen(request, timeout=PATIENCE_S)

    def is_up(self) -> bool:
        """Return whether it answers."""
        try:
            return bool(self.asked("/ok")["ok"])
        except (urllib.error.URLError, ConnectionError):
            return False


@contextmanager
def graph_server(place: Path) -> Iterator[GraphServer]:
    """Serve the project's graphs on loopback while the block lasts."""
    place.mkdir(exist_ok=True)
    config = json.loads((ROOT / "langgraph.json").read_text())
    graphs = {name: str(ROOT / where) for name, where in config["graphs"].items()}
    own = place / "langgraph.json"
    own.write_text(json.dumps({**config, "dependencies": [str(ROOT)], "graphs": graphs}))
    port = free_port()
    line = ["dev", "--no-browser", "--no-reload", "--port", str(port), "--config", str(own)]
    # As a user has it: no path of ours, no tracing, nothing sent to anybody.
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LOOPBACK_KEY": KEY}
    unset = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS")
    around = {name: value for name, value in os.environ.items() if name not in unset}
    with (place / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [LANGGRAPH, *line],
            cwd=place,
            env={**around, **quiet},
            stdout=log,
            stderr=log,
            # Of its own group, so that a kill ends what it has started, too.
            start_new_session=True,
        )
    server = GraphServer(place, port, process)
    try:
        until = time.monotonic() + PATIENCE_S
        while not server.is_up():
            assert process.poll() is None, server.log
            assert time.monotonic() < until, server.log
            time.sleep(0.1)
        yield server
    finally:
        if process.poll() is None:
            server.kill()
