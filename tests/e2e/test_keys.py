"""Keys are planted, every kind of failure throws them back, and they are looked for everywhere."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.support.clips import draw_folder
from tests.support.collector import collecting
from tests.support.typed import Terminal
from videoautoarena.agents.calls import retry

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
[models.echo]
model = "openai:echo"
base_url = "{url}/v1"
key_env = "HOUSE_PASS"
[models.shy]
model = "openai:shy"
base_url = "{url}/v1"
key_env = "HOUSE_PASS"
[models.judge]
model = "openai:prose"
base_url = "{url}/v1"
key_env = "HOUSE_PASS"
[roles]
models = [
  "house", "page", "echo", "shy", "openai:limit", "google_genai:refuse", "offline:hawk",
]
examiner = "offline:examiner"
judge = "judge"
[run]
rounds = 3
pairing = "round-robin"
"""

IN_TURN = """
import json, os, sys, videoautoarena.agents.calls.attempts
from videoautoarena.agents.calls import retry
from videoautoarena.runs.cli.program.main import arena, guarded

def stumble(error, **_):
    key = os.environ["HOUSE_PASS"]
    raise RuntimeError(f"{key}: {error!r} {error.__dict__}") from error

def code_of(words):
    return guarded(lambda: arena.main(words, prog_name="arena", standalone_mode=False))

retry.FIRST_PAUSE_S = 0.01
*sound, last = json.loads(sys.argv[1])
codes = [code_of(words) for words in sound]
videoautoarena.agents.calls.attempts.fault_of = stumble
sys.exit(json.dumps([*codes, code_of(last)]))
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
        shy = deed == "shy"
        message = {"role": "assistant", "content": None if shy else f"I would rather not: {said}"}
        choice = {"index": 0, "finish_reason": said, "message": message | {"refusal": said * shy}}
        prose = json.dumps({"choices": [choice], "model": said, "id": said})
        again = deed in ("limit", "cut") and self.heard[key] == 1
        status, text = {
            "page": (200, f"<html>{said}</html>"),
            "prose": (200, prose),
            "echo": (200, prose),
            "shy": (200, prose),
            "limit": (429 if again else 403, error),
            "cut": (200 if again else 401, error),
        }.get(deed, (403, error))
        self._send(status, text.encode(), missing=9 if deed == "cut" and again else 0)

    def _send(self, status: int, body: bytes, *, missing: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After", "0")
        self.send_header("X-Request-Id", self.headers.get("Authorization", "none"))
        self.send_header("Content-Length", str(len(body) + missing))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def gossiping() -> Iterator[str]:
    Gossip.heard.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gossip)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def looks_at(place: Path) -> list[tuple[str | Path, ...]]:
    """Return the commands that look at the run from all sides and call nobody."""
    out = place / "out"
    looks = [("battles", out, "--jsonl"), ("status", out), ("leaderboard", out)]
    looks += [("replay", out), ("export", out), ("doctor", *words_of(place))]
    return looks + [("show", out, first_battle(place), *end) for end in ((), ("--json",))]


def words_of(place: Path) -> list[str]:
    return ["--videos", str(place / "videos"), "--config", str(place / "arena.toml")]


def first_battle(place: Path) -> str:
    return f"{hashlib.sha256((place / 'videos/clip00.mp4').read_bytes()).hexdigest()[:12]}-p1-r0"


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a clip, and a cast of which every remote call goes wrong."""
    draw_folder(tmp_path / "videos", 1)
    with gossiping() as host:
        (tmp_path / "arena.toml").write_text(TOML.format(url=f"http://{host}"))
        env = {**SECRETS, "OPENAI_BASE_URL": f"http://{host}/v1"}
        for name, value in (env | {"GOOGLE_GEMINI_BASE_URL": f"http://{host}"}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(retry, "FIRST_PAUSE_S", 0.01)
        yield tmp_path


def assert_no_key(said: str, *places: Path) -> None:
    """Hold that every key was sent, and stands neither in what was said nor in any file."""
    planted = SECRETS.values()
    assert [key for key in planted if not Gossip.heard[key]] == []
    assert [key for key in planted if key in said] == []
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    assert any(path.name == "run.sqlite" for path in files)
    found = [(path, key) for path in files for key in planted if key.encode() in path.read_bytes()]
    assert found == []


def test_no_failure_brings_a_key_into_a_line_or_a_file(
    ground: Path, terminal: Terminal, home: Path
) -> None:
    out = ("--out", ground / "out", f"--trace={ground / 'trace.jsonl'}")
    with collecting() as collector:
        looks = [terminal.simulate(*words_of(ground), *out, "--otlp", collector.url)]
    looks += [terminal.arena("doctor", *words_of(ground), "--live")]
    looks += [terminal.arena(*look) for look in looks_at(ground)]
    assert [look.code for look in looks] == [3, 1, *[0] * 8], looks
    said = "".join(one.out + one.err for one in looks)
    assert_no_key(said, ground, home)
    assert [key for key in SECRETS.values() if key.encode() in collector.raw] == []
    assert len({one.attributes["error.type"] for one in collector.spans if one.is_error}) > 4
    signs = ("[key]", "user-agent: google-genai", "an HTML page instead of a reply: Host")
    for sign in (*signs, "forfeits of house", "I would rather not: Host"):
        assert sign in said, sign


@pytest.mark.slow
def test_neither_what_a_client_logs_nor_a_bug_brings_one(
    ground: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ground)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    play = ("simulate", *words_of(ground), "--rounds", "7", "--out")
    lines = [[*play, "out"], ["battles", "out", "--jsonl"], [*play, "bug"]]
    line = [sys.executable, "-c", IN_TURN, json.dumps(lines)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert json.loads(done.stderr.splitlines()[-1]) == [3, 0, 70], done
    said = done.stdout + done.stderr
    assert_no_key(said, ground, home)
    for sign in ("HTTP Response", "RuntimeError", "PERMISSION_DENIED", "no usable reply twice"):
        assert sign in said, sign
