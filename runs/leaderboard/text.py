"""The leaderboard on a terminal: ranks as ranges, intervals as bars on one scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.leaderboard.extras import (
    behaviour_grid,
    behaviour_notes,
    closing_line,
    extra_lines,
    knows_behaviour,
)
from videoautoarena.runs.rating.finding import alarm_lines, share_lines
from videoautoarena.runs.rating.leaderboard import Leaderboard, Row, Settings
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS, TOO_FEW, too_few
from videoautoarena.runs.text.tables import plain_grid
from videoautoarena.runs.text.terminal import safe
from videoautoarena.scoring.intervals.ranks import videos_needed

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

_BAR = 13
_WIDE = 2.5
"""Intervals so many times as wide as the median one are cut."""
_UNKNOWN = "-"


def render(board: Leaderboard, *, details: bool = False, notes: bool = False) -> RenderableType:
    """Return the table for a console of 80 columns or more, `board_lines` below it.

    With `details` a second one says how each model behaved, where the table knows.

    Names are user text: control characters become visible escapes, and nothing is read as markup.
    """
    rows = board.models
    shared = _shared_flags(rows)
    edges = _edges(rows)
    grid = _columns(edges, flags=any(set(row.flags) - shared for row in rows))
    starts = {group[0] for group in board.components[1:]}
    for row in rows:
        if row.model in starts:
            grid.add_section()
        own = ", ".join(flag for flag in row.flags if flag not in shared)
        grid.add_row(*_cells(row, edges), *([own] if len(grid.columns) == 8 else []))
    lines = [*extra_lines(board), *board_lines(board, notes=notes)]
    behaviour: list[RenderableType] = []
    if details and knows_behaviour(rows):
        notes_of_it = map(Text, behaviour_notes(rows))
        behaviour = [Text(""), behaviour_grid(rows), *notes_of_it, Text("")]
    return Group(grid, *behaviour, *map(Text, lines))


def board_lines(board: Leaderboard, *, notes: bool) -> list[str]:
    """Return what is said under every table: at most three lines, or with `notes` all there are.

    The three are the first alarm, or else what was counted; who leads; and cautions.
    """
    alarms, summary = alarm_lines(board.audit or ()), summarize(board)
    totals, warnings = totals_text(board.settings), board.settings.warnings
    shares = share_lines(board.audit or ())
    if notes:
        cautions = [f"note: {safe(warning)}" for warning in warnings]
        return [totals, *alarms, *shares, *cautions, summary]
    lines = len(alarms) + len(shares) + len(warnings)
    closing = closing_line(warnings, lines=lines, alarms=max(len(alarms) - 1, 0))
    return [*(alarms[:1] or [totals]), summary, *closing]


def summarize(board: Leaderboard) -> str:
    """Return who leads, who may be as good, and how many more videos would separate them."""
    if not board.components:
        totals = board.settings.totals
        lost = f" ({totals.forfeits} forfeited, {totals.voids} void)" if totals.battles else ""
        return f"No battle was decided{lost}, so no model is rated."
    group = board.models[: len(board.components[0])]
    level = [safe(row.model) for row in group if row.rank == 1]
    lead, (pieces, unit) = _opening(board, level), board.settings.evidence
    if group[0].low is None:
        return f"{lead}, on one {unit} only: there are no intervals yet."
    if len(level) > 1:
        return f"{lead}; more {unit}s may never separate them."
    if board.settings.simultaneous:
        others = [safe(row.model) for row in group if row.rank != 1 and row.rank_best == 1]
        if not others:
            return f"{lead}, and stays first in all comparisons at once."
        return f"{lead}, but all comparisons at once do not separate {_listed(others)} from it."
    rating, low, high = np.array([_figures(row) for row in group]).T
    rivals = find_rivals(rating, low, high)
    if len(rivals) == 0:
        return f"{lead}, and its interval overlaps no other."
    near = rivals[0]
    gap, reach = rating[0] - rating[near], rating[0] - low[0] + high[near] - rating[near]
    outlook = _outlook(videos_needed(gap, reach, videos=pieces[0]), len(rivals), unit)
    unclear = _listed([safe(group[k].model) for k in rivals])
    return f"{lead}, but is not separated from {unclear}; {outlook}"


def _opening(board: Leaderboard, level: list[str]) -> str:
    groups = len(board.components)
    among = f" the largest of {groups} groups that never met" if groups > 1 else ""
    few = board.settings.evidence[0][0] < RANKABLE_VIDEOS
    if len(level) > 1:
        lead = f"{_listed(level)} share the first place{' in' * bool(among)}{among}"
    else:
        lead = f"{level[0]} leads{among}"
    return f"So far {lead}" if few else lead


def _figures(row: Row) -> tuple[float, float, float]:
    """Return a row's rating and bounds, NaN for those it has not."""
    rating, low, high = (math.nan if x is None else x for x in (row.rating, row.low, row.high))
    return rating, low, high


def _outlook(more: int | None, rivals: int, unit: str) -> str:
    whom = "the nearest two" if rivals > 1 else "them"
    if more is None:
        return f"no realistic number of {unit}s would separate {whom}."
    # Two digits: the formula is too crude for more.
    least: int = 10 ** max(len(str(more)) - 2, 0)
    videos = f"{math.ceil(more / least) * least} more {unit}s" if more != 1 else f"one more {unit}"
    return f"about {videos} would separate {whom} at the current gap."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True)
class Bar:
    """An interval and its middle on a scale of `_BAR` columns; an arrow where it goes on."""

    low: int
    middle: int
    high: int

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_BAR, _BAR)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        line, dot, left, right = "-o<>" if options.ascii_only else "─●◂▸"
        marks = [line if self.low <= x <= self.high else " " for x in range(_BAR)]
        if self.low < 0:
            marks[0] = left
        if self.high >= _BAR:
            marks[-1] = right
        marks[min(max(self.middle, self.low < 0), _BAR - 1 - (self.high >= _BAR))] = dot
        yield Text("".join(marks))


def _columns(edges: tuple[float, float], *, flags: bool) -> Grid:
    grid = plain_grid(gap=0)
    axis = _axis(edges)
    for title in ("rank", "model", "rating", "interval", axis, "win %", "battles"):
        grid.add_column(
            title,
            justify="left" if title in ("rank", "model", axis) else "right",
            no_wrap=title != "model",
            overflow="fold",
        )
    if flags:
        grid.add_column("flags", overflow="fold")
    return grid


def _cells(row: Row, edges: tuple[float, float]) -> list[RenderableType]:
    name, battles = Text(safe(row.model)), Text(str(row.battles))
    if row.rating is None:
        return [_UNKNOWN, name, "unrated", _UNKNOWN, "", _UNKNOWN, battles]
    return [
        rank_text(row),
        name,
        f"{row.rating:.0f}",
        interval_text(row),
        _bar(row, edges),
        f"{100 * (row.win_rate or 0.0):.1f}",
        battles,
    ]


def rank_text(row: Row) -> str:
    """Return the places that a row's interval leaves open: `2`, or `2-6`."""
    best, worst = row.rank_best, row.rank_worst
    return f"{best}" if best == worst else f"{best}-{worst}"


def interval_text(row: Row) -> str:
    """Return how far a row's interval reaches on both sides: `-41/+38`."""
    if row.low is None:
        return "unknown"
    rating, low, high = _figures(row)
    return f"-{_size(rating - low)}/+{_size(high - rating)}"


def _size(points: float) -> str:
    # Never "0": a small interval is not certainty.
    return f"{points:.0f}" if points >= 9.95 else f"{max(points, 0.1):.1f}"


def _axis(edges: tuple[float, float]) -> str:
    """Return both ends of the scale of the bars, as the title above them."""
    low, high = (f"{edge:.0f}" for edge in edges)
    room = _BAR - len(low)
    return f"{low}{high:>{room}}" if low != high and len(high) < room else ""


def _edges(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of the scale: of all ratings, and of intervals but those far wider than most.

    One model that hardly anything is known of would leave no room to show the others apart.
    """
    known = [row for row in rows if row.rating is not None]
    bounds = [_figures(row)[1:] for row in known if row.low is not None]
    most = _WIDE * float(np.median([high - low for low, high in bounds])) if bounds else 0.0
    figures = [_figures(row)[0] for row in known]
    for low, high in bounds:
        if high - low <= most:
            figures += [low, high]
    return (min(figures), max(figures)) if figures else (0.0, 0.0)


def _bar(row: Row, edges: tuple[float, float]) -> Bar:
    span = (edges[1] - edges[0]) or 1.0
    middle = _figures(row)[0]
    low, high = (middle if bound is None else bound for bound in (row.low, row.high))
    return Bar(*(_place((x - edges[0]) / span) for x in (low, middle, high)))


def _place(share: float) -> int:
    """Return the column of a place on the scale; one beyond either end has none of its columns."""
    if not 0.0 <= share <= 1.0:
        return -1 if share < 0.0 else _BAR
    return round(share * (_BAR - 1))


def _shared_flags(rows: Sequence[Row]) -> set[str]:
    """Flags of every rated model; they are said once, among the notes."""
    rated = [set(row.flags) for row in rows if row.rating is not None]
    return set.intersection(*rated) & {TOO_FEW, too_few("battle")} if rated else set()


def totals_text(settings: Settings) -> str:
    """Return the sentence that counts battles and videos."""
    totals, where = settings.totals, ""
    if settings.videos is not None:
        videos = "+".join(str(n) for n in settings.videos) or "0"
        where = f" on {videos} video{'' if videos == '1' else 's'}"
    return (
        f"{totals.decided} battles decided{where}, {totals.ties} tied "
        f"({totals.splits} split); {totals.forfeits} forfeited, {totals.voids} void."
    )
