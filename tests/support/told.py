"""What a report says, as a reader sees it."""

from __future__ import annotations

from typing import Any

from videoautoarena.runs.bench.score.anchor_score import Scores
from videoautoarena.runs.views.results.forms import as_text
from videoautoarena.runs.views.results.report import Report
from videoautoarena.runs.views.results.scores import set_reports


def sentences(report: Report) -> list[str]:
    """Return what a report says under its tables, in its order."""
    return [one.text for one in report.sentences if one.role == "said"]


def plain(report: Report) -> str:
    """Return all of a report in one line."""
    return " ".join(as_text(report, notes=True).split())


def scored(board: dict[str, Any]) -> Scores:
    """Return a board of preferences as scores; one that names its anchor among those."""
    return Scores({"models": []}, [board]) if "anchor" in board else Scores(board, [])


def board_report(board: dict[str, Any]) -> Report:
    """Return the report of a board of preferences."""
    (report,) = set_reports(scored(board))
    return report


def notes(board: dict[str, Any]) -> list[str]:
    """Return what a board of preferences says."""
    return sentences(board_report(board))
