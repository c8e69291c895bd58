"""The journal: every model call that was paid for, found again by its key and never paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from memory.bodies import read_body, write_body
from memory.connection import Reader
from memory.errors import StoreError
from memory.records import CallRow, Lost
from memory.writer import Writer

_COLUMNS = "key, scope, role, generation, ordinal, model, body"
_IN_COLUMNS = frozenset({"key", "nonce", "model"})
# Not INSERT OR IGNORE: that would also swallow a row that breaks any other rule.
_RECORD = (
    f"INSERT INTO calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
)
_SPENT = (
    "SELECT count(*), total(usd), count(*) - count(usd), total(tokens_in), total(tokens_out) FROM "
    "(SELECT json_extract(body, '$.cost_usd') AS usd, "
    "json_extract(body, '$.usage.input_tokens') AS tokens_in, "
    "json_extract(body, '$.usage.output_tokens') AS tokens_out FROM calls WHERE model NOT GLOB ?)"
)
_FRAMES = (
    "SELECT model, max(json_extract(body, '$.usage.input_tokens') * 1.0 / "
    "json_extract(body, '$.frames')) FROM calls WHERE json_extract(body, '$.frames') >= ? "
    "AND json_extract(body, '$.usage.input_tokens') IS NOT NULL GROUP BY model"
)
_ANSWERS = (
    "SELECT scope, ordinal, json_extract(body, '$.reply') IS NOT NULL, "
    "json_extract(body, '$.usage.output_tokens'), json_extract(body, '$.usage.reasoning_tokens'), "
    "json_extract(body, '$.failure_kind') FROM calls WHERE role = 'contestant' ORDER BY place"
)
_ANSWERED = (
    "SELECT place, scope, json_extract(body, '$.alias'), role FROM calls "
    "WHERE place > ? AND json_extract(body, '$.reply') IS NOT NULL ORDER BY place LIMIT ?"
)
_LOOSE = (
    "json_extract(body, '$.cost_usd') IS NULL OR json_array_length(body, '$.attempts') > 0 OR "
    "json_extract(body, '$.usage.input_tokens') IS NULL OR "
    "json_extract(body, '$.usage.output_tokens') IS NULL"
)
_LOSE = "INSERT INTO lost (model, tries, usd, tokens) VALUES (?, ?, ?, ?)"
_LOST = "SELECT total(tries), sum(usd), total(tokens) FROM lost WHERE model NOT GLOB ?"
_FIND = f"SELECT {_COLUMNS} FROM calls WHERE key = ?"

_AT_ONCE = 256
"""Calls that are read in one go."""


NOTHING_LOST = Lost()


class Spent(NamedTuple):
    """What all calls of a run came to, in all its processes."""

    calls: int = 0
    usd: float = 0.0
    """Of the calls whose cost is known."""
    unknown: int = 0
    """Calls of unknown cost."""
    input_tokens: int = 0
    output_tokens: int = 0
    lost: Lost = NOTHING_LOST
    """In none of the figures above."""


NOTHING_SPENT = Spent()


class Said(NamedTuple):
    """What came of a contestant's call, without its words."""

    scope: str
    ordinal: int
    is_answered: bool
    output_tokens: int | None
    reasoning_tokens: int | None
    failure_kind: str | None


class Journal:
    """The calls of one run; without a writer it can only be read."""

    def __init__(self, reader: Reader, writer: Writer | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def find(self, key: str) -> CallRow | None:
        """Return the finished call with this key, be it a reply or a failure for good."""
        row = self._reader.row(_FIND, key)
        return _call(row) if row else None

    async def record(self, row: CallRow) -> None:
        """Keep a finished call: committed when this returns; a key that is there stays as it is.

        Raises:
            StoreError: it was not written, or the run was opened for reading.
        """
        if self._writer is None:
            raise StoreError("the run was opened for reading; no call can be recorded")
        nonce = row.nonce
        body = write_body(row, without=_IN_COLUMNS, defaults=False)
        columns = (row.key, nonce.scope, nonce.role, nonce.generation, nonce.ordinal, row.model)
        await self._writer.write(_RECORD, (*columns, body))

    def lose(self, model: str, lost: Lost) -> None:
        """Keep what a stopped call to `provider:model` may have cost; returns at once.

        Raises:
            StoreError: the run was opened for reading, or has been closed.
        """
        if self._writer is None:
            raise StoreError("the run was opened for reading; nothing can be lost")
        self._writer.write_soon(_LOSE, (model, *lost))

    def lost(self, *, besides: str = "") -> Lost:
        """Return what all stopped calls may have cost, as far as it is known of each.

        Those to models that the pattern `besides` fits are left out.
        """
        tries, usd, tokens = self._reader.row(_LOST, besides) or (0, None, 0)
        known = None if usd is None else float(usd)
        return Lost(int(tries), known, int(tokens)) if tries else NOTHING_LOST

    def calls(self, scope: str | None = None) -> list[CallRow]:
        """Return all calls, or those of one scope, in the order in which they were recorded."""
        which, *values = ("",) if scope is None else ("WHERE scope = ?", scope)
        sql = f"SELECT {_COLUMNS} FROM calls {which} ORDER BY place"
        found = self._reader.rows(sql, *values)
        return [_call(row) for row in found]

    def each_call(self) -> Iterator[CallRow]:
        """Give the same calls, a few in memory at a time."""
        place, rows = self.after(0, most=_AT_ONCE)
        while rows:
            yield from rows
            place, rows = self.after(place, most=_AT_ONCE)

    def spent(self, *, besides: str = "") -> Spent:
        """Return what all calls came to, without reading them into memory.

        Those to models that the pattern `besides` fits, such as "offline:*", are left out.
        """
        row = self._reader.row(_SPENT, besides)
        calls, usd, unknown, tokens_in, tokens_out = row or (0, 0, 0, 0, 0)
        counted = (int(calls), float(usd), int(unknown), int(tokens_in), int(tokens_out))
        return Spent(*counted, self.lost(besides=besides))

    def loose(self) -> list[CallRow]:
        """Return the calls that `spent` does not tell all of: uncounted, or tried several times."""
        found = self._reader.rows(f"SELECT {_COLUMNS} FROM calls WHERE {_LOOSE} ORDER BY place")
        return [_call(row) for row in found]

    def latest(self, count: int) -> list[CallRow]:
        """Return the calls that were recorded last, at most so many, the last one first."""
        sql = f"SELECT {_COLUMNS} FROM calls ORDER BY place DESC LIMIT ?"
        return [_call(row) for row in self._reader.rows(sql, count)]

    def each_answered(self) -> Iterator[tuple[str, str, str]]:
        """Give scope, alias and role of every call that was answered, a few in memory at a time."""
        found: list[Any] = self._reader.rows(_ANSWERED, 0, _AT_ONCE)
        while found:
            yield from ((scope, alias, role) for _, scope, alias, role in found)
            found = self._reader.rows(_ANSWERED, found[-1][0], _AT_ONCE)

    def answers(self) -> list[Said]:
        """Return what came of every contestant's call, in the order in which they were recorded."""
        found: list[Any] = self._reader.rows(_ANSWERS)
        return [Said(scope, k, bool(reply), *rest) for scope, k, reply, *rest in found]

    def frame_tokens(self, frames: int) -> dict[str, float]:
        """Return each model's most input tokens a frame, over its calls of so many at least."""
        found = self._reader.rows(_FRAMES, frames)
        return {model: float(tokens) for model, tokens in found}

    def after(self, place: int, *, most: int = -1) -> tuple[int, list[CallRow]]:
        """Return calls recorded after a place, 0 for the first, and the place of the last of them.

        `most` says how many there may be; without it all are returned.
        """
        sql = f"SELECT place, {_COLUMNS} FROM calls WHERE place > ? ORDER BY place LIMIT ?"
        found = self._reader.rows(sql, place, most)
        return int(found[-1][0]) if found else place, [_call(row[1:]) for row in found]


def _call(row: tuple[str, ...]) -> CallRow:
    key, scope, role, generation, ordinal, model, body = row
    nonce = {"scope": scope, "role": role, "generation": generation, "ordinal": ordinal}
    return read_body(CallRow, body, key=key, nonce=nonce, model=model)
