from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.writer import Writer

KEEP = "INSERT INTO notes (id, body) VALUES (?, ?)"


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    """Start a writer on a file with one table, whose body must not be null."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    writer = Writer(connection)
    yield writer
    writer.close()


def kept(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM notes ORDER BY id")]


async def write_all(writer: Writer, *rows: tuple[int, str | None]) -> list[StoreError | None]:
    """Write each row for itself, all at once, and return what became of them."""
    writes = (writer.write(KEEP, row) for row in rows)
    found = await asyncio.gather(*writes, return_exceptions=True)
    assert all(each is None or isinstance(each, StoreError) for each in found)
    return found  # type: ignore[return-value]


class AdaptiveLimit:
    """Another connection that keeps the file, so that writes have to gather."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("BEGIN IMMEDIATE")

    def open(self) -> None:
        self._connection.execute("COMMIT")
        self._connection.close()


def test_a_row_can_be_read_by_others_when_write_returns(writer: Writer, path: Path) -> None:
    async def write_and_look() -> None:
        for number in range(5):
            await writer.write(KEEP, (number, "text"))
            assert kept(path)[-1] == number

    asyncio.run(write_and_look())


def test_what_gathers_during_one_commit_is_committed_together(writer: Writer, path: Path) -> None:
    async def write_behind_a_gate() -> None:
        gate = AdaptiveLimit(path)
        writes = [asyncio.ensure_future(writer.write(KEEP, (n, ""))) for n in range(1000)]
        await asyncio.sleep(0)
        gate.open()
        await asyncio.gather(*writes)

    asyncio.run(write_behind_a_gate())
    assert len(kept(path)) == 1000
    # Whatever the first commit did not take waited at the gate; at most 512 go at once.
    assert writer.commits <= 3


def test_what_tasks_write_in_one_step_is_committed_together(writer: Writer, path: Path) -> None:
    asyncio.run(write_all(writer, *((number, "") for number in range(100))))
    assert len(kept(path)) == 100
    assert writer.commits == 1


def test_what_is_written_soon_comes_after_what_waits(writer: Writer, path: Path) -> None:
    async def write_and_remove() -> None:
        write = asyncio.ensure_future(writer.write(KEEP, (1, "")))
        await asyncio.sleep(0)
        writer.write_soon("DELETE FROM notes WHERE id = 1", ())
        await write

    asyncio.run(write_and_remove())
    writer.close()
    assert kept(path) == []


def test_closing_writes_what_has_gathered(writer: Writer, path: Path) -> None:
    async def write_and_close() -> None:
        write = asyncio.ensure_future(writer.write(KEEP, (1, "")))
        await asyncio.sleep(0)
        writer.close()
        await write

    asyncio.run(write_and_close())
    assert kept(path) == [1]


def test_one_after_the_other_takes_a_commit_each(writer: Writer) -> None:
    async def write_in_turn() -> None:
        for number in range(5):
            await writer.write(KEEP, (number, ""))

    asyncio.run(write_in_turn())
    assert writer.commits == 5


def test_a_row_that_is_refused_fails_alone(writer: Writer, path: Path) -> None:
    first, second, third = asyncio.run(write_all(writer, (1, "a"), (2, None), (3, "c")))
    assert first is None
    assert third is None
    assert "NOT NULL" in str(second)
    assert kept(path) == [1, 3]


@pytest.mark.parametrize("row", [(2**70, "too large"), (2, "\udcff"), (2, object()), (2,)])
def test_a_row_that_cannot_be_bound_fails_alone(
    writer: Writer, path: Path, row: tuple[int, str]
) -> None:
    outcomes = asyncio.run(write_all(writer, (1, "a"), row, (3, "c")))
    assert isinstance(outcomes[1], StoreError)
    assert kept(path) == [1, 3]


def test_rows_that_were_handed_in_together_fail_together(writer: Writer, path: Path) -> None:
    with pytest.raises(StoreError, match="UNIQUE"):
        writer.write_now(KEEP, (1, "a"), (2, "b"), (1, "again"))
    writer.write_now(KEEP, (3, "c"), (4, "d"))
    assert kept(path) == [3, 4]


def test_no_rows_are_written_at_once(writer: Writer, path: Path) -> None:
    writer.write_now(KEEP)
    assert kept(path) == []


def test_a_full_disk_is_told_to_whom_it_hits(writer: Writer, path: Path) -> None:
    writer.write_now("PRAGMA max_page_count = 4", ())
    outcomes = asyncio.run(write_all(writer, (1, "a"), (2, "b" * 100_000)))
    assert "full" in str(outcomes[1])
    assert (outcomes[0] is None) == (kept(path) == [1])


def test_a_lost_transaction_is_told_to_everybody_in_it(writer: Writer, path: Path) -> None:
    async def write_behind_a_gate() -> list[BaseException | None]:
        gate = AdaptiveLimit(path)
        sqls = [KEEP, KEEP, KEEP.replace("INSERT", "INSERT OR ROLLBACK"), KEEP]
        rows = [(1, "a"), (2, "b"), (3, None), (4, "d")]
        writes = [writer.write(sql, row) for sql, row in zip(sqls, rows, strict=True)]
        tasks = [asyncio.ensure_future(write) for write in writes]
        await asyncio.sleep(0)
        gate.open()
        return await asyncio.gather(*tasks, return_exceptions=True)

    outcomes = asyncio.run(write_behind_a_gate())
    assert isinstance(outcomes[2], StoreError)
    assert [n for n, outcome in enumerate(outcomes, 1) if outcome is None] == kept(path)


def test_a_commit_that_fails_fails_its_callers_and_no_others(writer: Writer, path: Path) -> None:
    deferred = "INTEGER REFERENCES notes DEFERRABLE INITIALLY DEFERRED"
    writer.write_now(f"CREATE TABLE owners (note {deferred})", ())
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        writer.write_now("INSERT INTO owners VALUES (?)", (99,))
    writer.write_now(KEEP, (1, "a"))
    assert kept(path) == [1]


def test_a_cancelled_caller_stops_nobody_and_its_row_is_kept(writer: Writer, path: Path) -> None:
    async def cancel_one() -> None:
        gate = AdaptiveLimit(path)
        tasks = [asyncio.ensure_future(writer.write(KEEP, (n, ""))) for n in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.sleep(0)
        gate.open()
        with pytest.raises(asyncio.CancelledError):
            await tasks[1]
        await asyncio.gather(tasks[0], tasks[2])

    asyncio.run(cancel_one())
    assert kept(path) == [0, 1, 2]


def test_callers_that_are_gone_with_their_loop_stop_nobody(writer: Writer, path: Path) -> None:
    gate = AdaptiveLimit(path)

    async def leave() -> None:
        task = asyncio.ensure_future(writer.write(KEEP, (1, "")))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(leave())
    gate.open()
    writer.write_now(KEEP, (2, ""))
    assert kept(path) == [1, 2]


def test_closing_writes_what_has_been_handed_in(writer: Writer, path: Path) -> None:
    async def close_early() -> None:
        writes = [asyncio.ensure_future(writer.write(KEEP, (n, ""))) for n in range(700)]
        await asyncio.sleep(0)
        writer.close()
        await asyncio.gather(*writes)

    asyncio.run(close_early())
    assert len(kept(path)) == 700


def test_a_closed_writer_takes_nothing(writer: Writer) -> None:
    writer.close()
    writer.close()
    with pytest.raises(StoreError, match="has been closed"):
        writer.write_now(KEEP, (1, "a"))


class Bug:
    """A row that breaks in a way that nobody foresaw."""

    def __len__(self) -> int:
        raise KeyError("a bug")

    def __getitem__(self, place: int) -> str:
        raise KeyError("a bug")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_was_ended_by_a_bug_leaves_nobody_waiting(writer: Writer, path: Path) -> None:
    async def write_behind_a_gate() -> list[BaseException | None]:
        gate = AdaptiveLimit(path)
        rows = [(1, "a"), Bug(), *((n, "") for n in range(2, 1000))]
        writes = [asyncio.ensure_future(writer.write(KEEP, row)) for row in rows]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        gate.open()
        return await asyncio.gather(*writes, return_exceptions=True)

    outcomes = asyncio.run(write_behind_a_gate())
    assert sum(isinstance(outcome, StoreError) for outcome in outcomes) >= 999
    with pytest.raises(StoreError, match="has been closed"):
        writer.write_now(KEEP, (1, "a"))
