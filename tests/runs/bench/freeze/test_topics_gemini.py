"""Embeddings by Gemini's name and protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pytest

from videoautoarena.agents.providers.embeddings import embed
from videoautoarena.memory.records.errors import BadInput

KEY = "planted-9d1f27aa"
pytestmark = pytest.mark.slow  # langchain_google_genai takes three seconds to import


class Lengths(BaseHTTPRequestHandler):
    """Speaks Gemini's protocol of embeddings: the length of each text, or a refusal."""

    seen: ClassVar[list[dict[str, Any]]] = []
    status: ClassVar[int] = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({"path": self.path, "key": self.headers["x-goog-api-key"], **asked})
        texts = ["".join(p["text"] for p in r["content"]["parts"]) for r in asked["requests"]]
        told: dict[str, Any] = {"embeddings": [{"values": [float(len(t)), 1.0]} for t in texts]}
        if self.status != 200:
            words = f"API key not valid: {KEY}\x1b[2J"
            told = {"error": {"code": self.status, "message": words, "status": "INVALID"}}
        body = json.dumps(told).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Lengths]]:
    monkeypatch.setattr(Lengths, "seen", [])
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Lengths)
    Thread(target=listening.serve_forever, daemon=True).start()
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"http://127.0.0.1:{listening.server_port}")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    yield Lengths
    listening.shutdown()
    listening.server_close()


def test_every_text_goes_there_once_and_has_its_own_vector(server: type[Lengths]) -> None:
    texts = ["x" * k for k in range(1, 131)]
    vectors = embed("google_genai:gemini-embedding-001", texts)
    assert vectors == [[float(len(text)), 1.0] for text in texts]
    sent = [part["content"]["parts"][0]["text"] for one in server.seen for part in one["requests"]]
    assert sorted(sent, key=len) == texts
    for one in server.seen:
        assert one["path"].endswith("/models/gemini-embedding-001:batchEmbedContents")
        assert one["key"] == KEY


def test_a_refusal_is_one_line_without_the_key(
    server: type[Lengths], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lengths, "status", 400)
    with pytest.raises(BadInput, match="gave no embeddings") as told:
        embed("google_genai:gemini-embedding-001", ["a"])
    assert KEY not in str(told.value)
    assert "\x1b" not in str(told.value)
    assert "\n" not in str(told.value)


def test_without_a_key_nobody_is_asked(
    server: type[Lengths], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadInput, match="cannot be used"):
        embed("google_genai:gemini-embedding-001", ["a"])
    assert server.seen == []
