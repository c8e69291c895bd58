"""The leaderboard of a run folder."""

from __future__ import annotations

from pathlib import Path

from runs.leaderboard import Table, build
from runs.reading import Run, cautions, open_run, rates_stand_ins


def board_of(folder: Path) -> Table:
    """Return the leaderboard of the run in `folder`."""
    with open_run(folder) as run:
        return build(
            run.battles,
            run.manifest["models"],
            stand_ins=rates_stand_ins(run.manifest),
            warnings=_warnings(run),
        )


def _warnings(run: Run) -> list[str]:
    told = cautions(run.manifest)
    if unsettled := len(run.slots) - len(run.battles):
        told.append(f"the run is not finished: {unsettled} of {len(run.slots)} slots to go")
    return told
