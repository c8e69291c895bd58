"""Battles in outline: who met, how it ended and who judged it how, without a word of the texts.

A million of them take some 60 MB: they are columns of numbers, and each distinct text is kept once.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import LONGEST_NAME, Battle, Seats
from videoautoarena.memory.records.slots import Ints, Longs, Mask, Slots, numbering

Told = Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]
TEXTS = ("model_a", "model_b", "verdict", "language", "ballots")
LENGTHS = ("length_a", "length_b")
"""Characters of the answers."""
# A number, since a column of int32 has no None.
NO_ANSWER = -1
"""The length of an answer that is not there."""
_NAMES = ("head", "tail", "video")
"""The two halves of an id, and the video's."""
_PLACES = ("persona", "round")
ORDINAL = "ordinal"
_AT_ONCE = 4096


class Ballot(NamedTuple):
    """What a judge said of a battle from one seating."""

    judge: str
    seats: Seats
    verdict: Told


class Outline(NamedTuple):
    """One battle in outline; fields that a Battle has, too, have the same names."""

    id: str
    video: str
    model_a: str | None
    model_b: str | None
    verdict: str
    language: str | None
    verdicts: tuple[Ballot, ...]
    persona: int
    round: int
    length_a: int | None
    length_b: int | None


class TextColumn(NamedTuple):
    """One text per battle."""

    values: Sequence[Any]
    """The distinct texts; None may be one of them."""
    codes: Ints
    """Shape (battles,), places in `values`."""

    @classmethod
    def of(cls, texts: Sequence[Any]) -> TextColumn:
        """Return a column of texts."""
        place = numbering()
        codes = np.fromiter(map(place.__getitem__, texts), np.int32, len(texts))
        return cls(list(place), codes)

    def where(self, rows: Mask | Ints | Longs) -> TextColumn:
        """Return the part of the column in these rows."""
        return TextColumn(self.values, self.codes[rows])

    def among(self, some: Iterable[Any]) -> Mask:
        """Return a mask of the battles that have one of some texts."""
        wanted = set(some)
        found = np.array([value in wanted for value in self.values], dtype=np.bool_)
        return found[self.codes] if len(found) else np.zeros(len(self.codes), dtype=np.bool_)

    def numbered(self) -> Longs:
        """Return a whole number for each text, counted from 0 as they first come."""
        _, first, number = np.unique(self.codes, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        found: Longs = place[number]
        return found

    def by_last(self) -> Longs:
        """Return a whole number for each text: the last place in which it stands."""
        last = np.zeros(len(self.values), dtype=np.int64)
        last[self.codes] = np.arange(len(self.codes))
        found: Longs = last[self.codes]
        return found

    def each(self) -> Iterator[Any]:
        """Yield the text of every battle."""
        return map(self.values.__getitem__, self.codes.tolist())

    def counts(self) -> dict[Any, int]:
        """Return how many battles have each text, in the order in which they first come."""
        return {self.values[code]: times for code, times in self.counts_by_code().items()}

    def counts_by_code(self) -> dict[int, int]:
        """Return the same by the place of each in `values`."""
        codes, first, times = np.unique(self.codes, return_index=True, return_counts=True)
        return {int(codes[k]): int(times[k]) for k in np.argsort(first)}


class Outlines(Sequence[Outline]):
    """Battles in outline, in the order of their slots."""

    def __init__(self, texts: Mapping[str, TextColumn], numbers: Mapping[str, Ints]) -> None:
        self.texts = texts
        """Columns by name: those of TEXTS, both halves of the ids, and the videos."""
        self.numbers = numbers
        """Columns by name: persona, round, those of LENGTHS, and the ordinals of the slots."""

    @classmethod
    def read(
        cls, pages: Iterable[Sequence[Sequence[Any]]], slots_of: Callable[[], Slots]
    ) -> Outlines:
        """Return outlines from rows of an ordinal, one text that holds all TEXTS, and LENGTHS.

        `slots_of` returns all slots of the run in order of ordinals; it is called after the rows
        are read, so that no battle is newer than the slots.
        """
        told = _Texts(1)
        numbers = [array("i") for _ in (ORDINAL, *LENGTHS)]
        for page in pages:
            told.add([map(itemgetter(1), page)])
            try:
                for kept, place in zip(numbers, (0, 2, 3), strict=True):
                    kept.extend(map(itemgetter(place), page))
            except (TypeError, OverflowError) as error:
                raise StoreError(_UNREADABLE) from error
        known, *sizes = (np.array(one, dtype=np.int32) for one in numbers)
        slots, (column,) = slots_of(), told.done()
        has_slot = np.isin(known, slots.columns.ordinal)
        if not has_slot.all():
            # In a file that somebody changed, a battle may have no slot.
            known = known[has_slot]
            column = column.where(has_slot)
            sizes = [one[has_slot] for one in sizes]
        mine = slots.where(slots.rows_of(known))
        video = TextColumn(mine.videos, mine.columns.video)
        tail = TextColumn([kind.suffix for kind in mine.kinds], mine.columns.kind)
        places = {"persona": mine.personas, "round": mine.rounds, ORDINAL: known}
        texts = {"head": video, "tail": tail, "video": video, **_apart(column)}
        return cls(texts, {**places, **dict(zip(LENGTHS, sizes, strict=True))})

    @classmethod
    def of(cls, battles: Iterable[Battle]) -> Outlines:
        """Return battles in outline, in their own order."""
        if isinstance(battles, Outlines):
            return battles
        rows = _Rows()
        names = _Texts(len(_NAMES))
        places = [array("i"), array("i")]
        each = iter(battles)
        while some := list(islice(each, _AT_ONCE)):
            rows.add(list(zip(*map(row_of, some), strict=True)))
            names.add([[""] * len(some), [one.id for one in some], [one.video for one in some]])
            for numbers, name in zip(places, _PLACES, strict=True):
                numbers.extend(getattr(one, name) for one in some)
        found = {
            name: np.array(one, dtype=np.int32) for name, one in zip(_PLACES, places, strict=True)
        }
        found[ORDINAL] = np.arange(len(places[0]), dtype=np.int32)
        return rows.done(dict(zip(_NAMES, names.done(), strict=True)), found)

    def __len__(self) -> int:
        return len(self.texts["verdict"].codes)

    @overload
    def __getitem__(self, row: int) -> Outline: ...

    @overload
    def __getitem__(self, row: slice) -> Outlines: ...

    def __getitem__(self, row: int | slice) -> Outline | Outlines:
        if isinstance(row, slice):
            return self.where(np.arange(len(self))[row])
        return next(iter(self.where(np.array([range(len(self))[row]]))))

    def __iter__(self) -> Iterator[Outline]:
        names = (*_NAMES, *TEXTS[:-1])
        values = [self.texts[name].values for name in names]
        codes = [self.texts[name].codes for name in (*names, "ballots")]
        told = self.told
        for first in range(0, len(self), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            *texts, ballots = (one[part].tolist() for one in codes)
            head, tail, *rest = (
                map(value.__getitem__, code) for value, code in zip(values, texts, strict=True)
            )
            numbers = [self.numbers[name][part].tolist() for name in (*_PLACES, *LENGTHS)]
            lengths = ([None if n == NO_ANSWER else n for n in one] for one in numbers[2:])
            ids = (one + other for one, other in zip(head, tail, strict=True))
            verdicts = map(told.__getitem__, ballots)
            columns = (ids, *rest, verdicts, *numbers[:2], *lengths)
            yield from map(Outline._make, zip(*columns, strict=True))

    def where(self, rows: Mask | Ints | Longs) -> Outlines:
        """Return the battles of a mask, or of rows in the order given."""
        return Outlines(
            {name: column.where(rows) for name, column in self.texts.items()},
            {name: numbers[rows] for name, numbers in self.numbers.items()},
        )

    def id(self, row: int) -> str:
        """Return the id of the battle in a row."""
        head, tail = (self.texts[name] for name in _NAMES[:2])
        return f"{head.values[head.codes[row]]}{tail.values[tail.codes[row]]}"

    def ids(self) -> Iterator[str]:
        """Yield the ids of all battles."""
        return map(str.__add__, self.texts["head"].each(), self.texts["tail"].each())

    def ended(self, verdicts: Sequence[str]) -> Outlines:
        """Return the battles with other verdicts."""
        return Outlines({**self.texts, "verdict": TextColumn.of(verdicts)}, self.numbers)

    @property
    def videos(self) -> Longs:
        """Shape (battles,), a number for the video of each, counted from 0 as they first come."""
        return self.texts["video"].numbered()

    @cached_property
    def told(self) -> list[tuple[Ballot, ...]]:
        """What judges said, for each distinct value of `ballots`."""
        values = self.texts["ballots"].values
        return [tuple(Ballot(*one) for one in json.loads(text or "[]")) for text in values]


def seen_in(model_a: TextColumn, model_b: TextColumn) -> list[str]:
    """Return all models that met, in order of first appearance, model_a before model_b."""
    seen: dict[str, int] = {}
    for turn, column in enumerate((model_a, model_b)):
        codes, firsts = np.unique(column.codes, return_index=True)
        for code, first in zip(codes.tolist(), firsts.tolist(), strict=True):
            if model := column.values[code]:
                # Both columns in one count, so that model_a of a battle stands before its model_b.
                place = 2 * first + turn
                seen[model] = min(place, seen.get(model, place))
    return sorted(seen, key=seen.__getitem__)


def row_of(battle: Battle) -> tuple[Any, ...]:
    """Return TEXTS and LENGTHS of a battle."""
    ballots = [[one.judge, one.seats, one.verdict] for one in battle.verdicts]
    answers = (battle.answer_a, battle.answer_b)
    lengths = (NO_ANSWER if text is None else len(text) for text in answers)
    return (
        *(battle.model_a, battle.model_b, battle.verdict, battle.language),
        json.dumps(ballots, ensure_ascii=False, separators=(",", ":")),
        *lengths,
    )


def _apart(told: TextColumn) -> dict[str, TextColumn]:
    """Return the columns of TEXTS from one of their texts: each a JSON list, then the ballots."""
    rows = []
    # Only distinct texts are parsed: a run has far fewer of them than battles.
    for text in told.values:
        try:
            rows.append(_told_apart(text))
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(_UNREADABLE) from error
    columns = zip(*rows, strict=True) if rows else [()] * len(TEXTS)
    apart = map(TextColumn.of, columns)
    return {
        name: TextColumn(one.values, one.codes[told.codes])
        for name, one in zip(TEXTS, apart, strict=True)
    }


_UNREADABLE = "the run holds a Battle that cannot be read in outline; use another copy"
# It stops at the end of the list, behind which the ballots begin.
_READ = json.JSONDecoder().raw_decode


def _told_apart(text: str) -> tuple[str | None, ...]:
    texts, end = _READ(text)
    # In a body that is no battle these may be numbers or objects; as text they fit no field.
    *plain, ballots = *(one if one is None else str(one) for one in texts), text[end:]
    # As a Battle would refuse them: outlines are read without one, and names are shown everywhere.
    if len(plain) != len(TEXTS) - 1 or any(len(one or "") > LONGEST_NAME for one in plain):
        raise ValueError("it has other or longer texts than a battle")
    for judge, _seats, _verdict in json.loads(ballots or "[]"):
        if len(str(judge)) > LONGEST_NAME:
            raise ValueError("the name of a judge is too long")
    return *plain, ballots


class _Texts:
    """Columns of texts that arrive in portions."""

    def __init__(self, count: int) -> None:
        self._place = [numbering() for _ in range(count)]
        self._codes = [array("i") for _ in range(count)]

    def add(self, columns: Sequence[Iterable[str | None]]) -> None:
        for place, codes, column in zip(self._place, self._codes, columns, strict=True):
            codes.extend(map(place.__getitem__, column))

    def done(self) -> list[TextColumn]:
        pairs = zip(self._place, self._codes, strict=True)
        return [TextColumn(list(place), np.array(codes, dtype=np.int32)) for place, codes in pairs]


class _Rows:
    """TEXTS and LENGTHS of battles that arrive in portions."""

    def __init__(self) -> None:
        self._texts = _Texts(len(TEXTS))
        self._lengths = [array("i") for _ in LENGTHS]

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        self._texts.add(columns[: len(TEXTS)])
        for lengths, column in zip(self._lengths, columns[len(TEXTS) :], strict=True):
            lengths.extend(column)

    def done(self, names: Mapping[str, TextColumn], places: Mapping[str, Ints]) -> Outlines:
        texts = dict(zip(TEXTS, self._texts.done(), strict=True))
        lengths = (np.array(one, dtype=np.int32) for one in self._lengths)
        return Outlines({**names, **texts}, {**places, **dict(zip(LENGTHS, lengths, strict=True))})
