"""Keeps the data of a run for its page: read again as it grows, at a small share of a core."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videoautoarena.memory.store.connection import real_file, wal_of
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.run.rundir.reader import RunReader, open_run, run_file
from videoautoarena.runs.serve.server.serve import aside
from videoautoarena.runs.views.page.data import PageData

LEAST_S = 3.0
"""Seconds between two readings of a growing run, at least."""
SHARE = 10
"""Multiple of the CPU time of a reading that passes before the next one."""
LayOut = Callable[[RunReader, dict[str, dict[str, Any]]], None]
Stamp = tuple[tuple[int, int, int] | None, ...]
"""Inode, size and time of change of a run's file and of its log; None for an empty log."""


@dataclass(frozen=True)
class RunData:
    """What a run held when it was read, and the same as JSON."""

    page: PageData
    stamp: Stamp
    index: bytes
    videos: bytes

    @property
    def ids(self) -> list[str]:
        """The ids of its battles, in the order of the index."""
        return self.page.index.id


class Current:
    """The latest data of one run; requests during a reading get the data from before."""

    def __init__(self, folder: Path, lay_out: LayOut) -> None:
        """Take the run's folder, and what adds to its videos where their thumbnails lie."""
        self.folder = folder
        self._lay_out = lay_out
        self._data: RunData | None = None
        self._due_s = 0.0
        self._lock = asyncio.Lock()

    async def data(self, *, newest: bool = False) -> RunData:
        """Return the run's data, which may be somewhat old unless the `newest` are asked for."""
        known = self._data
        if known is None or newest or not (self._lock.locked() or time.monotonic() < self._due_s):
            async with self._lock:
                known = self._data
                # Before reading, so that whatever is written meanwhile is read the next time.
                stamp = stamp_of(self.folder)
                if known is None or known.stamp != stamp:
                    known = self._data = await self._read(stamp)
        return known

    async def _read(self, stamp: Stamp) -> RunData:
        is_first = self._data is None
        data, cost_s = await aside(lambda: self._read_aside(stamp))
        # What the first one cost is mostly what had to be imported.
        self._due_s = time.monotonic() + max(LEAST_S, 0 if is_first else SHARE * cost_s)
        return data

    def _read_aside(self, stamp: Stamp) -> tuple[RunData, float]:
        # CPU time of this thread: while a run is played it waits for the cores, which is no cost of
        # reading.
        began = time.thread_time()
        page = PageData.read(self.folder)
        with open_run(self.folder) as run:
            self._lay_out(run, page.videos)
        data = RunData(page, stamp, as_json(fields_json(page.index)), as_json(page.videos))
        return data, time.thread_time() - began


def stamp_of(folder: Path) -> Stamp:
    """Return a stamp that changes whenever the run in a folder is written to; opens nothing."""
    file = real_file(run_file(folder))
    seen: list[tuple[int, int, int] | None] = [None, None]
    for place, path in enumerate((file, wal_of(file))):
        with suppress(FileNotFoundError):
            about = os.stat(path)
            seen[place] = (about.st_ino, about.st_size, about.st_mtime_ns)
    log = seen[1]
    # Readers leave an empty log behind, too.
    return (seen[0], log if log and log[1] else None)


def as_json(value: Any) -> bytes:
    """Return JSON in UTF-8; halves of characters, which file names may hold, become `?`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
