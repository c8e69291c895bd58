"""Draws figures with their intervals on lines, in one panel or several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from videoautoarena.runs.formats.terminal_text import Axis
from videoautoarena.runs.views.figures.canvas import (
    BETWEEN,
    BLUE,
    GREY,
    INK,
    LEVEL,
    PAD,
    PALE,
    SMALL,
    USUAL,
    Caption,
    FigureSheet,
    columns_that_fit,
    inches,
    shown,
    widest,
)
from videoautoarena.scoring.fitting.counts import Floats

_MANY, _LINE = 20, 1.28
"""More lines than that are written small in panels; height of a line, in that of its text."""
_NARROWEST, _NARROWEST_ALONE, _OVERHANG = 0.84, 0.6, 0.1
"""Inches of one panel of several at least, of one alone, and of what a tick may stand out."""
_SPACE = 0.09
"""Inches between columns of text."""
_TITLE = 2 * inches(SMALL) + 0.06
_SCALE = 0.2
_LABEL = 0.16
_APART = 0.05
"""Inches between the figures of ticks at least."""
_INSIDE, _MARGIN = 0.02, 0.06
"""Parts of a scale: where arrows stand, and that it is longer than its axis on either side."""
_OPEN = "#a8a8a8"
"""Colour of a line that nothing bounds."""


@dataclass(frozen=True)
class Dot:
    """A figure with its bounds; without them its line is open on both sides."""

    value: float
    low: float | None
    high: float | None
    is_hollow: bool = False
    colour: str = BLUE


@dataclass(frozen=True)
class Panel:
    """A figure of every line."""

    dots: Mapping[int, Dot]
    """By line."""
    axis: Axis
    title: str = ""
    count: str = ""
    """Number of cases behind the panel, in words."""
    dashed: float | None = None
    """Value that the figures are compared with."""
    middle: float | None = None
    """Value of their mean."""
    ticks: Sequence[float] = ()
    """Ticks of the scale; empty: round figures."""


class Texts(NamedTuple):
    """A text beside each line."""

    of: Mapping[int, str]
    size: float = USUAL
    colour: str = INK
    is_figure: bool = False
    """Texts end where the longest does, wherever they stand."""

    @property
    def width(self) -> float:
        """In inches."""
        return max(widest(list(self.of.values()), self.size), 0.1)

    def write(self, axes: Axes, at: float, *, align: str) -> None:
        """Write texts that begin or end `at` inches from the left of the axes."""
        if self.is_figure and align == "left":
            at += self.width
            align = "right"
        for line, text in self.of.items():
            axes.annotate(
                text, (0, line), xycoords=("axes fraction", "data"), xytext=(72 * at, 0),
                textcoords="offset points", ha=align, va="center", fontsize=self.size,
                color=self.colour, annotation_clip=False,
            )  # fmt: skip


@dataclass(frozen=True)
class Dots:
    """Panels beside and below one another, with lines in common."""

    lines: int
    panels: Sequence[Panel]
    label: str
    """Below the scales."""
    left: Sequence[Texts]
    right: Sequence[Texts] = ()
    headings: Mapping[int, str] = field(default_factory=dict)
    """Lines that hold no figure."""
    count: str = ""
    """Meaning of `n`; then of grey dots, which is never cut, hollow ones, and dashed lines."""
    grey: str = ""
    hollow: str = ""
    dashed: str = ""

    def draw(self, caption: Caption, *, bare: bool) -> Figure:
        """Draw panels beside and below one another; text beside lines stands with the first."""
        several = len(self.panels) > 1
        high = _LINE * inches(self.left[-1].size) * max(self.lines, 1)
        left = PAD + sum(texts.width + _SPACE for texts in self.left)
        right = PAD + (sum(texts.width + _SPACE for texts in self.right) or _OVERHANG)
        least = _NARROWEST if several else _NARROWEST_ALONE
        width, columns = columns_that_fit(len(self.panels), left, right, least)
        wide = (width - left - right + BETWEEN) / columns - BETWEEN
        title = _TITLE if any(panel.title for panel in self.panels) else 0.0
        block = title + high + _SCALE + BETWEEN
        down = math.ceil(len(self.panels) / columns) * block - BETWEEN
        colours = {dot.colour for panel in self.panels for dot in panel.dots.values()}
        below = inches(SMALL) * (len(colours) > 1)
        sheet = FigureSheet(width, down + _LABEL + below, caption, self._marks(), bare=bare)
        for k, panel in enumerate(self.panels):
            row, column = divmod(k, columns)
            at = (left + column * (wide + BETWEEN), row * block + title)
            axes = sheet.axes(*at, wide, high)
            _frame(axes, panel, self.lines, wide=wide, several=several)
            for place, dot in panel.dots.items():
                _mark(axes, place, dot)
            if column == 0:
                self._write(axes, left - PAD, wide)
            if not panel.dots:
                axes.set_axis_off()
        middle = (left + width - right) / 2
        if any(panel.dots for panel in self.panels):
            sheet.write(self.label, middle, down + 0.5 * inches(USUAL))
        if below:
            grey = {"fontsize": SMALL, "color": GREY}
            sheet.write(f"grey: {self.grey}", middle, down + _LABEL + 0.4 * below, **grey)
        return sheet.figure

    def _marks(self) -> Iterator[str]:
        """Yield what marks mean, as far as they occur."""
        dots = [dot for panel in self.panels for dot in panel.dots.values()]
        if any(dot.low is not None for dot in dots):
            yield LEVEL
        if self.count:
            yield f"n: {self.count}"
        if any(dot.is_hollow for dot in dots):
            yield f"hollow: {self.hollow}"
        if any(dot.low is None for dot in dots):
            yield "dotted: no interval"
        if any(panel.dashed is not None for panel in self.panels):
            yield f"dashed: {self.dashed}"

    def _write(self, axes: Axes, left: float, wide: float) -> None:
        """Write the texts beside lines: those on the left end at the panel, others begin there."""
        at = -left
        for texts in self.left:
            at += texts.width + _SPACE
            texts.write(axes, at - 0.5 * _SPACE, align="right")
        at = wide
        for texts in self.right:
            texts.write(axes, at + _SPACE, align="left")
            at += texts.width + _SPACE
        Texts(self.headings, SMALL, GREY).write(axes, -left, align="left")


def names(texts: Sequence[str], *, several: bool = True) -> Texts:
    """Return names of lines as they stand beside panels."""
    size = SMALL if several and len(texts) > _MANY else USUAL
    return Texts({line: shown(text) for line, text in enumerate(texts)}, size)


def _frame(axes: Axes, panel: Panel, lines: int, *, wide: float, several: bool) -> None:
    low, high = panel.axis
    # Only scales of rating points come without ticks; at least 20 are left beyond either end.
    reach = max(_MARGIN * (high - low), 20.0 * (not panel.ticks))
    axes.set_xlim(low - reach, high + reach)
    axes.set_xticks(panel.ticks or _ticks(axes.get_xlim(), wide, several=several))
    # Lines run down, as in a table.
    axes.set_ylim(max(lines, 1) - 0.5, -0.5)
    axes.set_yticks(range(lines), [""] * lines)
    axes.tick_params(axis="x", labelsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y" if several else "x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    if panel.middle is not None:
        axes.axvline(panel.middle, color=GREY, linewidth=0.5)
    if panel.dashed is not None:
        axes.axvline(panel.dashed, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)))
    # A letter is about .6 of its size wide.
    most = max(int(wide * 72 / (0.6 * SMALL)), 5)
    for up, text in enumerate((panel.count, panel.title and shown(panel.title, most))):
        if text:
            axes.annotate(
                text, (0, 1), xycoords="axes fraction", xytext=(0, 2.5 + up * SMALL * 1.25),
                textcoords="offset points", fontsize=SMALL, annotation_clip=False,
                fontweight="bold" if up else "normal",
            )  # fmt: skip


def _ticks(limits: tuple[float, float], wide: float, *, several: bool) -> Floats:
    """Return round figures that touch neither one another nor a neighbour's panel."""
    low, high = limits
    inch = (high - low) / wide
    longest = f"{'−' if low < 0 else ''}{max(abs(low), abs(high)):.0f}"
    figure = widest([longest], SMALL) * inch
    steps = (lead * 10.0**power for power in range(1, 9) for lead in (1, 1.5, 2, 2.5, 3, 4, 5))
    step = next(step for step in steps if step >= figure + _APART * inch)
    inside = figure / 2 if several else 0.0
    return np.arange(np.ceil((low + inside) / step), (high - inside) / step) * step


def _mark(axes: Axes, line: int, dot: Dot) -> None:
    """Draw a figure and its interval, with an arrow where that goes on beyond the scale."""
    ends = axes.get_xlim()
    if dot.low is None or dot.high is None:
        # From end to end: without an interval nothing bounds the figure.
        axes.plot(ends, [line, line], ":", color=_OPEN, linewidth=0.8)
    else:
        inside = _INSIDE * (ends[1] - ends[0])
        first = ends[0] + inside
        last = ends[1] - inside
        # The usual ends of a line project, and would make every interval longer than it is.
        axes.plot([max(dot.low, first), min(dot.high, last)], [line, line], color=dot.colour,
                  linewidth=1.2, solid_capstyle="butt")  # fmt: skip
        for is_cut, end, arrow in ((dot.low < first, first, "<"), (dot.high > last, last, ">")):
            if is_cut:
                axes.plot([end], [line], arrow, color=dot.colour, markersize=3.0, clip_on=False)
    face = "white" if dot.is_hollow else dot.colour
    axes.plot([dot.value], [line], "o", markersize=3.2, markeredgecolor=dot.colour,
              markerfacecolor=face, markeredgewidth=0.8)  # fmt: skip
