"""The time that was worked on a run is kept with what was done in it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.store import Store


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_session_lasts_until_its_last_commit(path: Path) -> None:
    clock = Clock()
    before = time.time()
    with Store.create(path, {}) as store:
        store.sessions.begin(clock=clock)
        clock.now += 5
        store.put_file("a", "b")
        clock.now += 70
        (session,) = store.sessions.all()
        assert session.worked_s == 5
        assert before <= session.began_at_s <= time.time()


def test_every_process_adds_a_session_and_changes_no_other(path: Path) -> None:
    Store.create(path, {}).close()
    for worked_s in (3.0, 4.5):
        clock = Clock()
        with Store.open(path, write=True) as store:
            store.sessions.begin(clock=clock)
            clock.now += worked_s
            store.put_file(str(worked_s), "")
    with Store.open(path, write=False) as store:
        assert [session.worked_s for session in store.sessions.all()] == [3.0, 4.5]


def test_time_makes_no_commit_of_its_own(path: Path) -> None:
    with Store.create(path, {}) as store:
        store.sessions.begin()
        assert store._writer is not None
        before = store._writer.commits
        store.put_file("a", "b")
        assert store._writer.commits == before + 1


def test_who_only_looks_works_on_nothing(path: Path) -> None:
    Store.create(path, {}).close()
    with Store.open(path, write=False) as store:
        assert store.sessions.all() == []
        with pytest.raises(StoreError, match="opened for reading"):
            store.sessions.begin()
