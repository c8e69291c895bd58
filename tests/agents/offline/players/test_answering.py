"""Stand-ins in dialogues: who looks and remembers is right, and each weakness shows where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import sqrt
from random import Random

import pytest

from tests.support.looks import PROBES, TEXTS, film, frame, reordered
from tests.support.pictures import Film, answer, message, seen, thinned
from videoautoarena.agents.offline import KINDS, OfflineModel
from videoautoarena.agents.offline.language.dialogues import (
    AbsenceCheck,
    Check,
    ColourDenialCheck,
    CounterQuestionCheck,
    OverlapCheck,
    TimeGivenCheck,
    TimeWindowCheck,
    ValueCheck,
    WordCheck,
    hear_answer,
)
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import (
    in_order,
    word_count,
    word_needle,
    word_order,
)
from videoautoarena.agents.offline.language.tongues import times
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.vision.frame_features import ModelInput
from videoautoarena.agents.prompting.contracts import QUESTION_LINE
from videoautoarena.agents.prompting.fences import Turn, with_options
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.choose import read_choice
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
    return str(OfflineModel(kind=kind)._speak(sent).content)


def met(text: str, *checks: Check) -> list[bool]:
    heard = hear_answer(text, checks)
    return [heard.meets(check) for check in checks]


def crowded(film: Film, question: str, history: list[Turn], kind: str = "hawk") -> float:
    """Return when an answer finds the most crowded, or the plainest, picture."""
    text = said(kind, film, question, history)
    values = hear_answer(
        text, [TimeWindowCheck("busiest", 0, 1), TimeWindowCheck("plainest", 0, 1)]
    ).values
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


@pytest.mark.parametrize("moment", ["0:09.1", "the time 0:09.1"])
def test_a_moment_that_is_spelled_out_takes_no_history(story: Film, moment: str) -> None:
    assert 11.8 <= crowded(story, AFTER.format(moment), []) <= 15.9
    assert crowded(story, AFTER.format(moment), [], "goldfish") > 11.8


def test_what_was_said_wrongly_before_moves_the_part(story: Film) -> None:
    wrong = [("When is it darkest?", "It is darkest at 0:16.5.")]
    assert crowded(story, AFTER.format("the one you named first"), wrong) > 15.9


def test_a_summary_gives_every_fact_that_is_left(story: Film) -> None:
    facts = (
        ValueCheck("shots", "7"),
        ValueCheck("main_colour", "green"),
        ValueCheck("ending_light", "same"),
    )
    assert met(said("hawk", story, SUMMARY, FOUND), *facts) == [True, True, True]
    assert not met(said("mole", story, SUMMARY, FOUND), facts[0])[0]


def test_what_is_not_there_is_refused_by_all_that_look_but_eager(story: Film) -> None:
    refused = AbsenceCheck(), ColourDenialCheck("teal"), TimeGivenCheck(), WordCheck("teal")
    for kind in ("hawk", "owl", "mole", "goldfish"):
        assert met(said(kind, story, TEAL, FOUND), *refused) == [True, True, False, True], kind
    assert met(said("eager", story, TEAL, FOUND), *refused) == [False, False, True, True]
    assert met(said("blind", story, TEAL, FOUND), *refused) == [False, False, False, True]


def test_eager_shows_the_frames_with_most_of_it_and_no_more(story: Film) -> None:
    # what little white there is, a fortieth of the picture, comes at 13.1 s
    start, end = times(said("eager", story, TEAL.replace("teal", "white"), FOUND))
    assert 12.4 <= start < 13.1 < end <= 13.8


def test_what_is_there_is_found_by_who_sees_enough(story: Film) -> None:
    there = OverlapCheck(16.0, 19.0), TimeGivenCheck(), AbsenceCheck()
    for kind in ("hawk", "owl", "goldfish", "eager"):
        assert met(said(kind, story, GREY, FOUND), *there) == [True, True, False], kind
        assert met(said(kind, story, RED, FOUND), OverlapCheck(0.0, 3.0)) == [True], kind
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
    assert met(there, WordCheck("Lisbon"), TimeGivenCheck()) == [True, False]
    back = said(
        "hawk", story, "Back to the video: how many shots are there?", [*history, (away, there)]
    )
    assert met(back, ValueCheck("shots", "7"), WordCheck("Lisbon")) == [True, False]


def test_a_bored_user_is_pointed_to_two_moments_and_asked(story: Film) -> None:
    points = (
        CounterQuestionCheck(),
        TimeWindowCheck("first_cut", 3.0, 3.2),
        TimeWindowCheck("busiest", 3.1, 8.3),
    )
    assert met(said("hawk", story, BORED, FOUND), *points) == [True, True, True]
    assert met(said("blind", story, BORED, FOUND), *points) == [True, False, False]


TRIES = 48
Item = tuple[str, tuple[str, ...], int, Film]
"""Question, options, key, frames."""


def picked(kind: str, frames: Film, question: str, options: Sequence[str]) -> int | None:
    """Return the option that a reply to these frames is read as; LangChain is left out."""
    text = f"Watch closely.\n\n{QUESTION_LINE}\n{with_options(question, options)}"
    sent = ModelInput(seen(thinned(frames, KINDS[kind])), text, 0)
    return read_choice(reply(kind, sent), options).place


def needle(seed: int) -> Item:
    chance = Random(seed)
    texts = chance.sample(TEXTS, 4)
    key = chance.randrange(4)
    shown = film((TEXTS.index(texts[key]), chance.randrange(1, 59)))
    return word_needle(Dice(seed)), tuple(texts), key, shown


def order(seed: int) -> Item:
    chance = Random(seed)
    orders = chance.sample(list(permutations(range(3))), 4)
    key = chance.randrange(4)
    places = (chance.randrange(1, 16), chance.randrange(22, 36), chance.randrange(42, 58))
    options = tuple(in_order([TEXTS[probe] for probe in one]) for one in orders)
    shown = film(*zip(orders[key], places, strict=True))
    return word_order(Dice(seed)), options, key, shown


def count(seed: int) -> Item:
    chance = Random(seed)
    low = chance.randrange(1, 4)
    numbers = chance.sample(range(low, low + 4), 4)
    key = chance.randrange(4)
    places = [2 + 9 * run for run in range(numbers[key])]
    shown = film(*((0, place) for place in places))
    return word_count(TEXTS[0], Dice(seed)), tuple(map(str, numbers)), key, shown


def rate(
    make: Callable[[int], Item], kind: str, change: Callable[[Film, int], Film] = lambda f, _: f
) -> float:
    """Return how often a kind is right on frames as they are, or changed."""
    right = 0
    for seed in range(TRIES):
        question, options, key, shown = make(seed)
        right += picked(kind, change(shown, seed), question, options) == key
    return right / TRIES


def is_chance(share: float, options: int = 4) -> bool:
    """Return whether a share lies within three standard errors of a guess."""
    fair = 1 / options
    return abs(share - fair) < 3 * sqrt(fair * (1 - fair) / TRIES)


def shuffled(shown: Film, seed: int) -> Film:
    places = list(range(len(shown)))
    Random(f"shuffled {seed}").shuffle(places)
    return reordered(shown, places)


def elsewhere(shown: Film, seed: int) -> Film:
    return film(frames=len(shown))


@pytest.mark.parametrize("make", [needle, order, count])
def test_who_sees_it_all_is_right_each_time(make: Callable[[int], Item]) -> None:
    assert rate(make, "hawk") == 1.0


@pytest.mark.parametrize("make", [needle, order, count])
@pytest.mark.parametrize(("kind", "change"), [("blind", lambda f, _: f), ("hawk", elsewhere)])
def test_who_sees_none_of_it_guesses_fairly(
    make: Callable[[int], Item], kind: str, change: Callable[[Film, int], Film]
) -> None:
    assert is_chance(rate(make, kind, change))


def test_shuffled_frames_leave_a_needle_and_take_order_and_count() -> None:
    assert rate(needle, "hawk", shuffled) == 1.0
    assert is_chance(rate(order, "hawk", shuffled))
    assert rate(count, "hawk", shuffled) < 0.5


def test_more_frames_find_more_needles() -> None:
    hawk, owl, mole = (rate(needle, kind) for kind in ("hawk", "owl", "mole"))
    assert hawk > owl > mole
    # Of 64 frames 4 are the needle's; 16 of them hold one each time, 4 of them about one in seven.
    assert owl > 0.9
    assert mole < 0.5


def test_a_count_is_the_least_that_allows_what_was_seen() -> None:
    question = word_count(TEXTS[0], Dice(1))
    options = ("6", "4", "5", "3")
    shown = film((0, 5), (0, 20))
    assert picked("hawk", shown, question, options) == 3
    assert picked("hawk", film(*((0, 6 * n) for n in range(9))), question, options) == 0


def test_an_order_is_told_from_the_pairs_that_were_seen() -> None:
    orders = ((0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1))
    options = [in_order([TEXTS[probe] for probe in one]) for one in orders]
    question = word_order(Dice(2))
    fits_two = film((1, 10), (2, 40))
    assert picked("hawk", fits_two, question, options) in (0, 2)
    assert picked("hawk", film((1, 10), (2, 30), (0, 50)), question, options) == 2


@pytest.mark.parametrize("make", [needle, order, count])
def test_the_frames_decide_and_no_name_does(make: Callable[[int], Item]) -> None:
    for seed in range(4):
        question, options, _, shown = make(seed)
        asked = with_options(question, options)
        few = thinned(shown, 4)
        kinds = ("hawk", "owl", "mole", "terse", "judge", "examiner", "trickster")
        assert len({answer(kind, few, asked) for kind in kinds}) == 1
        assert answer("hawk", (), asked) == answer("blind", shown, asked)


def test_another_needle_gets_another_answer() -> None:
    question = word_needle(Dice(3))
    for place in range(4):
        assert picked("hawk", film((place, 30)), question, TEXTS) == place


@pytest.mark.parametrize(
    "question", ["What does the man do?", "How many dogs are there?", "When is it darkest?"]
)
def test_of_what_nobody_can_see_all_guess_among_the_options(question: str) -> None:
    options = ("He runs", "He sits", "He sings")
    found = [
        picked(kind, film((0, at)), f"{question} {number}", options)
        for number in range(TRIES // 2)
        for kind, at in (("hawk", number % 60), ("blind", 0))
    ]
    assert all(is_chance(found.count(place) / len(found), 3) for place in range(3))


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("make", [needle, order, count])
def test_whoever_answers_names_one_option_but_the_parrot(
    kind: str, make: Callable[[int], Item]
) -> None:
    for seed in range(4):
        question, options, _, shown = make(seed)
        assert (picked(kind, shown, question, options) is None) == (kind == "parrot")


def test_a_question_without_options_is_answered_as_ever(story: Film) -> None:
    question = "When is the picture brightest, and how many shots are there?"
    assert "(A)" not in answer("hawk", story, question)
    assert picked("hawk", story, question, ("two", "seven")) in (0, 1)


def test_frames_count_in_the_order_of_their_times() -> None:
    orders = ((0, 1), (1, 0))
    options = [in_order([TEXTS[probe] for probe in one]) for one in orders]
    backwards = ((9.0, frame(*PROBES[0])), (1.0, frame(*PROBES[1])))
    assert picked("hawk", backwards, word_order(Dice(4)), options) == 1
