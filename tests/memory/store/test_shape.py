"""A file that holds anything but what a run's layout makes is refused before it is asked."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.runfiles import slot
from tests.support.small_runs import put_back
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.connection import (
    connect,
    lock_of,
    open_reading,
    open_writing,
)
from videoautoarena.memory.store.merging import merge_files
from videoautoarena.memory.store.migrations import (
    MIGRATIONS,
    SHAPES,
    migrate,
    parts_of,
    shape_of,
)
from videoautoarena.memory.store.store import Store

SECRET = "'a\x1b[2J' || char(27)"


def respell(file: sqlite3.Connection, name: str, old: str, new: str) -> None:
    """Change the SQL that made a part of a file, where only SQLite itself should."""
    file.execute("PRAGMA writable_schema = ON")
    changed = file.execute(
        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?)",
        (old, new, name, old),
    )
    assert changed.rowcount == 1
    file.execute("PRAGMA writable_schema = RESET")


def as_statement(sql: str) -> Callable[[sqlite3.Connection], object]:
    return lambda file: file.executescript(sql)


def by_spelling(*how: str) -> Callable[[sqlite3.Connection], object]:
    return lambda file: respell(file, *how)


CHANGES = {
    "table 'notes'": as_statement("CREATE TABLE notes (body TEXT)"),
    "view 'votes'": as_statement("DROP TABLE votes; CREATE VIEW votes AS SELECT 1 AS body"),
    "trigger 'spy'": as_statement(
        "CREATE TRIGGER spy AFTER INSERT ON calls BEGIN DELETE FROM battles; END"
    ),
    "index 'slow'": as_statement("CREATE INDEX slow ON battles (upper(body))"),
    "table 'words'": as_statement("CREATE VIRTUAL TABLE words USING fts5(body)"),
    "another table 'skipped'": as_statement(
        "ALTER TABLE skipped ADD COLUMN more TEXT GENERATED ALWAYS AS (upper(body))"
    ),
    "another table 'draws'": by_spelling("draws", '"body" TEXT', f'"body" TEXT DEFAULT ({SECRET})'),
    "another table 'trials'": by_spelling(
        "trials", '"body" TEXT', '"body" TEXT CHECK (length(body))'
    ),
    "another table 'labels'": by_spelling("labels", "NOT NULL", '"NOT" "NULL"'),
    "another table 'samples'": by_spelling("samples", "TEXT NOT NULL", "TEXT\n    NOT NULL"),
    "another trigger 'battles_delete'": as_statement(
        "DROP TRIGGER battles_delete; CREATE TRIGGER battles_delete AFTER DELETE ON battles "
        "BEGIN DELETE FROM calls; END"
    ),
    "another index 'idx_calls_key'": as_statement(
        "DROP INDEX idx_calls_key; CREATE INDEX idx_calls_key ON calls (key)"
    ),
    "lacks the table 'tags'": as_statement("DROP TABLE tags"),
    "lacks the index 'idx_calls_scope'": as_statement("DROP INDEX idx_calls_scope"),
    "lacks the trigger 'calls_insert_ends'": as_statement("DROP TRIGGER calls_insert_ends"),
}


def change(path: Path, how: Callable[[sqlite3.Connection], object]) -> bytes:
    """Return the bytes of a run's file once it was changed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        how(file)
    return path.read_bytes()


WAYS: dict[str, Callable[[Path], object]] = {
    "reading": lambda path: Store.open(path, write=False),
    "writing": lambda path: Store.open(path, write=True),
    "the last look before writing": lambda path: open_writing(path, fsync=False),
    "merging": lambda path: merge_files(
        [path], path.with_name("to"), manifest_of=lambda _parts: {}, texts={}, on_page=print
    ),
}


@pytest.mark.parametrize("named", CHANGES)
def test_a_part_that_no_run_has_is_named_and_nothing_is_asked(
    store: Store, path: Path, named: str
) -> None:
    store.close()
    before = change(path, CHANGES[named])
    lock_of(path).unlink()
    for way in WAYS.values():
        with pytest.raises(StoreError, match=re.escape(named)) as refused:
            way(path)
        assert str(refused.value).endswith("; undo what was done to it, or use another copy")
    assert not lock_of(path).exists()
    assert path.read_bytes() == before


@pytest.mark.parametrize("layout", [1, 3, 8])
def test_an_older_layout_is_looked_at_before_it_is_updated(
    store: Store, path: Path, layout: int
) -> None:
    store.close()

    def spied_on(file: sqlite3.Connection) -> None:
        put_back(file, layout)
        file.execute("CREATE TRIGGER spy AFTER INSERT ON calls BEGIN DELETE FROM battles; END")

    before = change(path, spied_on)
    with pytest.raises(StoreError, match="holds the trigger 'spy'"):
        Store.open(path, write=True)
    assert path.read_bytes() == before
    change(path, as_statement("DROP TRIGGER spy"))
    Store.open(path, write=True).close()
    Store.open(path, write=False).close()


def older_spelling(file: sqlite3.Connection) -> None:
    """Write tables and indexes as sqlite-utils 3 did, and triggers as they first were."""
    file.execute("PRAGMA writable_schema = ON")
    for name, sql in file.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%\"%'"):
        old = re.sub(r'"(\w+)"', r"[\1]", sql).replace("REAL", "FLOAT")
        file.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (old, name))
    file.execute("UPDATE sqlite_master SET sql = replace(sql, ' LIMIT -1', '')")
    file.execute("PRAGMA writable_schema = RESET")


@pytest.mark.parametrize("layout", range(1, len(MIGRATIONS) + 1))
def test_every_layout_is_known_by_the_digest_of_what_its_steps_make(layout: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        migrate(made, MIGRATIONS[:layout])
        assert shape_of(parts_of(made)) == SHAPES[layout - 1]
        made.execute("ANALYZE")
        assert shape_of(parts_of(made)) == SHAPES[layout - 1]
        made.execute("CREATE TABLE more (id INTEGER)")
        assert shape_of(parts_of(made)) not in SHAPES
    assert len(SHAPES) == len(MIGRATIONS)


@pytest.mark.parametrize(
    "how",
    [as_statement("VACUUM"), as_statement("ANALYZE"), as_statement("REINDEX"), older_spelling],
    ids=["vacuum", "analyze", "reindex", "older"],
)
def test_what_tools_and_older_versions_leave_in_a_file_is_no_change(
    store: Store, path: Path, how: Callable[[sqlite3.Connection], object]
) -> None:
    store.close()
    change(path, how)
    with Store.open(path, write=False) as reading:
        assert len(reading.slots()) == 3
    with Store.open(path, write=True) as writing:
        writing.add_slots([slot(3)])
        assert len(writing.slots()) == 4


HUGE = "CREATE TRIGGER spy AFTER INSERT ON calls BEGIN SELECT '{}'; END"


@pytest.mark.parametrize("where", ["sql", "name", "type", "all"])
def test_a_hostile_text_in_the_schema_makes_one_short_line(
    store: Store, path: Path, where: str
) -> None:
    store.close()
    text = "x\x1b[2J" * 200_000

    def put(file: sqlite3.Connection) -> None:
        name = text if where in ("name", "all") else "spy"
        kind = text if where in ("type", "all") else "trigger"
        sql = HUGE.format(text[:900_000]) if where == "sql" else HUGE
        sql = text if where == "all" else sql.replace("spy", f'"{name}"')
        file.execute("PRAGMA writable_schema = ON")
        row = (kind, name, "calls", 0, sql)
        file.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)

    change(path, put)
    for way in WAYS.values():
        with pytest.raises(StoreError) as refused:
            way(path)
        assert len(str(refused.value)) < 600 + len(str(path))
        assert str(refused.value).isprintable()


@pytest.mark.parametrize("number", [-1, 0, 2**31 - 1, -(2**31)])
def test_a_number_of_no_layout_is_refused(store: Store, path: Path, number: int) -> None:
    store.close()
    before = change(path, lambda file: file.execute(f"PRAGMA user_version = {number}"))
    for way in WAYS.values():
        with pytest.raises(StoreError):
            way(path)
    assert path.read_bytes() == before


def test_nothing_in_a_file_may_call_what_acts_outside_of_it(store: Store, path: Path) -> None:
    store.close()
    for query in ("mode=rw", "mode=ro", "immutable=1"):
        with closing(connect(path, query)) as connection:
            for name, value in (("trusted_schema", 0), ("cell_size_check", 1)):
                assert connection.execute(f"PRAGMA {name}").fetchone() == (value,)
    with closing(open_reading(path)) as reading:
        assert reading.connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
