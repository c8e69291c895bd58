"""What a run's file keeps of its own accord, beside the bytes it follows from, so as to be counted.

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

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

TRIALS = "t*:*"
"""What fits the scopes of trials and of tags (`tag:`), and no other: ids begin with a hex digit."""
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


def keep(connection: sqlite3.Connection) -> None:
    """Let the file keep places, outlines and what was sent from now on."""
    _keep(connection, _TABLES, VIEWS, _triggers(), "")


def keep_ends(connection: sqlite3.Connection) -> None:
    """Let the file keep how calls ended and which battles hold marks from now on."""
    _keep(connection, _TABLES_OF_ENDS, VIEWS_OF_ENDS, _triggers_of_ends(), "_ends")


def _keep(
    connection: sqlite3.Connection,
    tables: Iterable[str],
    views: Mapping[str, str],
    triggers: Iterable[tuple[str, str, list[str]]],
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


def _ends(source: str, *, call: str = "c", sign: str = "") -> str:
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
        # Bounded by nothing, it is made once, and not anew for each value that is taken from it.
        f"WHERE {call}.scope NOT GLOB '{TRIALS}' LIMIT -1) "
        "WHERE json_type(body, '$.alias') = 'text' GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )


_SIGNS = ("instr(body, '<')", "instr(body, '◁')", "instr(lower(body), '[think')",
          "instr(lower(body), '[/think')")  # fmt: skip
"""What every known mark of thought begins with; what has one of them is looked at closely."""


def _marked(source: str, body: str) -> str:
    return (
        f"SELECT ordinal FROM (SELECT s.ordinal AS ordinal, {body} AS body FROM {source}) "
        f"WHERE {' OR '.join(_SIGNS)}"
    )


VIEWS_OF_ENDS = {
    "call_ends": _ends("FROM calls c"),
    "marked_battles": _marked("slots s JOIN battles b ON b.id = s.id", "b.body"),
}
"""The same for what a later layout keeps."""


def _triggers() -> Iterator[tuple[str, str, list[str]]]:
    """Yield of which table and event what is done."""
    forget = "DELETE FROM places WHERE ordinal = OLD.ordinal"
    place = _place("", "NEW")
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
        less = counted("OLD", "-")
        more = counted("NEW", "")
        yield table, "INSERT", [more]
        yield table, "DELETE", [less]
        yield table, "UPDATE", [less, more]


def _triggers_of_ends() -> Iterator[tuple[str, str, list[str]]]:
    """Yield of which table and event what is done for the ends of calls and marked battles."""

    def count(row: str, sign: str) -> str:
        return _added(_ends("", call=row, sign=sign), "call_ends", ", ".join(_END))

    yield "calls", "INSERT", [count("NEW", "")]
    yield "calls", "DELETE", [count("OLD", "-")]
    yield "calls", "UPDATE", [count("OLD", "-"), count("NEW", "")]
    gone = (
        "DELETE FROM marked_battles WHERE ordinal = (SELECT ordinal FROM slots WHERE id = OLD.id)"
    )
    made = f"INSERT INTO marked_battles {_marked('slots s WHERE s.id = NEW.id', 'NEW.body')}"
    yield "battles", "INSERT", [made]
    yield "battles", "DELETE", [gone]
    yield "battles", "UPDATE", [gone, made]


def _added(selected: str, table: str = "sent", keys: str = "alias, role, shown, frames") -> str:
    return (
        f"INSERT INTO {table} ({keys}, calls) SELECT * FROM ({selected}) WHERE true "
        f"ON CONFLICT ({keys}) DO UPDATE SET calls = calls + excluded.calls"
    )
