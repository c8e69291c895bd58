"""Tasks about a video: worded for whoever makes them, and read again by whoever is asked.

What a picture that breaks in looks like is said in one form, so that two who look at it say the
same. What is asked for in free words stands behind an opening that says of which part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.table import Stretch
from videoautoarena.agents.offline.language.dialogues import as_pattern
from videoautoarena.agents.offline.language.tables import Dice, table
from videoautoarena.agents.offline.language.tongues import clock, times
from videoautoarena.agents.offline.vision.looks import (
    PictureLook,
    Values,
    likenesses,
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
    """What a question with options asks to look for."""

    kind: str
    """Kind of item: `needle`, `order` or `count`."""
    looks: tuple[tuple[PictureLook, ...], ...]
    """Looks by option: one for a needle, several in order; a count has only the one counted."""
    counts: tuple[int, ...] = ()
    """Number that each option of a count names."""


def describe_stretches(luma: Values, shares: Values, *, frames: int) -> list[str | None]:
    """Return the words for each stretch of so many frames of a sequence.

    A stretch that a second look would describe otherwise has None.
    """
    looks = looks_of(luma, shares, frames=frames)
    form = str(table("language", "tasks")["look"])
    return [None if look is None else form.format(**look._asdict()) for look in looks]


def fits(text: str, luma: Values, shares: Values) -> Values:
    """Return how well each frame fits words that `describe_stretches` gave, 0 to 1, shape (n,).

    Other words fit no frame.
    """
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
    """Return what a question of this form asks to look for; None for any other question."""
    asked = " ".join(offer.question.split())
    words = table("language", "tasks")
    for wording in _QUESTIONS["count"]:
        found = as_pattern(wording).fullmatch(asked)
        look = _look(found["look"]) if found else None
        if look is not None and all(option.isdecimal() for option in offer.options):
            return PictureSearch("count", ((look,),), tuple(map(int, offer.options)))
    kind = "needle" if asked in _QUESTIONS["needle"] else "order"
    if asked not in _QUESTIONS[kind]:
        return None
    options = [option.split(words["then"]) for option in offer.options]
    looks = [tuple(look for part in parts if (look := _look(part))) for parts in options]
    for parts, read in zip(options, looks, strict=True):
        if len(read) != len(parts) or (kind == "needle") != (len(parts) == 1):
            return None
    return PictureSearch(kind, tuple(looks))


class FreeTask(NamedTuple):
    """What a task in free words asks for."""

    part: Stretch | None
    """Part of the video that is asked about; None: all of it."""
    question: str


def word_free(part: Stretch | None, question: str, dice: Dice) -> str:
    """Return a task that asks a question of a part, or of the whole."""
    openings = table("language", "tasks")["summary" if part is None else "scene"]
    opening = str(dice.one(openings))
    times = {} if part is None else {"a": clock(part[0]), "b": clock(part[1])}
    return opening.format(**times) + question


def free(question: str) -> FreeTask:
    """Return what a question asks for, without the opening that `word_free` put before it."""
    words = table("language", "tasks")
    for opening in (*words["summary"], *words["scene"]):
        if found := as_pattern(opening).match(question):
            given = times(" ".join(found.groups()))
            part = (min(given), max(given)) if given else None
            return FreeTask(part, question[found.end() :])
    return FreeTask(None, question)


def _look(text: str) -> PictureLook | None:
    found = as_pattern(table("language", "tasks")["look"]).fullmatch(" ".join(text.split()))
    return PictureLook(*map(str.lower, found.groups())) if found else None
