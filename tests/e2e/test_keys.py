"""Keys are planted, every kind of failure throws them back, and they are looked for everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.support.clips import draw_folder
from tests.support.whole_runs import command

SECRETS = {
    "OPENAI_API_KEY": "sk-planted-first-0123456789",
    "GOOGLE_API_KEY": "planted-second-0123456789",
    "HOUSE_PASS": "planted-third-0123456789",
}
TOML = """
[models.house]
model = "openai:cut"
base_url = "{url}/v1"
key_env = "HOUSE_PASS"
[models.page]
model = "openai:page"
base_url = "{url}/v1"
key_env = "HOUSE_PASS"
[models.judge]
model = "openai:prose"
base_url = "{url}/v1"
key_env = "HOUSE_PASS"
[roles]
models = ["offline:hawk", "offline:owl", "house", "page", "openai:limit", "google_genai:refuse"]
examiner = "offline:examiner"
judge = "judge"
[run]
rounds = 5
pairing = "round-robin"
"""


class Gossip(BaseHTTPRequestHandler):
    """Fails in the way the model's name says, and repeats every header it was sent."""

    heard: ClassVar[Counter[str]] = Counter()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer one request."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        deed = "refuse" if ":generateContent" in self.path else json.loads(body)["model"]
        said = "; ".join(f"{name}: {value}" for name, value in self.headers.items())
        self.heard.update(secret for secret in SECRETS.values() if secret in said)
        key = self.headers["Idempotency-Key"]
        self.heard[key] += 1
        error = json.dumps({"error": {"message": said, "code": 403, "status": "PERMISSION_DENIED"}})
        message = {"role": "assistant", "content": "I would rather not say."}
        prose = json.dumps({"choices": [{"index": 0, "message": message}], "model": "m", "id": "i"})
        again = deed in ("limit", "cut") and self.heard[key] == 1
        status, text = {
            "page": (200, f"<html>{said}</html>"),
            "prose": (200, prose),
            "limit": (429 if again else 403, error),
            "cut": (200 if again else 401, error),
        }.get(deed, (403, error))
        self._send(status, text.encode(), missing=9 if deed == "cut" and again else 0)

    def _send(self, status: int, body: bytes, *, missing: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body) + missing))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def gossiping() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gossip)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def said(tmp_path: Path) -> str:
    """Run a tournament in which every remote call fails, and return all that is said of it."""
    videos, out = draw_folder(tmp_path / "videos", 1), tmp_path / "out"
    with gossiping() as host:
        (tmp_path / "arena.toml").write_text(TOML.format(url=f"http://{host}"))
        env = {**os.environ, **SECRETS, "OPENAI_BASE_URL": f"http://{host}/v1"}
        env["GOOGLE_GEMINI_BASE_URL"] = f"http://{host}"
        words = ("--videos", videos, "--config", tmp_path / "arena.toml", "--out", out)
        lines = [command("simulate", *words), command("arena", "battles", out, "--jsonl")]
        lines += [command("arena", name, out) for name in ("status", "leaderboard", "replay")]
        done = [subprocess.run(line, env=env, capture_output=True, text=True) for line in lines]
    assert [one.returncode for one in done] == [3, 0, 0, 0, 0], done
    return "".join(one.stdout + one.stderr for one in done)


def test_no_failure_brings_a_key_into_a_line_or_a_file(
    said: str, home: Path, tmp_path: Path
) -> None:
    planted = SECRETS.values()
    assert [key for key in planted if not Gossip.heard[key]] == []
    assert [key for key in planted if key in said] == []
    for fault in ("PERMISSION_DENIED", "[key]", "forfeits of house", "no usable reply twice"):
        assert fault in said, fault
    files = [path for place in (tmp_path, home) for path in place.rglob("*") if path.is_file()]
    assert any(path.name == "run.sqlite" for path in files)
    found = [(path, key) for path in files for key in planted if key.encode() in path.read_bytes()]
    assert found == []
