"""Draws figures in percent against a course, a line for each model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from videoautoarena.runs.formats.terminal_text import Axis
from videoautoarena.runs.views.figures.canvas import (
    COLUMN,
    GREY,
    LEVEL,
    PAD,
    PAGE,
    PALE,
    SERIES,
    SMALL,
    Caption,
    FigureSheet,
    inches,
    shown,
    widest,
)

_HIGH, _LEFT, _AXIS, _BETWEEN = 1.7, 0.42, 0.42, 0.5
"""Inches: of a panel, and of what stands around it."""
_MARK, _APART = 0.14, 0.06
"""Inches: of a mark in the key, and between texts at least."""
_OVER = 3.0
"""Percent that a panel reaches beyond its axis."""


@dataclass(frozen=True)
class CurvePoint:
    """A figure in percent with its interval, somewhere on a course."""

    at: float
    value: float
    low: float | None
    high: float | None
    is_ringed: bool = False


@dataclass(frozen=True)
class CurvePanel:
    """A panel: figures against one quantity."""

    label: str
    curves: Mapping[str, Sequence[CurvePoint]]
    """Points of each curve by its name in the key."""
    ticks: Mapping[float, str] | None = None
    """Texts below a logarithmic scale by their places; None: a linear scale with round figures."""


@dataclass(frozen=True)
class Curves:
    """Panels beside one another with curves in common."""

    courses: Sequence[CurvePanel]
    label: str
    """Beside the scale."""
    axis: Axis
    ring: str = ""
    """What marks mean."""
    dashed: str = ""
    at: float | None = None
    """Where a dashed line lies."""

    def draw(self, caption: Caption, *, bare: bool) -> Figure:
        """Draw curves with a key above, one panel in a column of a paper, two on its page."""
        courses = self.courses
        width = COLUMN if len(courses) == 1 else PAGE
        keys = _key_lines([shown(name, 40) for name in courses[0].curves], width)
        head = len(keys) * inches(SMALL) + 0.06
        marks = [LEVEL]
        if self.at is not None:
            marks.append(f"dashed: {self.dashed}")
        if self.ring:
            marks.append(f"ring: {self.ring}")
        sheet = FigureSheet(width, head + _HIGH + _AXIS, caption, marks, bare=bare)
        _write_keys(sheet, keys, head)
        wide = (width - _LEFT - 2 * PAD - (len(courses) - 1) * _BETWEEN) / len(courses)
        for k, course in enumerate(courses):
            axes = sheet.axes(_LEFT + k * (wide + _BETWEEN), head, wide, _HIGH)
            for place, points in enumerate(course.curves.values()):
                _draw_curve(axes, points, *SERIES[place % len(SERIES)])
            _frame(axes, self, course, wide)
        return sheet.figure


def _draw_curve(axes: Axes, points: Sequence[CurvePoint], colour: str, mark: str) -> None:
    line = ([one.at for one in points], [one.value for one in points])
    axes.plot(*line, mark, linestyle="-", color=colour, markersize=3.2, linewidth=1.0)
    for one in points:
        if one.low is not None and one.high is not None:
            axes.plot([one.at, one.at], [one.low, one.high], color=colour, linewidth=0.8, alpha=0.6)
        if one.is_ringed:
            axes.plot([one.at], [one.value], "o", markersize=8, markerfacecolor="none",
                      markeredgecolor=colour, markeredgewidth=0.9)  # fmt: skip


def _frame(axes: Axes, curves: Curves, course: CurvePanel, wide: float) -> None:
    low, high = curves.axis
    # Shares end at 0 and 100; two more keep the marks there whole.
    axes.set_ylim(max(low - _OVER, -2.0), min(high + _OVER, 102.0))
    if course.ticks is None:
        axes.set_xlim(left=0.0)
        axes.locator_params(axis="x", nbins=6)
    else:
        known = sorted(course.ticks)
        # Settings grow by factors: on an even scale the small ones would lie on each other.
        axes.set_xscale("log")
        # A margin in proportion to the span, for a single setting as well.
        reach = max(known[-1] / known[0], 2.0) ** 0.08
        axes.set_xlim(known[0] / reach, known[-1] * reach)
        ticks = _ticks(axes, course.ticks, wide)
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FixedFormatter([course.ticks[at] for at in ticks]))
        # Else matplotlib labels the minor ticks of a short log scale, too.
        axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL)
    axes.set_xlabel(course.label)
    axes.set_ylabel(curves.label)
    if curves.at is not None:
        axes.axhline(curves.at, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)))


def _ticks(axes: Axes, texts: Mapping[float, str], wide: float) -> list[float]:
    """Return the places whose texts do not run into one another, the largest among them."""
    low, high = (math.log(end) for end in axes.get_xlim())
    kept: list[float] = []
    left = math.inf
    for at in sorted(texts, reverse=True):
        half = widest([texts[at]], SMALL) / 2
        middle = (math.log(at) - low) / (high - low) * wide
        if middle + half + _APART <= left:
            kept.append(at)
            left = middle - half
    return kept[::-1]


def _key_lines(names: Sequence[str], width: float) -> list[list[str]]:
    """Return the names of curves by the line of the key that they stand on."""
    lines: list[list[str]] = [[]]
    for name in names:
        if lines[-1] and sum(map(_key_width, [*lines[-1], name])) > width - 2 * PAD:
            lines.append([])
        lines[-1].append(name)
    return lines


def _key_width(name: str) -> float:
    return _MARK + widest([name], SMALL) + 2 * _APART


def _write_keys(sheet: FigureSheet, lines: Sequence[Sequence[str]], head: float) -> None:
    axes = sheet.axes(0, 0, sheet.width, head)
    axes.set_xlim(0, sheet.width)
    axes.set_ylim(head, 0)
    axes.set_axis_off()
    places = count()
    for row, names in enumerate(lines):
        at = PAD
        middle = (row + 0.5) * inches(SMALL)
        for name in names:
            colour, mark = SERIES[next(places) % len(SERIES)]
            axes.plot([at + 0.05], [middle], mark, markersize=3.2, color=colour, clip_on=False)
            axes.text(at + _MARK, middle, name, fontsize=SMALL, va="center_baseline")
            at += _key_width(name)
