"""Opening a run file: for writing by the process that holds its lock, for reading by anybody."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlite_utils import Database

from memory.errors import StoreError
from memory.migrations import check_is_run, check_layout, migrate

_PATIENCE_S = 30.0
"""How long to wait for somebody else's checkpoint."""


def wal_of(path: Path) -> Path:
    """Return where SQLite keeps the write-ahead log of a file."""
    return path.with_name(f"{path.name}-wal")


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn what SQLite or the system says inside into one line about the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path} cannot be used ({error}); pass the --out of a run") from error


def connect(path: Path, query: str) -> sqlite3.Connection:
    """Open an SQLite file; `query` is that of its URI, such as "mode=ro"."""
    # quote() so that a `?` or `%` in a folder's name stays a part of the name.
    uri = f"file:{quote(bytes(path.absolute()))}?{query}"
    # Made here and used elsewhere: the writer has a thread of its own, readers may be shared.
    return sqlite3.connect(
        uri, uri=True, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
    )


def refuse_stranger(path: Path) -> None:
    """Make sure that the file is a run, before anything is left beside it or done to it."""
    # Never by open(): closing the file would drop the locks SQLite holds on it in this process.
    with blaming(path), closing(connect(path, "immutable=1")) as connection:
        check_is_run(connection, path.name)


def open_writing(path: Path, *, fsync: bool) -> sqlite3.Connection:
    """Open a run for writing, brought up to the newest layout.

    NORMAL survives the death of the process, FULL (`fsync`) that of the machine as well.
    """
    with blaming(path):
        connection = connect(path, "mode=rw")
        try:
            check_layout(connection, path.name, write=True)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
            migrate(connection)
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


class Reader:
    """Reads a run file, which it never changes; `live` says that this process writes it.

    Raises:
        StoreError: from every read of a file that is no run, or is damaged.
    """

    def __init__(self, path: Path, *, live: bool = False) -> None:
        self._path = path
        self._wal = wal_of(path)
        self._live = live
        self._open()

    def rows(self, sql: str, *values: str | int) -> list[tuple[str, ...]]:
        """Return all rows that `sql` finds."""
        if not self._live and self._wal.exists():
            # Somebody has begun to write: from now on the log has to be read as well.
            self.close()
            self._live = True
            self._open()
        with blaming(self._path):
            return self._db.execute(sql, values).fetchall()

    def row(self, sql: str, *values: str | int) -> tuple[str, ...] | None:
        """Return the first row that `sql` finds."""
        found = self.rows(sql, *values)
        return found[0] if found else None

    def close(self) -> None:
        """Let go of the file."""
        self._db.conn.close()

    def _open(self) -> None:
        # The last reader of a WAL file leaves an empty log behind, unless the file is said to be
        # immutable; and that it is while it has no log, for then nobody has it open for writing.
        self._live = self._live or self._wal.exists()
        with blaming(self._path):
            connection = connect(self._path, "mode=ro" if self._live else "immutable=1")
            try:
                check_layout(connection, self._path.name, write=False)
                self._db = Database(connection, execute_plugins=False)
            except BaseException:
                connection.close()
                raise
