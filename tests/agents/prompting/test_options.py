"""A question with options is read again as it was worded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.prompting.fences import CLOSING, OfferedOptions, offered, with_options

lines = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


def test_options_stand_on_lines_of_their_own_behind_their_letters() -> None:
    assert with_options("What runs? ", ["a cat", "a\n dog"]).splitlines() == [
        "What runs?",
        "(A) a cat",
        "(B) a dog",
        CLOSING,
    ]


@given(question=lines, options=st.lists(lines, min_size=2, max_size=6))
def test_what_was_worded_is_read_again(question: str, options: list[str]) -> None:
    assert offered(with_options(question, options)) == OfferedOptions(question, tuple(options))


def test_a_question_that_holds_options_of_its_own_keeps_them() -> None:
    question = "Which is it?\n(A) a cat\n(B) a dog"
    assert offered(with_options(question, ["x", "y"])) == OfferedOptions(question, ("x", "y"))


@pytest.mark.parametrize(
    "text",
    [
        "When is the picture darkest?",
        "What runs?\n(A) a cat\n(B) a dog",
        f"What runs?\n{CLOSING}",
        f"What runs?\n(A) a cat\n{CLOSING}",
        f"What runs?\n(B) a cat\n(C) a dog\n{CLOSING}",
        f"What runs?\n(A) a cat\n(C) a dog\n{CLOSING}",
        f"(A) a cat (B) a dog\n{CLOSING}",
        "",
    ],
)
def test_any_other_text_offers_nothing(text: str) -> None:
    assert offered(text) is None
