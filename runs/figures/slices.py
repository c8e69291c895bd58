"""Ratings over slices: a panel for every model, the others in grey behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from videoautoarena.runs.figures.canvas import (
    BLUE,
    COLUMN,
    PAD,
    PAGE,
    PALE,
    SMALL,
    USUAL,
    Picture,
    Sheet,
    alarms_of,
    banner_of,
    shown,
    warnings_of,
    widest,
)
from videoautoarena.runs.leaderboard.slices import Slice, Slices
from videoautoarena.runs.leaderboard.slices_text import SCALES
from videoautoarena.runs.rating.method import THIN

_HIGH, _ABOVE, _LEFT, _BETWEEN = 0.85, 0.2, 0.42, 0.12
_FEW_MODELS = 6
_LEAST_SPAN = 100.0
_BEHIND = "#bdbdbd"


class Point(NamedTuple):
    """What a slice says of a model."""

    at: int
    """Which slice."""
    rating: float
    low: float
    """Infinite, as `high`, where one video bounds nothing."""
    high: float
    is_thin: bool


def lines(sliced: Slices) -> Picture:
    """Return how ratings go over the slices of a run, such as lengths of video."""
    by = sliced.by
    return Picture(by, f"ratings by {by}", lambda: _draw(sliced))


def _draw(sliced: Slices) -> Figure:
    parts, names = sliced.parts, _best_first(sliced)
    courses = {name: _course(parts, name) for name in names}
    columns = _columns(len(names))
    width = COLUMN if len(names) <= _FEW_MODELS else PAGE
    rows = math.ceil(len(names) / columns)
    wide = (width - _LEFT - 2 * PAD - (columns - 1) * _BETWEEN) / columns
    ticks = [part.name for part in parts]
    below = widest(ticks, SMALL) + 0.08
    sheet = Sheet(
        width,
        rows * (_HIGH + _ABOVE) + below,
        title=f"Ratings by {sliced.by}",
        banner=banner_of(parts[0].board.settings),
        notes=_notes(sliced, names),
    )
    limits = _limits([point for course in courses.values() for point in course])
    behind = [[(p.at, p.rating) for p in course] for course in courses.values()]
    for k, name in enumerate(names):
        row, column = divmod(k, columns)
        left = PAD + _LEFT + column * (wide + _BETWEEN)
        axes = sheet.axes(left, row * (_HIGH + _ABOVE) + _ABOVE, wide, _HIGH)
        _frame(axes, ticks, limits=limits, is_first=column == 0, is_last=k + columns >= len(names))
        axes.add_collection(LineCollection(behind, colors=_BEHIND, linewidths=0.5, zorder=1.5))
        _blue(axes, courses[name])
        longest = max(int(wide * 72 / (0.6 * USUAL)), 5)
        axes.set_title(shown(name, longest), fontsize=USUAL, loc="left", pad=2.5)
    return sheet.figure


def _columns(models: int) -> int:
    """As many as leave no row nearly empty."""
    most = 3 if models <= _FEW_MODELS else 6
    return math.ceil(models / math.ceil(models / most)) if models else 1


def _best_first(sliced: Slices) -> list[str]:
    """Models with a rating in a slice whose largest group they belong to, by their mean rating."""
    found: dict[str, list[float]] = {}
    for part in sliced.parts:
        for name in part.board.components[0] if part.board.components else ():
            (row,) = (row for row in part.board.models if row.model == name)
            found.setdefault(name, []).append(row.rating or 0.0)
    return sorted(found, key=lambda name: -math.fsum(found[name]) / len(found[name]))


def _course(parts: Sequence[Slice], name: str) -> list[Point]:
    points = []
    for k, part in enumerate(parts):
        if part.board.components and name in part.board.components[0]:
            (row,) = (row for row in part.board.models if row.model == name)
            rating = row.rating or 0.0
            low = -math.inf if row.low is None else row.low
            high = math.inf if row.high is None else row.high
            points.append(Point(k, rating, low, high, THIN in row.flags))
    return points


def _limits(points: Sequence[Point]) -> tuple[float, float]:
    """The range of all ratings and what most intervals need beyond."""
    if not points:
        return 900.0, 1100.0
    low, high = min(p.rating for p in points), max(p.rating for p in points)
    reach = max(high - low, _LEAST_SPAN)
    return (
        max(min(p.low for p in points), low - 0.5 * reach) - 0.05 * reach,
        min(max(p.high for p in points), high + 0.5 * reach) + 0.05 * reach,
    )


def _frame(
    axes: Axes, ticks: Sequence[str], *, limits: tuple[float, float], is_first: bool, is_last: bool
) -> None:
    axes.set_xlim(-0.5, len(ticks) - 0.5)
    axes.set_ylim(*limits)
    axes.set_xticks(
        range(len(ticks)), ticks if is_last else [""] * len(ticks), rotation=90, fontsize=SMALL
    )
    axes.tick_params(axis="y", labelsize=SMALL, labelleft=is_first)
    axes.locator_params(axis="y", nbins=4)
    axes.grid(axis="y", color=PALE, linewidth=0.3)
    axes.set_axisbelow(True)


def _blue(axes: Axes, course: Sequence[Point]) -> None:
    bottom, top = axes.get_ylim()
    axes.plot([p.at for p in course], [p.rating for p in course], color=BLUE, linewidth=1.1)
    for p in course:
        bar = [max(p.low, bottom), min(p.high, top)]
        axes.plot([p.at, p.at], bar, ":" if math.isinf(p.low) else "-", color=BLUE, linewidth=0.8)
        face = "white" if p.is_thin else BLUE
        axes.plot([p.at], [p.rating], "o", markersize=2.6, markeredgecolor=BLUE,
                  markerfacecolor=face, markeredgewidth=0.7)  # fmt: skip


def _notes(sliced: Slices, names: Sequence[str]) -> list[str]:
    parts = sliced.parts
    notes = [
        "Bars are 95 % intervals, cut where they leave the frame; grey: the other models. " + SCALES
    ]
    if any(THIN in row.flags for part in parts for row in part.board.models):
        notes.append("Hollow: fewer than 100 battles.")
    if any(row.rating is not None and row.low is None for p in parts for row in p.board.models):
        notes.append("Dotted: on one video, so without an interval.")
    missing = sum(
        row.rating is not None and row.model not in part.board.components[0]
        for part in parts
        for row in part.board.models
    )
    if missing:
        notes.append(f"{missing} points are left out: there the model never met the largest group.")
    shared = [set(part.board.settings.warnings) for part in parts]
    common = [line for line in parts[0].board.settings.warnings if all(line in s for s in shared)]
    notes += [*alarms_of(sliced.audit), *warnings_of(common)]
    return notes if names else ["No battle was decided."]
