"""Slices side by side: models down, slices across, each cell a rating and what it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.leaderboard.extras import FIGURES, MEANING, knows_behaviour, shown
from videoautoarena.runs.leaderboard.markup import COLUMNS, Form, csv_rows
from videoautoarena.runs.leaderboard.slices import AIMED
from videoautoarena.runs.rating.finding import audit_lines
from videoautoarena.runs.rating.fit import APART, ONE_SIDED
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS, SOLID_BATTLES, THIN, TOO_FEW, Table
from videoautoarena.runs.text.tables import Cell, Sheet, comma_separated, mark_up
from videoautoarena.runs.text.terminal import safe

MARKS = {
    THIN: ("*", f"fewer than {SOLID_BATTLES} battles"),
    TOO_FEW: ("?", f"fewer than {RANKABLE_VIDEOS} videos: too few to rank"),
    ONE_SIDED: ("!", "one-sided: never lost a point, or never took one"),
    APART: ("~", "not comparable with the others: they never met"),
}
"""Flag to the mark a cell carries and what it means."""
SCALES = "Each slice has a scale of its own, mean 1000: across slices compare gaps, not ratings."
AIMED_AT = (
    "aimed at ..: the battles of evolved once more, by how many of its players' faults the "
    "question was made from."
)
AS_OVERALL = "as overall %: how often a standard alone decides a battle as its verdict does."
_GAP, _MOST_NAME = 2, 32
Slice = dict[str, Any]


def render_slices(table: Table, width: int, *, details: bool = False) -> RenderableType:
    """Return the cross table, in as many parts as `width` columns call for, its marks below it.

    With `details` more of them follow, one for each figure of how models behaved.
    """
    parts: list[RenderableType] = []
    for page in _pages(table, width):
        parts += [_grid(table, page), Text("")]
    told = [Text(note) for note in notes(table)]
    if details and all(knows_behaviour(part["models"]) for part in table["slices"]):
        for figure, title in FIGURES.items():
            for page in _pages(table, width):
                parts += [_figures(table, page, figure, title=title), Text("")]
        told.append(Text(f"{MEANING} Their intervals stand in JSON."))
    return Group(*parts, *told)


def pasted_slices(table: Table, form: Form) -> str:
    """Return slices for pasting: the cross table, or as CSV a row a model and slice."""
    if form == "csv":
        share = _share(table)
        rows: list[list[Cell]] = [
            [part["slice"], part[share]["value"], *row]
            for part in table["slices"]
            for row in csv_rows(part)
        ]
        return comma_separated(("slice", f"slice_{share}", *COLUMNS), rows)
    sheet = _sheet(table)
    return mark_up(sheet, form)


def notes(table: Table) -> list[str]:
    """Return what has to be read with the cross table: marks, scales, what holds of the run."""
    flags = {flag for part in table["slices"] for row in _rated(part) for flag in row["flags"]}
    told = [f"{mark} {meaning}." for flag, (mark, meaning) in MARKS.items() if flag in flags]
    warnings = [part["settings"]["warnings"] for part in table["slices"]]
    told += [
        f"note: {line}." for line in next(iter(warnings), []) if all(line in w for w in warnings)
    ]
    aimed = any(part["slice"] in AIMED for part in table["slices"])
    told += [AIMED_AT] if aimed else []
    told += [AS_OVERALL] if table["by"] == "standard" and table["slices"] else []
    whole = audit_lines(table, of="of the whole run, ")
    return [*told, SCALES if table["slices"] else _NOTHING, *whole]


_NOTHING = "No battle is settled yet."


def _rated(part: Slice) -> list[dict[str, Any]]:
    return [row for row in part["models"] if row["rating"] is not None]


def _models(table: Table) -> list[str]:
    """Return the models by the battles and ratings of all slices: who is best most often first."""
    weight: dict[str, list[float]] = {}
    for part in table["slices"]:
        for row in part["models"]:
            held = weight.setdefault(row["model"], [0.0, 0.0])
            if row["rating"] is not None:
                held[0] += row["rating"] * row["battles"]
                held[1] += row["battles"]
    return sorted(weight, key=lambda name: -(weight[name][0] / (weight[name][1] or 1)))


def _cell(part: Slice, model: str) -> str:
    row = next((row for row in part["models"] if row["model"] == model), None)
    if row is None or row["rating"] is None:
        return "-"
    marks = "".join(mark for flag, (mark, _) in MARKS.items() if flag in row["flags"])
    return f"{row['rating']:.0f}{marks} ({row['battles']})"


_SHARES = {"both_bad_share": "both bad %", "agreement": "as overall %"}


def _share(table: Table) -> str:
    """Return which share of its battles a slice is told with."""
    return "agreement" if table["by"] == "standard" else "both_bad_share"


def _foot(part: Slice, share: str) -> list[str]:
    """Return what stands in `_feet`: decided battles, their videos in each group of models, ..."""
    videos = "+".join(str(number) for number in part["settings"]["videos"]) or "0"
    value = part[share]["value"]
    foot = [str(part["battles"]), videos, "-" if value is None else f"{100 * value:.1f}"]
    left_out = part["settings"].get("without")
    return foot if left_out is None else [*foot, str(sum(left_out.values()))]


def _feet(table: Table) -> tuple[str, ...]:
    is_cut = any("without" in part["settings"] for part in table["slices"])
    return ("battles", "videos", _SHARES[_share(table)], *(["left out"] if is_cut else []))


def _column(table: Table, part: Slice) -> list[str]:
    cells = [_cell(part, model) for model in _models(table)]
    return [part["slice"], *cells, *_foot(part, _share(table))]


def _pages(table: Table, width: int) -> list[list[Slice]]:
    """Return the slices in the portions that fit beside the names."""
    room, pages, used = max(width - _left(table), 1), list[list[Slice]](), 0
    for part in table["slices"]:
        wide = max(cell_len(safe(cell)) for cell in _column(table, part)) + _GAP
        if not pages or used + wide > room:
            pages.append([])
            used = 0
        pages[-1].append(part)
        used += wide
    return pages


def _left(table: Table) -> int:
    """Return the width of the column of names."""
    names = [f"by {table['by']}", *_feet(table), *map(safe, _models(table))]
    return min(max(map(cell_len, names)), _MOST_NAME)


def _grid(table: Table, parts: Sequence[Slice]) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(f"by {table['by']}", overflow="fold", width=_left(table))
    for part in parts:
        grid.add_column(Text(safe(part["slice"])), justify="right", no_wrap=True)
    columns = [_column(table, part)[1:] for part in parts]
    names = [*_models(table), *_feet(table)]
    for k, name in enumerate(names):
        if k == len(names) - len(_feet(table)):
            grid.add_section()
        grid.add_row(Text(safe(name)), *(Text(column[k]) for column in columns))
    return grid


def _figures(table: Table, parts: Sequence[Slice], figure: str, *, title: str) -> Grid:
    """One figure of how models behaved, models down and slices across."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    unit = "" if figure == "mean_tokens" else " %"
    grid.add_column(f"{title}{unit}", overflow="fold", width=max(_left(table), len(title) + 2))
    for part in parts:
        grid.add_column(Text(safe(part["slice"])), justify="right", no_wrap=True)
    for name in _models(table):
        rows = [next((r for r in p["models"] if r["model"] == name), None) for p in parts]
        cells = ["-" if row is None else shown(row, figure) for row in rows]
        grid.add_row(Text(safe(name)), *map(Text, cells))
    return grid


def _sheet(table: Table) -> Sheet:
    columns = [_column(table, part) for part in table["slices"]]
    names = [*_models(table), *_feet(table)]
    return Sheet(
        columns=("model", *(column[0] for column in columns)),
        numbers=frozenset(range(1, len(columns) + 1)),
        rows=[[name, *(column[k] for column in columns)] for k, name in enumerate(names, 1)],
        notes=notes(table),
        caption=f"Ratings by {table['by']}, with the number of battles",
        label=f"by-{table['by']}",
    )
