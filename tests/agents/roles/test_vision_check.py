"""What the doctor asks a model, and what counts as having seen it."""

from __future__ import annotations

import json

import pytest

from tests.support.cards import colours_of
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.roles.answer import EyeTest, stripes_of

TEST = EyeTest(parse_model("openai:m"))
RIGHT = list(TEST.colours)


def form(stripes: list[str]) -> str:
    return json.dumps({"stripes": stripes})


def test_the_frame_shows_what_the_reply_is_held_against() -> None:
    assert colours_of(TEST.jpeg, 3) == RIGHT
    assert "json" in TEST.request.text.lower()
    assert not any(name in TEST.request.text.split(";")[0] for name in RIGHT)


@pytest.mark.parametrize(
    ("reply", "sees", "keeps_form"),
    [
        (form(RIGHT), True, True),
        (form([f"Dark {name.upper()}" for name in RIGHT]), True, True),
        (f"```json\n{form(RIGHT)}\n```", True, True),
        (form([*RIGHT[:2], "orange"]), True, True),
        (f"From left to right: {', '.join(RIGHT)}.", True, False),
        (form(RIGHT[1:] + RIGHT[:1]), False, True),
        (form(["...", "...", "..."]), False, False),
        ("I cannot look at pictures.", False, False),
        ("{}", False, False),
    ],
)
def test_a_reply_is_read_as_it_is_meant(reply: str, sees: bool, keeps_form: bool) -> None:
    assert TEST.is_seen(reply) is sees
    assert (stripes_of(reply) is not None) is keeps_form


def test_a_model_that_is_sent_no_frames_is_shown_none() -> None:
    test = EyeTest(Model(alias="deaf", model="openai:m", max_frames=0))
    assert test.request.frames is None
    assert test.is_seen("anything") is None


def test_no_answer_suits_every_model() -> None:
    cards = {EyeTest(parse_model(f"openai:m{number}")).colours for number in range(40)}
    assert len(cards) > 20
