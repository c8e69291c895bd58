"""Numbers, times and colours in prose, found and written, and choices that follow from content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Any, Literal, TypeVar

from videoautoarena.agents.offline.facets.facet import Stretch
from videoautoarena.agents.offline.vision.frame_features import COLOURS

T = TypeVar("T")


class Dice:
    """A run of choices drawn from sha256 of `parts`, equal in every process and release."""

    def __init__(self, *parts: str | int) -> None:
        self._seed = json.dumps(parts).encode()
        self._throws = 0

    def below(self, n: int) -> int:
        """Return the next whole number from 0 to n - 1."""
        self._throws += 1
        digest = hashlib.sha256(self._seed + self._throws.to_bytes(4, "big")).digest()
        return int.from_bytes(digest[:8], "big") % n

    def one(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]


@cache
def table(room: str, name: str) -> Any:
    """Return what a JSON file of the offline models holds."""
    file = resources.files("videoautoarena.agents.offline").joinpath(room, f"{name}.json")
    return json.loads(file.read_text("utf-8"))


TimeStyle = Literal["clock", "short", "long", "plain"]

_COUNTING = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
_NUMBERS = {
    **{word: n for n, word in enumerate(_COUNTING)},
    **{"no": 0, "single": 1, "a single": 1, "once": 1},
    **{"twice": 2, "a couple of": 2, "a pair of": 2},
    **{"a dozen": 12, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "eighty": 80},
}
NUMBER = (
    r"(?<![\d.:])(\d{1,4}(?![\d:]|\.\d)|\b(?:"
    + "|".join(sorted(_NUMBERS, key=len, reverse=True))
    + r")\b)"
)
"""Matches a whole number in digits or words; group 1 is what `number` reads."""

_SHADES = {
    **{name: name for name in COLOURS},
    **dict.fromkeys(("gray", "silver", "slate"), "grey"),
    **dict.fromkeys(("cyan", "turquoise", "aqua"), "teal"),
    **dict.fromkeys(("violet", "lilac", "mauve"), "purple"),
    **dict.fromkeys(("magenta", "rose", "salmon"), "pink"),
    **dict.fromkeys(("tan", "beige", "sepia", "chestnut"), "brown"),
    **dict.fromkeys(("gold", "golden"), "yellow"),
    **dict.fromkeys(("navy", "azure", "indigo"), "blue"),
    **dict.fromkeys(("crimson", "scarlet", "maroon"), "red"),
    **dict.fromkeys(("cream", "ivory"), "white"),
    **dict.fromkeys(("lime", "olive", "emerald"), "green"),
    **{"amber": "orange", "charcoal": "black"},
}
_COLOUR = re.compile(r"\b(" + "|".join(_SHADES) + r")(?:ish|s)?\b", re.IGNORECASE)
_TIME = re.compile(
    r"(?<![\d:.])(?P<minutes>\d{1,3}):(?P<rest>\d{2}(?:\.\d+)?)(?![\d:])"
    r"|(?<![\d:.])(?P<after>\d+(?:\.\d+)?)(?:\s*|-)(?:s|secs?|seconds?)\b"
    r"|\b(?:second|sec\.|t\s?=)\s?(?P<before>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"\b(from|between)\b.{0,60}\b(to|and|until|till)\b|[–—]|\d\s?-\s?\d|\b(to|until)\b", re.I
)
_PARTS: tuple[tuple[str, float, float], ...] = (
    (r"(very|right at the) (start|beginning)|at the outset", 0, 0.1),
    (r"(near|around|towards?|at|in) the (start|beginning)|early on|soon after", 0, 0.25),
    (r"first third", 0, 1 / 3),
    (r"first half", 0, 0.5),
    (r"(around|near|about|in|roughly) the middle|half-?way|mid-?point", 0.38, 0.62),
    (r"(second|latter) half", 0.5, 1),
    (r"(last|final) third", 2 / 3, 1),
    (r"very (end|last)", 0.9, 1),
    (r"(near|towards?|at|close to|in) the (end|close|finish)|(final|last) moments", 0.75, 1),
    (r"throughout|all along|the whole (time|video)", 0, 1),
)


def number(written: str) -> int:
    """Return the number that NUMBER matched."""
    return int(written) if written.isdigit() else _NUMBERS[written.lower()]


def counted(n: int, *, style: Literal["words", "digits"]) -> str:
    """Return the number in words up to twenty, or in digits."""
    return _COUNTING[n] if style == "words" and n < len(_COUNTING) else str(n)


def colours(text: str) -> tuple[str, ...]:
    """Return the colours named, repeats in a row folded, shades under their common name."""
    named = (_SHADES[match[1].lower()] for match in _COLOUR.finditer(text))
    return tuple(colour for colour, _ in groupby(named))


def times(text: str) -> tuple[float, ...]:
    """Return the times given, in seconds."""
    return tuple(_seconds(match) for match in _TIME.finditer(text))


def without_times(text: str) -> str:
    return _TIME.sub(" ", text)


def stretches(text: str, duration_s: float) -> Stretch | None:
    """Return when the text says that something is: an instant, a range, or a rough part."""
    given = times(text)
    if len(given) >= 2 and _RANGE.search(text):
        return min(given[:2]), max(given[:2])
    if given:
        return given[0], given[0]
    for pattern, start, end in _PARTS:
        if re.search(pattern, text, re.IGNORECASE):
            return start * duration_s, end * duration_s
    return None


def clock(time_s: float, *, style: TimeStyle = "clock") -> str:
    """Return a time to the tenth of a second."""
    if style == "clock":
        minutes, tenths = divmod(round(time_s * 10), 600)
        return f"{minutes}:{tenths / 10:04.1f}"
    units = {"short": " s", "long": " seconds", "plain": "s"}
    return f"{time_s:.1f}{units[style]}"


def _seconds(match: re.Match[str]) -> float:
    if match["minutes"]:
        return float(match["minutes"]) * 60 + float(match["rest"])
    return float(match["after"] or match["before"])
