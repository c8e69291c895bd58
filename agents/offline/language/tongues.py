"""The languages that offline models speak: how each is known, read and written. Tables only.

A language is a file of patterns in `tongues/`, and phrase books beside this room's own in a folder
that has its code for a name. Both hold data and no code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
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
    """What its file holds."""

    @cached_property
    def marks(self) -> Pattern:
        """Words by which a text is known to be in it."""
        return self._pattern(self.words["marks"])

    @cached_property
    def topics(self) -> dict[str, Pattern]:
        """By which words a statement or a question is known to speak of a facet."""
        return self._patterns("topics")

    @cached_property
    def stems(self) -> dict[str, Pattern]:
        """What only hints at a facet; enough with a value of the right type, for what was asked."""
        return self._patterns("stems")

    @cached_property
    def sides(self) -> dict[str, dict[str, Pattern]]:
        """For facets of few answers: what names each side. The first that matches holds."""
        sides: dict[str, dict[str, str]] = self.words["sides"]
        return {
            key: {side: self._pattern(one) for side, one in named.items()}
            for key, named in sides.items()
        }

    @cached_property
    def landmarks(self) -> dict[str, Pattern]:
        """The names of the three moments that are put in order."""
        return self._patterns("landmarks")

    @cached_property
    def no_cut(self) -> Pattern:
        return self._pattern(self.words["no_cut"])

    @cached_property
    def hedge(self) -> Pattern:
        """Neither right nor wrong: a unit that admits not to know claims nothing."""
        return self._pattern(self.words["hedge"])

    @cached_property
    def counts(self) -> tuple[tuple[Pattern, int], ...]:
        """How a number of shots is said, and what is to be added to the number in group 1."""
        return tuple((self._pattern(one), extra) for one, extra in self.words["counts"])

    @cached_property
    def often(self) -> Pattern:
        """How it is said how many times something is: the number is group 1 or `often`."""
        return self._pattern(self.words["often"])

    @cached_property
    def clause_end(self) -> Pattern:
        return re.compile(self.words["clause_end"])

    @cached_property
    def between(self) -> Pattern:
        """What stands between two things asked for in one question."""
        return self._pattern(self.words["between"])

    @cached_property
    def formats(self) -> dict[str, Pattern]:
        return self._patterns("formats")

    @cached_property
    def fine(self) -> Pattern:
        """Words that ask for times to the tenth of a second."""
        return self._pattern(self.words["fine"])

    @cached_property
    def number(self) -> Pattern:
        """Matches a whole number in digits or words, which is group 1."""
        return self._pattern("<number>")

    @cached_property
    def counting(self) -> tuple[str, ...]:
        """The numbers from zero on, as far as they are written in words."""
        return tuple(self.words["counting"])

    @cached_property
    def numerals(self) -> dict[str, int]:
        """Every word for a number."""
        more: dict[str, int] = self.words["numbers"]
        return {word: n for n, word in enumerate(self.counting)} | more

    @cached_property
    def shades(self) -> dict[str, str]:
        """Every word for a colour, in small letters, and which of the twelve it is."""
        found: dict[str, str] = self.words["shades"]
        return found

    @cached_property
    def colour(self) -> Pattern:
        """A colour by any name, which is group 1."""
        before = self.words["shade_starts"]
        after = self.words["shade_ends"]
        return self._pattern(rf"\b{before}({'|'.join(self.shades)}){after}\b")

    @cached_property
    def time(self) -> Pattern:
        """A time: minutes and rest, or seconds with their unit after or before."""
        return self._pattern(self.words["time"])

    @cached_property
    def range(self) -> Pattern:
        """Words that make one stretch of two times."""
        return self._pattern(self.words["range"])

    @cached_property
    def rough(self) -> tuple[tuple[Pattern, float, float], ...]:
        """Rough parts of a video, as shares of its length."""
        return tuple((self._pattern(one), start, end) for one, start, end in self.words["rough"])

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

    def _patterns(self, kind: str) -> dict[str, Pattern]:
        return {key: self._pattern(one) for key, one in self.words[kind].items()}

    def _pattern(self, text: str) -> Pattern:
        """Return a pattern with its parts put in, wherever one is named as in `<tone>`."""
        while found := _PART.search(text):
            text = text.replace(found[0], self._parts[found[1]])
        return re.compile(text, re.IGNORECASE)

    @cached_property
    def _parts(self) -> dict[str, str]:
        numerals = sorted(self.numerals, key=len, reverse=True)
        hues = COLOURS if self.code == CODES[0] else tuple(self.shades)
        return {
            **self.words["parts"],
            "number": self.words["number"],
            "numerals": "|".join(numerals),
            "hue": f"(?:{'|'.join(hues)})",
            "landmark": f"(?:{'|'.join(self.words['landmarks'].values())})",
        }


_PART = re.compile(r"(?<!\?P)<([a-z]\w*)>")


@cache
def tongue(code: str) -> SpokenLanguage:
    """Return a language by its code; KeyError where nobody speaks it."""
    if code not in CODES:
        raise KeyError(code)
    return SpokenLanguage(code, table("language/tongues", code))


def spoken(code: str | None) -> str:
    """Return the language to speak where this one is asked for; the first for any other."""
    return code if code in CODES else CODES[0]


ENGLISH = tongue(CODES[0])


def leading(text: str) -> SpokenLanguage | None:
    """Return the language whose words a text has most of; None where two have as many."""
    found = {code: len(tongue(code).marks.findall(text)) for code in CODES}
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
    return tongue.counting[n] if style == "words" and n < len(tongue.counting) else str(n)


def colours(text: str, tongue: SpokenLanguage = ENGLISH) -> tuple[str, ...]:
    """Return the colours named, repeats in a row folded, shades under their common name."""
    named = (tongue.shades[match[1].lower()] for match in tongue.colour.finditer(text))
    return tuple(colour for colour, _ in groupby(named))


def times(text: str, tongue: SpokenLanguage = ENGLISH) -> tuple[float, ...]:
    """Return the times given, in seconds."""
    return tuple(_seconds(match) for match in tongue.time.finditer(text))


def without_times(text: str, tongue: SpokenLanguage = ENGLISH) -> str:
    return tongue.time.sub(" ", text)


def stretches(text: str, duration_s: float, tongue: SpokenLanguage = ENGLISH) -> Stretch | None:
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
