"""How figures and names are written for people: amounts, digits, units, names of models."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.terminal import safe

LEAST_USD = 0.0001


def dollars(usd: float | None) -> str:
    """Return an amount in cents, or in hundredths of a cent below a dollar."""
    if usd is None:
        return "unknown"
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= LEAST_USD / 2 else f"<${LEAST_USD}"


def in_series(names: Iterable[str], last: str = "and") -> str:
    """Return names as a sentence lists them: `needle, order and count`."""
    *others, end = names
    return f"{', '.join(others)} {last} {end}" if others else end


MOST_UNUSABLE = 8
"""The most that are named of what cannot be used, beside the first."""


def unusable_too(names: Sequence[str], unit: str = "") -> str:
    """Return the end of a refusal: which others, beside the first, cannot be used either."""
    if not names:
        return ""
    left = len(names) - MOST_UNUSABLE
    more = f" and {left:,} more" if left > 0 else ""
    return f"; {unit}{', '.join(names[:MOST_UNUSABLE])}{more} cannot be used either"


def short(number: float) -> str:
    """Return a number of tokens in at most six characters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        # From .9995 on three digits round up to the next letter: 999,500 is 1M and not 1e+03k.
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{letter}" if number < 999.5 * size else f"{number:.0e}"
    return f"{number:.0f}"


def length(seconds: float) -> str:
    """Return a length of time for a table: `9.8 s`, `3:20`, `1:02:03`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def spent(seconds: float) -> str:
    """Return a time in its two largest units: `3 h 20 min`, `5 min 12 s`, `8 s`."""
    whole = round(seconds)
    minutes = whole // 60
    hours = whole // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def roughly(seconds: float) -> str:
    """Return an expected time in one unit: `40 s`, `7 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def cost_words(usd: float, *, unknown: int, calls: int) -> str:
    """Return the cost of calls, some of which may be unknown; an unknown one is never nothing."""
    if not unknown:
        return dollars(usd)
    if not usd:
        return "unknown" if unknown == calls else f"unknown ({unknown:,} of {calls:,} calls)"
    return f"{dollars(usd)} and {unknown:,} call{'s' * (unknown > 1)} of unknown cost"


def composed(name: str) -> str:
    """Return a name in composed letters (NFC); some systems write accents as separate letters."""
    return unicodedata.normalize("NFC", name)


def written_as(typed: str, names: Iterable[str]) -> str:
    """Return the name with the letters that were typed, composed or not; else `typed`."""
    known = list(names)
    if typed in known:
        return typed
    return next((name for name in known if composed(name) == composed(typed)), typed)


def respellings(names: Iterable[str]) -> list[str]:
    """Return, composed and once each, the names that occur both composed and decomposed."""
    spellings: dict[str, set[str]] = {}
    for name in names:
        spellings.setdefault(composed(name), set()).add(name)
    return [name for name, there in spellings.items() if len(there) > 1]


# Cyrillic and Greek letters that look Latin, and the Latin ones that they look like.
_HOMOGLYPHS = str.maketrans("аеорсухіјѕвкмнтαοερικνυχ", "aeopcyxijsbkmhtaoepikvux")


def outline(name: str) -> str:
    """Return what a quick eye sees of a name: no case, width, separators or look-alike letters."""
    # NFKD turns full-width and circled letters into plain ones.
    plain = unicodedata.normalize("NFKD", name.casefold()).translate(_HOMOGLYPHS)
    kept = (c for c in plain if unicodedata.category(c) not in ("Mn", "Cf", "Zs", "Cc"))
    return re.sub(r"[\s_\-]+", "", "".join(kept))


def core(name: str) -> str:
    """Return the outline of a name without provider, owner and dots, in which boards differ."""
    return outline(re.split(r"[:/]", name.rstrip(":/"))[-1]).replace(".", "")


def in_full(typed: str, names: Iterable[str]) -> str:
    """Return the name that was typed, in full or short; what was typed if it fits none.

    Short is what stands behind the provider, or behind the last slash, in whatever case. What
    has a colon is whole: a provider behind another one's name is reached by another server.
    BadInput where it is short for several.
    """
    known = list(dict.fromkeys(names))
    typed = written_as(typed, known)
    if not typed or typed in known:
        return typed
    short = composed(typed).casefold()
    fitting = []
    for name in known:
        whole = composed(name).casefold()
        behind = whole.partition(":")[2] or whole
        forms = (whole,) if ":" in typed else (whole, behind, behind.rpartition("/")[2])
        if short in forms:
            fitting.append(name)
    if len(fitting) > 1:
        raise BadInput(
            f"{safe(typed)} is short for {safe(', '.join(fitting))}; write one of them whole"
        )
    return fitting[0] if fitting else typed


NOTHING = "–"
"""What stands in the place of a figure that there is not."""

Kind = Literal[
    "name", "text", "flags",
    "count", "counts", "count_interval", "needed", "tokens", "tokens_with_interval", "number",
    "rating", "rating_interval", "given", "marked_rating", "reach", "places", "width", "bar",
    "points", "points_with_interval",
    "share", "share_interval", "share_with_interval", "share_or_mean",
    "share_gap", "share_gap_with_interval",
    "percent", "percent_interval", "percent_points", "percent_points_interval",
    "percent_gap_with_interval",
    "hundredths", "hundredths_of", "mark", "mark_interval", "mark_gap_with_interval", "noted_share",
    "probability", "p", "coefficient", "coefficient_with_interval",
    "counts_in_a_row", "moments", "moved_place",
    "record", "money", "seconds", "length", "degrees", "duration", "wait", "grade", "of_total",
]  # fmt: skip
"""The kind of a figure. Several fields of a row may make one: a record is won, tied, lost.

A share is 0 to 1 and shown in percent; scores on sets are percentages, as their JSON has them.
"""


@dataclass(frozen=True)
class Digits:
    """How a single number is written; rounded numbers may be added and subtracted."""

    digits: int = 0
    times: int = 1
    """Factor before rounding: 100 for a share, which is shown in percent."""
    is_signed: bool = False
    has_separators: bool = False

    def rounded(self, value: float) -> Decimal:
        """Return the number as a reader sees it."""
        return Decimal(f"{self.times * value:.{self.digits}f}")

    def written(self, seen: Decimal) -> str:
        """Return the text of a number that is rounded already; never `-0`."""
        sign = "+" if self.is_signed else ""
        separator = "," if self.has_separators else ""
        return f"{seen or abs(seen):{sign}{separator}.{self.digits}f}"

    def __call__(self, value: float) -> str:
        return self.written(self.rounded(value))

    def with_interval(self, value: float, low: float | None, high: float | None) -> str:
        """Return `3.1 (1.2 to 6.0)`, or the number alone if it has no interval."""
        if low is None or high is None:
            return self(value)
        return f"{self(value)} ({self.interval(low, high)})"

    def interval(self, low: float, high: float) -> str:
        """Return `1.2 to 6.0`."""
        return f"{self(low)} to {self(high)}"


@dataclass(frozen=True)
class FigureFormat:
    """How the figures of a kind are written."""

    write: Callable[..., str]
    """Writes the fields that make the figure; the first is never None."""
    unit: str = ""
    """The unit behind the figure in a sentence and in the head of a column, such as `%`."""
    is_figure: bool = True
    """Whether it is right-aligned."""
    nothing: str = NOTHING
    digits: Digits | None = None
    """How a figure that is a single number is written."""

    def cell(self, fields: Sequence[Any]) -> str:
        """Return a figure as a table has it."""
        return self.nothing if is_nothing(fields[0]) else self.write(*fields)

    def said(self, fields: Sequence[Any]) -> str:
        """Return a figure as a sentence has it, with its unit."""
        cell = self.cell(fields)
        if not self.unit or is_nothing(fields[0]):
            return cell
        value, bracket, interval = cell.partition(" (")
        return f"{value} {self.unit}{bracket}{interval}"


def is_nothing(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


_COUNT = Digits(has_separators=True)
_RATING = Digits()
_POINTS = Digits(is_signed=True)
_SHARE = Digits(1, 100)
_SHARE_GAP = Digits(1, 100, is_signed=True)
_COEFFICIENT = Digits(2)
_PERCENT = Digits(1)
_PERCENT_GAP = Digits(1, is_signed=True)
_HUNDREDTHS = Digits(2)
_MARK_GAP = Digits(2, is_signed=True)


def _single(digits: Digits, unit: str = "", nothing: str = NOTHING) -> FigureFormat:
    return FigureFormat(digits, unit, nothing=nothing, digits=digits)


def _counts_between(low: int, high: int | None) -> str:
    return f"{_COUNT(low)} to {'no end' if high is None else _COUNT(high)}"


def _places(best: int, worst: int) -> str:
    return f"{best}" if best == worst else f"{best}-{worst}"


def _moved_place(place: int, moved: int | None, word: str) -> str:
    """Return a place behind its word, and by how many it moves: `few 3 (+1)`."""
    return f"{word} {place} ({_POINTS(moved)})".lstrip() if moved else f"{word} {place}".lstrip()


def _reach(rating: float, low: float | None, high: float | None) -> str:
    """Return the reach of an interval on both sides: `-41/+38`."""
    if low is None or high is None:
        return NOTHING
    return f"-{_far(rating - low)}/+{_far(high - rating)}"


def _far(points: float) -> str:
    # Never "0": a small interval is not certainty.
    return short_points(points) if points >= 9.95 else f"{max(points, 0.1):.1f}"


def short_points(points: float) -> str:
    """Return points of rating as whole ones, or from 10,000 on as thousands: `43k`.

    With two videos an interval reaches tens of thousands of points, whose digits say nothing.
    """
    return f"{points:.0f}" if abs(points) < 9_999.5 else f"{points / 1000:.0f}k"


def _points_with_interval(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{_POINTS(value)} (interval unknown)"
    return _POINTS.with_interval(value, low, high)


def _share_or_mean(
    value: float, low: float | None, high: float | None, is_mean: bool | None
) -> str:
    if is_mean:
        return _COEFFICIENT.with_interval(value, low, high)
    return FORMATS["share_with_interval"].said([value, low, high])


def _marked(rating: float, words: str, battles: int) -> str:
    """Return a rating behind its words, with its number of battles: `apart 1042 (18)`."""
    return f"{words} {_RATING(rating)} ({_COUNT(battles)})".lstrip()


def _sure(chance: float) -> str:
    # More is never sure from battles.
    return _SHARE(min(max(chance, 0.001), 0.999))


def _p(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _hundredths_of(percent: float, n: int) -> str:
    """Return a percentage and its number of cases: `82.55 (51)`."""
    return f"{_HUNDREDTHS(percent)} ({_COUNT(n)})"


def _noted_share(share: float, note: str) -> str:
    """Return a share with a note: `100.0, found`."""
    return f"{_SHARE(share)}, {note}" if note else _SHARE(share)


def _length(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{seconds} s" if rest or not minutes else f"{minutes} min"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f}"


def _wait(seconds: float) -> str:
    """Return a short stretch of time: `240 ms`, `3.1 s`, `2.5 min`."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def _of_total(some: int, total: int) -> str:
    """Return `3 of 12`, or a dash for a total of 0."""
    return f"{_COUNT(some)} of {_COUNT(total)}" if total else NOTHING


FORMATS: Mapping[Kind, FigureFormat] = {
    "name": FigureFormat(str, is_figure=False),
    "text": FigureFormat(str, is_figure=False, nothing=""),
    "flags": FigureFormat(", ".join, is_figure=False),
    "count": _single(_COUNT),
    "counts": FigureFormat(lambda counts: "+".join(map(_COUNT, counts)) or "0"),
    "count_interval": FigureFormat(_counts_between),
    "needed": _single(_COUNT, nothing="never"),
    "tokens": _single(_COUNT),
    "tokens_with_interval": FigureFormat(_COUNT.with_interval),
    "number": FigureFormat(lambda value: f"{value:g}"),
    "rating": _single(_RATING, nothing="unrated"),
    "rating_interval": FigureFormat(_RATING.interval),
    "given": FigureFormat(lambda value: f"{value:.6g}"),
    "marked_rating": FigureFormat(_marked),
    "reach": FigureFormat(_reach),
    "points": _single(_POINTS),
    "points_with_interval": FigureFormat(_points_with_interval),
    "places": FigureFormat(_places, is_figure=False),
    "width": _single(_RATING, "points"),
    "bar": FigureFormat(lambda *_: "", is_figure=False),
    "share": _single(_SHARE, "%"),
    "share_interval": FigureFormat(_SHARE.interval, "%"),
    "share_with_interval": FigureFormat(_SHARE.with_interval, "%"),
    "share_or_mean": FigureFormat(_share_or_mean),
    "share_gap": _single(_SHARE_GAP),
    "share_gap_with_interval": FigureFormat(_SHARE_GAP.with_interval),
    "percent": _single(_PERCENT, "%"),
    "percent_interval": FigureFormat(_PERCENT.interval, "%"),
    "percent_points": _single(_PERCENT),
    "percent_points_interval": FigureFormat(_PERCENT.interval),
    "percent_gap_with_interval": FigureFormat(_PERCENT_GAP.with_interval),
    "hundredths": _single(_HUNDREDTHS, "%"),
    "hundredths_of": FigureFormat(_hundredths_of),
    "mark": _single(_HUNDREDTHS),
    "mark_interval": FigureFormat(_HUNDREDTHS.interval),
    "mark_gap_with_interval": FigureFormat(_MARK_GAP.with_interval),
    "noted_share": FigureFormat(_noted_share),
    "probability": FigureFormat(_sure, "%"),
    "p": FigureFormat(_p),
    "coefficient": _single(_COEFFICIENT),
    "coefficient_with_interval": FigureFormat(_COEFFICIENT.with_interval),
    "counts_in_a_row": FigureFormat(lambda counts: " ".join(map(_COUNT, counts)), is_figure=False),
    "moments": FigureFormat(lambda times: " ".join(map(_seconds, times)), "s", is_figure=False),
    "moved_place": FigureFormat(_moved_place),
    "record": FigureFormat(lambda *counts: "-".join(map(_COUNT, counts))),
    "money": FigureFormat(dollars),
    "seconds": FigureFormat(_seconds, "s"),
    "length": FigureFormat(_length),
    "degrees": FigureFormat(lambda *counts: " ".join(map(_COUNT, counts))),
    "duration": FigureFormat(spent),
    "wait": FigureFormat(_wait),
    "grade": _single(Digits(1)),
    "of_total": FigureFormat(_of_total),
}
"""The one way to write each kind of figure, wherever it is shown."""
