"""Is a frame behind damage ever called sound, and how much damage is never reported?

Twenty clips of four codecs are damaged here: bytes are overwritten, packets are lost. Every frame
is decoded as the arena decodes it, and compared with the same frame of the clip before that: below
30 dB of PSNR anybody sees it. A second, plainer decoding finds behind which packets libav reported
damage. A frame behind it and below 30 dB that is called sound is a mistake; one behind no report is
stated, by codec.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np

from benchmarks.decode import drawn
from videoautoarena.video.decode.av import AvDecoder
from videoautoarena.video.decode.container import Unreadable
from videoautoarena.video.decode.damage import errors_reported, packet_tick

SIZE = (320, 180)
FPS = 25
COUNT = 150
GOP = 30
SEEN_DB = 30.0
PACKET = 188
"""Bytes of a packet of a transport stream."""


class Coding(NamedTuple):
    """How the clips of one codec are encoded."""

    encoder: str
    suffix: str
    options: Mapping[str, str]
    streamed: str = "ts"
    """The container of the clips that lose packets."""


X265 = f"keyint={GOP}:min-keyint={GOP}:scenecut=0:bframes=3:pools=none:frame-threads=1"
STEADY = {"threads": "1", "x264-params": "mbtree=0"}
"""The same bytes every time; with its tree of macroblocks x264 gives others now and then."""
CODINGS = {
    "H.264": Coding("libx264", "mp4", {"preset": "veryfast", "g": str(GOP), **STEADY}),
    "HEVC": Coding("libx265", "mp4", {"preset": "ultrafast", "x265-params": f"{X265}:log-level=0"}),
    "MPEG-2": Coding("mpeg2video", "mpg", {"g": "12", "bf": "2"}),
    "VP9": Coding("libvpx-vp9", "webm", {"deadline": "realtime", "cpu-used": "8", "g": "30"}, ""),
}


class Damage(NamedTuple):
    """What is done to a clip."""

    name: str
    do: Callable[[Path, Path, random.Random], None]
    is_lost: bool = False


class Outcome(NamedTuple):
    """What came of the frames of one clip, or of several: how many there are of each kind."""

    frames: int = 0
    damaged: int = 0
    """Called damaged."""
    below: int = 0
    """Below 30 dB, or not there."""
    silent: int = 0
    """Below 30 dB and not called damaged, with nothing reported before."""
    wrong: int = 0
    """Below 30 dB and not called damaged, though damage was reported before."""

    def __add__(self, other: object) -> Outcome:
        """Return the sums."""
        assert isinstance(other, Outcome)
        return Outcome(*(one + more for one, more in zip(self, other, strict=True)))


def encode(path: Path, coding: Coding, *, count: int = COUNT, seed: int = 0) -> Path:
    """Write a clip of textured ground with things that move."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream(coding.encoder, rate=FPS)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 600_000
        stream.options = dict(coding.options)
        for number, planes in enumerate(drawn(SIZE, count, seed)):
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts = number
            frame.time_base = Fraction(1, FPS)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return path


def overwrite(source: Path, to: Path, rng: random.Random, *, count: int) -> None:
    """Write a copy in which so many bytes in a row are others."""
    data = bytearray(source.read_bytes())
    start = rng.randrange(len(data) // 5, len(data) * 3 // 5)
    data[start : start + count] = rng.randbytes(count)
    to.write_bytes(data)


def lose_stretch(source: Path, to: Path, rng: random.Random, *, count: int) -> None:
    """Write a copy of a transport stream without so many packets in a row."""
    data = source.read_bytes()
    start = rng.randrange(len(data) // 5, len(data) * 3 // 5) // PACKET * PACKET
    to.write_bytes(data[:start] + data[start + count * PACKET :])


def lose_frames(source: Path, to: Path, rng: random.Random, *, count: int) -> None:
    """Write a copy without the packets of so many frames, none of them a key frame."""
    with av.open(str(source)) as old, av.open(str(to), "w") as new:
        stream = old.streams.video[0]
        copy = new.add_stream_from_template(stream)
        packets = [packet for packet in old.demux(stream) if packet.size]
        others = [place for place, packet in enumerate(packets) if not packet.is_keyframe]
        lost = set(rng.sample(others[10:-10], count))
        for place, packet in enumerate(packets):
            if place not in lost:
                packet.stream = copy
                new.mux(packet)


DAMAGES = (
    Damage("20 bytes", partial(overwrite, count=20)),
    Damage("200 bytes", partial(overwrite, count=200)),
    Damage("2000 bytes", partial(overwrite, count=2000)),
    Damage("40 packets lost", partial(lose_stretch, count=40), is_lost=True),
    Damage("3 packets lost", partial(lose_stretch, count=3), is_lost=True),
)
FRAMES_LOST = {
    "40 packets lost": Damage("5 frames lost", partial(lose_frames, count=5), is_lost=True),
    "3 packets lost": Damage("a frame lost", partial(lose_frames, count=1), is_lost=True),
}
"""Instead, in a container that has no packets of its own."""


def looked_at(path: Path) -> tuple[dict[int, bytes], set[int]]:
    """Return the pixels of every frame by tick as the arena decodes it, and which are sound."""
    decoder = AvDecoder()
    index = decoder.index(path)
    catch = decoder.pictures(
        path, index, wanted=index.shown, size=SIZE, develop=lambda image: image.tobytes()
    )
    none = dict.fromkeys(index.shown, b"")
    return {**none, **catch.pictures}, set(catch.exact)


def reported_in(path: Path) -> set[int]:
    """Return the ticks from each packet at which libav reported damage to the next key frame."""
    behind = set[int]()
    is_hurt = False
    fresh = None
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        stream.codec_context.thread_count = 1
        for packet in file.demux(stream):
            before = errors_reported()
            is_torn = packet.is_corrupt
            try:
                is_torn |= any(frame.is_corrupt for frame in stream.codec_context.decode(packet))
            except Unreadable:
                is_torn = True
            is_torn |= errors_reported() != before
            tick = packet_tick(packet)
            if packet.is_keyframe and not is_torn:
                fresh = tick if is_hurt else None
                is_hurt = False
            is_hurt |= is_torn
            if tick is not None and (is_hurt or (fresh is not None and tick < fresh)):
                behind.add(tick)
    return behind


def psnr(one: bytes, other: bytes) -> float:
    """Return how like two pictures are, in dB; nothing is like a picture that is not there."""
    if len(one) != len(other):
        return 0.0
    a, b = (np.frombuffer(data, np.uint8).astype(np.float64) for data in (one, other))
    wrong = float(np.mean((a - b) ** 2))
    return 10 * float(np.log10(255**2 / wrong)) if wrong else 99.0


def outcome(whole: Path, damaged: Path) -> Outcome:
    """Compare a damaged clip with what it was made from."""
    known, _ = looked_at(whole)
    pictures, sound = looked_at(damaged)
    behind = reported_in(damaged)
    below = {tick for tick, data in pictures.items() if psnr(data, known.get(tick, b"")) < SEEN_DB}
    missed = below & sound
    return Outcome(
        frames=len(pictures),
        damaged=len(pictures.keys() - sound),
        below=len(below),
        silent=len(missed - behind),
        wrong=len(missed & behind),
    )


def clips_of(folder: Path, name: str, *, seeds: int) -> list[tuple[str, Path, Path]]:
    """Return what was done, the clip before that and after it, for each clip of one codec."""
    coding = CODINGS[name]
    found = []
    stem = name.replace(".", "")
    stored = encode(folder / f"{stem}.{coding.suffix}", coding)
    streamed = encode(folder / f"{stem}.ts", coding) if coding.streamed else stored
    for damage in DAMAGES:
        for seed in range(seeds):
            what = damage if coding.streamed else FRAMES_LOST.get(damage.name, damage)
            source = streamed if what.is_lost else stored
            to = folder / f"{stem} {what.name} {seed}{source.suffix}"
            what.do(source, to, random.Random(f"{name} {what.name} {seed}"))
            found.append((f"{name}, {what.name}", source, to))
    return found


def undamaged(folder: Path) -> list[str]:
    """Return the clips of which frames were called damaged though nothing was done to them."""
    whole = [path for path in sorted(folder.iterdir()) if " " not in path.name]
    return [path.name for path in whole if len(looked_at(path)[1]) != len(looked_at(path)[0])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what came of each clip and codec; return 1 where a frame was wrongly called sound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="so many clips of each kind")
    parser.add_argument("--codecs", nargs="+", choices=CODINGS, default=list(CODINGS))
    options = parser.parse_args(arguments)
    totals: dict[str, Outcome] = defaultdict(Outcome)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for codec in options.codecs:
            for what, whole, damaged in clips_of(folder, codec, seeds=options.seeds):
                found = outcome(whole, damaged)
                totals[codec] += found
                print(f"{what}: {_summary(found)}", flush=True)
        lost = undamaged(folder)
    for codec, total in totals.items():
        share = total.silent / total.below if total.below else 0.0
        print(f"{codec}: {_summary(total)}; {share:.0%} of those below {SEEN_DB:g} dB unreported")
    print(f"undamaged clips with frames called damaged: {', '.join(lost) or 'none'}")
    return 1 if lost or any(total.wrong for total in totals.values()) else 0


def _summary(found: Outcome) -> str:
    return (
        f"{found.frames} frames, {found.damaged} called damaged, {found.below} below "
        f"{SEEN_DB:g} dB, of these {found.silent} with nothing reported, {found.wrong} wrongly "
        "called sound"
    )


if __name__ == "__main__":
    sys.exit(main())
