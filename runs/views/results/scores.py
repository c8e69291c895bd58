"""Scores on a frozen set of any kind as reports, and for pasting."""

from __future__ import annotations

from typing import Any

from videoautoarena.runs.bench.score.anchor_score import Scores
from videoautoarena.runs.bench.score.task_score import TaskScores
from videoautoarena.runs.views.results.dialogues import dialogues_report
from videoautoarena.runs.views.results.forms import csv_text, marked_up
from videoautoarena.runs.views.results.preferences import preference_reports
from videoautoarena.runs.views.results.report import Report
from videoautoarena.runs.views.results.tasks import task_reports


def set_reports(scores: Any) -> list[Report]:
    """Return the reports of `Scores`, `TaskScores` or `DialogueScores`: one a judge or part."""
    if isinstance(scores, TaskScores):
        return task_reports(scores)
    return preference_reports(scores) if isinstance(scores, Scores) else [dialogues_report(scores)]


def pasted(scores: Any, form: str) -> str:
    """Return scores for pasting: as CSV one table with all digits, that of the first report."""
    reports = set_reports(scores)
    if form == "csv":
        return csv_text(reports[0].data_table) if reports else ""
    return "\n\n".join(marked_up(report, form) for report in reports)
