"""Refusals in plain English are told from answers."""

from __future__ import annotations

import pytest

from videoautoarena.runs.text.traits import MOST_WORDS, is_refusal


@pytest.mark.parametrize(
    "answer",
    [
        "I can't help with that.",
        "I'm sorry, but I can’t assist with that request.",
        "I am unable to view videos.",
        "As an AI language model, I cannot watch the video you mention.",
        "Unfortunately, I do not have the ability to access video files.",
        "I'm not able to provide an answer about this.",
        "I must respectfully decline.",
        "I won't discuss this.",
    ],
)
def test_a_refusal_in_plain_words_is_recognised(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot see a dog in the video.",
        "I can't see any person in these frames clearly, but the car is red.",
        "I can't tell the colour; it is too dark.",
        "I cannot provide an exact count, but about ten.",
        "The man says: I can't help you, and leaves.",
        'A sign reads "I am unable to view videos".',
        "A red car turns left. Then it stops. The driver cannot help the child.",
    ],
)
def test_an_answer_that_says_what_cannot_be_seen_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer)


def test_a_long_answer_that_begins_so_goes_on_to_answer() -> None:
    beginning = "I am unable to view videos directly."
    assert is_refusal(beginning)
    assert not is_refusal(f"{beginning} {'The car turns left. ' * MOST_WORDS}")


def test_a_hostile_answer_is_read_in_no_time() -> None:
    assert not is_refusal("i can't " * 60 + "x" * 400)
