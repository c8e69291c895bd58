"""What a report says, as a reader sees it."""

from __future__ import annotations

from typing import Any

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.score.anchor_score import AnchorScores
from videoautoarena.runs.views.page.set_page import set_page
from videoautoarena.runs.views.results.comparisons import set_reports
from videoautoarena.runs.views.results.forms import as_text
from videoautoarena.runs.views.results.report import Report


def sentences(report: Report) -> list[str]:
    """Return what a report says under its tables, in its order."""
    return [one.text for one in report.sentences if one.role == "said"]


def plain(report: Report) -> str:
    """Return all of a report in one line."""
    return " ".join(as_text(report, notes=True).split())


def scored(board: dict[str, Any]) -> AnchorScores:
    """Return a board of preferences as scores; one that names its anchor among those."""
    return AnchorScores({"models": []}, [board]) if "anchor" in board else AnchorScores(board, [])


def board_report(board: dict[str, Any]) -> Report:
    """Return the report of a board of preferences."""
    (report,) = set_reports(scored(board))
    return report


def notes(board: dict[str, Any]) -> list[str]:
    """Return what a board of preferences says."""
    return sentences(board_report(board))


def summary_of(opened: OpenBench[Any]) -> dict[str, Any]:
    """Return what the page of a set shows, with what a browser without scripts does."""
    page = set_page(opened)
    return page.to_json() | {"plain": page.plain}
