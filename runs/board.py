"""The leaderboard of a run folder, and those of its slices."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from runs.audit import brief
from runs.conduct import asked_contestants
from runs.head_to_head import build_pairs
from runs.leaderboard import build
from runs.leaderboard_method import USUAL, Method, Table
from runs.reading import Run, open_run, rates_stand_ins, warnings_of
from runs.reweighting import weigh_battles
from runs.slices import By, build_slices


def board_of(folder: Path, method: Method = USUAL) -> Table:
    """Return the leaderboard of the run in `folder`."""
    with open_run(folder) as run:
        table = build(run.battles, run.manifest["models"], **_given(run, method))
        _add_frames([table], run)
        return _with_stop(table, run) | {"audit": brief(run)}


def slices_of(folder: Path, by: By | Literal["pair"], method: Method = USUAL) -> Table:
    """Return the leaderboards of the slices of the run in `folder`, or the record of every pair."""
    with open_run(folder) as run:
        given, models = _given(run, method), run.manifest["models"]
        if by == "pair":
            return build_pairs(run.battles, models, **given)
        both = run.manifest.get("swap") == "all"
        table = build_slices(run.battles, models, by=by, seats_count=both, **given)
        _add_frames(table["slices"], run)
        table["slices"] = [_with_stop(part, run) for part in table["slices"]]
        return table | {"audit": brief(run)}


def _add_frames(tables: Iterable[Table], run: Run) -> None:
    """Say in tables who saw fewer frames than it was to."""
    short = {one.model: one for one in run.shortfalls if one.role == "contestant"}
    for row in (row for table in tables for row in table["models"]):
        one, flags = short.get(row["model"]), row.pop("flags")
        told = one.as_json() if one else {}
        figures = {name: told[name] for name in told if name not in ("model", "role")}
        row |= {"frames": figures or None, "flags": [*flags, *([one.saw] if one else [])]}


def _with_stop(table: Table, run: Run) -> Table:
    """Return a table whose settings say which rule ended the run early, if one did."""
    if run.stop is None:
        return table
    return table | {"settings": {"until": run.stop.as_json(), **table["settings"]}}


def _given(run: Run, method: Method) -> dict[str, Any]:
    """Return how a run's battles are rated, and what is known of them beside."""
    return {
        "method": method,
        "stand_ins": rates_stand_ins(run.manifest),
        "warnings": warnings_of(run),
        "asked": asked_contestants(run.store),
        "weights": weigh_battles(run.battles, run.store.slots()) if method.reweight else None,
    }
