"""A leaderboard as Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from videoautoarena.runs.leaderboard.extras import (
    FIGURES,
    behaviour_notes,
    bounds,
    extra_lines,
    knows_behaviour,
    shown,
)
from videoautoarena.runs.leaderboard.text import board_lines, interval_text, rank_text
from videoautoarena.runs.rating.leaderboard import Leaderboard, Row
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.tables import Cell, Sheet, comma_separated, mark_up

Form = Literal["table", "markdown", "latex", "html", "csv", "json"]
COLUMNS = (
    *("group", "model", "rating", "low", "high", "rank", "rank_best", "rank_worst"),
    *("battles", "wins", "losses", "ties", "win_rate", "forfeits"),
    *(*FIGURES, "tokens_from", "flags"),
)
"""Of the CSV: those of a row of JSON, and which component it belongs to, counted from 1."""


def pasted(board: Leaderboard, form: Form, *, details: bool = False, notes: bool = False) -> str:
    """Return a leaderboard in a form for pasting: `markdown`, `latex`, `html` or `csv`.

    With `details` the first three also say how each model behaved; CSV always does where known.
    """
    if form == "csv":
        return comma_separated(COLUMNS, csv_rows(board))
    sheet = _sheet(board, details=details and knows_behaviour(board.models), notes=notes)
    return mark_up(sheet, form)


def csv_rows(board: Leaderboard) -> list[list[Cell]]:
    """Return a row of COLUMNS for every model of a board."""
    groups = {name: k for k, group in enumerate(board.components, 1) for name in group}
    return [
        [
            groups.get(row.model),
            *(getattr(row, column) for column in COLUMNS[1 : COLUMNS.index("forfeits") + 1]),
            *(row.figure(figure).value for figure in FIGURES),
            row.behaviour.counted_by if row.behaviour else None,
            "; ".join(row.flags),
        ]
        for row in board.models
    ]


def _sheet(board: Leaderboard, *, details: bool, notes: bool) -> Sheet:
    figures = list(FIGURES) if details else []
    lines = behaviour_notes(board.models) if details else []
    lines += [*extra_lines(board), *board_lines(board, notes=notes)]
    return Sheet(
        columns=(*_COLUMNS, *(FIGURES[name] for name in figures), "flags"),
        numbers=frozenset({*range(2, len(_COLUMNS) + len(figures))}),
        rows=[_row(row, figures) for row in board.models],
        notes=lines,
        caption=f"Ratings of {counted(len(board.models), 'model')}, with 95 % intervals",
        label="leaderboard",
    )


_COLUMNS = ("rank", "model", "rating", "interval", "win %", "battles")


def _row(row: Row, figures: Sequence[str]) -> list[str]:
    name, battles = row.model, str(row.battles)
    behind = [f"{shown(row, name)} ({bounds(row, name)})" for name in figures]
    behind.append(", ".join(row.flags))
    if row.rating is None:
        return ["", name, "unrated", "", "", battles, *behind]
    share = f"{100 * (row.win_rate or 0.0):.1f}"
    return [
        *(rank_text(row), name, f"{row.rating:.0f}", interval_text(row)),
        *(share, battles, *behind),
    ]
