"""Which battles a capped run spends its money on first."""

from __future__ import annotations

from agents.course import Course
from agents.money import summed
from graph.state import base_of, is_guest
from memory.records import Slot
from memory.store import Store
from runs.config import RunConfig
from runs.plan import plan_of
from runs.planning import guests_left, work_left
from runs.schedule import Visit, blocks_of
from runs.slots import Lineup


def course_of(
    config: RunConfig, store: Store, *, in_waves: bool, guests_only: bool = False
) -> Course:
    """Return the battles that are left: video by video as a run takes them, round by round.

    In a run that waits for waves they stand wave by wave instead, so that no battle that is begun
    waits for one behind it. What comes before a video's first question is part of the first battle
    about it. Battles over stored answers come last, or alone: nothing is put by for others then.
    """
    settled = store.settled_ids()
    left = [slot for slot in Lineup(store.slots()).slots if slot.id not in settled]
    left = [slot for slot in left if is_guest(slot.id) or not guests_only]
    plan = plan_of(config, (guests_left if guests_only else work_left)(config, store))
    tokens = sum(line.input_tokens + line.output_tokens for line in plan.lines)
    count = max(1, len(left))
    return Course(
        _places(left, in_waves=in_waves), summed((plan.usd or 0.0) / count, round(tokens / count))
    )


def _places(left: list[Slot], *, in_waves: bool) -> dict[str, int]:
    """Return the places of slots by the scopes of their calls, those of their videos among them."""
    visits = {visit: at for at, visit in enumerate(v for block in blocks_of(left) for v in block)}

    def order(slot: Slot) -> tuple[int, ...]:
        if is_guest(slot.id):
            return 1, slot.ordinal
        if in_waves:
            return 0, slot.generation, slot.block, slot.round, slot.ordinal
        return 0, visits[Visit(slot.video, slot.generation)], slot.ordinal

    places: dict[str, int] = {}
    for place, slot in enumerate(sorted(left, key=order)):
        places.setdefault(slot.video, place)
        places[base_of(slot.id)] = place
    return places
