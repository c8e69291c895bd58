"""Numbers, times and colours in prose, found and written, and choices that follow from content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeVar

from videoautoarena.agents.offline.facets.facet import Stretch
from videoautoarena.agents.offline.language.tongues import ENGLISH, Tongue

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


TimeStyle = Literal["clock", "short", "long", "plain"]


def number(written: str, tongue: Tongue = ENGLISH) -> int:
    """Return the number that the language's pattern matched."""
    return int(written) if written.isdigit() else tongue.numerals[written.lower()]


def counted(n: int, *, style: Literal["words", "digits"], tongue: Tongue = ENGLISH) -> str:
    """Return the number in words up to twenty, or in digits."""
    return tongue.counting[n] if style == "words" and n < len(tongue.counting) else str(n)


def colours(text: str, tongue: Tongue = ENGLISH) -> tuple[str, ...]:
    """Return the colours named, repeats in a row folded, shades under their common name."""
    named = (tongue.shades[match[1].lower()] for match in tongue.colour.finditer(text))
    return tuple(colour for colour, _ in groupby(named))


def times(text: str, tongue: Tongue = ENGLISH) -> tuple[float, ...]:
    """Return the times given, in seconds."""
    return tuple(_seconds(match) for match in tongue.time.finditer(text))


def without_times(text: str, tongue: Tongue = ENGLISH) -> str:
    return tongue.time.sub(" ", text)


def stretches(text: str, duration_s: float, tongue: Tongue = ENGLISH) -> Stretch | None:
    """Return when the text says that something is: an instant, a range, or a rough part."""
    given = times(text, tongue)
    if len(given) >= 2 and tongue.range.search(text):
        return min(given[:2]), max(given[:2])
    if given:
        return given[0], given[0]
    for pattern, start, end in tongue.rough:
        if pattern.search(text):
            return start * duration_s, end * duration_s
    return None


def clock(time_s: float, *, style: TimeStyle = "clock", tongue: Tongue = ENGLISH) -> str:
    """Return a time to the tenth of a second."""
    if style == "clock":
        minutes, tenths = divmod(round(time_s * 10), 600)
        said = f"{minutes}:{tenths / 10:04.1f}"
    else:
        said = f"{time_s:.1f}{tongue.said['units'][style]}"
    return said.replace(".", tongue.said["decimal"])


def _seconds(match: re.Match[str]) -> float:
    minutes = match["minutes"]
    rest = match["rest"] or match["after"] or match["before"]
    return 60 * float(minutes or 0) + float(rest.replace(",", "."))
