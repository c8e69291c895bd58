"""The way from a decoded frame to the JPEG that a model sees: sRGB, upright, square pixels, scaled.

Light is counted in units of the white of a page, 203 cd/m2 (ITU-R BT.2408).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from io import BytesIO
from typing import NamedTuple, TypeAlias

import numpy as np
from av import VideoFrame
from numpy.typing import NDArray
from PIL import Image

from videoautoarena.memory.records.records import Sampling

PQ, HLG = 16, 18
"""Transfer curves as H.273 numbers them: SMPTE ST 2084, and ARIB STD-B67."""
WIDE = 9
"""Primaries of BT.2020, as H.273 numbers them."""
UNKNOWN, BT709 = 2, 1
"""The matrix of unmarked video, and that of HD, as H.273 numbers them."""
WHITE, PEAK = 203.0, 1000.0
"""In cd/m2: the white of a page, and the brightest light that is told apart; graders work up to
it."""
LEVELS = 4096
"""Steps of the tables: twelve bits, finer than any of these videos."""
NARROWED = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)
"""BT.2020 primaries to those of BT.709 (ITU-R BT.2407, section 2), row by row."""
LUMA = np.array([0.2627, 0.6780, 0.0593], np.float32)
"""How much each primary of BT.2020 adds to the luminance."""

Table: TypeAlias = NDArray[np.float32]


class Curve(NamedTuple):
    """The inverse of a transfer curve."""

    light: Table
    """Linear light by code, shape (LEVELS,): of the scene for HLG, of the screen otherwise."""
    is_of_scene: bool


def to_sdr(picture: NDArray[np.uint16], curve: int) -> NDArray[np.uint8]:
    """Return a wide or bright picture as a plain screen should show it, of the same shape.

    `picture` has BT.2020 primaries, full range, shape (height, width, 3), `curve` is its transfer
    curve by H.273; any but PQ and HLG is taken for that of SDR. Highlights are rolled off by the
    curve of ITU-R BT.2390 (section 5.4.1), applied to the largest of the three so that the hue
    stays. About 25 ms for 512 x 288.
    """
    light, is_of_scene = _curve(curve)
    linear = light[picture >> 4]
    if is_of_scene:
        # HLG codes light of the scene; this is its light on a screen of PEAK (BT.2100: gamma 1.2).
        linear *= (PEAK / WHITE * np.maximum(linear @ LUMA, 1e-6) ** 0.2)[..., None]
    if curve in (PQ, HLG):
        brightest = linear.max(axis=-1)
        place = np.minimum(np.sqrt(brightest * (WHITE / PEAK)), 1.0) * (LEVELS - 1)
        linear *= _gains()[place.astype(np.intp)][..., None]
    narrow = np.clip(linear @ NARROWED.T, 0.0, 1.0)
    shown: NDArray[np.uint8] = _encoded()[(narrow * (LEVELS * 16 - 1)).astype(np.uint16)]
    return shown


@cache
def _curve(number: int) -> Curve:
    # As tables, since powers for every pixel would cost far more than a look-up.
    code = np.arange(LEVELS, dtype=np.float64) / (LEVELS - 1)
    if number == PQ:
        return Curve((_pq_light(code) / WHITE).astype(np.float32), is_of_scene=False)
    if number == HLG:
        # ARIB STD-B67: a square root below, a logarithm above.
        a = 0.17883277
        b = 0.28466892
        c = 0.55991073
        scene = np.where(code <= 0.5, code**2 / 3, (np.exp((code - c) / a) + b) / 12)
        return Curve(scene.astype(np.float32), is_of_scene=True)
    return Curve((code**2.4).astype(np.float32), is_of_scene=False)


@cache
def _gains() -> Table:
    """Return the roll-off by the square root of light, 1 being PEAK, shape (LEVELS,)."""
    light = np.maximum((np.arange(LEVELS) / (LEVELS - 1)) ** 2, 1e-9) * PEAK
    largest = _pq_code(np.array(PEAK))
    code = _pq_code(light) / largest
    most = float(_pq_code(np.array(WHITE)) / largest)
    # BT.2390: unchanged up to the knee, and a Hermite spline from there to the brightest.
    knee = 1.5 * most - 0.5
    t = np.clip((code - knee) / (1 - knee), 0.0, 1.0)
    bent = (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee)
    bent += (3 * t**2 - 2 * t**3) * most
    shown = _pq_light(np.where(code < knee, code, bent) * largest)
    gains: Table = (shown / light).astype(np.float32)
    return gains


@cache
def _encoded() -> NDArray[np.uint8]:
    """Return sRGB codes by linear light, shape (LEVELS * 16,)."""
    # Finer than the codes: near black sRGB rises 12.92 times as fast as light.
    light = np.arange(LEVELS * 16) / (LEVELS * 16 - 1)
    code = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    codes: NDArray[np.uint8] = np.rint(code * 255).astype(np.uint8)
    return codes


def _pq_light(code: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cd/m2 by code from 0 to 1 (SMPTE ST 2084)."""
    root = np.power(code, 32 / 2523)
    light: NDArray[np.float64] = np.power(
        np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 8192 / 1305
    )
    return light * 10_000


def _pq_code(light: NDArray[np.float64]) -> NDArray[np.float64]:
    root = np.power(light / 10_000, 1305 / 8192)
    code: NDArray[np.float64] = np.power(
        (0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root), 2523 / 32
    )
    return code


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
"""Turns that set a picture upright whose axes are kept, or swapped, by the signs of the new
axes."""
CLOCKWISE = {Turn.ROTATE_270: 90, Turn.TRANSPOSE: 90, Turn.ROTATE_180: 180}
CLOCKWISE |= {Turn.ROTATE_90: 270, Turn.TRANSVERSE: 270}


Develop = Callable[[Image.Image], bytes]
"""Makes the bytes that are kept of an upright picture, which is already scaled."""


@dataclass
class DecodedPictures:
    """What decoding has brought so far: developed pictures by tick."""

    develop: Develop
    wanted: frozenset[int]
    exact: dict[int, bytes] = field(default_factory=dict)
    """The pictures of exactly these ticks, without known damage, which does not prove them
    whole."""
    near: dict[int, bytes] = field(default_factory=dict)
    """Whole pictures that may belong to other ticks."""
    rough: dict[int, bytes] = field(default_factory=dict)

    @property
    def missing(self) -> frozenset[int]:
        """The ticks that have no exact picture yet."""
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
    # WebM rounds its display size, which makes 1.003 of square pixels.
    if aspect and SANE_ASPECT[0] <= aspect <= SANE_ASPECT[1] and abs(aspect - 1) > 0.01:
        width = max(1, round(width * aspect))
    return (frame.height, width) if turn_of(frame) in SWAPPED.values() else (width, frame.height)


def rotation(frame: VideoFrame) -> int:
    """Return by how many degrees clockwise a player turns the stored picture, mirrors aside."""
    turn = turn_of(frame)
    return CLOCKWISE.get(turn, 0) if turn else 0


def fitted_size(size: tuple[int, int], sampling: Sampling) -> tuple[int, int]:
    """Return the size of what a model is sent; "keep" never makes a picture larger."""
    if sampling.fit in ("stretch", "pad"):
        return sampling.size_px, sampling.size_px
    return size if max(size) <= sampling.size_px else _brought_to(size, sampling.size_px)


def scaled_size(size: tuple[int, int], sampling: Sampling) -> tuple[int, int]:
    """Return the size a picture is scaled to before black is set around it, if any is."""
    is_padded = sampling.fit == "pad"
    return _brought_to(size, sampling.size_px) if is_padded else fitted_size(size, sampling)


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


def covering_size(
    size: tuple[int, int], shape: tuple[int, int], room: tuple[int, int]
) -> tuple[int, int]:
    """Return the size at which a picture fills a `room` that a picture of `shape` is scaled to."""
    scale = max(whole / own for own, whole in zip(size, shape, strict=True))
    sides = zip(size, shape, room, strict=True)
    width, height = (max(side, round(own * scale * side / whole)) for own, whole, side in sides)
    return width, height


def cropped(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return the middle of a picture that is at least of `size`."""
    left = (image.width - size[0]) // 2
    top = (image.height - size[1]) // 2
    return image.crop((left, top, left + size[0], top + size[1]))


def to_jpeg(image: Image.Image, quality: int) -> bytes:
    """Return the picture as JPEG bytes, the same for the same pixels."""
    out = BytesIO()
    # Not optimised: that takes 3.7 ms instead of 2.1 for 512 x 512.
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def _scaled(frame: VideoFrame, width: int, height: int) -> Image.Image:
    """Return the stored picture scaled, in colours for a plain screen.

    AREA on the YUV planes takes 2.6 ms for 720p, against 15 ms in Pillow after conversion; threads
    would take more of the processors for the same bytes.
    """
    # HDR and BT.2020: a plain screen would show these codes as other colours.
    is_special = frame.color_trc in (PQ, HLG) or frame.color_primaries == WIDE
    # Players take unmarked video for BT.601, and from 720 lines on for BT.709; libav always does
    # for BT.601, which turns skin by up to 24 of 255.
    is_hd = frame.colorspace == UNKNOWN and min(frame.width, frame.height) >= 720
    source = _one_field(frame) if frame.interlaced_frame else frame
    small = source.reformat(
        width=width,
        height=height,
        format="rgb48le" if is_special else "rgb24",
        src_colorspace=BT709 if is_hd else None,
        interpolation="AREA",
        threads=1,
    )
    if is_special:
        return Image.fromarray(to_sdr(small.to_ndarray().astype(np.uint16), int(frame.color_trc)))
    plane = small.planes[0]
    # PyAV's own way to an image copies line by line and takes 0.5 ms more.
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
