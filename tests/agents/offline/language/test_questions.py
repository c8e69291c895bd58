from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import FactRequest, phrase, understand
from videoautoarena.agents.offline.language.tables import Dice

_ASKS = st.builds(
    FactRequest,
    keys=st.lists(st.sampled_from(sorted(FACETS)), min_size=1, max_size=5, unique=True).map(tuple),
    fine=st.booleans(),
    form=st.sampled_from([None, "table", "list", "json", "short"]),
)


@given(_ASKS, st.integers())
def test_every_question_we_can_phrase_is_understood_back(ask: FactRequest, throw: int) -> None:
    assert understand(phrase(ask, Dice(throw))) == ask


def test_a_question_on_nothing_we_know_asks_for_nothing_in_particular() -> None:
    ask = understand("Who wins the race, and what does she say to her brother?")
    assert ask.keys == ()
    assert len(ask.answered) == 4


def test_a_question_in_other_words_is_understood_too() -> None:
    ask = understand("How many cuts are there, and when is the brightest moment? Be precise.")
    assert ask.keys == ("shots", "brightest")
    assert ask.fine
