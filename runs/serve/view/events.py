"""What a page hears of its run while that goes on: how far it is, and where battles are new.

The run's data are read again as it grows, at a small share of a core.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.memory.store.connection import Seen, look_at, real_file
from videoautoarena.runs.console.progress.local_state import machines_at_work
from videoautoarena.runs.console.progress.status import holder
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.runs.run.rundir.reader import RunReader, lock_file, open_run, run_file
from videoautoarena.runs.run.rundir.slots import Tally
from videoautoarena.runs.serve.server.serve import aside
from videoautoarena.runs.views.page.data import PageData

LEAST_S = 3.0
"""Between two readings of a run that grows."""
SHARE = 10
"""So many times what reading cost a core is waited before the run is read again."""
LayOut = Callable[[RunReader, dict[str, dict[str, Any]]], None]


@dataclass(frozen=True)
class RunData:
    """What a run held when it was read, and the same as JSON."""

    page: PageData
    stamp: Seen
    index: bytes
    videos: bytes

    @property
    def ids(self) -> list[str]:
        """The ids of its battles, in the order of the index."""
        return self.page.index.id


class Current:
    """The latest data of one run; whoever asks while it is read gets what was there before."""

    def __init__(self, folder: Path, lay_out: LayOut) -> None:
        """Take the run's folder, and what says of its videos where their thumbnails lie."""
        self.folder = folder
        self._lay_out = lay_out
        self._data: RunData | None = None
        self._due_s = 0.0
        self._lock = asyncio.Lock()

    async def data(self, *, newest: bool = False) -> RunData:
        """Return the run's data; those of a while ago, unless the `newest` are asked for."""
        known = self._data
        if known is None or newest or not (self._lock.locked() or time.monotonic() < self._due_s):
            async with self._lock:
                known = self._data
                stamp = stamp_of(self.folder)
                if known is None or known.stamp != stamp:
                    known = self._data = await self._read(stamp)
        return known

    async def _read(self, stamp: Seen) -> RunData:
        is_first = self._data is None
        data, cost_s = await aside(lambda: self._read_aside(stamp))
        # What the first one cost is mostly what had to be imported.
        self._due_s = time.monotonic() + max(LEAST_S, 0 if is_first else SHARE * cost_s)
        return data

    def _read_aside(self, stamp: Seen) -> tuple[RunData, float]:
        # CPU time of this thread, which other work on the machine does not stretch.
        began = time.thread_time()
        page = PageData.read(self.folder)
        with open_run(self.folder) as run:
            self._lay_out(run, page.videos)
        data = RunData(page, stamp, as_json(fields_json(page.index)), as_json(page.videos))
        return data, time.thread_time() - began


def stamp_of(folder: Path) -> Seen:
    """Return what changes whenever somebody writes to the run in a folder; nothing is opened."""
    file, log = look_at(real_file(run_file(folder)))
    # Readers leave an empty log behind, too.
    return (file, log if log and log[1] else None)


def as_json(value: Any) -> bytes:
    """Return JSON in UTF-8; halves of characters, which file names may hold, become `?`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


EVERY_S = 1.0
HEARTBEAT_S = 15.0
AGAIN_MS = 5000
"""Time after which a browser that lost its connection comes back."""
TIMED = 6
"""Battles that must be settled before the time that is left is estimated."""


@dataclass(frozen=True)
class LiveProgress:
    """How far a run is."""

    settled: int
    slots: int
    running: bool
    """Whether a process is playing it."""
    eta_s: int | None = None
    """Seconds left at the pace so far; None while too few battles are settled to tell."""
    spent_usd: float | None = None
    """Dollars spent when its data were last read."""
    cluster: dict[str, Any] | None = None
    """The machines that play it, where a cluster does: names, workers, calls, lost workers."""


class RunWatch:
    """Follows one run for all who listen, and rests while nobody does."""

    def __init__(self, current: Current) -> None:
        self._current = current
        self._listeners = 0
        self._following: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._live: LiveProgress | None = None
        self._data: RunData | None = None
        self._news: list[int] = []
        """For each time that battles were new, the first place of the index that has changed."""
        self._is_over = False
        self._pace: tuple[float, int] | None = None
        """When the run was first looked at, and how many battles were settled then."""

    async def live(self, data: RunData) -> LiveProgress:
        """Return how far the run is right now; `data` is what was read of it last."""
        if self._live is not None and self._following is not None:
            return self._live
        process = self._process()
        stand = await aside(lambda: _stand(self._current.folder, process))
        live = LiveProgress(stand.settled, stand.slots, process is not None, None, _spent(data))
        return replace(live, cluster=stand.cluster)

    async def events(self) -> AsyncIterator[bytes]:
        """Yield server-sent events until the run is no longer played."""
        with self._listening():
            yield f"retry: {AGAIN_MS}\n\n".encode()
            live = None
            heard = len(self._news)
            # What the page has read before it listened is unknown here.
            is_first = True
            while True:
                # Taken before anything is looked at: what
                # changes while this is sent ends the wait below.
                changed = self._changed
                if self._live is not None and self._live != live:
                    live = self._live
                    yield _event("summary", vars(live))
                if len(self._news) > heard and self._data is not None:
                    start = 0 if is_first else min(self._news[heard:])
                    heard = len(self._news)
                    is_first = False
                    yield _event("battles", {"from": start, "count": len(self._data.ids)})
                if self._is_over:
                    yield _event("end", {})
                    return
                # It ended in an error that the terminal has told; the browser comes back after
                # AGAIN_MS.
                if self._following is None or self._following.done():
                    return
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
                except TimeoutError:
                    # A comment, on which a connection that is gone is noticed.
                    yield b":\n\n"

    @contextmanager
    def _listening(self) -> Iterator[None]:
        self._listeners += 1
        if self._following is None or self._following.done():
            self._is_over = False
            self._pace = None
            self._live = None
            self._following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._following.cancel()
                self._following = None

    async def _follow(self) -> None:
        """Look at the run once a second until nobody plays it any more."""
        stamp: Seen | None = None
        reading = asyncio.create_task(self._renew())
        try:
            while not self._is_over:
                process = self._process()
                running = process is not None
                now = stamp_of(self._current.folder)
                if not running:
                    await reading
                    # The last battles may have been committed after that reading began.
                    await self._renew(newest=True)
                elif reading.done():
                    reading.result()
                    reading = asyncio.create_task(self._renew())
                # What is written after this look is seen at the next one.
                if now != stamp or not running:
                    stamp = now
                    self._live = await self._look(process)
                self._is_over = not running
                self._tell()
                if running:
                    await asyncio.sleep(EVERY_S)
        except ArenaError as wrong:
            say(safe(str(wrong)))
        finally:
            reading.cancel()
            self._tell()

    async def _renew(self, *, newest: bool = False) -> None:
        """Take the latest data, and note from which battle on they have changed."""
        before = self._data
        self._data = await self._current.data(newest=newest)
        if before is not None and self._data is not before:
            self._news.append(_first_difference(before.ids, self._data.ids))

    async def _look(self, process: int | None) -> LiveProgress:
        stand = await aside(lambda: _stand(self._current.folder, process))
        spent = _spent(self._data) if self._data else None
        left_s = self._left_s(stand.settled, stand.slots)
        return LiveProgress(
            stand.settled, stand.slots, process is not None, left_s, spent, cluster=stand.cluster
        )

    def _process(self) -> int | None:
        return holder(lock_file(self._current.folder))

    def _left_s(self, settled: int, slots: int) -> int | None:
        now = time.monotonic()
        began, first = self._pace = self._pace or (now, settled)
        fresh = settled - first
        return round((now - began) / fresh * (slots - settled)) if fresh >= TIMED else None

    def _tell(self) -> None:
        """Wake all who listen."""
        changed = self._changed
        # The next change has an event of its own; the old one stays set for all who hold it.
        self._changed = asyncio.Event()
        changed.set()


class _Stand(NamedTuple):
    settled: int
    slots: int
    cluster: dict[str, Any] | None


def _stand(folder: Path, process: int | None) -> _Stand:
    with open_run(folder) as run:
        tally = Tally.of(run.store)
        machines = machines_at_work(run.store, process)
    return _Stand(tally.settled, tally.slots, fields_json(machines) if machines else None)


def _spent(data: RunData) -> float | None:
    usd: float | None = data.page.summary["status"]["cost_usd"]
    return usd


def _first_difference(before: list[str], now: list[str]) -> int:
    pairs = enumerate(zip_longest(before, now))
    return next((place for place, (one, other) in pairs if one != other), len(now))


def _event(name: str, value: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), as_json(value))
