from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.runfiles import video
from videoautoarena.memory.records.errors import RunLocked
from videoautoarena.memory.store.connection import wal_of
from videoautoarena.memory.store.store import Store

ROOT = Path(__file__).parents[3]


class Victims:
    """The program whose children write, one at a time, until they are killed."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tests.support.crash"]
        self._program = subprocess.Popen(
            command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )
        self._child = 0

    def start(self, job: str) -> int:
        """Give a child this job, and return its process id."""
        assert self._program.stdin is not None
        self._program.stdin.write(f"{job}\n")
        self._program.stdin.flush()
        self._child = int(self.line().removeprefix("start "))
        return self._child

    def line(self) -> str:
        """Return the next line that was printed."""
        assert self._program.stdout is not None
        return self._program.stdout.readline().strip()

    def kill_after(self, job: str, count: int) -> list[str]:
        """Kill a child at its `count`-th line, and return all it had printed."""
        self.start(job)
        lines = [self.line() for _ in range(count)]
        os.kill(self._child, signal.SIGKILL)
        while (line := self.line()) != "gone":
            lines.append(line)
        return lines

    def end(self) -> None:
        """Kill the program and the child it may have left; they are a group of their own."""
        os.killpg(self._program.pid, signal.SIGKILL)
        self._program.communicate()


@pytest.fixture(scope="module")
def program() -> Iterator[Victims]:
    program = Victims()
    yield program
    program.end()


@pytest.fixture
def run(path: Path) -> Path:
    """Begin a run with one video."""
    with Store.create(path, {}) as store:
        store.add_videos([video()])
    return path


def kept_in(run: Path) -> set[str]:
    with Store.open(run, write=False) as reading:
        return {row.key for row in reading.journal.calls()} | reading.settled_ids()


def test_nothing_that_was_committed_is_lost_to_a_kill(run: Path, program: Victims) -> None:
    chance = random.Random(0)
    promised = set()
    for life in range(4):
        job = f"write {run} {life * 100_000}"
        promised.update(program.kill_after(job, chance.randrange(1, 120)))
        assert promised <= kept_in(run)
    with closing(sqlite3.connect(run)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_reading_what_a_kill_left_changes_neither_file_nor_log(run: Path, program: Victims) -> None:
    keys = program.kill_after(f"write {run} 0", 20)
    files = run, wal_of(run)
    before = [file.read_bytes() for file in files]
    assert set(keys) <= kept_in(run)
    assert [file.read_bytes() for file in files] == before


def test_a_killed_process_leaves_no_lock(run: Path, program: Victims) -> None:
    program.kill_after(f"write {run} 0", 1)
    with Store.open(run, write=True) as store:
        assert store.videos() == [video()]


def test_a_second_process_is_refused_and_told_who_is_at_it(run: Path, program: Victims) -> None:
    child = program.start(f"write {run} 0")
    key = program.line()
    with pytest.raises(RunLocked, match=f"process {child};"):
        Store.open(run, write=True)
    assert key in kept_in(run)
    os.kill(child, signal.SIGKILL)
    while program.line() != "gone":
        pass


def test_a_kill_leaves_a_whole_run_or_none(tmp_path: Path, program: Victims) -> None:
    for life in range(3):
        begun = program.kill_after(f"begin {tmp_path / str(life)}", 1 + life)
        assert all((tmp_path / str(life) / number / "run.sqlite").exists() for number in begun)
    for file in tmp_path.glob("*/*/run.sqlite"):
        with Store.open(file, write=False) as store:
            assert store.manifest() == {"number": int(file.parent.name)}
