"""How the one event loop of a command takes a signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from videoautoarena.memory.store.connection import Shutdown
from videoautoarena.runs.cli.program import ending, main


@pytest.fixture(autouse=True)
def as_in_a_command() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, main._interrupt)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Shutdown:
    asked = Shutdown(iter(range(0, 1000, 10)).__next__)
    monkeypatch.setattr(ending, "SHUTDOWN", asked)
    return asked


def test_the_first_signal_cancels_the_work_and_lets_its_queries_end(asked: Shutdown) -> None:
    found = []

    async def work() -> None:
        signal.raise_signal(signal.SIGTERM)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            found.append(asked.is_overdue())
            raise

    with pytest.raises(KeyboardInterrupt):
        ending.run_async(work())
    assert (found, asked.is_overdue()) == ([True], False)
    assert signal.getsignal(signal.SIGTERM) is main._interrupt


def test_a_second_signal_is_not_waited_for() -> None:
    found = []

    async def work() -> None:
        signal.raise_signal(signal.SIGTERM)
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            found.append("at once")
            raise

    with pytest.raises(KeyboardInterrupt):
        ending.run_async(work())
    assert found == ["at once"]


def test_work_that_was_cancelled_by_itself_is_no_interrupt() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        ending.run_async(work())


def test_what_threads_still_read_is_not_waited_for_once_the_work_has_ended(asked: Shutdown) -> None:
    found = []

    async def later() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            found.append(asked.is_overdue())

    async def work() -> str:
        tasks.append(asyncio.create_task(later()))
        await asyncio.sleep(0)
        return "done"

    tasks = list[asyncio.Task[None]]()
    assert ending.run_async(work()) == "done"
    assert (found, asked.is_overdue()) == ([True], False)


def test_in_a_thread_signals_stay_where_they_are() -> None:
    async def work() -> str:
        return "done"

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(ending.run_async, work()).result() == "done"
    assert signal.getsignal(signal.SIGTERM) is main._interrupt
