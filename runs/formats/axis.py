"""Where an axis of intervals begins and ends, and how a terminal draws one on it.

Every picture of the same figures has the same axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

from videoautoarena.runs.formats.terminal_text import Marks

MOST_WIDTHS = 2.5
"""Intervals so many times as wide as the median one are cut."""


class Interval(NamedTuple):
    """A figure with its bounds; None where it has none."""

    value: float
    low: float | None
    high: float | None


class Axis(NamedTuple):
    """Both ends of a scale."""

    low: float
    high: float

    def place(self, x: float) -> float:
        """Return where a figure lies, 0 to 1; beyond that where an axis is cut before it."""
        return (x - self.low) / ((self.high - self.low) or 1.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as a page reads it."""
        return {"low": self.low, "high": self.high}


def axis_of(intervals: Iterable[Interval]) -> Axis:
    """Return the axis that shows every figure, and every interval but those far wider than most.

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


def bar(axis: Axis, drawn: Interval, width: int, marks: Marks) -> str:
    """Return an interval and its middle in so many cells; an arrow where it goes on beyond them.

    One without bounds is its middle alone.
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
    """Return the cell of a place on the scale; one beyond either end has none of them."""
    if not 0.0 <= share <= 1.0:
        return -1 if share < 0.0 else width
    return round(share * (width - 1))
