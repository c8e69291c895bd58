"""Stand-ins in dialogues: who looks and remembers is right, and each weakness shows where it is."""

from __future__ import annotations

import pytest

from tests.support.pictures import Film, message, thinned
from videoautoarena.agents.offline import KINDS, OfflineModel
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
)
from videoautoarena.agents.offline.language.values import times
from videoautoarena.agents.prompting.fences import Turn
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Task, worded

# red to 3.1 s, green and crowded to 8.3, dark blue to 10.6, yellow and plain to 11.8,
# green and less crowded to 15.8, grey to 19.2, red
FOUND: list[Turn] = [
    ("When is it brightest?", "It is brightest at 0:10.7."),
    ("When is it darkest, and when is the first cut?", "Darkest: 9.1 s. First cut: 3.1 s."),
]
AFTER = "And counting only what comes after {}, when is the picture most crowded with detail?"
BEFORE = "Counting only what comes before {}, when is the picture plainest?"
RED = "From when to when is it that at least a fifth of the picture is red?"
GREY = "From when to when is it that at least a fifth of the picture is grey?"
TEAL = "Between which times is a fifth of the picture, or more of it, teal?"
BORED = "None of this says anything to me."
SUMMARY = (
    "Sum up for me what we have left out: how many shots are there, what is the main colour "
    "overall, and does it end brighter or darker than it began?"
)


def said(kind: str, film: Film, question: str, history: list[Turn]) -> str:
    """Return a contestant's answer to a turn of a dialogue, from its own number of frames."""
    task = Task("contestant", None, scope="set-q1", question=question, history=history)
    sent = message(thinned(film, KINDS[kind]), worded(PromptSet.load(), task))
    return str(OfflineModel(kind=kind).invoke(sent).content)


def met(text: str, *checks: Check) -> list[bool]:
    heard = hear_answer(text, checks)
    return [heard.meets(check) for check in checks]


def crowded(film: Film, question: str, history: list[Turn], kind: str = "hawk") -> float:
    """Return when an answer finds the most crowded, or the plainest, picture."""
    text = said(kind, film, question, history)
    values = hear_answer(text, [Within("busiest", 0, 1), Within("plainest", 0, 1)]).values
    (value,) = values.values()
    assert isinstance(value, tuple)
    assert isinstance(value[0], float)
    return value[0]


@pytest.mark.parametrize("moment", ["the one you named first", "the later of the two"])
def test_an_object_reference_takes_what_was_named_and_the_frames(story: Film, moment: str) -> None:
    assert 11.8 <= crowded(story, AFTER.format(moment), FOUND) <= 15.9
    assert crowded(story, AFTER.format(moment), FOUND, "goldfish") < 8.3


def test_each_of_two_that_were_named_is_another_question(story: Film) -> None:
    second = crowded(story, AFTER.format("the one you named second"), FOUND)
    assert 3.1 <= second <= 8.3
    assert crowded(story, BEFORE.format("the earlier of the two"), FOUND) <= 3.1


def test_a_memory_is_of_the_answer_that_is_meant(story: Film) -> None:
    history = [*FOUND, ("How many shots are there?", "There are seven shots.")]
    question = AFTER.format("the moment in your first answer")
    assert 11.8 <= crowded(story, question, history) <= 15.9
    assert crowded(story, question, history, "goldfish") < 8.3
    assert crowded(story, AFTER.format("the moment in your third answer"), history) < 8.3


@pytest.mark.parametrize("moment", ["0:09.1", "the time 0:09.1", "the darkest moment"])
def test_a_moment_that_is_spelled_out_takes_no_history(story: Film, moment: str) -> None:
    assert 11.8 <= crowded(story, AFTER.format(moment), []) <= 15.9
    assert crowded(story, AFTER.format(moment), [], "goldfish") > 11.8


def test_what_was_said_wrongly_before_moves_the_part(story: Film) -> None:
    wrong = [("When is it darkest?", "It is darkest at 0:16.5.")]
    assert crowded(story, AFTER.format("the one you named first"), wrong) > 15.9


def test_a_summary_gives_every_fact_that_is_left(story: Film) -> None:
    facts = Gives("shots", "7"), Gives("main_colour", "green"), Gives("ending_light", "same")
    assert met(said("hawk", story, SUMMARY, FOUND), *facts) == [True, True, True]
    assert not met(said("mole", story, SUMMARY, FOUND), facts[0])[0]


def test_what_is_not_there_is_refused_by_all_that_look_but_eager(story: Film) -> None:
    refused = Absent(), Denies("teal"), Timed(), Names("teal")
    for kind in ("hawk", "owl", "mole", "goldfish"):
        assert met(said(kind, story, TEAL, FOUND), *refused) == [True, True, False, True], kind
    assert met(said("eager", story, TEAL, FOUND), *refused) == [False, False, True, True]
    assert met(said("blind", story, TEAL, FOUND), *refused) == [False, False, False, True]


def test_eager_shows_the_frames_with_most_of_it_and_no_more(story: Film) -> None:
    # what little white there is, a fortieth of the picture, comes at 13.1 s
    start, end = times(said("eager", story, TEAL.replace("teal", "white"), FOUND))
    assert 12.4 <= start < 13.1 < end <= 13.8


def test_what_is_there_is_found_by_who_sees_enough(story: Film) -> None:
    there = Overlaps(16.0, 19.0), Timed(), Absent()
    for kind in ("hawk", "owl", "goldfish", "eager"):
        assert met(said(kind, story, GREY, FOUND), *there) == [True, True, False], kind
        assert met(said(kind, story, RED, FOUND), Overlaps(0.0, 3.0)) == [True], kind
    assert met(said("mole", story, GREY, FOUND), *there) == [False, False, True]


def test_eager_is_hawk_where_the_colour_is_there(story: Film) -> None:
    for question in (RED, GREY, BORED, SUMMARY, AFTER.format("the later of the two")):
        assert said("eager", story, question, FOUND) == said("hawk", story, question, FOUND)


def test_goldfish_is_hawk_where_nothing_points_back(story: Film) -> None:
    elsewhere = "Leaving the video for a moment, what is the capital of France?"
    for question in (RED, TEAL, BORED, SUMMARY, elsewhere, AFTER.format("0:09.1")):
        assert said("goldfish", story, question, FOUND) == said("hawk", story, question, FOUND)


def test_a_shift_of_topic_is_followed_there_and_back(story: Film) -> None:
    history = [("When is it darkest?", "It is darkest at 0:09.1.")]
    away = "Nothing to do with the video, but what is the capital of Portugal?"
    there = said("hawk", story, away, history)
    assert met(there, Names("Lisbon"), Timed()) == [True, False]
    back = said(
        "hawk", story, "Back to the video: how many shots are there?", [*history, (away, there)]
    )
    assert met(back, Gives("shots", "7"), Names("Lisbon")) == [True, False]


def test_a_bored_user_is_pointed_to_two_moments_and_asked(story: Film) -> None:
    points = AsksBack(), Within("first_cut", 3.0, 3.2), Within("busiest", 3.1, 8.3)
    assert met(said("hawk", story, BORED, FOUND), *points) == [True, True, True]
    assert met(said("blind", story, BORED, FOUND), *points) == [True, False, False]
