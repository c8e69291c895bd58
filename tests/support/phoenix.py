"""Phoenix, a collector that others made, in a process of its own: it keeps the spans it is sent."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.graph_server import free_port

ROOT = Path(__file__).parents[2]
PHOENIX = ROOT / ".venv-otel" / "bin" / "phoenix"
PATIENCE_S = 300.0


@dataclass
class Phoenix:
    """A running collector."""

    place: Path
    url: str
    _before: Counter[tuple[str, str]] = field(default_factory=Counter)

    def forget(self) -> None:
        """Count no span from now on that it has by now."""
        self._before = self._all()

    def names(self, *, whole: int, calls: int) -> Counter[tuple[str, str]]:
        """Return how many spans it has of each name and kind, once it has so many of these.

        It answers before it writes them down.
        """
        until = time.monotonic() + PATIENCE_S
        while True:
            found = self._all() - self._before
            have = Counter[str]()
            for (name, _), count in found.items():
                is_battle = name.endswith(" battle")
                have[
                    "calls" if name.startswith("chat ") else "battles" if is_battle else "whole"
                ] += count
            if have["whole"] >= whole and have["calls"] >= calls:
                return found
            assert time.monotonic() < until, (found, (self.place / "log").read_text()[-2000:])
            time.sleep(0.2)

    def _all(self) -> Counter[tuple[str, str]]:
        with closing(sqlite3.connect(self.place / "phoenix.db")) as file:
            rows = file.execute("SELECT name, span_kind, count(*) FROM spans GROUP BY 1, 2")
            return Counter({(name, kind): count for name, kind, count in rows})

    def everything(self) -> bytes:
        """Return all that it has written anywhere, its log among it."""
        return b"".join(file.read_bytes() for file in self.place.rglob("*") if file.is_file())


@contextmanager
def phoenix(place: Path) -> Iterator[Phoenix]:
    """Let it collect on loopback for as long as the block lasts."""
    place.mkdir()
    port = free_port()
    said = {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(place),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    # As a user has it: no path of ours.
    unset = ("PYTHONPATH", "PYTHONWARNINGS")
    around = {name: value for name, value in os.environ.items() if name not in unset}
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            [PHOENIX, "serve"], cwd=place, env={**around, **said}, stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + PATIENCE_S
        while not _is_up(url):
            assert process.poll() is None, (place / "log").read_text()
            assert time.monotonic() < until, (place / "log").read_text()
            time.sleep(0.2)
        yield Phoenix(place, url)
    finally:
        process.terminate()
        process.wait()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz") as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False
