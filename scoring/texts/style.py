"""How an answer looks: its length, markup and named details, and how two answers differ.

Named details stand in for the number of named entities by which VisionArena measures how specific
an answer is; theirs comes from a language model, ours from rules that can be read here. Capitals
are what it takes for a name. So German, whose nouns all have them, counts high on both sides, and
scripts without capitals (Chinese, Arabic, Hindi, ...) count times, dates, numbers with a unit and
what stands in quotation marks alone.

Ratings with style control ask what is left of a preference when the longer and the more decorated
answer gets no credit for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from videoautoarena.scoring.fitting.counts import Floats

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
_UNITS = (
    "seconds?|secs?|minutes?|mins?|hours?|hrs?|ms|s|h|days?|weeks?|years?|fps|frames?"
    "|millimet(?:er|re)s?|centimet(?:er|re)s?|kilomet(?:er|re)s?|met(?:er|re)s?|mm|cm|km|m|miles?"
    "|mph|km/h|inch(?:es)?|feet|foot|ft|yards?|kilograms?|grams?|kg|mg|g|pounds?|lbs?|ounces?|oz"
    "|millilit(?:er|re)s?|lit(?:er|re)s?|ml|l|cups?|tablespoons?|tbsp|teaspoons?|tsp"
    "|pixels?|px|[kKMGT]B|Hz|kHz|MHz|GHz|[kMG]?W|volts?|V|degrees?|°[CF]?|percent|dollars?|euros?"
)
_CAPITAL = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪĮİĶŁŃŇŐŒŘŚŞŠŢŤŪŮŰŹŻŽΑ-ΩЀ-Я]"
_JOINT = r"(?:of the|of|the|de la|de|du|da|von|van|der|and|&)"
# Each pattern begins with one set of characters, so that a search can skip all others.
_QUOTED = re.compile(r'[“"«「『](?:(?<=")[^"\n]{1,60}"|[^“”"«»「」『』\n]{1,60}[”»」』])')
_NAMES = re.compile(rf"{_CAPITAL}[\w'’&-]*(?: (?:{_JOINT} )?{_CAPITAL}[\w'’&-]*)*")
_NUMBERS = re.compile(
    rf"""
    [0-9$€£¥](?:
        (?<=[$€£¥])\ ?\d[\d.,]*
        |(?<=\d)\d{{3}}-\d\d-\d\d\b
        |(?<=\d)\d?(?:st|nd|rd|th)?\ (?:{_MONTHS})\b\.?(?:,?\ \d{{4}})?
        |(?<=\d)\d?(?::\d\d){{1,2}}(?:\.\d+)?(?:\ ?[ap]\.?m\b)?
        |(?<=\d)\d?\ ?[ap]m\b
        |(?<=\d)\d*(?:[.,]\d+)*(?:\ ?%|[\ -]?(?:{_UNITS})(?!\w)|\ ?[秒分时時年月日米초분])
        |(?<=1)[5-9]\d\d(?![\w.,]*\d)
        |(?<=2)0\d\d(?![\w.,]*\d)
    )
    """,
    re.VERBOSE,
)
"""Sums of money, dates, times, numbers with a unit, and years from 1500."""
_LINE_OPENS = re.compile(
    r"^[ \t>]*(?:\#{1,6}[ \t].*$|(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
    r"(?:\*\*[^*\n]{1,80}\*\*|__[^_\n]{1,80}__)[ \t]*(?=[:–—-]|$)|(?:[-*+•]|\d{1,3}[.)])[ \t]+)",
    re.MULTILINE,
)
"""Headings, bold labels and list marks: their capitals are layout, not names."""
_ENDS = frozenset(".!?:;…。！？\n")
_PRONOUNS = ("", "i", "i'm", "i’m", "i'd", "i’d", "i'll", "i’ll", "i've", "i’ve")
_FORMS = ("ok", "okay", "tv", "vs", "a", "b", "c", "yes", "no", "json", "html", "csv", "faq")
_NO_NAMES = frozenset((*_PRONOUNS, *_FORMS))
_MOST_QUOTED = 6
"""Words in quotation marks that are still a name."""


def count_names(text: str) -> int:
    """Return how many distinct names, times, dates and measured numbers `text` holds.

    Counted are runs of capitalised words (a joint such as "of the" may stand inside), without the
    word that opens a sentence, a heading or a label; numbers with a unit, a percent sign or a
    currency; times of day or of a video; dates and years; and up to six words in quotation marks.
    """
    found: set[str] = set()

    def take_quoted(match: re.Match[str]) -> str:
        words = match[0][1:-1].split()
        if 0 < len(words) <= _MOST_QUOTED:
            found.add(" ".join(words).casefold().strip(".,!?"))
        # A word in its place keeps the words around it from being read as one name.
        return " x "

    def take_number(match: re.Match[str]) -> str:
        if _is_inside(match):
            return match[0]
        found.add(" ".join(match[0].split()).casefold().rstrip(".,"))
        return " x "

    prose = _QUOTED.sub(take_quoted, _LINE_OPENS.sub("\n", text))
    prose = _NUMBERS.sub(take_number, prose)
    found.update(_name(match) for match in _NAMES.finditer(prose) if not _is_inside(match))
    return len(found - _NO_NAMES)


def _is_inside(match: re.Match[str]) -> bool:
    """Return whether a match begins within a word; in a script without blanks none does."""
    # At the very start the slice runs from -1 to 0, which is empty and not the last character.
    before = match.string[match.start() - 1 : match.start()]
    return before.isascii() and before.isalnum()


def _name(match: re.Match[str]) -> str:
    """Return what a run of capitalised words names; empty where its only word opens a sentence."""
    said = match[0]
    prose = match.string
    before = prose[max(0, match.start() - 8) : match.start()].rstrip(" \t*_\"'“‘’«([–—-")
    if not before or before[-1] in _ENDS:
        said = _JOINED.sub("", said.partition(" ")[2])
    return said.casefold().rstrip("-&’'")


_JOINED = re.compile(rf"\A{_JOINT} ")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = {
    "headers": re.compile(r"^ {0,3}#{1,6}\s", re.MULTILINE),
    "lists": re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
FEATURES = ("length", *_MARKUP, "specificity")
"""Words and signs, headings, list items, bold passages, names."""


def count_style(answer: str) -> tuple[int, ...]:
    """Return one count for each of FEATURES; markup inside code blocks is no markup."""
    prose = _CODE.sub("", answer)
    markup = (len(pattern.findall(prose)) for pattern in _MARKUP.values())
    return (count_words(answer), *markup, count_names(prose))


def count_words(answer: str) -> int:
    """Return how many words and signs an answer has."""
    return len(_TOKEN.findall(answer))


def measure_styles(answers: Iterable[str]) -> Floats:
    """Return the counts of many answers, shape (answers, features)."""
    counted = [count_style(answer) for answer in answers]
    return np.array(counted, dtype=np.float64).reshape(-1, len(FEATURES))


def compare_styles(first: Floats, second: Floats) -> Floats:
    """Return (a - b) / (a + b) of counts or other sizes, in [-1, 1], 0 where both are 0.

    All arrays have the shape (battles, features); sizes are not below zero. Source: Li,
    Angelopoulos and Chiang (2024), Does Style Matter?
    """
    total = first + second
    return np.divide(first - second, total, out=np.zeros_like(total), where=total > 0)


def standardise(differences: Floats) -> tuple[Floats, Floats]:
    """Return differences in units of their root mean square, and those units; 0 where all are 0.

    No mean is taken off, so that swapping the seats only turns signs.
    """
    units = np.sqrt((differences**2).mean(axis=0)) if len(differences) else differences.sum(axis=0)
    return np.divide(differences, units, out=np.zeros_like(differences), where=units > 0), units
