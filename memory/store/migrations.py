"""The layout of a run file: numbered steps, of which only the newest may still change.

A step's number is its place in MIGRATIONS, counted from 1; the file keeps the number reached. A
file that holds anything but what the steps up to there make is refused before it is asked: a view
may stand where a table is looked for, and a trigger do what nobody wrote here.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import NamedTuple

from videoautoarena.memory.records.errors import StoreError, StoreTooNew
from videoautoarena.memory.store.derived import VIEWS, VIEWS_OF_ENDS, keep, keep_ends

Step = Callable[[sqlite3.Connection], None]

APPLICATION_ID = 0x56414121
"""Marks a SQLite file as a run ("VAA!"), so that no other program's file is ever touched."""


# As sqlite-utils once spelt them: the text that a file keeps of its tables stays the same.
_TABLES = """CREATE TABLE "manifest" (
   "id" INTEGER PRIMARY KEY,
   "body" TEXT NOT NULL
);
CREATE TABLE "files" (
   "name" TEXT PRIMARY KEY,
   "digest" TEXT,
   "text" TEXT
);
CREATE TABLE "videos" (
   "place" INTEGER PRIMARY KEY,
   "id" TEXT NOT NULL,
   "sha256" TEXT NOT NULL,
   "body" TEXT NOT NULL
);
CREATE UNIQUE INDEX "idx_videos_id"
    ON "videos" ("id");
CREATE TABLE "skipped" (
   "place" INTEGER PRIMARY KEY,
   "body" TEXT
);
CREATE UNIQUE INDEX "idx_skipped_body"
    ON "skipped" ("body");
CREATE TABLE "slots" (
   "ordinal" INTEGER PRIMARY KEY,
   "id" TEXT,
   "video" TEXT REFERENCES "videos"("id"),
   "body" TEXT
);
CREATE UNIQUE INDEX "idx_slots_id"
    ON "slots" ("id");
CREATE TABLE "frames" (
   "video" TEXT PRIMARY KEY REFERENCES "videos"("id"),
   "body" TEXT
);
CREATE TABLE "draws" (
   "slot" TEXT PRIMARY KEY REFERENCES "slots"("id"),
   "body" TEXT
);
CREATE TABLE "battles" (
   "id" TEXT PRIMARY KEY REFERENCES "slots"("id"),
   "body" TEXT
);
CREATE TABLE "calls" (
   "place" INTEGER PRIMARY KEY,
   "key" TEXT NOT NULL,
   "scope" TEXT NOT NULL,
   "role" TEXT NOT NULL,
   "generation" INTEGER NOT NULL,
   "ordinal" INTEGER NOT NULL,
   "model" TEXT NOT NULL,
   "body" TEXT NOT NULL
);
CREATE UNIQUE INDEX "idx_calls_key"
    ON "calls" ("key");
CREATE INDEX "idx_calls_scope"
    ON "calls" ("scope")"""


def _first(db: sqlite3.Connection) -> None:
    """Bodies are JSON; what has a column of its own is there to be searched or to bind."""
    _make(db, _TABLES)


_SESSIONS = """CREATE TABLE "sessions" (
   "place" INTEGER PRIMARY KEY,
   "began_at_s" REAL NOT NULL,
   "worked_s" REAL NOT NULL
);
CREATE TABLE "lost" (
   "place" INTEGER PRIMARY KEY,
   "model" TEXT NOT NULL,
   "tries" INTEGER NOT NULL,
   "usd" REAL,
   "tokens" INTEGER NOT NULL
)"""


def _second(db: sqlite3.Connection) -> None:
    """How long processes have worked on the run, and what may have been paid for nothing."""
    _make(db, _SESSIONS)


_LABELS = """CREATE TABLE "labels" (
   "place" INTEGER PRIMARY KEY,
   "battle" TEXT NOT NULL,
   "labeller" TEXT NOT NULL,
   "body" TEXT NOT NULL
);
CREATE UNIQUE INDEX "idx_labels_battle_labeller"
    ON "labels" ("battle", "labeller");
CREATE TABLE "trials" (
   "id" TEXT PRIMARY KEY,
   "body" TEXT NOT NULL
);
CREATE TABLE "samples" (
   "place" INTEGER PRIMARY KEY,
   "body" TEXT NOT NULL
)"""


def _third(db: sqlite3.Connection) -> None:
    """What people say of battles, and judgings that decide none."""
    _make(db, _LABELS)


def _make(db: sqlite3.Connection, statements: str) -> None:
    # Connection.executescript would commit, and a step is done whole or not at all.
    for statement in statements.split(";\n"):
        db.execute(statement)


_INTENTS = (
    "intents (place INTEGER PRIMARY KEY, key TEXT NOT NULL, scope TEXT NOT NULL, "
    "role TEXT NOT NULL, generation INTEGER NOT NULL, ordinal INTEGER NOT NULL, "
    "model TEXT NOT NULL, attempt INTEGER NOT NULL, usd FLOAT, tokens INTEGER NOT NULL, "
    "is_left_over INTEGER NOT NULL DEFAULT 0)"
)


def _fourth(db: sqlite3.Connection) -> None:
    """Tries that are about to be sent; what stands here when its process is gone may be paid."""
    db.execute(f"CREATE TABLE {_INTENTS}")
    db.execute("CREATE INDEX idx_intents_key ON intents (key)")


_VOTES = (
    "votes (place INTEGER PRIMARY KEY, task TEXT NOT NULL, subject TEXT NOT NULL, "
    "labeller TEXT NOT NULL, body TEXT NOT NULL, is_superseded INTEGER NOT NULL DEFAULT 0)"
)


def _fifth(db: sqlite3.Connection) -> None:
    """What people say in labelling sessions, of which at most one stands."""
    db.execute(f"CREATE TABLE {_VOTES}")
    db.execute(
        "CREATE UNIQUE INDEX idx_votes_standing ON votes (task, subject, labeller) "
        "WHERE is_superseded = 0"
    )


_TAGS = "tags (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"


def _sixth(db: sqlite3.Connection) -> None:
    """What classifiers say of the questions."""
    db.execute(f"CREATE TABLE {_TAGS}")


_CLAIMS = (
    "claims (unit TEXT PRIMARY KEY, epoch INTEGER NOT NULL, worker TEXT NOT NULL) WITHOUT ROWID"
)
_DELIVERIES = "deliveries (sender TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID"


def _clusters(db: sqlite3.Connection) -> None:
    """Which worker of a cluster plays what, and which of its messages came last."""
    db.execute(f"CREATE TABLE {_CLAIMS}")
    db.execute(f"CREATE TABLE {_DELIVERIES}")


def _derived(db: sqlite3.Connection) -> None:
    """What ratings, audits and status want of battles and calls, kept by the file itself."""
    keep(db)


def _ends(db: sqlite3.Connection) -> None:
    """How calls ended, and which battles may hold marks of thought, kept likewise."""
    keep_ends(db)


MIGRATIONS: tuple[Step, ...] = (
    _first,
    _second,
    _third,
    _fourth,
    _fifth,
    _sixth,
    _clusters,
    _derived,
    _ends,
)
_ADDED = (
    (_fourth, f"TABLE {_INTENTS}"),
    (_fifth, f"TABLE {_VOTES}"),
    (_sixth, f"TABLE {_TAGS}"),
    (_clusters, f"TABLE {_CLAIMS}"),
    (_clusters, f"TABLE {_DELIVERIES}"),
    *((_derived, f"VIEW {name} AS {rows}") for name, rows in VIEWS.items()),
    *((_ends, f"VIEW {name} AS {rows}") for name, rows in VIEWS_OF_ENDS.items()),
)
"""What stands in for that which a step added to the oldest layout that is read."""
READABLE = 3
"""The oldest layout that is read as it is: all that it lacks is what `fill_in` stands in for."""


def check_layout(connection: sqlite3.Connection, name: str, *, write: bool) -> None:
    """Make sure that this version may use the run; StoreTooNew or StoreError where it may not."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise StoreError(f"{name} is no run of this program; pass another folder")
    layout, ours = _pragma(connection, "user_version"), len(MIGRATIONS)
    if layout > ours:
        known = f"{name} has layout {layout}, this version knows {ours}"
        raise StoreTooNew(f"{known}; update videoautoarena")
    _check_shape(connection, name, layout)
    if layout < (1 if write else READABLE):
        older = f"{name} has the older layout {layout}"
        raise StoreError(f"{older}; continue the run once to update it")


class _Part(NamedTuple):
    """A row of sqlite_master; in a file from somebody else each may be anything."""

    type: str
    name: str
    table: str
    sql: str | None

    def __str__(self) -> str:
        kind = self.type if self.type in _KINDS else "entry"
        return f"{kind} {self.name!a}"


_KINDS = ("table", "index", "trigger", "view")
_STATISTICS = (
    _Part("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    _Part(
        type="table",
        name="sqlite_stat4",
        table="sqlite_stat4",
        sql="CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ),
)
"""What ANALYZE leaves in a file, which people and tools do to one."""
_LONGEST_NAME = 80


def _check_shape(connection: sqlite3.Connection, name: str, layout: int) -> None:
    """Make sure that the file holds all that its layout makes, and nothing else."""
    missing = dict(_made_by(MIGRATIONS[: max(layout, 0)]))
    for part in _parts(connection, len(missing) + len(_STATISTICS) + 1):
        wanted = missing.pop((part.type, part.name), None)
        if wanted is None and part not in _STATISTICS:
            raise _misshapen(name, f"holds the {part}, which no run of this program has")
        if wanted is not None and part != wanted and not _is_older(part, wanted):
            raise _misshapen(name, f"has another {part} than layout {layout} has")
    for part in missing.values():
        raise _misshapen(name, f"lacks the {part} of layout {layout}")


def _misshapen(name: str, what: str) -> StoreError:
    return StoreError(f"{name} {what}; undo what was done to it, or use another copy")


@cache
def _made_by(steps: tuple[Step, ...]) -> dict[tuple[str, str], _Part]:
    """Return what a file holds after these steps, by type and name."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        migrate(made, steps)
        return {part[:2]: part for part in _parts(made, 1000)}


def _parts(connection: sqlite3.Connection, most: int) -> Iterator[_Part]:
    """Give what a file holds, with names cut where no part of a run goes on."""
    # SQLite itself refuses SQL in a file that is longer than a million characters.
    names = [f"substr({column}, 1, {_LONGEST_NAME})" for column in ("type", "name", "tbl_name")]
    found = connection.execute(f"SELECT {', '.join(names)}, sql FROM sqlite_master LIMIT {most}")
    return map(_Part._make, found)


def _is_older(part: _Part, wanted: _Part) -> bool:
    """Return whether a part is what this one was when it was made by an older version.

    sqlite-utils before 4 put names in brackets and called REAL FLOAT, which is the same, and the
    triggers of layout 9 began without a bound that only saves time.
    """
    ours = {wanted.sql, (wanted.sql or "").replace(" LIMIT -1", "")}
    return part.table == wanted.table and _respelt(part.sql) in map(_respelt, ours)


def _respelt(sql: str | None) -> str | None:
    if not isinstance(sql, str):
        return sql
    return re.sub(r"\bFLOAT\b", "REAL", re.sub(r"\[(\w+)\]", r'"\1"', sql))


def fill_in(connection: sqlite3.Connection) -> bool:
    """Let queries find what an older layout lacks, and return whether it lacks anything.

    Tables are empty, since nothing of theirs was kept; what is derived follows from the rest.
    """
    layout = _pragma(connection, "user_version")
    for step, lacking in _ADDED:
        if layout <= MIGRATIONS.index(step):
            connection.execute(f"CREATE TEMP {lacking}")
    return layout < len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] | None = None) -> None:
    """Bring the file up to the newest layout; each step is done whole or not at all.

    What it held before is what its layout makes: see `check_layout`.
    """
    if not _json_is_trusted():
        connection.execute("PRAGMA trusted_schema = ON")
    steps = MIGRATIONS if steps is None else steps
    for number in range(_pragma(connection, "user_version") + 1, len(steps) + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            steps[number - 1](connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@cache
def _json_is_trusted() -> bool:
    """Return whether triggers may use JSON where a file is not trusted.

    Until 3.41 SQLite took its own JSON functions for ones that may do harm.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        empty.execute("PRAGMA trusted_schema = OFF")
        empty.execute("CREATE VIEW answers AS SELECT json_valid('1')")
        try:
            empty.execute("SELECT * FROM answers")
        except sqlite3.OperationalError:
            return False
    return True


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
