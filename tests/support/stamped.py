"""Test clips whose every frame carries its own number, as blocks that survive scaling and JPEG."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import av
import numpy as np
from av.stream import Disposition
from numpy.typing import NDArray
from PIL import Image

COLUMNS, ROWS = 4, 3
"""The grid of blocks: twelve bits, most significant first."""
DARK, BRIGHT = 30, 225
QUARTER_TURN = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)
"""The matrix of a telephone held upright: turn the stored picture clockwise to show it."""


@dataclass(frozen=True)
class Recipe:
    """How a stamped clip is encoded."""

    suffix: str
    codec: str
    options: dict[str, str] = field(default_factory=dict)
    size: tuple[int, int] = (320, 180)
    rate: int = 25
    count: int = 75
    ticks: Sequence[int] | None = None
    """When each frame is shown, in frames of `rate`; every frame after the other if None."""
    pix_fmt: str = "yuv420p"


def x264(gop: int) -> dict[str, str]:
    """Return options for H.264 with B-frames and key frames exactly every `gop` frames."""
    fixed = {"preset": "veryfast", "bf": "2", "sc_threshold": "0", "threads": "1"}
    return {**fixed, "g": str(gop), "keyint_min": str(gop)}


RECIPES = {
    "h264, short groups": Recipe("mp4", "libx264", x264(12)),
    "h264, one group": Recipe("mp4", "libx264", x264(250), count=200),
    "h264 in matroska": Recipe("mkv", "libx264", x264(25)),
    "h264 in mov": Recipe("mov", "libx264", x264(25)),
    "h264 in ts": Recipe("ts", "libx264", x264(12)),
    "h264, open groups": Recipe(
        "mp4", "libx264", {**x264(12), "x264-params": "open-gop=1:b-pyramid=normal"}
    ),
    "hevc": Recipe(
        "mp4", "libx265", {"preset": "ultrafast", "x265-params": "keyint=20:log-level=none:pools=1"}
    ),
    "vp9": Recipe("webm", "libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "g": "20"}),
    "vp8": Recipe("webm", "libvpx", {"deadline": "realtime", "auto-alt-ref": "1", "g": "20"}),
    "vp8, hidden frames": Recipe(
        "webm",
        "libvpx",
        {
            "deadline": "good",
            "cpu-used": "4",
            "auto-alt-ref": "1",
            "lag-in-frames": "16",
            "g": "40",
        },
    ),
    "av1": Recipe(
        "mp4",
        "libsvtav1",
        {"preset": "8", "crf": "8", "g": "30", "svtav1-params": "lp=1"},
        count=60,
    ),
    "mpeg4 in avi": Recipe("avi", "mpeg4", {"g": "25", "bf": "2", "b": "2M"}),
    "mpeg2 in ts": Recipe("ts", "mpeg2video", {"g": "15", "bf": "2", "b": "3M"}),
    "mjpeg in avi": Recipe("avi", "mjpeg", {"q": "4"}, pix_fmt="yuvj420p"),
    "irregular times": Recipe(
        "mp4", "libx264", x264(30), ticks=[*range(0, 60, 2), *range(60, 300, 12), *range(300, 325)]
    ),
    "odd size": Recipe("webm", "libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}, (321, 181)),
    "upright": Recipe("mp4", "libx264", x264(25), size=(180, 320)),
    "larger than asked": Recipe("mp4", "libx264", x264(25), size=(960, 540), count=30),
    "ten bits": Recipe("mp4", "libx264", x264(25), pix_fmt="yuv420p10le"),
    "one frame": Recipe("mp4", "libx264", x264(12), count=1),
    "two seconds": Recipe("mp4", "libx264", x264(12), count=50),
}


def stamp(number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a picture that says its number, of shape (height, width, 3)."""
    width, height = size
    bits = [(number >> bit) & 1 for bit in reversed(range(COLUMNS * ROWS))]
    small = np.array([BRIGHT if bit else DARK for bit in bits], np.uint8).reshape(ROWS, COLUMNS)
    grey = np.asarray(Image.fromarray(small).resize((width, height), Image.Resampling.NEAREST))
    picture = np.repeat(grey[..., None], 3, axis=2)
    # Something that moves, so that the encoder has reason for B-frames.
    picture[:, (number * 5) % (width - 8) :][:, :8] = (120, 90, 160)
    return picture


def read_stamp(jpeg: bytes) -> int:
    """Return the number a picture carries."""
    image = Image.open(BytesIO(jpeg)).convert("L")
    cells = np.asarray(image.resize((COLUMNS * 5, ROWS * 5), Image.Resampling.BOX), np.float64)
    grid = np.median(
        cells.reshape(ROWS, 5, COLUMNS, 5).swapaxes(1, 2).reshape(ROWS, COLUMNS, 25), 2
    )
    return int("".join("1" if light > (DARK + BRIGHT) / 2 else "0" for light in grid.flat), 2)


def encode(path: Path, recipe: Recipe, *, quarter_turn: bool = False) -> Path:
    """Write a stamped clip; with a quarter turn it is stored lying and marked to be set upright."""
    width, height = recipe.size
    with av.open(str(path), "w") as file:
        stream = file.add_stream(recipe.codec, rate=recipe.rate, options=recipe.options)
        stream.width, stream.height = (height, width) if quarter_turn else (width, height)
        stream.pix_fmt = recipe.pix_fmt
        if recipe.ticks:
            stream.codec_context.time_base = Fraction(1, recipe.rate)
        for number, tick in enumerate(recipe.ticks or range(recipe.count)):
            picture = stamp(number, recipe.size)
            if quarter_turn:
                picture = np.ascontiguousarray(np.rot90(picture))
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = tick, Fraction(1, recipe.rate)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    if quarter_turn:
        _set_upright(path)
    return path


def sound(path: Path, *, cover: bool = False) -> Path:
    """Write a second of silence without any video, on request with a picture on its cover."""
    silence = np.zeros((1, 16000), np.float32)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("aac", rate=16000)
        if cover:
            picture = file.add_stream("mjpeg", rate=1)
            picture.width, picture.height, picture.pix_fmt = 64, 64, "yuvj420p"
            picture.disposition = Disposition.attached_pic
            file.mux(picture.encode(av.VideoFrame.from_ndarray(stamp(0, (64, 64)), format="rgb24")))
            file.mux(picture.encode())
        frame = av.AudioFrame.from_ndarray(silence, format="fltp", layout="mono")
        frame.sample_rate = 16000
        file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path


def _set_upright(path: Path) -> None:
    data = bytearray(path.read_bytes())
    start = data.index(b"tkhd") + 4 + 40
    data[start : start + len(QUARTER_TURN)] = QUARTER_TURN
    path.write_bytes(data)
