"""From a decoded frame to the JPEG a model sees: upright, square pixels, scaled, plain colours."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO

import numpy as np
from av import VideoFrame
from PIL import Image

from memory.records import Sampling
from video.colours import is_beyond_sdr, matrix_of, to_sdr

SANE_ASPECT = (Fraction(1, 8), Fraction(8))
Turn = Image.Transpose
KEPT = {
    (False, False): None,
    (True, False): Turn.FLIP_LEFT_RIGHT,
    (False, True): Turn.FLIP_TOP_BOTTOM,
    (True, True): Turn.ROTATE_180,
}
SWAPPED = {
    (False, False): Turn.TRANSPOSE,
    (True, False): Turn.ROTATE_270,
    (False, True): Turn.ROTATE_90,
    (True, True): Turn.TRANSVERSE,
}
"""What sets a picture upright whose axes are kept, or swapped, by the sign of the new ones."""
CLOCKWISE = {Turn.ROTATE_270: 90, Turn.TRANSPOSE: 90, Turn.ROTATE_180: 180}
CLOCKWISE |= {Turn.ROTATE_90: 270, Turn.TRANSVERSE: 270}


Develop = Callable[[Image.Image], bytes]
"""Makes what is kept of an upright picture, already scaled."""


@dataclass
class Catch:
    """What decoding has brought so far: developed pictures by tick."""

    develop: Develop
    wanted: frozenset[int]
    exact: dict[int, bytes] = field(default_factory=dict)
    """The very pictures of their ticks, with no damage told; that does not prove them whole."""
    near: dict[int, bytes] = field(default_factory=dict)
    """Whole pictures that may not be the very ones of their ticks."""
    rough: dict[int, bytes] = field(default_factory=dict)
    """Pictures of frames that are damaged by what was told."""

    @property
    def missing(self) -> frozenset[int]:
        """The ticks still without an exact picture."""
        return self.wanted - self.exact.keys()

    @property
    def approximate(self) -> int:
        """How many ticks have only a picture that may be another's."""
        return len(self.missing & self.near.keys())

    @property
    def damaged(self) -> int:
        """How many ticks have no picture of their own, or one behind damage."""
        return len(self.missing - self.near.keys())

    @property
    def pictures(self) -> dict[int, bytes]:
        """The best picture there is of each tick that has any."""
        return {**self.rough, **self.near, **self.exact}


def displayed_size(frame: VideoFrame, aspect: Fraction | None) -> tuple[int, int]:
    """Return width and height in pixels as a player shows the frame: square pixels, upright."""
    width = frame.width
    # Rounding in WebM's display size makes 1.003 of square pixels; that is not meant.
    if aspect and SANE_ASPECT[0] <= aspect <= SANE_ASPECT[1] and abs(aspect - 1) > 0.01:
        width = max(1, round(width * aspect))
    return (frame.height, width) if turn_of(frame) in SWAPPED.values() else (width, frame.height)


def rotation(frame: VideoFrame) -> int:
    """Return by how many degrees clockwise a player turns the stored picture; never by a mirror."""
    turn = turn_of(frame)
    return CLOCKWISE.get(turn, 0) if turn else 0


def fitted_size(size: tuple[int, int], sampling: Sampling) -> tuple[int, int]:
    """Return the size of what a model is sent; "keep" never makes a picture larger."""
    if sampling.fit in ("stretch", "pad"):
        return sampling.size_px, sampling.size_px
    return size if max(size) <= sampling.size_px else _brought_to(size, sampling.size_px)


def scaled_size(size: tuple[int, int], sampling: Sampling) -> tuple[int, int]:
    """Return the size a picture is scaled to before black is set around it, if any is."""
    return (
        _brought_to(size, sampling.size_px)
        if sampling.fit == "pad"
        else fitted_size(size, sampling)
    )


def upright(frame: VideoFrame, size: tuple[int, int], turn: Turn | None) -> Image.Image:
    """Return the frame as it is to be looked at, scaled to `size`; `turn` is `turn_of` it."""
    width, height = size[::-1] if turn in SWAPPED.values() else size
    image = _scaled(frame, width, height)
    return image if turn is None else image.transpose(turn)


def on_black(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return the picture in the middle of a black one of `size`, which holds it."""
    if image.size == size:
        return image
    ground = Image.new("RGB", size)
    ground.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
    return ground


def to_jpeg(image: Image.Image, quality: int) -> bytes:
    """Return the picture as JPEG bytes, the same for the same pixels."""
    out = BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def _scaled(frame: VideoFrame, width: int, height: int) -> Image.Image:
    """Return the stored picture scaled, in colours for a plain screen.

    AREA on the YUV planes takes 2.6 ms for 720p, against 15 ms in Pillow after conversion; threads
    would take more of the processors for the same bytes.
    """
    is_special = is_beyond_sdr(frame)
    source = _one_field(frame) if frame.interlaced_frame else frame
    small = source.reformat(
        width=width,
        height=height,
        format="rgb48le" if is_special else "rgb24",
        src_colorspace=matrix_of(frame),
        interpolation="AREA",
        threads=1,
    )
    if is_special:
        return Image.fromarray(to_sdr(small.to_ndarray().astype(np.uint16), int(frame.color_trc)))
    plane = small.planes[0]
    # What PyAV itself offers goes through the lines one by one: 0.5 ms more.
    return Image.frombytes("RGB", (width, height), bytes(plane), "raw", "RGB", plane.line_size, 1)


def _one_field(frame: VideoFrame) -> VideoFrame:
    """Return the upper lines of an interlaced frame, which were taken at one instant. 0.2 ms.

    Both fields together show combs or ghosts. A single frame cannot be filtered: bwdif and yadif
    would take what moves for what stands still, and so would leave the combs in.
    """
    from av.filter import Graph

    graph = Graph()
    source = graph.add_buffer(
        width=frame.width, height=frame.height, format=frame.format, time_base=Fraction(1, 25)
    )
    graph.link_nodes(source, graph.add("field", "type=top"), graph.add("buffersink")).configure()
    graph.push(frame)
    field = graph.pull()
    assert isinstance(field, VideoFrame)
    return field


def turn_of(frame: VideoFrame) -> Turn | None:
    """Return what sets the frame upright: its display matrix, to the nearest quarter turn.

    To be asked of one frame of a video: a frame and its side data hold each other, so that its
    megabytes stay until the garbage is collected.
    """
    try:
        matrix = bytes(frame.side_data["DISPLAYMATRIX"])  # type: ignore[typeddict-item]
    except KeyError:
        return None
    a, b, _, c, d = struct.unpack("=5i", matrix[:20])
    if abs(a) + abs(d) >= abs(b) + abs(c):
        return KEPT[a < 0, d < 0]
    return SWAPPED[c < 0, b < 0]


def _brought_to(size: tuple[int, int], longer: int) -> tuple[int, int]:
    width, height = (max(1, round(side * longer / max(size))) for side in size)
    return width, height
