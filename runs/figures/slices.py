"""Ratings of slices: a panel for each, with every model on a line of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from videoautoarena.runs.figures.canvas import (
    BLUE,
    COLUMN,
    GREY,
    PAD,
    PAGE,
    PALE,
    SMALL,
    USUAL,
    Notes,
    Picture,
    Sheet,
    banner_of,
    inches,
    notes_of,
    shown,
    widest,
)
from videoautoarena.runs.figures.ranking import draw_interval
from videoautoarena.runs.leaderboard.slices import Slice, Slices
from videoautoarena.runs.rating.leaderboard import Row
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.views.slices import SCALES
from videoautoarena.scoring.fitting.bradley_terry import MEAN
from videoautoarena.scoring.fitting.counts import Floats

_MANY, _GAP, _BETWEEN = 20, 0.06, 0.12
"""More models than that are written small; the others are inches."""
_NARROWEST, _APART = 0.82, 0.05
"""Inches of a panel, and between the figures of its ticks, at least."""
_TITLE, _AXIS, _LABEL = 2 * inches(SMALL) + 0.06, 0.2, 0.16
_LEAST_SPAN = 100.0
_OPEN = "#a8a8a8"
"""Of a line that nothing bounds."""


class Layout(NamedTuple):
    """Where the panels stand, in inches."""

    width: float
    """Of the sheet."""
    left: float
    """Of the names of models."""
    columns: int
    panel: float
    high: float
    """Of the lines of a panel."""
    size: float
    """Points of names."""


def panels(sliced: Slices) -> Picture:
    """Return the ratings of the slices of a run, such as lengths of video.

    Each slice has a scale of its own, so that nothing joins one to another.
    """
    by = safe(sliced.by)
    return Picture(by, f"ratings by {by}", lambda bare: _draw(sliced, bare=bare))


def _draw(sliced: Slices, *, bare: bool) -> Figure:
    parts, names = sliced.parts, _best_first(sliced)
    found = [_rows(part) for part in parts]
    layout = _lay_out(names, len(parts))
    rows = math.ceil(len(parts) / layout.columns)
    block = _TITLE + layout.high + _AXIS + _BETWEEN
    sheet = Sheet(
        layout.width,
        rows * block - _BETWEEN + _LABEL,
        bare=bare,
        head=(f"Ratings by {safe(sliced.by)}", banner_of(parts[0].board.settings)),
        notes=_notes(sliced, found),
    )
    limits = _limits([row for of in found for row in of.values()])
    for k, part in enumerate(parts):
        row, column = divmod(k, layout.columns)
        left = layout.left + column * (layout.panel + _BETWEEN)
        axes = sheet.axes(left, row * block + _TITLE, layout.panel, layout.high)
        _frame(axes, part, wide=layout.panel, limits=limits)
        _name(axes, ["" if column else shown(name) for name in names], size=layout.size)
        for place, name in enumerate(names):
            if name in found[k]:
                _mark(axes, place, found[k][name])
    middle = (layout.left + layout.width - PAD) / 2 / layout.width
    below = sheet.top + rows * block - _BETWEEN + 0.5 * inches(USUAL)
    label = "rating within each slice"
    sheet.figure.text(middle, 1 - below / sheet.height, label, ha="center", va="center")
    return sheet.figure


def _lay_out(names: Sequence[str], parts: int) -> Layout:
    """Return a column of a paper where all panels fit beside one another, else its page."""
    size = SMALL if len(names) > _MANY else USUAL
    left = PAD + max(widest([shown(name) for name in names], size), 0.2) + _GAP
    high = 1.14 * inches(size) * max(len(names), 1)
    for width in (COLUMN, PAGE):
        room = width - left - PAD - 0.1
        most = max(int((room + _BETWEEN) / (_NARROWEST + _BETWEEN)), 1)
        if most >= parts:
            break
    columns = math.ceil(parts / math.ceil(parts / most))
    panel = (room + _BETWEEN) / columns - _BETWEEN
    return Layout(width, left, columns, panel, high, size)


def _best_first(sliced: Slices) -> list[str]:
    """Models with a rating in a slice whose largest group they belong to, by their mean rating."""
    found: dict[str, list[float]] = {}
    for part in sliced.parts:
        for name, row in _rows(part).items():
            found.setdefault(name, []).append(row.rating or 0.0)
    return sorted(found, key=lambda name: -math.fsum(found[name]) / len(found[name]))


def _rows(part: Slice) -> dict[str, Row]:
    """Return what a slice says of the models of its largest group."""
    group = set(part.board.components[0]) if part.board.components else set()
    return {row.model: row for row in part.board.models if row.model in group}


def _limits(rows: Sequence[Row]) -> tuple[float, float]:
    """The range of all ratings and what most intervals need beyond."""
    ratings = [row.rating for row in rows if row.rating is not None]
    if not ratings:
        return 900.0, 1100.0
    low, high = min(ratings), max(ratings)
    reach = max(high - low, _LEAST_SPAN)
    least = min([row.low for row in rows if row.low is not None] + ratings)
    most = max([row.high for row in rows if row.high is not None] + ratings)
    return (
        max(least, low - 0.5 * reach) - 0.05 * reach,
        min(most, high + 0.5 * reach) + 0.05 * reach,
    )


def _frame(axes: Axes, part: Slice, *, wide: float, limits: tuple[float, float]) -> None:
    axes.set_xlim(*limits)
    axes.set_xticks(_ticks(limits, wide=wide))
    axes.tick_params(axis="x", labelsize=SMALL)
    axes.spines["left"].set_visible(False)
    anchor = part.board.settings.anchor
    axes.axvline(MEAN if anchor is None else anchor.rating, color=GREY, linewidth=0.5)
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    most = max(int(wide * 72 / (0.6 * SMALL)), 5)
    for up, text in ((1, shown(part.name, most)), (0, f"n = {part.battles}")):
        axes.annotate(
            text, (0, 1), xycoords="axes fraction", xytext=(0, 2.5 + up * SMALL * 1.25),
            textcoords="offset points", fontsize=SMALL, annotation_clip=False,
            fontweight="bold" if up else "normal",
        )  # fmt: skip


def _ticks(limits: tuple[float, float], *, wide: float) -> Floats:
    """Return round ratings whose figures touch neither one another nor a neighbour's panel."""
    low, high = limits
    inch = (high - low) / wide
    longest = f"{'−' * (low < 0)}{max(abs(low), abs(high)):.0f}"
    figure = widest([longest], SMALL) * inch
    steps = (lead * 10.0**power for power in range(1, 9) for lead in (1, 1.5, 2, 2.5, 3, 4, 5))
    step = next(step for step in steps if step >= figure + _APART * inch)
    return np.arange(np.ceil((low + figure / 2) / step), (high - figure / 2) / step) * step


def _name(axes: Axes, names: Sequence[str], *, size: float) -> None:
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.tick_params(axis="y", length=0, pad=72 * _GAP / 2)


def _mark(axes: Axes, place: int, row: Row) -> None:
    if row.low is None or row.high is None:
        axes.plot(axes.get_xlim(), [place, place], ":", color=_OPEN, linewidth=0.8)
    else:
        draw_interval(axes, place, row.low, row.high)
    face = "white" if THIN in row.flags else BLUE
    axes.plot([row.rating or 0.0], [place], "o", markersize=2.8, markeredgecolor=BLUE,
              markerfacecolor=face, markeredgewidth=0.7)  # fmt: skip


def _notes(sliced: Slices, found: Sequence[dict[str, Row]]) -> Notes:
    parts, rows = sliced.parts, [row for of in found for row in of.values()]
    legend = [SCALES, "Lines: 95 % intervals; n: battles."]
    if any(THIN in row.flags for row in rows):
        legend.append(f"Hollow: under {SOLID_BATTLES} battles.")
    if any(row.low is None for row in rows):
        legend.append("Dotted: one video, no interval.")
    rated = sum(row.rating is not None for part in parts for row in part.board.models)
    if missing := rated - len(rows):
        legend.append(f"{missing} points left out: there the model never met the largest group.")
    shared = [set(part.board.settings.warnings) for part in parts]
    common = [line for line in parts[0].board.settings.warnings if all(line in s for s in shared)]
    return notes_of(legend, common, audit=sliced.audit)
