"""Shares of a run: what a worker of a cluster plays at a time, and the rows it needs for that.

Whoever plays a unit has claimed it in a new epoch; claims of earlier epochs may write nothing more.
Workers send their writes in numbered messages, each of which counts once, however often it comes.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.connection import ReadConnection, StoreReader
from videoautoarena.memory.store.migrations import migrate
from videoautoarena.memory.store.writer import Row, RunTables, Statement, Writes, needed

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
"""SQL for texts that a run keeps for each video; there may be thousands, and a worker needs few."""
_CLAIM = (
    "INSERT INTO claims (unit, epoch, worker) VALUES (?, ?, ?) "
    "ON CONFLICT (unit) DO UPDATE SET epoch = excluded.epoch, worker = excluded.worker"
)
# Replies to calls of an earlier epoch are refused, so their intents have none to come.
_LEAVE_OVER = "UPDATE intents SET is_left_over = 1 WHERE NOT is_left_over AND scope GLOB ?"
_DELIVERED = (
    "INSERT INTO deliveries (sender, number) VALUES (?, ?) "
    "ON CONFLICT (sender) DO UPDATE SET number = excluded.number"
)


class Unit(NamedTuple):
    """What one worker plays at a time: usually one whole video."""

    name: str
    """The video's id."""
    scopes: tuple[str, ...]
    """Beginnings of the scopes of all its calls: letters, digits, `-` and `~` only, safe in a
    GLOB."""
    beside: tuple[str, ...] = ()
    """Ids of other videos that are looked at."""

    @property
    def videos(self) -> tuple[str, ...]:
        """Ids of all videos that are looked at; nobody else looks at one of them meanwhile."""
        return (self.name, *self.beside)


class Shares(RunTables):
    """The shares of one run."""

    def epochs(self) -> dict[str, int]:
        """Return the latest epoch of every unit that was ever claimed."""
        found = self._reader.rows("SELECT unit, epoch FROM claims")
        return {unit: int(epoch) for unit, epoch in found}

    def deliveries(self) -> dict[str, int]:
        """Return the number of the latest message of every sender."""
        found = self._reader.rows("SELECT sender, number FROM deliveries")
        return {sender: int(number) for sender, number in found}

    async def claim(self, unit: Unit, epoch: int, worker: str) -> None:
        """Keep who plays a unit from now on; its open intents count as left over."""
        writer = needed(self._writer, "nothing of it can be claimed")
        left_over = [(f"{scope}*",) for scope in unit.scopes]
        await writer.write_all((_CLAIM, [(unit.name, epoch, worker)]), (_LEAVE_OVER, left_over))

    async def deliver(self, sender: str, number: int, statements: Sequence[Statement]) -> None:
        """Apply a message whole or not at all, and keep its number in the same transaction."""
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


class Mirror(StoreReader):
    """Shares of a run in memory, read as its file would be."""

    def __init__(self) -> None:
        self._path = Path("the worker's share of the run")
        self._alone = RLock()
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(self.connection)
        self._take(ReadConnection(self.connection))

    def add(self, share: Share) -> None:
        """Take a share in; rows that are there stay as they are."""
        for table, rows in share.items():
            columns = _COLUMNS[table]
            marks = ", ".join("?" * (columns.count(",") + 1))
            sql = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"
            self.connection.executemany(sql, rows)

    def apply(self, statements: Iterable[Statement]) -> None:
        """Apply statements that the owner has committed to the run's file."""
        for sql, rows in statements:
            self.connection.executemany(sql, rows)

    def forget(self, unit: Unit) -> None:
        """Drop the rows of a unit that is not played here any more."""
        run = self.connection.execute
        for video in unit.videos:
            run(f"DELETE FROM files WHERE ({_OF_VIDEOS}) AND instr(name, ?)", (video,))
            run("DELETE FROM frames WHERE video = ?", (video,))
            run("DELETE FROM battles WHERE id GLOB ?", (f"{video}*",))
        for scope in unit.scopes:
            run("DELETE FROM calls WHERE scope GLOB ?", (f"{scope}*",))
            run("DELETE FROM intents WHERE scope GLOB ?", (f"{scope}*",))


GATHER_S = 0.02
"""How long a message waits for more: a message costs 2 ms of CPU, a call takes seconds."""
ENOUGH = 32
"""Writes that are sent at once, without waiting for more."""
MOST = 512
"""Writes in one message."""


class UnitClaim(NamedTuple):
    """The right to write about a unit, for as long as nobody claims it anew."""

    unit: str
    epoch: int


CLAIM: ContextVar[UnitClaim] = ContextVar("claim")
"""The claim of the task that runs now; each write is sent under it."""


class Write(NamedTuple):
    """Statements that are applied all or none, and the claim they are made under."""

    claim: UnitClaim
    statements: tuple[Statement, ...]


Send = Callable[[Sequence[Write]], Awaitable[Sequence[bool]]]
"""Hands writes over and returns, once they are committed, which of the claims still held."""


class CutOff(StoreError):
    """Somebody else plays what was being written about."""


class _Waiting(NamedTuple):
    write: Write
    future: asyncio.Future[None]
    is_applied: bool
    """The mirror has applied it already."""


class ForwardingWriter(Writes):
    """Sends writes to the owner of a file; `run` must be under way in the same event loop."""

    def __init__(self, mirror: Mirror, send: Send) -> None:
        self._mirror = mirror
        self._send = send
        self._waiting: list[_Waiting] = []
        self._some = asyncio.Event()
        self._enough = asyncio.Event()
        self._is_sending = False
        self.handed_in = 0
        """How many writes so far."""
        self.delivered = 0
        """How many of these, counted from the first, the owner has answered."""

    @property
    def is_idle(self) -> bool:
        """Whether all that was handed in is committed."""
        return not (self._waiting or self._is_sending)

    async def write_all(self, *statements: Statement) -> None:
        """Return once the owner has committed them; CutOff where the claim no longer holds.

        None at all: once it has committed all that was handed in before.
        """
        await self._hand_in(statements)

    def write_each_now(self, sql: str, rows: Iterable[Row]) -> None:
        """Apply here at once, and hand in; an event loop must not stand still."""
        kept = [tuple(row) for row in rows]
        self._mirror.apply([(sql, kept)])
        self._hand_in([(sql, kept)], is_applied=True)

    def write_soon(self, sql: str, *rows: Row) -> None:
        """Hand in without waiting."""
        self._hand_in([(sql, rows)])

    def write_with_each(self, sql: str, row: Callable[[], Row]) -> None:  # noqa: ARG002
        """Raise StoreError: only the owner of the file counts its commits."""
        raise StoreError("a worker keeps no account of its own of a run")

    def close(self) -> None:
        """Let whoever waits know that nothing more is sent."""
        for _, future, _ in self._waiting:
            if not future.done():
                future.set_exception(StoreError("the worker has ended"))
        self._waiting.clear()

    def _hand_in(
        self, statements: Iterable[Statement], *, is_applied: bool = False
    ) -> asyncio.Future[None]:
        # Copied: rows may come from a generator, and are both sent and applied to the mirror.
        kept = tuple((sql, [tuple(row) for row in rows]) for sql, rows in statements)
        future = asyncio.get_running_loop().create_future()
        # Not every caller waits; asking for the outcome keeps asyncio from reporting an unread
        # error.
        future.add_done_callback(lambda one: one.cancelled() or one.exception())
        self._waiting.append(_Waiting(Write(CLAIM.get(), kept), future, is_applied))
        self.handed_in += 1
        self._some.set()
        if len(self._waiting) >= ENOUGH:
            self._enough.set()
        return future

    async def run(self) -> None:
        """Send what is handed in, until cancelled."""
        while True:
            await self._some.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), GATHER_S)
            batch = self._waiting[:MOST]
            self._waiting = self._waiting[MOST:]
            self._is_sending = True
            try:
                await self._deliver(batch)
                self.delivered += len(batch)
            finally:
                self._is_sending = False
            if not self._waiting:
                self._some.clear()
            if len(self._waiting) < ENOUGH:
                self._enough.clear()

    async def _deliver(self, batch: Sequence[_Waiting]) -> None:
        try:
            held = await self._send([one.write for one in batch])
        except StoreError as error:
            for _, future, _ in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (write, future, is_applied), is_held in zip(batch, held, strict=True):
            # Only what the owner has committed: a worker must not read rows that the file does not
            # hold.
            if is_held and not is_applied:
                self._mirror.apply(write.statements)
            if future.done():
                continue
            if is_held:
                future.set_result(None)
            else:
                future.set_exception(CutOff(f"{write.claim.unit} is played by somebody else"))
