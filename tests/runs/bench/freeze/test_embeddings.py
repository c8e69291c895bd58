"""Embeddings of questions are asked for once, kept with the run, and make topics."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from tests.support.letters import Letters
from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.agents.providers.embeddings import embed
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.run.rundir.embeddings import vectors_of

MODEL = "tests.support.letters.Letters:plain"
QUESTIONS = ["aab", "", "bb \ud800"]


def test_each_text_has_a_vector_and_only_the_first_asking_leaves_the_machine(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    before = Letters.asked
    vectors = vectors_of(QUESTIONS, MODEL, folder=tmp_path, say=told.append)
    assert vectors[:, :2].tolist() == [[2, 1], [0, 0], [0, 2]]
    assert (vectors_of(QUESTIONS, MODEL, folder=tmp_path, say=told.append) == vectors).all()
    assert Letters.asked == before + 1
    assert told == [f"3 questions go to {MODEL} to be embedded; no frames, no answers"]
    vectors_of(QUESTIONS[:2], MODEL, folder=tmp_path, say=told.append)
    assert Letters.asked == before + 2


def test_a_damaged_file_is_named_and_never_used(tmp_path: Path) -> None:
    vectors_of(QUESTIONS, MODEL, folder=tmp_path, say=lambda _: None)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(BadInput, match="is damaged; delete it"):
        vectors_of(QUESTIONS, MODEL, folder=tmp_path, say=lambda _: None)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests.support.letters.Letters:broken", "gave no embeddings: RuntimeError: no more"),
        ("tests.support.letters.Letters:short", "gave 2 embeddings of 3 texts"),
        ("tests.support.letters.Nothing:x", "cannot be used: AttributeError"),
        ("no.such.Package:x", "cannot be used: ModuleNotFoundError"),
        ("letters", "names no embeddings"),
        ("openai:", "names no embeddings"),
        ("os.system:true", "no class of LangChain embeddings"),
    ],
)
def test_what_is_no_model_is_one_line(name: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        embed(name, QUESTIONS)


class OneNumber(BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol of embeddings: the length of each text."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({"path": self.path, **asked})
        data = [{"embedding": [float(len(t))], "index": k} for k, t in enumerate(asked["input"])]
        body = json.dumps({"data": data, "model": asked["model"], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.slow  # langchain_openai takes two seconds to import
def test_a_compatible_server_gets_the_texts_and_nobody_else_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), OneNumber)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
    assert embed("openai:small", ["one", "three"]) == [[3.0], [5.0]]
    server.shutdown()
    server.server_close()
    (asked,) = OneNumber.seen
    assert (asked["path"], asked["input"]) == ("/v1/embeddings", ["one", "three"])


def test_topics_follow_the_embeddings_and_freeze_to_the_same_bytes(tmp_path: Path) -> None:
    # Both kinds share their words; only the letters of a number tell them apart.
    kinds = ["tell about aaaaaaaa", "tell about zzzzzzzz"]
    places = [slot(video(), k) for k in range(40)]
    made = [battle(at, question=f"{kinds[k % 2]} thing {k % 4}") for k, at in enumerate(places)]
    out = play(tmp_path / "out", made)
    for name in ("one", "two"):
        words = ("--size", 30, "--by", "topic", "--embeddings", MODEL)
        assert invoke("freeze", out, "--to", tmp_path / name, *words).exit_code == 0
    items = open_bench(tmp_path / "one").items
    assert len({item.topic for item in items}) == 2
    assert {item.topic for item in items if "aaa" in item.question}.isdisjoint(
        {item.topic for item in items if "zzz" in item.question}
    )
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert f"clusters by {MODEL}" in (tmp_path / "one" / "card.md").read_text()


def test_embeddings_without_a_draw_over_topics_are_refused(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0))])
    refused = invoke("freeze", out, "--to", tmp_path / "bench", "--embeddings", MODEL)
    assert "pass --size" in str(refused.exception)
