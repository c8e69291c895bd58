"""Tasks about a video: worded for whoever makes them, and read again by whoever is asked.

What a picture that breaks in looks like is said in one form, so that two who look at it say the
same. What is asked for in free words stands behind an opening that says of which part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.table import Stretch
from videoautoarena.agents.offline.language.tables import Dice, table
from videoautoarena.agents.offline.language.tongues import clock, times
from videoautoarena.agents.offline.vision.frame_features import COLOURS, FrameMeasurement
from videoautoarena.agents.offline.vision.looks import (
    LIGHTS,
    PictureLook,
    Values,
    likeness_to,
    likenesses,
    look_of,
    looks_of,
)
from videoautoarena.agents.prompting.fences import OfferedOptions

_QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "needle": (
        "Somewhere in this video another picture comes in for a short while that does "
        "not belong to the rest. Which of these is it?",
        "For a few seconds the video is broken into by a picture from elsewhere. What "
        "does that picture look like?",
        "One of these pictures is seen for a short time in the video, the others never. Which one?",
    ),
    "order": (
        "Pictures from elsewhere break into this video for a few seconds each. In which "
        "order do they come?",
        "Short scenes that do not belong to the rest were put into this video. Which is "
        "their order, from the first to the last?",
        "In which order do these pictures appear in the video, each of them once and for "
        "a short time?",
    ),
    "count": (
        "How many times does {look} come in, each time for a few seconds?",
        "How often is the video broken into by {look}?",
        "Count the separate times at which {look} appears for a short while. How many are there?",
    ),
}
"""Wordings of questions with options, by the kind of item that they are asked for."""


class PictureSearch(NamedTuple):
    """What a question with options wants looked for."""

    kind: str
    """That the question is asked for: `needle`, `order` or `count`."""
    looks: tuple[tuple[PictureLook, ...], ...]
    """Of each option: one of a needle, several in their order; of a count the one that is asked."""
    counts: tuple[int, ...] = ()
    """Of each option of a count."""


def describe(glances: Sequence[FrameMeasurement]) -> str | None:
    """Return the words for a stretch; None where a second look would say otherwise."""
    look = look_of(glances)
    return None if look is None else _form().format(**look._asdict())


def describe_stretches(luma: Values, shares: Values, *, frames: int) -> list[str | None]:
    """Return what `describe` says of each stretch of so many frames of a sequence."""
    looks = looks_of(luma, shares, frames=frames)
    return [None if look is None else _form().format(**look._asdict()) for look in looks]


def fit(text: str, glance: FrameMeasurement) -> float:
    """Return how well a frame fits words that `describe` gave, 0 to 1; 0 for any others."""
    look = _look(text)
    return 0.0 if look is None else likeness_to(look, glance)


def fits(text: str, luma: Values, shares: Values) -> Values:
    """Return what `fit` does for each frame of a sequence, shape (n,)."""
    look = _look(text)
    return np.zeros(len(luma)) if look is None else likenesses(look, luma, shares)


def word_needle(dice: Dice) -> str:
    """Return a question whose options are descriptions, one of them of what broke in."""
    return str(dice.one(_QUESTIONS["needle"]))


def word_order(dice: Dice) -> str:
    """Return a question whose options are made by `in_order`."""
    return str(dice.one(_QUESTIONS["order"]))


def word_count(text: str, dice: Dice) -> str:
    """Return a question for how often the described picture breaks in; its options are numbers."""
    return str(dice.one(_QUESTIONS["count"])).format(look=text)


def in_order(texts: Sequence[str]) -> str:
    """Return one option of a question for the order: descriptions, the first to come first."""
    return str(table("language", "tasks")["then"]).join(texts)


def sought(offer: OfferedOptions) -> PictureSearch | None:
    """Return what a question of this form wants looked for; None for any other question."""
    asked = " ".join(offer.question.split())
    for text in _counted(asked):
        look = _look(text)
        if look is not None and all(option.isdecimal() for option in offer.options):
            return PictureSearch("count", ((look,),), tuple(map(int, offer.options)))
    for kind in ("needle", "order"):
        if asked in _QUESTIONS[kind]:
            return _sought_among(kind, offer.options)
    return None


class FreeTask(NamedTuple):
    """What a task in free words asks for."""

    part: Stretch | None
    """Of which part of the video; None of all of it."""
    question: str


def word_free(part: Stretch | None, question: str, dice: Dice) -> str:
    """Return a task that asks a question of a part, or of the whole."""
    opening = str(dice.one(_wordings("summary" if part is None else "scene")))
    times = {} if part is None else {"a": clock(part[0]), "b": clock(part[1])}
    return opening.format(**times) + question


def free(question: str) -> FreeTask:
    """Return what a question asks for, without the opening that `word_free` put before it."""
    for opening in _wordings("summary"):
        if question.startswith(opening):
            return FreeTask(None, question.removeprefix(opening))
    for opening in _wordings("scene"):
        before, between, after = re.split(r"\{[ab]\}", opening)
        found = re.match(
            rf"{re.escape(before)}(\S+){re.escape(between)}(\S+?){re.escape(after)}", question
        )
        given = times(f"{found[1]} {found[2]}") if found else ()
        if found and len(given) == 2:
            return FreeTask((min(given), max(given)), question[found.end() :])
    return FreeTask(None, question)


def _sought_among(kind: str, options: Sequence[str]) -> PictureSearch | None:
    found = []
    for option in options:
        parts = option.split(str(table("language", "tasks")["then"]))
        looks = [look for part in parts if (look := _look(part)) is not None]
        if len(looks) != len(parts) or (kind == "needle") != (len(parts) == 1):
            return None
        found.append(tuple(looks))
    return PictureSearch(kind, tuple(found))


def _counted(asked: str) -> list[str]:
    """Return what a question for a number of times asks about, by each wording that it has."""
    found = []
    for wording in _QUESTIONS["count"]:
        before, after = wording.split("{look}")
        if asked.startswith(before) and asked.endswith(after):
            found.append(asked[len(before) : len(asked) - len(after)])
    return found


def _look(text: str) -> PictureLook | None:
    found = _pattern().fullmatch(" ".join(text.split()))
    return PictureLook(*found.groups()) if found else None


@cache
def _pattern() -> re.Pattern[str]:
    colour = f"({'|'.join(COLOURS)})"
    light = f"({'|'.join(LIGHTS)})"
    return re.compile(_form().format(light=light, main=colour, second=colour))


def _form() -> str:
    return str(table("language", "tasks")["look"])


def _wordings(kind: Literal["scene", "summary"]) -> list[str]:
    found: list[str] = table("language", "tasks")[kind]
    return found
