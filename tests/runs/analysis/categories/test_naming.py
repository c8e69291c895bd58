"""Topics get names of a model's, which are text and no more, and are paid for once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from tests.runs.analysis.categories.test_topics import asked
from tests.support.canned import Brain
from tests.support.lives import Life
from tests.support.loopback import Loopback, always, serving
from tests.support.manners import Manners, Mishap
from tests.support.played import battle, invoke, play, slot, video
from tests.support.typed import Terminal
from tests.support.whole_runs import command, committed_keys
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.categories.naming import LONGEST, distinct
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.run.rundir.reader import RUN_FILE

HOSTILE = "\u202e=cmd|' /C calc'!A0\x1b[2J <script>alert(1)</script>\n# **x** | y " + "z" * 900


@pytest.fixture
def out(tmp_path: Path) -> Path:
    questions = asked()[0]
    play(
        tmp_path / "run",
        [battle(slot(video(), k), question=text) for k, text in enumerate(questions)],
    )
    return tmp_path / "run"


def frozen(out: Path, to: Path, *typed: object) -> Any:
    return invoke("freeze", out, "--to", to, "--size", 60, "--by", "topic", *typed)


def calls_of(out: Path) -> int:
    with Store.open(out / RUN_FILE, write=False) as store:
        return sum(row.nonce.role == "topic_namer" for row in store.journal.calls())


def test_topics_are_named_once_and_the_bench_says_by_whom(out: Path, tmp_path: Path) -> None:
    assert frozen(out, tmp_path / "plain").exit_code == 0
    for place in ("one", "two"):
        told = frozen(out, tmp_path / place, "--name-topics", "offline:examiner")
        assert told.exit_code == 0, told.output
    assert (tmp_path / "one" / "manifest.json").read_bytes() == (
        tmp_path / "two" / "manifest.json"
    ).read_bytes()
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    words = manifest["selection"]["topic_words"]
    assert manifest["selection"]["topics_named_by"] == "offline:examiner"
    assert calls_of(out) == len(words) == 3
    before = {item.qid: item.topic for item in open_bench(tmp_path / "plain").items}
    after = {item.qid: item.topic for item in open_bench(tmp_path / "one").items}
    assert {qid: words.get(str(topic), topic) for qid, topic in after.items()} == before
    assert "named by offline:examiner, a model" in (tmp_path / "one" / "card.md").read_text()


def _brain(name: str) -> Brain:
    reply = always(json.dumps({"name": name}))
    return lambda model, messages: AIMessage.model_validate(reply(model, messages).model_dump())


@pytest.mark.slow
def test_a_hostile_name_is_text_in_bench_and_card(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-5f0c7d21a4b8e936")
    with serving(tmp_path / "log", brain=_brain(HOSTILE)) as server:
        path = tmp_path / "arena.toml"
        path.write_text(
            f'[models.namer]\nmodel = "openai:judge"\nbase_url = "{server.openai_url}"\n'
            'key_env = "TEST_KEY"\n'
        )
        monkeypatch.chdir(tmp_path)
        told = frozen(out, tmp_path / "b", "--name-topics", "namer")
    assert told.exit_code == 0, told.output
    topics = {item.topic for item in open_bench(tmp_path / "b").items} - {"other"}
    assert len(topics) == 3
    assert all(topic and len(topic) <= LONGEST + 4 and topic.isprintable() for topic in topics)
    card = (tmp_path / "b" / "card.md").read_text()
    assert "<script>" not in card
    assert "\u202e" not in card
    assert invoke("bench", "verify", tmp_path / "b").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0, 2])
def test_names_that_were_had_before_a_kill_are_not_paid_again(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-5f0c7d21a4b8e936")
    apart = Manners(latency_s=(0.1, 0.9))
    with serving(tmp_path / "log", apart, brain=_brain("Tea")) as server:
        (tmp_path / "arena.toml").write_text(
            f'[models.namer]\nmodel = "openai:judge"\nbase_url = "{server.openai_url}"\n'
            'key_env = "TEST_KEY"\n'
        )
        monkeypatch.chdir(tmp_path)
        to = tmp_path / "b"
        typed = ("--size", 60, "--by", "topic", "--name-topics", "namer")
        line = command("arena", "freeze", out, "--to", to, *map(str, typed))
        with Life(line) as life:
            life.until(lambda: server.events("arrived") and calls_of(out) >= kept)
            life.interrupt(signal.SIGKILL)
            life.end()
        paid = committed_keys(out)
        told = frozen(out, to, "--name-topics", "namer")
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert told.exit_code == 0, told.output
    assert calls_of(out) == 3
    assert {key: sent[key] for key in paid if key in sent} == {
        key: 1 for key in paid if key in sent
    }
    assert {item.topic for item in open_bench(to).items} - {"other"} == {
        "Tea",
        "Tea (2)",
        "Tea (3)",
    }


@settings(max_examples=40)
@given(st.dictionaries(st.text(), st.text(), max_size=6))
def test_names_are_harmless_short_and_unlike_each_other(said: dict[str, str]) -> None:
    names = distinct(said)
    assert len(set(names.values())) == len(names)
    assert all(name.isprintable() and name.strip() for name in names.values())


def toml_of(tmp_path: Path, server: Loopback, name: str) -> Path:
    """Return a file that declares a namer behind a server."""
    path = tmp_path / name
    path.write_text(
        f'[models.namer]\nmodel = "openai:judge"\nbase_url = "{server.openai_url}"\n'
        'key_env = "TEST_KEY"\n'
    )
    return path


def test_a_namer_is_read_from_the_file_that_is_named(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-5f0c7d21a4b8e936")
    with serving(tmp_path / "log", brain=_brain("Tea")) as server:
        file = toml_of(tmp_path, server, "other.toml")
        told = frozen(out, tmp_path / "b", "--name-topics", "namer", "--config", file)
    assert told.exit_code == 0, told.output
    assert {item.topic for item in open_bench(tmp_path / "b").items} >= {"Tea", "Tea (2)"}


@pytest.mark.slow
def test_a_name_that_failed_is_asked_for_again_on_demand(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-5f0c7d21a4b8e936")
    bad = Manners(mishaps=(Mishap(do="status", nth=1, times=1, status=400),))
    with serving(tmp_path / "log", bad, brain=_brain("Tea")) as server:
        named = ("--name-topics", "namer", "--config", toml_of(tmp_path, server, "other.toml"))
        asked_for: list[int] = []
        for to, more in (("b", ()), ("c", ()), ("d", ("--retry-failed",))):
            assert frozen(out, tmp_path / to, *named, *more, "--concurrency", 1).exit_code == 0
            asked_for.append(len(server.events("arrived")))
    assert asked_for == [3, 3, 4]
    topics = [{item.topic for item in open_bench(tmp_path / to).items} for to in "bcd"]
    assert "Tea (3)" not in topics[0] | topics[1]
    assert "Tea (3)" in topics[2]


def test_a_cap_on_naming_ends_it_with_4_and_says_how_to_go_on(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-5f0c7d21a4b8e936")
    with serving(tmp_path / "log", brain=_brain("Tea")) as server:
        named = ("--name-topics", "namer", "--config", toml_of(tmp_path, server, "other.toml"))
        drawn = ("--to", tmp_path / "b", "--size", "60", "--by", "topic")
        said = terminal.arena("freeze", out, *drawn, *named, "--max-tokens", "10")
        assert server.events("arrived") == []
    assert said.code == 4
    assert "budget cap reached: 0 items, 3 left, no bench is written" in said.err
    assert "repeat the command with a higher --max-usd or --max-tokens" in said.err
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("typed", [("--plan",), ("--max-void", "0.1")])
def test_names_have_no_plan_and_no_share_of_voids(
    out: Path, tmp_path: Path, typed: tuple[str, ...]
) -> None:
    told = frozen(out, tmp_path / "b", "--name-topics", "offline:examiner", *typed)
    assert f"{typed[0]} needs --hard, or --embeddings" in str(told.exception)


def test_names_need_topics(out: Path, tmp_path: Path) -> None:
    told = invoke("freeze", out, "--to", tmp_path / "b", "--name-topics", "offline:examiner")
    assert isinstance(told.exception, WrongArgument)
    assert "--name-topics needs topics" in str(told.exception)
