"""How long a run took is told over all processes, whoever was killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import TRIO, altered, put_back
from tests.support.typed import Terminal
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import RUN_FILE, WorkTime, spent


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return draw_folder(tmp_path / "videos", 1, seconds=2)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "0 s"), (59.6, "1 min 0 s"), (312, "5 min 12 s"), (12_000, "3 h 20 min")],
)
def test_a_time_is_told_in_its_two_largest_units(seconds: float, told: str) -> None:
    assert spent(seconds) == told


def test_the_pace_is_that_of_the_work_not_of_the_calendar() -> None:
    work = WorkTime(seconds=90.0, processes=3, calls=60)
    assert work.as_line() == "ran for 1 min 30 s in 3 processes, 40 calls a minute"
    assert WorkTime(0.0, 1, 0).as_line() == "ran for 0 s in 1 process"


def test_the_time_of_every_process_counts(terminal: Terminal, videos: Path, tmp_path: Path) -> None:
    line = ("--videos", videos, "--out", tmp_path / "out", "--models", ",".join(TRIO))
    for rounds in ("1", "2"):
        assert terminal.simulate(*line, "--rounds", rounds).code == 0
    terminal.arena("resume", tmp_path / "out")
    with Store.open(tmp_path / "out" / RUN_FILE, write=False) as store:
        worked = [session.worked_s for session in store.sessions.all()]
    told = json.loads(terminal.arena("status", tmp_path / "out", "--json").out)["work"]
    assert len(worked) == told["processes"] == 2
    assert told["seconds"] == pytest.approx(sum(worked), abs=0.1)
    assert told["calls_per_minute"] > 0
    assert "in 2 processes" in terminal.arena("status", tmp_path / "out").out


def test_a_run_of_the_first_layout_is_read_once_it_was_continued(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    line = ("--videos", videos, "--out", out, "--models", ",".join(TRIO), "--rounds", "1")
    assert terminal.simulate(*line).code == 0
    with altered(out) as file:
        put_back(file, 1)
    old = terminal.arena("status", out)
    assert (old.code, "continue the run once to update it" in old.err) == (1, True)
    assert terminal.arena("resume", out).code == 0
    assert terminal.arena("status", out).code == 0
    assert terminal.arena("replay", out).code == 0
