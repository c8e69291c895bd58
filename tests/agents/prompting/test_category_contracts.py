"""A yes or no is read in any dress; what is neither is unknown, and never a no."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.prompting.contracts import read_decision

YES = (
    *("yes", " Yes.", "[yes]", "**YES**", "<decision>yes</decision>", "Answer: yes", True, ["yes"]),
    *("yes, because there is no other sign", "Yes (the sign)", "yes - it asks why", "true"),
    *("yes\n", "Yes because of it", '"yes"'),
)
NO = (
    *("no", " No.", "[no]", "no, there is nothing to count", "NO", False, "<b>no</b>", "false"),
    *("decision = no", "No: it only asks when"),
)
UNKNOWN = (
    *("", "...", "yes/no", "[yes/no]", "yes or no", "no or yes", "no idea", "no clue", "none"),
    *("not sure", "not yes", "maybe", "nope", "n/a", "No, wait, yes", "no? yes", "no one", 1, 0),
    *(None, {}, [], ["yes", "no"], "I cannot say", "No, but yes", "no-show", "yes?", 0.0),
    *("yes, perhaps", "nothing", "unknown", "No way to tell", "notes", "yesterday"),
    "No - I am not sure",
)


@pytest.mark.parametrize("said", YES)
def test_a_yes_is_read_in_any_dress(said: object) -> None:
    assert read_decision(said) == "yes"


@pytest.mark.parametrize("said", NO)
def test_a_no_is_read_in_any_dress(said: object) -> None:
    assert read_decision(said) == "no"


@pytest.mark.parametrize("said", UNKNOWN)
def test_what_is_neither_is_unknown(said: object) -> None:
    assert read_decision(said) == "unknown"


@given(st.text(max_size=30).filter(lambda text: "no" not in text.lower()))
def test_no_text_without_a_no_is_one(text: str) -> None:
    assert read_decision(text) != "no" or "false" in text.lower()


@given(st.sampled_from(["yes", "no"]), st.sampled_from(["[{}]", "({})", "**{}**", " {}.", "`{}`"]))
def test_what_wraps_a_word_changes_nothing(word: str, dress: str) -> None:
    assert read_decision(dress.format(word.upper())) == word
