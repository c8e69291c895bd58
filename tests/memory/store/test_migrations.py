from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.runfiles import intent
from videoautoarena.memory.records.errors import StoreError, StoreTooNew
from videoautoarena.memory.records.records import UnansweredTries
from videoautoarena.memory.store import connection as connections
from videoautoarena.memory.store import migrations
from videoautoarena.memory.store.evidence import BattleVote
from videoautoarena.memory.store.migrations import MIGRATIONS, READABLE, migrate
from videoautoarena.memory.store.store import Store

if TYPE_CHECKING:
    from sqlite_utils import Database


def more(db: Database) -> None:
    db.create_table("notes", {"id": int, "body": str}, pk="id")


def worse(db: Database) -> None:
    db.create_table("scraps", {"id": int}, pk="id")
    db.execute("DROP TABLE battles")
    db.execute("INSERT INTO nowhere VALUES (1)")


def careless(db: Database) -> None:
    db.create_table("scraps", {"id": int}, pk="id")
    raise KeyError("a bug in a migration")


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def tables(connection: sqlite3.Connection) -> set[str]:
    from sqlite_utils import Database

    return set(Database(connection).table_names())


def layout(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def test_an_empty_file_becomes_a_run(connection: sqlite3.Connection) -> None:
    migrate(connection)
    assert layout(connection) == len(MIGRATIONS)
    assert {"manifest", "videos", "slots", "draws", "battles", "calls"} <= tables(connection)


def test_an_empty_file_is_laid_out_at_once_as_all_steps_would(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as stepped:
        migrate(stepped, MIGRATIONS)
        for question in ("SELECT type, name, tbl_name, sql FROM sqlite_master", *SIGNED):
            assert connection.execute(question).fetchall() == stepped.execute(question).fetchall()


SIGNED = ("PRAGMA application_id", "PRAGMA user_version")
LAYOUT = """\
battles: id TEXT PRIMARY KEY REFERENCES slots(id), body TEXT
calls: place INTEGER PRIMARY KEY, key TEXT NOT NULL, scope TEXT NOT NULL, role TEXT NOT NULL, \
generation INTEGER NOT NULL, ordinal INTEGER NOT NULL, model TEXT NOT NULL, body TEXT NOT NULL
draws: slot TEXT PRIMARY KEY REFERENCES slots(id), body TEXT
files: name TEXT PRIMARY KEY, digest TEXT, text TEXT
frames: video TEXT PRIMARY KEY REFERENCES videos(id), body TEXT
idx_calls_key: UNIQUE calls (key)
idx_calls_scope: calls (scope)
idx_labels_battle_labeller: UNIQUE labels (battle, labeller)
idx_skipped_body: UNIQUE skipped (body)
idx_slots_id: UNIQUE slots (id)
idx_videos_id: UNIQUE videos (id)
labels: place INTEGER PRIMARY KEY, battle TEXT NOT NULL, labeller TEXT NOT NULL, body TEXT NOT NULL
lost: place INTEGER PRIMARY KEY, model TEXT NOT NULL, tries INTEGER NOT NULL, usd REAL, \
tokens INTEGER NOT NULL
manifest: id INTEGER PRIMARY KEY, body TEXT NOT NULL
samples: place INTEGER PRIMARY KEY, body TEXT NOT NULL
sessions: place INTEGER PRIMARY KEY, began_at_s REAL NOT NULL, worked_s REAL NOT NULL
skipped: place INTEGER PRIMARY KEY, body TEXT
slots: ordinal INTEGER PRIMARY KEY, id TEXT, video TEXT REFERENCES videos(id), body TEXT
trials: id TEXT PRIMARY KEY, body TEXT NOT NULL
videos: place INTEGER PRIMARY KEY, id TEXT NOT NULL, sha256 TEXT NOT NULL, body TEXT NOT NULL
"""
"""What the first three steps make of a file, which they have done to files that are about."""


def test_steps_that_are_done_to_files_that_are_about_do_what_they_always_did(
    connection: sqlite3.Connection,
) -> None:
    migrate(connection, MIGRATIONS[:3])
    assert (layout(connection), connection.execute("PRAGMA application_id").fetchone()) == (
        3,
        (0x56414121,),
    )
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    assert "".join(sorted(f"{name}: {_told(sql)}\n" for name, sql in found)) == LAYOUT


def _told(sql: str) -> str:
    """Return what a statement says after the name of what it makes."""
    words = " ".join(sql.replace('"', "").split())
    if words.startswith("CREATE TABLE"):
        return words.partition("( ")[2].removesuffix(" )")
    unique = "UNIQUE " if "UNIQUE" in words else ""
    return unique + words.partition(" ON ")[2]


def test_the_newest_layout_is_left_alone(connection: sqlite3.Connection) -> None:
    migrate(connection)
    before = connection.execute("PRAGMA schema_version").fetchone()
    migrate(connection)
    assert connection.execute("PRAGMA schema_version").fetchone() == before


def test_only_the_missing_steps_are_taken(connection: sqlite3.Connection) -> None:
    migrate(connection, MIGRATIONS[:1])
    migrate(connection, [*MIGRATIONS[:1], more])
    assert layout(connection) == 2
    assert "notes" in tables(connection)


@pytest.mark.parametrize("step", [worse, careless])
def test_a_step_that_fails_changes_nothing(
    connection: sqlite3.Connection, path: Path, step: migrations.Step
) -> None:
    migrate(connection, MIGRATIONS[:1])
    before = path.read_bytes()
    with pytest.raises((sqlite3.Error, KeyError)):
        migrate(connection, [*MIGRATIONS[:1], step])
    assert path.read_bytes() == before
    assert layout(connection) == 1
    assert "scraps" not in tables(connection)


def test_the_steps_before_one_that_fails_are_kept(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.Error):
        migrate(connection, [*MIGRATIONS[:1], more, worse])
    assert layout(connection) == 2
    assert "notes" in tables(connection)


def become_newer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, more))


@pytest.mark.parametrize("write", [True, False])
def test_a_run_of_a_newer_version_is_refused_and_left_alone(path: Path, write: bool) -> None:
    Store.create(path, {}).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="update videoautoarena"):
        Store.open(path, write=write)
    assert path.read_bytes() == before


def begin_in_layout(path: Path, number: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:number])
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            migrate(connection)
            connection.execute("INSERT INTO manifest (id, body) VALUES (1, '{\"seed\":3}')")


def test_reading_does_not_update_an_older_run(path: Path) -> None:
    begin_in_layout(path, READABLE - 1)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="older layout"):
        Store.open(path, write=False)
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", range(READABLE, len(MIGRATIONS) + 1))
def test_a_run_of_the_version_before_is_read_as_it_is(path: Path, number: int) -> None:
    begin_in_layout(path, number)
    before = path.read_bytes()
    with Store.open(path, write=False) as store:
        assert store.manifest() == {"seed": 3}
        assert (store.journal.intents(), store.journal.lost()) == ([], UnansweredTries())
        assert store.evidence.labels() == []
    assert path.read_bytes() == before


def test_what_an_older_layout_has_is_not_hidden_by_what_it_lacks(path: Path) -> None:
    begin_in_layout(path, 4)
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "INSERT INTO intents (key, scope, role, generation, ordinal, model, attempt, tokens) "
            "VALUES ('k', 's', 'judge', 0, 0, 'm', 1, 7)"
        )
        other.commit()
    with Store.open(path, write=False) as store:
        assert [one.tokens for one in store.journal.intents()] == [7]
        assert store.evidence.votes.cast(BattleVote) == []


def test_a_reader_of_an_older_run_sees_what_comes_when_it_is_updated(path: Path) -> None:
    begin_in_layout(path, READABLE)
    with closing(sqlite3.connect(path)) as other:
        # A log beside it, as of a process that was killed.
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("UPDATE manifest SET body = '{}'")
        other.commit()
        with Store.open(path, write=False) as reading:
            assert reading.journal.intents() == []
            with Store.open(path, write=True) as store:
                asyncio.run(store.journal.intend(intent()))
                assert reading.journal.intents() == [intent()]


def test_continuing_updates_an_older_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.create(path, {"seed": 2}).close()
    become_newer(monkeypatch)
    with Store.open(path, write=True) as store:
        assert store.manifest() == {"seed": 2}
    with closing(sqlite3.connect(path)) as connection:
        assert "notes" in tables(connection)


def test_a_reader_of_an_older_run_ends_though_its_version_writes_on(path: Path) -> None:
    begin_in_layout(path, READABLE)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("UPDATE manifest SET body = '{}'")
        other.commit()
        with Store.open(path, write=False) as reading:
            # As if somebody wrote at each look.
            looks = itertools.count()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    connections, "look_at", lambda _path: ((next(looks), 0, 0), (0, 1, 0))
                )
                assert reading.manifest() == {}
