"""What is so of a model's calls is said wherever a run is shown: counted once, in one wording."""

from __future__ import annotations

import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.loopback import ask_offline, serving
from tests.support.manners import Manners, Mishap
from tests.support.small_runs import altered, battles_of, play_again, put_back
from tests.support.typed import Said, Terminal
from tests.support.whole_runs import write_config
from videoautoarena.agents.calls import retry
from videoautoarena.agents.limits import outages
from videoautoarena.agents.limits.outages import ServerWait
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.run import open_run
from videoautoarena.runs.cli.program.main import guarded, load
from videoautoarena.runs.console.progress import status
from videoautoarena.runs.console.progress.events import Listeners, RunEnded, RunEvent
from videoautoarena.runs.console.progress.follow import Follower
from videoautoarena.runs.console.progress.live import plain_lines
from videoautoarena.runs.console.progress.local_state import KeptWaits
from videoautoarena.runs.formats import terminal
from videoautoarena.runs.run.rundir.call_facts import call_facts
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.views.page.data import PageData

MISHAPS = (
    Mishap("truncated", model="hawk", times=99),
    Mishap("silent", model="owl", nth=2),
    Mishap("filtered", model="mole", nth=1, times=2),
    Mishap("status", model="judge", nth=1, status=429, retry_after=0),
)


def answer(model: str, messages: Any) -> Any:
    """Answer as the offline model does; one of them leaves a mark in its answer."""
    reply = ask_offline(model, messages)
    if model != "terse":
        return reply
    return reply.model_copy(update={"content": f"A lamp that says <think> on it. {reply.text}"})


@dataclass(frozen=True)
class Heard:
    """A run whose models and servers did all of it."""

    out: Path
    config: Path
    said: Said


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    place = tmp_path_factory.mktemp("aloud")
    videos = draw_folder(place / "videos", 1, seconds=2)
    with (
        pytest.MonkeyPatch.context() as patch,
        serving(place / "log", Manners(mishaps=MISHAPS), brain=answer) as server,
    ):
        patch.setenv("LOOPBACK_KEY", "loopback-key")
        # A wait of a tenth of a second is to be news, or the test would take as long as one.
        patch.setattr(retry, "FIRST_PAUSE_S", 0.05)
        patch.setattr(outages, "LEAST_S", 0.0)
        patch.setattr(outages, "FIRST_CALM_S", 0.01)
        config = write_config(place / "arena.toml", "openai", server)
        text = config.read_text()
        owl = text.replace('model = "openai:owl"', 'model = "openai:owl"\ntimeout_s = 1.0')
        config.write_text(owl)
        said = simulate(videos, place / "out", config)
    return Heard(place / "out", config, said)


def simulate(videos: Path, out: Path, config: Path) -> Said:
    words = ("--videos", videos, "--out", out, "--config", config, "--plain", "--max-void", "1")
    typed = [str(word) for word in words]
    terminal.out.cache_clear()
    with redirect_stdout(StringIO()) as told, redirect_stderr(StringIO()) as lines:
        command = load("simulate")
        code = guarded(lambda: command.main(typed, prog_name="simulate", standalone_mode=False))
    terminal.out.cache_clear()
    return Said(code, told.getvalue(), lines.getvalue())


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


CUT = "answers of hawk were cut off at the token limit"
LATE = "calls of owl timed out and was asked again, which favours short answers"
FILTERED = "answers of mole were broken off or kept back by a filter and taken as none"
MARKED = "answers of terse held a mark of thought, such as <think>, and were judged with it"
SENTENCES = (CUT, LATE, FILTERED, MARKED)


def flat(text: str) -> str:
    """Return a text whatever the width of its lines."""
    return " ".join(text.split())


def counts(found: list[dict[str, Any]]) -> dict[str, tuple[str, int, int]]:
    """Return of each fact the model, and of how many it holds."""
    return {one["fact"]: (one["model"], one["count"], one["of"]) for one in found}


def test_a_pipe_says_each_once_when_it_is_new_and_at_the_end_how_often(heard: Heard) -> None:
    assert heard.said.code == 0
    lines = [line for line in heard.said.err.splitlines() if line.startswith("note: ")]
    assert lines[0].startswith("note: 1 of ")
    assert all(any(sentence in line for line in lines) for sentence in SENTENCES)
    assert len(lines) <= 2 * len(SENTENCES)


def test_a_pipe_says_when_a_wait_at_a_server_begins_and_when_it_ends(heard: Heard) -> None:
    begins, ends = (line for line in heard.said.err.splitlines() if "waiting at" in line)
    assert "it refuses calls for now (429)" in begins
    assert "as planned" in begins
    assert " is over after " in ends


def test_status_says_the_same(heard: Heard, shell: Terminal) -> None:
    said = flat(shell.arena("status", heard.out).out)
    assert all(sentence in said for sentence in SENTENCES)
    found = json.loads(shell.arena("status", heard.out, "--json").out)
    assert counts(found["facts"]).keys() == {"cut", "timed-out", "filtered", "thought-marks"}
    assert found["waiting"] == []


def test_the_board_says_the_same_without_being_asked_for_notes(
    heard: Heard, shell: Terminal
) -> None:
    said = flat(shell.arena("leaderboard", heard.out).out)
    assert all(sentence in said for sentence in SENTENCES)
    board = json.loads(shell.arena("leaderboard", heard.out, "--json").out)
    answered = [b for b in battles_of(heard.out) for m in (b.model_a, b.model_b) if m == "hawk"]
    found = counts(board["facts"])
    assert found["cut"] == ("hawk", len(answered), len(answered))
    assert found["timed-out"][:2] == ("owl", 1)
    assert found["filtered"][:2] == ("mole", 2)
    assert {one["sentence"] for one in board["facts"]} <= set(board["settings"]["warnings"])


def test_a_filter_that_breaks_an_answer_off_makes_a_forfeit(heard: Heard) -> None:
    lost = [b for b in battles_of(heard.out) if b.verdict.startswith("forfeit")]
    assert [b.reason for b in lost] == [
        "the provider's filter broke the reply off (content_filter)"
    ] * 2


def test_the_audit_says_the_same_above_its_alarms(heard: Heard, shell: Terminal) -> None:
    said = flat(shell.arena("audit", heard.out).out)
    assert said.index("How calls went") < said.index(CUT) < said.index("Alarms")
    assert all(sentence in said for sentence in SENTENCES)
    found = json.loads(shell.arena("audit", heard.out, "--json").out)["facts"]
    assert counts(found)["cut"][0] == "hawk"


def test_the_report_and_the_api_say_the_same(heard: Heard) -> None:
    summary = PageData.read(heard.out).summary
    warnings = " ".join(summary["settings"]["warnings"])
    assert all(sentence in warnings for sentence in SENTENCES)
    assert counts(summary["status"]["facts"])["cut"][0] == "hawk"
    with open_run(heard.out) as run:
        board = run.leaderboard()
        assert next(one["fact"] for one in board.facts) == "cut"
        assert all(any(sentence in one for one in board.warnings) for sentence in SENTENCES)
        assert CUT in run.audit().to_markup("markdown")


def test_who_follows_a_run_hears_the_same(heard: Heard) -> None:
    said = list[str]()
    hear = plain_lines(said.append)
    Follower(heard.out, Listeners(said.append, hear)).look()
    hear(RunEnded(interrupted=False))
    assert all(any(sentence in line for line in said) for sentence in SENTENCES)


def test_a_replay_comes_to_the_same(heard: Heard) -> None:
    assert not play_again(heard.out).differences


def test_a_file_of_an_older_layout_says_the_same(heard: Heard, tmp_path: Path) -> None:
    out = Path(shutil.copytree(heard.out, tmp_path / "out"))
    with altered(out) as file:
        put_back(file, 7)
    with (
        Store.open(out / RUN_FILE, write=False) as old,
        Store.open(heard.out / RUN_FILE, write=False) as new,
    ):
        assert call_facts(old) == call_facts(new) != []


def test_a_server_that_its_process_waits_at_is_named_by_status_and_to_who_follows(
    heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(shutil.copytree(heard.out, tmp_path / "out"))
    with Store.open(out / RUN_FILE, write=True) as store:
        kept = KeptWaits(store, 7)
        kept.hear(ServerWait("host:1", "waiting", 30.0, "http-429", "come\x1b[2J back"))
    said = list[str]()
    heard_of = list[RunEvent]()
    follower = Follower(out, Listeners(said.append, heard_of.append))
    follower.look(process=7)
    assert [line for line in said if "waiting at host:1" in line]
    assert not any("\x1b" in line for line in said)
    monkeypatch.setattr(status, "holder", lambda _lock: 7)
    (line,) = [one for one in status.status_of(out).as_lines() if "host:1" in one]
    assert line.startswith("waiting at host:1 for 0 s: it refuses calls for now (429)")
    monkeypatch.setattr(status, "holder", lambda _lock: 8)
    assert status.status_of(out).waiting == []
    with Store.open(out / RUN_FILE, write=True) as store:
        kept = KeptWaits(store, 7)
        kept.hear(ServerWait("host:1", "over", 30.0))
    follower.look(process=7)
    assert said[-1].startswith("waiting at host:1 is over after ")
