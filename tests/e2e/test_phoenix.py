"""A collector that others made gets a span for each call, and neither a key nor a frame."""

from __future__ import annotations

import base64
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.clips import draw_folder
from tests.support.forks import Process, ended, started
from tests.support.loopback import ask_offline, serving
from tests.support.manners import Manners, Mishap
from tests.support.phoenix import PHOENIX, Phoenix, phoenix
from tests.support.whole_runs import battles, command, write_config
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import RUN_FILE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PHOENIX.exists() and "CI" not in os.environ,
        reason="arize-phoenix is not installed; make .venv-otel/.installed",
    ),
]
KEY = "sk-4f9Q2mZr8WvT6bYx"


class Watching:
    """The offline models; keeps every picture that it is sent."""

    def __init__(self) -> None:
        self.pictures: set[str] = set()

    def __call__(self, model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        """Answer as the model does."""
        for block in messages[-1].content:
            if isinstance(block, dict) and block["type"] == "image":
                self.pictures.add(block["base64"])
        return ask_offline(model, messages)


def environment() -> dict[str, str]:
    return {**os.environ, "LOOPBACK_KEY": KEY, "OTEL_EXPORTER_OTLP_HEADERS": "x-one=two"}


def end_well(line: list[str]) -> str:
    done = ended(line, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stderr


def calls_in(file: Path) -> int:
    with Store.open(file, write=False) as store:
        return len(store.journal.calls())


@pytest.fixture(scope="module")
def started_collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Phoenix]:
    """One for all of these: it takes half a minute to begin."""
    with phoenix(tmp_path_factory.mktemp("collector") / "phoenix") as found:
        yield found


@pytest.fixture
def collector(started_collector: Phoenix) -> Phoenix:
    started_collector.forget()
    return started_collector


def test_it_holds_a_span_for_each_call_and_battle_and_no_key_and_no_frame(
    collector: Phoenix, tmp_path: Path
) -> None:
    watching = Watching()
    manners = Manners(
        api_key=KEY,
        mishaps=(Mishap(do="status", nth=5, status=503), Mishap(do="status", nth=9, status=429)),
    )
    clips = draw_folder(tmp_path / "clips", 2, seconds=3)
    out = tmp_path / "run"
    with serving(tmp_path / "log", manners, brain=watching) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        shown = ("--config", config, "--otlp", collector.url)
        run = command("simulate", "--videos", clips, "--out", out, *shown)
        told = end_well([*run, "--rounds", "2"])
        played = calls_in(out / RUN_FILE)
        end_well(command("arena", "freeze", out, "--to", tmp_path / "bench"))
        told += end_well(
            command("arena", "bench", "run", tmp_path / "bench", "--videos", clips, *shown)
        )
    asked = calls_in(tmp_path / "bench" / "results" / "calls.sqlite")
    fought = len(battles(out))
    found = collector.names(whole=2, calls=played + asked)
    by_name = Counter({name: count for (name, _), count in found.items()})
    assert by_name["invoke_workflow tournament"] == by_name["invoke_workflow answer"] == 1
    assert by_name["invoke_workflow battle"] == fought
    calls = {pair: count for pair, count in found.items() if pair[0].startswith("chat ")}
    assert sum(calls.values()) == played + asked
    # It takes them for what they are.
    assert {kind for _, kind in calls} == {"LLM"}
    assert found.total() == played + asked + fought + 2
    kept = collector.everything()
    assert len(watching.pictures) > 8
    for picture in watching.pictures:
        assert picture[400:480].encode() not in kept
        assert base64.b64decode(picture)[300:360] not in kept
    assert KEY.encode() not in kept
    assert KEY not in told
    assert "not taken" not in told


def test_an_interrupt_loses_no_span_of_what_was_paid_for(
    collector: Phoenix, tmp_path: Path
) -> None:
    clips = draw_folder(tmp_path / "clips", 2, seconds=3)
    out = tmp_path / "run"
    hit = False
    process: Process

    def interrupting(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        nonlocal hit
        if model == "judge" and not hit:
            hit = True
            process.send_signal(signal.SIGINT)
        return ask_offline(model, messages)

    with serving(tmp_path / "log", Manners(api_key=KEY), brain=interrupting) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        shown = ("--config", config, "--otlp", collector.url)
        run = command("simulate", "--videos", clips, "--out", out, *shown)
        process = started([*run, "--rounds", "2"], env=environment())
        assert process.wait() == 130
        paid = calls_in(out / RUN_FILE)
        before = collector.names(whole=1, calls=paid)
        assert sum(n for (name, _), n in before.items() if name.startswith("chat ")) == paid
        end_well(command("arena", "resume", out, *shown))
    paid = calls_in(out / RUN_FILE)
    after = collector.names(whole=2, calls=paid)
    assert sum(n for (name, _), n in after.items() if name.startswith("chat ")) == paid
    assert after["invoke_workflow tournament", "UNKNOWN"] == 2
