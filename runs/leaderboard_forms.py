"""A leaderboard as Markdown, LaTeX and CSV."""

from __future__ import annotations

from typing import Any, Literal

from runs.leaderboard_extras import extra_lines
from runs.leaderboard_text import Table, interval_text, rank_text, summarize, totals_text
from runs.pasting import Cell, Sheet, comma_separated, latex, markdown

Form = Literal["table", "markdown", "latex", "csv", "json"]
FORMS: tuple[Form, ...] = ("table", "markdown", "latex", "csv", "json")
COLUMNS = (
    *("group", "model", "rating", "low", "high", "rank", "rank_best", "rank_worst"),
    *("battles", "wins", "losses", "ties", "win_rate", "forfeits", "flags"),
)
"""Of the CSV: those of a row of JSON, and which component it belongs to, counted from 1."""


def pasted(table: Table, form: Form) -> str:
    """Return a leaderboard in a form for pasting: `markdown`, `latex` or `csv`."""
    if form == "csv":
        return comma_separated(COLUMNS, csv_rows(table))
    return markdown(_sheet(table)) if form == "markdown" else latex(_sheet(table))


def csv_rows(board: dict[str, Any]) -> list[list[Cell]]:
    """Return a row of COLUMNS for every model of a board."""
    groups = {name: k for k, group in enumerate(board["components"], 1) for name in group}
    return [
        [
            groups.get(row["model"]),
            *(row[column] for column in COLUMNS[1:-1]),
            "; ".join(row["flags"]),
        ]
        for row in board["models"]
    ]


def _sheet(table: Table) -> Sheet:
    settings = table["settings"]
    notes = [totals_text(settings), *extra_lines(table)]
    notes += [f"Note: {note}." for note in settings["warnings"]]
    return Sheet(
        columns=("rank", "model", "rating", "interval", "win %", "battles", "flags"),
        numbers=frozenset({2, 3, 4, 5}),
        rows=[_row(row) for row in table["models"]],
        notes=[*notes, summarize(table)],
    )


def _row(row: dict[str, Any]) -> list[str]:
    name, battles, flags = row["model"], str(row["battles"]), ", ".join(row["flags"])
    if row["rating"] is None:
        return ["", name, "unrated", "", "", battles, flags]
    share = f"{100 * row['win_rate']:.1f}"
    return [
        *(rank_text(row), name, f"{row['rating']:.0f}", interval_text(row)),
        *(share, battles, flags),
    ]
