"""The machines of a cluster are seen on the console, in a status, and by followers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.support.events import HOSTILE, begun, call
from tests.support.played import lineage, play, video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress import status
from videoautoarena.runs.console.progress.events import Listeners, RunEnded, RunEvent
from videoautoarena.runs.console.progress.follow import Follower
from videoautoarena.runs.console.progress.live import plain_lines
from videoautoarena.runs.console.progress.local_state import (
    Machine,
    Machines,
    keep_machines,
    kept_machines,
    machine_lines,
    machines_at_work,
)
from videoautoarena.runs.console.progress.screen import ScreenSize, picture
from videoautoarena.runs.console.progress.snapshot import RunSnapshot
from videoautoarena.runs.console.progress.trace import TraceFile
from videoautoarena.runs.formats.terminal_text import UNICODE
from videoautoarena.runs.run.rundir.reader import RUN_FILE

OWNER = 4321
ONE = Machines((Machine("head", 1, 3, 40),))
THREE = Machines(
    (Machine("alpha", 1, 3, 40), Machine("beta", 2, 4, 1200), Machine("gamma", 0, 0, 7, 2)), 2
)
MANY = Machines(tuple(Machine(f"node-{n:03}", 1, 2, 10, n == 150) for n in range(200)), 1)


def drawn(machines: Machines | None, width: int = 79, height: int = 30) -> list[str]:
    stands = RunSnapshot(lambda: 0.0)
    stands.hear(begun())
    if machines is not None:
        stands.hear(machines)
    found = [line.plain for line in picture(stands, None, ScreenSize(width, height, UNICODE))]
    assert len(found) <= height
    assert max(map(cell_len, found)) <= width
    return found


def about_machines(machines: Machines, width: int = 79, height: int = 30) -> list[str]:
    without = drawn(None, width, height)
    return [line.rstrip() for line in drawn(machines, width, height) if line not in without]


def test_without_a_cluster_nothing_is_said_of_machines() -> None:
    assert drawn(Machines(())) == drawn(None)
    assert not any("worker" in line for line in drawn(None))


def test_a_single_machine_takes_one_line() -> None:
    assert about_machines(ONE) == ["on head · 1 worker · 3 calls in flight · 40 finished"]


def test_of_several_the_sum_stands_first_and_then_those_that_lost_workers() -> None:
    assert about_machines(THREE) == [
        "on 3 machines · 2 workers lost · 3 workers · 7 calls in flight · 1,247 finished",
        "  gamma · 2 workers lost · 0 workers · 0 calls in flight · 7 finished",
        "  alpha · 1 worker · 3 calls in flight · 40 finished",
        "  beta  · 2 workers · 4 calls in flight · 1,200 finished",
    ]


def test_of_two_hundred_a_few_are_named_and_the_others_summed() -> None:
    shown = about_machines(MANY)
    assert shown[0].startswith("on 200 machines · 1 worker lost · 200 workers")
    assert shown[1].startswith("  node-150 · 1 worker lost")
    assert shown[-1].startswith("  197 more · 197 workers · 394 calls in flight")
    assert len(shown) == 5


def test_a_low_terminal_has_the_sum_alone() -> None:
    assert len(about_machines(MANY, height=16)) == 1


@pytest.mark.parametrize("width", [40, 79, 120, 200])
@pytest.mark.parametrize("height", [6, 18, 24, 48])
def test_no_name_of_a_machine_breaks_the_picture(width: int, height: int) -> None:
    hostile = Machines((*THREE.machines, Machine(HOSTILE * 9, 1, 1, 1, 1)))
    assert all(line.isprintable() for line in drawn(hostile, width, height))


def test_machines_stay_on_the_last_picture() -> None:
    stands = RunSnapshot(lambda: 0.0)
    for event in (begun(), THREE, RunEnded(interrupted=False)):
        stands.hear(event)
    assert any("gamma" in line.plain for line in picture(stands, None, ScreenSize(79, 30, UNICODE)))


def test_plain_lines_say_nothing_of_machines_that_stand_otherwise() -> None:
    said: list[str] = []
    hear = plain_lines(said.append)
    hear(begun())
    hear(THREE)
    assert said == []


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run that a cluster has played, or plays."""
    folder = play(tmp_path / "out", lineage(video()))
    with Store.open(folder / RUN_FILE, write=True) as store:
        keep_machines(store, THREE, OWNER)
    return folder


def test_machines_are_kept_as_they_were(out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        assert kept_machines(store) == (THREE, OWNER)


def test_they_are_at_work_for_as_long_as_who_kept_them_holds_the_run(out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        assert machines_at_work(store, OWNER) == THREE
        assert machines_at_work(store, OWNER + 1) is None
        assert machines_at_work(store, None) is None


def held(monkeypatch: pytest.MonkeyPatch, process: int | None) -> None:
    monkeypatch.setattr(status, "holder", lambda _lock: process)


def test_status_shows_machines_at_work(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held(monkeypatch, OWNER)
    found = status.status_of(out)
    assert "on 3 machines: 3 workers, 7 calls in flight" in found.as_lines()[1]
    cluster = found.to_json()["cluster"]
    assert cluster["is_playing"] is True
    assert cluster["machines"][2]["lost"] == 2


def test_status_of_a_run_that_ended_says_where_it_was_played(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(monkeypatch, None)
    found = status.status_of(out)
    line = "last time on a cluster: 1,247 calls on gamma, alpha, beta; 2 workers lost"
    assert found.as_lines()[1] == line
    assert found.to_json()["cluster"]["is_playing"] is False


def test_status_of_a_run_that_this_machine_goes_on_with_names_no_others(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(monkeypatch, OWNER + 1)
    assert not any("alpha" in line for line in status.status_of(out).as_lines())


def test_a_run_of_one_machine_has_no_cluster(tmp_path: Path) -> None:
    found = status.status_of(play(tmp_path / "out", lineage(video())))
    assert found.to_json()["cluster"] is None


def test_of_many_machines_status_names_a_few() -> None:
    lines = machine_lines(MANY)
    assert lines[1].startswith("  node-150: ")
    assert lines[-1].startswith("  192 more: 192 workers")
    assert len(lines) == 10


def test_a_hostile_name_is_no_escape_in_a_status() -> None:
    lines = machine_lines(Machines((replace(THREE.machines[0], node=HOSTILE),)))
    assert all(line.isprintable() for line in lines)


def test_a_follower_hears_of_machines_where_they_changed(out: Path) -> None:
    heard: list[RunEvent] = []
    follower = Follower(out, Listeners(lambda _line: None, heard.append))
    for process in (OWNER, OWNER, None):
        follower.look(process)
    assert [event for event in heard if isinstance(event, Machines)] == [THREE]


def traced(tmp_path: Path, *events: RunEvent) -> list[dict[str, Any]]:
    file = TraceFile(tmp_path / "trace", clock=lambda: 0.0)
    for event in events:
        file.hear(event)
    file.close()
    return [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]


def test_a_trace_has_the_machines_and_the_node_of_each_call(tmp_path: Path) -> None:
    here = call("started", "v0-p1-r0", "contestant")
    machines, there, local = traced(tmp_path, THREE, replace(here, node="beta"), here)
    assert machines["event"] == "machines"
    assert machines["machines"][1]["calls"] == 1200
    assert machines["losses"] == 2
    assert there["node"] == "beta"
    assert "node" not in local
