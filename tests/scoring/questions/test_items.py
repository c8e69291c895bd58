"""What is wrong with items, and how their texts are read."""

from __future__ import annotations

import pytest

from videoautoarena.scoring.questions.items import (
    NO_OPTION,
    ChoiceItem,
    find_defects,
    lay_out,
    words,
)


def item(
    *options: str, key: int | None = 0, video: str = "", question: str = "What?"
) -> ChoiceItem:
    return ChoiceItem(question, options, key, "t", video)


@pytest.mark.parametrize(
    ("bad", "flaw"),
    [
        (item("a", "b", key=NO_OPTION), "key is no option"),
        (item("a", "b", key=2), "key is no option"),
        (item("a red car", "A red  car", "b"), "options repeat"),
        (item("e\u0301", "\u00e9"), "options repeat"),
        (item("a"), "fewer than two options"),
        (item(key=None), "fewer than two options"),
        (item(*"abcdefg"), "more than six options"),
    ],
)
def test_a_defect_is_named_with_its_item(bad: ChoiceItem, flaw: str) -> None:
    good = item("x", "y", question="Which?")
    assert find_defects([good, bad]) == ((flaw, (1,)),)


def test_items_of_two_to_six_options_with_or_without_a_key_have_none() -> None:
    assert find_defects([item("a", "b"), item(*"abcdef", key=None), item("a", "b", "c")]) == ()


def test_items_repeat_that_ask_the_same_of_one_video_or_offer_the_same() -> None:
    items = [
        item("a", "b", video="v"),
        item("c", "d", video="v", question=" what? "),
        item("b", "A", video="w", key=None),
        item("c", "d", question="Else?"),
        item("e", "f"),
    ]
    assert find_defects(items) == (
        ("video and question repeat", (0, 1)),
        ("question and options repeat", (0, 2)),
    )


def test_items_that_name_no_video_share_none() -> None:
    assert find_defects([item("a", "b"), item("c", "d")]) == ()


def test_words_are_read_in_any_script() -> None:
    assert words("The 2->1 order, twice!") == ["the", "2", "1", "order", "twice"]
    assert words("Straße ÉTÉ привет") == ["strasse", "été", "привет"]
    assert words("红色abc的车") == ["红", "色", "abc", "的", "车"]
    assert words("") == words("?!") == []


def test_items_without_a_key_are_not_laid_out_and_those_whose_key_is_no_option_come_last() -> None:
    items = [item("a", "b", key=NO_OPTION), item("c", key=0), item("d", "e", key=None),
             item("z", "y", "x", key=1)]  # fmt: skip
    layout = lay_out(items)
    assert layout.given.tolist() == [3, 0]
    assert [layout.options[row] for row in layout.key] == ["y"]
    assert layout.options == ("x", "y", "z", "a", "b")
    assert layout.place.tolist() == [2, 1, 0, 0, 1]


def test_items_that_differ_in_the_order_of_options_alone_keep_an_order() -> None:
    twins = [item("a", "b", key=0), item("b", "a", key=1)]
    one = lay_out(twins)
    other = lay_out(twins[::-1])
    assert one.place.tolist() == other.place.tolist() == [0, 1, 1, 0]
    assert one.given.tolist() == [0, 1]
    assert other.given.tolist() == [1, 0]
