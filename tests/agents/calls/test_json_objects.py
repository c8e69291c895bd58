from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.calls.json_objects import DEEPEST, Reader, Twice

BROKEN = "{ "
"""A beginning of an object that comes to nothing, and makes the reader look more closely."""


def first(text: str) -> dict[str, Any] | None:
    return Reader(text).object_at(0)


def closely(text: str) -> dict[str, Any] | None:
    reader = Reader(BROKEN + text)
    assert reader.object_at(0) is None
    return reader.object_at(len(BROKEN))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [2.5, {"c": "d"}]} and more', {"a": 1, "b": [2.5, {"c": "d"}]}),
        ("{}", {}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": NaN, "b": 1e999, "c": -Infinity}', {"a": None, "b": None, "c": None}),
        ('{"a": 1, "a": 1, "b": 1, "b": 2}', {"a": 1, "b": Twice("b")}),
        ('{"a": ' + "[" * DEEPEST + "]" * DEEPEST + "}", None),
    ],
)
def test_an_object_is_read_the_same_quickly_and_closely(
    text: str, value: dict[str, Any] | None
) -> None:
    assert first(text) == closely(text) == value


@given(st.text('{}[]",:0123.eE+- \n/ab\\tfn', max_size=40))
def test_a_text_of_marks_is_read_the_same_quickly_and_closely(text: str) -> None:
    assert repr(first("{" + text)) == repr(closely("{" + text))
