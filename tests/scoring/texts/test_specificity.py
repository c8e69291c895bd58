"""How much an answer names, by rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.scoring.texts.style import FEATURES, count_names, count_style


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The Golden Gate Bridge is shown at 0:45. A man in red walks for 12 seconds.", 3),
        ('First a chef adds 200 g of flour. Then she says "Bon appetit" to Julia Child.', 3),
        ("Something moves. It is red. It goes left, I think.", 0),
        ("On 12 March 2024 in New York, 30% agreed.", 3),
        ("She is in the Museum of Modern Art and at the Café de Flore.", 2),
        ("It begins at 9:05 pm and costs $1,200 since 1999.", 3),
        ("GPT4o has 4o in it, and 5.", 0),
    ],
)
def test_names_times_dates_and_measured_numbers_are_counted(text: str, names: int) -> None:
    assert count_names(text) == names


def test_capitals_of_the_layout_are_no_names() -> None:
    text = (
        "## Key Visual Details\n- **Main Colors**: red\n* The dog runs\n1. Then a cat\n**Where**\n"
    )
    assert count_names(text) == 0


def test_what_is_named_twice_counts_once() -> None:
    assert count_names("He meets Paul Smith at 0:10, and Paul Smith at 0:10.") == 2


def test_a_long_quotation_is_no_name() -> None:
    assert count_names('she says "what a day it is today to be out" and goes') == 0


def test_a_script_without_capitals_counts_times_numbers_and_quoted_names() -> None:
    assert count_names("视频在12秒时显示了「东京塔」") == 2


def test_specificity_stands_beside_length_and_markup() -> None:
    looks = dict(zip(FEATURES, count_style("He goes to Rome in `Java`."), strict=True))
    assert looks["specificity"] == 2


@given(st.text(max_size=200))
def test_any_text_has_some_number_of_names(text: str) -> None:
    assert 0 <= count_names(text) <= len(text)
