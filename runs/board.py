"""The leaderboard of a run folder, and those of its slices."""

from __future__ import annotations

from pathlib import Path

from runs.leaderboard import Table, build
from runs.leaderboard_method import USUAL, Method
from runs.reading import Run, cautions, open_run, rates_stand_ins
from runs.slices import By, build_slices


def board_of(folder: Path, method: Method = USUAL) -> Table:
    """Return the leaderboard of the run in `folder`."""
    with open_run(folder) as run:
        return build(
            run.battles,
            run.manifest["models"],
            method=method,
            stand_ins=rates_stand_ins(run.manifest),
            warnings=_warnings(run),
        )


def slices_of(folder: Path, by: By, method: Method = USUAL) -> Table:
    """Return the leaderboards of the slices of the run in `folder`."""
    with open_run(folder) as run:
        return build_slices(
            run.battles,
            run.manifest["models"],
            by=by,
            method=method,
            stand_ins=rates_stand_ins(run.manifest),
            warnings=_warnings(run),
        )


def _warnings(run: Run) -> list[str]:
    told = cautions(run.manifest)
    if unsettled := len(run.slots) - len(run.battles):
        told.append(f"the run is not finished: {unsettled} of {len(run.slots)} slots to go")
    return told
