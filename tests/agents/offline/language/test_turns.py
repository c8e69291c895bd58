"""What a user says in a dialogue is understood again, and followed back by what was said alone."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import Ask, phrase, understand
from videoautoarena.agents.offline.language.turns import (
    At,
    Beside,
    Bored,
    ColourRun,
    Elsewhere,
    Facts,
    InAnswer,
    Lead,
    Named,
    OfFacet,
    Ordered,
    Referent,
    UserTurn,
    elsewhere,
    read,
    resolve,
    word,
)
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.vision.frame_features import COLOURS

TIMES = st.integers(0, 35_999).map(lambda tenths: tenths / 10)
REFERENTS: st.SearchStrategy[Referent] = st.one_of(
    st.builds(Named, st.integers(1, 7)),
    st.builds(Ordered, st.sampled_from(("earlier", "later"))),
    st.builds(InAnswer, st.integers(1, 7)),
    st.builds(At, TIMES),
    st.builds(OfFacet, st.sampled_from(tuple(FACETS))),
)
PARTS = st.builds(Beside, st.sampled_from(("after", "before")), REFERENTS)
KEYS = st.lists(st.sampled_from(tuple(FACETS)), min_size=1, max_size=4, unique=True).map(tuple)
ASKS = st.builds(Ask, KEYS, st.booleans(), st.sampled_from((None, "list", "table")))
FACTS = st.builds(Facts, ASKS, st.none() | PARTS)
TURNS: st.SearchStrategy[UserTurn] = st.one_of(
    FACTS,
    st.builds(ColourRun, st.sampled_from(COLOURS)),
    st.builds(Elsewhere, st.sampled_from(tuple(elsewhere()))),
    st.just(Bored()),
)
SAID = [
    (
        "When is it darkest and when brightest?",
        "It is darkest at 0:31.0. The light peaks at 4.5 s.",
    ),
    ("When does the last cut fall?", "The last cut falls at 0:50.2."),
    ("Is that all?", "I cannot tell."),
]


@settings(max_examples=150)
@given(
    turn=TURNS, seed=st.integers(0, 999), lead=st.sampled_from(("start", "next", "back", "close"))
)
def test_every_wording_is_read_as_what_was_meant(turn: UserTurn, seed: int, lead: Lead) -> None:
    assert read(word(turn, Dice(seed), lead=lead)) == turn


@pytest.mark.parametrize(
    ("moment", "rounds", "at"),
    [
        (Named(1), 1, 31.0),
        (Named(2), 1, 4.5),
        (Named(3), 1, None),
        (Ordered("earlier"), 1, 4.5),
        (Ordered("later"), 1, 31.0),
        (Ordered("later"), 2, None),
        (InAnswer(1), 3, 31.0),
        (InAnswer(2), 3, 50.2),
        (InAnswer(3), 3, None),
        (InAnswer(4), 3, None),
        (Named(1), 3, None),
        (Named(1), 0, None),
        (At(12.4), 0, 12.4),
        (OfFacet("darkest"), 1, None),
    ],
)
def test_a_reference_is_followed_by_what_was_said_alone(
    moment: Referent, rounds: int, at: float | None
) -> None:
    assert resolve(Beside("after", moment), SAID[:rounds]) == at


def test_of_the_two_that_were_named_a_third_is_none() -> None:
    said = [("What of all three?", "At 0:20.0 and at 0:30.0; all is quiet from 0:05.0 on.")]
    assert resolve(Beside("after", Ordered("earlier")), said) == 20.0
    assert resolve(Beside("after", Named(3)), said) == 5.0


def test_a_reference_can_be_spelled_out() -> None:
    turn = Facts(Ask(("brightest",)), Beside("after", Named(2)))
    plain = turn.at(At(4.5))
    assert turn.is_reference
    assert not plain.is_reference
    assert "0:04.5" in word(plain, Dice(1))
    assert read(word(plain, Dice(1))) == plain


def test_a_question_of_no_such_form_asks_for_facts_or_for_nothing_known() -> None:
    assert read("When is the picture darkest?") == Facts(Ask(("darkest",)))
    assert read("Which hat does the cook wear?") is None


@given(ask=ASKS, seed=st.integers(0, 999))
def test_a_question_by_itself_is_understood_as_ever(ask: Ask, seed: int) -> None:
    question = phrase(ask, Dice(seed))
    assert read(question) == Facts(understand(question)) == Facts(ask)


def test_words_of_an_opening_name_no_fact() -> None:
    for lead, seed in product(("start", "next", "back", "close"), range(20)):
        turn = Facts(Ask(("main_colour",)))
        assert read(word(turn, Dice(seed), lead=lead)) == turn
