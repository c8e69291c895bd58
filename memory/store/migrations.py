"""The layout of a run file: numbered steps, of which only the newest may still change.

A step's number is its place in MIGRATIONS, counted from 1; the file keeps the number reached. A
file that holds anything but what the steps up to there make is refused before it is asked: a view
may stand where a table is looked for, and a trigger do what nobody wrote here.

What can be counted is kept beside the bytes that it follows from:

- `places`: a row a slot, its video, what its kind is, its block.
- `outlines`: a row a battle, who met, how it ended, who judged it how, how long the answers are.
- `sent`: of how many frames answered calls were made, by model, role and frames of the video.
- `call_ends`: how calls ended, by model, role, the provider's word, and whether a try timed out.
- `marked_battles`: a row a battle whose texts hold a sign that marks of thought are made of.

Triggers of the file write them in the statement that writes a slot, a battle, a call or frames. So
they cannot stay behind, whoever writes, merges or removes rows, and however that ends. A file of an
older layout has the same rows as views of what they follow from.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from videoautoarena.memory.records.errors import StoreError, StoreTooNew

if TYPE_CHECKING:
    from sqlite_utils import Database


TRIALS = "t*:*"
"""Pattern of the scopes of trials and tags (`trial:`, `tag:`); ids begin with a hex digit
instead."""
_OUTLINE = ("model_a", "model_b", "verdict", "language")
_TABLES = (
    "places (ordinal INTEGER PRIMARY KEY, video TEXT, kind TEXT, block INTEGER)",
    "outlines (ordinal INTEGER PRIMARY KEY, told TEXT NOT NULL, length_a INTEGER, "
    "length_b INTEGER)",
    "sent (alias TEXT, role TEXT, shown INTEGER, frames INTEGER, calls INTEGER NOT NULL, "
    "PRIMARY KEY (alias, role, shown, frames)) WITHOUT ROWID",
)
_END = ("alias", "role", "is_answered", "ending", "failure", "is_late", "is_blind")
_TABLES_OF_ENDS = (
    "call_ends (alias TEXT, role TEXT, is_answered INTEGER, ending TEXT, failure TEXT, "
    "is_late INTEGER, is_blind INTEGER, calls INTEGER NOT NULL, "
    f"PRIMARY KEY ({', '.join(_END)})) WITHOUT ROWID",
    "marked_battles (ordinal INTEGER PRIMARY KEY)",
)


def _keep(
    connection: sqlite3.Connection,
    tables: Iterable[str],
    views: Mapping[str, str],
    triggers: Iterable[Trigger],
    suffix: str,
) -> None:
    """Make tables, fill them with what is there, and let triggers write them."""
    for table in tables:
        connection.execute(f"CREATE TABLE {table}")
    for name, rows in views.items():
        connection.execute(f"INSERT INTO {name} {rows}")
    for table, event, statements in triggers:
        connection.execute(
            f"CREATE TRIGGER {table}_{event.lower()}{suffix} AFTER {event} ON {table} "
            f"BEGIN {'; '.join(statements)}; END"
        )


def _whole(body: str) -> str:
    """Return SQL for a body, or for an empty object where it is no JSON: triggers must not fail."""
    return f"CASE WHEN json_valid({body}) THEN {body} ELSE '{{}}' END"


def _place(source: str, slot: str) -> str:
    """Return SQL for the place of a slot; `kind` is the end of its id with its numbers."""
    return (
        "SELECT ordinal, video, CASE WHEN substr(id, 1, length(video)) = video "
        "THEN substr(id, length(video) + 1) END "
        "|| json_extract(body, '$.generation', '$.persona', '$.round') AS kind, "
        "json_extract(body, '$.block') AS block FROM "
        f"(SELECT {slot}.ordinal, {slot}.id, {slot}.video, {_whole(f'{slot}.body')} AS body "
        f"{source})"
    )


_EACH_PLACE = _place("FROM slots s", "s")


def _outline(source: str, body: str) -> str:
    # All of it as one text: a run has far fewer of them than battles, and readers parse each once.
    paths = ", ".join(f"'$.{name}'" for name in _OUTLINE)
    ballot = ", ".join(f"json_extract(value, '$.{name}')" for name in ("judge", "seats", "verdict"))
    ballots = f"SELECT json_group_array(json_array({ballot})) FROM json_each(body, '$.verdicts')"
    said = [f"json_extract(body, {paths}) || ({ballots}) AS told"]
    # SQLite's length() stops at a NUL, which an answer may hold; a blank counts the same.
    plain = "replace(body, 'u0000', 'u0020')"
    said += [f"length(json_extract({plain}, '$.answer_{seat}')) AS length_{seat}" for seat in "ab"]
    return (
        f"SELECT ordinal, {', '.join(said)} "
        f"FROM (SELECT s.ordinal, {_whole(body)} AS body FROM {source})"
    )


_EACH_OUTLINE = _outline("slots s JOIN battles b ON b.id = s.id", "b.body")


def _sent(source: str, *, call: str = "c", frames: str = "f", sign: str = "") -> str:
    return (
        "SELECT json_extract(body, '$.alias') AS alias, role, shown, "
        f"json_extract(body, '$.frames') AS frames, {sign}count(*) AS calls FROM "
        f"(SELECT {_whole(f'{call}.body')} AS body, {call}.role AS role, "
        f"json_array_length({_whole(f'{frames}.body')}, '$.frames') AS shown {source}) "
        "WHERE json_type(body, '$.reply') = 'text' "
        "AND json_extract(body, '$.frames') IS NOT NULL GROUP BY 1, 2, 3, 4"
    )


_EACH_SENT = _sent("FROM calls c JOIN frames f ON f.video = substr(c.scope, 1, 12)")
VIEWS = {"places": _EACH_PLACE, "outlines": _EACH_OUTLINE, "sent": _EACH_SENT}
"""The views that stand in for these tables in a file of an older layout."""


def _ends_of_calls(source: str, *, call: str = "c", sign: str = "") -> str:
    said = "json_extract(body, '$.{}')".format
    timed_out = (
        "EXISTS (SELECT 1 FROM json_each(body, '$.attempts') "
        "WHERE json_extract(value, '$.kind') = 'timeout')"
    )
    return (
        f"SELECT {said('alias')} AS alias, role, json_type(body, '$.reply') IS 'text' AS "
        f"is_answered, coalesce(lower({said('ending')}), '') AS ending, "
        f"coalesce({said('failure_kind')}, '') AS failure, {timed_out} AS is_late, "
        f"coalesce({said('frames')}, 0) = 0 AS is_blind, {sign}count(*) AS calls FROM "
        f"(SELECT {_whole(f'{call}.body')} AS body, {call}.role AS role {source} "
        # LIMIT keeps SQLite from flattening the subquery, so the body is checked once, not per
        # value.
        f"WHERE {call}.scope NOT GLOB '{TRIALS}' LIMIT -1) "
        "WHERE json_type(body, '$.alias') = 'text' GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )


_SIGNS = ("instr(body, '<')", "instr(body, '◁')", "instr(lower(body), '[think')",
          "instr(lower(body), '[/think')")  # fmt: skip
"""Beginnings of every known mark of thought, as SQL; a battle with one is looked at closely."""


def _marked(source: str, body: str) -> str:
    return (
        f"SELECT ordinal FROM (SELECT s.ordinal AS ordinal, {body} AS body FROM {source}) "
        f"WHERE {' OR '.join(_SIGNS)}"
    )


VIEWS_OF_ENDS = {
    "call_ends": _ends_of_calls("FROM calls c"),
    "marked_battles": _marked("slots s JOIN battles b ON b.id = s.id", "b.body"),
}
"""The same for the tables of layout 9."""


Trigger = tuple[str, str, list[str]]
"""A table, an event, and the statements that are then run."""


def _kept_in_step(table: str, *, gone: str, made: str) -> Iterator[Trigger]:
    """Yield triggers that keep rows in step with a table: `gone` removes, `made` makes them."""
    yield table, "INSERT", [made]
    yield table, "DELETE", [gone]
    yield table, "UPDATE", [gone, made]


def _of_battle(table: str) -> str:
    return f"DELETE FROM {table} WHERE ordinal = (SELECT ordinal FROM slots WHERE id = OLD.id)"


def _triggers() -> Iterator[Trigger]:
    """Yield the triggers of places, outlines and frames sent."""
    yield from _kept_in_step(
        "slots",
        gone="DELETE FROM places WHERE ordinal = OLD.ordinal",
        made=f"INSERT INTO places {_place('', 'NEW')}",
    )
    yield from _kept_in_step(
        "battles",
        gone=_of_battle("outlines"),
        made=f"INSERT INTO outlines {_outline('slots s WHERE s.id = NEW.id', 'NEW.body')}",
    )

    def count(row: str, sign: str) -> str:
        # A scope begins with the id of its video, 12 hex digits.
        source = f"FROM frames f WHERE f.video = substr({row}.scope, 1, 12)"
        return _added(_sent(source, call=row, sign=sign))

    def recount(row: str, sign: str) -> str:
        # Frames are usually stored before the calls about them, so few calls are counted again
        # here. `~` sorts after what else follows a video in a scope, which makes the range one of
        # the index.
        about = f"c.scope >= {row}.video AND c.scope < {row}.video || '~'"
        source = f"FROM calls c WHERE {about} AND substr(c.scope, 1, 12) = {row}.video"
        return _added(_sent(source, frames=row, sign=sign))

    yield from _kept_in_step("calls", gone=count("OLD", "-"), made=count("NEW", ""))
    yield from _kept_in_step("frames", gone=recount("OLD", "-"), made=recount("NEW", ""))


def _triggers_of_ends() -> Iterator[Trigger]:
    """Yield the triggers of the ends of calls and of battles that hold marks."""

    def count(row: str, sign: str) -> str:
        return _added(_ends_of_calls("", call=row, sign=sign), "call_ends", ", ".join(_END))

    yield from _kept_in_step("calls", gone=count("OLD", "-"), made=count("NEW", ""))
    marked = _marked("slots s WHERE s.id = NEW.id", "NEW.body")
    yield from _kept_in_step(
        "battles", gone=_of_battle("marked_battles"), made=f"INSERT INTO marked_battles {marked}"
    )


def _added(selected: str, table: str = "sent", keys: str = "alias, role, shown, frames") -> str:
    return (
        f"INSERT INTO {table} ({keys}, calls) SELECT * FROM ({selected}) WHERE true "
        f"ON CONFLICT ({keys}) DO UPDATE SET calls = calls + excluded.calls"
    )


Step = Callable[["Database"], None]

APPLICATION_ID = 0x56414121
"""Marks a SQLite file as a run ("VAA!"), so that no other program's file is ever touched."""


def _first(db: Database) -> None:
    """Make the first tables: bodies are JSON, columns are for what is searched or unique."""
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
    of_video = [("video", "videos", "id")]
    of_slot = [("slot", "slots", "id")]
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
    """Add how long processes have worked on the run, and what may have been paid for nothing."""
    sessions = {"place": int, "began_at_s": float, "worked_s": float}
    db.create_table("sessions", sessions, pk="place", not_null=set(sessions) - {"place"})
    lost = {"place": int, "model": str, "tries": int, "usd": float, "tokens": int}
    db.create_table("lost", lost, pk="place", not_null=set(lost) - {"place", "usd"})


def _third(db: Database) -> None:
    """Add what people say of battles, and judgings that decide none."""
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
    """Add tries that are about to be sent; one whose process is gone may have been paid."""
    db.execute(f"CREATE TABLE {_INTENTS}")
    db.execute("CREATE INDEX idx_intents_key ON intents (key)")


_VOTES = (
    "votes (place INTEGER PRIMARY KEY, task TEXT NOT NULL, subject TEXT NOT NULL, "
    "labeller TEXT NOT NULL, body TEXT NOT NULL, is_superseded INTEGER NOT NULL DEFAULT 0)"
)


def _fifth(db: Database) -> None:
    """Add votes of labelling sessions, of which one person has at most one standing on a thing."""
    db.execute(f"CREATE TABLE {_VOTES}")
    db.execute(
        "CREATE UNIQUE INDEX idx_votes_standing ON votes (task, subject, labeller) "
        "WHERE is_superseded = 0"
    )


_TAGS = "tags (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"


def _sixth(db: Database) -> None:
    """Add what classifiers say of the questions."""
    db.execute(f"CREATE TABLE {_TAGS}")


_CLAIMS = (
    "claims (unit TEXT PRIMARY KEY, epoch INTEGER NOT NULL, worker TEXT NOT NULL) WITHOUT ROWID"
)
_DELIVERIES = "deliveries (sender TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID"


def _clusters(db: Database) -> None:
    """Add which worker of a cluster plays what, and which of its messages came last."""
    db.execute(f"CREATE TABLE {_CLAIMS}")
    db.execute(f"CREATE TABLE {_DELIVERIES}")


def _derived(db: Database) -> None:
    """Add what ratings, audits and status want of battles and calls, kept by triggers."""
    _keep(db.conn, _TABLES, VIEWS, _triggers(), "")


def _ends(db: Database) -> None:
    """Add how calls ended, and which battles may hold marks of thought, kept by triggers."""
    _keep(db.conn, _TABLES_OF_ENDS, VIEWS_OF_ENDS, _triggers_of_ends(), "_ends")


_BATCHES = (
    "batches (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, protocol TEXT NOT NULL, "
    "model TEXT NOT NULL, endpoint TEXT NOT NULL, began_at_s FLOAT NOT NULL, "
    "calls INTEGER NOT NULL, state TEXT NOT NULL, server_id TEXT, "
    "answered INTEGER NOT NULL DEFAULT 0)"
)
_BATCH_CALLS = (
    "batch_calls (key TEXT NOT NULL UNIQUE, batch TEXT NOT NULL, scope TEXT NOT NULL, "
    "role TEXT NOT NULL, generation INTEGER NOT NULL, ordinal INTEGER NOT NULL, "
    "model TEXT NOT NULL, usd FLOAT, tokens INTEGER NOT NULL)"
)


def _batched(db: Database) -> None:
    """Add batches that were handed to a provider, and the calls that still wait in one."""
    db.execute(f"CREATE TABLE {_BATCHES}")
    db.execute(f"CREATE TABLE {_BATCH_CALLS}")
    db.execute("CREATE INDEX idx_batch_calls_batch ON batch_calls (batch)")


_WITNESSES = "batch_witnesses (batch TEXT NOT NULL UNIQUE, name TEXT NOT NULL)"


def _witnessed(db: Database) -> None:
    """Add what tells, of batches whose POST was not answered, the account that they went to."""
    db.execute(f"CREATE TABLE {_WITNESSES}")


# Runs of every layout exist: a step is only ever added, and SHAPES holds the older ones fixed.
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
    _batched,
    _witnessed,
)
_ADDED = (
    (_fourth, f"TABLE {_INTENTS}"),
    (_fifth, f"TABLE {_VOTES}"),
    (_sixth, f"TABLE {_TAGS}"),
    (_clusters, f"TABLE {_CLAIMS}"),
    (_clusters, f"TABLE {_DELIVERIES}"),
    *((_derived, f"VIEW {name} AS {rows}") for name, rows in VIEWS.items()),
    *((_ends, f"VIEW {name} AS {rows}") for name, rows in VIEWS_OF_ENDS.items()),
    (_batched, f"TABLE {_BATCHES}"),
    (_batched, f"TABLE {_BATCH_CALLS}"),
    (_witnessed, f"TABLE {_WITNESSES}"),
)
"""Each step after the oldest layout that is read, and what stands in for what it added."""
SHAPES = (
    "58b7c35360fdbf724728372ce6b0e550c20241f85f5e5c302431c53a0374afa7",
    "5a221e44f1ffd98e7491777d25106e0607a53ae5ef5546a3412de39813fe44e7",
    "7549577b5b1788c63d1045f6f605eb939aa956a6c115571a1172fd8f85603ffd",
    "9ddd4d82c47cafab2b5a050584434038c7e642cd7846a804bf834bfbd98f4866",
    "40020447017e0e9e6722162c1500ad60c51668a45c4265458f8df114222ac618",
    "b2f5a6a99f264f60ef44dcc229bf367ecc7fae6cec27831e8fbb9e538a583624",
    "283485244a1b2153dbd212476fdaa558a881c029dad36a9cc28660b0ed1f907c",
    "e078e8ce5b8cbbf64aed5776432978336e7ab32d3fdfb686a4724d94057d80d7",
    "666b4da07f59048c20a2afc1747296d0b431beb26650d6018719d994e3de4a52",
    "eee699e7a415352f431ede80c38d50f9e661686e76211c5fa52acd2e4e8f7980",
    "863419eef058e0f8823c866a4b5af3386564028c272caa524bbfb0557f8ed528",
)
"""Digests of the schema of each layout, from the first on. A file is checked against them without
making the layout, so that reading a run needs nothing that lays one out."""
READABLE = 3
"""The oldest layout that is read without an update: `fill_in` stands in for all that it lacks."""


def check_layout(connection: sqlite3.Connection, name: str, *, write: bool) -> None:
    """Raise StoreTooNew or StoreError where this version may not use the run."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise StoreError(f"{name} is no run of this program; pass another folder")
    layout = _pragma(connection, "user_version")
    ours = len(MIGRATIONS)
    if layout > ours:
        known = f"{name} has layout {layout}, this version knows {ours}"
        raise StoreTooNew(f"{known}; update videoautoarena")
    _check_shape(connection, name, layout)
    if layout < (1 if write else READABLE):
        older = f"{name} has the older layout {layout}"
        raise StoreError(f"{older}; continue the run once to update it")


class SchemaPart(NamedTuple):
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
    SchemaPart("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    SchemaPart(
        type="table",
        name="sqlite_stat4",
        table="sqlite_stat4",
        sql="CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ),
)
"""Tables that ANALYZE leaves in a file; people and tools run it, and it does no harm."""
_LONGEST_NAME = 80
_MOST_PARTS = 1000
"""Schema entries that are read at most: a file from somebody else may hold any number."""


_SOUND: dict[int, list[SchemaPart]] = {}
"""The latest schema of each layout that was found to be as it should be: most files are alike, and
to compare takes a tenth of the time."""


def _check_shape(connection: sqlite3.Connection, name: str, layout: int) -> None:
    """Raise StoreError where the file lacks part of its layout, or holds anything else."""
    parts = list(parts_of(connection))
    if _SOUND.get(layout) == parts:
        return
    if 0 < layout <= len(SHAPES) and shape_of(parts) == SHAPES[layout - 1]:
        _SOUND[layout] = parts
        return
    missing = dict(_made_by(MIGRATIONS[: max(layout, 0)]))
    # One more than a run can have is enough to find an entry that does not belong.
    for part in parts_of(connection, len(missing) + len(_STATISTICS) + 1):
        wanted = missing.pop((part.type, part.name), None)
        if wanted is None and part not in _STATISTICS:
            raise _misshapen(name, f"holds the {part}, which no run of this program has")
        if wanted is not None and part != wanted and not _is_older(part, wanted):
            raise _misshapen(name, f"has another {part} than layout {layout} has")
    for part in missing.values():
        raise _misshapen(name, f"lacks the {part} of layout {layout}")


def shape_of(parts: Iterable[SchemaPart]) -> str:
    """Return the digest of a schema without statistics, alike for each spelling of its names."""
    held = list(parts)
    for part in _STATISTICS:
        if part in held:
            held.remove(part)
    rows = sorted(ascii((*part[:3], _respelt(part.sql))) for part in held)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _misshapen(name: str, what: str) -> StoreError:
    return StoreError(f"{name} {what}; undo what was done to it, or use another copy")


@cache
def _made_by(steps: tuple[Step, ...]) -> dict[tuple[str, str], SchemaPart]:
    """Return what a file holds after these steps, by type and name."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        migrate(made, steps)
        return {part[:2]: part for part in parts_of(made)}


def parts_of(connection: sqlite3.Connection, most: int = _MOST_PARTS) -> Iterator[SchemaPart]:
    """Yield the schema entries of a file, names cut beyond the longest that a run has."""
    # The SQL needs no cut: SQLite refuses statements of over a million characters in a schema.
    names = [f"substr({column}, 1, {_LONGEST_NAME})" for column in ("type", "name", "tbl_name")]
    found = connection.execute(f"SELECT {', '.join(names)}, sql FROM sqlite_master LIMIT {most}")
    return map(SchemaPart._make, found)


def _is_older(part: SchemaPart, wanted: SchemaPart) -> bool:
    """Return whether a part is an older version's form of the wanted one.

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
    """Stand in for what an older layout lacks, in this connection alone; return whether it did.

    Tables of records are empty, since none were kept; views derive the rest from what is there.
    """
    layout = _pragma(connection, "user_version")
    for step, lacking in _ADDED:
        if layout <= MIGRATIONS.index(step):
            connection.execute(f"CREATE TEMP {lacking}")
    return layout < len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] | None = None) -> None:
    """Bring the file up to the newest layout; each step is done whole or not at all.

    An empty file is laid out in one step, within the caller's transaction where there is one, or
    else as a copy.
    The caller has checked with `check_layout` that the file holds nothing but its layout.
    """
    if not _json_is_trusted():
        connection.execute("PRAGMA trusted_schema = ON")
    reached = _pragma(connection, "user_version")
    if steps is None:
        steps = MIGRATIONS
        if reached == 0:
            _make_newest(connection)
            return
    if reached >= len(steps):
        return
    # Imported here: it takes a third of a command's start, and loads pandas where installed.
    from sqlite_utils import Database

    # Plugins of sqlite-utils may come from any installed package; none belongs in a run's file.
    db = Database(connection, execute_plugins=False)
    for number in range(reached + 1, len(steps) + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # The number goes into the step's own transaction: a kill leaves both or neither.
            steps[number - 1](db)
            _sign(connection, number)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _make_newest(connection: sqlite3.Connection) -> None:
    """Lay out an empty file as all steps do, which take twenty times as long one by one."""
    if not connection.in_transaction:
        with _COPYING:
            _laid_out(MIGRATIONS, _pragma(connection, "page_size")).backup(connection)
    else:
        _execute(MIGRATIONS, connection)


def _execute(steps: tuple[Step, ...], connection: sqlite3.Connection) -> None:
    for part in _made_by(steps).values():
        # Indexes of keys have no statement of their own.
        if part.sql is not None:
            connection.execute(part.sql)
    _sign(connection, len(steps))


_COPYING = Lock()
"""Held by the thread that copies a layout, since all copy the same."""


@cache
def _laid_out(steps: tuple[Step, ...], page_bytes: int) -> sqlite3.Connection:
    """Return an empty run in memory: to copy it takes half as long as its statements do."""
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    made.execute(f"PRAGMA page_size = {page_bytes}")
    made.execute("BEGIN")
    _execute(steps, made)
    made.execute("COMMIT")
    return made


def _sign(connection: sqlite3.Connection, layout: int) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {layout}")


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
