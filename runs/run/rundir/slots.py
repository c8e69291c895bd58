"""Which slots a run has, in which stored order, and which of them count.

Slots are a table of numbers (`memory/records/slots.py`), and stay one here: a run may have a
million.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from videoautoarena.graph.slot_ids import (
    PERSONAS,
    base_of,
    generation_of,
    is_newcomer,
    slot_id,
    superseding_id,
)
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.records import Slot, Video
from videoautoarena.memory.records.slots import NO_SLOTS, Columns, Ints, Kind, Longs, Mask, Slots
from videoautoarena.memory.store.store import Store

_NEVER = np.iinfo(np.int32).max


class Lineup:
    """The slots that count: of each place the one of the latest generation.

    Made of `slots`; without later generations it is the run as it stood before them.
    """

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._all = Slots.of(slots)
        latest = _latest(self._all)
        ordinal = latest.columns.ordinal
        # Usually it is, and a copy of a large table is spared.
        is_sorted = bool(np.all(ordinal[1:] >= ordinal[:-1]))
        self.slots = latest if is_sorted else latest.where(np.argsort(ordinal, kind="stable"))
        self.ids = self.slots.ids

    def current(self, base: str, *, before: int | None = None) -> str:
        """Return the id of the slot that counts in a place, or counted `before` a generation."""
        # Most runs have nothing that was played again, and no table has to be searched.
        if not self._again:
            return base
        each = ((generation, id_) for id_, generation in self._in_place(base))
        return max((one for one in each if before is None or one[0] < before), default=(0, base))[1]

    def find(self, base: str) -> int | None:
        """Return the row in `slots` of the slot that counts in the place `base`, or None."""
        return self.slots.find(self.current(base))

    def lineages(self) -> Iterator[tuple[str, int]]:
        """Yield video and persona of each lineage, in stored order."""
        slots = self._all
        _, first = np.unique(lineages_of(slots), return_index=True)
        films = slots.columns.video
        personas = slots.personas
        for row in np.sort(first).tolist():
            yield slots.videos[films[row]], int(personas[row])

    def generations(self, scope: str) -> tuple[int, ...]:
        """Return the generations in which a place or a video was played, ascending."""
        if not self._again:
            return (0,)
        if scope in self._videos_again:
            return self._videos_again[scope]
        return tuple(sorted({0} | {generation_of(id_) for id_, _ in self._in_place(scope)}))

    def _in_place(self, base: str) -> list[tuple[str, int]]:
        """Return id and generation of each slot in a place."""
        ids = [base] if not self._again else [base, *(base + tail for tail in self._again)]
        rows = [(id_, self._all.find(id_)) for id_ in ids]
        kinds = self._all.kinds
        kind = self._all.columns.kind
        return [(id_, kinds[kind[row]].generation) for id_, row in rows if row is not None]

    @cached_property
    def _again(self) -> list[str]:
        """The endings of ids of slots that were played again."""
        tails = (kind.suffix[len(base_of(kind.suffix)) :] for kind in self._all.kinds)
        return sorted(set(tails) - {""})

    @cached_property
    def _videos_again(self) -> dict[str, tuple[int, ...]]:
        """Videos that were played again to their generations, without those of newcomers."""
        played: dict[str, set[int]] = {}
        again = self._all.by_kind(
            lambda kind: 0 if is_newcomer(kind.suffix) else generation_of(kind.suffix)
        )
        for generation in sorted(set(np.unique(again).tolist()) - {0}):
            for video in self._all.where(again == generation).videos_of():
                played.setdefault(video, {0}).add(generation)
        return {video: tuple(sorted(found)) for video, found in played.items()}


class LineageLanguages:
    """The language of each lineage of a run.

    With n languages, each n lineages in stored order have all of them, in a drawn order. Stored
    order only grows, so a lineage keeps its language whatever is added to the run.
    """

    def __init__(
        self, codes: Sequence[str], lineages: Callable[[], Iterable[tuple[str, int]]], *, seed: int
    ) -> None:
        self._codes = codes
        self._lineages = lineages
        self._seed = seed

    def of(self, video: str, persona: int) -> str | None:
        """Return the code of the language; None if the run draws none."""
        if not self._codes:
            return None
        turn, place = divmod(self._places[video, persona], len(self._codes))
        order = sorted(self._codes, key=lambda code: derive(self._seed, "language", turn, code))
        return order[place]

    @cached_property
    def _places(self) -> dict[tuple[str, int], int]:
        return {lineage: place for place, lineage in enumerate(self._lineages())}


@dataclass(frozen=True)
class Tally:
    """How many slots count and are settled, read without a table of all slots."""

    superseded: Set[str]
    """Ids of slots that do not count, since others are played in their place."""
    slots: int
    settled: int

    @classmethod
    def of(cls, store: Store) -> Tally:
        """Return the tally of a run."""
        played: dict[str, set[str]] = {}
        for id_ in store.superseding():
            played.setdefault(base_of(id_), {base_of(id_)}).add(id_)
        superseded = {id_ for ids in played.values() for id_ in ids - {max(ids, key=generation_of)}}
        return cls(
            superseded,
            slots=store.count_slots() - len(superseded),
            settled=store.count_settled() - sum(map(store.has_battle, superseded)),
        )

    @property
    def left(self) -> int:
        """How many slots that count are not settled."""
        return self.slots - self.settled


def _latest(slots: Slots) -> Slots:
    """Return the slot of the latest generation in each place, the first of equal ones."""
    if not len(slots) or not any(generation_of(kind.suffix) for kind in slots.kinds):
        return slots
    place = places_of(slots)
    # By the last key first; of equal generations the
    # first slot comes last, and is the one that stays.
    order = np.lexsort((-np.arange(len(slots)), slots.generations, place))
    is_last = np.append(place[order][1:] != place[order][:-1], True)
    return slots.where(np.sort(order[is_last]))


def places_of(slots: Slots) -> Longs:
    """Return a number for the place of each slot, equal for all slots in one place."""
    bases = list(dict.fromkeys(base_of(kind.suffix) for kind in slots.kinds))
    at = {base: number for number, base in enumerate(bases)}
    number = slots.by_kind(lambda kind: at[base_of(kind.suffix)])
    return slots.columns.video.astype(np.int64) * len(bases) + number


def lineages_of(slots: Slots) -> Longs:
    """Return a number for video and persona of each slot."""
    personas = slots.personas
    lineages: Longs = slots.columns.video.astype(np.int64) * (1 + int(personas.max(initial=0)))
    return lineages + personas


def numbered(names: NDArray[np.signedinteger]) -> Ints:
    """Return a number for each name, equal for equal names, in order of first appearance."""
    _, first, name = np.unique(names, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int32)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[name]


def newcomers_among(slots: Slots) -> Mask:
    """Return a mask of the slots in which a newcomer meets a stored answer."""
    return slots.are(is_newcomer)


def in_order(videos: Iterable[Video], seed: int) -> list[Video]:
    """Return videos in the order a run takes them: by sha256 of seed and content."""
    # By content: a file that was renamed or moved keeps its place.
    return sorted(videos, key=lambda video: derive(seed, video.sha256))


def new_slots(
    videos: Sequence[Video], *, rounds: int, block: int, existing: Iterable[Slot]
) -> Slots:
    """Return the slots still missing, as a generation after all that exist.

    They are ordered by block, then round, then video and persona. `block` is about how many
    videos are admitted together; videos are in stored order.
    """
    existing = Slots.of(existing)
    missing = ~_known([video.id for video in videos], rounds, existing)
    if not missing.any():
        return NO_SLOTS
    blocks = np.array(_blocks(videos, block, existing), dtype=np.int32)
    film, round_, persona = (found.astype(np.int32) for found in np.nonzero(missing))
    order = np.lexsort((persona, film, round_, blocks[film]))
    film = film[order]
    kind = (round_ * len(PERSONAS) + persona)[order]
    generation = next_generation(existing)
    kinds = [
        Kind(slot_id("", user, number), generation, user, number)
        for number in range(rounds)
        for user in PERSONAS
    ]
    # Behind all that exist: stored order only grows, and languages and decks rest on it.
    ordinal = np.arange(len(existing), len(existing) + len(film), dtype=np.int32)
    columns = Columns(ordinal, film, kind, blocks[film])
    return Slots([video.id for video in videos], kinds, columns)


def _known(videos: Sequence[str], rounds: int, existing: Slots) -> Mask:
    """Return a mask of the existing places, shape (videos, rounds, personas)."""
    known = np.zeros((len(videos), rounds, len(PERSONAS)), dtype=np.bool_)
    at = {video: number for number, video in enumerate(videos)}
    place = {
        slot_id("", user, number): number * len(PERSONAS) + k
        for number in range(rounds)
        for k, user in enumerate(PERSONAS)
    }
    film = np.array([at.get(video, -1) for video in existing.videos], dtype=np.int32)
    film = film[existing.columns.video]
    cell = existing.by_kind(lambda kind: place.get(kind.suffix, -1))
    is_here = (film >= 0) & (cell >= 0)
    # What reshape gives of a whole array is a view, so `known` itself is written.
    known.reshape(len(videos), rounds * len(PERSONAS))[film[is_here], cell[is_here]] = True
    return known


def _blocks(videos: Sequence[Video], block: int, existing: Slots) -> list[int]:
    """Return the block of each video; new videos share new blocks as evenly as possible.

    A small last block would leave most places empty: its rounds wait for each other.
    """
    films, first_rows = np.unique(existing.columns.video, return_index=True)
    found = existing.columns.block[first_rows].tolist()
    blocks = {existing.videos[film]: number for film, number in zip(films, found, strict=True)}
    first = max(found, default=-1) + 1
    new = [video.id for video in videos if video.id not in blocks]
    # The nearest number of blocks of about that size.
    count = max(1, (2 * len(new) + block) // (2 * block))
    blocks |= {video: first + place * count // len(new) for place, video in enumerate(new)}
    return [blocks[video.id] for video in videos]


def superseding_slots(failed: Collection[str], *, existing: Iterable[Slot]) -> Slots:
    """Return slots in place of failed ones, which count, and of all that came after them.

    They are one generation after all that exist, in the order and the blocks of the slots they
    supersede. Later rounds of a lineage were asked in view of the one that failed: they go with it.
    A newcomer's battle over a stored answer stands by itself.
    """
    existing = Slots.of(existing)
    standing = Lineup(existing).slots
    has_failed = standing.among(failed)
    of_newcomer = newcomers_among(standing)
    lineage = lineages_of(standing)
    round_ = standing.rounds
    since = np.full(lineage.max(initial=-1) + 1, _NEVER, dtype=np.int32)
    # `at`, since a lineage may have failed in several rounds, of which the first counts.
    np.minimum.at(since, lineage[has_failed & ~of_newcomer], round_[has_failed & ~of_newcomer])
    gone = standing.where(np.where(of_newcomer, has_failed, round_ >= since[lineage]))
    if not len(gone):
        return NO_SLOTS
    first = existing.columns.ordinal[existing.rows_like(gone, base_of)]
    gone = gone.where(np.argsort(first, kind="stable"))
    generation = next_generation(existing)
    kinds = [
        kind._replace(
            suffix=superseding_id(base_of(kind.suffix), generation), generation=generation
        )
        for kind in gone.kinds
    ]
    ordinal = np.arange(len(existing), len(existing) + len(gone), dtype=np.int32)
    return Slots(gone.videos, kinds, gone.columns._replace(ordinal=ordinal))


def next_generation(existing: Iterable[Slot]) -> int:
    """Return the generation of slots that are added now."""
    return int(Slots.of(existing).generations.max(initial=-1)) + 1
