"""The layout of a run file: numbered steps, of which only the newest may still change.

A step's number is its place in MIGRATIONS, counted from 1; the file keeps the number reached.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence

from sqlite_utils import Database

from videoautoarena.memory.records.errors import StoreError, StoreTooNew

Step = Callable[[Database], None]

APPLICATION_ID = 0x56414121
"""Marks a SQLite file as a run ("VAA!"), so that no other program's file is ever touched."""


def _first(db: Database) -> None:
    """Bodies are JSON; what has a column of its own is there to be searched or to bind."""
    body = {"body": str}
    db.create_table("manifest", {"id": int, **body}, pk="id", not_null={"body"})
    db.create_table("files", {"name": str, "digest": str, "text": str}, pk="name")
    videos = {"place": int, "id": str, "sha256": str, **body}
    db.create_table("videos", videos, pk="place", not_null={"id", "sha256", "body"}).create_index(
        ["id"], unique=True
    )
    db.create_table("skipped", {"place": int, **body}, pk="place").create_index(
        ["body"], unique=True
    )
    of_video, of_slot = [("video", "videos", "id")], [("slot", "slots", "id")]
    slots = {"ordinal": int, "id": str, "video": str, **body}
    db.create_table("slots", slots, pk="ordinal", foreign_keys=of_video).create_index(
        ["id"], unique=True
    )
    db.create_table("frames", {"video": str, **body}, pk="video", foreign_keys=of_video)
    db.create_table("draws", {"slot": str, **body}, pk="slot", foreign_keys=of_slot)
    of_slot = [("id", "slots", "id")]
    db.create_table("battles", {"id": str, **body}, pk="id", foreign_keys=of_slot)
    calls = {"place": int, "key": str, "scope": str, "role": str, "generation": int}
    calls |= {"ordinal": int, "model": str, **body}
    table = db.create_table("calls", calls, pk="place", not_null=set(calls) - {"place"})
    table.create_index(["key"], unique=True).create_index(["scope"])


def _second(db: Database) -> None:
    """How long processes have worked on the run, and what may have been paid for nothing."""
    sessions = {"place": int, "began_at_s": float, "worked_s": float}
    db.create_table("sessions", sessions, pk="place", not_null=set(sessions) - {"place"})
    lost = {"place": int, "model": str, "tries": int, "usd": float, "tokens": int}
    db.create_table("lost", lost, pk="place", not_null=set(lost) - {"place", "usd"})


def _third(db: Database) -> None:
    """What people say of battles, and judgings that decide none."""
    labels = {"place": int, "battle": str, "labeller": str, "body": str}
    db.create_table("labels", labels, pk="place", not_null=set(labels) - {"place"}).create_index(
        ["battle", "labeller"], unique=True
    )
    db.create_table("trials", {"id": str, "body": str}, pk="id", not_null={"body"})
    db.create_table("samples", {"place": int, "body": str}, pk="place", not_null={"body"})


_INTENTS = (
    "intents (place INTEGER PRIMARY KEY, key TEXT NOT NULL, scope TEXT NOT NULL, "
    "role TEXT NOT NULL, generation INTEGER NOT NULL, ordinal INTEGER NOT NULL, "
    "model TEXT NOT NULL, attempt INTEGER NOT NULL, usd FLOAT, tokens INTEGER NOT NULL, "
    "is_left_over INTEGER NOT NULL DEFAULT 0)"
)


def _fourth(db: Database) -> None:
    """Tries that are about to be sent; what stands here when its process is gone may be paid."""
    db.execute(f"CREATE TABLE {_INTENTS}")
    db.execute("CREATE INDEX idx_intents_key ON intents (key)")


_VOTES = (
    "votes (place INTEGER PRIMARY KEY, task TEXT NOT NULL, subject TEXT NOT NULL, "
    "labeller TEXT NOT NULL, body TEXT NOT NULL, is_superseded INTEGER NOT NULL DEFAULT 0)"
)


def _fifth(db: Database) -> None:
    """What people say in labelling sessions, of which at most one stands."""
    db.execute(f"CREATE TABLE {_VOTES}")
    db.execute(
        "CREATE UNIQUE INDEX idx_votes_standing ON votes (task, subject, labeller) "
        "WHERE is_superseded = 0"
    )


_TAGS = "tags (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"


def _sixth(db: Database) -> None:
    """What classifiers say of the questions."""
    db.execute(f"CREATE TABLE {_TAGS}")


_OUTLINES = (
    "outlines (ordinal INTEGER PRIMARY KEY, model_a TEXT, model_b TEXT, verdict TEXT, "
    "reason TEXT, language TEXT, ballots TEXT NOT NULL, length_a INTEGER, length_b INTEGER)"
)


def _outline(source: str, body: str) -> str:
    """Return what selects the outlines of battles; a body that is no JSON says nothing."""
    names = ("model_a", "model_b", "verdict", "reason", "language")
    said = {name: f"json_extract(body, '$.{name}')" for name in names}
    ballot = ", ".join(f"json_extract(value, '$.{name}')" for name in ("judge", "seats", "verdict"))
    said["ballots"] = (
        f"(SELECT json_group_array(json_array({ballot})) FROM json_each(body, '$.verdicts'))"
    )
    # SQLite counts up to a NUL alone; a blank in its place is as long.
    plain = "replace(body, 'u0000', 'u0020')"
    said |= {f"length_{seat}": f"length(json_extract({plain}, '$.answer_{seat}'))" for seat in "ab"}
    order = re.findall(r"(\w+) (?:TEXT|INTEGER)", _OUTLINES)[1:]
    columns = ", ".join(f"{said[name]} AS {name}" for name in order)
    whole = f"CASE WHEN json_valid({body}) THEN {body} ELSE '{{}}' END"
    return f"SELECT ordinal, {columns} FROM (SELECT s.ordinal, {whole} AS body FROM {source})"


_EACH_OUTLINE = _outline("slots s JOIN battles b ON b.id = s.id", "b.body")


def _outlines(db: Database) -> None:
    """What ratings and audits want of battles, kept by the file itself with every battle.

    Triggers, so that a row is there if and only if its battle is, whoever writes the file.
    """
    db.execute(f"CREATE TABLE {_OUTLINES}")
    db.execute(f"INSERT INTO outlines {_EACH_OUTLINE}")
    mine = "ordinal = (SELECT ordinal FROM slots WHERE id = OLD.id)"
    gone = f"DELETE FROM outlines WHERE {mine};"
    made = f"INSERT INTO outlines {_outline('slots s WHERE s.id = NEW.id', 'NEW.body')};"
    for name, when, then in (
        ("outline_made", "INSERT", made),
        ("outline_gone", "DELETE", gone),
        ("outline_changed", "UPDATE", gone + made),
    ):
        db.execute(f"CREATE TRIGGER {name} AFTER {when} ON battles BEGIN {then} END")


MIGRATIONS: tuple[Step, ...] = (_first, _second, _third, _fourth, _fifth, _sixth, _outlines)
_ADDED = {
    4: f"TABLE {_INTENTS}",
    5: f"TABLE {_VOTES}",
    6: f"TABLE {_TAGS}",
    7: f"VIEW outlines AS {_EACH_OUTLINE}",
}
"""What stands in for that which a step added to the oldest layout that is read."""
READABLE = 3
"""The oldest layout that is read as it is: all that it lacks is what `fill_in` stands in for."""


def check_is_run(connection: sqlite3.Connection, name: str) -> None:
    """Make sure that the file was made by this program; raises StoreError if not."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise StoreError(f"{name} is no run of this program; pass another --out")


def check_layout(connection: sqlite3.Connection, name: str, *, write: bool) -> None:
    """Make sure that this version may use the run; StoreTooNew or StoreError where it may not."""
    check_is_run(connection, name)
    layout, ours = _pragma(connection, "user_version"), len(MIGRATIONS)
    if layout > ours:
        known = f"{name} has layout {layout}, this version knows {ours}"
        raise StoreTooNew(f"{known}; update videoautoarena")
    if layout < (1 if write else READABLE):
        older = f"{name} has the older layout {layout}"
        raise StoreError(f"{older}; continue the run once to update it")


def fill_in(connection: sqlite3.Connection) -> bool:
    """Let queries find what an older layout lacks, and return whether it lacks anything.

    Tables are empty, since nothing of theirs was kept; outlines follow from the battles.
    """
    layout = _pragma(connection, "user_version")
    for step, lacking in _ADDED.items():
        if layout < step:
            connection.execute(f"CREATE TEMP {lacking}")
    return layout < len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] | None = None) -> None:
    """Bring the file up to the newest layout; each step is done whole or not at all."""
    steps = MIGRATIONS if steps is None else steps
    db = Database(connection, execute_plugins=False)
    for number in range(_pragma(connection, "user_version") + 1, len(steps) + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            steps[number - 1](db)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
