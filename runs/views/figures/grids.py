"""Draws figures in shaded cells, in one grid or several."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from videoautoarena.runs.views.figures.canvas import (
    BETWEEN,
    GAP,
    INK,
    LONGEST,
    NOTHING_THERE,
    PAD,
    SMALL,
    TINY,
    USUAL,
    Caption,
    FigureSheet,
    columns_that_fit,
    inches,
    shown,
    signed,
    widest,
)
from videoautoarena.runs.views.results.report import Table
from videoautoarena.scoring.fitting.counts import Floats

_NARROWEST, _WIDEST, _HIGHEST = 0.3, 0.5, 0.27
"""Inches of a cell that is written in."""
_AROUND, _UNDER = 0.06, 0.24
"""Inches of a cell beside its figure, and of the height into which two fit."""
_APART = 0.06
"""Inches of a row or column without a name, which parts others."""
_KEY = 0.5
"""Inches to the right for the key of the colours."""
_PALER = 0.55
"""How far the colour of a cell on little is from white."""
_TITLE = inches(SMALL) + 0.05
Place = tuple[int, int]
"""Row and column."""


class GridCell(NamedTuple):
    """A figure, and the number of cases behind it."""

    value: float
    text: str
    under: str
    is_few: bool
    """Whether so few cases are behind it that it hardly says anything."""


def cells_of(
    table: Table, places: Mapping[int, Place], key: str, under: str, *, few: int
) -> dict[Place, GridCell]:
    """Return the cells of rows of a table: a figure, and `under` it the number of its cases."""
    return {
        place: GridCell(
            table.rows[k][key],
            signed(table.cell(k, table.column(key))),
            table.cell(k, table.column(under)),
            table.rows[k][under] < few,
        )
        for k, place in places.items()
        if table.rows[k][key] is not None
    }


@dataclass(frozen=True)
class ShadedGrid:
    """Cells by row and column; places without one are grey, unless they are `blank`."""

    cells: Mapping[Place, GridCell]
    columns: Sequence[str]
    blank: Collection[Place] = ()
    """Places that cannot hold anything."""
    title: str = ""


@dataclass(frozen=True)
class ShadedGrids:
    """Grids beside and below one another, with rows in common."""

    rows: Sequence[str]
    grids: Sequence[ShadedGrid]
    colours: Colormap
    low: float
    high: float
    """Value at the end of the colours; `low` is the one at their beginning."""
    under: str = ""
    """Meaning of small figures; then of pale cells, grey cells, and colours without figures."""
    few: str = ""
    lacking: str = ""
    shades: str = ""
    label: str = ""
    """Below the grids."""

    def draw(self, caption: Caption, *, bare: bool) -> Figure:
        """Draw grids in a column of a paper where their figures fit, else on its page."""
        texts = [cell.text for grid in self.grids for cell in grid.cells.values()]
        columns = [shown(name) for grid in self.grids for name in grid.columns if name]
        across = max(sum(map(bool, grid.columns)) for grid in self.grids)
        apart = _APART * ("" in self.rows)
        left = PAD + max(widest([shown(name) for name in self.rows]), 0.2) + GAP
        least = widest(texts, SMALL) + _AROUND
        panel = max(least, _NARROWEST) * across + apart
        width, beside = columns_that_fit(len(self.grids), left, PAD, panel)
        room = (width - left - PAD + BETWEEN) / beside - BETWEEN - apart
        # Figures are written where all of them fit; else a key says what the colours mean.
        is_written = room / across >= least
        wide = min((room - _KEY * (not is_written)) / across, _WIDEST)
        high = min(wide, _HIGHEST) if len(self.rows) >= across else _HIGHEST
        is_double = is_written and bool(self.under) and high >= _UNDER
        is_turned = widest(columns) > wide
        panel = wide * across + apart
        body = high * sum(map(bool, self.rows)) + apart
        title = _TITLE if any(grid.title for grid in self.grids) else 0.0
        foot = (widest(columns) if is_turned else inches(USUAL)) + GAP
        block = title + body + foot + BETWEEN
        down = math.ceil(len(self.grids) / beside) * block - BETWEEN
        marks = self._marks(is_written=is_written, is_double=is_double)
        sheet = FigureSheet(width, down + 0.16 * bool(self.label) + 0.04, caption, marks, bare=bare)
        titles = _fitting([grid.title for grid in self.grids], panel)
        for k, grid in enumerate(self.grids):
            row, column = divmod(k, beside)
            at = (left + column * (panel + BETWEEN), row * block + title)
            edges = _edges(grid.columns, wide), _edges(self.rows, high)
            axes = sheet.axes(*at, edges[0][-1], body)
            drawn = GridAxes(axes, grid, *edges, self._colours(grid))
            drawn.shade()
            rows = self.rows if column == 0 else [""] * len(self.rows)
            drawn.name(rows, sizes=(wide, high), is_turned=is_turned)
            if is_written:
                drawn.write(up=0.12 * high * is_double)
            axes.set_title(titles[k], fontsize=SMALL, fontweight="bold", loc="left", pad=2.5)
        if not is_written:
            self._draw_key(sheet, (left + panel + 0.08, title, 0.09, min(body, 1.5)))
        if self.label:
            sheet.write(self.label, left + beside * (panel + BETWEEN) / 2, down + 0.08)
        return sheet.figure

    def _lacking(self, grid: ShadedGrid) -> list[Place]:
        """Return the places that are grey."""
        every = np.ndindex(len(self.rows), len(grid.columns))
        named = [place for place in every if self.rows[place[0]] and grid.columns[place[1]]]
        return [place for place in named if place not in grid.cells and place not in grid.blank]

    def _marks(self, *, is_written: bool, is_double: bool) -> Iterator[str]:
        """Yield what marks mean, as far as they occur."""
        if is_double:
            yield f"small figures: {self.under}"
        if self.shades and not is_written:
            yield self.shades
        if any(cell.is_few for grid in self.grids for cell in grid.cells.values()):
            yield f"pale: fewer than {self.few}"
        if any(map(self._lacking, self.grids)):
            yield f"grey: {self.lacking}"

    def _colours(self, grid: ShadedGrid) -> Floats:
        """Return the colours of cells, shape (rows, columns, 4)."""
        colours = np.ones((len(self.rows), len(grid.columns), 4))
        shade = Normalize(self.low, self.high)
        for place in self._lacking(grid):
            colours[place] = to_rgba(NOTHING_THERE)
        for place, cell in grid.cells.items():
            colour = np.array(self.colours(shade(cell.value)))
            colours[place] = 1.0 - _PALER * (1.0 - colour) if cell.is_few else colour
        return colours

    def _draw_key(self, sheet: FigureSheet, box: tuple[float, float, float, float]) -> None:
        """Draw what the colours mean."""
        key = sheet.axes(*box)
        shades = ScalarMappable(Normalize(self.low, self.high), self.colours)
        bar = sheet.figure.colorbar(shades, cax=key)
        bar.outline.set_visible(False)
        key.tick_params(labelsize=SMALL)
        key.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def _edges(names: Sequence[str], size: float) -> Floats:
    return np.cumsum([0.0, *(size if name else _APART for name in names)])


def _fitting(titles: Sequence[str], wide: float) -> list[str]:
    """Return titles that fit above a grid."""
    for most in range(2 * LONGEST, 5, -1):
        found = [shown(title, most) if title else "" for title in titles]
        if widest(found, SMALL, weight="bold") <= wide:
            return found
    return [shown(title, 5) for title in titles]


class GridAxes(NamedTuple):
    """A grid on its axes."""

    axes: Axes
    grid: ShadedGrid
    across: Floats
    down: Floats
    """Where its cells begin and end."""
    colours: Floats

    def shade(self) -> None:
        """Draw the cells."""
        how: Any = {"edgecolors": "white", "linewidth": 0.5}
        self.axes.pcolormesh(self.across, self.down, self.colours, **how)
        self.axes.set_xlim(0, self.across[-1])
        # Rows run down, as in a table.
        self.axes.set_ylim(self.down[-1], 0)

    def name(self, rows: Sequence[str], *, sizes: Sequence[float], is_turned: bool) -> None:
        """Name rows and columns."""
        columns = [shown(name) if name else "" for name in self.grid.columns]
        wide, high = (min(USUAL, 72 * size / 1.15) for size in sizes)
        across, down = ((edges[1:] + edges[:-1]) / 2 for edges in (self.across, self.down))
        turned: Any = {"rotation": 90, "fontsize": wide} if is_turned else {"fontsize": SMALL}
        self.axes.set_xticks(across, columns, **turned)
        self.axes.set_yticks(down, [shown(row) if row else "" for row in rows], fontsize=high)
        self.axes.tick_params(length=0, pad=72 * GAP / 2)
        for spine in self.axes.spines.values():
            spine.set_visible(False)

    def write(self, *, up: float) -> None:
        """Write figures into cells, `up` inches higher with the number of cases below them."""
        for (row, column), cell in self.grid.cells.items():
            # Luma by the weights of Rec. 601.
            is_dark = float(self.colours[row, column, :3] @ (0.299, 0.587, 0.114)) < 0.55
            how: Any = {"ha": "center", "va": "center", "color": "white" if is_dark else INK}
            x = self.across[column : column + 2].mean()
            y = self.down[row : row + 2].mean()
            self.axes.text(x, y - up, cell.text, fontsize=SMALL, **how)
            if up:
                self.axes.text(x, y + 2 * up, cell.under, fontsize=TINY, **how)
