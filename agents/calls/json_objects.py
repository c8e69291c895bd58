"""Finding the complete JSON objects in a text, in time that grows with its length and no faster.

Written for what models write: trailing commas, comments and bare line ends inside strings are let
pass. Other quotation marks are not: what stands between them is often somebody else's text, and
where it ended would be a guess.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

DEEPEST = 64
"""A text that nests deeper holds no object from there on."""
_MOST_WORK = 12
"""Most looks at each character; only a text made to waste time needs more than 3."""
_COST_OF_A_TRY = 100
"""Characters that could be looked at in the time of one attempt."""

# Possessive quantifiers and bounded gaps, so that time grows with a text's length and no faster.
_BLANK = re.compile(r"(?:\s++|//[^\n]{0,300}+(?:\n|\Z)|/\*.{0,300}?\*/)*+", re.DOTALL)
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(
    r"(?P<word>true|false|null|NaN|-?Infinity)"
    r"|-?(?:0|[1-9][0-9]*+)(?P<real>(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)"
)
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<bad>u[0-9a-fA-F]{0,3}|.))', re.DOTALL)
_LONGEST_KEY = 40
"""Characters of a key that are shown."""
_WORDS = {"true": True, "false": False}
# Python refuses by default to read more than 4,300 digits as an int.
_LONGEST_INT = 4000


@dataclass(frozen=True, slots=True)
class DoubleValue:
    """Stands for the value of a key that an object gives two different values."""

    key: str


class FoundObject(NamedTuple):
    """The object of a reply that binds, if any does."""

    value: dict[str, Any] | None
    is_cut: bool = False
    """An object begins and has no end."""
    is_thought: bool = False
    """There is an object, but among the model's reasoning."""
    end: int = 0
    """Where the object ends."""
    bad_escape: str | None = None
    """What is wrong with a backslash, which alone keeps the last object from being one."""


class _Broken(Exception):
    """What stands here is no object."""


@dataclass
class ObjectReader:
    """Reads objects out of one text; what it learns in one attempt spares it others."""

    text: str
    at: int = 0
    is_cut: bool = False
    """The text ended before the object of the last attempt did."""
    bad_escape: str | None = None
    """What is wrong with a backslash, where nothing else kept the last attempt from an object: in
    a sentence for whoever wrote it. `at` is the end of what would have been the object."""
    looked_at: int = 0
    _open: list[int] = field(default_factory=list)
    _hopeless: set[int] = field(default_factory=set)
    _work: int = 0
    _is_plain: bool = True
    _key: str = ""
    """Key of the value that is being read."""

    def object_at(self, start: int) -> dict[str, Any] | None:
        """Return the complete object that begins at `start`, with `at` at its end, or None."""
        self.is_cut = False
        self.bad_escape = None
        self._key = ""
        if start in self._hopeless or self._work > _MOST_WORK * (len(self.text) + 10_000):
            return None
        self.at = start
        self._open = []
        try:
            found = self._plain()
            found = self._object() if found is None else found
            return found if self.bad_escape is None else None
        except _Broken:
            if self.bad_escape is None:
                # Whatever is still open breaks at the same place when it is tried by itself.
                self._hopeless.update(self._open)
            else:
                # Broken before that: what follows the escape is read as if nobody had looked.
                self.bad_escape = None
                self.is_cut = False
            return None
        finally:
            self.looked_at += self.at - start
            self._work += self.at - start + _COST_OF_A_TRY

    def _plain(self) -> dict[str, Any] | None:
        """Return the object if it is JSON as it should be, which nearly all are; `at` is its end.

        Twenty times as fast as the other way, which one failure is enough to turn to for good: so
        a text made to waste time wastes no more of it.
        """
        if not self._is_plain:
            return None
        start = self.at
        try:
            found, end = _DECODER.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            self._is_plain = False
            return None
        if self.text.count("{", start, end) + self.text.count("[", start, end) > DEEPEST:
            return None
        self.at = end
        return dict(found)

    def _object(self) -> dict[str, Any]:
        return _dict(self._items("}", self._pair))

    def _items(self, end: str, item: Callable[[], T]) -> Iterator[T]:
        """Yield what stands between a bracket and its `end`."""
        self._open.append(self.at)
        self.at += 1
        if len(self._open) > DEEPEST:
            if self.bad_escape is None:
                self._work = sys.maxsize
            raise _Broken
        while not self._takes(end):
            yield item()
            if not self._takes(","):
                self._needs(end)
                break
        self._open.pop()

    def _pair(self) -> tuple[str, Any]:
        self._key = ""
        key = self._string()
        self._needs(":")
        self._key = key
        return key, self._value()

    def _value(self) -> Any:
        self._skip()
        match self.text[self.at]:
            case "{":
                return self._object()
            case "[":
                return list(self._items("]", self._value))
            case '"':
                return self._string()
        scalar = _SCALAR.match(self.text, self.at)
        if scalar is None:
            raise _Broken
        self.at = scalar.end()
        if scalar["word"] is not None:
            return _WORDS.get(scalar["word"])
        return _real(scalar[0]) if scalar["real"] else _whole(scalar[0])

    def _string(self) -> str:
        self._skip()
        found = _STRING.match(self.text, self.at)
        if found is None:
            self.is_cut = self.text[self.at] == '"'
            raise _Broken
        self.at = found.end()
        try:
            # strict=False lets bare line ends inside a string pass.
            return str(json.loads(found[0], strict=False))
        except ValueError:
            # What it should say would be a guess; where the object ends is none.
            self.bad_escape = self.bad_escape or _about_escape(found[0], self._key)
            self._hopeless.update(self._open)
            return found[0][1:-1]

    def _takes(self, mark: str) -> bool:
        self._skip()
        if self.text[self.at] != mark:
            return False
        self.at += 1
        return True

    def _needs(self, mark: str) -> None:
        if not self._takes(mark):
            raise _Broken

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        if self.at == len(self.text):
            self.is_cut = True
            raise _Broken


def _about_escape(written: str, key: str) -> str:
    """Return what is wrong with the first bad escape of a string, and what to write instead."""
    bad = next((mark["bad"] for mark in _ESCAPE.finditer(written) if mark["bad"]), "")
    if bad.isprintable():
        shown = f"\\{bad}"
    else:
        shown = f"a backslash before the character U+{ord(bad[0]):04X}"
    place = f" under {json.dumps(key[:_LONGEST_KEY])}" if key.isprintable() and key else ""
    cure = "write \\\\ for a backslash, or leave it out"
    if bad.startswith("u"):
        cure = "\\u needs four hex digits; " + cure
    elif bad in ("'", "`"):
        cure = f"write {bad} alone"
    return f"the text{place} holds {shown}, which is no escape in JSON; {cure}"


def _dict(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        is_new = key not in found or found[key] == value
        found[key] = value if is_new else DoubleValue(key)
    return found


def _whole(digits: str) -> int | float | None:
    return int(digits) if len(digits) <= _LONGEST_INT else _real(digits)


def _real(digits: str) -> float | None:
    """Return a number; None, which no schema takes, for one beyond all floats."""
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_dict,
    parse_int=_whole,
    parse_float=_real,
    # NaN and Infinity are no JSON; no schema takes None in their place.
    parse_constant=lambda _: None,
)
