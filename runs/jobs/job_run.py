"""A finished run, opened to ask models about it: only its journal and what a job keeps change."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput, FramesChanged, UnusableVideo
from videoautoarena.memory.records.records import VideoFrames
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.jobs.paid_job import Item, JobOrder, Outcome, PaidJob, settle_caps
from videoautoarena.runs.run.config.agreement import RunTrust, agreed
from videoautoarena.runs.run.config.cast import CastEntry
from videoautoarena.runs.run.config.run_config import RunConfig, refuse_text_read
from videoautoarena.runs.run.rundir.budget import priced
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import videos_folder
from videoautoarena.runs.run.rundir.reader import RunReader, run_file
from videoautoarena.runs.run.rundir.spending import Calls
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders


@dataclass(frozen=True)
class JobRun:
    """A run that models can be asked about."""

    run: RunReader
    config: RunConfig
    """Settings of the run, with the prices that hold now."""
    run_frames: RunFrames
    """Times and digests of the frames of a run's video, and their bytes."""
    decoders: Decoders
    files: Mapping[str, Path]
    """Video id to where it lies now."""
    called: Sequence[str]
    """Names of the models that the job may call."""

    @property
    def store(self) -> Store:
        """The run's file."""
        return self.run.store

    @property
    def parts(self) -> dict[str, Any]:
        """What a job takes of it, by the names of its fields."""
        load = self.run_frames.jpegs
        return {"store": self.store, "config": self.config, "load": load, "job_run": self}

    async def check_frames(self, shown: Iterable[VideoFrames | None]) -> None:
        """Raise BadInput if frames of a video cannot be had: found out later, it costs calls."""
        # One frame a video tells a file that is gone or another one; the others are decoded when
        # they are sent.
        firsts = {one.video: one.frames[0].digest for one in shown if one and one.frames}
        for video, digest in firsts.items():
            try:
                await self.run_frames.jpegs(video, [digest])
            except (UnusableVideo, FramesChanged) as gone:
                raise BadInput(
                    f"the frames of video {video} are not available ({gone}); pass the folder "
                    f"of videos with {option('videos')}"
                ) from None


@dataclass(kw_only=True)
class RunJob(PaidJob[Item, Outcome]):
    """A paid job about a run, whose calls stand in the run's own journal."""

    SHARES_FRAMES = True
    job_run: JobRun


Recast = Callable[[RunConfig], tuple[RunConfig, Sequence[str]]]
"""Takes a run's settings; returns them with the cast of a job, and the names that it may call."""


def as_begun(config: RunConfig) -> tuple[RunConfig, Sequence[str]]:
    """Return a run's settings as they are; nobody may be called."""
    return config, ()


def to_go_on(names: Iterable[str], **added: CastEntry) -> Recast:
    """Return what lets these models of a run be called, with others that are added to its cast.

    ForeignRun where what the run's models were shown is no longer made.
    """

    def recast(config: RunConfig) -> tuple[RunConfig, Sequence[str]]:
        refuse_text_read(config.sampling, f"start another run with a new {option('out')}")
        return config.model_copy(update={"cast": config.cast | added}), list(names)

    return recast


@asynccontextmanager
async def open_job_run(
    out: Path, order: JobOrder, recast: Recast, *, write: bool, looks: bool | None = None
) -> AsyncIterator[JobRun]:
    """Yield a run to be asked about; without `write` what can only be planned and recalled.

    `looks` says whether its videos are looked for; None: as it is written.
    BadInput if there is none, a model cannot be called or a cap cannot be kept; RunLocked if
    another process is at it.
    """
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open(run_file(out), write=write))
        config, names = recast(RunConfig.of_manifest(store.manifest()))
        # What is only planned or recalled calls nobody, so nothing of a run from somebody else has
        # to be agreed to.
        if write:
            config = agreed(config, names, out=out, trust=RunTrust(order.config, order.trust))
        config = priced(config)
        settle_caps(store, config, order.caps, write=write)
        videos = {video.id: video for video in store.videos()}
        decoders = await stack.enter_async_context(Decoders(FrameCache()))
        files = dict[str, Path]()
        if write if looks is None else looks:
            folder = videos_folder(store, order.videos)
            # Videos are looked for in a folder that is given, and else taken to lie where they lay.
            found = find_videos(order.videos).videos if order.videos else videos.values()
            files = {video.id: folder / video.path for video in found} if folder else {}
        run_frames = RunFrames(
            store, decoders if files else None, files=files, sampling=config.sampling, videos=videos
        )
        yield JobRun(RunReader(out, store), config, run_frames, decoders, files, names)


class Known(NamedTuple):
    """What the journal says of scopes that begin alike."""

    generations: Mapping[str, int]
    """Scope to the latest generation in which anything of it was asked."""
    took: Calls
    """Tokens, cost and failures of its calls, over all processes."""


def known_of(store: Store, prefix: str, scopes: Container[str] | None = None) -> Known:
    """Return what the journal says of the scopes with a prefix, or of some of them alone."""
    generations: dict[str, int] = {}
    took = Calls()
    for call in store.journal.each_taken():
        if call.scope.startswith(prefix) and (scopes is None or call.scope in scopes):
            took.add(call)
            generations[call.scope] = max(call.generation, generations.get(call.scope, 0))
    return Known(generations, took)
