"""Slots as records in lists and dictionaries: what the tables of `runs/` must say as well."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from videoautoarena.graph.slot_ids import (
    PERSONAS,
    base_of,
    generation_of,
    is_newcomer,
    slot_id,
    superseding_id,
)
from videoautoarena.memory.records.records import Slot, Video
from videoautoarena.runs.tournament.schedule import Visit


class Lineup:
    """The slots that count."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        latest: dict[str, Slot] = {}
        played: dict[str, set[int]] = {}
        for slot in slots:
            base = base_of(slot.id)
            generation = generation_of(slot.id)
            if generation:
                for scope in (base,) if is_newcomer(base) else (base, slot.video):
                    played.setdefault(scope, {0}).add(generation)
            if base not in latest or latest[base].generation < slot.generation:
                latest[base] = slot
        self._latest = latest
        self._played = {scope: tuple(sorted(found)) for scope, found in played.items()}
        self.slots = sorted(latest.values(), key=lambda slot: slot.ordinal)
        self.ids = {slot.id for slot in self.slots}

    def current(self, base: str) -> str:
        slot = self._latest.get(base)
        return slot.id if slot else base

    def generations(self, scope: str) -> tuple[int, ...]:
        return self._played.get(scope, (0,))


def next_generation(existing: Sequence[Slot]) -> int:
    return max((slot.generation for slot in existing), default=-1) + 1


def new_slots(
    videos: Sequence[Video], *, rounds: int, block: int, existing: Sequence[Slot]
) -> list[Slot]:
    known = {slot.id for slot in existing}
    blocks = {slot.video: slot.block for slot in existing}
    first = max(blocks.values(), default=-1) + 1
    new = [video.id for video in videos if video.id not in blocks]
    count = max(1, (2 * len(new) + block) // (2 * block))
    blocks |= {video: first + place * count // len(new) for place, video in enumerate(new)}
    wanted = [
        (blocks[video.id], round_, video.id, persona)
        for video in videos
        for round_ in range(rounds)
        for persona in PERSONAS
    ]
    wanted = [
        w for w in sorted(wanted, key=lambda w: w[:2]) if slot_id(w[2], w[3], w[1]) not in known
    ]
    return [
        Slot(
            id=slot_id(video, persona, round_),
            generation=next_generation(existing),
            ordinal=len(existing) + place,
            video=video,
            persona=persona,
            round=round_,
            block=block_,
        )
        for place, (block_, round_, video, persona) in enumerate(wanted)
    ]


def with_unsettled(
    failed: Collection[str], existing: Sequence[Slot], settled: Collection[str]
) -> set[str]:
    main = [slot for slot in Lineup(existing).slots if not is_newcomer(slot.id)]
    videos = {slot.video for slot in main if slot.id in failed}
    return {s.id for s in main if s.video in videos and s.id not in settled}.union(failed)


def superseding_slots(failed: Collection[str], *, existing: Sequence[Slot]) -> list[Slot]:
    standing = Lineup(existing).slots
    since: dict[tuple[str, int], int] = {}
    for slot in standing:
        if slot.id in failed and not is_newcomer(slot.id):
            lineage = (slot.video, slot.persona)
            since[lineage] = min(slot.round, since.get(lineage, slot.round))
    gone = [
        s
        for s in standing
        if (
            s.id in failed
            if is_newcomer(s.id)
            else s.round >= since.get((s.video, s.persona), s.round + 1)
        )
    ]
    places = {slot.id: slot.ordinal for slot in existing}
    gone.sort(key=lambda slot: places[base_of(slot.id)])
    generation = next_generation(existing)
    return [
        slot.model_copy(
            update={
                "id": superseding_id(base_of(slot.id), generation),
                "generation": generation,
                "ordinal": len(existing) + place,
            }
        )
        for place, slot in enumerate(gone)
    ]


def blocks_of(slots: Sequence[Slot]) -> list[list[Visit]]:
    by_block = sorted(slots, key=lambda slot: (slot.generation, slot.block, slot.ordinal))
    return [
        list(dict.fromkeys(Visit(slot.video, slot.generation) for slot in members))
        for _, members in groupby(by_block, key=lambda slot: (slot.generation, slot.block))
    ]


def places(left: Sequence[Slot], *, in_waves: bool) -> dict[str, int]:
    """Return in which order a capped run spends."""
    visits = {visit: at for at, visit in enumerate(v for block in blocks_of(left) for v in block)}

    def order(slot: Slot) -> tuple[int, ...]:
        if is_newcomer(slot.id):
            return 1, slot.ordinal
        if in_waves:
            return 0, slot.generation, slot.block, slot.round, slot.ordinal
        return 0, visits[Visit(slot.video, slot.generation)], slot.ordinal

    found: dict[str, int] = {}
    for place, slot in enumerate(sorted(left, key=order)):
        found.setdefault(slot.video, place)
        found[base_of(slot.id)] = place
    return found


def waves(slots: Sequence[Slot]) -> tuple[list[tuple[int, int, int]], dict[str, int]]:
    """Return the waves in order, and the number of each slot's."""
    of = {s.id: (s.generation, s.block, s.round) for s in slots if not is_newcomer(s.id)}
    order = sorted(set(of.values()))
    return order, {id_: order.index(wave) for id_, wave in of.items()}


def keep_answers(left: Sequence[Slot]) -> set[str]:
    """Return the scopes whose answers still hold."""
    first: dict[tuple[str, int], int] = {}
    for slot in left:
        lineage = (slot.video, slot.persona)
        first[lineage] = min(slot.round, first.get(lineage, slot.round))
    return {
        base_of(slot.id)
        for slot in left
        if not generation_of(slot.id) or slot.round == first[slot.video, slot.persona]
    }
