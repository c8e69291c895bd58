"""What a user says in a dialogue is understood again, and followed back by what was said alone."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.dialogues import (
    AbsenceCheck,
    AnswerMoment,
    BoredTurn,
    Check,
    ColourDenialCheck,
    ColourRunTurn,
    CounterQuestionCheck,
    FactsTurn,
    Lead,
    NumberedMoment,
    OffTopicTurn,
    OrderedMoment,
    OverlapCheck,
    PartReference,
    Referent,
    TimedMoment,
    TimeGivenCheck,
    TimeWindowCheck,
    UserTurn,
    ValueCheck,
    WordCheck,
    elsewhere,
    hear_answer,
    read,
    read_check,
    resolve,
    word,
    word_check,
)
from videoautoarena.agents.offline.language.phrasing import (
    BOOKS,
    FactRequest,
    book,
    phrase,
    say_none,
    say_run,
    understand,
)
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.vision.frame_features import COLOURS

TIMES = st.integers(0, 35_999).map(lambda tenths: tenths / 10)
REFERENTS: st.SearchStrategy[Referent] = st.one_of(
    st.builds(NumberedMoment, st.integers(1, 7)),
    st.builds(OrderedMoment, st.sampled_from(("earlier", "later"))),
    st.builds(AnswerMoment, st.integers(1, 7)),
    st.builds(TimedMoment, TIMES),
)
PARTS = st.builds(PartReference, st.sampled_from(("after", "before")), REFERENTS)
KEYS = st.lists(st.sampled_from(tuple(FACETS)), min_size=1, max_size=4, unique=True).map(tuple)
ASKS = st.builds(FactRequest, KEYS, st.booleans(), st.sampled_from((None, "list", "table")))
FACTS = st.builds(FactsTurn, ASKS, st.none() | PARTS)
TURNS: st.SearchStrategy[UserTurn] = st.one_of(
    FACTS,
    st.builds(ColourRunTurn, st.sampled_from(COLOURS)),
    st.builds(OffTopicTurn, st.sampled_from(tuple(elsewhere()))),
    st.just(BoredTurn()),
)
SAID = [
    (
        "When is it darkest and when brightest?",
        "It is darkest at 0:31.0. The light peaks at 4.5 s.",
    ),
    ("When does the last cut fall?", "The last cut falls at 0:50.2."),
    ("Is that all?", "I cannot tell."),
]


@settings(max_examples=50)
@given(
    turn=TURNS, seed=st.integers(0, 999), lead=st.sampled_from(("start", "next", "back", "close"))
)
def test_every_wording_is_read_as_what_was_meant(turn: UserTurn, seed: int, lead: Lead) -> None:
    assert read(word(turn, Dice(seed), lead=lead)) == turn


@pytest.mark.parametrize(
    ("moment", "rounds", "at"),
    [
        (NumberedMoment(1), 1, 31.0),
        (NumberedMoment(2), 1, 4.5),
        (NumberedMoment(3), 1, None),
        (OrderedMoment("earlier"), 1, 4.5),
        (OrderedMoment("later"), 1, 31.0),
        (OrderedMoment("later"), 2, None),
        (AnswerMoment(1), 3, 31.0),
        (AnswerMoment(2), 3, 50.2),
        (AnswerMoment(3), 3, None),
        (AnswerMoment(4), 3, None),
        (NumberedMoment(1), 3, None),
        (NumberedMoment(1), 0, None),
        (TimedMoment(12.4), 0, 12.4),
    ],
)
def test_a_reference_is_followed_by_what_was_said_alone(
    moment: Referent, rounds: int, at: float | None
) -> None:
    assert resolve(PartReference("after", moment), SAID[:rounds]) == at


def test_of_the_two_that_were_named_a_third_is_none() -> None:
    said = [("What of all three?", "At 0:20.0 and at 0:30.0; all is quiet from 0:05.0 on.")]
    assert resolve(PartReference("after", OrderedMoment("earlier")), said) == 20.0
    assert resolve(PartReference("after", NumberedMoment(3)), said) == 5.0


def test_a_reference_can_be_spelled_out() -> None:
    turn = FactsTurn(FactRequest(("brightest",)), PartReference("after", NumberedMoment(2)))
    plain = turn.at(TimedMoment(4.5))
    assert "0:04.5" in word(plain, Dice(1))
    assert read(word(plain, Dice(1))) == plain


def test_a_question_of_no_such_form_asks_for_facts_or_for_nothing_known() -> None:
    assert read("When is the picture darkest?") == FactsTurn(FactRequest(("darkest",)))
    assert read("Which hat does the cook wear?") is None


@given(ask=ASKS, seed=st.integers(0, 999))
def test_a_question_by_itself_is_understood_as_ever(ask: FactRequest, seed: int) -> None:
    question = phrase(ask, Dice(seed))
    assert read(question) == FactsTurn(understand(question)) == FactsTurn(ask)


def test_words_of_an_opening_name_no_fact() -> None:
    for lead, seed in product(("start", "next", "back", "close"), range(20)):
        turn = FactsTurn(FactRequest(("main_colour",)))
        assert read(word(turn, Dice(seed), lead=lead)) == turn


TIMES_S = st.integers(0, 35_999).map(lambda tenths: tenths / 10)
COLOUR = st.sampled_from(COLOURS)
CHECKS: st.SearchStrategy[Check] = st.one_of(
    st.builds(TimeWindowCheck, st.sampled_from(tuple(FACETS)), TIMES_S, TIMES_S),
    st.builds(ValueCheck, st.just("main_colour"), COLOUR),
    st.builds(ValueCheck, st.just("shots"), st.integers(0, 99).map(str)),
    st.builds(ValueCheck, st.sampled_from(("pace", "returns")), st.sampled_from(("first", "yes"))),
    st.builds(ColourDenialCheck, COLOUR),
    st.builds(OverlapCheck, TIMES_S, TIMES_S),
    st.builds(WordCheck, st.sampled_from(("Paris", "red", "Mona Lisa"))),
    st.sampled_from((AbsenceCheck(), TimeGivenCheck(), CounterQuestionCheck())),
)


@settings(max_examples=50)
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
    there: list[Check] = [TimeGivenCheck(), OverlapCheck(20.3, 30.0)]
    gone: list[Check] = [AbsenceCheck(), ColourDenialCheck(colour)]
    elsewhere = OverlapCheck(20.5, 30.0)
    for seed in range(8):
        style = book(name)
        dice = Dice(seed)
        run = hear_answer(say_run(colour, (12.3, 20.3), style=style, dice=dice), [])
        none = hear_answer(say_none(colour, style=style, dice=dice), [])
        assert [run.meets(one) for one in (*there, *gone, elsewhere)] == [1, 1, 0, 0, 0]
        assert [none.meets(one) for one in (*there, *gone, elsewhere)] == [0, 0, 1, 1, 0]
        assert run.meets(WordCheck(colour))
        assert none.meets(WordCheck(colour))


def test_of_two_values_for_one_fact_none_counts() -> None:
    checks: list[Check] = [TimeWindowCheck("darkest", 3, 5), ValueCheck("main_colour", "red")]
    once = "It is darkest at 0:04.0. The main colour overall is red."
    twice = f"{once} It gets darkest around 0:09.0. Overall the dominant colour is blue."
    again = f"{once} It gets darkest around 0:04.0."
    for text, met in ((once, [1, 1]), (twice, [0, 0]), (again, [1, 1])):
        assert [hear_answer(text, checks).meets(one) for one in checks] == met, text


def test_of_two_stretches_none_overlaps_anything() -> None:
    many = "It is red from 0:01.0 to 0:02.0. It is red from 0:08.0 to 0:09.0."
    assert not hear_answer(many, []).meets(OverlapCheck(0.0, 10.0))


def test_one_value_is_not_taken_for_every_fact_asked_of() -> None:
    checks: list[Check] = [TimeWindowCheck("darkest", 3, 5), TimeWindowCheck("busiest", 3, 5)]
    heard = hear_answer("It is darkest at 0:04.0.", checks)
    assert [heard.meets(one) for one in checks] == [True, False]
