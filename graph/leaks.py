"""Whether what an item asks for stands in a text already, in whatever words.

The value of an item is what it asks for beyond the user's own words: times, numbers, colours and
other telling words. A text that holds all of these gives it away, whoever reads it, even where
nobody could say how it is put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOCK = r"(?:(?P<h>\d+):)?(?P<m>\d{1,2}):(?P<s>\d{2}(?:\.\d+)?)"
_SPOKEN = r"(?P<n>\d+(?:\.\d+)?)\s*(?P<unit>s|secs?|seconds?|m|mins?|minutes?)\b"
_PAIRED = (
    r"(?P<pm>\d+)\s*(?:m|min|minutes?)\s*(?:and\s*)?(?P<ps>\d+(?:\.\d+)?)\s*(?:s|sec|seconds?)\b"
)
_LABEL = r"\bt\s*=\s*(?P<t>\d+(?:\.\d+)?)"
_TIME = re.compile(rf"{_CLOCK}|{_PAIRED}|{_LABEL}|{_SPOKEN}", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.:])\d+(?:\.\d+)?(?![\w:]|\.\d)")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMERALS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty
"""
_COUNTS = tuple(_NUMERALS.split())
_TIMES_OF = {"once": 1, "twice": 2, "thrice": 3}
_MINUTE = 60.0
_SMALL = """
    a an and any are as asked at be been before being between both but by can come comes could
    did do does doing done during each either else every find for from gave get gets give given
    gives had has have having he her here him his how i if in into is it its itself just let
    like made make makes many may me mention mentions might more most much must my name named
    names nor not of off on once only or other our out over own point points put puts said same
    say saying says see seen she should show shown shows so some state stated states such than
    that the their them then there these they thing this those to too under up us use user very
    was we were what when where whether which while who whom whose why will with would yes no
    you your answer answers reply replies video moment time times second seconds minute minutes
"""
SMALL = frozenset(_SMALL.split())
"""Words that tell nothing of what was seen."""
SLACK_S = 0.25
"""So far from a time that an item names alone another still says it."""


def plain(text: str) -> str:
    """Return the words of a text in small letters, with nothing else."""
    return " ".join(_WORD.findall(text.casefold()) + re.findall(r"\d+", text))


@dataclass(frozen=True)
class Values:
    """What an item asks for."""

    spans: tuple[tuple[float, float], ...] = ()
    """Stretches of time in seconds, of which a time within says it."""
    numbers: frozenset[float] = frozenset()
    words: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.spans or self.numbers or self.words)

    def stands_in(self, text: str) -> bool:
        """Return whether a text holds all of it; what is nothing stands in no text."""
        if not self:
            return False
        times = _times(text)
        said = set(_stems(text))
        return (
            all(any(a <= time <= b for time in times) for a, b in self.spans)
            and self.numbers <= _numbers(text)
            and self.words <= said
        )


def values_in(item: str, *, but: str = "") -> Values:
    """Return what an item asks for that stands not in `but`, the words of the user."""
    times = _times(item)
    known = _times(but)
    spans: tuple[tuple[float, float], ...] = ()
    if len(times) == 2 and times[0] < times[1]:
        spans = ((times[0], times[1]),)
    elif times:
        spans = tuple((time - SLACK_S, time + SLACK_S) for time in times)
    spans = tuple(span for span in spans if not any(span[0] <= one <= span[1] for one in known))
    words = frozenset(_stems(item)) - frozenset(_stems(but)) - SMALL
    # Where a time or a number decides, the words around it are the label of what is asked.
    numbers = _numbers(item) - _numbers(but)
    if spans or numbers:
        return Values(spans, numbers)
    return Values((), frozenset(), words)


def _times(text: str) -> list[float]:
    found = []
    for one in _TIME.finditer(text):
        if one["m"] is not None:
            found.append((int(one["h"] or 0) * 60 + int(one["m"])) * _MINUTE + float(one["s"]))
        elif one["pm"] is not None:
            found.append(int(one["pm"]) * _MINUTE + float(one["ps"]))
        elif one["t"] is not None:
            found.append(float(one["t"]))
        else:
            scale = _MINUTE if one["unit"].lower().startswith("m") else 1.0
            found.append(float(one["n"]) * scale)
    return found


def _numbers(text: str) -> frozenset[float]:
    """Return the numbers of a text that are no times, written as digits or words."""
    bare = _TIME.sub(" ", text)
    found = {float(one) for one in _NUMBER.findall(bare)}
    for word in _WORD.findall(bare.casefold()):
        if word in _TIMES_OF:
            found.add(float(_TIMES_OF[word]))
        elif word in _COUNTS:
            found.add(float(_COUNTS.index(word)))
    return frozenset(found)


def _stems(text: str) -> list[str]:
    """Return the words of a text without the commonest endings."""
    return [_stem(word) for word in _WORD.findall(_TIME.sub(" ", text).casefold())]


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
