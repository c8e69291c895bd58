"""The languages that offline models speak: how each is known, read and written. Tables only.

A language is a file of patterns in `tongues/`, and phrase books beside this room's own in a folder
that has its code for a name. Both hold data and no code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal

from videoautoarena.agents.offline.facets.table import Stretch
from videoautoarena.agents.offline.language.tables import table
from videoautoarena.agents.offline.vision.frame_features import COLOURS

CODES = ("en", "de")
"""The languages there are; where nothing tells which one it is, it is the first."""

Pattern = re.Pattern[str]

COVERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sequence": ("darkest", "brightest", "busiest", "plainest", "liveliest", "ending_light"),
        "longest": ("shots", "first_cut", "last_cut", "main_colour"),
        "shortest": ("shots", "first_cut", "last_cut"),
        "still": ("shots", "liveliest"),
        "blanks": ("main_colour", "shots"),
        "colour_order": ("open_colour", "close_colour", "main_colour", "shots"),
        "open_colour": ("main_colour", "shots"),
        "close_colour": ("main_colour", "shots"),
        "ending_light": ("open_colour", "close_colour", "darkest", "brightest"),
        "pace": ("shots", "first_cut", "last_cut", "motion_half"),
        "motion_half": ("liveliest", "still"),
        # "No earlier scene returns" was once heard as a video of no shots.
        "returns": ("shots", "first_cut", "last_cut", "longest", "shortest"),
        "first_cut": ("shots", "open_colour"),
        "last_cut": ("shots", "close_colour"),
    }
)
"""A facet and those that its words also seem to name, in any language."""


@dataclass(frozen=True, eq=False)
class SpokenLanguage:
    """One language. Patterns take no notice of case, but for the one that parts clauses."""

    code: str
    words: Mapping[str, Any]
    """The tables in its file."""

    def pattern(self, name: str) -> Pattern:
        """Return the pattern that its file holds under a name."""
        return _compiled(self, str(self.words[name]))

    def patterns(self, kind: str, key: str | None = None) -> dict[str, Pattern]:
        """Return the patterns that its file holds by name, or those of one name of several."""
        return _compiled_each(self, kind, key)

    def compiled(self, text: str) -> Pattern:
        """Return a pattern of its file, whose parts are named as in `<tone>`."""
        return _compiled(self, text)

    @cached_property
    def colour(self) -> Pattern:
        """A colour by any name, which is group 1."""
        before = self.words["shade_starts"]
        after = self.words["shade_ends"]
        return _compiled(self, rf"\b{before}({'|'.join(self.words['shades'])}){after}\b")

    @cached_property
    def numerals(self) -> dict[str, int]:
        """Every word for a number."""
        more: dict[str, int] = self.words["numbers"]
        return {word: n for n, word in enumerate(self.words["counting"])} | more

    @property
    def said(self) -> Mapping[str, Any]:
        """How lists, plurals and headings are written."""
        found: Mapping[str, Any] = self.words["said"]
        return found

    def name(self, value: object) -> str:
        """Return the word for a colour or a moment that has a name in the table of facets."""
        return str(self.said["names"].get(str(value), value))

    def label(self, key: str, label: str) -> str:
        """Return how a person names a facet whose English name is `label`."""
        return str(self.said["labels"].get(key, label))

    @cached_property
    def parts(self) -> dict[str, str]:
        """Parts that patterns may name, by name."""
        # The longest first: "four" would match the beginning of "fourteen".
        numerals = sorted(self.numerals, key=len, reverse=True)
        hues = COLOURS if self.code == CODES[0] else tuple(self.words["shades"])
        return {
            **self.words["parts"],
            "number": self.words["number"],
            "numerals": "|".join(numerals),
            "hue": f"(?:{'|'.join(hues)})",
            "landmark": f"(?:{'|'.join(self.words['landmarks'].values())})",
        }


_PART = re.compile(r"(?<!\?P)<([a-z]\w*)>")


@cache
def _compiled(language: SpokenLanguage, text: str) -> Pattern:
    # Parts may name further parts.
    while found := _PART.search(text):
        text = text.replace(found[0], language.parts[found[1]])
    return re.compile(text, re.IGNORECASE)


@cache
def _compiled_each(language: SpokenLanguage, kind: str, key: str | None) -> dict[str, Pattern]:
    texts: dict[str, str] = language.words[kind] if key is None else language.words[kind][key]
    return {name: _compiled(language, text) for name, text in texts.items()}


@cache
def tongue(code: str) -> SpokenLanguage:
    """Return a language by its code; KeyError if nobody speaks it."""
    if code not in CODES:
        raise KeyError(code)
    return SpokenLanguage(code, table("language/tongues", code))


def spoken(code: str | None) -> str:
    """Return the language to speak where this one is asked for; the first for any other."""
    return code if code in CODES else CODES[0]


ENGLISH = tongue(CODES[0])


@lru_cache(maxsize=1024)
def leading(text: str) -> SpokenLanguage | None:
    """Return the language whose words a text has most of; None if two have as many."""
    found = {code: len(tongue(code).pattern("marks").findall(text)) for code in CODES}
    most = max(found.values())
    best = [code for code, count in found.items() if count == most]
    return tongue(best[0]) if len(best) == 1 else None


def told(text: str, usual: SpokenLanguage = ENGLISH) -> SpokenLanguage:
    """Return the language that leads in a text; `usual` where none does."""
    return leading(text) or usual


TimeStyle = Literal["clock", "short", "long", "plain"]


def number(written: str, tongue: SpokenLanguage = ENGLISH) -> int:
    """Return the number that the language's pattern matched."""
    return int(written) if written.isdigit() else tongue.numerals[written.lower()]


def counted(n: int, *, style: Literal["words", "digits"], tongue: SpokenLanguage = ENGLISH) -> str:
    """Return the number in words up to twenty, or in digits."""
    return (
        tongue.words["counting"][n]
        if style == "words" and n < len(tongue.words["counting"])
        else str(n)
    )


def colours(text: str, tongue: SpokenLanguage = ENGLISH) -> tuple[str, ...]:
    """Return the colours named, repeats in a row folded, shades under their common name."""
    named = (tongue.words["shades"][match[1].lower()] for match in tongue.colour.finditer(text))
    return tuple(colour for colour, _ in groupby(named))


def times(text: str, tongue: SpokenLanguage = ENGLISH) -> tuple[float, ...]:
    """Return the times given, in seconds."""
    return tuple(_seconds(match) for match in tongue.pattern("time").finditer(text))


def without_times(text: str, tongue: SpokenLanguage = ENGLISH) -> str:
    return tongue.pattern("time").sub(" ", text)


def stretches(text: str, duration_s: float, tongue: SpokenLanguage = ENGLISH) -> Stretch | None:
    """Return when the text says that something is: an instant, a range, or a rough part."""
    given = times(text, tongue)
    if len(given) >= 2 and tongue.pattern("range").search(text):
        return min(given[:2]), max(given[:2])
    if given:
        return given[0], given[0]
    for rough, start, end in tongue.words["rough"]:
        if tongue.compiled(rough).search(text):
            return start * duration_s, end * duration_s
    return None


def clock(time_s: float, *, style: TimeStyle = "clock", tongue: SpokenLanguage = ENGLISH) -> str:
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
