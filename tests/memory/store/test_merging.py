"""Run files put into one: every table, whole or not at all, and nothing said twice in two ways."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Slot, Video
from videoautoarena.memory.store.connection import connect, wal_of
from videoautoarena.memory.store.merging import LOCAL, OWN, TABLES, merge_files
from videoautoarena.memory.store.store import Store

SIZES = {"videos": 2, "slots": 4, "calls": 6, "sessions": 2, "lost": 2, "intents": 2, "votes": 2}


def video(name: str) -> Video:
    return Video(
        id=name * 6,
        sha256=name * 32,
        path=f"{name}.mp4",
        size_bytes=1,
        fps=10.0,
        codec="h264",
        duration_s=2.0,
        width_px=64,
        height_px=64,
    )


def source(path: Path, name: str, *, slots: int = 2) -> Path:
    """Make a run file with a row or more in each table, as SQL puts them there."""
    with Store.create(path, {"name": name}) as store:
        store.add_videos([video(name)])
        film = store.videos()[0].id
        store.add_slots(
            Slot(
                id=f"{film}-p1-r{k}",
                generation=0,
                ordinal=k,
                video=film,
                persona=1,
                round=k,
                block=k // 2,
            )
            for k in range(slots)
        )
        store.put_file("prompts/judge", "Judge.")
        store.put_file(f"{LOCAL}caps", name)
    first = f"{film}-p1-r0"
    rows: dict[str, tuple[Any, ...]] = {
        "skipped": (f'{{"path": "{name}.txt"}}',),
        "frames": (film, f'"{name}"'),
        "draws": (first, f'"{name}"'),
        "battles": (first, f'"{name}"'),
        "sessions": (1.0, 2.0),
        "lost": ("m", 1, 0.5, 10),
        "labels": (first, "ann", "{}"),
        "trials": (f"trial-{name}", "{}"),
        "samples": ("{}",),
        "intents": (f"i{name}", film, "judge", 0, 0, "m", 1, 0.1, 5, 1),
        "votes": ("battle", first, "ann", "{}", 0),
        "batches": (f"b{name}", "openai", "m", "host", 1.0, 1, "posted", "batch_1", 0),
        "batch_calls": (f"q{name}", film, "judge", 0, 0, "m", f"b{name}", 0.1, 5),
        "batch_witnesses": (f"b{name}", f"file-{name}"),
        "tags": (f"tag-{name}", "{}"),
    }
    with closing(sqlite3.connect(path)) as file:
        for table, row in rows.items():
            columns = ", ".join(TABLES[table].columns)
            marks = ", ".join("?" * len(row))
            file.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", row)
        for k in range(3):
            call = (f"{name}{k}", film, "judge", 0, k, "m", f'"{name}"')
            columns = ", ".join(TABLES["calls"].columns)
            file.execute(f"INSERT INTO calls ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", call)
        file.commit()
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(connect(path, "mode=ro")) as file:
        return file.execute(sql).fetchall()


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    return [source(tmp_path / f"{name}.sqlite", name) for name in "ab"]


def test_each_table_of_a_run_file_is_copied_with_all_its_columns(two: list[Path]) -> None:
    tables = {name for (name,) in rows(two[0], "SELECT name FROM sqlite_master WHERE type='table'")}
    assert tables == {*TABLES, *OWN}
    for name, table in TABLES.items():
        columns = {row[1] for row in rows(two[0], f"PRAGMA table_info({name})")}
        assert columns - {"place"} == set(table.columns)


def test_every_row_of_both_is_there_once_and_what_is_local_to_a_run_is_not(
    two: list[Path], tmp_path: Path
) -> None:
    target = tmp_path / "to.sqlite"
    merge_files(two, target, lambda parts: {"parts": [list(part) for part in parts]})
    for name in TABLES:
        (count,) = rows(target, f"SELECT count(*) FROM {name}")[0]
        assert count == {"files": 1}.get(name, SIZES.get(name, 2)), name
    assert rows(target, "SELECT name FROM files") == [("prompts/judge",)]
    with Store.open(target, write=False) as store:
        assert store.manifest() == {"parts": [[0, 2, 0], [2, 2, 1]]}
        assert [slot.ordinal for slot in store.slots()] == [0, 1, 2, 3]
        assert [slot.block for slot in store.slots()] == [0, 0, 1, 1]
        assert [one.id[0] for one in store.videos()] == ["a", "b"]


def test_what_a_kill_left_beside_the_target_is_no_part_of_a_merged_run(
    two: list[Path], tmp_path: Path
) -> None:
    folder = tmp_path / "to"
    folder.mkdir()
    target = folder / "run.sqlite"
    killed = source(tmp_path / "c.sqlite", "c")
    draft = target.with_name("run.sqlite.new")
    with closing(connect(killed, "mode=rw")) as file:
        # Its own triggers call what SQLite lets no file call that nobody has looked at.
        file.execute("PRAGMA trusted_schema = ON")
        file.execute("UPDATE manifest SET body = '{}'")
        file.execute("DELETE FROM calls")
        for left_over in (target, draft):
            shutil.copy(wal_of(killed), wal_of(left_over))
        shutil.copy(killed, draft)
    merge_files(two, target, lambda _: {"merged": True})
    with Store.open(target, write=False) as store:
        assert store.manifest() == {"merged": True}
        assert [one.id[0] for one in store.videos()] == ["a", "b"]
    assert rows(target, "SELECT count(*) FROM calls") == [(6,)]
    assert [path.name for path in folder.iterdir()] == ["run.sqlite"]


def test_the_disk_has_a_merged_file_before_its_name_and_the_name_before_that_is_said(
    two: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []
    sync = os.fsync
    replace = os.replace

    def fsync(file: int) -> None:
        sync(file)
        done.append(("sync", os.fstat(file).st_ino))

    def rename(old: Path, new: Path) -> None:
        replace(old, new)
        done.append(("rename", new.stat().st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", rename)
    target = tmp_path / "to.sqlite"
    merge_files(two, target, lambda _: {})
    file = target.stat().st_ino
    folder = tmp_path.stat().st_ino
    assert done == [("sync", file), ("rename", file), ("sync", folder)]


def test_a_call_that_both_hold_is_kept_once(two: list[Path], tmp_path: Path) -> None:
    with closing(sqlite3.connect(two[1])) as file:
        file.execute("UPDATE calls SET key = 'a0' WHERE key = 'b0'")
        file.commit()
    merge_files(two, tmp_path / "to.sqlite", lambda _: {})
    assert rows(tmp_path / "to.sqlite", "SELECT body FROM calls WHERE key = 'a0'") == [('"a"',)]
    assert rows(tmp_path / "to.sqlite", "SELECT count(*) FROM calls") == [(5,)]


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ("trials", "UPDATE trials SET id = 'trial-a', body = '1'", "the trial 'trial-a'"),
        ("files", "UPDATE files SET text = 'No.', digest = '' WHERE name LIKE 'p%'", "judge'"),
    ],
)
def test_two_that_say_other_things_of_one_thing_are_refused_and_leave_nothing(
    two: list[Path], tmp_path: Path, table: str, change: str, said: str
) -> None:
    assert table in TABLES
    with closing(sqlite3.connect(two[1])) as file:
        assert file.execute(change).rowcount == 1
        file.commit()
    before = [path.read_bytes() for path in two]
    with pytest.raises(StoreError, match="says other things of") as refused:
        merge_files(two, tmp_path / "to.sqlite", lambda _: {})
    assert said in str(refused.value)
    assert not list(tmp_path.glob("to*"))
    assert [path.read_bytes() for path in two] == before


def test_a_target_that_is_there_is_left_as_it_is(two: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "to.sqlite"
    target.write_text("mine")
    with pytest.raises(StoreError, match="exists already"):
        merge_files(two, target, lambda _: {})
    assert target.read_text() == "mine"


@pytest.mark.parametrize("stop", [1, 7, 20, -1])
def test_whoever_is_cut_off_leaves_no_run_and_the_next_try_is_whole(
    two: list[Path], tmp_path: Path, stop: int
) -> None:
    class CutOffError(BaseException): ...

    def cut_off(done: int, total: int) -> None:
        if done == (total if stop < 0 else stop):
            raise CutOffError

    target = tmp_path / "to.sqlite"
    with pytest.raises(CutOffError):
        merge_files(two, target, lambda _: {}, on_page=cut_off)
    assert not target.exists()
    seen: list[int] = []
    note: Callable[[int, int], None] = lambda done, _total: seen.append(done)  # noqa: E731
    merge_files(two, target, lambda _: {}, on_page=note)
    assert seen == sorted(set(seen))
    assert rows(target, "SELECT count(*) FROM slots") == [(4,)]
