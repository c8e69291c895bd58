"""Whether decoding and calls go on side by side: `python -m benchmarks.overlap`.

Thirty videos of a minute, 720p, 3 rounds, 0.2 s a call and 32 calls in flight, on two cores or
however many there are. Each turn plays the run from an empty cache, then from the full one, which
is calls alone, and then decodes the videos into an empty cache and does nothing else. The run from
an empty cache takes at most 1.10 times as long as the longer of the others, by the median of the
turns. All three begin by finding and hashing the videos; its time is printed beside them, as is the
longest that the event loop stood still. Every call takes its frames' bytes from the cache, as a
call over HTTP does, and puts them into base64; what it does with them after that is nothing.

Clips are made once and stay in `--clips`, 0.4 GB. They show the same and differ in their bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.canned import UNHEARD, Shape, answered_by, check_whole, configured, keep, no_bytes
from benchmarks.decode import HALF_MINUTE, made, repeat, whole
from benchmarks.latency import CALL_S, PLACES, ROUNDS, Slow
from videoautoarena.agents.calls.clients import Load, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.transport.splice import FrameBytes
from videoautoarena.memory.records.records import Sampling
from videoautoarena.runs.api.simulate import play_run
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.rundir.opener import begin
from videoautoarena.runs.tournament.runner import Finished, Limits, RunSession
from videoautoarena.video.folder.find import Findings, find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

BOUND = 1.10
VIDEOS = 30
TURNS = 3


def clips(folder: Path, videos: int) -> Path:
    """Return a folder of so many minutes that differ in their bytes, made now unless there."""
    piece = made(folder.with_name("clips-720p"), HALF_MINUTE)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(videos):
        path = folder / f"{number:02}.mp4"
        if not path.exists():
            whole(path, partial(repeat, piece, times=2, title=f"minute {number}"))
    return folder


class Looker(Slow):
    """Takes the bytes of the frames it is shown before it replies."""

    def __init__(self, model: Model, frames: FrameBytes) -> None:
        """Share frames with the others of a frames."""
        super().__init__(model, no_bytes, call_s=CALL_S)
        self._frames = frames

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Reply after a while."""
        if sending.frames is not None:
            digests = [frame.digest for frame in sending.frames.frames]
            await self._frames.images(sending.frames.video, digests)
        return await super().send(sending)


class Lookers:
    """Makes clients that share one frames, as a run's do."""

    def __init__(self) -> None:
        self._frames: FrameBytes | None = None

    def __call__(self, model: Model, load: Load) -> Looker:
        """Return a client."""
        self._frames = self._frames or FrameBytes(load)
        return Looker(model, self._frames)


async def longest_stop() -> float:
    """Return, once it is cancelled, for how many seconds the event loop stood still at most."""
    longest = 0.0
    tick = 0.005
    while True:
        before = time.perf_counter()
        try:
            await asyncio.sleep(tick)
        except asyncio.CancelledError:
            return longest
        longest = max(longest, time.perf_counter() - before - tick)


class Took(NamedTuple):
    """How long one of the three took, in seconds."""

    wall_s: float
    finding_s: float
    """Of finding the videos, before it."""
    cpu_s: float
    """Of this process alone, without its workers."""
    stop_s: float
    """For how long the event loop stood still at most."""


def play(videos: Path, found: Findings) -> float:
    """Play the run, decoding what the cache does not hold; return the loop's longest stop."""
    import videoautoarena.graph.tournament  # noqa: F401

    shape = Shape(len(found.videos), ROUNDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = configured(folder, shape)
        prompts = PromptSet.load(None)
        run = begin(folder / "out", config, prompts=prompts, found=found, folder=videos)
        limits = Limits(PLACES)

        async def whole() -> tuple[Finished, float]:
            watch = asyncio.create_task(longest_stop())
            done = await play_run(RunSession(run, folder / "out", limits=limits, listeners=UNHEARD))
            watch.cancel()
            return done, await watch

        with answered_by(Lookers()):
            done, stop_s = run_async(whole())
    check_whole(done, shape.battles)
    return stop_s


def decode(videos: Path, found: Findings) -> float:
    """Bring the frames of all videos into the cache."""

    async def all_of_them() -> None:
        async with Decoders(FrameCache()) as decoders:
            wanted = (decoders.frames(videos / v.path, v, Sampling()) for v in found.videos)
            await asyncio.gather(*wanted)

    run_async(all_of_them())
    return 0.0


def timed(what: str, videos: Path) -> Took:
    """Do one of the two in this process, once its modules are there."""
    import videoautoarena.graph.tournament  # noqa: F401

    start = time.perf_counter()
    found = find_videos(videos)
    middle = time.perf_counter()
    cpu = time.process_time()
    stop_s = (play if what == "run" else decode)(videos, found)
    end = time.perf_counter()
    return Took(end - middle, middle - start, time.process_time() - cpu, stop_s)


def apart(what: str, videos: Path, cache: Path) -> Took:
    """Do it in a process of its own, with a cache."""
    command = [sys.executable, "-m", "benchmarks.overlap", "--one", what, "--clips", str(videos)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Took(*json.loads(done.stdout.splitlines()[-1]))


def turn(videos: Path) -> tuple[Took, Took, Took]:
    """Return how long the run took, calls alone and decoding alone."""
    with tempfile.TemporaryDirectory() as used, tempfile.TemporaryDirectory() as other:
        both = apart("run", videos, Path(used))
        calls = apart("run", videos, Path(used))
        return both, calls, apart("decode", videos, Path(other))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how long the three take; return 1 where they do not go on side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=Path, default=Path("arena-out/clips-minutes"))
    parser.add_argument("--videos", type=int, default=VIDEOS, help="how many")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--one", choices=("run", "decode"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(timed(options.one, options.clips)))
        return 0
    videos = clips(options.clips, options.videos)
    ratios = []
    for _ in range(options.turns):
        both, calls, decoding = turn(videos)
        ratios.append(both.wall_s / max(calls.wall_s, decoding.wall_s))
        print(
            f"together {both.wall_s:.1f} s, calls alone {calls.wall_s:.1f} s, decoding alone "
            f"{decoding.wall_s:.1f} s: {ratios[-1]:.3f}; finding {both.finding_s:.1f} s before; "
            f"CPU of the run's own process {both.cpu_s:.1f} s, loop still for "
            f"{1000 * both.stop_s:.0f} ms at most",
            flush=True,
        )
    ratio = median(ratios)
    return 0 if keep(f"{ratio:.3f} of at most {BOUND:.2f}", ratio <= BOUND) else 1


if __name__ == "__main__":
    sys.exit(main())
