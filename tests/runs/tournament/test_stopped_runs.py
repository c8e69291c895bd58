"""A run that a rule stopped: every page says so, and nothing else is taken for its end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.runs.tournament.test_mixed_runs import NEWCOMER, SLOTS, Crash, crash_after, mixed
from tests.support.clips import draw_folder
from tests.support.small_runs import alter, play_again
from tests.support.typed import Terminal
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.add import AddRequest, add
from videoautoarena.runs.api.simulate import Finished
from videoautoarena.runs.cli.program.ending import ending, run_async
from videoautoarena.runs.console.progress.events import Listeners, RuleRead, RunEvent, nobody
from videoautoarena.runs.console.progress.follow import Follower
from videoautoarena.runs.run.config.stopping_rule import UNTIL_FILE
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.run.rundir.waves import look_ahead

pytestmark = pytest.mark.xdist_group("mixed runs")
RULE = "battles=4"
UNPLAYED = SLOTS // 4


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose rule is met by its second wave of four, with the third under way."""
    root = tmp_path_factory.mktemp("stopped")
    mixed(draw_folder(root / "videos", 2, seconds=2), root / "out", until=RULE)
    return root / "out"


@pytest.fixture
def out(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "out"))


def added(out: Path, *, number: int, crash: int | None = None) -> Finished:
    hear = nobody if crash is None else crash_after(crash)
    told = Listeners(lambda _line: None, hear)
    request = AddRequest(out=out, model=NEWCOMER, battles=number, concurrency=1)
    return run_async(add(request, say=told.say, hear=told.hear))


def test_a_leaderboard_says_which_rule_ended_the_run_and_what_that_means(
    out: Path, terminal: Terminal
) -> None:
    met = json.loads(terminal.arena("status", out, "--json").out)["until"]
    settings = json.loads(terminal.arena("leaderboard", out, "--json").out)["settings"]
    assert settings["until"] == met
    said = " ".join(terminal.arena("leaderboard", out).out.split())
    assert (
        f"--until {RULE} ended the run at its wave 1, with {UNPLAYED} of {SLOTS} slots "
        "unplayed: a fixed number of battles guarantees no order and adds no bias; gaps and "
        "intervals keep their usual meaning"
    ) in said
    assert "not finished" not in said
    sliced = json.loads(terminal.arena("leaderboard", out, "--by", "round", "--json").out)
    assert all(part["settings"]["until"] == met for part in sliced["slices"])


def test_a_run_that_was_played_to_its_end_speaks_of_no_rule(out: Path, terminal: Terminal) -> None:
    terminal.arena("resume", out, "--until", "battles=999", "-q")
    board = terminal.arena("leaderboard", out)
    assert "--until" not in board.out
    assert "until" not in json.loads(terminal.arena("leaderboard", out, "--json").out)["settings"]


def test_after_a_kill_the_first_wave_that_met_the_rule_is_found_again(out: Path) -> None:
    text = json.dumps({"rule": RULE, "met": None})
    with Store.open(out / RUN_FILE, write=True) as store:
        whole = look_ahead(store)
        store.put_file(UNTIL_FILE, text, replace=True)
        assert look_ahead(store) == whole
    assert (whole.left, whole.due, whole.is_stopped) == (UNPLAYED, 0, True)
    assert whole.reading
    assert whole.reading.wave == 1


def test_what_the_rule_leaves_to_be_played_is_no_end(out: Path, terminal: Terminal) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        last = sorted(store.settled_ids() & {s.id for s in store.slots() if s.block == 1})[0]
    alter(out, "DELETE FROM battles WHERE id = :id", id=last)
    status = terminal.arena("status", out).out
    assert "stopped; no process is running it" in status
    assert f"next: arena resume {out}" in status
    said = " ".join(terminal.arena("leaderboard", out).out.split())
    assert f"the run is not finished: {UNPLAYED + 1} of" in said


def test_a_newcomer_that_was_cut_off_is_due_though_the_rule_is_met(
    out: Path, terminal: Terminal
) -> None:
    with pytest.raises(Crash):
        added(out, number=4, crash=0)
    assert f"next: arena resume {out}" in terminal.arena("status", out).out
    done = terminal.arena("resume", out, "-q")
    assert f"done: {SLOTS - UNPLAYED + 4} of {SLOTS + 4} battles settled" in done.err
    assert f"next: arena leaderboard {out}" in terminal.arena("status", out).out
    assert play_again(out).differences == []


def test_adding_to_a_run_that_is_not_over_says_what_it_has_left(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(out / RUN_FILE, write=True) as store:
        store.put_file(UNTIL_FILE, json.dumps({"rule": "battles=99", "met": None}), replace=True)
    found = added(out, number=2)
    assert ending(found, out) == 0
    said = capsys.readouterr().err
    assert f"--until battles=99 is not met: {SLOTS - UNPLAYED} battles decided" in said
    assert f"done: {SLOTS - UNPLAYED + 2} of {SLOTS + 2} battles settled" in said
    assert f"{UNPLAYED} battles of the run itself are still open: arena resume {out}" in said


def test_who_follows_a_run_sees_how_near_its_rule_is(out: Path) -> None:
    heard: list[RunEvent] = []
    follower = Follower(out, Listeners(lambda _line: None, heard.append))
    follower.look()
    readings = [event.reading for event in heard if isinstance(event, RuleRead)]
    assert [(str(r.rule), r.wave, r.is_met) for r in readings] == [(RULE, 1, True)]
    with Store.open(out / RUN_FILE, write=True) as store:
        store.put_file(UNTIL_FILE, json.dumps({"rule": "ci=40", "met": None}), replace=True)
    follower.look()
    follower.look()
    readings = [event.reading for event in heard if isinstance(event, RuleRead)]
    assert [(str(r.rule), r.is_met) for r in readings] == [(RULE, True), ("ci=40", False)]


def test_a_rule_with_nothing_to_look_at_is_told_all_the_same(out: Path, terminal: Terminal) -> None:
    alter(out, "DELETE FROM battles")
    with Store.open(out / RUN_FILE, write=True) as store:
        store.put_file(UNTIL_FILE, json.dumps({"rule": "separated", "met": None}), replace=True)
    told = "--until separated cannot be evaluated yet: no wave is settled"
    assert told in terminal.arena("status", out).out
