"""Opening a run file: for writing by the process that holds its lock, for reading by anybody."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from sqlite_utils import Database

from memory.errors import StoreError
from memory.migrations import check_layout, migrate

_PATIENCE_S = 30.0
"""How long to wait for somebody else's checkpoint."""


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open an SQLite file; `mode` is the query of its URI, such as "mode=ro"."""
    # quote() so that a `?` or `%` in a folder's name stays a part of the name.
    uri = f"file:{quote(bytes(path.absolute()))}?{mode}"
    # The writer's connection is made here and used on its thread; readers may be shared by threads.
    return sqlite3.connect(
        uri, uri=True, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
    )


def open_writing(path: Path, *, fsync: bool) -> sqlite3.Connection:
    """Open a run for writing, brought up to the newest layout.

    NORMAL survives the death of the process, FULL (`fsync`) that of the machine as well.
    """
    connection = connect(path, "mode=rw")
    try:
        check_layout(connection, path.name, write=True)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'NORMAL'}")
        migrate(connection)
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise unreadable(path, error) from error
        raise
    return connection


class Reader:
    """Reads a run file that it never changes, also while another process writes it.

    Raises:
        StoreError: from every read of a file that is no run, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wal = path.with_name(f"{path.name}-wal")
        self._open()

    def rows(self, sql: str, values: Sequence[str | int] = ()) -> list[tuple[str, ...]]:
        """Return all rows that `sql` finds."""
        if self._still and self._wal.exists():
            # Somebody has begun to write: from now on the log has to be read as well.
            self.close()
            self._open()
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise unreadable(self._path, error) from error

    def row(self, sql: str, *values: str | int) -> tuple[str, ...] | None:
        """Return the first row that `sql` finds."""
        found = self.rows(sql, values)
        return found[0] if found else None

    def close(self) -> None:
        """Let go of the file."""
        self._db.conn.close()

    def _open(self) -> None:
        # A reader of a WAL file leaves a log and its index behind, unless the file is said to be
        # immutable; it is while it has no log, for then nobody has it open for writing.
        self._still = not self._wal.exists()
        try:
            connection = connect(self._path, "immutable=1" if self._still else "mode=ro")
        except sqlite3.Error as error:
            raise unreadable(self._path, error) from error
        try:
            self._db = Database(connection, execute_plugins=False)
            check_layout(connection, self._path.name, write=False)
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.Error):
                raise unreadable(self._path, error) from error
            raise


def unreadable(path: Path, error: Exception) -> StoreError:
    """Return the refusal of a file that SQLite, or our own reading, cannot make sense of."""
    return StoreError(f"{path.name} cannot be read as a run ({error}); pass the --out of a run")
