"""What style and seat are worth: coefficients with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from runs.leaderboard_method import Table
from runs.pictures.notes import banner_of, notes_of
from runs.pictures.paper import BLUE, COLUMN, GREY, INK, PAD, PALE, Picture, Sheet, shown, widest

_ROW, _GAP, _AXIS = 0.185, 0.08, 0.38


class Term(NamedTuple):
    """A feature, and what one unit more of it wins."""

    name: str
    points: float
    low: float | None
    high: float | None


def style(table: Table) -> Picture:
    """Return what style is worth.

    Args:
        table: a leaderboard that was rated with style, or with style and seats.
    """
    return Picture("style", "what style is worth", lambda: _draw(table))


def style_terms(table: Table) -> list[Term]:
    """Return the features of style that differ anywhere, and the seat; of the largest group."""
    return list(_terms(table))


def _terms(table: Table) -> Iterator[Term]:
    for found in table["settings"].get("terms", [])[:1]:
        for name, term in found.get("style", {}).items():
            if term is not None:
                yield Term(shown(name), term["points"], term["low"], term["high"])
        if found.get("seat") is not None:
            yield Term("read first", *(found["seat"][key] for key in ("points", "low", "high")))


def _draw(table: Table) -> Figure:
    terms = style_terms(table)
    left = max(widest([term.name for term in terms]) + _GAP, 0.25) + PAD
    right = widest([_figures(term) for term in terms]) + _GAP + PAD
    sheet = Sheet(
        COLUMN,
        _ROW * len(terms) + _AXIS,
        title="What style is worth",
        banner=banner_of(table["settings"]),
        notes=[_unit(table["settings"]["terms"][0]), *notes_of(table)],
    )
    axes = sheet.axes(left, 0, COLUMN - left - right, _ROW * len(terms))
    axes.set_ylim(len(terms) - 0.5, -0.5)
    axes.set_yticks(range(len(terms)), [term.name for term in terms])
    axes.tick_params(axis="y", length=0, pad=72 * _GAP / 2)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.locator_params(axis="x", nbins=5)
    axes.axvline(0, color=GREY, linewidth=0.7)
    for k, term in enumerate(terms):
        if term.low is not None and term.high is not None:
            axes.plot([term.low, term.high], [k, k], color=BLUE, linewidth=1.2)
        axes.plot([term.points], [k], "o", color=BLUE, markersize=3.4)
        axes.annotate(
            _figures(term), (1, k), xycoords=("axes fraction", "data"), xytext=(36 * _GAP, 0),
            textcoords="offset points", va="center", color=INK, annotation_clip=False,
        )  # fmt: skip
    axes.set_xlabel("rating points")
    return sheet.figure


def _unit(found: dict[str, Any]) -> str:
    told = "Points that one deviation more of it wins, all else equal; lines are 95 % intervals."
    same = [shown(name) for name, term in found.get("style", {}).items() if term is None]
    if "seat" in found:
        told += " Read first: what that seat is worth."
    return f"{told} Never differs: {', '.join(same)}." if same else told


def _figures(term: Term) -> str:
    if term.low is None or term.high is None:
        return f"{term.points:+.0f} ±?".replace("-", "−")
    return f"{term.points:+.0f} ({term.low:+.0f} to {term.high:+.0f})".replace("-", "−")
