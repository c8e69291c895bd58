"""A run can be written anew without its gaps, and nobody would know but the disk."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import RunLocked, StoreError
from videoautoarena.memory.store.connection import compact, size_of
from videoautoarena.memory.store.store import Store

TABLES = ("manifest", "files", "videos", "slots", "draws", "battles", "calls", "sessions", "lost")


def filled(path: Path) -> Path:
    """Return a run with a large gap in it."""
    with Store.create(path, {"seed": 3}) as store:
        for number in range(120):
            store.put_file(f"text{number}", f"{number}" * 4000)
    with closing(sqlite3.connect(path)) as file:
        file.execute("DELETE FROM files WHERE name NOT LIKE 'text3_'")
        file.commit()
    return path


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as file:
        return {name: file.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}


def test_gaps_are_given_back_and_no_row_changes(path: Path) -> None:
    before = rows(filled(path))
    found = compact(path)
    assert found.after < found.before / 2
    assert found.after == size_of(path) == path.stat().st_size
    assert rows(path) == before
    with Store.open(path, write=True) as store:
        assert store.manifest() == {"seed": 3}


def test_again_it_gives_nothing_back(path: Path) -> None:
    compact(filled(path))
    again = compact(path)
    assert again.after == again.before


def test_what_is_still_in_the_log_is_kept(path: Path) -> None:
    filled(path)
    with Store.open(path, write=True) as store:
        store.put_file("late", "words")
        shutil.copy(path, path.with_name("crashed"))
        shutil.copy(f"{path}-wal", path.with_name("crashed-wal"))
    compact(path.with_name("crashed"))
    with Store.open(path.with_name("crashed"), write=False) as store:
        late = store.file("late")
        assert late is not None
        assert late.text == "words"


def test_a_run_under_way_is_refused(path: Path) -> None:
    with Store.create(path, {}), pytest.raises(RunLocked):
        compact(path)


def test_too_little_room_is_told_before_anything_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = filled(path).read_bytes()
    usage = namedtuple("usage", ["total", "used", "free"])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 90, 10))
    with pytest.raises(StoreError, match=r"has 10 bytes free.*make room"):
        compact(path)
    assert path.read_bytes() == content


def test_a_damaged_file_is_left_as_it_is(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.seek(8192 * 4)
        file.write(b"\xff" * 8192 * 3)
    content = path.read_bytes()
    with pytest.raises(StoreError):
        compact(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("made", [True, False])
def test_what_is_no_run_is_refused(path: Path, made: bool) -> None:
    if made:
        path.write_text("a diary")
    with pytest.raises(StoreError):
        compact(path)
