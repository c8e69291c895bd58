"""A table of slots gives back the records it was made of, and finds them by their ids."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.runfiles import slot, video
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.records.slots import NO_SLOTS, Slots
from videoautoarena.memory.store.store import Store

NAMES = ("v0", "v1", "v-p1", "00af")
TAILS = ("-p1-r0", "-p2-r0", "-p1-r11", "-p1-r0~2", "-p1-r0+1", "-p1-r0+1~3")
rows = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(TAILS),
        *(st.integers(0, 2**31 - 1) for _ in range(2)),
        *(st.integers(0, 4) for _ in range(3)),
    ),
    max_size=12,
    unique_by=lambda row: row[0] + row[1],
)


def made(found: list[tuple[Any, ...]]) -> list[Slot]:
    return [
        Slot(
            id=video + tail,
            video=video,
            ordinal=ordinal,
            block=block,
            generation=generation,
            persona=persona,
            round=round_,
        )
        for video, tail, ordinal, block, generation, persona, round_ in found
    ]


@given(rows, rows)
def test_a_table_gives_back_what_it_was_made_of(
    first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]
) -> None:
    known = {row[:2] for row in first}
    one = made(first)
    two = made([row for row in second if row[:2] not in known])
    table = Slots.of(one) + Slots.of(two)
    assert table == one + two
    assert [table[row] for row in range(len(table))] == one + two
    assert table[::-1] == (one + two)[::-1]
    assert Slots.of(table) is table
    assert [*table.ids] == [each.id for each in one + two]
    assert table.rounds.tolist() == [each.round for each in one + two]
    assert table.personas.tolist() == [each.persona for each in one + two]
    assert table.generations.tolist() == [each.generation for each in one + two]
    assert table.videos_of() == {each.video for each in one + two}


@given(rows, rows)
def test_a_slot_is_found_by_its_id_and_no_other_is(
    first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]
) -> None:
    table = Slots.of(made(first))
    others = Slots.of(made(second))
    ids = [each.id for each in table]
    for id_ in [*others.ids, "v0", "-p1-r0", "", "v9-p1-r0"]:
        assert table.find(id_) == (ids.index(id_) if id_ in ids else None)
        assert (id_ in table.ids) == (id_ in ids)
    expected = [ids.index(id_) if id_ in ids else -1 for id_ in others.ids]
    assert table.rows_like(others).tolist() == expected
    assert table.without(list(others.ids)) == [s for s in table if s.id not in {*others.ids}]


def test_ids_are_a_set_like_any_other() -> None:
    table = Slots.of([slot(0), slot(1), slot(2)])
    some = {slot(1).id, "nowhere"}
    assert table.ids & some == some & table.ids == {slot(1).id}
    assert table.ids - some == {slot(0).id, slot(2).id}
    assert table.ids | some == {*table.ids, "nowhere"}
    assert table.ids == {slot(number).id for number in range(3)}
    assert table.ids != some
    assert table.where(np.array([2])).ids < table.ids
    assert 7 not in table.ids


def test_a_slot_that_is_called_is_returned_and_a_stranger_is_a_key_error() -> None:
    assert Slots.of([slot(0), slot(1)]).called(slot(1).id) == slot(1)
    with pytest.raises(KeyError, match="nowhere"):
        NO_SLOTS.called("nowhere")


def test_a_table_equals_no_thing_of_another_kind() -> None:
    assert (NO_SLOTS == 0) is False
    assert NO_SLOTS == []
    assert Slots.of([slot(0)]) != [slot(1)]


def test_a_slot_whose_id_is_not_about_its_video_is_refused() -> None:
    with pytest.raises(StoreError, match="nowhere-p1-r0 is not about"):
        Slots.of([slot(0).model_copy(update={"id": "nowhere-p1-r0"})])
    with pytest.raises(StoreError, match="cannot be read"):
        Slots.of([slot(0).model_copy(update={"id": slot(0).video})])


def test_slots_about_a_video_are_told_from_others() -> None:
    table = Slots.of([slot(0), slot(1, of="other.mp4"), slot(2)])
    assert table.about(slot(0).video).tolist() == [True, False, True]
    assert not table.about("nowhere").any()


def test_slots_that_are_added_to_a_run_stand_behind_those_that_were_read(path: Path) -> None:
    with Store.create(path, {}) as store:
        store.add_videos([video()])
        store.add_slots([slot(0), slot(1)])
        before = store.slots()
        assert store.slots() is before
        store.add_slots([slot(2)])
        assert store.slots() == [slot(0), slot(1), slot(2)]
        assert store.count_slots() == 3


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE slots SET body = 'x'",
        "UPDATE slots SET body = json_remove(body, '$.block')",
        "UPDATE slots SET body = json_set(body, '$.round', 'first')",
        "UPDATE slots SET id = 'nowhere' WHERE ordinal = 1",
        "UPDATE slots SET body = json_set(body, '$.block', 4000000000)",
    ],
)
def test_a_slot_that_cannot_be_read_is_an_error(store: Store, path: Path, change: str) -> None:
    store.close()
    with closing(sqlite3.connect(path)) as file:
        file.execute(change)
        file.commit()
    with Store.open(path, write=False) as again, pytest.raises(StoreError, match="cannot be"):
        again.slots()
