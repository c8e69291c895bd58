"""Heat maps of needles: accuracy by position in the video and by its length, a panel a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from videoautoarena.runs.bench.score.positions import PARTS, Cell, Positions
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskScores
from videoautoarena.runs.figures.accuracies import (
    banner_of_set,
    headed,
    names_of,
    notes_of_set,
)
from videoautoarena.runs.figures.canvas import (
    COLUMN,
    INK,
    LONGEST,
    PAD,
    PAGE,
    SMALL,
    USUAL,
    Picture,
    Sheet,
    inches,
    shown,
    widest,
)
from videoautoarena.scoring.fitting.counts import Floats

_CELL, _LARGEST, _HIGH, _APART = 0.34, 0.5, 0.27, 0.06
"""Inches: of a cell, least and most, its height, and between cells and those over all others."""
_TITLE, _FOOT, _LABEL = inches(SMALL) + 0.05, inches(SMALL) + 0.04, 0.17
_BETWEEN, _GAP = 0.16, 0.05
_EMPTY = "#e4e4e4"
_TINY = 4.8
"""Points of a number of items."""
_FEW, _PALER = 10, 0.55
"""Items below which a share hardly says anything, and how far its colour is from white."""
_ALL = "all"
POSITIONS = tuple(f"{100 * k // PARTS}–{100 * (k + 1) // PARTS} %" for k in range(PARTS))
"""What the rows are called."""


def positions(scores: TaskScores, board: TaskBoard) -> Picture:
    """Return where in a video each model finds a needle, of a board that says where they lie."""
    draw = lambda bare: _draw(scores, board, bare=bare)  # noqa: E731
    return Picture("positions", "needles by position and length", draw)


def written(seconds: int) -> str:
    """Return a length of background in the largest unit that it is a whole number of."""
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds and seconds % unit == 0:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def _draw(scores: TaskScores, board: TaskBoard, *, bare: bool) -> Figure:
    rows = zip(names_of(board), board.watched, strict=True)
    found = [(name, row.positions) for name, row in rows if row.positions is not None]
    lengths = max(len(of.lengths) for _, of in found)
    left = PAD + widest([*POSITIONS, _ALL], SMALL) + _GAP
    width, columns, cell = _lay_out(left, lengths, len(found))
    wide, high = (lengths + 1) * cell + _APART, (PARTS + 1) * _HIGH + _APART
    block = _TITLE + high + _FOOT + _BETWEEN
    down = math.ceil(len(found) / columns) * block - _BETWEEN
    sheet = Sheet(
        width,
        down + _LABEL,
        bare=bare,
        head=(headed("Needles found, in percent", board), banner_of_set(scores)),
        notes=notes_of_set(_legend(found), board),
    )
    titles = _fitting([name for name, _ in found], wide)
    for k, (_, of) in enumerate(found):
        row, column = divmod(k, columns)
        own = (len(of.lengths) + 1) * cell + _APART
        at = (left + column * (wide + _BETWEEN), row * block + _TITLE)
        axes = sheet.axes(*at, own, high)
        _panel(axes, of, cell, is_named=column == 0)
        axes.set_title(titles[k], fontsize=SMALL, fontweight="bold", loc="left", pad=2.5)
    middle = (left + columns * (wide + _BETWEEN) / 2) / width
    below = sheet.top + down + 0.4 * inches(USUAL)
    text = "length of the background; rows: where in the video the needle lies"
    sheet.figure.text(middle, 1 - below / sheet.height, text, ha="center", va="center",
                      fontsize=SMALL)  # fmt: skip
    return sheet.figure


def _lay_out(left: float, lengths: int, panels: int) -> tuple[float, int, float]:
    """Return the width of a sheet, how many panels stand beside one another, and that of a cell.

    It is a column of a paper where all panels fit beside one another, else its page.
    """
    fits, least = 1, (lengths + 1) * _CELL + _APART
    width = COLUMN
    for width in (COLUMN, PAGE):
        fits = max(int((width - left - PAD + _BETWEEN) / (least + _BETWEEN)), 1)
        if fits >= panels:
            break
    width = max(width, left + least + PAD)
    columns = math.ceil(panels / math.ceil(panels / fits))
    room = (width - left - PAD + _BETWEEN) / columns - _BETWEEN
    return width, columns, min((room - _APART) / (lengths + 1), _LARGEST)


def _fitting(names: Sequence[str], wide: float) -> list[str]:
    """Return names that fit above a panel."""
    for most in range(2 * LONGEST, 5, -1):
        found = [shown(name, most) for name in names]
        if widest(found, SMALL, weight="bold") <= wide:
            return found
    return [shown(name, 5) for name in names]


def _panel(axes: Axes, of: Positions, cell_width: float, *, is_named: bool) -> None:
    cells = [[*row, last] for row, last in zip(of.cells, of.by_position, strict=True)]
    cells.append([*of.by_length, None])
    across, down = _edges(len(of.lengths), cell_width), _edges(PARTS, _HIGH)
    for row, some in enumerate(cells):
        for column, cell in enumerate(some):
            if (row, column) != (PARTS, len(of.lengths)):
                box = (*across[column], *down[row])
                _draw_cell(axes, box, cell)
    axes.set_xlim(0, across[-1][1])
    axes.set_ylim(down[-1][1], 0)
    middles = [(one + other) / 2 for one, other in across]
    axes.set_xticks(middles, [*map(written, of.lengths), _ALL], fontsize=SMALL)
    names = [*POSITIONS, _ALL] if is_named else [""] * (PARTS + 1)
    axes.set_yticks([(one + other) / 2 for one, other in down], names, fontsize=SMALL)
    axes.tick_params(length=0, pad=72 * _GAP / 2)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _edges(count: int, size: float) -> list[tuple[float, float]]:
    """Return where cells begin and end, the last of them, over all others, a little apart."""
    edges = [(k * size, (k + 1) * size) for k in range(count)]
    return [*edges, (count * size + _APART, (count + 1) * size + _APART)]


def _draw_cell(axes: Axes, box: tuple[float, float, float, float], cell: Cell | None) -> None:
    left, right, top, bottom = box
    colour = _colour(cell)
    axes.fill(
        [left, right, right, left], [top, top, bottom, bottom],
        facecolor=colour if cell else _EMPTY, edgecolor="white", linewidth=0.6,
    )  # fmt: skip
    if cell is None or cell.value is None:
        return
    is_dark = float(colour @ (0.299, 0.587, 0.114)) < 0.55
    middle, how = (left + right) / 2, {"ha": "center", "va": "center"}
    ink: dict[str, Any] = {**how, "color": "white" if is_dark else INK}
    axes.text(middle, top + 0.36 * (bottom - top), f"{cell.value:.0f}", fontsize=SMALL, **ink)
    axes.text(middle, top + 0.75 * (bottom - top), f"{cell.n}", fontsize=_TINY, **ink)


def _colour(cell: Cell | None) -> Floats:
    value = 0.0 if cell is None or cell.value is None else cell.value
    # The darkest blues are left out: figures in them are hard to read.
    blue = np.asarray(colormaps["Blues"](Normalize(-8.0, 118.0)(value)), dtype=np.float64)[:3]
    return 1.0 - _PALER * (1.0 - blue) if cell and cell.n < _FEW else blue


def _legend(found: list[tuple[str, Positions]]) -> list[str]:
    cells = [cell for _, of in found for row in of.cells for cell in row]
    legend = ["Small figures: items."]
    if any(cell and cell.n < _FEW for cell in cells):
        legend.append(f"Pale: fewer than {_FEW} items.")
    return [*legend, *["Grey: none."] * any(cell is None for cell in cells)]
