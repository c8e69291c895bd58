"""Each language is told from its words, and what is written in it is read again as it was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.offline.facets.table import FACETS, NEVER, SideChoice, Value
from videoautoarena.agents.offline.language.phrasing import (
    BOOKS,
    FactRequest,
    book,
    laid_out,
    phrase,
    say,
    understand,
)
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import Dice, wording
from videoautoarena.agents.offline.language.tongues import (
    CODES,
    clock,
    leading,
    spoken,
    times,
    told,
    tongue,
)
from videoautoarena.agents.offline.players.viewers import profiles
from videoautoarena.agents.offline.vision.frame_features import COLOURS

LENGTH_S = 100.0
OTHERS = CODES[1:]


def values(key: str) -> list[Value]:
    """Return every value of few, and some of many."""
    facet = FACETS[key]
    if isinstance(facet, SideChoice):
        return [side for side in facet.sides if side]
    return {
        "instant": [(0.0, 0.0), (12.3, 12.3), (75.0, 75.0), *[NEVER] * ("cut" in key)],
        "stretch": [(0.2, 4.5), (61.0, 70.3)],
        "count": [1, 2, 7, 20, 33],
        "order": list(permutations(("darkest", "brightest", "busiest"))),
        "colour": list(COLOURS),
        "colours": [COLOURS[:2], COLOURS[2:5], COLOURS[3:], ("red", "blue", "red")],
    }[facet.type]  # type: ignore[return-value]


def said(code: str, key: str, value: Value | None) -> Iterator[tuple[str, str]]:
    """Yield each sentence of each book of a language, and the name of the book."""
    for name in BOOKS:
        throws = (say(key, value, style=book(name, code), dice=Dice(n)) for n in range(12))
        yield from ((name, sentence) for sentence in dict.fromkeys(throws))


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("key", FACETS)
def test_every_sentence_is_heard_back_and_told_to_be_in_its_language(code: str, key: str) -> None:
    for value in values(key):
        for name, sentence in said(code, key, value):
            heard = hear(sentence, LENGTH_S, [key])
            assert [c.value for c in heard.claims if c.key == key] == [value], sentence
            assert heard.tongue is tongue(code), sentence
            # the last book is written for who knows the question, as is that of English
            if value != NEVER and name != "report":
                exact = [(c.key, c.value) for c in hear(sentence, LENGTH_S).claims]
                assert exact == [(key, value)], sentence


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("key", FACETS)
def test_an_admission_not_to_know_claims_nothing_in_any_language(code: str, key: str) -> None:
    for _, sentence in said(code, key, None):
        heard = hear(sentence, LENGTH_S, [key])
        assert (heard.claims, heard.hedged) == ([], {0}), sentence


ASKS = st.builds(
    FactRequest,
    keys=st.lists(st.sampled_from(sorted(FACETS)), min_size=1, max_size=5, unique=True).map(tuple),
    fine=st.booleans(),
    form=st.sampled_from([None, "table", "list", "json", "short"]),
    code=st.sampled_from(OTHERS),
)


@settings(max_examples=40)
@given(ASKS, st.integers())
def test_every_question_is_understood_back_in_its_language(ask: FactRequest, throw: int) -> None:
    assert understand(phrase(ask, Dice(throw))) == ask


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("form", [None, "table", "list", "json", "short"])
def test_every_form_is_heard_alike_in_any_language(code: str, form: None) -> None:
    facts = {
        key: values(key)[-1] for key in ("darkest", "shots", "main_colour", "returns", "still")
    }
    for name in BOOKS:
        style = book(name, code)
        words = tongue(code)
        rows = [
            (words.label(key, FACETS[key].label), say(key, value, style=style, dice=Dice(1)))
            for key, value in facts.items()
        ]
        text = laid_out(rows, form, lead=style.leads[0], tongue=words)
        heard = hear(text, LENGTH_S, list(facts))
        assert {claim.key: claim.value for claim in heard.claims} == facts, text


@pytest.mark.parametrize("code", OTHERS)
def test_what_is_said_from_habit_speaks_of_its_facet_alone(code: str) -> None:
    habits = wording("players", "priors", code)
    for key in FACETS:
        assert [claim.key for claim in hear(habits[key], LENGTH_S).claims] == [key]
        assert not re.search(r"\d", habits[key])


@pytest.mark.parametrize("code", OTHERS)
def test_the_users_of_each_language_are_the_same_and_known_by_their_words(code: str) -> None:
    known = [profile for each in CODES for profile in profiles(each)]
    assert [p.taste for p in profiles(code)] == [p.taste for p in profiles()]
    for profile in known:
        assert [p for p in known if p.stem in profile.text.lower()] == [profile]


def test_every_language_has_the_same_tables() -> None:
    first, *rest = ({k: _shape(v) for k, v in tongue(code).words.items()} for code in CODES)
    for words in rest:
        assert words.keys() == first.keys()
        for kind in ("topics", "stems", "sides", "landmarks", "formats"):
            assert words[kind] == first[kind]
    for code in OTHERS:
        assert {*tongue(code).said["labels"]} == {*FACETS}
        assert {*COLOURS} < {*tongue(code).said["names"]}
        assert {*tongue(code).words["shades"].values()} == {*COLOURS}


def test_no_english_sentence_of_ours_is_told_to_be_in_another_language() -> None:
    folder = resources.files("videoautoarena.agents.offline")
    found = [
        text
        for room in ("language", "language/books", "players")
        for file in folder.joinpath(room).iterdir()
        if file.name.endswith(".json")
        for text in _texts(json.loads(file.read_text("utf-8")))
    ]
    strangers = json.loads(Path(__file__).with_name("strangers.json").read_text("utf-8"))
    assert len(found) > 300
    assert {told(text).code for text in (*found, *_texts(strangers))} == {"en"}


def test_where_nothing_tells_the_language_the_usual_one_holds() -> None:
    assert leading("0:12.3") is None
    assert told("0:12.3") is tongue("en")
    assert told("0:12.3", tongue("de")) is tongue("de")
    assert (spoken("de"), spoken("fr"), spoken(None)) == ("de", "en", "en")
    with pytest.raises(KeyError):
        tongue("fr")


def test_a_text_of_two_languages_is_read_in_both() -> None:
    text = "Am dunkelsten ist es bei 0:03,5. It is brightest at 0:09. Die Hauptfarbe ist Rot."
    heard = hear(text, LENGTH_S)
    assert {claim.key: claim.value for claim in heard.claims} == {
        "darkest": (3.5, 3.5),
        "brightest": (9.0, 9.0),
        "main_colour": "red",
    }
    assert heard.tongue is tongue("de")


def test_one_word_is_read_in_the_language_of_the_question() -> None:
    assert hear("Orange.", LENGTH_S, ["main_colour"]).claims[0].value == "orange"
    heard = hear("Violett.", LENGTH_S, ["main_colour"], tongue("de"))
    assert (heard.claims[0].value, heard.tongue) == ("purple", None)


@given(st.integers(0, 35_999).map(lambda tenths: tenths / 10), st.sampled_from(["clock", "long"]))
def test_a_time_is_read_as_it_was_written_in_any_language(time_s: float, style: str) -> None:
    for code in OTHERS:
        words = tongue(code)
        written = clock(time_s, style=style, tongue=words)  # type: ignore[arg-type]
        assert times(f"bei {written}.", words) == (time_s,)
        assert times(f"bei {written.replace(',', '.')}.", words) == (time_s,)


def _texts(held: object) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, dict | list):
        for one in held.values() if isinstance(held, dict) else held:
            yield from _texts(one)


def _shape(held: object) -> object:
    return {key: _shape(one) for key, one in held.items()} if isinstance(held, dict) else None
