"""What stands in a dialogue already is found in whatever words; what does not is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.told_facts import asked_of, planted
from tests.support.written_dialogues import written
from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion
from videoautoarena.graph.dialogue_checks import gives_away
from videoautoarena.graph.leaks import content, is_given_away, plain, values_in

WINDOW = "Does the answer put it between 0:11 and 0:13?"
DIALOGUES = 200


def test_leaks_in_other_words_are_found_wherever_they_are_planted() -> None:
    found = list[bool]()
    for seed in range(DIALOGUES):
        rounds, number, items, leaks = asked_of(seed)
        for dialogue in planted(rounds, number, leaks[seed % len(leaks)]):
            found.append(gives_away(items, dialogue, number))
    assert len(found) == 3 * DIALOGUES
    assert sum(found) >= 0.95 * len(found)


def test_dialogues_that_give_nothing_away_are_left_alone() -> None:
    lost = [gives_away(items, rounds, n) for rounds, n, items, _ in map(asked_of, range(DIALOGUES))]
    assert sum(lost) <= 0.05 * len(lost)


@pytest.mark.parametrize(
    "text",
    [
        "about 12 s", "twelve seconds in", "0:12", "00:12.4", "00:00:12", "t=12", "at second 12",
        "the 12-second mark", "12 secs.", "at 12, it", "around twelve.", "12,5 s", "\uff11\uff12 s",
        "\u0661\u0662 seconds", "\uff10\uff1a\uff11\uff12", "from 12s on", "0 min 12 s",
        "0 minutes and 12 seconds", "from 3 to 12 seconds", "3\u201312 s",
    ],
)  # fmt: skip
def test_a_time_is_the_same_in_every_notation(text: str) -> None:
    assert is_given_away([WINDOW], "When?", [text])


@pytest.mark.parametrize(
    "text",
    [
        "", "12 lamps", "around twelve people", "the 12th man", "0:99", "0:1", "12:00", "112 s",
        "12 m high", "12 minutes", "1,200 s", "12 in all", "one and two", "a second one",
    ],
)  # fmt: skip
def test_other_numbers_are_no_such_time(text: str) -> None:
    assert not is_given_away([WINDOW], "When?", [text])


@pytest.mark.parametrize(
    ("text", "at_s"),
    [
        ("1 min 3 s", 63), ("1m3s", 63), ("one minute and three seconds", 63), ("1:03", 63),
        ("sixty-three seconds", 63), ("a hundred and five seconds", 105), ("half a minute", 30),
        ("a minute and a half", 90), ("2 minutes and a half", 150), ("1.5 min", 90),
        ("one minute", 60), ("01:02:03", 3723), ("two hundred seconds", 200),
    ],
)  # fmt: skip
def test_times_of_more_than_a_minute_are_read(text: str, at_s: float) -> None:
    assert values_in(f"At {text}?", but="").stretches == ((at_s - 0.5, at_s + 0.5),)


@pytest.mark.parametrize(
    ("item", "stretches"),
    [
        ("between 3 and 5 seconds", [(3, 5)]),
        ("from 3 to 5 s", [(3, 5)]),
        ("between three and five seconds", [(3, 5)]),
        ("between 11 and 13", [(11, 13)]),
        ("red from 0:03 to 0:05 and blue between 8 s and 10 s", [(3, 5), (8, 10)]),
        ("the car at 3 s and the dog at 8 s", [(2.5, 3.5), (7.5, 8.5)]),
        ("at 3 s and 8 s", [(2.5, 3.5), (7.5, 8.5)]),
        ("two dogs at 0:12", [(11.5, 12.5)]),
        ("between 0:11 and 0:09", [(10.5, 11.5), (8.5, 9.5)]),
    ],
)
def test_a_stretch_has_two_ends_and_two_times_are_no_stretch(
    item: str, stretches: list[tuple[float, float]]
) -> None:
    assert list(values_in(item, but="").stretches) == stretches


@pytest.mark.parametrize(
    ("item", "asked", "text", "expected"),
    [
        ("Does it say three?", "How many dogs?", "I saw 3 of them.", True),
        ("Does it say 3 dogs?", "How many dogs?", "Three hounds.", True),
        ("Does it say twenty-one?", "How many?", "There were 21.", True),
        ("Does it say that there is one cup?", "What?", "No one is there.", False),
        ("Does it say that the coat is red?", "What colour is the coat?", "something red", True),
        ("Does it say that the coat is red?", "What colour is the coat?", "a blue coat", False),
        ("Does it name cherries?", "What?", "a cherry", True),
        ("Does it name a glass?", "What?", "Glasses, I think.", True),
        ("Does it say he runs?", "What?", "He was running.", True),
        ("Does it say that he sat?", "What?", "He sits there.", True),
        ("Does it name the gray knives?", "What?", "Is that grey thing a knife?", True),
        ("Does it name the third man?", "Which man?", "the 3rd one", True),
        ("Does it say so?", "What?", "It says so.", False),
    ],
)
def test_numbers_and_words_are_the_same_in_all_their_forms(
    item: str, asked: str, text: str, expected: bool
) -> None:
    assert is_given_away([item], asked, [text]) is expected


def test_what_all_items_ask_about_is_no_value() -> None:
    yes = ["Does it say that the car is red?"]
    no = ["Does it say that the car is blue?"]
    assert is_given_away(yes, "What is it like?", ["A red thing."], no=no)
    assert not is_given_away(yes, "What is it like?", ["A car."], no=no)


def test_what_a_right_answer_does_without_is_no_value() -> None:
    yes = ["Does it give grey for the colour of the ending?"]
    asked = "How does it close?"
    assert is_given_away(yes, asked, ["Then all is gray."], reference="It closes in grey.")
    assert not is_given_away(yes, asked, ["Then all is gray."], reference="It is so.")


def test_a_yes_or_no_beside_a_value_says_nothing() -> None:
    yes = ["Does the answer give no for the scenes that return?", WINDOW]
    assert is_given_away(yes, "Does a scene come back, and when?", ["At 12 s."])
    assert not is_given_away(yes[:1], "Does a scene come back?", ["At 12 s."])
    assert is_given_away(yes[:1], "Does a scene come back?", ["No scenes return."])


def test_every_value_must_stand_and_none_in_two_halves() -> None:
    yes = ["Does it name a kettle and a trumpet?", "Does it say 0:12?"]
    assert is_given_away(yes, "What?", ["A trumpet, a kettle.", "At 12 s."])
    assert not is_given_away(yes, "What?", ["A trumpet.", "A kettle.", "At 12 s."])
    assert not is_given_away(yes, "What?", ["A trumpet, a kettle."])
    assert not is_given_away([], "What?", ["A trumpet."])


def test_of_many_words_most_give_it_away() -> None:
    yes = ["Does it name a kettle, a broom, a trumpet and a ladder?"]
    assert is_given_away(yes, "What?", ["A ladder, a broom, a kettle."])
    assert not is_given_away(yes, "What?", ["A ladder and a broom."])


def test_what_the_question_means_in_full_is_no_value() -> None:
    one = written("What colour is it?", "The kettle is red.", explicit="What is the kettle like?")
    items = [ChecklistQuestion("Does it say that the kettle is red?", True)]
    assert gives_away(items, [written("And?", "Something red."), one], 2)
    assert not gives_away(items, [written("And?", "A kettle."), one], 2)


def test_the_question_itself_may_give_its_answer_away_but_not_by_what_it_asks_with() -> None:
    items = [ChecklistQuestion(WINDOW, True), ChecklistQuestion("Does it say 0:44?", False)]
    rounds = [written("So?", "Well."), written("It falls at 0:12. When?", "At 0:12.")]
    assert gives_away(items, rounds, 2)
    items[0] = ChecklistQuestion("Does it say that it falls at 0:12?", True)
    assert not gives_away(items, rounds, 2)


HOSTILE = (
    "1", "1 ", "at ", "1:", "a-", " ", "between 1 and ", "\u0661", "one minute ", "12,", "\u2013",
    "\u00e91", "1.1.", "x", "1 min ", "1m", "twenty ", "a hundred and ", "?", "0:", "\ufdfa",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        started = time.process_time()
        values_in(text, but="").stands_in(text)
        plain(text)
        return time.process_time() - started

    seconds(100)
    # A quadratic one takes a hundred times as long for ten times as much.
    assert seconds(10_000) < 40 * max(min(seconds(1_000) for _ in range(3)), 0.0005)


TEXTS = st.text(max_size=80) | st.lists(
    st.sampled_from([*HOSTILE, "12", "seconds", "to", "and", "0:99", "red", "\u00b2", "9" * 5_000])
).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_no_text_breaks_the_reading(item: str, asked: str, text: str) -> None:
    values = values_in(item, but=asked, beside=[text])
    assert values.stands_in(text) in (True, False)
    assert not values_in("", but=asked).stands_in(text)
    assert content(item).isdisjoint({""})
