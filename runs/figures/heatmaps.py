"""Heat maps of pairs: who won which share against whom, and how often they met."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
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
from videoautoarena.runs.views.leaderboard import counted_table, totals_sentence
from videoautoarena.scoring.fitting.counts import Floats

_LARGEST, _GAP = 0.34, 0.05
_NEVER = "#c9c9c9"
_TINY = 4.8
"""Points of a number of battles."""
_WRITTEN, _TWICE = 0.2, 0.25
"""Inches of a cell that a figure fits, and two above one another."""
_FEW, _PALER = 10, 0.55
"""Battles below which a share hardly says anything, and how far its colour is from white."""
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
    meaning: str
    counts: Floats | None = None
    """Battles behind each value; None where the values are these."""


def wins(board: Leaderboard) -> Picture:
    """Return the share of battles that each model won against each other.

    Args:
        board: a leaderboard with its pairs.
    """
    pairs = pairs_of(board)
    grid = Grid(
        "Battles won by the row’s model, in percent",
        100 * np.array(pairs.wins, dtype=np.float64),
        ListedColormap(colormaps["PuOr"](np.linspace(0.1, 0.9, 201))),
        100.0,
        lambda share: f"{share:.0f}",
        "A tie is won by nobody.",
        np.array(pairs.battles, dtype=np.float64),
    )
    return Picture("wins", "shares of battles won", lambda bare: _draw(board, grid, bare=bare))


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
        "Decided battles, ties among them.",
    )
    return Picture("battles", "battles of each pair", lambda bare: _draw(board, grid, bare=bare))


def pairs_of(board: Leaderboard) -> Matrices:
    """Return the pairs of a leaderboard that was asked for them."""
    assert board.pairs is not None
    return board.pairs


def _draw(board: Leaderboard, grid: Grid, *, bare: bool) -> Figure:
    names, settings = [shown(name) for name in pairs_of(board).models], board.settings
    n, label = len(names), max(widest(names), 0.2) + _GAP
    wanted = _WRITTEN if grid.counts is None else _TWICE
    width = COLUMN if (COLUMN - label - 2 * PAD) / n >= wanted else PAGE
    is_written = (width - label - 2 * PAD) / n >= _WRITTEN
    cell = min((width - label - 2 * PAD - _BAR * (not is_written)) / n, _LARGEST)
    size = min(USUAL, 72 * cell / 1.15)
    is_counted = is_written and grid.counts is not None and cell >= _TWICE
    sheet = Sheet(
        width,
        n * cell + label + _GAP + 0.05,
        bare=bare,
        head=(grid.title, banner_of(settings)),
        notes=notes_of(
            _legend(grid, is_counted=is_counted),
            settings.warnings,
            audit=board.audit,
            further=[totals_sentence(settings, counted_table(board)).text],
        ),
    )
    axes = sheet.axes(PAD + label, 0, n * cell, n * cell)
    colours = _colours(grid)
    axes.pcolormesh(colours, edgecolors="white", linewidth=0.5)
    _name(axes, names, size=size)
    if is_written:
        _write(axes, grid, colours, is_counted=is_counted)
    else:
        _key(sheet, grid, (PAD + label + n * cell + 0.08, 0, 0.09, min(n * cell, 1.5)))
    return sheet.figure


def _legend(grid: Grid, *, is_counted: bool) -> list[str]:
    """Return what the cells mean, as far as there are such."""
    apart = ~np.eye(len(grid.values), dtype=np.bool_)
    met = np.isfinite(grid.values) & apart
    legend = [grid.meaning]
    if grid.counts is not None:
        legend += ["Small figures: battles."] * is_counted
        few = bool((grid.counts[met] < _FEW).any())
        legend += [f"Pale: fewer than {_FEW} battles."] * few
    return [*legend, *["Grey: never met."] * bool((apart & ~met).any())]


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


def _colours(grid: Grid) -> Floats:
    """Return the colours of cells, shape (n, n, 4): the diagonal white, clear where none met."""
    colours = np.asarray(grid.colours(Normalize(0.0, grid.most)(grid.values)), dtype=np.float64)
    if grid.counts is not None:
        few = grid.counts < _FEW
        colours[few, :3] = 1.0 - _PALER * (1.0 - colours[few, :3])
    colours[..., 3] = np.isfinite(grid.values)
    colours[np.eye(len(grid.values), dtype=np.bool_)] = 1.0
    return colours


def _write(axes: Axes, grid: Grid, colours: Floats, *, is_counted: bool) -> None:
    up = 0.12 if is_counted else 0.0
    for (row, column), value in np.ndenumerate(grid.values):
        if not np.isfinite(value):
            continue
        is_dark = float(colours[row, column, :3] @ (0.299, 0.587, 0.114)) < 0.55
        how: Any = {"ha": "center", "va": "center", "color": "white" if is_dark else INK}
        at = (column + 0.5, row + 0.5)
        axes.text(at[0], at[1] - up, grid.write(float(value)), fontsize=SMALL, **how)
        if is_counted and grid.counts is not None:
            count = f"{grid.counts[row, column]:.0f}"
            axes.text(at[0], at[1] + 2 * up, count, fontsize=_TINY, **how)


def _key(sheet: Sheet, grid: Grid, box: tuple[float, float, float, float]) -> None:
    """Draw what the colours mean."""
    key = sheet.axes(*box)
    shades = ScalarMappable(Normalize(0.0, grid.most), grid.colours)
    bar = sheet.figure.colorbar(shades, cax=key)
    bar.outline.set_visible(False)
    key.tick_params(labelsize=SMALL)
    key.yaxis.set_major_locator(MaxNLocator(4, integer=True))
