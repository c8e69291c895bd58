"""A whole run over videos that lie nowhere, played as `arena simulate` plays one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self
from unittest.mock import patch

from benchmarks.canned import Canned, film, pictures
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import Client, Load
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import Frames, Sampling, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.config.arena_file import Pairing
from videoautoarena.runs.config.run_config import Flags, RunConfig, resolve
from videoautoarena.runs.console.events import Listeners, nobody
from videoautoarena.runs.rundir.opener import Opened, begin, go_on
from videoautoarena.runs.rundir.reader import Run, run_file
from videoautoarena.runs.tournament.runner import Finished, Limits, play_run
from videoautoarena.video.folder.find import Findings

MakeClient = Callable[[Model, Load], Client]
CAST = ("hawk", "owl", "mole", "wren")
JPEG = b"\xff\xd8\xff" + bytes(1021)
NOWHERE = "http://127.0.0.1:9/v1"


class NoDecoders:
    """Stands where the decoders stand: every video has the frames that `pictures` makes up."""

    def __init__(self, *_: object) -> None:
        """Take what decoders take."""

    async def frames(self, _path: Path, video: Video, _sampling: Sampling) -> Frames:
        """Return a video's frames."""
        return pictures(video)

    async def jpegs(
        self, _path: Path, _video: Video, *, sampling: Sampling, digests: Sequence[str]
    ) -> list[bytes]:
        """Return as many small files as there are digests."""
        del sampling
        return [JPEG] * len(digests)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close nothing."""


@dataclass(frozen=True)
class Shape:
    """How large a run is, and where its models are said to be."""

    videos: int
    rounds: int
    url: str = NOWHERE
    pairing: Pairing = "mix"

    @property
    def battles(self) -> int:
        """How many slots it has."""
        return self.videos * 3 * self.rounds


def configured(folder: Path, shape: Shape) -> RunConfig:
    """Return the configuration of a run between models that a server of one's own would serve."""
    names = (*CAST, "examiner")
    tables = [
        f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{shape.url}"\nmax_frames = 64\n'
        for name in names
    ]
    file = folder / "arena.toml"
    file.write_text("\n".join(tables), encoding="utf-8")
    flags = Flags(
        models=CAST, examiner="examiner", rounds=shape.rounds, config=file, pairing=shape.pairing
    )
    return resolve(flags).config


def found(shape: Shape) -> Findings:
    """Return the videos as a look through a folder finds them."""
    return Findings(videos=[film(k) for k in range(shape.videos)], skipped=[], duplicates=[])


def begun(folder: Path, shape: Shape) -> Opened:
    """Begin a run in `folder`."""
    config, prompts = configured(folder, shape), PromptSet.load(None)
    return begin(folder / "out", config, prompts=prompts, found=found(shape), folder=folder)


def continued(folder: Path, shape: Shape) -> Opened:
    """Open the run in `folder` to go on with it."""
    out = folder / "out"
    run = Run(out, Store.open(run_file(out), write=True))
    return go_on(run, None, prompts=None, found=found(shape), folder=folder)


async def played(
    run: Opened,
    folder: Path,
    *,
    client: MakeClient = Canned,
    concurrency: int = 32,
    told: Listeners | None = None,
) -> Finished:
    """Play a run to its end."""
    told = told or Listeners(say=lambda _line: None, hear=nobody)
    with (
        patch("videoautoarena.runs.tournament.runner.Asker", partial(Asker, make_client=client)),
        patch("videoautoarena.runs.tournament.runner.Decoders", NoDecoders),
    ):
        return await play_run(run, folder / "out", limits=Limits(concurrency), told=told)


@dataclass
class Took:
    """How long something took, in seconds."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def timed() -> Iterator[Took]:
    """Give what is filled in at the end of the block: wall time, and CPU time of all threads."""
    took, wall, cpu = Took(), time.perf_counter(), time.process_time()
    yield took
    took.wall_s, took.cpu_s = time.perf_counter() - wall, time.process_time() - cpu
