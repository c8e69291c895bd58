"""Heat maps of pairs: who won which share against whom, and how often they met."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from videoautoarena.runs.figures.canvas import (
    COLUMN,
    INK,
    PAD,
    PAGE,
    SMALL,
    USUAL,
    Picture,
    Sheet,
    banner_of,
    notes_of,
    shown,
    widest,
)
from videoautoarena.runs.rating.leaderboard import Leaderboard, Matrices
from videoautoarena.scoring.fitting.counts import Floats

_LARGEST, _GAP = 0.34, 0.05
_NEVER = "#c9c9c9"
_WRITTEN = 0.2
"""Inches of a cell that a figure fits."""
_BAR = 0.5
"""Inches to the right for the key of the colours."""


class Grid(NamedTuple):
    """A matrix of all pairs, and how it is shown."""

    title: str
    values: Floats
    """Shape (n, n), NaN for what is not there."""
    colours: Colormap
    most: float
    write: Callable[[float], str]
    notes: Sequence[str]


def wins(board: Leaderboard) -> Picture:
    """Return the share of battles that each model won against each other.

    Args:
        board: a leaderboard with its pairs.
    """
    values = np.array(pairs_of(board).wins, dtype=np.float64)
    grid = Grid(
        "Battles won by the row’s model, in percent",
        100 * values,
        colormaps["PuOr"],
        100.0,
        lambda share: f"{share:.0f}",
        ["Ties are battles that nobody won. Grey: never met."],
    )
    return Picture("wins", "shares of battles won", lambda: _draw(board, grid))


def battles(board: Leaderboard) -> Picture:
    """Return how often each model met each other in a battle that was decided.

    Args:
        board: a leaderboard with its pairs.
    """
    values = np.array(pairs_of(board).battles, dtype=np.float64)
    np.fill_diagonal(values, math.nan)
    values[values == 0] = math.nan
    grid = Grid(
        "Battles between each two models",
        values,
        colormaps["Blues"],
        float(np.nanmax(values, initial=1.0)),
        lambda count: f"{count:.0f}",
        ["Decided ones, with ties. Grey: never met."],
    )
    return Picture("battles", "battles of each pair", lambda: _draw(board, grid))


def pairs_of(board: Leaderboard) -> Matrices:
    """Return the pairs of a leaderboard that was asked for them."""
    assert board.pairs is not None
    return board.pairs


def _draw(board: Leaderboard, grid: Grid) -> Figure:
    names = [shown(name) for name in pairs_of(board).models]
    n, label = len(names), max(widest(names), 0.2) + _GAP
    width = COLUMN if (COLUMN - label - 2 * PAD) / n >= _WRITTEN else PAGE
    is_written = (width - label - 2 * PAD) / n >= _WRITTEN
    cell = min((width - label - 2 * PAD - _BAR * (not is_written)) / n, _LARGEST)
    size = min(USUAL, 72 * cell / 1.15)
    sheet = Sheet(
        width,
        n * cell + label + _GAP + 0.05,
        title=grid.title,
        banner=banner_of(board.settings),
        notes=[*grid.notes, *notes_of(board)],
    )
    axes = sheet.axes(PAD + label, 0, n * cell, n * cell)
    norm = Normalize(0.0, grid.most)
    mesh = axes.pcolormesh(grid.values, cmap=grid.colours, norm=norm, edgecolors="white",
                           linewidth=0.5)  # fmt: skip
    own = np.where(np.eye(n) > 0, 1.0, math.nan)
    axes.pcolormesh(own, cmap=ListedColormap(["white"]))
    _name(axes, names, size=size)
    if is_written:
        _write(axes, grid, norm)
    else:
        key = sheet.axes(PAD + label + n * cell + 0.08, 0, 0.09, min(n * cell, 1.5))
        bar = sheet.figure.colorbar(mesh, cax=key)
        bar.outline.set_visible(False)
        key.tick_params(labelsize=SMALL)
        key.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return sheet.figure


def _name(axes: Axes, names: Sequence[str], *, size: float) -> None:
    n = len(names)
    places = np.arange(n) + 0.5
    axes.set_xlim(0, n)
    axes.set_ylim(n, 0)
    axes.set_facecolor(_NEVER)
    axes.set_xticks(places, names, rotation=90, fontsize=size)
    axes.set_yticks(places, names, fontsize=size)
    axes.tick_params(length=0, pad=72 * _GAP / 2)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _write(axes: Axes, grid: Grid, norm: Normalize) -> None:
    for (row, column), value in np.ndenumerate(grid.values):
        if np.isfinite(value):
            red, green, blue, _ = grid.colours(norm(value))
            is_dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            axes.text(
                column + 0.5, row + 0.5, grid.write(float(value)), ha="center", va="center",
                fontsize=SMALL, color="white" if is_dark else INK,
            )  # fmt: skip
