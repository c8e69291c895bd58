"""Playing again what ended without a verdict because a call had failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from graph.state import base_of
from memory.records import DECIDED, Battle, Slot
from memory.slots import Ids
from memory.store import Store
from runs.quarantine import pardon
from runs.reading import counted
from runs.slots import Lineup, Tally, guests_among, superseding_slots


def failed_slots(store: Store, *, at_hand: Collection[str] = ()) -> set[str]:
    """Return the ids of slots that count and ended void or forfeit since a call had failed.

    Not those where every judge abstained: to play them again would come to the same. And of videos
    that gave no frames those alone whose ids are `at_hand`, to be tried once more.
    """
    superseded = Tally.of(store).superseded
    undecided = [id_ for id_, verdict in store.each_verdict() if verdict not in DECIDED]
    battles = [store.battle(id_) for id_ in undecided if id_ not in superseded]
    has_frames = {b.video: False for b in battles if b}
    for video in has_frames:
        has_frames[video] = video in at_hand or store.frames(video) is not None
    return {b.id for b in battles if b and has_frames[b.video] and _failed_by_a_call(b)}


def _failed_by_a_call(battle: Battle) -> bool:
    return not battle.verdicts or any(one.verdict == "failed" for one in battle.verdicts)


def supersede(store: Store, failed: Collection[str]) -> str:
    """Add a slot in place of each failed one and of all after it; return what was done, told.

    All of them are added or none; videos among them that gave no frames may be tried again.
    """
    existing, settled = store.slots(), store.settled_ids()
    slots = superseding_slots(with_unsettled(failed, existing, settled), existing=existing)
    if not slots:
        return "no battle failed for a call; there is nothing to play again"
    lineup = Lineup(existing)
    # First: with a kill in between, what is played stands, and the next time is as this one.
    pardoned = pardon(store, slots.videos_of(), slots[0].generation)
    store.add_slots(slots)
    played = sum(lineup.current(base_of(id_)) in settled for id_ in slots.ids)
    return _told(len(failed), played - len(failed), videos=len(pardoned))


def with_unsettled(failed: Collection[str], existing: Iterable[Slot], settled: Ids) -> Ids:
    """Return the failed slots, and whatever else of their videos has not been played yet.

    What is played of a video from now on is played in one generation: so its examiner, asked again
    in that one, is heard by none of an earlier one, which a replay plays as it stood then.
    """
    standing = Lineup(existing).slots
    of_guest, has_failed = guests_among(standing), standing.among(failed)
    videos = np.unique(standing.columns.video[has_failed & ~of_guest])
    unsettled = np.isin(standing.columns.video, videos) & ~standing.among(settled) & ~of_guest
    return standing.where(has_failed | unsettled).ids


def _told(failed: int, later: int, *, videos: int) -> str:
    after = f", with {counted(later, 'round')} after them," if later else ""
    are = (
        "battle that failed for a call is" if failed == 1 else "battles that failed for a call are"
    )
    tried = f"; {counted(videos, 'video')} without frames {_is(videos)} tried again"
    return f"{failed} {are}{after} played again{tried if videos else ''}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
