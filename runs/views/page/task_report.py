"""What the page of a task set shows: its scores, shortcuts, and how they came about.

The figures are those that `arena bench score --json` and `arena bench probe --json` print.
"""

from __future__ import annotations

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import read_tasks
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.shortcuts import probe_all
from videoautoarena.runs.bench.score.task_points import marked_by
from videoautoarena.runs.bench.score.task_score import score_tasks
from videoautoarena.runs.views.page.sets import Json, set_summary
from videoautoarena.runs.views.results.checks import probes_report, probes_section
from videoautoarena.runs.views.results.tasks import board_sections, task_reports

SOURCES = "arena bench score --json and arena bench probe --json"


def summary_of(opened: OpenBench[TaskItem]) -> Json:
    """Return all that the page shows; BadInput of a set without results."""
    results = marked_by(opened, read_tasks(opened), None)
    scores = score_tasks(opened, results)
    probes = probe_all(opened)
    reports = task_reports(scores)
    names = [row.model for board in scores.boards for row in board.models]
    names += [sweep.model for board in scores.boards for sweep in board.sweeps]
    names += [one.model for one in probes.asked.probes]
    sections = [
        section
        for place, (board, report) in enumerate(zip(scores.boards, reports, strict=True))
        for section in board_sections(board, report, place)
    ]
    return set_summary(
        opened,
        results,
        reports,
        [*sections, probes_section(probes_report(probes))],
        names=names,
        unit="item",
        sources=SOURCES,
        extra="judging free text costs extra.",
    )
