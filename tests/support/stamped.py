"""Test clips whose every frame carries its own number, as blocks that survive scaling and JPEG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from io import BytesIO
from pathlib import Path

import av
import numpy as np
from av.container import OutputContainer
from av.packet import Packet
from av.stream import Disposition
from av.video.stream import VideoStream
from numpy.typing import NDArray
from PIL import Image

from tests.support.packed import pack

BITS, COLUMNS, ROWS = 16, 8, 5
"""Two rows of blocks are the number, most significant bit first, two more check it, the last moves.
"""
CHECK = np.unpackbits(np.frombuffer(b"\xb1\x47", np.uint8))
"""What the number is crossed with to check it. Without symmetry: a code that is turned or mirrored
does not pass for another."""
DARK = 30
BRIGHT = 225
UNREADABLE = -1


@dataclass(frozen=True)
class Recipe:
    """How a stamped clip is encoded."""

    suffix: str
    codec: str
    options: dict[str, str] = field(default_factory=dict)
    size: tuple[int, int] = (320, 180)
    """As it is shown; a clip that is turned is stored lying."""
    rate: int = 25
    count: int = 75
    ticks: Sequence[int] | None = None
    """When each frame is shown, in frames of `rate`; every frame after the other if None."""
    pix_fmt: str = "yuv420p"
    turn: int = 0
    """By how many degrees, a multiple of 90, a player turns the stored picture to the left."""
    aspect: Fraction | None = None
    """Width of a pixel by its height; the stored picture is narrower by it than `size`."""
    tags: dict[str, int] = field(default_factory=dict)
    """Attributes of the codec's context: colour primaries, transfer, matrix, range."""
    start: int = 0
    """When the first frame is shown, in frames of `rate`."""
    cut: int = 0
    """So many frames at the start are in the file, but an edit list leaves them out."""
    hidden: tuple[int, ...] = ()
    """Frames of VP8 that others refer to, but that are never shown."""
    is_packed: bool = False
    """Packets of MPEG-4 hold two frames, as DivX wrote them."""
    muxing: dict[str, str] = field(default_factory=dict)
    """Options of the container."""

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The frames that are to be seen."""
        every = range(len(self.ticks or range(self.count)))
        return tuple(number for number in every[self.cut :] if number not in self.hidden)

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """When each frame that is to be seen is shown, in frames of `rate` from the first."""
        ticks = [(self.ticks or range(self.count))[number] for number in self.numbers]
        return tuple(tick - ticks[0] for tick in ticks)

    @property
    def stored_size(self) -> tuple[int, int]:
        """Width and height of the picture in the file."""
        width, height = self.size[::-1] if self.turn % 180 else self.size
        return round(width / (self.aspect or 1)), height


def x264(gop: int) -> dict[str, str]:
    """Return options for H.264 with B-frames and key frames exactly every `gop` frames."""
    fixed = {"preset": "veryfast", "bf": "2", "sc_threshold": "0", "threads": "1"}
    return {**fixed, "g": str(gop), "keyint_min": str(gop)}


RECIPES = {
    "h264, short groups": Recipe("mp4", "libx264", x264(12)),
    "h264 in matroska": Recipe("mkv", "libx264", x264(25)),
    "h264 in ts": Recipe("ts", "libx264", x264(12)),
    "vp9": Recipe("webm", "libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "g": "20"}),
    "mpeg4 in avi": Recipe("avi", "mpeg4", {"g": "25", "bf": "2", "b": "2M"}),
    "mpeg2 in ts": Recipe("ts", "mpeg2video", {"g": "15", "bf": "2", "b": "3M"}),
    "odd size": Recipe("webm", "libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}, (321, 181)),
    "upright": Recipe("mp4", "libx264", x264(25), size=(180, 320)),
    "larger than asked": Recipe("mp4", "libx264", x264(25), size=(960, 540), count=10),
    "one frame": Recipe("mp4", "libx264", x264(12), count=1),
    "two seconds": Recipe("mp4", "libx264", x264(12), count=50),
}
"""Clips for tests of what is done with frames; `tests.support.coded` has those that put decoders to
the test."""


def stamp(number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a picture that says its number, of shape (height, width, 3)."""
    width, height = size
    bits = np.array([(number >> bit) & 1 for bit in reversed(range(BITS))], np.uint8)
    # A strip that moves gives the encoder reason for B-frames.
    moving = (np.arange(COLUMNS) + number) // 2 % 2
    cells = np.concatenate([bits, bits ^ CHECK, moving]).reshape(ROWS, COLUMNS)
    small = np.where(cells, BRIGHT, DARK).astype(np.uint8)
    grey = np.asarray(Image.fromarray(small).resize((width, height), Image.Resampling.NEAREST))
    return np.repeat(grey[..., None], 3, axis=2)


def read_stamp(jpeg: bytes) -> int:
    """Return the number a picture carries, `UNREADABLE` where it is blurred, mixed or turned."""
    image = Image.open(BytesIO(jpeg)).convert("L")
    cells = np.asarray(image.resize((COLUMNS * 5, ROWS * 5), Image.Resampling.BOX), np.float64)
    blocks = cells.reshape(ROWS, 5, COLUMNS, 5).swapaxes(1, 2).reshape(ROWS * COLUMNS, 25)
    lights = np.median(blocks, 1)[: 2 * BITS]
    place = (lights - lights.min()) / max(1.0, np.ptp(lights))
    bits = (place > 0.5).astype(np.uint8)
    if np.any(np.abs(place - 0.5) < 0.2) or np.any(bits[:BITS] ^ CHECK != bits[BITS:]):
        return UNREADABLE
    return int("".join(map(str, bits[:BITS])), 2)


def encode(path: Path, recipe: Recipe, *, quarter_turn: bool = False) -> Path:
    """Write a stamped clip; with a quarter turn it is stored lying and marked to be set upright."""
    if quarter_turn:
        recipe = replace(recipe, turn=270)
    with av.open(str(path), "w", options=recipe.muxing) as file:
        stream = _stream(file, recipe)
        for number, tick in enumerate(recipe.ticks or range(recipe.count)):
            picture = np.rot90(stamp(number, recipe.size), -recipe.turn // 90)
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            if recipe.aspect:
                frame = frame.reformat(*recipe.stored_size, interpolation="AREA")
            frame.pts = recipe.start + tick
            frame.time_base = Fraction(1, recipe.rate)
            _mux(file, stream.encode(frame), recipe)
        _mux(file, stream.encode(), recipe)
    if recipe.is_packed:
        pack(path)
    return path


def _stream(file: OutputContainer, recipe: Recipe) -> VideoStream:
    stream = file.add_stream(recipe.codec, rate=recipe.rate, options=recipe.options)
    assert isinstance(stream, VideoStream)
    stream.width, stream.height = recipe.stored_size
    stream.pix_fmt = recipe.pix_fmt
    if recipe.aspect:
        stream.codec_context.sample_aspect_ratio = recipe.aspect
    for name, value in recipe.tags.items():
        setattr(stream.codec_context, name, value)
    if recipe.ticks:
        stream.codec_context.time_base = Fraction(1, recipe.rate)
    if recipe.turn:
        stream.set_display_rotation(recipe.turn)
    return stream


def _mux(file: OutputContainer, packets: Sequence[Packet[VideoStream]], recipe: Recipe) -> None:
    for packet in packets:
        assert packet.pts is not None
        assert packet.dts is not None
        if recipe.cut:
            # What is shown before zero is left out by the edit list that the muxer writes.
            early = round(Fraction(recipe.cut, recipe.rate) / packet.time_base)
            packet.pts = packet.pts - early
            packet.dts = packet.dts - early
        if packet.pts in recipe.hidden:
            _hide(packet)
        file.mux(packet)


def _hide(packet: Packet[VideoStream]) -> None:
    """Have the frame of a packet of VP8 decoded and not shown: bit 4 says so."""
    data = bytearray(packet)
    data[0] &= ~0x10
    packet.update(bytes(data))


def sound(path: Path, *, cover: bool = False) -> Path:
    """Write a second of silence without any video, on request with a picture on its cover."""
    silence = np.zeros((1, 16000), np.float32)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("aac", rate=16000)
        if cover:
            picture = file.add_stream("mjpeg", rate=1)
            picture.width = 64
            picture.height = 64
            picture.pix_fmt = "yuvj420p"
            picture.disposition = Disposition.attached_pic
            file.mux(picture.encode(av.VideoFrame.from_ndarray(stamp(0, (64, 64)), format="rgb24")))
            file.mux(picture.encode())
        frame = av.AudioFrame.from_ndarray(silence, format="fltp", layout="mono")
        frame.sample_rate = 16000
        file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path
