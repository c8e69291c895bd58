"""Makes the pictures of a run: leaderboard, pairs, slices, effects of style, and its judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from videoautoarena.runs.analysis.audit.verdicts import Echoes
from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices, Slice
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.terminal_text import Axis, DrawnInterval, axis_of
from videoautoarena.runs.rating.fit import ONE_SIDED
from videoautoarena.runs.rating.leaderboard import LeaderboardRow, PairMatrices, RatedLeaderboard
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN
from videoautoarena.runs.views.figures.canvas import (
    AROUND,
    BLUE,
    GREY,
    SMALL,
    UPWARD,
    Caption,
    Picture,
    shown,
    signed,
)
from videoautoarena.runs.views.figures.curves import CurvePanel, CurvePoint, Curves
from videoautoarena.runs.views.figures.dots import Dot, Dots, Panel, Texts, names
from videoautoarena.runs.views.figures.grids import ShadedGrid, ShadedGrids, cells_of
from videoautoarena.runs.views.results.leaderboard import leaderboard_report
from videoautoarena.runs.views.results.report import MODEL, Column, Table
from videoautoarena.runs.views.results.slices import SCALES, slices_report
from videoautoarena.scoring.fitting.bradley_terry import MEAN

_FEW = 10
"""Battles of a pair below which a share hardly says anything."""
_REACH = 200.0
"""Points from the mean at which a colour is full; more where ratings reach further."""


def _caption(board: RatedLeaderboard, title: str, *legend: str, leads: bool = False) -> Caption:
    report = leaderboard_report(replace(board, pairs=None))
    return Caption(title, report, bool(board.settings.stand_ins), legend, leads)


def ladder(board: RatedLeaderboard) -> Picture:
    """Return the ladder of a leaderboard: rank, rating and interval of each model."""
    scale = "Ratings on the scale of people" if board.settings.labels else "Ratings"
    caption = _caption(board, scale, leads=True)
    table = caption.report.tables[0]
    lines, headings = _lines(table, groups=len(board.components))
    rated = {line: k for line, k in lines.items() if table.rows[k]["rating"] is not None}
    below = {name for lead in board.leads for name in lead.above}

    def dot(row: Any) -> Dot:
        colour = GREY if row["model"] in below else BLUE
        return Dot(row["rating"], row["low"], row["high"], ONE_SIDED in row["flags"], colour)

    def texts(key: str, of: dict[int, int]) -> dict[int, str]:
        column = table.column(key)
        return {line: signed(table.cell(k, column)) for line, k in of.items()}

    anchor = board.settings.anchor
    fixed = [one for one in caption.report.tables if anchor and one.name == "counted"]
    of_anchor = [
        f" ({shown(anchor.model)} = {one.quote(0, 'anchor').text})" for one in fixed if anchor
    ]
    assert table.axis is not None
    dots = Dots(
        len(lines) + len(headings),
        [Panel({line: dot(table.rows[k]) for line, k in rated.items()}, table.axis)],
        "".join(["rating", *of_anchor]),
        left=[
            Texts(texts("rank", lines), SMALL),
            Texts({line: shown(table.rows[k]["model"]) for line, k in lines.items()}),
        ],
        right=[
            Texts(texts("rating", lines), is_figure=True),
            Texts(texts("interval", rated)),
        ],
        headings=headings,
        # Below ten videos nobody is ranked, and so nobody is out for good.
        grey="cannot be best" if any(lead.is_ranked for lead in board.leads) else "so far below",
        hollow="one-sided",
    )
    return Picture("ladder", "ratings with intervals", dots, caption)


def _lines(table: Table, *, groups: int) -> tuple[dict[int, int], dict[int, str]]:
    """Return the row of each line, and the headings of groups if there are several."""
    lines: dict[int, int] = {}
    headings: dict[int, str] = {}
    group = None
    for k, row in enumerate(table.rows):
        if groups > 1 and row["group"] not in (None, group):
            group = row["group"]
            text = f"group {group}: never met the others, a scale of its own"
            headings[len(lines) + len(headings)] = text
        lines[len(lines) + len(headings)] = k
    return lines, headings


def style(board: RatedLeaderboard) -> Picture | str:
    """Return what style and seat are worth, or why nothing says so.

    Args:
        board: a leaderboard that was rated with style, or with style and seats.
    """
    # The largest group stands first, and the picture is of it alone.
    (terms, *_) = board.settings.terms or (None,)
    same = [shown(name) for name, of in ((terms and terms.style) or {}).items() if of is None]
    meaning = "Points per standard deviation, all else equal."
    never = [f"Never differs: {', '.join(same)}."] * bool(same)
    caption = _caption(board, "Effect of answer style", meaning, *never)
    table = next((table for table in caption.report.tables if table.name == "terms"), None)
    if table is None or all(row.get("points") is None for row in table.rows):
        return "no two answers differ in style, or no battle was decided"
    known = [k for k, row in enumerate(table.rows) if row.get("points") is not None]
    bounds = [DrawnInterval(*table.values(k, table.column("points"))) for k in known]
    worth = {line: signed(table.cell(k, table.column("points"))) for line, k in enumerate(known)}
    # With zero on it: no effect.
    axis = axis_of([*bounds, DrawnInterval(0.0, None, None)])
    dots = Dots(
        len(known),
        [Panel({line: Dot(*bound) for line, bound in enumerate(bounds)}, axis, middle=0.0)],
        "rating points",
        left=[names([table.rows[k]["term"] for k in known], several=False)],
        right=[Texts(worth)],
    )
    return Picture("style", "effect of answer style", dots, caption)


def wins(board: RatedLeaderboard) -> Picture:
    """Return the share of battles that each model won against each other.

    Args:
        board: a leaderboard with its pairs.
    """
    title = "Battles won by the row’s model, in percent"
    caption = _caption(board, title, "A tie is won by nobody.")
    return _of_pairs(board, caption, "wins", "shares of battles won")


def battles(board: RatedLeaderboard) -> Picture:
    """Return how often each model met each other in a battle that was decided.

    Args:
        board: a leaderboard with its pairs.
    """
    caption = _caption(board, "Battles between each two models", "Ties are among them.")
    return _of_pairs(board, caption, "battles", "battles of each pair")


def pairs_of(board: RatedLeaderboard) -> PairMatrices:
    """Return the pairs of a leaderboard that was asked for them."""
    assert board.pairs is not None
    return board.pairs


def _of_pairs(board: RatedLeaderboard, caption: Caption, name: str, shows: str) -> Picture:
    pairs = pairs_of(board)
    rows = {
        (row, column): {
            "model": pairs.models[row],
            "rival": pairs.models[column],
            "wins": pairs.wins[row][column],
            "battles": count,
        }
        for row, counts in enumerate(pairs.battles)
        for column, count in enumerate(counts)
        if count and row != column
    }
    columns = (
        MODEL,
        Column("rival", "rival", "name"),
        Column("wins", "won", "share"),
        Column("battles", "battles", "count"),
    )
    table = Table(name, caption.title, columns, tuple(rows.values()))
    is_share = name == "wins"
    cells = cells_of(table, dict(enumerate(rows)), name, "battles", few=_FEW if is_share else 0)
    grids = ShadedGrids(
        pairs.models,
        # No model meets itself.
        [ShadedGrid(cells, pairs.models, {(k, k) for k in range(len(pairs.models))})],
        AROUND if is_share else UPWARD,
        0.0,
        1.0 if is_share else max((cell.value for cell in cells.values()), default=1.0),
        under="battles" if is_share else "",
        few=f"{_FEW} battles",
        lacking="never met",
    )
    return Picture(name, shows, grids, caption, table)


def panels(sliced: LeaderboardSlices) -> Picture:
    """Return the ratings of the slices of a run, such as lengths of video.

    Each slice has a scale of its own, so that nothing joins one to another.
    """
    by = safe(sliced.by)
    found = [_rows(part) for part in sliced.parts]
    every = [row for rows in found for row in rows.values()]
    rated = sum(row.rating is not None for part in sliced.parts for row in part.board.models)
    missing = ["Left out: who never met the largest group."] * (rated > len(every))
    caption = _caption_of_slices(sliced, f"Ratings by {by}", *missing)
    table = caption.report.tables[0]
    # The first row at the foot counts battles.
    foot = min(table.feet)
    models = _models(table, {row.model for row in every})
    # One axis for all panels, so that equal gaps look equal.
    axis = axis_of(DrawnInterval(row.rating or 0.0, row.low, row.high) for row in every)

    def panel(k: int, part: Slice) -> Panel:
        dots = {
            line: Dot(row.rating or 0.0, row.low, row.high, THIN in row.flags)
            for line, model in enumerate(models)
            if (row := found[k].get(model)) is not None
        }
        anchor = part.board.settings.anchor
        n = f"n = {table.cell(foot, table.column(f'slice_{k}'))}"
        return Panel(dots, axis, part.name, n, middle=anchor.rating if anchor else MEAN)

    dots = Dots(
        len(models),
        [panel(k, part) for k, part in enumerate(sliced.parts)],
        "rating within each slice",
        left=[names(models)],
        hollow=f"under {SOLID_BATTLES} battles",
        count="battles",
    )
    return Picture(by, f"ratings by {by}", dots, caption)


def _caption_of_slices(sliced: LeaderboardSlices, title: str, *legend: str) -> Caption:
    stand_ins = bool(sliced.parts[0].board.settings.stand_ins)
    return Caption(title, slices_report(sliced), stand_ins, (SCALES, *legend))


def _rows(part: Slice) -> dict[str, LeaderboardRow]:
    """Return the rows of a slice for the models of its largest group."""
    group = set(part.board.components[0]) if part.board.components else set()
    return {row.model: row for row in part.board.models if row.model in group}


def _models(table: Table, known: set[str]) -> list[str]:
    """Return models in the order of the table of slices, without the rows at its foot."""
    return [row["model"] for row in table.rows[: min(table.feet)] if row["model"] in known]


def by_category(sliced: LeaderboardSlices) -> Picture:
    """Return how far above the mean of each category of questions each model is rated."""
    return _heat_map(sliced, "categories", "category of questions")


def by_topic(sliced: LeaderboardSlices) -> Picture:
    """Return how far above the mean of each topic each model is rated."""
    return _heat_map(sliced, "topics", "topic")


def _heat_map(sliced: LeaderboardSlices, name: str, kind: str) -> Picture:
    """Return how far above the mean of each slice each model is rated.

    Each slice has a scale of its own: a cell is read within its line. Cells on fewer than 100
    battles are pale.
    """
    caption = _caption_of_slices(sliced, f"Points above the mean of each {kind.split()[0]}")
    parts = [part for part in sliced.parts if part.board.components]
    every = [row for part in sliced.parts for row in part.board.models]
    models = _models(
        caption.report.tables[0], {row.model for row in every if row.rating is not None}
    )
    rows = {
        (k, models.index(row.model)): {
            "slice": part.name,
            "model": row.model,
            "gap": (row.rating or 0.0) - MEAN,
            "battles": row.battles,
        }
        for k, part in enumerate(parts)
        for row in _rows(part).values()
    }
    columns = (
        Column("slice", "slice"),
        MODEL,
        Column("gap", "gap", "points"),
        Column("battles", "battles", "count"),
    )
    table = Table("gaps", caption.title, columns, tuple(rows.values()))
    cells = cells_of(table, dict(enumerate(rows)), "gap", "battles", few=SOLID_BATTLES)
    # As far to either side, so that the middle of the colours is the mean.
    reach = max([_REACH, *(abs(cell.value) for cell in cells.values())])
    grids = ShadedGrids(
        [part.name for part in parts],
        [ShadedGrid(cells, models)],
        AROUND,
        -reach,
        reach,
        under="battles",
        few=f"{SOLID_BATTLES} battles",
        lacking="not rated, or never met the rated",
        shades="violet: above the mean; brown: below",
    )
    return Picture(name, f"how models are rated in each {kind}", grids, caption, table)


def judge(board: RatedLeaderboard, found: Sequence[Echoes]) -> Picture:
    """Return the picture of how often a judge agrees; `found` is not empty."""
    legend = "Share of battles with the same verdict (a, b or tie); equally many battles per point."
    caption = _caption(board, "How often the judge agrees", legend)
    rows = tuple({"kind": of.kind, "n": of.n} for of in found)
    columns = (Column("kind", "compared"), Column("n", "battles", "count"))
    table = Table("judge", caption.title, columns, rows)
    lines = {
        f"{of.kind} (n = {table.cell(k, table.column('n'))})": [
            CurvePoint(gap, 100 * share.value, 100 * share.low, 100 * share.high)
            for gap, share in zip(of.gaps, of.shares, strict=True)
        ]
        for k, of in enumerate(found)
    }
    course = CurvePanel("gap between the two models, rating points", lines)
    curves = Curves([course], "agreement in percent", Axis(0.0, 100.0))
    return Picture("judge", "how often the judge agrees", curves, caption, table)
