"""How the calls of a set stand, a bench being played or one being made: costs, and batches out.

Whatever hands calls over keeps them in a file of the layout of a run; this finds such files and
reads them, and plays nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from videoautoarena.memory.records.batches import OpenBatch
from videoautoarena.memory.records.records import UnansweredTries
from videoautoarena.memory.store.connection import lock_of, real_file
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.costs import (
    CallCosts,
    batch_line,
    possibly_paid_lines,
)
from videoautoarena.runs.console.progress.status import holder
from videoautoarena.runs.formats.record_json import SPREAD, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import RUN_FILE, draft_of


@dataclass(frozen=True)
class KeptCalls:
    """A file of calls."""

    SHOWN: ClassVar = ("file", "process", "costs", "lost", "batches")
    file: Path
    """Where it lies."""
    process: int | None
    """Id of the process that adds to it, or None."""
    costs: CallCosts = field(metadata=SPREAD)
    lost: UnansweredTries
    """Possibly paid, in no other figure: as of a run."""
    batches: list[OpenBatch]
    """Batches of calls without a reply so far: as of a run."""

    def as_lines(self) -> Iterator[str]:
        """Yield lines for a person."""
        whose = "no process is at it" if self.process is None else f"process {self.process} is"
        yield f"{safe(str(self.file))}: {whose}"
        yield from self.costs.as_lines() or ("no call has ended yet",)
        yield from possibly_paid_lines(self.lost, ())
        now_s = time.time()
        yield from (batch_line(batch, now_s) for batch in self.batches)


@dataclass(frozen=True)
class SetStatus:
    """How the calls of a set stand."""

    files: list[KeptCalls]
    """Files of its calls: of those that made it, and of those that play it."""

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena status --json` of a set."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return lines for a person."""
        return [line for one in self.files for line in one.as_lines()]


def set_status_of(place: Path) -> SetStatus | None:
    """Return the status of a set, its results, its draft, or a file of calls; None: none is there.

    StoreError for one that a newer version wrote, or that cannot be read.
    """
    files = _files(place)
    return SetStatus([_kept(file) for file in files]) if files else None


def _files(place: Path) -> list[Path]:
    """Return the files of calls in a place, by their paths."""
    if place.is_file():
        return [place]
    # Those that play a set lie in the folder of its results, as do at last those that made it.
    found = [*place.glob("*.sqlite"), *place.glob("*/*.sqlite"), *draft_of(place).glob("*.sqlite")]
    return sorted(file for file in found if file.name != RUN_FILE)


def _kept(file: Path) -> KeptCalls:
    # Knows models and prices, which a status of a run often does without.
    from videoautoarena.runs.run.rundir.budget import possibly_paid

    with Store.open(file, write=False) as store:
        journal = store.journal
        costs = CallCosts(settled=0)
        for call in journal.each_taken():
            costs.add(call)
        process = holder(lock_of(real_file(file)))
        lost = possibly_paid(None, journal, in_flight=process is None)
        return KeptCalls(file, process, costs, lost, journal.batches.open())
