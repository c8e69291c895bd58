"""Colours brought to what a screen shows that knows nothing of HDR: sRGB with BT.709 primaries.

Light is counted in units of the white of a page, 203 cd/m2 (ITU-R BT.2408).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from av import VideoFrame
from numpy.typing import NDArray

PQ, HLG = 16, 18
"""Transfer curves as H.273 numbers them: SMPTE ST 2084, and ARIB STD-B67."""
WIDE = 9
"""Primaries of BT.2020, as H.273 numbers them."""
UNKNOWN, BT709 = 2, 1
"""A matrix nobody named, and that of HD."""
WHITE, PEAK = 203.0, 1000.0
"""cd/m2: of a page, and of the brightest light that is told apart; graders work up to that."""
LEVELS = 4096
"""Steps of the tables; twelve bits are finer than any of these videos."""
NARROWED = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)
"""BT.2020 primaries to those of BT.709 (ITU-R BT.2407, section 2), row by row."""
LUMA = np.array([0.2627, 0.6780, 0.0593], np.float32)
"""What each primary of BT.2020 adds to the luminance."""

Table: TypeAlias = NDArray[np.float32]


class Curve(NamedTuple):
    """What undoes a transfer curve."""

    light: Table
    """Linear light by code, shape (LEVELS,): of the scene for HLG, of the screen otherwise."""
    is_of_scene: bool


def is_beyond_sdr(frame: VideoFrame) -> bool:
    """Return whether a frame's colours mean something else than a plain screen takes them for."""
    return frame.color_trc in (PQ, HLG) or frame.color_primaries == WIDE


def matrix_of(frame: VideoFrame) -> int | None:
    """Return the matrix to read a frame by where it names none, else None.

    Players take unmarked video for BT.601, and from 720 lines on for BT.709; libav always does for
    BT.601, which turns skin by up to 24 of 255.
    """
    is_large = min(frame.width, frame.height) >= 720
    return BT709 if frame.colorspace == UNKNOWN and is_large else None


def to_sdr(picture: NDArray[np.uint16], curve: int) -> NDArray[np.uint8]:
    """Return a wide or bright picture as a plain screen should show it.

    Args:
        picture: BT.2020 primaries, full range, shape (height, width, 3).
        curve: its transfer curve by H.273; any but PQ and HLG is taken for that of SDR.

    Highlights are rolled off by the curve of ITU-R BT.2390 (section 5.4.1), applied to the
    largest of the three so that the hue stays. About 25 ms for 512 x 288.
    """
    light, is_of_scene = _curve(curve)
    linear = light[picture >> 4]
    if is_of_scene:
        linear *= _system_gamma(linear)[..., None]
    if curve in (PQ, HLG):
        linear *= _rolled_off(linear.max(axis=-1))[..., None]
    narrow = np.clip(linear @ NARROWED.T, 0.0, 1.0)
    shown: NDArray[np.uint8] = _encoded()[(narrow * (LEVELS * 16 - 1)).astype(np.uint16)]
    return shown


@cache
def _curve(number: int) -> Curve:
    code = np.arange(LEVELS, dtype=np.float64) / (LEVELS - 1)
    if number == PQ:
        return Curve((_pq_light(code) / WHITE).astype(np.float32), is_of_scene=False)
    if number == HLG:
        # ARIB STD-B67: a square root below, a logarithm above.
        a, b, c = 0.17883277, 0.28466892, 0.55991073
        scene = np.where(code <= 0.5, code**2 / 3, (np.exp((code - c) / a) + b) / 12)
        return Curve(scene.astype(np.float32), is_of_scene=True)
    return Curve((code**2.4).astype(np.float32), is_of_scene=False)


def _system_gamma(scene: Table) -> Table:
    """Return what takes light of the scene to a screen of PEAK (BT.2100: gamma 1.2)."""
    luminance = np.maximum(scene @ LUMA, 1e-6)
    gain: Table = PEAK / WHITE * luminance**0.2
    return gain


def _rolled_off(brightest: Table) -> Table:
    """Return by what to multiply pixels whose largest component this is."""
    place = np.minimum(np.sqrt(brightest * (WHITE / PEAK)), 1.0) * (LEVELS - 1)
    gain: Table = _gains()[place.astype(np.intp)]
    return gain


@cache
def _gains() -> Table:
    """Return the roll-off by the square root of light, 1 being PEAK, shape (LEVELS,)."""
    light = np.maximum((np.arange(LEVELS) / (LEVELS - 1)) ** 2, 1e-9) * PEAK
    largest = _pq_code(np.array(PEAK))
    code, most = _pq_code(light) / largest, float(_pq_code(np.array(WHITE)) / largest)
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
