"""Items of a checklist are understood again, and each answer meets those that it should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.checks import (
    Absent,
    AsksBack,
    Check,
    Denies,
    Gives,
    Names,
    Overlaps,
    Timed,
    Within,
    hear_answer,
    read_check,
    word_check,
)
from videoautoarena.agents.offline.language.phrasing import BOOKS, book, say_none, say_run
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.vision.frame_features import COLOURS

TIMES = st.integers(0, 35_999).map(lambda tenths: tenths / 10)
COLOUR = st.sampled_from(COLOURS)
CHECKS: st.SearchStrategy[Check] = st.one_of(
    st.builds(Within, st.sampled_from(tuple(FACETS)), TIMES, TIMES),
    st.builds(Gives, st.just("main_colour"), COLOUR),
    st.builds(Gives, st.just("shots"), st.integers(0, 99).map(str)),
    st.builds(Gives, st.sampled_from(("pace", "returns")), st.sampled_from(("first", "yes"))),
    st.builds(Denies, COLOUR),
    st.builds(Overlaps, TIMES, TIMES),
    st.builds(Names, st.sampled_from(("Paris", "red", "Mona Lisa"))),
    st.sampled_from((Absent(), Timed(), AsksBack())),
)


@settings(max_examples=150)
@given(check=CHECKS, seed=st.integers(0, 999))
def test_every_wording_of_an_item_is_read_as_what_was_meant(check: Check, seed: int) -> None:
    assert read_check(word_check(check, Dice(seed))) == check


def test_an_item_in_other_words_is_not_read() -> None:
    assert read_check("Does the answer speak of the video?") is None
    late = "Does the answer put the first cut between 1234:00.0 and 1235:00.0?"
    assert read_check(late) is None


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize("colour", ["red", "black", "teal"])
def test_a_stretch_of_colour_and_its_denial_are_told_apart_in_every_book(
    name: str, colour: str
) -> None:
    there: list[Check] = [Timed(), Overlaps(20.3, 30.0)]
    gone: list[Check] = [Absent(), Denies(colour)]
    elsewhere = Overlaps(20.5, 30.0)
    for seed in range(8):
        style = book(name)
        dice = Dice(seed)
        run = hear_answer(say_run(colour, (12.3, 20.3), style=style, dice=dice), [])
        none = hear_answer(say_none(colour, style=style, dice=dice), [])
        assert [run.meets(one) for one in (*there, *gone, elsewhere)] == [1, 1, 0, 0, 0]
        assert [none.meets(one) for one in (*there, *gone, elsewhere)] == [0, 0, 1, 1, 0]
        assert run.meets(Names(colour))
        assert none.meets(Names(colour))


def test_of_two_values_for_one_fact_none_counts() -> None:
    checks: list[Check] = [Within("darkest", 3, 5), Gives("main_colour", "red")]
    once = "It is darkest at 0:04.0. The main colour overall is red."
    twice = f"{once} It gets darkest around 0:09.0. Overall the dominant colour is blue."
    again = f"{once} It gets darkest around 0:04.0."
    for text, met in ((once, [1, 1]), (twice, [0, 0]), (again, [1, 1])):
        assert [hear_answer(text, checks).meets(one) for one in checks] == met, text


def test_of_two_stretches_none_overlaps_anything() -> None:
    many = "It is red from 0:01.0 to 0:02.0. It is red from 0:08.0 to 0:09.0."
    assert not hear_answer(many, []).meets(Overlaps(0.0, 10.0))


def test_one_value_is_not_taken_for_every_fact_asked_of() -> None:
    checks: list[Check] = [Within("darkest", 3, 5), Within("busiest", 3, 5)]
    heard = hear_answer("It is darkest at 0:04.0.", checks)
    assert [heard.meets(one) for one in checks] == [True, False]
