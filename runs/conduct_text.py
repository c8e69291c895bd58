"""How models behaved, in cells: refusals, forfeits, voids, both bad, and the length of answers."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid
from rich.text import Text

from runs.console import safe

FIGURES = {
    "refusal_share": "refused",
    "forfeit_share": "forfeit",
    "void_share": "void",
    "both_bad_share": "both bad",
    "mean_tokens": "tokens",
}
"""Field of a row to the title of its column."""
MEANING = (
    "refused: of the questions put to it; forfeit: of the slots it was asked in; void: of those it "
    "was drawn for; both bad: of its decided battles, in per cent. tokens: mean of its answers."
)
INTERVALS = "Below each stands its 95 % interval."
_UNKNOWN = "-"


def knows_conduct(rows: list[dict[str, Any]]) -> bool:
    """Return whether rows of a leaderboard tell how models behaved."""
    return bool(rows) and "mean_tokens" in rows[0]


def shown(row: dict[str, Any], figure: str) -> str:
    """Return a figure of a row, without its interval: `3.1`, a per cent or a number of tokens."""
    value = row[figure]["value"]
    if value is None:
        return _UNKNOWN
    return f"{value:.0f}" if figure == "mean_tokens" else f"{100 * value:.1f}"


def bounds(row: dict[str, Any], figure: str) -> str:
    """Return the interval of a figure: `1.2-6.0`; nothing where there is none."""
    low, high = row[figure]["low"], row[figure]["high"]
    if low is None or high is None:
        return ""
    times, digits = (1, 0) if figure == "mean_tokens" else (100, 1)
    return f"{max(times * low, 0):.{digits}f}-{times * high:.{digits}f}"


def conduct_grid(rows: list[dict[str, Any]]) -> Grid:
    """Return the figures of every model, each above its interval; fits 80 columns."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("model", overflow="fold")
    for title in FIGURES.values():
        grid.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        cells = [f"{shown(row, figure)}\n{bounds(row, figure)}" for figure in FIGURES]
        grid.add_row(Text(safe(row["model"])), *(Text(cell) for cell in cells))
    return grid


def conduct_notes(rows: list[dict[str, Any]]) -> list[str]:
    """Return what has to be read with the figures: what they mean, and who counted tokens."""
    counted = [safe(row["model"]) for row in rows if row["mean_tokens"]["from"] != "provider"]
    told = [f"{MEANING} {INTERVALS}"]
    if len(counted) == len(rows):
        told.append("No provider counted all tokens: they are words and signs.")
    elif counted:
        told.append(f"Words and signs stand for tokens of {', '.join(counted)}.")
    return told
