from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from videoautoarena.memory.records.errors import RunLocked, StoreError
from videoautoarena.memory.store.connection import RunLock
from videoautoarena.memory.store.store import Store


def test_a_lock_that_was_let_go_can_be_taken(path: Path) -> None:
    RunLock(path).release()
    again = RunLock(path)
    assert path.exists()
    again.release()


def test_one_process_cannot_take_a_lock_twice(path: Path) -> None:
    lock = RunLock(path)
    with pytest.raises(RunLocked, match=f"process {os.getpid()};"):
        RunLock(path)
    lock.release()


def test_one_process_may_hold_the_locks_of_several_runs(path: Path) -> None:
    locks = [RunLock(path.with_name(name)) for name in ("one", "two")]
    locks[0].release()
    with pytest.raises(RunLocked):
        RunLock(path.with_name("two"))
    RunLock(path.with_name("one")).release()
    locks[1].release()


def test_letting_go_twice_does_not_open_the_lock_of_the_next(path: Path) -> None:
    first = RunLock(path)
    first.release()
    second = RunLock(path)
    first.release()
    with pytest.raises(RunLocked):
        RunLock(path)
    second.release()


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = os.open
    lost = list[str]()

    def open_late(*given: Any) -> int:
        file = take(*given)
        if not lost:
            # Here its last holder, another process, lets it go.
            path.unlink()
            lost.append("once")
        return file

    monkeypatch.setattr(os, "open", open_late)
    second = RunLock(path)
    monkeypatch.undo()
    with pytest.raises(RunLocked):
        RunLock(path)
    assert path.read_text() == f"{os.getpid()}\n"
    second.release(remove=True)
    assert not path.exists()


def test_what_is_locked_may_be_called_something_else(path: Path) -> None:
    lock = RunLock(path, busy="my-set is being made")
    with pytest.raises(RunLocked, match=f"^my-set is being made by process {os.getpid()}; wait"):
        RunLock(path, busy="my-set is being made")
    lock.release()


def test_what_a_dead_process_left_in_the_lock_file_means_nothing(path: Path) -> None:
    path.write_text("1\n")
    lock = RunLock(path)
    assert path.read_text() == f"{os.getpid()}\n"
    lock.release()


def test_a_place_where_nothing_can_be_written_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreError, match="cannot be locked"):
        RunLock(path)


def test_a_run_is_not_written_twice_at_once(store: Store, path: Path) -> None:
    with pytest.raises(RunLocked, match="is being run by process"):
        Store.open(path, write=True)
    with Store.open(path, write=False) as reading:
        assert reading.manifest() == {"seed": 0}


def test_a_refused_opening_gives_the_lock_back(path: Path) -> None:
    Store.create(path, {}).close()
    for _ in range(2):
        with pytest.raises(StoreError, match="exists already"):
            Store.create(path, {})
    Store.open(path, write=True).close()
