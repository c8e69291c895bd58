"""The slots of a run as a table: 16 bytes each, and a record only while somebody looks at one."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Slot

T = TypeVar("T")
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Mask = NDArray[np.bool_]

_AT_ONCE = 4096
"""Rows that become Python's numbers in one go."""


class Kind(NamedTuple):
    """What slots about different videos have in common."""

    suffix: str
    """What stands behind the video in their ids."""
    generation: int
    persona: int
    round: int


K = TypeVar("K", bound=Hashable)
Row = tuple[int, str, K, int]


class Columns(NamedTuple):
    """One number per slot in each column; those of video and kind are places in a list."""

    ordinal: Ints
    video: Ints
    kind: Ints
    block: Ints


class _Index(NamedTuple):
    codes: memoryview
    """Video and suffix of each slot as one number, ascending. A memoryview gives plain ints."""
    rows: Ints
    """The row of each of them."""


class Slots(Sequence[Slot]):
    """Slots in the order in which they were given, as numbers; their ids must differ.

    The lists of videos and kinds may name more than there are slots of.
    """

    def __init__(self, videos: Sequence[str], kinds: Sequence[Kind], columns: Columns) -> None:
        self.videos = videos
        self.kinds = kinds
        self.columns = columns

    @classmethod
    def of(cls, slots: Iterable[Slot]) -> Slots:
        """Return a table of slots; a table is returned as it is."""
        if isinstance(slots, Slots):
            return slots
        rows = [(s.ordinal, s.video, _kind_of(s), s.block) for s in slots]
        return cls.read([rows] if rows else [], kind_of=lambda kind: kind)

    @classmethod
    def read(cls, pages: Iterable[Sequence[Row[K]]], *, kind_of: Callable[[K], Kind]) -> Slots:
        """Return a table of rows: ordinal, video, kind by `kind_of`, block; or StoreError."""
        videos = numbering()
        kinds = numbering()
        known = numbering()
        # Four bytes a number also while pages are read: a run of 750,000 slots may take 500 MB in
        # all.
        ordinal, video_at, kind_at, block = (array("i") for _ in range(4))
        places: list[int] = []
        for page in pages:
            ordinals, of_video, of_kind, blocks = (map(itemgetter(k), page) for k in range(4))
            video_at.extend(map(videos.__getitem__, of_video))
            try:
                kind_at.extend(map(kinds.__getitem__, of_kind))
                # A dictionary keeps its order: what this page brought stands behind what was known.
                new = islice(kinds, len(places), None)
                # Checked once a kind, of which a run has few, and not once a slot.
                places += [known[_checked(kind_of(kind))] for kind in new]
                ordinal.extend(ordinals)
                block.extend(blocks)
            except (ValueError, TypeError, OverflowError) as error:
                raise StoreError("the run holds a Slot that cannot be read") from error
        arrays = (ordinal, video_at, kind_at, block)
        columns = Columns(*(np.array(numbers, dtype=np.int32) for numbers in arrays))
        kind_of_slot = np.array(places, dtype=np.int32)[columns.kind]
        return cls(list(videos), list(known), columns._replace(kind=kind_of_slot))

    def __len__(self) -> int:
        return len(self.columns.ordinal)

    @overload
    def __getitem__(self, row: int) -> Slot: ...

    @overload
    def __getitem__(self, row: slice) -> Slots: ...

    def __getitem__(self, row: int | slice) -> Slot | Slots:
        if isinstance(row, slice):
            return Slots(self.videos, self.kinds, Columns(*(one[row] for one in self.columns)))
        return self._slot(*(int(one[row]) for one in self.columns))

    def __iter__(self) -> Iterator[Slot]:
        for first in range(0, len(self), _AT_ONCE):
            # `tolist` gives plain ints, and a part at a time keeps few of them in memory.
            part = (one[first : first + _AT_ONCE].tolist() for one in self.columns)
            yield from map(self._slot, *part)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(Slot.__eq__, self, other))

    # It equals any sequence of the same slots, and their hashes differ.
    __hash__ = None  # type: ignore[assignment]

    def __add__(self, others: Iterable[Slot]) -> Slots:
        others = Slots.of(others)
        if not len(self) or not len(others):
            return others if len(others) else self
        videos, video_at = _joined(self.videos, others.videos)
        kinds, kind_at = _joined(self.kinds, others.kinds)
        mine = self.columns
        more = others.columns
        moved = more._replace(video=video_at[more.video], kind=kind_at[more.kind])
        both = Columns(*map(np.concatenate, zip(mine, moved, strict=True)))
        return Slots(videos, kinds, both)

    def id(self, row: int) -> str:
        """Return the id of the slot in a row."""
        video, kind = (int(one[row]) for one in (self.columns.video, self.columns.kind))
        return self.videos[video] + self.kinds[kind].suffix

    @property
    def ids(self) -> Ids:
        """The ids of all of them, made as they are asked for."""
        return Ids(self)

    @property
    def rounds(self) -> Ints:
        return self.by_kind(lambda kind: kind.round)

    @property
    def generations(self) -> Ints:
        return self.by_kind(lambda kind: kind.generation)

    @property
    def personas(self) -> Ints:
        return self.by_kind(lambda kind: kind.persona)

    def by_kind(self, number: Callable[[Kind], int]) -> Ints:
        """Return a number for each slot that follows from its kind."""
        found = np.array([number(kind) for kind in self.kinds], dtype=np.int32)
        return found[self.columns.kind]

    def are(self, is_so: Callable[[str], bool]) -> Mask:
        """Return a mask of the slots whose ids' suffixes satisfy a predicate."""
        return self.by_kind(lambda kind: is_so(kind.suffix)).astype(np.bool_)

    def where(self, rows: Mask | Ints | Longs) -> Slots:
        """Return the slots of a mask, or of rows in the order given."""
        # All of them are the table itself, which is spared a copy and a new index.
        if len(rows) == len(self) and (
            rows.all() if rows.dtype == np.bool_ else np.array_equal(rows, np.arange(len(self)))
        ):
            return self
        return Slots(self.videos, self.kinds, Columns(*(one[rows] for one in self.columns)))

    def among(self, ids: Collection[str]) -> Mask:
        """Return which of them have one of these ids."""
        if isinstance(ids, Ids):
            # Both are of one run, in which an ordinal belongs to one slot: no id needs to be made.
            return np.isin(self.columns.ordinal, ids.slots.columns.ordinal)
        found = np.zeros(len(self), dtype=np.bool_)
        found[[row for id_ in ids if (row := self.find(id_)) is not None]] = True
        return found

    def without(self, ids: Collection[str]) -> Slots:
        return self.where(~self.among(ids))

    def find(self, id_: str) -> int | None:
        """Return the row of the slot with this id."""
        # An id may be cut at several places; a run has only a few lengths of suffix to try.
        for length in self._lengths:
            suffix = self._suffixes.get(id_[-length:])
            video = None if suffix is None else self._video_at.get(id_[:-length])
            if suffix is not None and video is not None:
                code = video * len(self._suffixes) + suffix
                place = bisect_left(self._index.codes, code)
                if place < len(self) and self._index.codes[place] == code:
                    return int(self._index.rows[place])
        return None

    def called(self, id_: str) -> Slot:
        """Return the slot with this id, which is there; raises KeyError for any other."""
        row = self.find(id_)
        if row is None:
            raise KeyError(id_)
        return self[row]

    def rows_like(self, others: Slots, suffix: Callable[[str], str] = str) -> Longs:
        """Return, for each other slot, the row with its video and `suffix` of its suffix, or -1."""
        if not len(self):
            return np.full(len(others), -1)
        video = np.array([self._video_at.get(name, -1) for name in others.videos], dtype=np.int64)
        tail = others.by_kind(lambda kind: self._suffixes.get(suffix(kind.suffix), -1))
        video = video[others.columns.video]
        codes = video * len(self._suffixes) + tail
        known = np.asarray(self._index.codes)
        # A code above all known ones is placed behind the last, where nothing can be looked up.
        places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        is_there = (video >= 0) & (tail >= 0) & (known[places] == codes)
        return np.where(is_there, self._index.rows[places], -1)

    def rows_of(self, ordinals: Ints) -> Longs:
        """Return the rows of slots with these ordinals; the table must be in order of ordinals."""
        return np.searchsorted(self.columns.ordinal, ordinals)

    def about(self, video: str) -> Mask:
        """Return which of them are about a video."""
        is_about: Mask = self.columns.video == self._video_at.get(video, -1)
        return is_about

    def videos_of(self) -> set[str]:
        """Return the videos that they are about."""
        return {self.videos[at] for at in np.unique(self.columns.video)}

    def _slot(self, ordinal: int, video: int, kind: int, block: int) -> Slot:
        return _slot(self.videos[video], self.kinds[kind], ordinal=ordinal, block=block)

    @cached_property
    def _video_at(self) -> dict[str, int]:
        return {video: at for at, video in enumerate(self.videos)}

    @cached_property
    def _suffixes(self) -> dict[str, int]:
        return {suffix: at for at, suffix in enumerate(dict.fromkeys(k.suffix for k in self.kinds))}

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({len(suffix) for suffix in self._suffixes})

    @cached_property
    def _index(self) -> _Index:
        suffix = self.by_kind(lambda kind: self._suffixes[kind.suffix])
        # In 64 bits: the columns have 32, which the product of videos and suffixes may exceed.
        codes = self.columns.video.astype(np.int64) * len(self._suffixes) + suffix
        rows = np.argsort(codes)
        return _Index(memoryview(codes[rows].data), rows.astype(np.int32))


class Ids(Set[str]):
    """The ids of slots, made only when they are asked for."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots

    @classmethod
    def _from_iterable(cls, found: Iterable[str]) -> set[str]:  # type: ignore[override]
        # Operators of Set hand their result to the constructor, which takes a table and no ids.
        return set(found)

    def __contains__(self, id_: object) -> bool:
        return isinstance(id_, str) and self.slots.find(id_) is not None

    def __iter__(self) -> Iterator[str]:
        return map(self.slots.id, range(len(self.slots)))

    def __len__(self) -> int:
        return len(self.slots)


def numbering() -> defaultdict[Any, int]:
    """Return a dictionary that numbers each new key it is asked for, from 0 on."""
    found = defaultdict[Any, int]()
    # A missing key is put in after the factory was called, so the length is the next free number.
    found.default_factory = found.__len__
    return found


def _kind_of(slot: Slot) -> Kind:
    # Ids are not kept: each is put together again from its video and a suffix.
    if not slot.id.startswith(slot.video):
        raise StoreError(f"slot {slot.id} is not about {slot.video}")
    suffix = slot.id[len(slot.video) :]
    return Kind(suffix, slot.generation, slot.persona, slot.round)


def _checked(kind: Kind) -> Kind:
    """Return the kind if a Slot record accepts its numbers; raises ValueError otherwise."""
    if not kind.suffix:
        raise ValueError("the id of a slot says no more than its video")
    return _kind_of(_slot("", kind, ordinal=0, block=0))


def _slot(video: str, kind: Kind, *, ordinal: int, block: int) -> Slot:
    return Slot(
        id=video + kind.suffix,
        generation=kind.generation,
        ordinal=ordinal,
        video=video,
        persona=kind.persona,
        round=kind.round,
        block=block,
    )


def _joined(some: Sequence[T], more: Sequence[T]) -> tuple[list[T], Ints]:
    """Return the first list with what is new in the second, and where the second's stand in it."""
    at: dict[T, int] = {}
    for place, one in enumerate(some):
        at.setdefault(one, place)
    new = [one for one in dict.fromkeys(more) if one not in at]
    at |= {one: len(some) + place for place, one in enumerate(new)}
    return [*some, *new], np.array([at[one] for one in more], dtype=np.int32)


NO_SLOTS = Slots.of(())
