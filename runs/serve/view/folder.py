"""The runs below a folder, as a list to choose from."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.runs.console.progress.status import holder
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import lock_file, one_line, open_run, runs_below
from videoautoarena.runs.run.rundir.slots import Tally
from videoautoarena.runs.serve.view.current import Stamp, stamp_of

Row = dict[str, Any]


class RunsBelow:
    """The runs below a folder, each known by a name that says nothing of where it lies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, Path] = {}
        self._rows: dict[str, tuple[Stamp, Row]] = {}

    def look(self) -> list[Row]:
        """Return the runs that are there now, the one that was written to last first."""
        found = {_id(path, self._folder): path for path in runs_below(self._folder)}
        self._found = found
        rows = [self._row(id_, path) for id_, path in found.items()]
        return sorted(rows, key=lambda row: -row["changed_s"])

    def folder_of(self, id_: str) -> Path | None:
        """Return where the run of a name lies; None where there was none at the last look."""
        return self._found.get(id_)

    def _row(self, id_: str, path: Path) -> Row:
        name = safe(path.relative_to(self._folder).as_posix())
        row: Row = {"id": id_, "name": name, "changed_s": 0.0, "reason": None}
        try:
            stamp = stamp_of(path)
            row["changed_s"] = max(part[2] for part in stamp if part) / 1e9
            if id_ not in self._rows or self._rows[id_][0] != stamp:
                self._rows[id_] = stamp, _read(path)
            return row | self._rows[id_][1] | {"running": holder(lock_file(path)) is not None}
        except (ArenaError, OSError, ValueError) as wrong:
            return row | {"reason": one_line(str(wrong), 200), "running": False}


def _read(folder: Path) -> Row:
    with open_run(folder) as run:
        tally = Tally.of(run.store)
        models = [safe(name) for name in run.manifest["models"]]
    return {"settled": tally.settled, "slots": tally.slots, "models": models}


def _id(path: Path, folder: Path) -> str:
    return sha256(os.fsencode(path.relative_to(folder))).hexdigest()[:12]
