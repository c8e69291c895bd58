"""Playing again what ended without a verdict because a call had failed."""

from __future__ import annotations

from collections.abc import Collection

from memory.records import DECIDED, Battle
from memory.store import Store
from runs.reading import counted
from runs.slots import Lineup, superseding_slots


def failed_slots(store: Store) -> set[str]:
    """Return the ids of slots that count and ended void or forfeit since a call had failed.

    Not those where every judge abstained, nor those of a video that gave no frames: to play them
    again would come to the same.
    """
    standing = Lineup(store.slots()).ids
    undecided = [id_ for id_, verdict in store.verdicts().items() if verdict not in DECIDED]
    battles = [store.battle(id_) for id_ in undecided if id_ in standing]
    has_frames = {b.video: False for b in battles if b}
    for video in has_frames:
        has_frames[video] = store.frames(video) is not None
    return {b.id for b in battles if b and has_frames[b.video] and _failed_by_a_call(b)}


def _failed_by_a_call(battle: Battle) -> bool:
    return not battle.verdicts or any(one.verdict == "failed" for one in battle.verdicts)


def supersede(store: Store, failed: Collection[str]) -> str:
    """Add a slot in place of each failed one and of all after it; return what was done, told.

    All of them are added or none.
    """
    slots = superseding_slots(failed, existing=store.slots())
    if not slots:
        return "no battle failed for a call; there is nothing to play again"
    store.add_slots(slots)
    later = len(slots) - len(failed)
    after = f", with {counted(later, 'round')} after them," if later else ""
    battles = (
        "battle that failed for a call is"
        if len(failed) == 1
        else "battles that failed for a call are"
    )
    return f"{len(failed)} {battles}{after} played again"
