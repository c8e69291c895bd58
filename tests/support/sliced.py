"""Boards of the slices of a few battles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.leaderboard.slices import (
    LeaderboardSlices,
    parts_of,
    slices_of_parts,
)


def build_slices(
    battles: Collection[Battle],
    roster: Sequence[str],
    *,
    by: str,
    seats_count: bool = False,
    **given: Any,
) -> LeaderboardSlices:
    """Return a board for every slice by one trait, as a run's leaderboard would."""
    parts = parts_of(battles, {by: None}, seats_count=seats_count)[by]
    return slices_of_parts(battles, roster, by=by, parts=parts, **given)
