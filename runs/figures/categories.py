"""A heat map of who is strong in what: categories of questions down, models across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

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
from videoautoarena.runs.leaderboard.slices import Slices
from videoautoarena.runs.rating.method import SOLID_BATTLES
from videoautoarena.runs.views.slices import SCALES
from videoautoarena.scoring.fitting.bradley_terry import MEAN
from videoautoarena.scoring.fitting.counts import Floats

_GAP, _HIGH, _LEAST, _LARGEST = 0.05, 0.24, 0.3, 0.5
_WRITTEN = 0.26
"""Inches of a cell that a figure fits."""
_TINY = 4.8
"""Points of a number of battles."""
_NEVER = "#c9c9c9"
_REACH = 200.0
"""Points from the mean at which a colour is full, at least."""
_PALER = 0.55
"""How far the colour of a cell on few battles is from white."""


class _Cells(NamedTuple):
    """What stands in the cells; both shapes are (slices, models)."""

    gaps: Floats
    """Points above the mean of the slice, NaN where a model is not rated."""
    battles: Floats


def by_category(sliced: Slices) -> Picture:
    """Return how far above the mean of each category of questions each model is rated.

    Each slice has a scale of its own: a cell is read within its line. Cells on fewer than 100
    battles are pale.
    """
    what = "how models are rated in each category of questions"
    return Picture("categories", what, lambda bare: _draw(sliced, bare=bare))


def _draw(sliced: Slices, *, bare: bool) -> Figure:
    parts = [part for part in sliced.parts if part.board.components]
    models = _best_first(sliced)
    cells = _cells(sliced, models)
    rows, names = [shown(part.name) for part in parts], [shown(name) for name in models]
    left, below = widest(rows) + _GAP + PAD, max(widest(names), 0.2) + _GAP
    width = COLUMN if left + PAD + _LEAST * len(names) <= COLUMN else PAGE
    wide = min((width - left - PAD) / max(len(names), 1), _LARGEST)
    size, is_written = min(USUAL, 72 * wide / 1.15), wide >= _WRITTEN
    sheet = Sheet(
        width,
        _HIGH * len(rows) + below + _GAP,
        bare=bare,
        head=("Points above the mean of each category", banner_of(parts[0].board.settings)),
        notes=notes_of(
            _legend(cells, is_written=is_written), _shared_warnings(sliced), audit=sliced.audit
        ),
    )
    axes = sheet.axes(left, 0, wide * len(names), _HIGH * len(rows))
    colours = _colours(cells)
    axes.pcolormesh(colours, edgecolors="white", linewidth=0.5)
    axes.set_xlim(0, len(names))
    axes.set_ylim(len(rows), 0)
    axes.set_facecolor(_NEVER)
    axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, fontsize=size)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=USUAL)
    axes.tick_params(length=0, pad=72 * _GAP / 2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if is_written:
        _write(axes, cells, colours)
    return sheet.figure


def _shared_warnings(sliced: Slices) -> list[str]:
    every = [part.board.settings.warnings for part in sliced.parts]
    return [line for line in every[0] if all(line in one for one in every)]


def _best_first(sliced: Slices) -> list[str]:
    """Return the models that any slice rates, by their mean rating over its battles."""
    held: dict[str, list[float]] = {}
    for part in sliced.parts:
        for row in part.board.models:
            if row.rating is not None:
                total = held.setdefault(row.model, [0.0, 0.0])
                total[0] += row.rating * row.battles
                total[1] += row.battles
    return sorted(held, key=lambda name: -(held[name][0] / (held[name][1] or 1)))


def _cells(sliced: Slices, models: Sequence[str]) -> _Cells:
    parts = [part for part in sliced.parts if part.board.components]
    gaps = np.full((len(parts), len(models)), np.nan)
    battles = np.zeros((len(parts), len(models)))
    for k, part in enumerate(parts):
        group = set(part.board.components[0])
        for row in part.board.models:
            if row.rating is not None and row.model in group:
                place = models.index(row.model)
                gaps[k, place], battles[k, place] = row.rating - MEAN, row.battles
    return _Cells(gaps, battles)


def _colours(cells: _Cells) -> Floats:
    """Return the colours of cells, shape (slices, models, 4): clear where nobody is rated."""
    reach = max(_REACH, float(np.nanmax(np.abs(cells.gaps), initial=0.0)))
    shades = colormaps["PuOr"]
    scaled = 0.1 + 0.8 * Normalize(-reach, reach)(cells.gaps)
    colours = np.asarray(shades(np.ma.filled(scaled, np.nan)), dtype=np.float64)
    few = cells.battles < SOLID_BATTLES
    colours[few, :3] = 1.0 - _PALER * (1.0 - colours[few, :3])
    colours[..., 3] = np.isfinite(cells.gaps)
    return colours


def _write(axes: Axes, cells: _Cells, colours: Floats) -> None:
    for (row, column), gap in np.ndenumerate(cells.gaps):
        if not np.isfinite(gap):
            continue
        is_dark = float(colours[row, column, :3] @ (0.299, 0.587, 0.114)) < 0.55
        how: Any = {"ha": "center", "va": "center", "color": "white" if is_dark else INK}
        axes.text(column + 0.5, row + 0.36, f"{gap:+.0f}", fontsize=SMALL, **how)
        count = f"{cells.battles[row, column]:.0f}"
        axes.text(column + 0.5, row + 0.76, count, fontsize=_TINY, **how)


def _legend(cells: _Cells, *, is_written: bool) -> list[str]:
    how = "Small figures: battles." if is_written else "Violet: above the mean; brown: below."
    legend = [SCALES, how]
    rated = np.isfinite(cells.gaps)
    legend += [f"Pale: under {SOLID_BATTLES}."] * bool((cells.battles[rated] < SOLID_BATTLES).any())
    return [*legend, *["Grey: not rated, or never met the rated."] * bool((~rated).any())]
