"""Whoever makes a task and whoever reads it share one phrase, in every wording that there is."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.support.looks import PROBES, TEXTS, describe, fit, glance_at
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import (
    in_order,
    sought,
    word_count,
    word_needle,
    word_order,
)
from videoautoarena.agents.offline.vision.looks import PictureLook
from videoautoarena.agents.prompting.fences import OfferedOptions, offered, with_options

LOOKS = (
    PictureLook("half-lit", "blue", "white"),
    PictureLook("half-lit", "red", "yellow"),
    PictureLook("half-lit", "green", "black"),
    PictureLook("half-lit", "purple", "orange"),
)


def asked(question: str, options: list[str]) -> OfferedOptions:
    """Return what a contestant reads out of what it is asked."""
    offer = offered(with_options(question, options))
    assert offer is not None
    return offer


def wordings(word: object, *given: str) -> set[str]:
    assert callable(word)
    return {word(*given, Dice(seed)) for seed in range(60)}


def test_a_description_is_in_plain_words() -> None:
    assert (
        describe([glance_at("blue", "white")]) == "a half-lit picture, mostly blue with some white"
    )
    assert describe([glance_at("blue", "white", 0.0)]) is None


def test_a_frame_is_fitted_to_the_words_alone() -> None:
    for probe, text in zip(PROBES, TEXTS, strict=True):
        assert fit(text, glance_at(*probe)) > 0.8
        assert fit(f" {text}\n", glance_at(*probe)) == fit(text, glance_at(*probe))
        assert all(fit(other, glance_at(*probe)) < 0.8 for other in TEXTS if other != text)


@pytest.mark.parametrize(
    "text", ["", "a dog", "a dark picture", "a dark picture, mostly mauve with some red"]
)
def test_other_words_fit_no_frame(text: str) -> None:
    assert fit(text, glance_at("blue", "white")) == 0.0


def test_every_wording_of_a_needle_is_understood() -> None:
    found = wordings(word_needle)
    assert len(found) >= 3
    for question in found:
        wanted = sought(asked(question, list(TEXTS)))
        assert wanted is not None
        assert (wanted.kind, wanted.looks) == ("needle", tuple((look,) for look in LOOKS))


def test_every_wording_of_an_order_is_understood() -> None:
    places = list(permutations(range(3)))[:4]
    options = [in_order([TEXTS[place] for place in order]) for order in places]
    found = wordings(word_order)
    assert len(found) >= 3
    for question in found:
        wanted = sought(asked(question, options))
        assert wanted is not None
        assert wanted.kind == "order"
        assert wanted.looks == tuple(tuple(LOOKS[place] for place in order) for order in places)


def test_every_wording_of_a_count_is_understood() -> None:
    found = wordings(word_count, TEXTS[0])
    assert len(found) >= 3
    for question in found:
        assert TEXTS[0] in question
        wanted = sought(asked(question, ["3", "1", "12", "2"]))
        assert wanted is not None
        assert (wanted.kind, wanted.looks, wanted.counts) == (
            "count",
            ((LOOKS[0],),),
            (3, 1, 12, 2),
        )


def test_what_is_not_so_worded_is_no_task_of_this_kind() -> None:
    needle = word_needle(Dice(1))
    order = word_order(Dice(1))
    count = word_count(TEXTS[0], Dice(1))
    several = [in_order(TEXTS[:2]), in_order(TEXTS[1::-1])]
    for question, options in (
        ("Which of these pictures is never seen?", list(TEXTS)),
        (needle, ["a dog", "a cat"]),
        (needle, [TEXTS[0], "a cat"]),
        (needle, several),
        (order, list(TEXTS)),
        (order, [several[0], "a cat"]),
        (count, ["once", "twice"]),
        (word_count("a dog", Dice(1)), ["1", "2"]),
        ("How many dogs are there?", ["1", "2"]),
    ):
        assert sought(asked(question, options)) is None
