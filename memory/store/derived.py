"""What a run's file keeps of its own accord, beside the bytes it follows from, so as to be counted.

- `places`: a row a slot, its video, what its kind is, its block.
- `outlines`: a row a battle, who met, how it ended, who judged it how, how long the answers are.
- `sent`: of how many frames answered calls were made, by model, role and frames of the video.

Triggers of the file write them in the statement that writes a slot, a battle, a call or frames. So
they cannot stay behind, whoever writes, merges or removes rows, and however that ends. A file of an
older layout has the same rows as views of what they follow from.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

_OUTLINE = ("model_a", "model_b", "verdict", "language")
_TABLES = (
    "places (ordinal INTEGER PRIMARY KEY, video TEXT, kind TEXT, block INTEGER)",
    "outlines (ordinal INTEGER PRIMARY KEY, told TEXT NOT NULL, length_a INTEGER, "
    "length_b INTEGER)",
    "sent (alias TEXT, role TEXT, shown INTEGER, frames INTEGER, calls INTEGER NOT NULL, "
    "PRIMARY KEY (alias, role, shown, frames)) WITHOUT ROWID",
)


def keep(connection: sqlite3.Connection) -> None:
    """Make the tables, fill them with what is there, and let the file keep them from now on."""
    for table in _TABLES:
        connection.execute(f"CREATE TABLE {table}")
    for name, rows in VIEWS.items():
        connection.execute(f"INSERT INTO {name} {rows}")
    for table, event, statements in _triggers():
        connection.execute(
            f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} "
            f"BEGIN {'; '.join(statements)}; END"
        )


def _whole(body: str) -> str:
    """A body; one that is no JSON says nothing."""
    return f"CASE WHEN json_valid({body}) THEN {body} ELSE '{{}}' END"


def _place(source: str, slot: str) -> str:
    """What slots about different videos have in common is a text: the id's end and numbers."""
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
    # One text, of which a run has far fewer than battles: who reads them looks each up once.
    paths = ", ".join(f"'$.{name}'" for name in _OUTLINE)
    ballot = ", ".join(f"json_extract(value, '$.{name}')" for name in ("judge", "seats", "verdict"))
    ballots = f"SELECT json_group_array(json_array({ballot})) FROM json_each(body, '$.verdicts')"
    said = [f"json_extract(body, {paths}) || ({ballots}) AS told"]
    # SQLite counts up to a NUL alone; a blank in its place is as long.
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
"""What stands in for each table where a file has none."""


def _triggers() -> Iterator[tuple[str, str, list[str]]]:
    """Yield of which table and event what is done."""
    forget, place = "DELETE FROM places WHERE ordinal = OLD.ordinal", _place("", "NEW")
    yield "slots", "INSERT", [f"INSERT INTO places {place}"]
    yield "slots", "DELETE", [forget]
    yield "slots", "UPDATE", [forget, f"INSERT INTO places {place}"]
    gone = "DELETE FROM outlines WHERE ordinal = (SELECT ordinal FROM slots WHERE id = OLD.id)"
    made = f"INSERT INTO outlines {_outline('slots s WHERE s.id = NEW.id', 'NEW.body')}"
    yield "battles", "INSERT", [made]
    yield "battles", "DELETE", [gone]
    yield "battles", "UPDATE", [gone, made]

    def count(row: str, sign: str) -> str:
        source = f"FROM frames f WHERE f.video = substr({row}.scope, 1, 12)"
        return _added(_sent(source, call=row, sign=sign))

    def recount(row: str, sign: str) -> str:
        # Calls about a video stand behind its frames; where not, few are about one video.
        about = f"c.scope >= {row}.video AND c.scope < {row}.video || '~'"
        source = f"FROM calls c WHERE {about} AND substr(c.scope, 1, 12) = {row}.video"
        return _added(_sent(source, frames=row, sign=sign))

    for table, counted in (("calls", count), ("frames", recount)):
        less, more = counted("OLD", "-"), counted("NEW", "")
        yield table, "INSERT", [more]
        yield table, "DELETE", [less]
        yield table, "UPDATE", [less, more]


def _added(selected: str) -> str:
    keys = "alias, role, shown, frames"
    return (
        f"INSERT INTO sent ({keys}, calls) SELECT * FROM ({selected}) WHERE true "
        f"ON CONFLICT ({keys}) DO UPDATE SET calls = calls + excluded.calls"
    )
