"""Text and intervals in a given number of terminal cells, and the axis of drawn intervals.

Every picture of the same figures has the same axis.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from videoautoarena.runs.formats.terminal import safe


@dataclass(frozen=True)
class Marks:
    """The signs that lines and bars are made of."""

    cut: str = "…"
    line: str = "─"
    dot: str = "●"
    left: str = "◂"
    right: str = "▸"
    full: str = "━"
    rest: str = "─"
    between: str = "·"


UNICODE = Marks()
ASCII = Marks(cut="~", line="-", dot="o", left="<", right=">", full="#", rest="-", between="|")


def plain(text: str) -> str:
    """Return `text` on one line, safe, without signs whose width terminals do not agree on."""
    flat = " ".join(text.split())
    if flat.isascii():
        return safe(flat)
    return "".join(c for c in safe(flat) if unicodedata.category(c) not in ("Mn", "Me"))


def fit(text: str, width: int, marks: Marks) -> str:
    """Return `text` in exactly `width` cells, cut with a mark or padded with blanks."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - cell_len(marks.cut)) + marks.cut
    return text + " " * (width - length)


class TerminalLine:
    """A line that is built piece by piece and never grows beyond its width."""

    def __init__(self, width: int, marks: Marks) -> None:
        self._left = width
        self.marks = marks
        self.text = Text(no_wrap=True)

    def add(self, text: str, style: str = "", *, width: int | None = None) -> TerminalLine:
        """Append text that is safe already, cut to the free cells or padded to `width`."""
        room = self._left if width is None else min(width, self._left)
        if room > 0:
            text = fit(text, room, self.marks) if width or cell_len(text) > room else text
            self.text.append(text, style or None)
            self._left -= cell_len(text)
        return self

    @property
    def left(self) -> int:
        """How many cells are free."""
        return self._left


MOST_WIDTHS = 2.5
"""An interval more than so many times as wide as the median one is cut."""


class DrawnInterval(NamedTuple):
    """A figure with its bounds, which are None if it has none."""

    value: float
    low: float | None
    high: float | None


class Axis(NamedTuple):
    """Both ends of a scale."""

    low: float
    high: float

    def place(self, x: float) -> float:
        """Return the place of a figure from 0 to 1; outside of that where the axis is cut."""
        # All figures may be the same.
        return (x - self.low) / ((self.high - self.low) or 1.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as a page reads it."""
        return {"low": self.low, "high": self.high}


def axis_of(intervals: Iterable[DrawnInterval]) -> Axis:
    """Return the axis that shows every figure, and all intervals but those far wider than most.

    One model that hardly anything is known of would leave no room to show the others apart; its
    interval is cut, and whoever draws it marks where it goes on.
    """
    known = list(intervals)
    bounds = [(of.low, of.high) for of in known if of.low is not None and of.high is not None]
    widest = MOST_WIDTHS * median(high - low for low, high in bounds) if bounds else 0.0
    shown = [of.value for of in known]
    for low, high in bounds:
        if high - low <= widest:
            shown += [low, high]
    return Axis(min(shown, default=0.0), max(shown, default=0.0))


def bar(axis: Axis, drawn: DrawnInterval, width: int, marks: Marks) -> str:
    """Return an interval and its middle in `width` cells, with arrows where it goes beyond.

    A figure without bounds is its middle alone.
    """
    value, low, high = drawn
    left = _cell(axis.place(value if low is None else low), width)
    right = _cell(axis.place(value if high is None else high), width)
    signs = [marks.line if left <= cell <= right else " " for cell in range(width)]
    if left < 0:
        signs[0] = marks.left
    if right >= width:
        signs[-1] = marks.right
    middle = max(_cell(axis.place(value), width), int(left < 0))
    signs[min(middle, width - 1 - (right >= width))] = marks.dot
    return "".join(signs)


def _cell(share: float, width: int) -> int:
    """Return the cell of a place from 0 to 1; -1 or `width` for one beyond the ends."""
    if not 0.0 <= share <= 1.0:
        return -1 if share < 0.0 else width
    return round(share * (width - 1))
