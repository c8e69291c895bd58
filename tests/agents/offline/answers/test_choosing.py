"""A choice is made from the frames that are sent: right where they show it, else a fair guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import sqrt
from random import Random

import pytest

from tests.support.looks import PROBES, TEXTS, film, frame, reordered
from tests.support.pictures import Film, answer, seen, thinned
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.offline.language.tasks import (
    in_order,
    word_count,
    word_needle,
    word_order,
)
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.vision.frame_features import Sent
from videoautoarena.agents.prompting.contracts import QUESTION_LINE
from videoautoarena.agents.prompting.options import with_options
from videoautoarena.agents.roles.choose import read_choice

TRIES = 100
Item = tuple[str, tuple[str, ...], int, Film]
"""Question, options, key, frames."""


def picked(kind: str, frames: Film, question: str, options: Sequence[str]) -> int | None:
    """Return the option that a reply to these frames is read as; LangChain is left out."""
    text = f"Watch closely.\n\n{QUESTION_LINE}\n{with_options(question, options)}"
    sent = Sent(seen(thinned(frames, KINDS[kind])), text, 0)
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
    for seed in range(8):
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
    for seed in range(12):
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
