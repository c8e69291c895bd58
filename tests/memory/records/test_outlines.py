"""Battles in outline say what the battles say, whole or in part."""

from __future__ import annotations

import numpy as np

from tests.support.played import battle, slot, video
from videoautoarena.memory.records.outlines import Outlines, TextColumn, seen_in

FILMS = [video("one.mp4"), video("two.mp4")]
BATTLES = [battle(slot(FILMS[k % 2], k // 2)) for k in range(6)]


def test_an_outline_is_called_as_its_battle_is() -> None:
    for one, whole in zip(Outlines.of(BATTLES), BATTLES, strict=True):
        for name in ("id", "video", "model_a", "model_b", "verdict", "persona", "round"):
            assert getattr(one, name) == getattr(whole, name)
        assert [ballot.judge for ballot in one.verdicts] == [j.judge for j in whole.verdicts]


def test_a_part_is_what_a_list_of_them_would_give() -> None:
    every = Outlines.of(BATTLES)
    assert list(every[1:4]) == list(every)[1:4]
    assert every[-1] == list(every)[-1]
    assert list(every.where(np.array([True, False] * 3))) == list(every)[::2]
    assert [every.id(k) for k in range(6)] == list(every.ids()) == [b.id for b in BATTLES]


def test_nothing_is_an_outline_of_nothing() -> None:
    assert list(Outlines.of([])) == []
    assert Outlines.of([]).texts["verdict"].counts() == {}


def test_they_may_end_otherwise_and_the_rest_stays() -> None:
    ended = Outlines.of(BATTLES).ended(["tie"] * 6)
    assert {one.verdict for one in ended} == {"tie"}
    assert [one.id for one in ended] == [one.id for one in BATTLES]


def test_names_are_numbered_as_they_first_come_and_as_they_last_stand() -> None:
    column = TextColumn.of(["b", "a", "b", "c"]).where(np.array([True, True, True, True]))
    assert column.numbered().tolist() == [0, 1, 0, 2]
    assert column.by_last().tolist() == [2, 1, 2, 3]
    assert column.counts() == {"b": 2, "a": 1, "c": 1}


def test_who_met_stands_in_the_order_of_coming() -> None:
    a = TextColumn.of(["owl", None, "hawk"])
    b = TextColumn.of(["mole", "hawk", "wren"])
    assert seen_in(a, b) == ["owl", "mole", "hawk", "wren"]
