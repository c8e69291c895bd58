"""A record as JSON: its fields in their order, and what stands there in place of some."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from videoautoarena.memory.records.records import SkippedFile
from videoautoarena.runs.formats.record_json import (
    LEFT_OUT,
    SPREAD,
    fields_json,
    keyed,
    record_json,
    value_json,
)


class Pair(NamedTuple):
    a: int
    b: float


@dataclass(frozen=True)
class Whole:
    first: int
    pair: Pair | None = field(default=None, metadata=SPREAD)
    asked: int | None = field(default=None, metadata=LEFT_OUT)
    weight: float = field(default=1.0, metadata=keyed("lambda"))


@dataclass(frozen=True)
class Known:
    SHOWN: ClassVar = ("twice", "number")
    number: int
    path: Path

    @property
    def twice(self) -> int:
        return 2 * self.number


def test_what_nobody_asked_for_is_left_out_and_nothing_is_spread_of_none() -> None:
    assert list(fields_json(Whole(1)).items()) == [("first", 1), ("lambda", 1.0)]


def test_fields_of_a_field_stand_in_its_place() -> None:
    assert list(fields_json(Whole(1, Pair(2, 3.0), asked=0)))[:4] == ["first", "a", "b", "asked"]


def test_a_class_that_holds_more_says_what_is_shown_in_which_order() -> None:
    found = record_json(Known(2, Path("x")))
    assert list(found.items()) == [("schema", 1), ("twice", 4), ("number", 2)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (math.inf, None),
        (Path("a") / "b", "a/b"),
        ({"x": (Pair(1, 2.0),)}, {"x": [{"a": 1, "b": 2.0}]}),
        (SkippedFile(path="a", reason="b"), {"path": "a", "reason": "b"}),
        ("text", "text"),
    ],
)
def test_a_value_is_as_json_has_it(value: Any, expected: Any) -> None:
    assert value_json(value) == expected
