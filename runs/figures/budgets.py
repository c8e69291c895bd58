"""Curves of accuracy against frames and dollars, with what is enough of each model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from videoautoarena.runs.bench.score.sweep import Setting, Sweep
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskScores
from videoautoarena.runs.figures.accuracies import (
    banner_of_set,
    headed,
    notes_of_set,
)
from videoautoarena.runs.figures.canvas import (
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAD,
    PAGE,
    PALE,
    SMALL,
    Notes,
    Picture,
    Sheet,
    inches,
    shown,
    widest,
)
from videoautoarena.runs.text.words import dollars
from videoautoarena.runs.views.sets import sweep_sentences, sweeps_table

_COLOURS = (BLUE, ORANGE, GREEN, "#cc79a7", "#56b4e9", INK)
_MARKS = ("o", "s", "^", "D", "v", "P")
"""What tells models apart without colour."""
_HIGH, _LEFT, _AXIS, _BETWEEN = 1.7, 0.42, 0.42, 0.5
"""Inches: of a panel, and of what stands around it."""
_KEY, _APART = 0.14, 0.06
"""Inches: of a mark in the key, and between texts at least."""


class Course(NamedTuple):
    """What accuracy is held against."""

    label: str
    of: Callable[[Setting], float | None]
    write: Callable[[float], str]


FRAMES = Course("frames", lambda one: float(one.frames), lambda x: f"{x:.0f}")
DOLLARS = Course("dollars an item", lambda one: one.usd or None, dollars)


def sweep(scores: TaskScores, board: TaskBoard) -> Picture:
    """Return what more frames bring each model, of a board with sweeps."""
    draw = lambda bare: _draw(scores, board, bare=bare)  # noqa: E731
    return Picture("sweep", "accuracy against frames and dollars", draw)


def _draw(scores: TaskScores, board: TaskBoard, *, bare: bool) -> Figure:
    settings = [one for sweep in board.sweeps for one in sweep.settings]
    courses = [FRAMES, DOLLARS] if any(map(DOLLARS.of, settings)) else [FRAMES]
    width = PAGE if len(courses) > 1 else COLUMN
    keys = _key_lines([shown(sweep.model) for sweep in board.sweeps], width)
    head = len(keys) * inches(SMALL) + 0.06
    sheet = Sheet(
        width,
        head + _HIGH + _AXIS,
        bare=bare,
        head=(headed("Accuracy by budget", board), banner_of_set(scores)),
        notes=_notes(board),
    )
    _write_keys(sheet, keys, head)
    wide = (width - _LEFT - 2 * PAD - (len(courses) - 1) * _BETWEEN) / len(courses)
    for k, course in enumerate(courses):
        axes = sheet.axes(_LEFT + k * (wide + _BETWEEN), head, wide, _HIGH)
        _frame(axes, board, course, wide=wide)
        for place, found in enumerate(board.sweeps):
            _curve(axes, place, found, course)
    return sheet.figure


def _curve(axes: Axes, place: int, found: Sweep, course: Course) -> None:
    colour, mark = _COLOURS[place % len(_COLOURS)], _MARKS[place % len(_MARKS)]
    known = [
        (at, one.accuracy.value, one)
        for one in found.settings
        if (at := course.of(one)) and one.accuracy.value is not None
    ]
    across, up = [at for at, _, _ in known], [value for _, value, _ in known]
    axes.plot(across, up, mark, linestyle="-", color=colour, markersize=3.2, linewidth=1.0)
    for at, value, one in known:
        if one.accuracy.low is not None and one.accuracy.high is not None:
            bar = (one.accuracy.low, one.accuracy.high)
            axes.plot([at, at], bar, color=colour, linewidth=0.8, alpha=0.6)
        if one.frames == found.cheapest:
            axes.plot([at], [value], "o", markersize=8, markerfacecolor="none",
                      markeredgecolor=colour, markeredgewidth=0.9)  # fmt: skip


def _frame(axes: Axes, board: TaskBoard, course: Course, *, wide: float) -> None:
    settings = [one for sweep in board.sweeps for one in sweep.settings]
    known = sorted({at for one in settings if (at := course.of(one))})
    axes.set_xscale("log")
    reach = max(known[-1] / known[0], 2.0) ** 0.08
    axes.set_xlim(known[0] / reach, known[-1] * reach)
    ticks = _ticks(axes, known, course, wide=wide)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([course.write(at) for at in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    bounds = [(one.accuracy.low, one.accuracy.value, one.accuracy.high) for one in settings]
    ends = [x for of in bounds for x in (*of, board.chance) if x is not None]
    axes.set_ylim(max(min(ends) - 3, -2), min(max(ends) + 3, 102))
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL)
    axes.set_xlabel(course.label)
    axes.set_ylabel("accuracy in percent")
    if board.chance is not None:
        axes.axhline(board.chance, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)))


def _ticks(axes: Axes, known: Sequence[float], course: Course, *, wide: float) -> list[float]:
    """Return the settings whose figures do not run into one another, the largest among them."""
    low, high = (math.log(end) for end in axes.get_xlim())
    kept: list[float] = []
    left = math.inf
    for at in reversed(known):
        half = widest([course.write(at)], SMALL) / 2
        middle = (math.log(at) - low) / (high - low) * wide
        if middle + half + _APART <= left:
            kept, left = [*kept, at], middle - half
    return kept[::-1]


def _key_lines(names: Sequence[str], width: float) -> list[list[str]]:
    """Return the names of models by the line of the key that they stand on."""
    lines: list[list[str]] = [[]]
    for name in names:
        longer = [*lines[-1], name]
        if lines[-1] and sum(map(_key_width, longer)) > width - 2 * PAD:
            lines.append([name])
        else:
            lines[-1] = longer
    return lines


def _key_width(name: str) -> float:
    return _KEY + widest([name], SMALL) + 2 * _APART


def _write_keys(sheet: Sheet, lines: Sequence[Sequence[str]], head: float) -> None:
    axes = sheet.axes(0, 0, sheet.width, head)
    axes.set_xlim(0, sheet.width)
    axes.set_ylim(head, 0)
    axes.set_axis_off()
    place = 0
    for row, names in enumerate(lines):
        at, middle = PAD, (row + 0.5) * inches(SMALL)
        for name in names:
            axes.plot([at + 0.05], [middle], _MARKS[place % len(_MARKS)], markersize=3.2,
                      color=_COLOURS[place % len(_COLOURS)], clip_on=False)  # fmt: skip
            axes.text(at + _KEY, middle, name, fontsize=SMALL, va="center_baseline")
            at, place = at + _key_width(name), place + 1


def _notes(board: TaskBoard) -> Notes:
    margin = f"{board.sweeps[0].margin:g}"
    legend = ["Bars: 95 % intervals."]
    if board.chance is not None:
        legend.append("Dashed: chance.")
    legend.append(f"Ring: the cheapest setting that is shown to lie within {margin} points.")
    found = notes_of_set(legend, board)
    told = sweep_sentences(board.sweeps, sweeps_table(board.sweeps))
    return found._replace(further=[one.text for one in told])
