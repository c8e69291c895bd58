"""Reading slots and settled battles a few rows at a time, and how long processes have worked.

Which are settled, and all but the texts of battles, stands in `outlines` (`derived.py`).
"""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.outlines import LENGTHS, NO_ANSWER, Outlines
from videoautoarena.memory.records.slots import NO_SLOTS, Ints, Kind, Slots
from videoautoarena.memory.store.connection import Reader
from videoautoarena.memory.store.writer import Writes, needed

_SLOTS = "SELECT ordinal, video, kind, block FROM places WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
_SETTLED = "SELECT ordinal FROM outlines WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
_OUTLINES = (
    f"SELECT ordinal, told, {', '.join(f'ifnull({name}, {NO_ANSWER})' for name in LENGTHS)} "
    "FROM outlines "
    "WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
)
_BATTLES_AT_ONCE = 256
"""Battles that are read in one go."""
_ROWS_AT_ONCE = 4096
"""Rows that are read in one go where they are short."""


class Ending(NamedTuple):
    """How a battle ended, without what was said in it; None where the file does not say."""

    id: str
    model_a: str | None
    model_b: str | None
    verdict: str | None


class Answered(NamedTuple):
    """Of what a contestant's answers about a video were made, in one battle or more."""

    model: str
    times: tuple[float, ...]
    """Of the frames it was sent, in seconds."""


class SlotRows:
    """The slots of one run file; what was read of them is kept, since they only grow."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._slots = NO_SLOTS

    def all(self) -> Slots:
        last = int(self._slots.columns.ordinal[-1]) if self._slots else -1
        self._slots += Slots.read(self._reader.pages(_SLOTS, last, _ROWS_AT_ONCE), kind_of=_kind_of)
        return self._slots

    def count(self) -> int:
        return self._number("SELECT count(*) FROM slots")

    def count_settled(self) -> int:
        return self._number("SELECT count(*) FROM outlines")

    def superseding(self) -> list[str]:
        return [row[0] for row in self._reader.rows("SELECT id FROM slots WHERE instr(id, '~')")]

    def settled(self) -> Slots:
        """Return those that have a battle, by their ordinals."""
        # In this order: a slot that is added and settled meanwhile is then among them.
        ordinals = self._settled_ordinals()
        slots = self.all()
        # A slot of a battle may be gone, in a file that was changed.
        return slots.where(np.isin(slots.columns.ordinal, ordinals))

    def _settled_ordinals(self) -> Ints:
        pages = self._reader.pages(_SETTLED, -1, _ROWS_AT_ONCE)
        try:
            found = array("i", (ordinal for page in pages for (ordinal,) in page))
        except OverflowError as error:
            raise StoreError(
                "the run holds a slot beyond the last that can be; use another copy"
            ) from error
        return np.array(found, dtype=np.int32)

    def _number(self, sql: str) -> int:
        return int((self._reader.row(sql) or ("0",))[0])

    def outlines(self) -> Outlines:
        """Return all battles without their texts, by the ordinals of their slots."""
        return Outlines.read(self._reader.pages(_OUTLINES, -1, _ROWS_AT_ONCE), self.all)

    def each_settled(self, *what: str, ordinals: Ints | None = None) -> Iterator[tuple[Any, ...]]:
        """Give what SQL says of a battle `b`, by the ordinals of their slots, all or some."""
        # A list of numbers in place of a range: of a few of many nothing else is read.
        sql = (
            f"SELECT {', '.join(what)} FROM json_each(?) e JOIN slots s ON s.ordinal = e.value "
            "JOIN battles b ON b.id = s.id ORDER BY e.key"
        )
        ordinals = self._settled_ordinals() if ordinals is None else ordinals
        for first in range(0, len(ordinals), _BATTLES_AT_ONCE):
            part = ordinals[first : first + _BATTLES_AT_ONCE].tolist()
            yield from self._reader.rows(sql, json.dumps(part))


def _kind_of(text: str | None) -> Kind:
    """Return the kind behind a text of suffix and numbers; ValueError for any other."""
    if text is None:
        raise ValueError("its id does not begin with its video")
    suffix, _, numbers = text.rpartition("[")
    generation, persona, round_ = json.loads(f"[{numbers}")
    return Kind(suffix, generation, persona, round_)


_BEGIN = "INSERT INTO sessions (place, began_at_s, worked_s) VALUES (?, ?, 0)"
_SESSIONS = (
    # What is no time of this age is no session's.
    "SELECT began_at_s, worked_s FROM sessions WHERE began_at_s BETWEEN 0 AND 1e10 "
    "AND worked_s BETWEEN 0 AND 1e10 ORDER BY place"
)
_BEAT = "UPDATE sessions SET worked_s = ? WHERE place = ?"


class Session(NamedTuple):
    """One process's work on a run."""

    began_at_s: float
    """Seconds since 1970."""
    worked_s: float
    """From its beginning to its last commit."""


class Sessions:
    """The sessions of one run; without a writer they can only be read."""

    def __init__(self, reader: Reader, writer: Writes | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def begin(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Count from now on; every commit takes the time with it, so a kill loses none."""
        writer = needed(self._writer, "nobody can work on it")
        place = len(self.all()) + 1
        began_s = clock()
        writer.write_now(_BEGIN, (place, time.time()))
        writer.write_with_each(_BEAT, lambda: (round(clock() - began_s, 3), place))

    def all(self) -> list[Session]:
        """Return all sessions in the order in which they began."""
        found = self._reader.rows(_SESSIONS)
        return [Session(float(began_at_s), float(worked_s)) for began_at_s, worked_s in found]
