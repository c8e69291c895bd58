from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.batch_child import begin
from tests.support.batch_servers import BatchBook, batch_server
from tests.support.batching import PROTOCOLS
from videoautoarena.memory.store.store import Store

CALLS = 6
REQUESTS = range(1, 10)
"""Upload or witness, POST, looks and results of a round; a number behind the last kills nobody."""
COMMITS = range(1, 8)
MOMENTS = ("unheard", "heard", "done")
ONE_OF = 1 if "WHOLE_TABLE" in os.environ else 3
"""Of so many protocols one is killed at each moment; `make bench-kills` has them all."""


def spread(*ways: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the places to kill at, each of them with some protocol."""
    numbered = [tuple(enumerate(way)) for way in (PROTOCOLS, *ways)]
    return [
        tuple(value for _, value in places)
        for places in product(*numbered)
        if sum(index for index, _ in places) % ONE_OF == 0
    ]


class Kill:
    """Kills a process at a request of that number: unheard, heard, or once it took effect."""

    def __init__(self, number: int, moment: str) -> None:
        self.number = number
        self.moment = moment
        self.pid = 0
        self.begun = threading.Event()
        self.is_done = False

    def _kill(self, number: int) -> bool:
        if number != self.number or self.is_done:
            return False
        self.begun.wait(10)
        self.is_done = True
        os.kill(self.pid, signal.SIGKILL)
        return True

    def on_request(self, number: int, _what: str) -> None:
        if self.moment == "heard":
            self._kill(number)

    def on_answered(self, number: int, _what: str) -> None:
        if self.moment == "done":
            self._kill(number)

    def mishap(self, number: int, _what: str) -> str:
        return "drop" if self.moment == "unheard" and self._kill(number) else ""


def file_of(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    Store.create(path, {}).close()
    return path


def book_of(**settings: Any) -> BatchBook:
    """Return a book with a batch of before, as the witness of Anthropic's account."""
    book = BatchBook(**settings)
    book.take("anthropic", None, [])
    return book


def assert_nothing_is_paid_twice(path: Path, book: BatchBook) -> None:
    with Store.open(path, write=False) as store:
        rows = store.journal.calls()
        assert len(rows) == CALLS
        assert all(row.reply == f"reply to {row.key[:8]}" for row in rows)
        assert store.journal.batches.open() == []
        assert store.journal.lost().tries == 0
    assert set(book.paid) == {row.key for row in rows}
    assert set(book.paid.values()) == {1}
    # A batch that nobody looks at any more is answered, and paid for, all the same.
    assert set(book.asked.values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "number", "moment"), spread(REQUESTS, MOMENTS))
def test_a_kill_at_any_request_or_look_has_nothing_answered_twice(
    tmp_path: Path, protocol: str, number: int, moment: str
) -> None:
    path = file_of(tmp_path)
    kill = Kill(number, moment)
    book = book_of(on_request=kill.on_request, on_answered=kill.on_answered, mishap=kill.mishap)
    with batch_server(book) as port:
        first = begin(path, port, protocol, CALLS)
        assert first.pid is not None
        kill.pid = first.pid
        kill.begun.set()
        first.join(60)
        assert first.exitcode == (-signal.SIGKILL if kill.is_done else 0)
        second = begin(path, port, protocol, CALLS)
        second.join(60)
        assert second.exitcode == 0
    assert_nothing_is_paid_twice(path, book)


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "commit", "before"), spread(COMMITS, (True, False)))
def test_a_kill_at_any_commit_has_nothing_answered_twice(
    tmp_path: Path, protocol: str, commit: int, before: bool
) -> None:
    path = file_of(tmp_path)
    book = book_of()
    with batch_server(book) as port:
        first = begin(path, port, protocol, CALLS, dies_at=commit, before=before)
        first.join(60)
        assert first.exitcode in (-signal.SIGKILL, 0)
        second = begin(path, port, protocol, CALLS)
        second.join(60)
        assert second.exitcode == 0
    assert_nothing_is_paid_twice(path, book)
