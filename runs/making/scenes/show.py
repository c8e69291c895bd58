"""Remembering one video for whoever looks at it: its calls kept in the cache, and what they gave.

The file of calls is one a video, beside the cache of frames: a second look pays nothing, whatever
the file is called by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.remember import LOOKS, MOST_SHOWN
from videoautoarena.memory.records.errors import (
    BadInput,
    RunLocked,
    StoreError,
    StoreTooNew,
    UnusableVideo,
)
from videoautoarena.memory.records.records import SCHEMA, Sampling, Video, VideoFrames
from videoautoarena.memory.records.scenes import (
    Clip,
    Scene,
    SceneMemory,
    SceneObject,
    Span,
    clips_of,
)
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.media.frames import read_one
from videoautoarena.runs.console.progress.listeners import OnProgress, unheard
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    FailedScopes,
    Generations,
    JobAudience,
    JobOrder,
    JobPlan,
    JobTally,
    PaidJob,
    settle_caps,
)
from videoautoarena.runs.making.scenes.bank import (
    Remembering,
    known_memory,
    name_of,
    scene_calls,
    scene_frames,
)
from videoautoarena.runs.making.tasks.watch import examining
from videoautoarena.runs.run.rundir.budget import check_caps
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.tournament.plan import CONCURRENCY
from videoautoarena.video.sampling.cache import FrameCache, default_folder
from videoautoarena.video.workers.decoders import Decoders


@dataclass(frozen=True)
class ScenesOrder(JobOrder):
    """Which video is remembered by whom."""

    path: Path
    examiner: str | None = None
    """None for the one of the configuration file, else the stand-in."""


class ScenePictures(NamedTuple):
    """Frames of one scene that are shown, and their bytes."""

    times: tuple[float, ...]
    """In seconds from the first frame of the video."""
    jpegs: tuple[bytes, ...]


@dataclass(frozen=True)
class SceneReport:
    """What is remembered of a video, or would be."""

    order: ScenesOrder
    video: Video
    examiner: str
    """`provider:model`."""
    calls: Path
    shots: int
    memory: SceneMemory | None = None
    """None if it is only planned, or ended early."""
    plan: JobPlan | None = None
    pictures: tuple[ScenePictures, ...] = ()
    """For each scene the frames in which objects were found, one at least; empty unless wanted."""

    def as_json(self, sheet: Path | None) -> dict[str, Any]:
        """Return it in the shape of `arena scenes --json`."""
        memory = self.memory
        return record_json(
            ShownScenes(
                video=self.video,
                examiner=self.examiner,
                shots=self.shots,
                scenes=memory.scenes if memory else None,
                objects=memory.objects if memory else None,
                clips=clips_of(memory) if memory else None,
                failures=memory.failures if memory else None,
                calls=self.calls,
                plan=self.plan,
                sheet=sheet,
            )
        )


@dataclass(frozen=True)
class ShownScenes:
    """What `arena scenes --json` says; None is what is not remembered yet."""

    video: Video
    """The video, as a run keeps it."""
    examiner: str
    """Who wrote captions and named objects, `provider:model`."""
    shots: int
    """Number of stretches between cuts."""
    scenes: Sequence[Scene] | None
    """Each with `number`, `start_s`, `end_s`, `caption`, `theme`, its `shots`, and `frames_s`:
    times of the frames that were looked at for objects; None, as the next three, with `--plan`."""
    objects: Sequence[SceneObject] | None
    """Each with `id` in the order of first appearance, `name`, and `appearances`: `scene`,
    `description`, `time_s` of the frame it was found in, and `box`: left, top, right and bottom as
    shares of the picture, or None."""
    clips: Sequence[Clip] | None
    """What a dialogue can be about: `id`, `scenes`, `spans`, `why` (`scene`, `object`, `theme`,
    `whole`) and what is `shared`."""
    failures: Mapping[str, str] | None
    """Scope of each call that failed for good, and why."""
    calls: Path
    """File of the examiner's replies."""
    plan: JobPlan | None
    """With `--plan`, else None: calls and costs, as `plan` of `arena tasks make --json`."""
    sheet: Path | None
    """The picture that was written, or None."""


async def plan_show(order: ScenesOrder) -> SceneReport:
    """Return what remembering a video would take; calls nobody and keeps nothing of it."""
    async with _ready(order, write=False) as job:
        return replace(job.shown(), plan=job.plan())


async def show(
    order: ScenesOrder, audience: JobAudience = NOBODY, *, pictures: bool = False
) -> tuple[SceneReport, JobTally]:
    """Return what is remembered of a video, and whether that ended early; then repeat it.

    Raises BadInput if there is no such video, or no frames of it can be had.
    """
    async with _ready(order, write=True) as job:
        if job.memory is None:
            if job.config.offline:
                audience.say(
                    "the offline stand-in watches: it writes of light, colours and motion, and "
                    "takes coloured areas for objects"
                )
            with audience.progress() as on_progress:
                job.on_progress = on_progress
                # Its stages are shown, and not that one video is left.
                await job.run(replace(audience, is_quiet=True))
        found = replace(job.shown(), memory=job.memory)
        if pictures and job.memory is not None:
            found = replace(found, pictures=tuple([p async for p in job.pictures(job.memory)]))
        return found, job.tally


@dataclass(kw_only=True)
class SceneJob(PaidJob[Video, SceneMemory]):
    """Has an examiner remember one video."""

    order: ScenesOrder
    video: Video
    shots: tuple[Span, ...]
    decoders: Decoders
    memory: SceneMemory | None = None
    """None if not all of it is remembered yet."""
    on_progress: OnProgress = unheard

    @property
    def examiner(self) -> Model:
        """Who remembers it."""
        return self.config.model_of(self.config.examiner)

    @property
    def failed(self) -> FailedScopes:
        """The scopes of its examiner's calls about it that failed."""
        name = f"failed-{name_of(self.video.id, self.examiner, self.prompts)}"
        return FailedScopes(self.open_store, name)

    def items(self) -> Sequence[Video]:
        """Return the video, unless it is remembered."""
        return () if self.memory else (self.video,)

    def forecast(self, video: Video) -> Iterable[ExpectedCalls]:
        """Yield what captions, scenes and objects take."""
        return scene_calls(self.config.examiner, video.id, self.shots, self.answered)

    def plan(self) -> JobPlan:
        """Return what is left to be called; shots are looked at side by side."""
        at_once = max(1, min(CONCURRENCY, len(self.shots)))
        return replace(super().plan(), at_once=at_once, known=int(self.memory is not None))

    async def play(self, video: Video, prompter: Prompter) -> SceneMemory:
        """Return the scenes and objects of the video."""
        remembering = Remembering(
            prompter, self.examiner, self.open_store, self.run_frames, self.on_progress
        )
        return await remembering.remember(video, self.shots)

    async def keep(self, _video: Video, outcome: SceneMemory) -> None:
        """Take what is remembered, and note which calls failed."""
        self.memory = outcome
        self.tally.count()
        self.failed.keep(outcome.failures)

    def shown(self) -> SceneReport:
        """Return the video as it is shown before anything is remembered."""
        model = self.config.cast[self.config.examiner].model
        return SceneReport(self.order, self.video, model, calls_file(self.video), len(self.shots))

    async def pictures(self, memory: SceneMemory) -> AsyncIterator[ScenePictures]:
        """Yield the pictures of each scene in turn."""
        for scene in memory.scenes:
            times = {
                one.time_s
                for known in memory.objects
                for one in known.appearances
                if one.scene == scene.number
            }
            # A scene without objects has a picture all the same.
            wanted = sorted(times) or list(scene.frames_s[:1])
            frames = await self.run_frames.frames(self.video.id, [(scene.start_s, scene.end_s)])
            digests = [_at(frames, time_s - scene.start_s) for time_s in wanted]
            jpegs = await self.run_frames.jpegs(frames.video, digests)
            yield ScenePictures(tuple(wanted), tuple(jpegs))

    @cached_property
    def run_frames(self) -> RunFrames:
        """The way to frames as scenes are looked at; it knows the frames that it gave."""
        files = {self.video.id: self.order.path}
        videos = {self.video.id: self.video}
        return scene_frames(self.open_store, self.decoders, files=files, videos=videos)


def calls_file(video: Video) -> Path:
    """Return where the calls about a video lie, or will."""
    return default_folder().parent / "scenes" / f"{video.sha256[:32]}.sqlite"


def _at(frames: VideoFrames, time_s: float) -> str:
    return min(frames.frames, key=lambda one: abs(one.time_s - time_s)).digest


@asynccontextmanager
async def _ready(order: ScenesOrder, *, write: bool) -> AsyncIterator[SceneJob]:
    """Yield a video that can be remembered, or planned; BadInput if it cannot be used."""
    config = examining(order.examiner, order.config, seed=0)
    sampling = Sampling(**{**LOOKS.model_dump(), "frames": MOST_SHOWN})
    config = config.model_copy(update={"sampling": sampling})
    video = await asyncio.to_thread(read_one, order.path)
    check_caps(config, order.caps)
    if write and not calls_file(video).is_file():
        # Checked before the file is made: a refused order leaves no trace.
        check_keys([config.model_of(config.examiner)])
    async with AsyncExitStack() as stack:
        decoders = await stack.enter_async_context(Decoders(FrameCache()))
        try:
            shots = tuple((a, b) for a, b in await decoders.scenes(order.path, video))
            store = _opened(video, write=write)
            if store is not None:
                stack.enter_context(store)
            job = SceneJob(
                store=store,
                config=config,
                prompts=PromptSet.load(dialogues=True),
                order=order,
                video=video,
                shots=shots,
                decoders=decoders,
            )
            if store is not None:
                if write:
                    # Caps, and which calls are made again, are written down before any call.
                    store.add_videos([video])
                    settle_caps(store, config, order.caps, write=True)
                    job.load = job.run_frames.jpegs
                    if order.retry_failed:
                        job.failed.ask_again()
                job.generations = Generations(store)
                job.memory = known_memory(
                    store, video.id, examiner=job.examiner, prompts=job.prompts
                )
            yield job
        except UnusableVideo as failure:
            raise BadInput(f"{safe(str(order.path))} {failure}") from None


def _opened(video: Video, *, write: bool) -> Store | None:
    file = calls_file(video)
    if file.is_file():
        try:
            return Store.open(file, write=write)
        # Both say themselves what to do; nothing is damaged.
        except (RunLocked, StoreTooNew):
            raise
        except StoreError:
            raise BadInput(
                f"{safe(str(file))} is damaged; remove it, and its calls are made again"
            ) from None
    if not write:
        return None
    return Store.create(file, {"schema": SCHEMA, "version": version("videoautoarena")})
