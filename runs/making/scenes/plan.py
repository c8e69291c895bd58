"""What remembering a video takes in calls, before any of them is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from videoautoarena.agents.roles.objects import BATCH, CANDIDATES, MOST_OBJECTS
from videoautoarena.agents.roles.remember import LOOKS_A_SECOND, MOST_SHOWN, WINDOW, scope_of
from videoautoarena.memory.records.records import Role
from videoautoarena.memory.records.scenes import Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.jobs.paid_job import JobPlan
from videoautoarena.runs.run.config.disclosure import REPAIR, judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.tournament.plan import (
    CONCURRENCY,
    REPAIRED,
    SAMPLE,
    Line,
    estimated,
    measured,
)

MERGED = 0.7
"""Scenes that are expected of a shot."""
OBJECTS = 4
"""Objects that are expected of a scene."""
DISTINCT = 0.65
"""Share of the frames of a stretch that are expected to be sharp and distinct."""


class _Calls(NamedTuple):
    role: Role
    expected: float
    most: int
    frames: float = 0.0
    """That a call is expected to carry."""


def plan_scenes(
    config: RunConfig, video: str, shots: Sequence[Span], store: Store | None
) -> JobPlan:
    """Return what a video of these shots will take beyond what the journal has of it."""
    made = _made(video, store)
    seen = measured(store.journal.latest(SAMPLE) if store else [])
    lines = [
        estimated(
            config,
            Line(
                config.examiner,
                calls.role,
                max(calls.expected * (1 + REPAIRED) - made[calls.role], 0.0),
                max(calls.most * REPAIR - made[calls.role], 0),
            ),
            seen,
            frames=calls.frames,
        )
        for calls in _calls(shots)
    ]
    most = {config.examiner: sum(line.most_calls for line in lines)}
    notices = tuple(judges_notice(config, most, videos=1))
    return JobPlan(tuple(lines), 0, notices, max(1, min(CONCURRENCY, len(shots))))


def _calls(spans: Sequence[Span]) -> Iterator[_Calls]:
    shots = len(spans)
    scenes = ceil(MERGED * len(spans))
    again = min(scenes, shots - scenes)
    looks = sum(min(MOST_SHOWN, LOOKS_A_SECOND * (end - start) + 1) for start, end in spans) / shots
    yield _Calls("scene_captioner", shots + again, shots + shots // 2, looks)
    # Where captions are missing, stretches of them that hang together are shorter and more.
    windows = ceil((shots - 1) / (WINDOW - 1))
    yield _Calls("scene_merger", 2 * windows, 2 * max(windows, shots // 2))
    yield _Calls("object_finder", scenes, shots, DISTINCT * min(MOST_SHOWN, looks / MERGED))
    yield _Calls(
        "object_matcher",
        ceil(OBJECTS * (scenes - 1) / BATCH),
        ceil(CANDIDATES * MOST_OBJECTS * (shots - 1) / BATCH),
    )


def _made(video: str, store: Store | None) -> Counter[str]:
    """Return the calls about a video that the journal has, by role."""
    found = Counter[str]()
    for scope, _, role in store.journal.each_answered() if store else ():
        if scope.partition(":")[0] == scope_of(video):
            found[role] += 1
    return found
