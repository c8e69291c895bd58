"""A run file: made, opened for writing by the holder of its lock, read by anybody.

A long query is left when the process is to end: while SQLite works, Python hears no signal.
"""

from __future__ import annotations

import errno
import fcntl
import gc
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar
from urllib.parse import quote

from videoautoarena.memory.records.errors import RunLocked, StoreError
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.migrations import check_layout, fill_in, migrate


class RunLock:
    """The right to write one run, from construction to `release`; RunLocked names its holder.

    The lock file of a run lies in the run's folder, which the message then names; elsewhere `busy`
    is the beginning of that message, such as "my-set is being made".
    """

    # The system never refuses a process its own POSIX lock, and drops the lock when the process
    # closes any descriptor of the file; so what this process holds is known before the file is
    # opened. flock would refuse, but a forked child would go on holding it after its parent was
    # killed.
    _held: ClassVar[set[tuple[int, int]]] = set()

    def __init__(self, path: Path, *, busy: str | None = None) -> None:
        self._path = path
        busy = busy or f"{path.parent} is being run"
        with suppress(FileNotFoundError):
            if _identity(path.stat()) in self._held:
                raise _locked(busy, str(os.getpid()))
        self._file = _take(path, busy)
        # Whoever is refused reads here which process to wait for.
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        self._identity = _identity(os.fstat(self._file))
        self._held.add(self._identity)
        self._is_held = True

    def release(self, *, remove: bool = False) -> None:
        """Let the next process in. A run's lock file stays: earlier versions would split it."""
        if self._is_held:
            self._is_held = False
            self._held.remove(self._identity)
            if remove:
                # Before the file is closed: once it is, another process may hold the same file.
                self._path.unlink(missing_ok=True)
            os.close(self._file)


def _take(path: Path, busy: str) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(file, 32, 0).decode("ascii", "replace").strip()
        os.close(file)
        raise _locked(busy, holder) from error
    except OSError as error:
        reason = f"{path} cannot be locked ({error.strerror}); use a folder you may write"
        raise StoreError(reason) from error
    with suppress(FileNotFoundError):
        if _identity(path.stat()) == _identity(os.fstat(file)):
            return file
    # Its last holder has removed it since it was opened.
    os.close(file)
    return _take(path, busy)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _locked(busy: str, holder: str) -> RunLocked:
    who = f"process {holder}" if holder.isdigit() else "another process"
    return RunLocked(f"{busy} by {who}; wait for it to end, or stop it")


PATIENCE_S = 0.5
"""Seconds that a query may go on after the process was asked to end."""


class Shutdown:
    """Since when this process has been asked to end; a long query cannot hear the signal itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s: float | None = None

    def ask(self) -> None:
        """Ask long queries to end, in whatever thread; asked again, the first time still counts."""
        if self._since_s is None:
            self._since_s = self._clock()

    def clear(self) -> None:
        """Take the request back: it was heard, or what asked for it is over."""
        self._since_s = None

    def is_overdue(self) -> bool:
        """Return whether the request is older than `PATIENCE_S` and was not taken back."""
        return self._since_s is not None and self._clock() - self._since_s > PATIENCE_S


SHUTDOWN = Shutdown()
"""The one of this process: one thread hears signals, and several make queries."""


_LOCKED_FOR_S = 30.0
"""How long to wait for somebody else's checkpoint."""
_UNWRITABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
"""Errors of SQLite where the index beside a log can be neither made nor written."""
_LOOK_EACH = 2000
"""Steps of SQLite's machine, some 0.1 ms, from one look whether to go on to the next."""
_LONGEST_REASON = 300
_MOST_BYTES = 256 * 1024 * 1024
"""Largest value that is read; no text of a run comes near."""
FileState = tuple[int, int, int] | None
"""Inode, size and time of change of a file; None where it is not there."""
Seen = tuple[FileState, FileState]
"""A run's file and its log."""


def real_file(path: Path) -> Path:
    """Return the file that a link leads to, beside which SQLite's log and the lock stand.

    StoreError where what lies beside it is a link: what is written there would be lost.
    """
    real = path.resolve() if path.is_symlink() else path
    for ending in ("-wal", "-shm", "-journal", ".lock"):
        beside = real.with_name(f"{real.name}{ending}")
        if beside.is_symlink():
            raise StoreError(f"{beside} is a link, which no run leaves; remove it")
    return real


def lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def wal_of(path: Path) -> Path:
    """Return where SQLite keeps the write-ahead log of a file."""
    return path.with_name(f"{path.name}-wal")


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn what SQLite or the system says inside into one line about the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        _raise_interrupt(error)
        is_full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
        # Another folder helps only where the file is no run; a full disk needs room.
        remedy = "pass the folder of a run"
        if is_full or getattr(error, "errno", None) == errno.ENOSPC:
            remedy = "make room on its disk, then go on with the same command"
        # SQLite quotes what it finds in a file, which may be anybody's and hold terminal escapes.
        said = str(error)
        said = said if said.isprintable() and len(said) <= _LONGEST_REASON else _shown(said)
        raise StoreError(f"{path} cannot be used ({said}); {remedy}") from error


def _shown(text: str) -> str:
    return ascii(text[:_LONGEST_REASON])[1:-1]


def connect(path: Path, query: str) -> sqlite3.Connection:
    """Open an SQLite file; `query` is that of its URI, such as "mode=ro"."""
    # quote() so that a `?` or `%` in a folder's name stays a part of the name; bytes, since names
    # need not be UTF-8.
    uri = f"file:{quote(bytes(path.absolute()))}?{query}"
    # Opened by one thread and used by another: the writer has its own, readers may be shared.
    # Without an isolation level, Python's module opens no transaction by itself.
    connection = sqlite3.connect(
        uri, uri=True, timeout=_LOCKED_FOR_S, isolation_level=None, check_same_thread=False
    )
    # The file may be anybody's: nothing in it may call what acts outside of it, nor have SQLite
    # follow cells that lead out of their page, nor have more read into memory than a run has.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
    # A look runs Python code. So in the main thread a signal's own handler is run as well, and
    # what it raises ends the query like a true answer.
    connection.set_progress_handler(SHUTDOWN.is_overdue, _LOOK_EACH)
    return connection


def _raise_interrupt(error: Exception) -> None:
    """Raise KeyboardInterrupt where a query was cut off; SQLite drops what the handler raised."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        raise KeyboardInterrupt from error


@dataclass(frozen=True)
class ReadConnection:
    """A run file that is open for reading."""

    connection: sqlite3.Connection
    seen: Seen | None = None
    """The file as it was when it was opened; None where SQLite itself sees changes."""
    copy: tempfile.TemporaryDirectory[str] | None = None
    """The folder of the private copy that is read in its place."""
    is_immutable: bool = False
    """SQLite takes no lock on it, so it may be written while a query reads it."""

    def close(self) -> None:
        self.connection.close()
        if self.copy:
            self.copy.cleanup()


def open_reading(path: Path, *, live: bool = False) -> ReadConnection:
    """Open a file with all that stands in its log; neither of the two is changed.

    While a log holds something the file alone may be older than it says, and shorter: somebody was
    killed inside a checkpoint, or ran out of disk. So it is `immutable` only where the log is
    empty. To read a log SQLite makes an index beside it. Where nothing can be written that fails,
    and both are read from a private copy. `live`: this process has it open for writing.
    """
    if live:
        return ReadConnection(_connected(path, "mode=ro"))
    seen = look_at(path)
    # The last reader of a WAL file leaves an empty log behind, unless the file is said to be
    # immutable; and that it is while it has no log, for then nobody has it open for writing.
    if seen[1] is not None:
        with suppress(_Unwritable):
            return ReadConnection(_connected(path, "mode=ro"))
    if seen[1] is None or not seen[1][1]:
        return ReadConnection(_connected(path, "mode=ro&immutable=1"), seen, is_immutable=True)
    return _copied(path, seen)


class _Unwritable(sqlite3.OperationalError):
    """SQLite needs a file beside another one, and cannot make it."""


def _connected(path: Path, query: str) -> sqlite3.Connection:
    connection = connect(path, query)
    try:
        # SQLite opens a file only with the first query; until then it might not even be there.
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        # Extended codes, such as SQLITE_READONLY_CANTINIT, keep the plain one in their low byte.
        if error.sqlite_errorcode & 0xFF in _UNWRITABLE:
            raise _Unwritable(*error.args) from error
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def _copied(path: Path, seen: Seen) -> ReadConnection:
    folder = tempfile.TemporaryDirectory(prefix="arena-")
    try:
        twin = Path(folder.name) / path.name
        # Somebody may write between these two; `seen` is older than both, so the next query
        # notices.
        shutil.copyfile(path, twin)
        shutil.copyfile(wal_of(path), wal_of(twin))
        return ReadConnection(_connected(twin, "mode=ro"), seen, folder)
    except BaseException:
        folder.cleanup()
        raise


def look_at(path: Path) -> Seen:
    """Return how a run's file and its log stand; neither is opened."""
    return _state_of(path), _state_of(wal_of(path))


def _state_of(path: Path) -> FileState:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def refuse_stranger(path: Path) -> None:
    """Raise StoreError where the file is no run that may be written; nothing is changed."""
    # Never by open(): closing the file would drop the locks SQLite holds on it in this process.
    with blaming(path), closing(open_reading(path)) as reading:
        check_layout(reading.connection, path.name, write=True)


def open_writing(path: Path, *, fsync: bool) -> sqlite3.Connection:
    """Open a run for writing, brought up to the newest layout.

    NORMAL survives the death of the process, FULL (`fsync`) that of the machine as well.
    """
    with blaming(path):
        connection = connect(path, "mode=rw")
        try:
            # Before the first pragma that writes: another program's file is left as it was.
            check_layout(connection, path.name, write=True)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
            # Otherwise a REPLACE would remove rows without running the triggers of deletion.
            connection.execute("PRAGMA recursive_triggers = ON")
            migrate(connection)
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


class StoreReader:
    """Reads a run file, never changes it; StoreError for damage. `live`: this process writes it."""

    def __init__(self, path: Path, *, live: bool = False) -> None:
        self._path = path
        self._live = live
        # SQLite may crash the process where one thread closes a connection that another reads from.
        self._alone = RLock()
        self._open()

    def rows(self, sql: str, *values: str | int) -> list[tuple[str, ...]]:
        with self._alone:
            return self._rows(sql, *values)

    def _rows(self, sql: str, *values: str | int) -> list[tuple[str, ...]]:
        while True:
            if self._has_changed():
                self.close()
                self._open()
            try:
                found: list[tuple[str, ...]] = self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                _raise_interrupt(error)
                # Damage that is seen while somebody writes may be half of a change: the query is
                # made again.
                if self._reading.is_immutable and self._has_changed():
                    continue
                with blaming(self._path):
                    raise
            # No lock kept writers away, so rows that were read while the file changed are of no one
            # moment.
            if not (self._reading.is_immutable and self._has_changed()):
                return found

    @contextmanager
    def of_one_moment(self) -> Iterator[None]:
        """Let reads within the block see the file of one moment, whoever writes meanwhile.

        The promise does not hold where a first writer begins within the block: a file that nobody
        had open is read without a lock.
        """
        if self._has_changed():
            self.close()
            self._open()
        # An immutable file or a private copy needs no transaction to stay as it is.
        if self._reading.seen is None:
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            # Nothing was written; and after an error there may be no transaction left, for COMMIT
            # to end.
            self._db.rollback()

    def _has_changed(self) -> bool:
        """Return whether somebody has begun to write, or has come and gone, unseen by SQLite."""
        return self._reading.seen is not None and self._reading.seen != look_at(self._path)

    def pages(
        self, sql: str, after: str | int, most: int, *more: str | int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield pages of rows whose first column, by which they are sorted, is above `after`."""
        # By value and not by OFFSET, for which SQLite would step over all earlier rows again.
        while found := self._many(sql, after, most, *more):
            yield found
            after = found[-1][0]

    def _many(self, sql: str, *values: str | int) -> list[tuple[str, ...]]:
        # Rows hold no circles, and searching thousands of them takes a third of the time of
        # reading.
        was_on = gc.isenabled()
        gc.disable()
        try:
            return self.rows(sql, *values)
        finally:
            if was_on:
                gc.enable()

    def row(self, sql: str, *values: str | int) -> tuple[str, ...] | None:
        found = self.rows(sql, *values)
        return found[0] if found else None

    def close(self) -> None:
        with self._alone:
            self._reading.close()

    def _open(self) -> None:
        with blaming(self._path):
            seen = look_at(self._path)
            reading = open_reading(self._path, live=self._live)
            try:
                check_layout(reading.connection, self._path.name, write=False)
                if fill_in(reading.connection):
                    # Temporary views would hide the tables that a writer adds: with `seen` set, the
                    # file is opened again once it has changed.
                    reading = replace(reading, seen=seen)
            except BaseException:
                reading.close()
                raise
            self._take(reading)

    def _take(self, reading: ReadConnection) -> None:
        self._db = reading.connection
        self._reading = reading


def size_of(path: Path) -> int:
    """Return how many bytes a run's file takes with its log."""
    return sum(file.stat().st_size for file in (path, wal_of(path)) if file.exists())


PAGE_BYTES = 8192
"""A call with its reply takes about 2 KB; in pages of SQLite's default size half would stay
empty."""


def make_folder(folder: Path, *, fsync: bool) -> None:
    """Make the folder of a run, and those it stands in, or raise StoreError."""
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for made in missing if fsync else []:
            sync_folder(made.parent)
    except OSError as error:
        reason = f"{folder} cannot be made ({error.strerror}); pass another {option('out')}"
        raise StoreError(reason) from error


def lay_out(path: Path, manifest: str, texts: Mapping[str, str], *, fsync: bool) -> None:
    """Make the file of a run, under another name first: a kill leaves a whole run or none."""
    if path.exists():
        raise StoreError(f"{path} exists already; continue it, or pass another {option('out')}")
    # Here, since `arena --help` needs this module and must not wait for the records.
    from videoautoarena.memory.records.digests import digest

    draft = path.with_name(f"{path.name}.new")
    with blaming(path):
        # A log without its file would be taken for the log of the new one.
        for left_over in (draft, wal_of(path)):
            left_over.unlink(missing_ok=True)
        with closing(connect(draft, "mode=rwc")) as connection:
            # A rollback journal on disk could outlive a kill, and be played back into the next
            # draft.
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            # Both commits reach the disk with the second, before the draft gets its name.
            connection.execute("PRAGMA synchronous = OFF")
            migrate(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN")
            connection.execute("INSERT INTO manifest (id, body) VALUES (1, ?)", (manifest,))
            rows = [(name, digest(text), text) for name, text in texts.items()]
            connection.executemany("INSERT INTO files (name, digest, text) VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")
        os.replace(draft, path)
        if fsync:
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, too."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    except OSError as error:
        # Some shared file systems sync files alone.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(number)
