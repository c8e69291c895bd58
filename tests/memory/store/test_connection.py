"""How a run's file is opened: what is waited for, and what a reader comes to see."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import RunLocked, StoreError
from videoautoarena.memory.store.connection import open_writing
from videoautoarena.memory.store.store import Store


@pytest.mark.parametrize(("fsync", "level"), [(False, 1), (True, 2)])
def test_fsync_waits_for_the_disk(path: Path, fsync: bool, level: int) -> None:
    Store.create(path, {}).close()
    with closing(open_writing(path, fsync=fsync)) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_reader_sees_what_a_process_wrote_that_has_come_and_gone(
    store: Store, path: Path
) -> None:
    store.close()
    with Store.open(path, write=False) as reading:
        assert reading.file("later") is None
        for number in range(3):
            with Store.open(path, write=True) as writing:
                writing.put_file(f"later {number}", "text " * 5000)
            assert [file.name for file in reading.files()][-1] == f"later {number}"


def test_a_run_that_vanishes_while_it_is_read_is_not_made_anew(store: Store, path: Path) -> None:
    store.close()
    with Store.open(path, write=False) as reading:
        path.unlink()
        with pytest.raises(StoreError):
            reading.manifest()
    assert not path.exists()


def test_what_is_read_of_one_moment_holds_nothing_written_meanwhile(
    store: Store, path: Path
) -> None:
    store.put_file("before", "text")
    with Store.open(path, write=False) as reading:
        with reading.of_one_moment():
            assert [file.name for file in reading.files()] == ["before"]
            store.put_file("meanwhile", "text")
            assert [file.name for file in reading.files()] == ["before"]
        assert [file.name for file in reading.files()] == ["before", "meanwhile"]


def test_a_moment_is_found_though_a_writer_came_after_the_file_was_opened(
    store: Store, path: Path
) -> None:
    store.close()
    with Store.open(path, write=False) as reading, Store.open(path, write=True) as writing:
        writing.put_file("before", "text")
        with reading.of_one_moment():
            assert [file.name for file in reading.files()] == ["before"]
            writing.put_file("meanwhile", "text")
            assert [file.name for file in reading.files()] == ["before"]


def test_an_error_within_a_moment_is_raised_as_it_was(store: Store, path: Path) -> None:
    def fail(reading: Store) -> None:
        with reading.of_one_moment():
            reading.files()
            raise ValueError("of the block")

    store.put_file("before", "text")
    with Store.open(path, write=False) as reading:
        with pytest.raises(ValueError, match="of the block"):
            fail(reading)
        store.put_file("later", "text")
        assert len(list(reading.files())) == 2


def test_a_link_to_a_run_leads_to_its_log_and_its_lock(store: Store, path: Path) -> None:
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    store.put_file("in the log", "text")
    with Store.open(link, write=False) as reading:
        assert [file.name for file in reading.files()] == ["in the log"]
        store.put_file("later", "text")
        assert [file.name for file in reading.files()] == ["in the log", "later"]
    with pytest.raises(RunLocked):
        Store.open(link, write=True)


def test_fsync_keeps_the_names_of_a_new_run_and_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    sync = os.fsync

    def noting(number: int) -> None:
        synced.append(os.fstat(number).st_ino)
        sync(number)

    monkeypatch.setattr(os, "fsync", noting)
    Store.create(tmp_path / "new" / "out" / "run.sqlite", {}, fsync=True).close()
    folders = (tmp_path, tmp_path / "new", tmp_path / "new" / "out")
    assert set(synced) == {folder.stat().st_ino for folder in folders}
