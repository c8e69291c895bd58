"""Reading slots from a run's file, and what the settled ones hold: a few rows at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from memory.connection import Reader
from memory.slots import NO_SLOTS, Slots

_SLOTS = (
    "SELECT id, video, ordinal, json_extract(body, '$.block'), json_extract(body, '$.generation'), "
    "json_extract(body, '$.persona'), json_extract(body, '$.round') "
    "FROM slots WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
)
# CROSS JOIN keeps the order: of a battle no more than its id is touched, which an index has.
_SETTLED = (
    "SELECT b.id, s.ordinal FROM battles b CROSS JOIN slots s ON s.id = b.id "
    "WHERE b.id > ? ORDER BY b.id LIMIT ?"
)
_BATTLES_AT_ONCE = 256
"""Battles that are read in one go."""
_ROWS_AT_ONCE = 4096
"""Rows that are read in one go where they are short."""


class SlotRows:
    """The slots of one run file; what was read of them is kept, since they only grow."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._slots = NO_SLOTS

    def all(self) -> Slots:
        """Return all slots by their ordinals."""
        last = int(self._slots.columns.ordinal[-1]) if self._slots else -1
        self._slots += Slots.read(self._paged(_SLOTS, last, column=2))
        return self._slots

    def count(self) -> int:
        """Return how many there are, without reading any."""
        return int((self._reader.row("SELECT count(*) FROM slots") or ("0",))[0])

    def settled(self) -> Slots:
        """Return those that have a battle, by their ordinals."""
        ordinals = array("i", (row[1] for row in self._paged(_SETTLED, "", column=0)))
        slots = self.all()
        return slots.where(np.sort(slots.rows_of(ordinals)))

    def each_settled(self, *what: str) -> Iterator[tuple[str, ...]]:
        """Give what SQL says of a battle `b`, for every battle by the ordinals of their slots."""
        sql = (
            f"SELECT {', '.join(what)} FROM slots s JOIN battles b ON b.id = s.id "
            "WHERE s.ordinal BETWEEN ? AND ? ORDER BY s.ordinal"
        )
        ordinals = self.settled().columns.ordinal
        for first in range(0, len(ordinals), _BATTLES_AT_ONCE):
            part = ordinals[first : first + _BATTLES_AT_ONCE]
            yield from self._reader.rows(sql, int(part[0]), int(part[-1]))

    def _paged(self, sql: str, after: str | int, *, column: int) -> Iterator[tuple[Any, ...]]:
        """Give the rows behind a value of one column, by which they are in order."""
        found: list[tuple[Any, ...]] = self._reader.rows(sql, after, _ROWS_AT_ONCE)
        while found:
            yield from found
            found = self._reader.rows(sql, found[-1][column], _ROWS_AT_ONCE)
