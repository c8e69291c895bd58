"""The report of whatever a run's battles were rated as: one leaderboard, slices, or pairs."""

from __future__ import annotations

from videoautoarena.runs.leaderboard.head_to_head import Pairs
from videoautoarena.runs.leaderboard.slices import Slices
from videoautoarena.runs.rating.leaderboard import Leaderboard
from videoautoarena.runs.views.leaderboard import leaderboard_report
from videoautoarena.runs.views.pairs import pairs_report
from videoautoarena.runs.views.report import Report
from videoautoarena.runs.views.slices import slices_report


def report_of(found: Leaderboard | Slices | Pairs) -> Report:
    """Return the report of a leaderboard, of slices, or of pairs."""
    if isinstance(found, Leaderboard):
        return leaderboard_report(found)
    return pairs_report(found) if isinstance(found, Pairs) else slices_report(found)
