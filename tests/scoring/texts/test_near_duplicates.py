"""A question that nearly repeats another about its video is found, and no other one is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.scoring.texts.traits import near_duplicates, overlap, pieces_of

ASKED = "Which tools does the carpenter use, and in which order?"


@pytest.mark.parametrize(
    "again",
    [
        ASKED,
        "which tools does the carpenter use and in which order",
        "**Which tools** does the carpenter use, and in what order?",
        "So: Which tools does the carpenter use, and in which order?",
    ],
)
def test_the_same_in_other_dress_is_a_repetition(again: str) -> None:
    assert near_duplicates([ASKED, again], ["v", "v"]) == {1}


@pytest.mark.parametrize(
    "other",
    [
        "Which tools lie on the bench at the end?",
        "What would the carpenter need to make a second chair?",
        "",
    ],
)
def test_another_question_is_none(other: str) -> None:
    assert near_duplicates([ASKED, other], ["v", "v"]) == set()


def test_the_same_question_about_another_video_is_kept() -> None:
    assert near_duplicates([ASKED, ASKED], ["v", "w"]) == set()


def test_the_first_one_stays_and_all_later_ones_go() -> None:
    assert near_duplicates([ASKED, "What for?", ASKED, ASKED], ["v"] * 4) == {2, 3}


def test_scripts_without_spaces_are_compared_as_well() -> None:
    one = "木匠在视频里用了哪些工具，顺序是什么？"
    assert near_duplicates([one, one.replace("视频", "影片")], ["v", "v"]) == set()
    assert near_duplicates([one, one + "请列表"], ["v", "v"]) == {1}


@given(st.text(max_size=40), st.text(max_size=40))
def test_overlap_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    a = pieces_of(one)
    b = pieces_of(other)
    assert overlap(a, b) == overlap(b, a)
    assert 0 <= overlap(a, b) <= overlap(a, a) == 1
