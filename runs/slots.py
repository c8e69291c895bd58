"""Which slots a run has, in which stored order, and which videos are admitted together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graph.state import PERSONAS, slot_id
from memory.digests import derive
from memory.records import Slot, Video


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
        block: how many videos are admitted together.
        existing: every slot the run has.

    Slots stand by block, then round, then video and persona.
    """
    known = {slot.id for slot in existing}
    generation = max((slot.generation for slot in existing), default=-1) + 1
    wanted = [
        (place // block, round_, video.id, persona)
        for place, video in enumerate(videos)
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
