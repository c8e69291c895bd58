"""A long query ends when the process is to end, and a write that was begun does not."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.support.endless_queries import ENDLESS
from videoautoarena.memory.store import connection as connections
from videoautoarena.memory.store.connection import PATIENCE_S, Shutdown, StoreReader
from videoautoarena.memory.store.store import Store


class Clock:
    """Shows a time that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.was_read = threading.Event()

    def __call__(self) -> float:
        self.was_read.set()
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ending(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Shutdown:
    ending = Shutdown(clock)
    monkeypatch.setattr(connections, "SHUTDOWN", ending)
    return ending


def test_what_was_asked_for_first_is_overdue_after_a_while_until_it_is_cleared(
    ending: Shutdown, clock: Clock
) -> None:
    assert not ending.is_overdue()
    ending.ask()
    clock.now_s = PATIENCE_S
    ending.ask()
    assert not ending.is_overdue()
    clock.now_s = PATIENCE_S + 0.1
    assert ending.is_overdue()
    ending.clear()
    assert not ending.is_overdue()


def be_overdue(ending: Shutdown, clock: Clock) -> None:
    ending.ask()
    clock.now_s += 2 * PATIENCE_S


@pytest.mark.parametrize("live", [True, False])
def test_a_long_query_is_interrupted_and_a_short_one_is_not(
    store: Store, path: Path, ending: Shutdown, clock: Clock, live: bool
) -> None:
    reader = StoreReader(path, live=live)
    be_overdue(ending, clock)
    assert reader.row("SELECT count(*) FROM slots") == (3,)
    with pytest.raises(KeyboardInterrupt):
        reader.rows(ENDLESS)
    ending.clear()
    assert reader.row("SELECT count(*) FROM slots") == (3,)
    reader.close()


def test_what_was_handed_in_is_written_whoever_wants_to_go(
    path: Path, ending: Shutdown, clock: Clock
) -> None:
    with Store.create(path, {"seed": 0}) as store:
        be_overdue(ending, clock)
        store.put_files({f"text{number}": "word" for number in range(3000)})
        ending.clear()
        assert len(store.files()) == 3000


def test_a_reader_is_closed_once_no_thread_reads_from_it(
    store: Store, path: Path, ending: Shutdown, clock: Clock
) -> None:
    reader = StoreReader(path, live=True)
    ends = list[KeyboardInterrupt]()

    def read() -> None:
        try:
            reader.rows(ENDLESS)
        except KeyboardInterrupt as end:
            ends.append(end)

    ending.ask()
    clock.was_read.clear()
    thread = threading.Thread(target=read)
    thread.start()
    assert clock.was_read.wait(60)
    clock.now_s = 2 * PATIENCE_S
    reader.close()
    assert [type(end) for end in ends] == [KeyboardInterrupt]
    thread.join()


def test_an_interrupt_counts_though_somebody_wrote_meanwhile(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    looks = iter([KeyboardInterrupt])

    def look() -> float:
        os.utime(path, (1, 1))
        for interrupt in looks:
            raise interrupt
        return 0.0

    ending = Shutdown(look)
    monkeypatch.setattr(connections, "SHUTDOWN", ending)
    reader = StoreReader(path)
    ending._since_s = 0.0
    with pytest.raises(KeyboardInterrupt):
        reader.rows(f"{ENDLESS} LIMIT 1".replace("FROM n)", "FROM n LIMIT 100000)"))
    reader.close()
