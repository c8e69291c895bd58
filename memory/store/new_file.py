"""A run's file as it begins: whole under another name first, so that a kill leaves it or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.connection import blaming, connect, wal_of
from videoautoarena.memory.store.migrations import migrate

PAGE_BYTES = 8192
"""A call with its reply takes about 2 KB; of SQLite's own pages, half would stay empty."""


def make_folder(folder: Path, *, fsync: bool) -> None:
    """Make the folder of a run, and those it stands in, or raise StoreError."""
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for made in missing if fsync else []:
            sync_folder(made.parent)
    except OSError as error:
        reason = f"{folder} cannot be made ({error.strerror}); pass another --out"
        raise StoreError(reason) from error


def lay_out(path: Path, manifest: str, texts: Mapping[str, str], *, fsync: bool) -> None:
    """Make the file under another name first, so that a kill leaves a whole run or none."""
    if path.exists():
        raise StoreError(f"{path} exists already; continue it, or pass another --out")
    draft = path.with_name(f"{path.name}.new")
    with blaming(path):
        # A log without its file would be taken for the log of the new one.
        for left_over in (draft, wal_of(path)):
            left_over.unlink(missing_ok=True)
        with closing(connect(draft, "mode=rwc")) as connection:
            # A journal on disk could outlive a kill, and be played back into the next draft.
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            migrate(connection)
            connection.execute("INSERT INTO manifest (id, body) VALUES (1, ?)", (manifest,))
            rows = [(name, digest(text), text) for name, text in texts.items()]
            connection.executemany("INSERT INTO files (name, digest, text) VALUES (?, ?, ?)", rows)
        os.replace(draft, path)
        if fsync:
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder as well."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    except OSError as error:
        # Some shared file systems sync files alone.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(number)
