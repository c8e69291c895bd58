"""`arena`, where SQLite comes to no end of a query: `python -m tests.support.endless_queries`.

The first argument is a part of the SQL of that query, the others are those of `arena`. It says
"asking" on standard error when it begins, and "answered" should it ever end.
"""

from __future__ import annotations

import sys
from typing import Any

from videoautoarena.memory.store.connection import StoreReader
from videoautoarena.runs.cli.program.main import arena_main

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

_rows = StoreReader.rows


def say(word: str) -> None:
    sys.stderr.write(f"{word}\n")
    sys.stderr.flush()


def rows(self: StoreReader, sql: str, *values: Any) -> list[tuple[str, ...]]:
    """Answer a question, or go on for ever."""
    if wanted not in sql:
        return _rows(self, sql, *values)
    say("asking")
    found = _rows(self, ENDLESS if is_endless else sql, *(() if is_endless else values))
    say("answered")
    return found


if __name__ == "__main__":
    wanted = sys.argv.pop(1)
    is_endless = not wanted.startswith("=")
    wanted = wanted.removeprefix("=")
    StoreReader.rows = rows  # type: ignore[method-assign]
    arena_main()
