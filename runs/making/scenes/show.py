"""Remembering one video for whoever looks at it: its calls kept in the cache, and what they gave.

The file of calls is one a video, beside the cache of frames: a second look pays nothing, whatever
the file is called by then.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from videoautoarena.agents.limits.caps import Caps
from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.remember import LOOKS, MOST_SHOWN
from videoautoarena.memory.records.clips import clips_of
from videoautoarena.memory.records.errors import (
    BadInput,
    RunLocked,
    StoreError,
    StoreTooNew,
    UnusableVideo,
)
from videoautoarena.memory.records.records import SCHEMA, Frames, Sampling, Video
from videoautoarena.memory.records.scenes import Clip, Scene, SceneMemory, SceneObject, Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.media.frames import read_one
from videoautoarena.runs.console.progress.events import Listeners, Say, nobody, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.console.progress.listeners import progress
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import Generations, JobPlan
from videoautoarena.runs.making.scenes.bank import Remembering, known_memory, name_of, scene_frames
from videoautoarena.runs.making.scenes.plan import plan_scenes
from videoautoarena.runs.making.tasks.watch import examining
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import (
    NO_CAPS,
    check_caps,
    keep_caps,
    kept_caps,
    merged_caps,
)
from videoautoarena.runs.run.rundir.context import Calling, EarlyEnd, draining_asker
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.video.sampling.cache import FrameCache, default_folder
from videoautoarena.video.workers.decoders import Decoders

_FAILED = "failed"
"""How the name of what is kept begins where it is the scopes of calls that failed for good."""


@dataclass(frozen=True)
class ScenesOrder:
    """Which video is remembered by whom."""

    path: Path
    examiner: str | None = None
    """None for the one of the configuration file, else the stand-in."""
    config: Path | None = None
    concurrency: int = 16
    patience_s: float = PATIENCE_S
    caps: Caps = NO_CAPS
    retry_failed: bool = False
    is_quiet: bool = False


class Pictures(NamedTuple):
    """Frames of one scene that are shown, and their bytes."""

    times: tuple[float, ...]
    """In seconds from the first frame of the video."""
    jpegs: tuple[bytes, ...]


@dataclass(frozen=True)
class Shown:
    """What is remembered of a video, or would be."""

    order: ScenesOrder
    video: Video
    examiner: str
    """`provider:model`."""
    calls: Path
    shots: int
    memory: SceneMemory | None = None
    """None where it is only planned, or ended early."""
    plan: JobPlan | None = None
    pictures: tuple[Pictures, ...] = ()
    """Of each scene those in which objects were found, one at least; only where wanted."""

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
    """As a run keeps it."""
    examiner: str
    """Who wrote captions and named objects, `provider:model`."""
    shots: int
    """Number of stretches between cuts."""
    scenes: Sequence[Scene] | None
    """Of each `number`, `start_s`, `end_s`, `caption`, `theme`, its `shots`, and `frames_s`: times
    of the frames that were looked at for objects; None, as the next three, with `--plan`."""
    objects: Sequence[SceneObject] | None
    """Of each `id` in the order of first appearance, `name`, and `appearances`: `scene`,
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


async def plan_show(order: ScenesOrder) -> Shown:
    """Return what remembering a video would take; calls nobody and keeps nothing of it."""
    async with _ready(order, write=False) as ready:
        return replace(ready.shown(), plan=ready.plan)


async def show(order: ScenesOrder, say: Say, *, pictures: bool) -> tuple[Shown, EarlyEnd]:
    """Return what is remembered of a video, and whether that ended early; then repeat it.

    Raises BadInput where there is no such video, or no frames of it can be had.
    """
    ending = EarlyEnd()
    async with _ready(order, write=True) as ready:
        found = ready.shown()
        memory = await ready.play(ending, say)
        if memory is None:
            return found, ending
        found = replace(found, memory=memory)
        if pictures:
            found = replace(found, pictures=tuple([p async for p in ready.pictures(memory)]))
        return found, ending


@dataclass(frozen=True)
class _Ready:
    """A video that can be remembered, or only planned."""

    order: ScenesOrder
    config: RunConfig
    video: Video
    shots: tuple[Span, ...]
    store: Store | None
    decoders: Decoders

    @cached_property
    def prompts(self) -> PromptSet:
        """What its examiner is asked with."""
        return PromptSet.load(dialogues=True)

    @property
    def examiner(self) -> Model:
        """Who remembers it."""
        return self.config.model_of(self.config.examiner)

    @cached_property
    def plan(self) -> JobPlan:
        """What is left to be called before anything is."""
        store = self.store
        prompts = self.prompts
        if store and known_memory(store, self.video.id, examiner=self.examiner, prompts=prompts):
            return JobPlan((), 1, ())
        return plan_scenes(self.config, self.video.id, self.shots, self.store)

    @property
    def failed(self) -> str:
        """Return the name in the file of calls of the scopes of its examiner's that failed."""
        return f"{_FAILED}-{name_of(self.video.id, self.examiner, self.prompts)}"

    def shown(self) -> Shown:
        """Return it as nothing is remembered yet."""
        model = self.config.cast[self.config.examiner].model
        return Shown(self.order, self.video, model, calls_file(self.video), len(self.shots))

    async def play(self, ending: EarlyEnd, say: Say) -> SceneMemory | None:
        """Return what is remembered; None where that ended early, as is noted."""
        store = self._writable
        order = self.order
        found = list[SceneMemory]()
        frames = self._frames()
        calling = Calling(store, self.config, frames.jpegs)
        listeners = Listeners(say, nobody)
        hear = partial(pass_on, listeners=listeners)
        asker = draining_asker(calling, ending, pace=order, hear=hear)
        generations = Generations(store)
        prompter = Prompter(asker, self.prompts, self.config.seed, generations=generations)
        if self.plan.lines:
            check_keys([self.examiner])
            self._announce(say)
        with progress(say, is_quiet=order.is_quiet) as on_progress:
            remembering = Remembering(prompter, self.examiner, store, frames, on_progress)

            async def work() -> None:
                found.append(await remembering.remember(self.video, self.shots))

            try:
                stopped = await until_done(asker, work(), listeners)
            finally:
                await asker.aclose()
        ending.end(asker, stopped=stopped)
        if not found or stopped:
            return None
        store.put_file(self.failed, json.dumps(sorted(found[0].failures)), replace=True)
        return found[0]

    async def pictures(self, memory: SceneMemory) -> AsyncIterator[Pictures]:
        """Yield the pictures of each scene in turn."""
        run_frames = self._frames()
        for scene in memory.scenes:
            times = {
                one.time_s
                for known in memory.objects
                for one in known.appearances
                if one.scene == scene.number
            }
            wanted = sorted(times) or list(scene.frames_s[:1])
            frames = await run_frames.frames(self.video.id, [(scene.start_s, scene.end_s)])
            digests = [_at(frames, time_s - scene.start_s) for time_s in wanted]
            jpegs = await run_frames.jpegs(frames.video, digests)
            yield Pictures(tuple(wanted), tuple(jpegs))

    def _frames(self) -> RunFrames:
        files = {self.video.id: self.order.path}
        videos = {self.video.id: self.video}
        return scene_frames(self._writable, self.decoders, files=files, videos=videos)

    @property
    def _writable(self) -> Store:
        if self.store is None:
            raise RuntimeError("a video was to be remembered without a file for its calls")
        return self.store

    def _announce(self, say: Say) -> None:
        if self.config.offline:
            say(
                "the offline stand-in watches: it writes of light, colours and motion, and takes "
                "coloured areas for objects"
            )
        for line in self.plan.as_lines():
            say(line)


def calls_file(video: Video) -> Path:
    """Return where the calls about a video lie, or will."""
    return default_folder().parent / "scenes" / f"{video.sha256[:32]}.sqlite"


def _at(frames: Frames, time_s: float) -> str:
    return min(frames.frames, key=lambda one: abs(one.time_s - time_s)).digest


@asynccontextmanager
async def _ready(order: ScenesOrder, *, write: bool) -> AsyncIterator[_Ready]:
    """Yield a video that can be remembered, or planned; BadInput where it cannot be used."""
    config = examining(order.examiner, order.config, seed=0)
    sampling = Sampling(**{**LOOKS.model_dump(), "frames": MOST_SHOWN})
    config = config.model_copy(update={"sampling": sampling})
    video = await asyncio.to_thread(read_one, order.path)
    check_caps(config, order.caps)
    if write and not calls_file(video).is_file():
        # Only what is not refused leaves a trace.
        check_keys([config.model_of(config.examiner)])
    async with Decoders(FrameCache()) as decoders:
        try:
            shots = tuple((a, b) for a, b in await decoders.scenes(order.path, video))
            store = _opened(video, write=write)
            try:
                ready = _Ready(order, config, video, shots, store, decoders)
                if write and store is not None:
                    _prepare(ready, store)
                yield ready
            finally:
                if store is not None:
                    store.close()
        except UnusableVideo as failure:
            raise BadInput(f"{safe(str(order.path))} {failure}") from None


def _opened(video: Video, *, write: bool) -> Store | None:
    file = calls_file(video)
    if file.is_file():
        try:
            return Store.open(file, write=write)
        except (RunLocked, StoreTooNew):
            raise
        except StoreError:
            raise BadInput(
                f"{safe(str(file))} is damaged; remove it, and its calls are made again"
            ) from None
    if not write:
        return None
    return Store.create(file, {"schema": SCHEMA, "version": version("videoautoarena")})


def _prepare(ready: _Ready, store: Store) -> None:
    """Write down what may be spent and, where that is wanted, which calls are made once more."""
    store.add_videos([ready.video])
    caps = merged_caps(kept_caps(store), ready.order.caps)
    check_caps(ready.config, caps)
    keep_caps(store, caps)
    scopes = store.file_as(TypeAdapter(list[str]), ready.failed)
    if ready.order.retry_failed and scopes is not None:
        Generations(store).add(scopes)
        store.put_file(ready.failed, "[]", replace=True)
