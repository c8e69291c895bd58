"""Ranked models with intervals, and coefficients of style and seat with theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from videoautoarena.runs.figures.canvas import (
    BLUE,
    COLUMN,
    GREY,
    INK,
    PAD,
    PALE,
    SMALL,
    Notes,
    Picture,
    Sheet,
    banner_of,
    notes_of,
    shown,
    widest,
)
from videoautoarena.runs.rating.fit import ONE_SIDED
from videoautoarena.runs.rating.leaderboard import Leaderboard, Row, Term, Terms
from videoautoarena.runs.text.number_formats import FORMATS
from videoautoarena.runs.views.leaderboard import (
    counted_table,
    extra_sentences,
    lead_sentence,
    rating_axis,
    totals_sentence,
)

_ROW, _GAP, _AXIS = 0.165, 0.08, 0.38
_LEAST = 0.25
"""Room to the left for half of a tick's figure."""
_TICK = 0.34
"""Inches from one tick to the next at least, so that no figure runs into another."""
_INSIDE = 0.02
_LEVEL = "Lines are 95 % intervals."
_HOLLOW = "Hollow: one-sided, won or lost everything against some."


class Line(NamedTuple):
    """A line of the ladder: a model, or what stands above a group."""

    text: str
    row: Row | None


def ladder(board: Leaderboard) -> Picture:
    """Return the ladder of a leaderboard."""
    return Picture("ladder", "ratings with intervals", lambda bare: _draw(board, bare=bare))


def _draw(board: Leaderboard, *, bare: bool) -> Figure:
    lines, settings = list(_lines(board)), board.settings
    figures = [_figures(line.row) for line in lines if line.row is not None]
    names = [line.text for line in lines if line.row is not None]
    left = max(widest(names) + _GAP, _LEAST) + PAD
    ratings = widest([rating for rating, _ in figures])
    right = ratings + widest([reach for _, reach in figures]) + 2 * _GAP + PAD
    rated = [row for row in board.models if row.rating is not None]
    hollow = any(ONE_SIDED in row.flags for row in rated)
    legend = [_LEVEL] * any(row.low is not None for row in rated) + [_HOLLOW] * hollow
    sheet = Sheet(
        COLUMN,
        _ROW * len(lines) + _AXIS,
        bare=bare,
        head=(
            "Ratings on the scale of people" if settings.labels else "Ratings",
            banner_of(settings),
        ),
        notes=_notes(board, legend, (one.text for one in extra_sentences(board))),
    )
    height = max(_ROW * len(lines), _ROW)
    axes = sheet.axes(left, 0, COLUMN - left - right, height)
    _scale(axes, rated, lines=len(lines))
    for k, line in enumerate(lines):
        _step(axes, k, line, wide=ratings)
    anchor = settings.anchor
    scale = f" ({shown(anchor.model)} = {anchor.rating:g})" if anchor else ""
    axes.set_xlabel(f"rating{scale}")
    if not rated:
        axes.set_axis_off()
    return sheet.figure


def _notes(board: Leaderboard, legend: Sequence[str], extras: Iterable[str] = ()) -> Notes:
    settings, tally = board.settings, counted_table(board)
    extra = " ".join(extras)
    further = [totals_sentence(settings, tally).text, *[extra] * bool(extra)]
    headline = lead_sentence(board, tally).text
    return notes_of([headline, *legend], settings.warnings, audit=board.audit, further=further)


def _lines(board: Leaderboard) -> Iterator[Line]:
    """Every model in order; a heading above each group where there are several."""
    rows = {row.model: row for row in board.models}
    groups: Sequence[Sequence[str]] = board.components
    for k, group in enumerate(groups, 1):
        if len(groups) > 1:
            yield Line(f"group {k}: never met the others, a scale of its own", None)
        yield from (Line(shown(name), rows.pop(name)) for name in group)
    yield from (Line(shown(name), row) for name, row in rows.items())


def _scale(axes: Axes, rated: Sequence[Row], *, lines: int) -> None:
    axes.set_ylim(max(lines, 1) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.04)
    axes.grid(axis="x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    wide = axes.get_position().width * COLUMN
    axes.locator_params(axis="x", nbins=min(max(int(wide / _TICK), 1), 5))
    axes.set_xlim(*_ends(rated))


def _ends(rated: Sequence[Row]) -> tuple[float, float]:
    """Where the scale begins and ends: one interval without bounds hides no others."""
    low, high = rating_axis(rated) if rated else (1000.0, 1000.0)
    reserve = max(0.04 * (high - low), 20.0)
    return low - reserve, high + reserve


def _step(axes: Axes, k: int, line: Line, *, wide: float) -> None:
    """Draw a line of the ladder; ratings stand in a column so many inches wide."""
    row = line.row
    if row is None:
        at = (PAD / COLUMN, k)
        axes.annotate(line.text, at, xycoords=("figure fraction", "data"), va="center",
                      color=GREY, fontsize=SMALL, annotation_clip=False)  # fmt: skip
        return
    is_rated = row.rating is not None
    colour, (rating, reach) = INK if is_rated else GREY, _figures(row)
    _beside(axes, (0, k), line.text, right=-_GAP / 2, colour=colour)
    _beside(axes, (1, k), rating, right=_GAP / 2 + wide, colour=colour)
    if reach:
        _beside(axes, (1, k), reach, left=1.25 * _GAP + wide, colour=colour)
    if not is_rated:
        return
    if row.low is not None and row.high is not None:
        draw_interval(axes, k, row.low, row.high)
    face = "white" if ONE_SIDED in row.flags else BLUE
    axes.plot([row.rating or 0.0], [k], "o", markersize=3.4, markeredgecolor=BLUE,
              markerfacecolor=face, markeredgewidth=0.9)  # fmt: skip


def draw_interval(axes: Axes, k: int, low: float, high: float) -> None:
    """Draw an interval on line `k`, with an arrow where it goes on beyond the scale."""
    first, last = axes.get_xlim()
    first, last = first + _INSIDE * (last - first), last - _INSIDE * (last - first)
    axes.plot([max(low, first), min(high, last)], [k, k], color=BLUE, linewidth=1.2,
              solid_capstyle="butt")  # fmt: skip
    for is_cut, end, arrow in ((low < first, first, "<"), (high > last, last, ">")):
        if is_cut:
            axes.plot([end], [k], arrow, color=BLUE, markersize=3.0, clip_on=False)


def _beside(
    axes: Axes,
    at: tuple[float, int],
    text: str,
    *,
    colour: str,
    left: float | None = None,
    right: float = 0.0,
) -> None:
    """Write a text that begins so many inches from an end of a line, or ends there."""
    axes.annotate(
        text,
        at,
        xycoords=("axes fraction", "data"),
        xytext=(72 * (right if left is None else left), 0),
        textcoords="offset points",
        ha="right" if left is None else "left",
        va="center",
        color=colour,
        annotation_clip=False,
    )


def _figures(row: Row | None) -> tuple[str, str]:
    """Return a rating and its interval."""
    if row is None or row.rating is None:
        return "unrated", ""
    reach = FORMATS["reach"].cell([row.rating, row.low, row.high])
    rating = FORMATS["rating"].cell([row.rating])
    return rating.replace("-", "−"), reach.replace("-", "−")


_TERM_ROW = 0.185


class Coefficient(NamedTuple):
    """A feature, and what one unit more of it wins."""

    name: str
    term: Term


def style(board: Leaderboard) -> Picture:
    """Return what style is worth.

    Args:
        board: a leaderboard that was rated with style, or with style and seats.
    """
    return Picture("style", "effect of answer style", lambda bare: _draw_terms(board, bare=bare))


def style_terms(board: Leaderboard) -> list[Coefficient]:
    """Return the features of style that differ anywhere, and the seat; of the largest group."""
    worth = [
        (name, term)
        for found in (board.settings.terms or ())[:1]
        for name, term in (*(found.style or {}).items(), ("read first", found.seat))
    ]
    return [Coefficient(shown(name), term) for name, term in worth if term is not None]


def _draw_terms(board: Leaderboard, *, bare: bool) -> Figure:
    terms = style_terms(board)
    left = max(widest([one.name for one in terms]) + _GAP, _LEAST) + PAD
    right = widest([_term_figures(one.term) for one in terms]) + _GAP + PAD
    sheet = Sheet(
        COLUMN,
        _TERM_ROW * len(terms) + _AXIS,
        bare=bare,
        head=("Effect of answer style", banner_of(board.settings)),
        notes=_notes(board, [*chain(*map(_meaning, (board.settings.terms or ())[:1]))]),
    )
    axes = sheet.axes(left, 0, COLUMN - left - right, _TERM_ROW * len(terms))
    axes.set_ylim(len(terms) - 0.5, -0.5)
    axes.set_yticks(range(len(terms)), [one.name for one in terms])
    axes.tick_params(axis="y", length=0, pad=72 * _GAP / 2)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.locator_params(axis="x", nbins=5)
    axes.axvline(0, color=GREY, linewidth=0.7)
    for k, (_, term) in enumerate(terms):
        if term.low is not None and term.high is not None:
            axes.plot([term.low, term.high], [k, k], color=BLUE, linewidth=1.2)
        axes.plot([term.points or 0.0], [k], "o", color=BLUE, markersize=3.4)
        axes.annotate(
            _term_figures(term),
            (1, k),
            xycoords=("axes fraction", "data"),
            xytext=(36 * _GAP, 0),
            textcoords="offset points", va="center", color=INK, annotation_clip=False,
        )  # fmt: skip
    axes.set_xlabel("rating points")
    return sheet.figure


def _meaning(found: Terms) -> Iterator[str]:
    yield "Points per standard deviation, all else equal; lines: 95 % intervals."
    if same := [shown(name) for name, term in (found.style or {}).items() if term is None]:
        yield f"Never differs: {', '.join(same)}."
    if found.seat is not None:
        yield "Read first: the effect of position."


def _term_figures(term: Term) -> str:
    return FORMATS["points_with_interval"].cell(term).replace("-", "−")
