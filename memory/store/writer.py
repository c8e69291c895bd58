"""The one thread that writes a run, and commits in one go whatever has gathered.

A caller goes on when its COMMIT has returned, and not before. What the tasks of an event loop write
in one step of it gathers, and so do the writes that come while a commit is under way: the busier a
run is, the fewer commits it makes for a row.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from videoautoarena.memory.records.digests import read_body
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Record

if TYPE_CHECKING:
    import asyncio

    from videoautoarena.memory.store.connection import StoreReader

R = TypeVar("R", bound=Record)

Row = Sequence[str | int | float | bytes | None]
Outcome = tuple["asyncio.Future[None] | Future[None]", StoreError | None]

_REFUSALS = (sqlite3.Error, OverflowError, UnicodeError)
"""Errors of sqlite3 for a row that it will not take."""

_MOST_AT_ONCE = 512


Statement = tuple[str, Iterable[Row]]
"""SQL, and the rows that it is applied to."""


class Writes(ABC):
    """What takes the writes of a run; StoreError from what did not reach the disk."""

    @abstractmethod
    async def write_all(self, *statements: Statement) -> None:
        """Apply several statements, all or none; they are committed when this returns.

        A caller that is cancelled meanwhile stops waiting; its rows are written all the same.
        """

    @abstractmethod
    def write_each_now(self, sql: str, rows: Iterable[Row]) -> None:
        """Do as `write_now`, with rows that are made as they are written, in another thread."""

    @abstractmethod
    def write_soon(self, sql: str, *rows: Row) -> None:
        """Do as `write` without waiting, for tasks that are being cancelled."""

    @abstractmethod
    def write_with_each(self, sql: str, row: Callable[[], Row]) -> None:
        """Write what `row` returns with every commit from now on; it causes no commit itself."""

    @abstractmethod
    def close(self) -> None:
        """Write what has been handed in, then let go of the run; again is harmless."""

    async def write(self, sql: str, *rows: Row) -> None:
        """Apply `sql` to each row, all or none; see `write_all`."""
        await self.write_all((sql, rows))

    def write_now(self, sql: str, *rows: Row) -> None:
        """Do as `write`, and stand still until it is done; for the start of a run."""
        self.write_each_now(sql, rows)


def needed(writer: Writes | None, lack: str = "nothing can be written") -> Writes:
    """Return the writer of a run; raise StoreError with this `lack` where it has none."""
    if writer is None:
        raise StoreError(f"the run was opened for reading; {lack}")
    return writer


class RunTables:
    """Some tables of a run file; without a writer they can only be read."""

    def __init__(self, reader: StoreReader, writer: Writes | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def _all(self, kind: type[R], sql: str, *values: str) -> list[R]:
        return [read_body(kind, body) for (body, *_) in self._reader.rows(sql, *values)]


class _Write(NamedTuple):
    statements: Sequence[Statement]
    future: asyncio.Future[None] | Future[None]

    @property
    def is_repeatable(self) -> bool:
        """Whether its rows can be gone through once more."""
        return all(isinstance(rows, Sequence) for _, rows in self.statements)


class Writer(Writes):
    """Owns the writing connection and closes it; StoreError from what did not reach the disk."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.commits = 0
        # A reply that was paid for is written even while the process is asked to end.
        connection.set_progress_handler(None, 0)
        self._connection = connection
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._gathered: list[_Write] = []
        """Writes that were handed in and are not queued yet."""
        self._closing = False
        self._gate = threading.Lock()
        self._batch: list[_Write] = []
        self._with_each: tuple[str, Callable[[], Row]] | None = None
        self._thread = threading.Thread(target=self._run, name="run-writer", daemon=True)
        self._thread.start()

    async def write_all(self, *statements: Statement) -> None:
        """Apply several statements, all or none, and return once they are committed."""
        # Imported here: commands that only read a run start without it.
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._gather(_Write(statements, future))
        # Not at once: the thread would wake for the first of several writes, contend with the tasks
        # that make the others, and commit it without them.
        loop.call_soon(self._queue_gathered)
        await future

    def write_each_now(self, sql: str, rows: Iterable[Row]) -> None:
        """Do as `write_now`, with rows that are made as they are written, in another thread."""
        future: Future[None] = Future()
        self._submit(_Write([(sql, rows)], future))
        future.result()

    def write_soon(self, sql: str, *rows: Row) -> None:
        """Do as `write` without waiting, for tasks that are being cancelled."""
        self._submit(_Write([(sql, rows)], Future()))

    def write_with_each(self, sql: str, row: Callable[[], Row]) -> None:
        """Write what `row` returns with every commit from now on; it causes no commit itself."""
        self._with_each = (sql, row)

    def close(self) -> None:
        """Write what has been handed in, then close the connection; again is harmless."""
        with self._gate:
            if not self._closing:
                self._closing = True
                # Under the gate: nothing can be queued behind the mark and wait for ever.
                self._queue_all()
                self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _submit(self, write: _Write) -> None:
        """Queue a write behind all that were handed in before."""
        self._gather(write)
        self._queue_gathered()

    def _gather(self, write: _Write) -> None:
        with self._gate:
            if self._closing:
                raise StoreError("the run file has been closed; nothing more can be written")
            self._gathered.append(write)

    def _queue_gathered(self) -> None:
        with self._gate:
            self._queue_all()

    def _queue_all(self) -> None:
        """Queue what has gathered; the gate must be held."""
        for write in self._gathered:
            self._queue.put(write)
        self._gathered.clear()

    def _run(self) -> None:
        try:
            while self._take():
                self._commit()
        finally:
            self._give_up()

    def _take(self) -> bool:
        """Wait for a write, take what else is there; False when the last one has been taken."""
        self._batch = []
        while len(self._batch) < _MOST_AT_ONCE:
            try:
                write = self._queue.get(block=not self._batch)
            except queue.Empty:
                break
            if write is None:
                # Put back: this round is committed first, and the next one ends the thread.
                self._queue.put(None)
                break
            self._batch.append(write)
        return bool(self._batch)

    def _commit(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            outcomes = self._apply_all()
            if self._with_each:
                sql, row = self._with_each
                self._connection.execute(sql, row())
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            outcomes = [(write.future, _not_written(error)) for write in self._batch]
        self.commits += 1
        self._batch = []
        _deliver(outcomes)

    def _apply_all(self) -> list[Outcome]:
        """Apply the batch in the open transaction, and return what became of each write."""
        # Savepoints cost more than the rows between them, and hardly ever is a row refused.
        if all(write.is_repeatable for write in self._batch):
            try:
                for write in self._batch:
                    self._execute(write.statements)
                return [(write.future, None) for write in self._batch]
            except _REFUSALS:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._connection.execute("BEGIN IMMEDIATE")
        return [(write.future, self._apply(write)) for write in self._batch]

    def _apply(self, write: _Write) -> StoreError | None:
        execute = self._connection.execute
        statements = write.statements
        if len(statements) == 1 and _is_one(statements[0][1]):
            # SQLite undoes a failing statement by itself, so one row needs no savepoint.
            return self._attempt(statements)
        # The batch shares a transaction: one caller's bad row must not undo the rows of the others.
        execute("SAVEPOINT several")
        error = self._attempt(statements)
        if error:
            execute("ROLLBACK TO several")
        execute("RELEASE several")
        return error

    def _attempt(self, statements: Sequence[Statement]) -> StoreError | None:
        try:
            self._execute(statements)
        except _REFUSALS as error:
            if not self._connection.in_transaction:
                # SQLite rolls the whole transaction back where the disk is full: nobody's row was
                # kept.
                raise
            return _not_written(error)
        return None

    def _execute(self, statements: Sequence[Statement]) -> None:
        for sql, rows in statements:
            if _is_one(rows):
                self._connection.execute(sql, *rows)
            else:
                self._connection.executemany(sql, rows)

    def _give_up(self) -> None:
        """Fail every write that is left, so nobody waits for a thread that a bug has ended."""
        with self._gate:
            self._closing = True
            self._queue_all()
        left = list(self._batch)
        while not self._queue.empty():
            if write := self._queue.get():
                left.append(write)
        why = "the writer of the run file has stopped"
        _deliver([(write.future, StoreError(why)) for write in left])


def _is_one(rows: Iterable[Row]) -> bool:
    return isinstance(rows, Sequence) and len(rows) == 1


def _not_written(error: Exception) -> StoreError:
    refusal = StoreError(f"the run file was not written ({error}); check the disk, then continue")
    refusal.__cause__ = error
    return refusal


def _deliver(outcomes: list[Outcome]) -> None:
    """Answer every caller; one wake-up per event loop, since each costs a system call."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for future, error in outcomes:
        if isinstance(future, Future):
            _settle([(future, error)])
        else:
            by_loop.setdefault(future.get_loop(), []).append((future, error))
    for loop, theirs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, theirs)
        except RuntimeError:
            # The event loop is closed, so nobody waits any more.
            continue


def _settle(outcomes: list[Outcome]) -> None:
    for future, error in outcomes:
        # A caller that was cancelled has settled it already; its rows are written all the same.
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
