"""Which battles a capped run spends its money on first."""

from __future__ import annotations

from agents.course import Course
from agents.money import summed
from graph.state import base_of
from memory.records import Slot
from memory.store import Store
from runs.config import RunConfig
from runs.plan import plan_of
from runs.planning import work_left
from runs.schedule import blocks_of
from runs.slots import Lineup


def course_of(config: RunConfig, store: Store) -> Course:
    """Return the battles that are left: video by video as a run takes them, round by round.

    What comes before a video's first question is part of the first battle about it.
    """
    settled = store.settled_ids()
    left = [slot for slot in Lineup(store.slots()).slots if slot.id not in settled]
    plan = plan_of(config, work_left(config, store))
    tokens = sum(line.input_tokens + line.output_tokens for line in plan.lines)
    count = max(1, len(left))
    return Course(_places(left), summed((plan.usd or 0.0) / count, round(tokens / count)))


def _places(left: list[Slot]) -> dict[str, int]:
    """Return the places of slots by the scopes of their calls, those of their videos among them."""
    videos = {video: at for at, video in enumerate(v for block in blocks_of(left) for v in block)}
    places: dict[str, int] = {}
    in_order = sorted(left, key=lambda slot: (videos[slot.video], slot.ordinal))
    for place, slot in enumerate(in_order):
        places.setdefault(slot.video, place)
        places[base_of(slot.id)] = place
    return places
