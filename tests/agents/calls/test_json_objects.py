from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.calls.json_objects import DEEPEST, DoubleValue, ObjectReader

BROKEN = "{ "
"""A beginning of an object that comes to nothing, and makes the reader look more closely."""


def first(text: str) -> dict[str, Any] | None:
    return ObjectReader(text).object_at(0)


def closely(text: str) -> dict[str, Any] | None:
    reader = ObjectReader(BROKEN + text)
    assert reader.object_at(0) is None
    return reader.object_at(len(BROKEN))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [2.5, {"c": "d"}]} and more', {"a": 1, "b": [2.5, {"c": "d"}]}),
        ("{}", {}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": NaN, "b": 1e999, "c": -Infinity}', {"a": None, "b": None, "c": None}),
        ('{"a": 1, "a": 1, "b": 1, "b": 2}', {"a": 1, "b": DoubleValue("b")}),
        ('{"a": ' + "[" * DEEPEST + "]" * DEEPEST + "}", None),
    ],
)
def test_an_object_is_read_the_same_quickly_and_closely(
    text: str, value: dict[str, Any] | None
) -> None:
    assert first(text) == closely(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r'{"reason": "it\'s red", "winner": "a"}', r"""under "reason" holds \', which"""),
        (r'{"reason": "\d+ lamps", "winner": "a"}', r'under "reason" holds \d, which'),
        (r'{"reason": "C:\new\x41"}', r'under "reason" holds \x, which'),
        (r'{"reason": "\u12 lamps"}', r"holds \u12, which is no escape in JSON; \u needs four"),
        ('{"reason": "\\\x07"}', "holds a backslash before the character U+0007, which"),
        (r'{"a": {"b": [1, {"c": "\$5"}]}, "d": {"e": 1}}', r'under "c" holds \$, which'),
        (r'{"rea\son": 1}', r"the text holds \s, which"),
        (r'{"reason": "\(x\)", "other": "\q"}', r'under "reason" holds \(, which'),
    ],
)
def test_a_bad_escape_is_named_with_its_place_and_the_object_has_an_end(
    text: str, said: str
) -> None:
    for before in ("", BROKEN):
        reader = ObjectReader(before + text + ' and {"more": 1}')
        reader.object_at(0)
        if before:
            assert reader.bad_escape is None
            assert reader.object_at(len(before)) is None
        assert said in (reader.bad_escape or "")
        assert reader.at == len(before + text)
        assert reader.object_at(len(before + text) + len(" and ")) == {"more": 1}
        assert reader.bad_escape is None


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "a \\n b \\u00e9 \\/ \\"c\\" \\\\d"}',
        '{"reason": "a raw \t tab and \x01 another"}',
        r'{"reason": "it\'s ',
        r'{"reason": "it\'s" "winner": "a"}',
        "{reason: 1}",
    ],
)
def test_a_backslash_is_blamed_only_where_it_alone_is_wrong(text: str) -> None:
    reader = ObjectReader(text)
    reader.object_at(0)
    assert reader.bad_escape is None


@given(st.text('{}[]",:0123.eE+- \n/ab\\tfn', max_size=40))
def test_a_text_of_marks_is_read_the_same_quickly_and_closely(text: str) -> None:
    assert repr(first("{" + text)) == repr(closely("{" + text))
