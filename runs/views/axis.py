"""Where an axis of intervals begins and ends; every picture of the same figures has the same."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

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
