from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.offline.facets.table import FACETS, NEVER, SideChoice, Value
from videoautoarena.agents.offline.language.phrasing import BOOKS, book, laid_out, say
from videoautoarena.agents.offline.language.reader import hear, split_units
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tongues import clock, stretches, times
from videoautoarena.agents.offline.vision.frame_features import COLOURS

LENGTH_S = 100.0
_TENTHS = st.integers(0, 999).map(lambda n: n / 10)
_COLOUR = st.sampled_from(COLOURS)


def _values(key: str) -> st.SearchStrategy[Value]:
    facet = FACETS[key]
    if isinstance(facet, SideChoice):
        return st.sampled_from([side for side in facet.sides if side])
    if facet.type == "instant":
        instants = _TENTHS.map(lambda t: (t, t))
        return instants | st.just(NEVER) if "cut" in key else instants
    if facet.type == "stretch":
        return st.tuples(_TENTHS, _TENTHS).filter(lambda s: s[0] < s[1])
    if facet.type == "count":
        return st.integers(1, 60)
    if facet.type == "order":
        return st.permutations(["darkest", "brightest", "busiest"]).map(tuple)
    orders = st.lists(_COLOUR, min_size=2, max_size=9).filter(
        lambda named: all(a != b for a, b in pairwise(named))
    )
    return _COLOUR if facet.type == "colour" else orders.map(tuple)


THROWS = range(4)
"""So many meet every sentence that a book has for a fact."""


@pytest.mark.parametrize("key", sorted(FACETS))
@settings(max_examples=4)
@given(data=st.data())
def test_every_sentence_of_every_book_is_heard_back(key: str, data: st.DataObject) -> None:
    for name in BOOKS:
        value = data.draw(_values(key))
        for throw in THROWS:
            said = say(key, value, style=book(name), dice=Dice(throw))
            heard = hear(said, LENGTH_S, [key]).claims
            assert [c.value for c in heard if c.key == key] == [value], said


@pytest.mark.parametrize("key", sorted(FACETS))
@settings(max_examples=4)
@given(data=st.data())
def test_exact_wording_is_heard_without_knowing_the_question(key: str, data: st.DataObject) -> None:
    for name in ("plain", "brisk", "chatty"):
        value = data.draw(_values(key).filter(lambda v: v != NEVER))
        for throw in THROWS:
            said = say(key, value, style=book(name), dice=Dice(throw))
            assert [(c.key, c.value) for c in hear(said, LENGTH_S).claims] == [(key, value)], said


@pytest.mark.parametrize("name", BOOKS)
@pytest.mark.parametrize("key", sorted(FACETS))
def test_an_admission_not_to_know_claims_nothing(name: str, key: str) -> None:
    for throw in THROWS:
        said = say(key, None, style=book(name), dice=Dice(throw))
        heard = hear(said, LENGTH_S, [key])
        assert heard.claims == []
        assert heard.hedged == {0}


@pytest.mark.parametrize("form", [None, "table", "list", "json", "short"])
@pytest.mark.parametrize("lead", ["", "Here is what I saw.", "In brief:"])
def test_every_form_is_heard_alike(form: None, lead: str) -> None:
    facts = {"darkest": (12.3, 12.3), "shots": 7, "main_colour": "blue", "returns": "no"}
    rows = [
        (FACETS[key].label, say(key, value, style=book("plain"), dice=Dice(1)))
        for key, value in facts.items()
    ]
    heard = hear(laid_out(rows, form, lead=lead), LENGTH_S, list(facts))
    assert {c.key: c.value for c in heard.claims} == facts


def test_a_form_is_heard_behind_a_sentence_of_courtesy() -> None:
    rows = [("Darkest moment", "0:12.3"), ("Number of shots", "7")]
    table = "Sure! Here you go.\n\n" + laid_out(rows, "table", lead="")
    pairs = "Sure! Here you go: " + json.dumps(dict(rows))
    for text in (table, pairs, f"```json\n{json.dumps(dict(rows))}\n```"):
        claims = hear(text, LENGTH_S, ["darkest", "shots"]).claims
        assert {c.key: c.value for c in claims} == {"darkest": (12.3, 12.3), "shots": 7}


@pytest.mark.parametrize(
    ("said", "claims"),
    [
        ("No earlier scene returns.", {"returns": "no"}),
        ("It is not clear whether a scene returns.", {}),
        ("It is darkest at 0:03 and brightest at 0:09.", {"darkest": 3, "brightest": 9}),
        ("The first scene is chiefly grey.", {"open_colour": "grey"}),
        ("I have watched it with the greatest care.", {}),
        ("There are 4 cuts.", {"shots": 5}),
        ("It never cuts.", {"shots": 1}),
    ],
)
def test_what_was_once_misread_is_read_right(said: str, claims: dict[str, object]) -> None:
    heard = {c.key: c.value for c in hear(said, LENGTH_S).claims}
    assert {k: v[0] if isinstance(v, tuple) else v for k, v in heard.items()} == claims


def test_hints_are_enough_for_what_was_asked() -> None:
    said = "Shadows take over at 12 s. By 40 seconds the frame is cluttered."
    heard = hear(said, LENGTH_S, ["busiest", "darkest"])
    assert {c.key: c.value for c in heard.claims} == {"darkest": (12, 12), "busiest": (40, 40)}


def test_what_is_left_is_taken_in_the_order_asked() -> None:
    heard = hear("That would be 0:12. And then 0:40.", LENGTH_S, ["darkest", "liveliest"])
    assert {c.key: c.value for c in heard.claims} == {"darkest": (12, 12), "liveliest": (40, 40)}


def test_a_question_left_open_is_not_filled_from_what_does_not_fit() -> None:
    assert hear("That would be 0:12. And then 0:40.", LENGTH_S, ["darkest"]).claims == []


@given(st.text())
def test_no_text_whatever_breaks_the_reader(text: str) -> None:
    heard = hear(text, LENGTH_S, list(FACETS))
    assert all(0 <= claim.unit < len(heard.units) for claim in heard.claims)


def test_deep_nesting_is_only_text() -> None:
    assert split_units('{"a":' * 5000)


def test_blanks_of_any_length_are_one_blank() -> None:
    assert split_units("It  is\tdarkest" + " " * 9000 + "at 0:03.") == ["It is darkest at 0:03."]


@given(_TENTHS, st.sampled_from(["clock", "short", "long", "plain"]))
def test_a_time_is_read_as_it_was_written(time_s: float, style: str) -> None:
    assert times(f"at {clock(time_s, style=style)}.") == (time_s,)  # type: ignore[arg-type]


def test_rough_times_are_parts_of_the_whole() -> None:
    assert stretches("around the middle", 50.0) == (19.0, 31.0)
    assert stretches("between 0:04 and 0:09", 50.0) == (4.0, 9.0)
    assert stretches("who knows", 50.0) is None
