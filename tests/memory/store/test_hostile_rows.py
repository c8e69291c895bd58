"""Rows that no run has: one line says which, and nothing of them is believed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, lineage, play, slot, video
from videoautoarena.memory.records.digests import read_body, read_json
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import (
    LONGEST_NAME,
    Battle,
    Frame,
    SkippedFile,
    VideoFrames,
)
from videoautoarena.memory.store.store import Store

DEEP = "[" * 100_000 + "]" * 100_000
HUGE = "<b>\x1b[2J" * 5_000
NAN = '{"time_s":NaN,"digest":""}'
ENDLESS = '{"time_s":1e999,"digest":""}'


def said_of(error: pytest.ExceptionInfo[StoreError]) -> str:
    """Return the one line of a refusal, once it is fit to be shown."""
    line = str(error.value)
    assert line.isprintable()
    assert len(line) < 500
    return line


@pytest.mark.parametrize(
    "body",
    [DEEP, f'{{"time_s":{DEEP}}}', "[1]", "12", '"a"', "null", "", HUGE, b"\xff{", None, NAN],
    ids=[
        "deep",
        "deeper",
        "list",
        "number",
        "text",
        "null",
        "empty",
        "huge",
        "blob",
        "none",
        "nan",
    ],
)
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(StoreError, match="a row that is no JSON") as refused:
        read_json(body)
    said_of(refused)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (ENDLESS, "time_s"),
        ('{"time_s":1' + "0" * 400 + ',"digest":""}', "time_s"),
        ('{"time_s":0,"digest":7}', "digest"),
        ('{"time_s":0,"digest":"","' + "x" * 10_000 + '\\u001b":1}', "xxx"),
    ],
)
def test_a_value_that_cannot_be_is_named_by_its_field(body: str, field: str) -> None:
    with pytest.raises(StoreError, match=f"a Frame that cannot be read \\({field}") as refused:
        read_body(Frame, body)
    said_of(refused)


def test_a_name_is_bounded_and_may_be_no_utf8() -> None:
    assert SkippedFile(path="\udc80" * LONGEST_NAME, reason="").path
    with pytest.raises(StoreError, match="path: Value error, 35,000 characters") as refused:
        read_body(SkippedFile, json.dumps({"path": HUGE, "reason": ""}))
    said_of(refused)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    film = video()
    return play(tmp_path / "out", lineage(film), videos=[film]) / "run.sqlite"


def change(path: Path, sql: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        assert file.execute(sql, values).rowcount


@pytest.mark.parametrize("path", ["../a.mp4", "a/../../b.mp4", "/etc/passwd", "a\0.mp4", ".."])
def test_a_video_outside_of_its_folder_is_refused(out: Path, path: str) -> None:
    change(out, "UPDATE videos SET body = json_set(body, '$.path', ?)", path)
    with (
        Store.open(out, write=False) as store,
        pytest.raises(StoreError, match="outside of its folder") as refused,
    ):
        store.videos()
    said_of(refused)


@pytest.mark.parametrize("where", ['{"models":["?"]}', '{"a":{"?":1}}', '{"a":[[{"b":"?"}]]}'])
def test_a_huge_name_in_the_settings_is_refused_and_never_written(out: Path, where: str) -> None:
    body = where.replace("?", json.dumps(HUGE)[1:-1])
    change(out, "UPDATE manifest SET body = ?", body)
    with Store.open(out, write=True) as store:
        with pytest.raises(StoreError, match="goes on for 35,000 characters") as refused:
            store.manifest()
        with pytest.raises(StoreError, match="shorten it to 5,000"):
            store.put_manifest(json.loads(body))
    said_of(refused)
    with pytest.raises(StoreError, match="goes on for"):
        Store.create(out.with_name("another"), json.loads(body))


@pytest.mark.parametrize("table", ["slots", "outlines"])
@pytest.mark.parametrize("ordinal", [2**31, 2**63 - 1])
def test_an_ordinal_that_no_slot_can_have_is_refused(out: Path, ordinal: int, table: str) -> None:
    change(out, f"UPDATE {table} SET ordinal = ? WHERE ordinal = 2", ordinal)
    with Store.open(out, write=False) as store:
        for read in (store.outlines, store.settled):
            with pytest.raises(StoreError, match="the run holds a") as refused:
                read()
            said_of(refused)


@pytest.mark.parametrize("ordinal", [0, 1, 2])
@pytest.mark.parametrize("now", [-1, -(2**63), 7])
def test_a_battle_whose_slot_is_gone_is_not_taken_for_another(
    out: Path, ordinal: int, now: int
) -> None:
    with Store.open(out, write=False) as store:
        kept = [one for place, one in enumerate(store.outlines()) if place != ordinal]
    change(out, "UPDATE slots SET ordinal = ? WHERE ordinal = ?", now, ordinal)
    with Store.open(out, write=False) as store:
        assert list(store.outlines()) == kept
        assert [one.id for one in store.settled()] == [one.id for one in kept]


TOLD = ('["a","b"]', "x", "", DEEP, "[]", '["a","b","a",null][7]', b"\xff", 7)
HUGE_TOLD = (
    json.dumps([HUGE, "b", "a", None]) + "[]",
    '["a","b","a",null]' + json.dumps([[HUGE, "ab", "a"]]),
)


@pytest.mark.parametrize("told", [*TOLD, *HUGE_TOLD], ids=map(str, range(10)))
def test_an_outline_that_no_battle_has_is_refused(out: Path, told: Any) -> None:
    change(out, "UPDATE outlines SET told = ?", told)
    with Store.open(out, write=False) as store:
        with pytest.raises(StoreError, match="a Battle that cannot be read in outline") as refused:
            store.outlines()
        said_of(refused)


def test_counts_that_are_none_are_no_bug(out: Path) -> None:
    film = video()
    with Store.open(out, write=True) as store:
        asyncio.run(
            store.put_frames(VideoFrames(video=film.id, width_px=1, height_px=1, frames=()))
        )
    for value in ("1e999", '"many"', "[]", "1" * 400):
        change(out, "UPDATE frames SET body = ?", f'{{"damaged":{value}}}')
        with Store.open(out, write=False) as store:
            assert all(isinstance(count, int) for count in store.damaged().values())


def test_a_battle_that_is_no_text_is_like_no_other(out: Path) -> None:
    (id_,) = (one.id for one in [battle(slot(video(), 0))])
    change(out, "UPDATE battles SET body = ? WHERE id = ?", b"\xff", id_)
    with Store.open(out, write=False) as store:
        assert store.battle_bytes(id_) == b""
        with pytest.raises(StoreError, match="no JSON"):
            store.battle(id_)


def test_names_of_a_battle_are_bounded(out: Path) -> None:
    change(out, "UPDATE battles SET body = json_set(body, '$.model_a', ?)", HUGE)
    with Store.open(out, write=False) as store:
        for read in (store.outlines, store.battles):
            with pytest.raises(StoreError, match=Battle.__name__) as refused:
                read()
            said_of(refused)
