"""Sharp and distinct frames of a stretch, and what colours a region of one has.

Measured on the JPEGs that models are sent, so that what is chosen is what they see.

Source: MT-Video-Bench, collection: two frames a second are looked at; those that the variance of
the Laplacian says are sharp stay, except where the histogram is like that of the last that stayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Histogram = NDArray[np.float64]
Box = tuple[float, float, float, float]

MOST_ALIKE = 0.9
"""A frame whose histogram is more like that of the last one kept is left out."""
SHARP = 0.5
"""Least sharpness of a frame, as a share of its stretch's median: an absolute bound would drop all
frames of soft pictures and none of noisy ones."""
SIDE_PX = 256
_HUES = 12
_DEPTHS = 2
_GREYS = 4
_PALE, _DARK = 40, 40
"""Saturation and value, of 255, below which a pixel has no hue to speak of."""
_MARGIN = 0.1
"""Share of a region that is left out at each side, since a box's corners seldom belong to the
thing."""


class FrameMeasures(NamedTuple):
    """One frame, measured."""

    sharpness: float
    """Variance of the Laplacian of its grey levels."""
    histogram: Histogram


def measure(jpeg: bytes) -> FrameMeasures:
    """Return how sharp a picture is, and its colours. Blocks; CPU only, about 2 ms."""
    small = _opened(jpeg, SIDE_PX)
    grey = np.asarray(small.convert("L"), np.float64)
    inner = grey[1:-1, 1:-1]
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    edges = around - 4 * inner
    return FrameMeasures(float(edges.var()) if edges.size else 0.0, _histogram(small))


def sharp_and_distinct(measured: Sequence[FrameMeasures]) -> list[int]:
    """Return the places of the frames that stay, ascending; one at least where there are any."""
    if not measured:
        return []
    least = SHARP * float(np.median([one.sharpness for one in measured]))
    kept: list[int] = []
    for place, one in enumerate(measured):
        if one.sharpness < least:
            continue
        if not kept or alike(measured[kept[-1]].histogram, one.histogram) <= MOST_ALIKE:
            kept.append(place)
    return kept


def region_histogram(jpeg: bytes, box: Box) -> Histogram:
    """Return the colours within a box, given as shares of the picture, a little off its edges."""
    picture = _opened(jpeg, None)
    left, top, right, bottom = box
    aside = _MARGIN * (right - left)
    above = _MARGIN * (bottom - top)
    width, height = picture.size
    # A pixel each way at least: a box may be thinner than one.
    edges = (
        int((left + aside) * width),
        int((top + above) * height),
        max(int((left + aside) * width) + 1, round((right - aside) * width)),
        max(int((top + above) * height) + 1, round((bottom - above) * height)),
    )
    return _histogram(picture.crop(edges))


def alike(one: Histogram, other: Histogram) -> NDArray[np.float64]:
    """Return how much histograms, one or a row each, have in common with another, 0 to 1."""
    return np.asarray(np.minimum(one, other).sum(axis=-1))


def _opened(jpeg: bytes, side_px: int | None) -> Image.Image:
    with Image.open(BytesIO(jpeg), formats=["JPEG"]) as picture:
        if side_px is not None:
            # libjpeg scales while it decodes, which saves most of the work.
            picture.draft("RGB", (side_px, side_px))
        whole = picture.convert("RGB")
    if side_px is not None and max(whole.size) > side_px:
        whole.thumbnail((side_px, side_px))
    return whole


def _histogram(picture: Image.Image) -> Histogram:
    """Return shares of hues, deep and pale, light and dark, and of greys."""
    hue, depth, light = np.asarray(picture.convert("HSV"), np.intp).reshape(-1, 3).T
    deep = (depth >= 128).astype(np.intp)
    bright = (light >= 128).astype(np.intp)
    # Red lies at both ends of the scale of hues, so the first cell begins half a cell before zero.
    turned = (hue + 256 // (2 * _HUES)) % 256 * _HUES // 256
    coloured = (turned * _DEPTHS + deep) * 2 + bright
    grey = _HUES * _DEPTHS * 2 + light * _GREYS // 256
    cell = np.where((depth < _PALE) | (light < _DARK), grey, coloured)
    cells = _HUES * _DEPTHS * 2 + _GREYS
    return np.bincount(cell, minlength=cells) / max(1, len(cell))
