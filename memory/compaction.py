"""Making a run's file as small as what it holds."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from memory.connection import (
    blaming,
    lock_of,
    open_writing,
    real_file,
    refuse_stranger,
    wal_of,
)
from memory.errors import StoreError
from memory.lock import RunLock

COPIES = 2
"""SQLite writes everything once into a file of its own, and once into the log."""


class Compacted(NamedTuple):
    """How many bytes the run's file and its log took, and take now."""

    before: int
    after: int


def compact(path: Path) -> Compacted:
    """Write the run at `path` anew, without gaps and without a log; nothing it holds changes.

    A kill at any moment leaves it as it was or as it will be.

    Raises:
        RunLocked: a process is running it.
        StoreError: no run, or too little room on the disk.
    """
    if not path.is_file():
        raise StoreError(f"{path} does not exist; pass the --out of a run")
    path = real_file(path)
    refuse_stranger(path)
    lock = RunLock(lock_of(path))
    try:
        before = size_of(path)
        refuse_full_disk(path, before)
        with closing(open_writing(path, fsync=True)) as connection, blaming(path):
            _check(connection, path)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Compacted(before, size_of(path))
    finally:
        lock.release()


def size_of(path: Path) -> int:
    """Return how many bytes a run's file takes with its log."""
    return sum(file.stat().st_size for file in (path, wal_of(path)) if file.exists())


def refuse_full_disk(path: Path, size_bytes: int) -> None:
    """Make sure that a file of so many bytes can be written anew; raises StoreError."""
    needed = COPIES * size_bytes
    # SQLite's own choice of where its file goes, as far as it can be known from here.
    beside = Path(os.environ.get("SQLITE_TMPDIR") or tempfile.gettempdir())
    for folder in {path.parent, beside if beside.is_dir() else path.parent}:
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise StoreError(
                f"{folder} has {free} bytes free, and to write {path.name} anew takes up to "
                f"{needed}; make room, or set SQLITE_TMPDIR to a folder that has some"
            )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a damaged file: to write it anew would make it harder to save."""
    (word,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if word != "ok":
        raise StoreError(f"{path} is damaged ({word}); it was left as it is")
