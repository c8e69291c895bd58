"""Somebody apart who looks at a run's file, and somebody who keeps it from being written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from videoautoarena.runs.run.rundir.reader import RUN_FILE


def stored(out: Path, table: str, key: str) -> str | None:
    """Return the body that a run's file holds for a key, as a connection of its own sees it."""
    column = {"battles": "id", "calls": "key", "draws": "slot"}[table]
    with closing(sqlite3.connect(f"file:{out / RUN_FILE}?mode=ro", uri=True)) as file:
        sql = f"SELECT body FROM {table} WHERE {column} = ?"
        found = file.execute(sql, (key,)).fetchone()
    return found[0] if found else None


@contextmanager
def kept_from_writing(out: Path) -> Iterator[None]:
    """Keep a run's file meanwhile, so that nothing reaches it and every write has to wait."""
    connection = sqlite3.connect(out / RUN_FILE, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    finally:
        connection.close()
