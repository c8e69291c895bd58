"""How known truth is asked about and answered: short and long, without a model's help.

Every wording stands for both answers of a case, so that nothing but what was seen tells which is
right. The long form says no more than the short one, at four times its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["needle", "card", "order", "count"]
KINDS: tuple[Kind, ...] = ("card", "needle", "order", "count")
Form = Literal["short", "long"]

PERSONA = "A person who watches with patience and wants to know what is on the screen, and when."
QUESTIONS: dict[Kind, str] = {
    "needle": "Once, a short piece of a different video interrupts this one. When does that "
    "happen?",
    "card": "Once, nothing but a single flat colour is to be seen from edge to edge. When is the "
    "picture at its plainest like that?",
    "order": "A black, a white and a chequered card each fill the picture once. In what order do "
    "they come: the darkest, the brightest and the busiest picture?",
    "count": "How many times does one flat {colour} fill the whole picture for a moment?",
}
SHORT: dict[Kind, str] = {
    "needle": "The different video breaks in at about {0} seconds.",
    "card": "The picture is plainest at about {0} seconds.",
    "order": "First comes the {0}, then the {1}, then the {2} picture.",
    "count": "Flat {colour} fills the picture {0} times.",
}
_BEFORE = (
    "I went through all of the video with this question in mind, part by part, and hurried over "
    "none of it. Whatever looked as if it might matter I held against what lies around it, so as "
    "not to be misled by something that merely resembles it."
)
_AFTER = (
    "That is my answer. I have kept to what was asked and left everything else aside, since it "
    "would only distract; should you look for yourself, you will know what to pay attention to."
)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


class Claim(NamedTuple):
    """One answer in both its forms."""

    short: str
    long: str

    def said(self, form: Form) -> str:
        """Return it in one of them."""
        return self.short if form == "short" else self.long


def put_claim(kind: Kind, values: Sequence[str], *, colour: str = "") -> Claim:
    """Return the answer that claims these values."""
    short = SHORT[kind].format(*values, colour=colour)
    return Claim(short, f"{_BEFORE} {short} {_AFTER}")


def ask_of(kind: Kind, *, colour: str = "") -> str:
    """Return the question of a kind."""
    return QUESTIONS[kind].format(colour=colour)


def say_time(time_s: float) -> str:
    """Return seconds to the tenth."""
    return f"{time_s:.1f}"


def say_number(number: int) -> str:
    """Return a small number in words."""
    return _NUMBERS[number]
