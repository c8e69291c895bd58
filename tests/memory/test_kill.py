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

from memory.errors import RunLocked
from memory.store import Store
from tests.support.runfiles import video

ROOT = Path(__file__).parents[2]


@pytest.fixture
def writer() -> Iterator[subprocess.Popen[str]]:
    """Start the program whose children write to a run."""
    command = [sys.executable, "-m", "tests.support.crash"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as program:
        yield program
        assert program.stdin is not None
        program.stdin.close()


def kill_after(program: subprocess.Popen[str], job: str, count: int) -> list[str]:
    """Let a child work on `job`, kill it at its `count`-th key, and return all it had printed."""
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(f"{job}\n")
    program.stdin.flush()
    child = int(program.stdout.readline().removeprefix("start "))
    keys = [program.stdout.readline().strip() for _ in range(count)]
    os.kill(child, signal.SIGKILL)
    while (line := program.stdout.readline().strip()) != "gone":
        keys.append(line)
    return keys


def test_nothing_that_was_committed_is_lost_to_a_kill(
    path: Path, writer: subprocess.Popen[str]
) -> None:
    with Store.create(path, {}) as store:
        store.add_videos([video()])
    chance, promised = random.Random(0), set()
    for life in range(10):
        promised.update(kill_after(writer, f"{path} {life * 100_000}", chance.randrange(1, 120)))
        with Store.open(path, write=False) as reading:
            kept = {row.key for row in reading.journal.calls()} | reading.settled_ids()
        assert promised <= kept
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_killed_process_leaves_no_lock(path: Path, writer: subprocess.Popen[str]) -> None:
    with Store.create(path, {}) as store:
        store.add_videos([video()])
    kill_after(writer, f"{path} 0", 1)
    with Store.open(path, write=True) as store:
        assert store.videos() == [video()]


def test_a_second_process_is_refused_and_told_who_is_at_it(
    path: Path, writer: subprocess.Popen[str]
) -> None:
    with Store.create(path, {}) as store:
        store.add_videos([video()])
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(f"{path} 0\n")
    writer.stdin.flush()
    child = int(writer.stdout.readline().removeprefix("start "))
    writer.stdout.readline()
    with pytest.raises(RunLocked, match=f"process {child};"):
        Store.open(path, write=True)
    with Store.open(path, write=False) as reading:
        assert reading.videos() == [video()]
    os.kill(child, signal.SIGKILL)
