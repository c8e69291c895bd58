"""A leaderboard as Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from videoautoarena.runs.leaderboard.extras import (
    FIGURES,
    behaviour_notes,
    bounds,
    extra_lines,
    knows_behaviour,
    shown,
)
from videoautoarena.runs.leaderboard.text import interval_text, rank_text, summarize, totals_text
from videoautoarena.runs.rating.finding import audit_lines
from videoautoarena.runs.rating.method import Table
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.tables import Cell, Sheet, comma_separated, mark_up

Form = Literal["table", "markdown", "latex", "html", "csv", "json"]
COLUMNS = (
    *("group", "model", "rating", "low", "high", "rank", "rank_best", "rank_worst"),
    *(
        "battles",
        "wins",
        "losses",
        "ties",
        "win_rate",
        "forfeits",
        *FIGURES,
        "tokens_from",
        "flags",
    ),
)
"""Of the CSV: those of a row of JSON, and which component it belongs to, counted from 1."""


def pasted(table: Table, form: Form, *, details: bool = False) -> str:
    """Return a leaderboard in a form for pasting: `markdown`, `latex`, `html` or `csv`.

    With `details` the first three also say how each model behaved; CSV always does where known.
    """
    if form == "csv":
        return comma_separated(COLUMNS, csv_rows(table))
    sheet = _sheet(table, details=details and knows_behaviour(table["models"]))
    return mark_up(sheet, form)


def csv_rows(board: dict[str, Any]) -> list[list[Cell]]:
    """Return a row of COLUMNS for every model of a board."""
    groups = {name: k for k, group in enumerate(board["components"], 1) for name in group}
    return [
        [
            groups.get(row["model"]),
            *(row[column] for column in COLUMNS[1 : COLUMNS.index("forfeits") + 1]),
            *(row[figure]["value"] if figure in row else None for figure in FIGURES),
            row["mean_tokens"]["from"] if "mean_tokens" in row else None,
            "; ".join(row["flags"]),
        ]
        for row in board["models"]
    ]


def _sheet(table: Table, *, details: bool) -> Sheet:
    settings = table["settings"]
    notes = [totals_text(settings), *extra_lines(table), *audit_lines(table)]
    notes += [f"Note: {note}." for note in settings["warnings"]]
    figures = list(FIGURES) if details else []
    notes += behaviour_notes(table["models"]) if details else []
    return Sheet(
        columns=(*_COLUMNS, *(FIGURES[name] for name in figures), "flags"),
        numbers=frozenset({*range(2, len(_COLUMNS) + len(figures))}),
        rows=[_row(row, figures) for row in table["models"]],
        notes=[*notes, summarize(table)],
        caption=f"Ratings of {counted(len(table['models']), 'model')}, with 95 % intervals",
        label="leaderboard",
    )


_COLUMNS = ("rank", "model", "rating", "interval", "win %", "battles")


def _row(row: dict[str, Any], figures: Sequence[str]) -> list[str]:
    name, battles = row["model"], str(row["battles"])
    behind = [f"{shown(row, name)} ({bounds(row, name)})" for name in figures]
    behind.append(", ".join(row["flags"]))
    if row["rating"] is None:
        return ["", name, "unrated", "", "", battles, *behind]
    share = f"{100 * row['win_rate']:.1f}"
    return [
        *(rank_text(row), name, f"{row['rating']:.0f}", interval_text(row)),
        *(share, battles, *behind),
    ]
