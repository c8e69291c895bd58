"""Slices side by side: models down, slices across, each cell a rating and what it stands on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.leaderboard.extras import (
    FIGURES,
    MEANING,
    closing_line,
    knows_behaviour,
    shown,
)
from videoautoarena.runs.leaderboard.markup import COLUMNS, Form, csv_rows
from videoautoarena.runs.leaderboard.slices import AIMED, Slice, Slices
from videoautoarena.runs.rating.finding import (
    Finding,
    alarm_lines,
    is_by_language,
    language_lines,
    share_lines,
)
from videoautoarena.runs.rating.fit import APART, ONE_SIDED
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS, SOLID_BATTLES, THIN, TOO_FEW
from videoautoarena.runs.text.tables import (
    Cell,
    Sheet,
    as_label,
    comma_separated,
    mark_up,
    plain_grid,
)
from videoautoarena.runs.text.terminal import safe

MARKS = {
    THIN: ("*", f"fewer than {SOLID_BATTLES} battles"),
    TOO_FEW: ("?", f"fewer than {RANKABLE_VIDEOS} videos: too few to rank"),
    ONE_SIDED: ("!", "one-sided: won or lost everything"),
    APART: ("~", "not comparable with the others: they never met"),
}
"""Flag to the mark a cell carries and what it means."""
SCALES = "Each slice has its own scale (mean 1000): compare gaps, not ratings."
AIMED_AT = (
    "aimed at ..: battles of evolved questions, by how many of the two "
    "models' faults the question was made from."
)
AS_OVERALL = (
    "as overall %: how often the verdict by that standard alone equals the overall verdict."
)
_GAP, _MOST_NAME = 2, 32


def render_slices(
    sliced: Slices, width: int, *, details: bool = False, notes: bool = False
) -> RenderableType:
    """Return the cross table, in as many parts as `width` columns call for, its marks below it.

    With `details` more of them follow, one for each figure of how models behaved.
    """
    parts: list[RenderableType] = [Text(line) for line in _first(sliced)]
    parts += [Text("")] * bool(parts)
    for page in _pages(sliced, width):
        parts += [_grid(sliced, page), Text("")]
    below = [*map(Text, lines_of(sliced, notes=notes))]
    if details and all(knows_behaviour(part.board.models) for part in sliced.parts):
        for figure, title in FIGURES.items():
            for page in _pages(sliced, width):
                parts += [_figures(sliced, page, figure, title=title), Text("")]
        below.append(Text(f"{MEANING} Intervals are in the JSON."))
    return Group(*parts, *below)


def pasted_slices(sliced: Slices, form: Form, *, notes: bool = False) -> str:
    """Return slices for pasting: the cross table, or as CSV a row a model and slice."""
    if form == "csv":
        share = _share(sliced)
        rows: list[list[Cell]] = [
            [part.name, _shared(part, share), *row]
            for part in sliced.parts
            for row in csv_rows(part.board)
        ]
        return comma_separated(("slice", f"slice_{share}", *COLUMNS), rows)
    return mark_up(_sheet(sliced, lines_of(sliced, notes=notes)), form)


def _first(sliced: Slices) -> list[str]:
    """Return what stands before a board by language; nothing before any other."""
    if sliced.by != "language" or sliced.audit is None:
        return []
    return language_lines(sliced.audit)


def lines_of(sliced: Slices, *, notes: bool) -> list[str]:
    """Return what is said under the cross table: at most three lines, or with `notes` all.

    The three are the first alarm, or else how to compare slices; the marks; and cautions.
    """
    rated = [row for part in sliced.parts for row in part.board.models if row.rating is not None]
    flags = {flag for row in rated for flag in row.flags}
    marks = [f"{mark} {meaning}" for flag, (mark, meaning) in MARKS.items() if flag in flags]
    every = [part.board.settings.warnings for part in sliced.parts]
    warnings = [line for line in next(iter(every), []) if all(line in one for one in every)]
    rest = [AIMED_AT] if any(part.name in AIMED for part in sliced.parts) else []
    rest += [AS_OVERALL] if sliced.by == "standard" and sliced.parts else []
    audit = [one for one in sliced.audit or () if not _is_said(sliced, one)]
    rest += share_lines(audit, of="of the whole run, ")
    alarms, scales = alarm_lines(audit), SCALES if sliced.parts else _NOTHING
    if notes:
        cautions = [f"note: {safe(line)}." for line in warnings]
        return [*(f"{mark}." for mark in marks), *cautions, scales, *alarms, *rest]
    lines = len(alarms) + len(warnings) + len(rest)
    closing = closing_line(warnings, lines=lines, alarms=max(len(alarms) - 1, 0))
    legend = [f"{'; '.join(marks)}."] if marks else []
    return [*(alarms[:1] or [scales]), *legend, *closing]


def _is_said(sliced: Slices, one: Finding) -> bool:
    """Return whether a finding stands before the board already."""
    return sliced.by == "language" and is_by_language(one.key)


_NOTHING = "No battle is settled yet."


def _models(sliced: Slices) -> list[str]:
    """Return the models by the battles and ratings of all slices: who is best most often first."""
    weight: dict[str, list[float]] = {}
    for part in sliced.parts:
        for row in part.board.models:
            held = weight.setdefault(row.model, [0.0, 0.0])
            if row.rating is not None:
                held[0] += row.rating * row.battles
                held[1] += row.battles
    return sorted(weight, key=lambda name: -(weight[name][0] / (weight[name][1] or 1)))


def _cell(part: Slice, model: str) -> str:
    row = next((row for row in part.board.models if row.model == model), None)
    if row is None or row.rating is None:
        return "-"
    marks = "".join(mark for flag, (mark, _) in MARKS.items() if flag in row.flags)
    return f"{row.rating:.0f}{marks} ({row.battles})"


_SHARES = {"both_bad_share": "both bad %", "agreement": "as overall %"}


def _share(sliced: Slices) -> str:
    """Return which share of its battles stands with a slice."""
    return "agreement" if sliced.by == "standard" else "both_bad_share"


def _shared(part: Slice, share: str) -> float | None:
    found = part.both_bad_share if share == "both_bad_share" else part.agreement
    return None if found is None else found.value


def _foot(part: Slice, share: str) -> list[str]:
    """Return what stands in `_feet`: decided battles, their videos in each group of models, ..."""
    videos = "+".join(map(str, part.board.settings.videos or ())) or "0"
    value = _shared(part, share)
    foot = [str(part.battles), videos, "-" if value is None else f"{100 * value:.1f}"]
    left_out = part.board.settings.without
    return foot if left_out is None else [*foot, str(sum(left_out.values()))]


def _feet(sliced: Slices) -> tuple[str, ...]:
    is_cut = any(part.board.settings.without is not None for part in sliced.parts)
    return ("battles", "videos", _SHARES[_share(sliced)], *(["left out"] if is_cut else []))


def _column(sliced: Slices, part: Slice) -> list[str]:
    cells = [_cell(part, model) for model in _models(sliced)]
    return [part.name, *cells, *_foot(part, _share(sliced))]


def _pages(sliced: Slices, width: int) -> list[list[Slice]]:
    """Return the slices in the portions that fit beside the names."""
    room, pages, used = max(width - _left(sliced), 1), list[list[Slice]](), 0
    for part in sliced.parts:
        wide = max(cell_len(safe(cell)) for cell in _column(sliced, part)) + _GAP
        if not pages or used + wide > room:
            pages.append([])
            used = 0
        pages[-1].append(part)
        used += wide
    return pages


def _left(sliced: Slices) -> int:
    """Return the width of the column of names."""
    names = [safe(f"by {sliced.by}"), *_feet(sliced), *map(safe, _models(sliced))]
    return min(max(map(cell_len, names)), _MOST_NAME)


def _grid(sliced: Slices, parts: Sequence[Slice]) -> Grid:
    grid = _titled(f"by {sliced.by}", parts, width=_left(sliced))
    columns = [_column(sliced, part)[1:] for part in parts]
    names = [*_models(sliced), *_feet(sliced)]
    for k, name in enumerate(names):
        if k == len(names) - len(_feet(sliced)):
            grid.add_section()
        grid.add_row(Text(safe(name)), *(Text(column[k]) for column in columns))
    return grid


def _titled(title: str, parts: Sequence[Slice], *, width: int) -> Grid:
    grid = plain_grid()
    grid.add_column(Text(safe(title)), overflow="fold", width=width)
    for part in parts:
        grid.add_column(Text(safe(part.name)), justify="right", no_wrap=True)
    return grid


def _figures(sliced: Slices, parts: Sequence[Slice], figure: str, *, title: str) -> Grid:
    """One figure of how models behaved, models down and slices across."""
    unit = "" if figure == "mean_tokens" else " %"
    grid = _titled(f"{title}{unit}", parts, width=max(_left(sliced), len(title) + 2))
    for name in _models(sliced):
        rows = [next((r for r in p.board.models if r.model == name), None) for p in parts]
        cells = ["-" if row is None else shown(row, figure) for row in rows]
        grid.add_row(Text(safe(name)), *map(Text, cells))
    return grid


def _sheet(sliced: Slices, lines: Sequence[str]) -> Sheet:
    columns = [_column(sliced, part) for part in sliced.parts]
    names = [*_models(sliced), *_feet(sliced)]
    return Sheet(
        columns=("model", *(column[0] for column in columns)),
        numbers=frozenset(range(1, len(columns) + 1)),
        rows=[[name, *(column[k] for column in columns)] for k, name in enumerate(names, 1)],
        notes=lines,
        caption=f"Ratings by {sliced.by}, with the number of battles",
        label=f"by-{as_label(sliced.by)}",
        first=_first(sliced),
    )
