"""The scenes and objects of a video, remembered once for a file of calls and read from it after.

What is remembered without a failed call is kept whole in that file; else the calls that succeeded
are in its journal, and the next time asks what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.prompts import SCENE_SLOTS, PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.remember import (
    BATCH,
    CANDIDATES,
    LOOKS,
    LOOKS_A_SECOND,
    MOST_OBJECTS,
    MOST_SHOWN,
    WINDOW,
    SceneBuilder,
    remember,
    scope_of,
)
from videoautoarena.memory.records.digests import canonical_json, digest, read_body, write_body
from videoautoarena.memory.records.records import Role, Video
from videoautoarena.memory.records.scenes import SceneMemory, Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.jobs.paid_job import ExpectedCalls
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.tournament.plan import REPAIRED
from videoautoarena.video.workers.decoders import Decoders

MERGED = 0.7
"""Scenes expected for each shot."""
OBJECTS = 4
"""Objects expected in each scene."""
DISTINCT = 0.65
"""Share of the frames of a stretch that are expected to be sharp and distinct."""


def scene_frames(
    store: Store,
    decoders: Decoders | None,
    *,
    files: Mapping[str, Path],
    videos: Mapping[str, Video],
) -> RunFrames:
    """Return the way to frames of stretches as scenes are looked at."""
    return RunFrames(store, decoders, files=files, sampling=LOOKS, videos=videos, preset="scenes")


def load_of(scenes: RunFrames, others: RunFrames) -> Load:
    """Return the way to bytes of frames, be they of scenes as they are looked at or of others."""

    async def load(video: str, digests: Sequence[str]) -> list[bytes]:
        return await (scenes if scenes.has_part(video) else others).jpegs(video, digests)

    return load


def known_memory(
    store: Store, video: str, *, examiner: Model, prompts: PromptSet
) -> SceneMemory | None:
    """Return what is kept of a video by an examiner; None if it is not complete."""
    file = store.file(name_of(video, examiner, prompts))
    return read_body(SceneMemory, file.text) if file else None


def name_of(video: str, examiner: Model, prompts: PromptSet) -> str:
    """Return the name of what is kept: of this video, by this model with these prompts."""
    role: Role = "scene_captioner"
    # Another model, setting or wording remembers other things: each has a memory of its own.
    who = [examiner.resolved, examiner.keyed(role), examiner.frame_limit(role)]
    how = [prompts.contracts, *(prompts.digests[role] for role in SCENE_SLOTS)]
    return f"{scope_of(video)}/{digest(canonical_json([who, how]))[:12]}"


@dataclass(frozen=True)
class Remembering:
    """Remembers videos through a prompter."""

    prompter: Prompter
    examiner: Model
    store: Store
    frames: RunFrames
    """Frames as `scene_frames` gives them; the asker has to load the bytes of their parts there."""
    on_progress: Callable[[int, int, str], None] = lambda _done, _of, _what: None

    async def remember(self, video: Video, shots: Sequence[Span]) -> SceneMemory:
        """Return the scenes and objects of a video between cuts; nothing is asked twice."""
        examiner = self.examiner
        prompts = self.prompter.prompts
        known = known_memory(self.store, video.id, examiner=examiner, prompts=prompts)
        if known is not None:
            return known
        watching = SceneBuilder(
            self.prompter,
            examiner,
            video,
            frames=lambda spans: self.frames.frames(video.id, spans),
            jpegs=self.frames.jpegs,
            on_progress=self.on_progress,
        )
        memory = await remember(watching, shots)
        if not memory.failures:
            self.store.put_file(name_of(video.id, examiner, prompts), write_body(memory))
        return memory


def scene_calls(
    examiner: str, video: str, shots: Sequence[Span], answered: Mapping[tuple[str, str], int]
) -> Iterator[ExpectedCalls]:
    """Yield what remembering a video of these shots takes; `answered` as a job counts it."""
    count = len(shots)
    scenes = ceil(MERGED * count)
    again = min(scenes, count - scenes)
    looks = sum(min(MOST_SHOWN, LOOKS_A_SECOND * (end - start) + 1) for start, end in shots) / count
    # Missing captions part the video into more and shorter stretches, hence the most below.
    windows = ceil((count - 1) / (WINDOW - 1))
    found_in = DISTINCT * min(MOST_SHOWN, looks / MERGED)
    matched = ceil(OBJECTS * (scenes - 1) / BATCH)
    most_matched = ceil(CANDIDATES * MOST_OBJECTS * (count - 1) / BATCH)
    calls: list[tuple[Role, float, int, float]] = [
        ("scene_captioner", count + again, count + count // 2, looks),
        # Twice, since neighbours are merged twice.
        ("scene_merger", 2 * windows, 2 * max(windows, count // 2), 0.0),
        ("object_finder", scenes, count, found_in),
        ("object_matcher", matched, most_matched, 0.0),
    ]
    for role, expected, most, frames in calls:
        known = answered.get((scope_of(video), role), 0)
        yield ExpectedCalls(
            examiner, role, expected * (1 + REPAIRED), most * REPAIR, frames, known, (video,)
        )
