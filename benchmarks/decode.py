"""What 128 JPEGs of a video cost, against decord and a full decode: `python -m benchmarks.decode`.

Four clips of 720p, and any of your own with `--videos DIR`, go through each way in turn, as often
as asked, each time in a process of its own. What counts are the CPU seconds of the call alone, of
all its threads, imports left out. Medians are held to the bounds:

- `arena`: what a run does with a video it has not seen, from the file to 128 JPEGs;
- `decord`: the same frames by number from `get_batch`, scaled when the file is opened, and Pillow;
- `full`: every frame decoded by libav with its own threads and nothing done with it, as
  `ffmpeg -f null` does; once a clip, printed and not held to;
- `warm`: the same frames from the cache, every byte of them checked.

Clips are made once and stay in `--clips`, 0.9 GB with the hour's. decord is the extra of that name,
and whatever it cannot read is named and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import NamedTuple

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videoautoarena.memory.records.records import Sampling

WIDTH = 1280
HEIGHT = 720
FPS = 30
PIECE_S = 30
"""How long the encoded piece is that longer clips repeat."""
EDITION = "2"
"""Goes up whenever other clips are drawn."""
NOISES = 16

Plane = NDArray[np.uint8]


class Clip(NamedTuple):
    """One clip to measure with."""

    name: str
    gop: int
    """Frames from one key frame to the next."""
    repeats: int
    """How often the piece is shown."""

    @property
    def seconds(self) -> int:
        """How long it lasts."""
        return PIECE_S * self.repeats


HALF_MINUTE = Clip("30 s, GOP 250", 250, 1)
FIVE_MINUTES = Clip("5 min, GOP 250", 250, 10)
SHORT_GROUPS = Clip("5 min, GOP 12", 12, 10)
HOUR = Clip("60 min, GOP 250", 250, 120)
CLIPS = (HALF_MINUTE, FIVE_MINUTES, SHORT_GROUPS, HOUR)


def made(folder: Path, clip: Clip) -> Path:
    """Return where a clip lies, made now unless an earlier run left it there whole."""
    folder.mkdir(parents=True, exist_ok=True)
    piece = folder / f"piece-{EDITION}-{clip.gop}.mp4"
    if not piece.exists():
        whole(piece, lambda to: encode(to, gop=clip.gop, seconds=PIECE_S))
    if clip.repeats == 1:
        return piece
    path = folder / f"piece-{EDITION}-{clip.gop}-{clip.repeats}.mp4"
    if not path.exists():
        whole(path, lambda to: repeat(piece, to, times=clip.repeats))
    return path


def whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file under another name and give it its own when it is whole."""
    part = path.with_name(f"part-{os.getpid()}-{path.name}")
    write(part)
    part.replace(path)


def encode(
    path: Path, *, gop: int, seconds: float, seed: int = 0, size: tuple[int, int] = (WIDTH, HEIGHT)
) -> None:
    """Write H.264 as x264 does by itself, but for its haste and how long groups are."""
    with av.open(path, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 1_700_000
        groups = {"g": str(gop), "keyint_min": str(gop), "sc_threshold": "0"}
        stream.options = {"preset": "veryfast", **groups}
        for number, planes in enumerate(drawn(size, round(seconds * FPS), seed)):
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts = number
            frame.time_base = Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def repeat(piece: Path, path: Path, *, times: int, title: str = "") -> None:
    """Write a piece's packets several times, one showing after the other."""
    with av.open(piece) as source, av.open(path, "w", format="mp4") as container:
        container.metadata["title"] = title
        inside = source.streams.video[0]
        stream = container.add_stream_from_template(inside)
        if inside.time_base is None:
            raise RuntimeError(f"{piece} has no clock")
        length = round(inside.frames / FPS / inside.time_base)
        for time in range(times):
            source.seek(0)
            for packet in source.demux(inside):
                if packet.pts is not None and packet.dts is not None:
                    packet.pts += time * length
                    packet.dts += time * length
                    packet.stream = stream
                    container.mux(packet)


def drawn(size: tuple[int, int], frames: int, seed: int) -> Iterator[Plane]:
    """Yield frames as YUV 4:2:0 planes behind one another, of shape (height * 3 / 2, width)."""
    rng = np.random.default_rng(seed)
    width, height = size
    ground = _ground(rng, (2 * width, 2 * height))
    chroma = _ground(rng, (width, height))
    noises = rng.integers(-5, 6, (NOISES, height, width), np.int8).view(np.uint8)
    things = rng.uniform(0.0, 1.0, (6, 5))
    for number in range(frames):
        turn = 2 * np.pi * number / FPS / 20
        x = int((np.sin(turn) + 1) * width / 2)
        y = int((np.cos(turn * 1.3) + 1) * height / 2)
        luma = ground[y : y + height, x : x + width].copy()
        for at_x, at_y, across, down, grey in things:
            side = height // 6
            left = int(_bounced(at_x + (across - 0.5) * number / 90) * (width - side))
            top = int(_bounced(at_y + (down - 0.5) * number / 90) * (height - side))
            luma[top : top + side, left : left + side] = 30 + int(190 * grey)
        # Nothing drawn is within five of either end, so that noise never wraps round.
        luma += noises[number % NOISES]
        colours = chroma[y // 2 : y // 2 + height // 2, x // 2 : x // 2 + width // 2] // 2 + 64
        yield np.concatenate(
            [luma.reshape(-1), colours.reshape(-1), 255 - colours.reshape(-1)]
        ).reshape(height * 3 // 2, width)


def _bounced(place: float) -> float:
    return abs((place + 1) % 2 - 1)


def _ground(rng: np.random.Generator, size: tuple[int, int]) -> Plane:
    """Return a texture with large and small features, between 20 and 235."""
    width, height = size
    total = np.zeros((height, width), np.float32)
    for cell, weight in ((160, 0.5), (32, 0.3), (6, 0.2)):
        coarse = rng.integers(0, 256, (height // cell + 2, width // cell + 2), np.uint8)
        fine = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        total += weight * np.asarray(fine, np.float32)
    return np.clip(total, 20, 235).astype(np.uint8)


FRAMES = 128
SIDE = 512
QUALITY = 85
NEVER_ABOVE = 1.15
"""Times decord's CPU seconds, on any clip."""
CHEAPER = {HALF_MINUTE.name: 1.4, HOUR.name: 1.4, FIVE_MINUTES.name: 1.15, SHORT_GROUPS.name: 2.5}
WARM = 50.0
"""Times cheaper than the first look is one at what the cache holds."""
TURNS = 3


def _arena(path: Path) -> Callable[[], object]:
    from videoautoarena.video.sampling.policies import sample

    return lambda: sample(path, sampling=Sampling(frames=FRAMES, size_px=SIDE, quality=QUALITY))


def _decord(path: Path) -> Callable[[], object]:
    import decord

    from videoautoarena.video.decode.av import probe
    from videoautoarena.video.decode.jpeg import fitted_size

    shape = probe(path)
    width, height = fitted_size((shape.width_px, shape.height_px), Sampling(size_px=SIDE))

    def look() -> list[bytes]:
        reader = decord.VideoReader(str(path), ctx=decord.cpu(0), width=width, height=height)
        wanted = np.linspace(0, len(reader) - 1, FRAMES).round().astype(int)
        jpegs = []
        for picture in reader.get_batch(list(wanted)).asnumpy():
            out = BytesIO()
            Image.fromarray(picture).save(out, "JPEG", quality=QUALITY)
            jpegs.append(out.getvalue())
        return jpegs

    return look


def _full(path: Path) -> Callable[[], object]:
    def look() -> int:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            return sum(1 for _ in container.decode(stream))

    return look


def _warm(path: Path) -> Callable[[], object]:
    from videoautoarena.video.decode.container import sha256_of
    from videoautoarena.video.sampling.cache import FrameCache
    from videoautoarena.video.sampling.policies import sample

    sampling = Sampling(frames=FRAMES, size_px=SIDE, quality=QUALITY)
    cache = FrameCache(Path(os.environ["BENCH_CACHE"]))
    sha256 = sha256_of(path)
    if cache.get(sha256, sampling) is None:
        cache.put(sha256, sampling, sample(path, sampling=sampling))

    def look() -> list[bytes]:
        frames = cache.get(sha256, sampling)
        if frames is None:
            raise RuntimeError(f"the cache has lost {path}")
        return cache.jpegs(sha256, sampling, [frame.digest for frame in frames.frames])

    return look


READY: dict[str, Callable[[Path], Callable[[], object]]] = {
    "arena": _arena,
    "decord": _decord,
    "full": _full,
    "warm": _warm,
}


def measure(way: str, path: Path) -> float:
    """Return the CPU seconds of one look at a video, once everything is imported."""
    look = READY[way](path)
    before = time.process_time()
    look()
    return time.process_time() - before


def measured(way: str, path: Path, cache: Path) -> float | None:
    """Return what `measure` does in a process of its own; None where this way cannot read it."""
    command = [sys.executable, "-m", "benchmarks.decode", "--one", way, str(path)]
    environment = {**os.environ, "BENCH_CACHE": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it died"])[-1]
        print(f"  {way} failed on {path.name!a}: {last!a}", file=sys.stderr)
        return None
    return float(json.loads(done.stdout.splitlines()[-1]))


def compare(path: Path, *, turns: int, cache: Path) -> dict[str, list[float]]:
    """Return the CPU seconds of each way, one way after the other in every turn."""
    took: dict[str, list[float]] = defaultdict(list)
    for turn in range(turns):
        for way in (way for way in READY if way != "full" or not turn):
            seconds = measured(way, path, cache)
            if seconds is not None:
                took[way].append(seconds)
    return took


def verdicts(name: str, took: dict[str, list[float]]) -> list[tuple[bool, str]]:
    """Return what was promised of a clip, each with whether it holds."""
    mid = {way: median(seconds) for way, seconds in took.items()}
    each = [f"{way} {mid[way]:.3g} ({min(took[way]):.3g}-{max(took[way]):.3g})" for way in mid]
    found = [(True, f"{name}: CPU s {', '.join(each)}")]
    if "decord" in mid:
        ratio = mid["decord"] / mid["arena"]
        bound = CHEAPER.get(name, 1 / NEVER_ABOVE)
        found.append((ratio >= bound, f"  {ratio:.2f} x cheaper than decord, at least {bound:.2f}"))
    if "full" in mid:
        found.append((True, f"  {mid['full'] / mid['arena']:.2f} x cheaper than a full decode"))
    ratio = mid["arena"] / max(mid["warm"], 1e-9)
    found.append((ratio >= WARM, f"  warm {ratio:.0f} x cheaper than cold, at least {WARM:.0f}"))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each way costs; return 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=Path, default=Path("arena-out/clips-720p"))
    parser.add_argument("--videos", type=Path, help="a folder of clips of your own, too")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--only", help="of the four clips, those whose name holds this")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        way, path = options.one
        print(json.dumps(measure(way, Path(path))))
        return 0
    clips = [(c.name, made(options.clips, c)) for c in CLIPS if (options.only or "") in c.name]
    if options.videos:
        clips += [(path.name, path) for path in sorted(options.videos.iterdir()) if path.is_file()]
    kept = True
    with tempfile.TemporaryDirectory() as cache:
        for name, path in clips:
            took = compare(path, turns=options.turns, cache=Path(cache))
            for holds, line in verdicts(name, took):
                print(line if holds else f"{line}: NOT kept", flush=True)
                kept &= holds
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
