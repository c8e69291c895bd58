"""What an item of a checklist asks for, and whether it stands in a text in whatever words.

An item's value is its times, else its numbers, else its words that the question does not hold. A
time stands in a text where one of its times falls into the item's stretch, a number where the same
one does, words where all of them do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

NEAR_S = 0.5
"""A time this far from an item's one time is the same."""
_WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
)
_NUMBERS = {word: float(number) for number, word in enumerate(_WORDS.split(), 2)}
_NUMBERS |= {word: 10.0 * number for number, word in enumerate(["thirty", "forty", "fifty"], 3)}
"""As words; "one" mostly counts nothing."""
_FOUND = re.compile(
    r"(?P<minutes>\d{1,3}):(?P<rest>[0-5]\d(?:\.\d+)?)"
    rf"|(?P<number>\d+(?:[.,]\d+)?|\b(?:{'|'.join(_NUMBERS)})(?![\w]))"
    r"(?P<unit>[ -]?(?:s|sec|secs|seconds?|min|mins|minutes?)\b)?",
    re.IGNORECASE,
)
_AT = re.compile(r"\b(?:at|around|about|near|by|to|until|till|from|between|and|after|before)\s*$")
_SMALL_TEXT = """
a an the this that these those it its it's is are was were be been being do does did has
have had having of in on at to from by for with as and or but if than then so not no nor
yes such there here which who whom whose what when where why how that answer answers say
says said tell tells told name names named give gives given put puts state states mention
mentions report reports claim claims speak speaks any some all each both either one ones
user video between before after within least most about around second seconds minute
minutes s sec min would can could may might will shall should i you he she they we me him
her them us my your his their our also only just very more less other another time times
"""
_SMALL = frozenset(_SMALL_TEXT.split())


class Values(NamedTuple):
    """What an item asks for."""

    stretch: tuple[float, float] | None
    """In seconds."""
    numbers: frozenset[float]
    words: frozenset[str]

    def __bool__(self) -> bool:
        return self.stretch is not None or bool(self.numbers or self.words)

    def stands_in(self, text: str) -> bool:
        """Return whether all of it stands in a text, whatever is around it."""
        times, numbers = _counted(text)
        if self.stretch is not None:
            start_s, end_s = self.stretch
            if not any(start_s <= time_s <= end_s for time_s in times):
                return False
        return self.numbers <= set(numbers) and self.words <= content(text)


def values_in(text: str, *, but: str) -> Values:
    """Return the values of an item that the question, `but`, does not hold."""
    times, numbers = _counted(text)
    if times and numbers:
        # Of "between 10 and 14 seconds" only the second has its unit.
        times, numbers = [*times, *numbers], []
    if times:
        slack_s = NEAR_S if min(times) == max(times) else 0.0
        stretch = min(times) - slack_s, max(times) + slack_s
        return Values(stretch, frozenset(), frozenset())
    if new := set(numbers) - set(_counted(but)[1]):
        return Values(None, frozenset(new), frozenset())
    words = {word for word in content(text) - content(but) if word.isalpha()}
    return Values(None, frozenset(), frozenset(words))


def plain(text: str) -> str:
    """Return the words of a text by which two are known for the same."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def is_given_away(yes: Sequence[str], asked: str, rest: Sequence[str]) -> bool:
    """Return whether the values of all items answered yes stand in the rest of a dialogue.

    Each has to stand in one text of it by itself; items without a value say nothing.
    """
    valued = [one for text in yes if (one := values_in(text, but=asked))]
    return bool(valued) and all(any(one.stands_in(text) for text in rest) for one in valued)


def _counted(text: str) -> tuple[list[float], list[float]]:
    """Return the times and the other numbers of a text; a bare one after "at" counts as both."""
    times, numbers = list[float](), list[float]()
    for found in _FOUND.finditer(text):
        if found["minutes"] is not None:
            times.append(60 * int(found["minutes"]) + float(found["rest"]))
            continue
        number = _number(found["number"])
        unit = (found["unit"] or "").strip(" -").lower()
        if unit:
            times.append(number * (60 if unit.startswith("m") else 1))
            continue
        numbers.append(number)
        if _AT.search(text[: found.start()].lower()):
            times.append(number)
    return times, numbers


def _number(text: str) -> float:
    word = text.lower()
    return _NUMBERS[word] if word in _NUMBERS else float(word.replace(",", "."))


def content(text: str) -> set[str]:
    """Return the stems of a text's words that are more than grammar."""
    return {
        _stem(word)
        for word in plain(text).split()
        if len(word) > 1 and word not in _SMALL and word not in _NUMBERS
    }


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
