"""The agreement of two leaderboards on a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from runs.agree import Report
from runs.console import safe
from runs.reading import counted

MOST_TURNED = 5


def render(report: Report) -> RenderableType:
    """Return the shared models side by side, then what each figure says."""
    return Group(_heading(report), _grid(report), *map(Text, _sentences(report)))


def _heading(report: Report) -> Text:
    lines = [
        f"{name}: {safe(board['source'])}, {counted(board['models'], 'model')}"
        f"{'' if board['intervals'] else ', no intervals'}"
        for name, board in zip("AB", report["boards"], strict=True)
    ]
    return Text("\n".join([*lines, f"{counted(len(report['models']), 'model')} on both"]))


def _grid(report: Report) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title in ("A", "B", "model", "rating A", "rating B"):
        grid.add_column(
            title,
            justify="left" if title == "model" else "right",
            no_wrap=title != "model",
            overflow="fold",
        )
    for row in report["models"]:
        grid.add_row(
            str(row["place_a"]),
            str(row["place_b"]),
            Text(safe(row["model"])),
            f"{row['rating_a']:.6g}",
            f"{row['rating_b']:.6g}",
        )
    return grid


def _sentences(report: Report) -> list[str]:
    told = ["", *(found["sentence"] for found in report["figures"])]
    if turned := report["turned"]:
        pairs = [
            f"{safe(pair['above_on_a'])} above {safe(pair['above_on_b'])}"
            for pair in turned[:MOST_TURNED]
        ]
        more = f", and {len(turned) - MOST_TURNED} more" if len(turned) > MOST_TURNED else ""
        told.append(f"A is sure, and B is sure of the opposite: {'; '.join(pairs)}{more}.")
    if any(found["low"] is not None for found in report["figures"]):
        told.append(
            "Intervals of correlations are for other models like these, at 95 %; how unsure the "
            "ratings themselves are is what confidence agreement looks at."
        )
    return [*told, *(f"note: {warning}" for warning in report["warnings"])]
