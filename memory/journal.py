"""The journal: every model call that was paid for, found again by its key and never paid twice."""

from __future__ import annotations

from memory.bodies import read_body, write_body
from memory.connection import Reader
from memory.errors import StoreError
from memory.records import CallRow
from memory.writer import Writer

_COLUMNS = "key, scope, role, generation, ordinal, model, body"
_IN_COLUMNS = frozenset({"key", "nonce", "model"})
# Not INSERT OR IGNORE: that would also swallow a row that breaks any other rule.
_RECORD = (
    f"INSERT INTO calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
)
_FIND = f"SELECT {_COLUMNS} FROM calls WHERE key = ?"


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
        body = write_body(row, without=_IN_COLUMNS)
        columns = (row.key, nonce.scope, nonce.role, nonce.generation, nonce.ordinal, row.model)
        await self._writer.write(_RECORD, (*columns, body))

    def calls(self, scope: str | None = None) -> list[CallRow]:
        """Return all calls, or those of one scope, in the order in which they were recorded."""
        which, *values = ("",) if scope is None else ("WHERE scope = ?", scope)
        sql = f"SELECT {_COLUMNS} FROM calls {which} ORDER BY place"
        found = self._reader.rows(sql, *values)
        return [_call(row) for row in found]

    def after(self, place: int) -> tuple[int, list[CallRow]]:
        """Return the calls recorded after a place, 0 for all, and the place of the last of them."""
        sql = f"SELECT place, {_COLUMNS} FROM calls WHERE place > ? ORDER BY place"
        found = self._reader.rows(sql, place)
        return int(found[-1][0]) if found else place, [_call(row[1:]) for row in found]


def _call(row: tuple[str, ...]) -> CallRow:
    key, scope, role, generation, ordinal, model, body = row
    nonce = {"scope": scope, "role": role, "generation": generation, "ordinal": ordinal}
    return read_body(CallRow, body, key=key, nonce=nonce, model=model)
