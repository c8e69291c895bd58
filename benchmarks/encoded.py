"""Clips of 720p for measuring decoders: drawn and encoded once, made long by repeating packets.

What is drawn pans over a textured ground, with things moving across it and fresh noise in every
frame, so that decoding costs what it costs with footage. Repeating the packets of half a minute
with later times makes an hour in seconds, and a decoder cannot tell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

WIDTH, HEIGHT, FPS = 1280, 720, 30
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
        stream.pix_fmt, stream.bit_rate = "yuv420p", 1_700_000
        stream.options = {
            **{"preset": "veryfast", "g": str(gop), "keyint_min": str(gop)},
            **{"sc_threshold": "0"},
        }
        for number, planes in enumerate(drawn(size, round(seconds * FPS), seed)):
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
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
        x, y = int((np.sin(turn) + 1) * width / 2), int((np.cos(turn * 1.3) + 1) * height / 2)
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
