"""A finished run, opened to ask models about it: settings, frames, and what its calls cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Container, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.caps import Caps
from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput, FramesChanged, UnusableVideo
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.arena_file import ArenaFile, arena_file
from videoautoarena.runs.run.config.cast import CastEntry
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import check_caps, priced
from videoautoarena.runs.run.rundir.caps import NO_CAPS, keep_caps, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.context import EarlyEnd
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import stored_prompts, videos_folder
from videoautoarena.runs.run.rundir.reader import Run, counted, run_file
from videoautoarena.runs.run.rundir.spending import Calls
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders


@dataclass(frozen=True)
class Asking:
    """How models are asked, as it was typed."""

    config: Path | None = None
    videos: Path | None = None
    """Where the videos are, if they moved."""
    concurrency: int = 16
    patience_s: float = PATIENCE_S
    """How long an endpoint is waited for that cannot be reached."""
    caps: Caps = NO_CAPS
    retry_failed: bool = False
    """Ask again where a call failed."""
    trust: str | None = None
    """The digest of what is agreed to of the run's file."""

    @property
    def file(self) -> ArenaFile:
        """What arena.toml says."""
        return arena_file(self.config)


@dataclass
class Progress(EarlyEnd):
    """How asking went in one process."""

    what: str = "answer"
    """What one piece is called."""
    total: int = 0
    """Pieces that were to be asked for."""
    done: int = 0
    failed: int = 0
    """Of those done, without what was asked for, since a call failed."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why, and how often."""

    def count(self, why_failed: str | None = None) -> None:
        """Count one more that is done; with a reason, one that failed."""
        self.done += 1
        if why_failed is not None:
            self.failed += 1
            self.reasons[why_failed] += 1

    def in_words(self) -> str:
        """Return in a few words how it went."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{counted(self.done, self.what)}{failed}"

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left."""
        return self.done == self.total


@dataclass(frozen=True)
class Ground:
    """A run that models can be asked about; only its journal is written."""

    run: Run
    config: RunConfig
    """With the prices that hold now."""
    run_frames: RunFrames

    @property
    def store(self) -> Store:
        """The run's file."""
        return self.run.store

    def recalling(self, generations: Mapping[str, int]) -> Prompter:
        """Return a prompter that calls nobody: JournalMiss for what the journal lacks."""
        asker = Asker(
            self.store.journal, self.run_frames.jpegs, seed=self.config.seed, is_replay=True
        )
        return self.prompter(asker, generations)

    def prompter(self, asker: Asker, generations: Mapping[str, int]) -> Prompter:
        """Return a prompter whose scopes are at these generations, others at the first."""
        return Prompter(
            asker,
            stored_prompts(self.store),
            self.config.seed,
            generations=lambda scope: range(generations.get(scope, 0) + 1),
        )

    async def check_frames(self, videos: Mapping[str, str]) -> None:
        """Raise BadInput where a video's frames cannot be had: later it costs calls.

        `videos` is id to the digest of one of its frames.
        """
        for video, digest in videos.items():
            try:
                await self.run_frames.jpegs(video, [digest])
            except (UnusableVideo, FramesChanged) as gone:
                raise BadInput(
                    f"the frames of video {video} are not available ({gone}); pass the folder "
                    "of videos with --videos"
                ) from None


@asynccontextmanager
async def opened(
    out: Path, asking: Asking, *, write: bool, embedder: tuple[str, CastEntry] | None = None
) -> AsyncIterator[Ground]:
    """Yield a run to be asked about; without `write` what can only be planned and recalled.

    BadInput where there is none, or a cap cannot be kept; RunLocked where another process is at it.
    """
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open(run_file(out), write=write))
        manifest = store.manifest()
        config = (RunConfig.to_go_on if write else RunConfig.of_manifest)(manifest)
        if embedder is not None:
            name, entry = embedder
            config = config.model_copy(update={"cast": {**config.cast, name: entry}})
        config = priced(config)
        caps = merged_caps(kept_caps(store), asking.caps)
        check_caps(config, caps)
        if write:
            keep_caps(store, caps)
        videos = {video.id: video for video in store.videos()}
        decoders = None
        files = dict[str, Path]()
        if write:
            decoders = await stack.enter_async_context(Decoders(FrameCache()))
            folder = videos_folder(store, asking.videos)
            # With a folder given, where each was found there; else where it should lie.
            found = find_videos(asking.videos).videos if asking.videos else videos.values()
            files = {video.id: folder / video.path for video in found} if folder else {}
        run_frames = RunFrames(
            store, decoders, files=files, sampling=config.sampling, videos=videos
        )
        yield Ground(Run(out, store), config, run_frames)


class Known(NamedTuple):
    """What the journal says of scopes that begin alike."""

    generations: Mapping[str, int]
    """Scope to the latest generation in which anything of it was asked."""
    took: Calls
    """What its calls came to, in all processes."""


def known_of(store: Store, prefix: str, scopes: Container[str] | None = None) -> Known:
    """Return what the journal says of the scopes with a prefix, or of some of them alone."""
    generations: dict[str, int] = {}
    took = Calls()
    for call in store.journal.each_taken():
        if call.scope.startswith(prefix) and (scopes is None or call.scope in scopes):
            took.add(call)
            generations[call.scope] = max(call.generation, generations.get(call.scope, 0))
    return Known(generations, took)


def mean_costs(store: Store) -> dict[tuple[str, str], float | None]:
    """Return what a call of each model in each role cost on average; None where any is unknown."""
    sums: dict[tuple[str, str], Calls] = {}
    for call in store.journal.each_taken():
        sums.setdefault((call.alias, call.role), Calls()).add(call)
    return {
        key: None if of.known_cost is None else of.known_cost / of.calls for key, of in sums.items()
    }
