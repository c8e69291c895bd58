"""What a needle in a film costs beside encoding its ground again: `python -m benchmarks.ladder`.

A clip of half a minute, 320 x 180, is repeated for 1, 3, 10 and 60 minutes, and five seconds of a
clip of another size are set in. The film is written, and then the same ground is decoded and
encoded by libav alone, with the same settings, each in a process of its own. The film takes under
three times the CPU seconds of that at any length, and its peak memory does not grow with it.

Clips are made once and stay in `--clips`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av

from benchmarks.canned import keep
from benchmarks.decode import FPS, PIECE_S, encode, whole
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.synth import film
from videoautoarena.video.synth.timeline import Excerpt, FilmPlan, Probe

MOST = 3.0
"""Times the CPU seconds of encoding the ground again."""
MOST_GROWTH_MB = 20.0
"""From the shortest film to the longest: what a muxer notes of 100,000 frames is 8."""
MINUTES = (1.0, 3.0, 10.0, 60.0)
GROUND = (320, 180)
NEEDLE = (480, 360)
NEEDLE_S = 5.0


class Took(NamedTuple):
    """What one of the two took."""

    cpu_s: float
    peak_mb: float
    frames: int


def clip(folder: Path, size: tuple[int, int], *, seed: int) -> Path:
    """Return a clip of half a minute, drawn now unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{size[0]}x{size[1]}.mp4"
    if not path.exists():
        whole(path, lambda to: encode(to, gop=250, seconds=PIECE_S, seed=seed, size=size))
    return path


def times_of(minutes: float) -> list[float]:
    """Return how much of the clip is shown each time, in seconds."""
    full, rest = divmod(60 * minutes, PIECE_S)
    return [float(PIECE_S)] * int(full) + [rest] * (rest > 0)


def set_in(folder: Path, to: Path, minutes: float) -> int:
    """Write the film; return how many frames it has."""
    ground = clip(folder, GROUND, seed=0)
    needle = clip(folder, NEEDLE, seed=1)
    files = {sha256_of(path): path for path in (ground, needle)}
    under, over = files
    before = int(60 * minutes * FPS * 0.4)
    plan = FilmPlan(
        ground=tuple(Excerpt(video=under, seconds=seconds) for seconds in times_of(minutes)),
        probes=(Probe(video=over, start_s=12.3, seconds=NEEDLE_S, before=before),),
    )
    return film.encode(plan, files, to).film.frames


def encoded_again(folder: Path, to: Path, minutes: float) -> int:
    """Write the ground again, as plainly as can be; return how many frames it has."""
    ground = clip(folder, GROUND, seed=0)
    rate = Fraction(FPS)
    number = 0
    with av.open(str(to), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height = GROUND
        stream.pix_fmt = "yuv420p"
        stream.options = film.x264_options(rate)
        stream.codec_context.thread_count = 1
        for seconds in times_of(minutes):
            with av.open(str(ground)) as source:
                source.streams.video[0].codec_context.thread_count = 1
                for frame in source.decode(video=0):
                    if frame.time is None or frame.time >= seconds:
                        break
                    frame.pts = number
                    frame.time_base = 1 / rate
                    frame.pict_type = 0
                    container.mux(stream.encode(frame))
                    number += 1
        container.mux(stream.encode(None))
    return number


WAYS: dict[str, Callable[[Path, Path, float], int]] = {"film": set_in, "again": encoded_again}


def measure(way: str, folder: Path, minutes: float) -> Took:
    """Return what one of the two takes in this process."""
    with tempfile.TemporaryDirectory() as name:
        before = time.process_time()
        frames = WAYS[way](folder, Path(name) / "out.mp4", minutes)
        took_s = time.process_time() - before
    return Took(took_s, peak_mb(), frames)


def peak_mb() -> float:
    """Return how much memory the process has had in use at most; the parent's is not in it."""
    said = Path("/proc/self/status").read_text()
    return int(said.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def apart(way: str, folder: Path, minutes: float) -> Took:
    """Return what one of the two takes in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ladder", "--clips", str(folder)]
    one = [*command, "--one", way, "--minutes", str(minutes)]
    done = subprocess.run(one, capture_output=True, text=True, check=True)
    return Took(*json.loads(done.stdout.splitlines()[-1]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what films of each length take; return 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=Path, default=Path("arena-out/clips-ladder"))
    parser.add_argument("--minutes", type=float, nargs="+", default=MINUTES)
    parser.add_argument("--alone", action="store_true", help="without the ground encoded again")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(options.one, options.clips, options.minutes[0])))
        return 0
    for size, seed in ((GROUND, 0), (NEEDLE, 1)):
        clip(options.clips, size, seed=seed)
    kept = True
    peaks = []
    for minutes in options.minutes:
        made = apart("film", options.clips, minutes)
        peaks.append(made.peak_mb)
        told = f"{minutes:g} min, {made.frames:,} frames: {made.cpu_s:.1f} s of CPU and "
        told += f"{made.peak_mb:.0f} MB"
        if options.alone:
            print(told, flush=True)
            continue
        again = apart("again", options.clips, minutes)
        kept &= keep(
            f"{told}, its ground again {again.cpu_s:.1f} s and "
            f"{again.peak_mb:.0f} MB, {made.cpu_s / again.cpu_s:.2f} of under {MOST:g} x",
            made.cpu_s < MOST * again.cpu_s,
        )
    growth = peaks[-1] - peaks[0]
    said = f"peak memory grows by {growth:.1f} MB, of at most {MOST_GROWTH_MB:g}"
    return 0 if keep(said, growth <= MOST_GROWTH_MB) and kept else 1


if __name__ == "__main__":
    sys.exit(main())
