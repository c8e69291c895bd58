"""Which slots a run has, in which stored order, and which of them count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from graph.state import PERSONAS, base_of, generation_of, is_guest, slot_id, superseding_id
from memory.digests import derive
from memory.records import Slot, Video

Lineage = tuple[str, int]
"""Video and persona."""


class Lineup:
    """The slots that count: of each place the one of the latest generation.

    `slots` is what it is made of; leave later generations out to see a run as it stood.
    """

    def __init__(self, slots: Iterable[Slot]) -> None:
        latest: dict[str, Slot] = {}
        played: dict[str, set[int]] = {}
        for slot in slots:
            base, generation = base_of(slot.id), generation_of(slot.id)
            if generation:
                for scope in (base,) if is_guest(base) else (base, slot.video):
                    played.setdefault(scope, {0}).add(generation)
            if base not in latest or latest[base].generation < slot.generation:
                latest[base] = slot
        self._latest = latest
        self._played = {scope: tuple(sorted(found)) for scope, found in played.items()}
        self.slots = sorted(latest.values(), key=lambda slot: slot.ordinal)
        self.ids = {slot.id for slot in self.slots}

    def current(self, base: str) -> str:
        """Return the id of the slot that counts in the place of `base`, known or not."""
        slot = self._latest.get(base)
        return slot.id if slot else base

    def generations(self, scope: str) -> tuple[int, ...]:
        """Return the generations in which a place or a video was played, ascending."""
        return self._played.get(scope, (0,))


def in_order(videos: Iterable[Video], seed: int) -> list[Video]:
    """Return videos in the order a run takes them: by sha256 of seed and content."""
    return sorted(videos, key=lambda video: derive(seed, video.sha256))


def new_slots(
    videos: Sequence[Video], *, rounds: int, block: int, existing: Sequence[Slot]
) -> list[Slot]:
    """Return the slots still missing, as a generation after all that exist.

    Args:
        videos: in stored order; those of earlier generations first.
        rounds: battles in each lineage.
        block: about how many videos are admitted together.
        existing: every slot the run has.

    Slots stand by block, then round, then video and persona.
    """
    known = {slot.id for slot in existing}
    generation, blocks = next_generation(existing), _blocks(videos, block, existing)
    wanted = [
        (blocks[video.id], round_, video.id, persona)
        for video in videos
        for round_ in range(rounds)
        for persona in PERSONAS
    ]
    missing = [
        w for w in sorted(wanted, key=lambda w: w[:2]) if slot_id(w[2], w[3], w[1]) not in known
    ]
    return [
        Slot(
            id=slot_id(video, persona, round_),
            generation=generation,
            ordinal=len(existing) + place,
            video=video,
            persona=persona,
            round=round_,
            block=block_,
        )
        for place, (block_, round_, video, persona) in enumerate(missing)
    ]


def _blocks(videos: Sequence[Video], block: int, existing: Sequence[Slot]) -> dict[str, int]:
    """Return the block of each video; those that are new share new ones as evenly as they can.

    A small last block would leave most places empty: its rounds wait for each other.
    """
    blocks = {slot.video: slot.block for slot in existing}
    first = max(blocks.values(), default=-1) + 1
    new = [video.id for video in videos if video.id not in blocks]
    count = max(1, (2 * len(new) + block) // (2 * block))
    return blocks | {video: first + place * count // len(new) for place, video in enumerate(new)}


def superseding_slots(failed: Collection[str], *, existing: Sequence[Slot]) -> list[Slot]:
    """Return what is played in place of failed slots and of all that came after them.

    Args:
        failed: ids of slots that count.
        existing: every slot the run has.

    They are one generation after all that exist, in the order and the blocks of the slots they
    supersede. Later rounds of a lineage were asked in view of the one that failed: they go with it.
    A newcomer's battle over a stored answer stands by itself.
    """
    standing = Lineup(existing).slots
    since: dict[Lineage, int] = {}
    for slot in standing:
        if slot.id in failed and not is_guest(slot.id):
            lineage = (slot.video, slot.persona)
            since[lineage] = min(slot.round, since.get(lineage, slot.round))
    gone = [
        s
        for s in standing
        if (
            s.id in failed
            if is_guest(s.id)
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


def next_generation(existing: Sequence[Slot]) -> int:
    """Return the generation of slots that are added now."""
    return max((slot.generation for slot in existing), default=-1) + 1
