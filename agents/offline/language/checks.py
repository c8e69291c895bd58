"""Items of a checklist: yes-or-no questions about an answer, worded, read, and held against one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from videoautoarena.agents.offline.facets.facet import Stretch, Value, is_stretch, stretch
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.reader import hear, split_units
from videoautoarena.agents.offline.language.tables import table
from videoautoarena.agents.offline.language.turns import as_pattern
from videoautoarena.agents.offline.language.values import Dice, clock, colours, times

_LENGTH_S = 1e4
"""A video's length is in no checklist; of "near the start" nothing certain follows without it."""
_TENTH_S = 0.101
"""Times are said to the tenth of a second, in the item and in the answer."""
_ABSENT = re.compile(
    r"\b(there (is|are|was|were) no|no such|never|nowhere|at no time|not (in|to be found in) the"
    r" video|(is|was|are)(n['’]t| not) (in|shown|there|present|observed)"
    r"|(do|does|did)(n['’]t| not) (\w+ )?(contain|occur|appear|exist|show|reach)"
    r"|(will|can|could)(n['’]t| ?not) (find|see)|no (part|portion|stretch|moment|time)\b"
    r"|stays? (below|under))",
    re.IGNORECASE,
)
"""Words by which an answer says that something is not there."""


class Within(NamedTuple):
    """The answer puts a facet into a stretch of time."""

    key: str
    a: float
    b: float


class Gives(NamedTuple):
    """The answer gives a facet this value: a count, a colour, or one of few."""

    key: str
    value: str


class Absent(NamedTuple):
    """The answer says that what was asked for is not there."""


class Denies(NamedTuple):
    """The answer says that this colour never has a fifth of the picture."""

    colour: str


class Timed(NamedTuple):
    """The answer says when."""


class Overlaps(NamedTuple):
    """The stretch that the answer gives has some time in common with this one."""

    a: float
    b: float


class Names(NamedTuple):
    """The answer has this word."""

    word: str


class AsksBack(NamedTuple):
    """The answer asks the user something."""


Check: TypeAlias = Within | Gives | Absent | Denies | Timed | Overlaps | Names | AsksBack

_KINDS: dict[str, type[Check]] = {
    "within": Within,
    "gives": Gives,
    "absent": Absent,
    "denies": Denies,
    "timed": Timed,
    "overlaps": Overlaps,
    "names": Names,
    "asks": AsksBack,
}


def word_check(check: Check, dice: Dice) -> str:
    """Return the question about an answer; `read_check` understands it again, to the tenth."""
    kind = next(name for name, of in _KINDS.items() if isinstance(check, of))
    slots: dict[str, Any] = dict(check._asdict())
    for end in {"a", "b"} & set(slots):
        slots[end] = clock(max(0.0, slots[end]))
    if "key" in slots:
        slots["label"] = FACETS[slots["key"]].label
    return dice.one(_wordings(kind)).format(**slots)


def read_check(text: str) -> Check | None:
    """Return what a question about an answer wants to know; None for one in other words."""
    said = " ".join(text.split())
    for kind, pattern in _patterns():
        if found := pattern.fullmatch(said):
            return _KINDS[kind](**{k: _READ.get(k, str)(v) for k, v in _fields(found).items()})
    return None


@dataclass(frozen=True)
class Answer:
    """What was heard of an answer, once for all items of a checklist."""

    text: str
    units: Sequence[str]
    values: dict[str, Value]
    """Facet to the one value that is claimed for it; two that differ are none."""

    def meets(self, check: Check) -> bool:
        """Return whether the answer does what an item asks for."""
        if isinstance(check, Within):
            value = self.values.get(check.key)
            return value is not None and is_stretch(value) and _within(stretch(value), check)
        if isinstance(check, Gives):
            return phrase_value(self.values.get(check.key)) == check.value.casefold()
        if isinstance(check, Absent):
            return any(_ABSENT.search(unit) for unit in self.units)
        if isinstance(check, Denies):
            units = [unit for unit in self.units if check.colour in colours(unit)]
            return any(_ABSENT.search(unit) for unit in units)
        if isinstance(check, Timed):
            return bool(times(self.text))
        if isinstance(check, Overlaps):
            return _overlaps(self.units, check)
        if isinstance(check, Names):
            return re.search(rf"\b{re.escape(check.word)}\b", self.text, re.IGNORECASE) is not None
        return "?" in self.text


def hear_answer(text: str, checks: Iterable[Check]) -> Answer:
    """Return what is heard of an answer by whoever has these items in mind.

    All facets are listened for at once: one by one, whatever value stands there would be taken
    for each of them.
    """
    keys = [check.key for check in checks if isinstance(check, Within | Gives)]
    heard: dict[str, set[Value]] = {}
    for claim in hear(text, _LENGTH_S, list(dict.fromkeys(keys))).claims:
        heard.setdefault(claim.key, set()).add(claim.value)
    values = {key: next(iter(said)) for key, said in heard.items() if len(said) == 1}
    return Answer(text, split_units(text), values)


def phrase_value(value: Value | None) -> str:
    """Return how a checklist writes a value that is no time; nothing where there is none."""
    if isinstance(value, tuple):
        return ", then ".join(map(str, value))
    return "" if value is None else str(value)


def _within(claimed: Stretch, check: Within) -> bool:
    return check.a - _TENTH_S <= claimed[0] and claimed[1] <= check.b + _TENTH_S


def _overlaps(units: Sequence[str], check: Overlaps) -> bool:
    """Return whether the one stretch given does; of several nobody knows which is meant."""
    given = {(min(two), max(two)) for unit in units if len(two := times(unit)) == 2}
    if len(given) != 1:
        return False
    ((start, end),) = given
    return start <= check.b + _TENTH_S and end >= check.a - _TENTH_S


def _fields(found: re.Match[str]) -> dict[str, str]:
    return {("key" if name == "label" else name): said for name, said in found.groupdict().items()}


def _key_of(label: str) -> str:
    return next(key for key, facet in FACETS.items() if facet.label == label.lower())


_READ: dict[str, Callable[[str], Any]] = {
    "a": lambda said: times(said)[0],
    "b": lambda said: times(said)[0],
    "key": _key_of,
    "colour": str.lower,
    "value": str.lower,
}


def _wordings(kind: str) -> list[str]:
    found: list[str] = table("language", "dialogues")["checks"][kind]
    return found


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # the one that takes any word comes last
    kinds = sorted(_KINDS, key=lambda kind: kind == "names")
    return tuple(
        (kind, re.compile(as_pattern(one), re.IGNORECASE))
        for kind in kinds
        for one in _wordings(kind)
    )
