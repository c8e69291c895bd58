"""Shares of a run: what one worker of a cluster plays at a time, and what it needs of the file.

Whoever plays a unit has claimed it, in an epoch of its own; what was claimed before may write
nothing more. Workers send their writes in numbered messages, each of which counts once, however
often it comes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from videoautoarena.memory.store.connection import Reader, Reading
from videoautoarena.memory.store.migrations import migrate
from videoautoarena.memory.store.writer import Statement, Writes, needed

Rows = Sequence[tuple[Any, ...]]
Share = Mapping[str, Rows]
"""Rows by the table they stand in."""

_COLUMNS = {
    "manifest": "id, body",
    "files": "name, digest, text",
    "frames": "video, body",
    "battles": "id, body",
    "calls": "key, scope, role, generation, ordinal, model, body",
}
_OF_VIDEOS = " OR ".join(
    f"name GLOB '{kind}/*'" for kind in ("subtitles", "unusable", "frames", "users")
)
"""Texts that a run keeps of each video; there may be thousands, and a worker needs few."""
_CLAIM = (
    "INSERT INTO claims (unit, epoch, worker) VALUES (?, ?, ?) "
    "ON CONFLICT (unit) DO UPDATE SET epoch = excluded.epoch, worker = excluded.worker"
)
# Replies to what was under way in an earlier epoch will never be written down.
_LEAVE_OVER = "UPDATE intents SET is_left_over = 1 WHERE NOT is_left_over AND scope GLOB ?"
_DELIVERED = (
    "INSERT INTO deliveries (sender, number) VALUES (?, ?) "
    "ON CONFLICT (sender) DO UPDATE SET number = excluded.number"
)


class Unit(NamedTuple):
    """What is played by one worker at a time: as a rule one video, whole."""

    name: str
    """The video's id."""
    scopes: tuple[str, ...]
    """What the scopes of all its calls begin with: letters, digits, `-` and `~` alone."""
    beside: tuple[str, ...] = ()
    """Ids of other videos that are looked at."""

    @property
    def videos(self) -> tuple[str, ...]:
        """Ids of all videos that are looked at; nobody else looks at one of them meanwhile."""
        return (self.name, *self.beside)


class Shares:
    """The shares of one run; without a writer they can only be read."""

    def __init__(self, reader: Reader, writer: Writes | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def epochs(self) -> dict[str, int]:
        """Return the latest epoch of every unit that was ever claimed."""
        found = self._reader.rows("SELECT unit, epoch FROM claims")
        return {unit: int(epoch) for unit, epoch in found}

    def deliveries(self) -> dict[str, int]:
        """Return the number of the latest message of every sender."""
        found = self._reader.rows("SELECT sender, number FROM deliveries")
        return {sender: int(number) for sender, number in found}

    async def claim(self, unit: Unit, epoch: int, worker: str) -> None:
        """Keep who plays a unit from now on, and that the calls under way there have no reply."""
        writer = needed(self._writer, "nothing of it can be claimed")
        left_over = [(f"{scope}*",) for scope in unit.scopes]
        await writer.write_all((_CLAIM, [(unit.name, epoch, worker)]), (_LEAVE_OVER, left_over))

    async def deliver(self, sender: str, number: int, statements: Sequence[Statement]) -> None:
        """Apply a message, all of it or nothing, and keep that it came."""
        writer = needed(self._writer)
        await writer.write_all(*statements, (_DELIVERED, [(sender, number)]))

    def common(self) -> Share:
        """Return what every worker needs, whatever it plays."""
        return {
            "manifest": self._rows("manifest", ""),
            "files": self._rows("files", f"WHERE NOT ({_OF_VIDEOS})"),
        }

    def of(self, unit: Unit) -> Share:
        """Return what the file holds of a unit: texts, frames, battles and finished calls."""
        share: dict[str, list[tuple[Any, ...]]] = {"files": [], "frames": [], "battles": []}
        for video in unit.videos:
            share["files"] += self._rows("files", f"WHERE ({_OF_VIDEOS}) AND instr(name, ?)", video)
            share["frames"] += self._rows("frames", "WHERE video = ?", video)
            share["battles"] += self._rows("battles", "WHERE id GLOB ?", f"{video}*")
        calls = (self._rows("calls", "WHERE scope GLOB ?", f"{one}*") for one in unit.scopes)
        return {**share, "calls": [row for rows in calls for row in rows]}

    def _rows(self, table: str, which: str, *values: str) -> Rows:
        return self._reader.rows(f"SELECT {_COLUMNS[table]} FROM {table} {which}", *values)


class Mirror(Reader):
    """Shares of a run in memory, read as its file would be."""

    def __init__(self) -> None:
        self._path = Path("the worker's share of the run")
        self._alone = RLock()
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(self.connection)
        self._take(Reading(self.connection))

    def add(self, share: Share) -> None:
        """Take a share in; rows that are there stay as they are."""
        for table, rows in share.items():
            columns = _COLUMNS[table]
            marks = ", ".join("?" * (columns.count(",") + 1))
            sql = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"
            self.connection.executemany(sql, rows)

    def apply(self, statements: Iterable[Statement]) -> None:
        """Do what the run's file did."""
        for sql, rows in statements:
            self.connection.executemany(sql, rows)

    def forget(self, unit: Unit) -> None:
        """Let a unit go that nobody here plays any more."""
        for sql, value in _forgotten(unit):
            self.connection.execute(sql, (value,))


def _forgotten(unit: Unit) -> Iterator[tuple[str, str]]:
    for video in unit.videos:
        yield f"DELETE FROM files WHERE ({_OF_VIDEOS}) AND instr(name, ?)", video
        yield "DELETE FROM frames WHERE video = ?", video
        yield "DELETE FROM battles WHERE id GLOB ?", f"{video}*"
    for scope in unit.scopes:
        yield "DELETE FROM calls WHERE scope GLOB ?", f"{scope}*"
        yield "DELETE FROM intents WHERE scope GLOB ?", f"{scope}*"
