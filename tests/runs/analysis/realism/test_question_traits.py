"""What is measured of a question, whoever asked it."""

from __future__ import annotations

import pytest

from tests.support.played import battle, lineage, slot, video
from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN
from videoautoarena.runs.analysis.realism.question_file import RealQuestion
from videoautoarena.runs.analysis.realism.question_traits import (
    GENERAL,
    asked_once,
    measure_vagueness,
    real_questions,
    simulated_questions,
    told_categories,
)


@pytest.mark.parametrize(
    ("question", "vagueness"),
    [
        ("What is this video about?", 1.0),
        ("Worum geht es in diesem Video?", 1.0),
        ("Which red car passes the fountain?", 2 / 6),
        ("How many red cars pass the stone fountain before 0:12?", 3 / 11),
        ("WHAT’S THIS?", 1.0),
        ("...", None),
    ],
)
def test_vagueness_is_the_share_of_words_that_fit_any_video(
    question: str, vagueness: float | None
) -> None:
    found = measure_vagueness(question)
    assert found == (None if vagueness is None else pytest.approx(vagueness))


@pytest.mark.parametrize(
    ("question", "categories"),
    [
        ("Describe what happens.", {"captioning"}),
        ("What does the sign say?", {"text on screen"}),
        ("Who is the woman in blue?", {"entities"}),
        ("How many boats are there?", {"counting"}),
        ("What comes after the parade?", {"order and time"}),
        ("Why does he stop?", {"cause and reasoning"}),
        ("What is funny about the cat?", {"humour"}),
        ("Which line of the chart rises?", {"diagrams"}),
        ("Make a poem of the sunset.", {"creative writing"}),
        ("Should I buy these pans?", {"advice"}),
        ("Solve the equation on the board.", {"homework"}),
        ("Turn the pseudo code into Python.", {"code"}),
        ("Wie viele Boote liegen vorher im Hafen?", {"counting", "order and time"}),
        ("Colour of the boat?", set()),
    ],
)
def test_words_tell_the_category(question: str, categories: set[str]) -> None:
    assert told_categories(question) == categories
    assert categories <= set(SHOWN.values())


def test_a_question_of_no_category_stands_among_none_of_these() -> None:
    given = [RealQuestion("Colour of the boat?", None, None, None)]
    (told,), (stated,) = real_questions(given, own=False), real_questions(given, own=True)
    assert told.categories == {NONE}
    assert stated.categories is None
    empty = RealQuestion("Colour of the boat?", None, (), None)
    assert real_questions([empty], own=True)[0].categories == {NONE}


def test_what_is_asked_in_a_language_that_is_not_read_is_unknown_not_none() -> None:
    given = RealQuestion("¿Cuántos barcos hay en el puerto?", "a.mp4", None, "es")
    (found,) = real_questions([given], own=False)
    assert (found.form, found.categories, found.vagueness) == (None, None, None)
    assert (found.length, found.language, found.cluster) == (8, "es", "a.mp4")
    (german,) = real_questions([given._replace(language="de")], own=False)
    assert german.form is None
    assert german.vagueness is not None


def test_questions_without_a_video_belong_to_nothing() -> None:
    given = [RealQuestion("Why?", None, None, None)] * 3
    assert len({one.cluster for one in real_questions(given, own=False)}) == 3


def test_a_question_of_several_battles_is_asked_once_and_one_without_is_none() -> None:
    film = video()
    first, second, third = lineage(film)
    again = first.model_copy(update={"id": f"{first.id}+1"})
    void = battle(slot(film, 3), question=None, verdict="void", reason="no question")
    battles = [first, second, third, again, void]
    measured = simulated_questions(battles, {film.id: film.path}, None)
    assert list(measured) == [first.id, second.id, third.id, again.id]
    assert len(asked_once(battles, measured)) == 3
    assert {one.cluster for one in measured.values()} == {"clip.mp4"}


def test_tags_of_a_run_count_before_words_and_an_unknown_one_stays_unknown() -> None:
    film = video()
    battles = lineage(film)
    tags = {battles[0].id: frozenset({"counting"}), battles[1].id: None}
    found = simulated_questions(battles, {}, tags)
    assert [one.categories for one in found.values()] == [{"counting"}, None, None]


def test_a_language_that_the_battle_knows_is_the_questions() -> None:
    film = video()
    spoken = [b.model_copy(update={"language": "fr"}) for b in lineage(film)]
    assert {one.language for one in simulated_questions(spoken, {}, None).values()} == {"fr"}


def test_general_words_are_small_and_of_two_languages() -> None:
    assert all(word == word.casefold() and word.split() == [word] for word in GENERAL)
    assert {"something", "irgendetwas"} <= GENERAL
    assert not {"red", "fountain", "rot"} & GENERAL
