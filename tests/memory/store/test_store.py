from __future__ import annotations

import asyncio
import errno
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from tests.support.runfiles import battle, call, draw, frames, slot, video
from videoautoarena.memory.records.digests import read_json
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import SkippedFile
from videoautoarena.memory.store.connection import blaming
from videoautoarena.memory.store.store import BattleEnding, Store


def listing(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_new_run_holds_its_manifest_and_nothing_else(path: Path) -> None:
    with Store.create(path, {"seed": 7, "cast": ["hawk", "owl"]}) as store:
        assert store.manifest() == {"seed": 7, "cast": ["hawk", "owl"]}
        assert store.videos() == store.skipped() == store.slots() == store.battles() == []
        assert store.settled_ids() == set()


def test_a_manifest_can_be_changed(store: Store) -> None:
    store.put_manifest({"seed": 0, "rounds": 5})
    assert store.manifest() == {"seed": 0, "rounds": 5}


def test_a_closed_run_holds_what_was_put_into_it(store: Store, path: Path) -> None:
    async def put_all() -> None:
        await store.put_frames(frames())
        await store.put_draw(draw(slot().id))
        await store.put_battle(battle(slot().id))

    asyncio.run(put_all())
    store.close()
    with Store.open(path, write=False) as again:
        assert again.videos() == [video()]
        assert again.frames(video().id) == frames()
        assert again.draw(slot().id) == draw(slot().id)
        assert again.battle(slot().id) == battle(slot().id)
        assert again.settled_ids() == {slot().id}


def test_what_is_not_there_is_none(store: Store) -> None:
    assert store.frames(video().id) is None
    assert store.draw(slot().id) is None
    assert store.battle(slot().id) is None
    assert store.battle_bytes(slot().id) is None
    assert store.file("judge.txt") is None


def test_videos_keep_the_order_in_which_they_were_added(store: Store) -> None:
    store.add_videos([video("z.mp4"), video("a.mp4")])
    store.add_videos([video("a.mp4"), video("m.mp4")])
    names = ["clip.mp4", "z.mp4", "a.mp4", "m.mp4"]
    assert [each.path for each in store.videos()] == names


def test_a_video_that_has_moved_keeps_its_first_path(store: Store) -> None:
    store.add_videos([video().model_copy(update={"path": "elsewhere.mp4"})])
    assert store.videos() == [video()]


def test_two_videos_with_one_id_are_refused(store: Store) -> None:
    other = video().model_copy(update={"sha256": video().id + "0" * 52})
    new = video("new.mp4")
    for pair in ([new, other], [new, other.model_copy(update={"id": new.id})]):
        with pytest.raises(StoreError, match="two different videos have the id"):
            store.add_videos(pair)
    assert store.videos() == [video()]


def test_what_was_settled_since_a_place_is_told_once(store: Store) -> None:
    assert store.settled_after(0) == (0, [])
    for ordinal in range(2):
        asyncio.run(store.put_battle(battle(slot(ordinal).id)))
    place, ids = store.settled_after(0)
    assert ids == [slot(0).id, slot(1).id]
    assert store.settled_after(place) == (place, [])
    assert store.last_settled() == place


def test_a_path_that_is_no_utf8_survives(store: Store) -> None:
    path = os.fsdecode(b"\xff\xfe 'quoted'.mp4")
    store.add_videos([video("b").model_copy(update={"path": path})])
    store.add_skipped([SkippedFile(path=path, reason="no video stream")])
    assert store.videos()[1].path == store.skipped()[0].path == path


def test_a_skipped_file_is_kept_once(store: Store) -> None:
    skipped = [
        SkippedFile(path="z.txt", reason="no video"),
        SkippedFile(path="a.txt", reason="empty"),
    ]
    store.add_skipped(skipped)
    store.add_skipped(skipped)
    assert store.skipped() == skipped


def test_slots_come_by_their_ordinals_and_are_kept_once(store: Store) -> None:
    store.add_slots([slot(5), slot(4), slot(0)])
    assert [each.ordinal for each in store.slots()] == [0, 1, 2, 4, 5]


def test_a_slot_that_takes_the_place_of_another_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="ordinal"):
        store.add_slots([slot(3), slot(4).model_copy(update={"ordinal": 0})])
    assert len(store.slots()) == 3


def test_a_slot_of_an_unknown_video_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.add_slots([slot(4, of="unknown.mp4")])


def test_battles_come_by_the_ordinals_of_their_slots(store: Store) -> None:
    async def settle() -> None:
        for ordinal in (2, 0, 1):
            await store.put_battle(battle(slot(ordinal).id))

    asyncio.run(settle())
    assert [each.id for each in store.battles()] == [slot(ordinal).id for ordinal in range(3)]
    assert store.verdicts() == {slot(ordinal).id: "void" for ordinal in range(3)}


def test_how_battles_ended_is_told_in_order_even_where_one_cannot_be_read(
    store: Store, path: Path
) -> None:
    store.add_videos([video()])
    slots = [slot(number) for number in range(3)]
    store.add_slots(slots)

    async def settle_all() -> None:
        for one in reversed(slots):
            await store.put_battle(battle(one.id).model_copy(update={"model_a": "hawk"}))

    asyncio.run(settle_all())
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE battles SET body = 'x' WHERE id = ?", (slots[1].id,))
        file.commit()
    assert list(store.each_ending()) == [
        BattleEnding(slots[0].id, "hawk", battle(slots[0].id).model_b, "void"),
        BattleEnding(slots[1].id, None, None, None),
        BattleEnding(slots[2].id, "hawk", battle(slots[2].id).model_b, "void"),
    ]


def test_many_battles_are_gone_through_whole_and_in_order(store: Store) -> None:
    store.add_videos([video()])
    slots = [slot(number) for number in range(300)]
    store.add_slots(slots)

    async def settle_all() -> None:
        await asyncio.gather(*(store.put_battle(battle(one.id)) for one in reversed(slots)))

    asyncio.run(settle_all())
    assert [one.id for one in store.each_battle()] == [one.id for one in slots]


def test_a_battle_is_never_overwritten(store: Store) -> None:
    asyncio.run(store.put_battle(battle(slot().id, "first")))
    asyncio.run(store.put_battle(battle(slot().id, "second")))
    assert store.battles() == [battle(slot().id, "first")]


def test_a_draw_is_never_overwritten(store: Store) -> None:
    asyncio.run(store.put_draw(draw(slot().id, "hawk")))
    asyncio.run(store.put_draw(draw(slot().id, "mole")))
    assert store.draw(slot().id) == draw(slot().id, "hawk")


def test_a_battle_without_a_slot_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        asyncio.run(store.put_battle(battle("nowhere-p1-r0")))


def test_a_battle_has_the_same_bytes_in_every_run(store: Store) -> None:
    asyncio.run(store.put_battle(battle(slot().id)))
    stored = store.battle_bytes(slot().id)
    assert stored is not None
    assert json.loads(stored)["schema"] == 1
    assert stored.startswith(b'{"aimed_at":null,"answer_a":null,')


def test_a_file_is_copied_into_the_run_once(store: Store) -> None:
    store.put_file("judge.txt", "Judge the $answer_a.")
    store.put_file("judge.txt", "changed")
    store.put_file("evolver.txt", "")
    judge = store.file("judge.txt")
    assert judge is not None
    assert judge.text == "Judge the $answer_a."
    assert [file.name for file in store.files()] == ["evolver.txt", "judge.txt"]


def test_reading_leaves_the_folder_as_it_was(store: Store, path: Path) -> None:
    store.close()
    before = listing(path.parent)
    with Store.open(path, write=False) as reading:
        assert reading.videos() == [video()]
    assert listing(path.parent) == before


def test_a_run_can_be_read_while_it_is_written(store: Store, path: Path) -> None:
    with Store.open(path, write=False) as reading:
        asyncio.run(store.journal.record(call()))
        assert reading.journal.find(call().key) == call()


def test_a_reader_sees_a_run_that_was_taken_up_after_it_had_begun(store: Store, path: Path) -> None:
    store.close()
    with Store.open(path, write=False) as reading, Store.open(path, write=True) as again:
        asyncio.run(again.put_battle(battle(slot().id)))
        assert reading.settled_ids() == {slot().id}


WRITES: list[Callable[[Store], object]] = [
    lambda store: store.put_manifest({}),
    lambda store: store.add_videos([]),
    lambda store: store.add_skipped([]),
    lambda store: store.add_slots([]),
    lambda store: store.put_file("judge.txt", ""),
    lambda store: asyncio.run(store.put_frames(frames())),
    lambda store: asyncio.run(store.put_draw(draw(slot().id))),
    lambda store: asyncio.run(store.put_battle(battle(slot().id))),
]


@pytest.mark.parametrize("write", WRITES)
def test_a_run_that_is_read_takes_no_write(
    store: Store, path: Path, write: Callable[[Store], object]
) -> None:
    with (
        Store.open(path, write=False) as reading,
        pytest.raises(StoreError, match="opened for reading"),
    ):
        write(reading)


def test_closing_twice_is_harmless(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.manifest()


def test_a_closed_run_takes_no_write(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match="has been closed"):
        asyncio.run(store.journal.record(call()))


def test_a_run_is_not_begun_over_another(store: Store, path: Path) -> None:
    store.close()
    with pytest.raises(StoreError, match="exists already"):
        Store.create(path, {"seed": 1})
    with Store.open(path, write=True) as again:
        assert again.manifest() == {"seed": 0}


def test_what_a_kill_left_of_a_beginning_is_cleared_away(path: Path) -> None:
    path.with_name("run.sqlite.new").write_bytes(b"half a file")
    path.with_name("run.sqlite-wal").write_bytes(b"the log of a file that is gone")
    with Store.create(path, {"seed": 1}) as store:
        assert store.manifest() == {"seed": 1}
    assert sorted(listing(path.parent)) == ["run.sqlite", "run.sqlite.lock"]


def test_a_run_is_not_begun_inside_a_file(path: Path) -> None:
    path.write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be made"):
        Store.create(path / "run.sqlite", {})


def test_the_folder_of_a_run_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "50% of?mode=memory#1 \udcff" / "run.sqlite"
    with Store.create(path, {"seed": 3}):
        assert path.is_file()
    with Store.open(path, write=False) as store:
        assert store.manifest() == {"seed": 3}


@pytest.mark.parametrize("write", [True, False])
def test_a_run_that_is_not_there_is_not_made(path: Path, write: bool) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        Store.open(path, write=write)
    assert listing(path.parent) == {}


STRANGERS = {"garbage": b"\x00\xff garbage " * 500, "text": b"seed = 0\n", "empty": b""}


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("content", STRANGERS.values(), ids=STRANGERS.keys())
def test_a_file_that_is_no_run_is_refused_and_left_alone(
    path: Path, content: bytes, write: bool
) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match="; pass ") as refusal:
        Store.open(path, write=write)
    assert "\n" not in str(refusal.value)
    assert listing(path.parent) == {"run.sqlite": content}


@pytest.mark.parametrize("write", [True, False])
def test_the_database_of_another_program_is_refused(path: Path, write: bool) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE battles (id TEXT)")
    connection.close()
    before = listing(path.parent)
    with pytest.raises(StoreError, match="is no run of this program"):
        Store.open(path, write=write)
    assert listing(path.parent) == before


def test_a_torn_run_is_refused_in_one_line(store: Store, path: Path) -> None:
    store.close()
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * 5000)
    with (
        pytest.raises(StoreError, match=r"run\.sqlite cannot be used") as refusal,
        Store.open(path, write=False) as reading,
    ):
        reading.manifest()
    assert "\n" not in str(refusal.value)


def test_a_run_without_its_manifest_is_refused(store: Store, path: Path) -> None:
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM manifest")
    connection.commit()
    connection.close()
    with Store.open(path, write=True) as again, pytest.raises(StoreError, match="no manifest"):
        again.manifest()


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "make room on its disk"), (errno.EACCES, "pass the folder of a run")],
)
def test_what_to_do_about_an_error_is_told_by_what_it_was(
    path: Path, number: int, remedy: str
) -> None:
    with pytest.raises(StoreError, match=remedy), blaming(path):
        raise OSError(number, "it did not work")


def test_a_file_that_somebody_keeps_to_himself_is_said_to_be_locked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("videoautoarena.memory.store.connection._LOCKED_FOR_S", 0.01)
    Store.create(path, {"seed": 0}).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("UPDATE manifest SET body = body")
        with pytest.raises(StoreError, match=r"cannot be used \(database is locked\)"):
            Store.open(path, write=False)


def test_a_run_has_pages_that_calls_fill(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA page_size").fetchone() == (8192,)


def test_a_process_that_never_closes_its_run_ends_all_the_same(path: Path) -> None:
    code = "import pathlib, sys; from videoautoarena.memory.store.store import Store; "
    code += "held = Store.create(pathlib.Path(sys.argv[1]), {})"
    done = subprocess.run([sys.executable, "-c", code, path], timeout=60)
    assert done.returncode == 0
    with Store.open(path, write=False) as store:
        assert store.manifest() == {}


def test_videos_with_damaged_frames_are_known_by_how_many(store: Store) -> None:
    asyncio.run(store.put_frames(frames()))
    assert store.damaged() == {}
    store.add_videos([video("cut.mp4")])
    asyncio.run(store.put_frames(frames("cut.mp4").model_copy(update={"damaged": 2})))
    assert store.damaged() == {video("cut.mp4").id: 2}


@pytest.mark.parametrize(
    "stray",
    [
        {"path": "../private/clip.mp4"},
        {"path": "a/../../clip.mp4"},
        {"path": "/etc/passwd"},
        {"path": ""},
        {"path": "a\0b.mp4"},
        {"id": "../x"},
        {"sha256": "../../x"},
    ],
)
def test_a_video_whose_names_lead_out_of_their_folders_is_refused(
    stray: dict[str, str], path: Path
) -> None:
    with Store.create(path, {}) as store:
        store.add_videos([video().model_copy(update=stray)])
        with pytest.raises(StoreError, match=r"use another copy"):
            store.videos()


def test_a_text_of_another_shape_than_expected_is_named(store: Store) -> None:
    shape = TypeAdapter(dict[str, int])
    assert store.file_as(shape, "counts") is None
    store.put_file("counts", '{"a": 1}')
    assert store.file_as(shape, "counts") == {"a": 1}
    for number, text in enumerate(("[]", "{", '{"a": "x"}', "")):
        store.put_file(f"counts{number}", text)
        with pytest.raises(StoreError, match=f"holds as counts{number} cannot be read"):
            store.file_as(shape, f"counts{number}")


@pytest.mark.parametrize("body", ["[]", "3", "null", "{", "[" * 100_000])
def test_a_body_that_is_no_object_is_refused(body: str) -> None:
    with pytest.raises(StoreError, match="the run holds a row"):
        read_json(body)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal", ".lock"])
@pytest.mark.parametrize("write", [True, False])
def test_a_link_beside_a_run_is_refused_and_what_it_leads_to_is_kept(
    ending: str, write: bool, store: Store, path: Path
) -> None:
    store.close()
    victim = path.with_name("mine")
    beside = path.with_name(path.name + ending)
    victim.write_text("mine alone")
    beside.unlink(missing_ok=True)
    beside.symlink_to(victim)
    with pytest.raises(StoreError, match="is a link"):
        Store.open(path, write=write)
    assert victim.read_text() == "mine alone"
