"""Scenes of a video: where its picture changes from one frame to the next.

Cuts are those of PySceneDetect's ContentDetector to the frame, which tests hold against it. The
package itself would bring OpenCV, 161 MB, for one conversion of colours; it opens files by name,
past the whitelists of `video.decode.container`, and counts frames where this project goes by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from av import VideoFrame
from numpy.typing import NDArray

from videoautoarena.video.decode.container import opened, passed_over
from videoautoarena.video.decode.index import Index, frames_in_order, has_guessed_times

LONGER_SIDE_PX = 256
"""Frames are compared at this size, as PySceneDetect's own manager does."""
SHORTEST_S = 0.6
"""Seconds; a cut closer than this to the one before is none."""
THRESHOLD = 27.0
"""Mean difference of hue (0 to 179), saturation and brightness (0 to 255) at which a frame begins a
scene; the default of PySceneDetect."""
_SHIFT = 12
"""Binary places of the quotients below, as OpenCV's fixed-point arithmetic has them."""
_CODES = np.arange(1, 256)
_SATURATION = np.rint(np.concatenate([[0], (255 << _SHIFT) / _CODES])).astype(np.int32)
_HUE = np.rint(np.concatenate([[0], (180 << _SHIFT) / (6 * _CODES)])).astype(np.int32)


class SceneSpan(NamedTuple):
    """A part of a video without a cut, in seconds from the first frame."""

    start_s: float
    end_s: float


def find_scenes(path: Path, index: Index) -> tuple[SceneSpan, ...]:
    """Return the scenes in order: each begins where the one before ends, together all of it.

    Costs one full decode; a frame that cannot be decoded is passed over. Blocks; CPU only.
    """
    cuts = find_cuts(small_pictures(path, index), index.time_base)
    starts = [0.0, *map(index.seconds, cuts), index.duration_s]
    return tuple(SceneSpan(*ends) for ends in pairwise(starts))


def find_cuts(
    pictures: Iterable[tuple[int, NDArray[np.uint8]]], time_base: Fraction
) -> Iterator[int]:
    """Yield the ticks at which scenes begin, from ticks with BGR pictures of shape (h, w, 3).

    Cuts that follow each other too fast are merged into one at the last of them, once it has stood
    for `SHORTEST_S`; before the first scene that is long enough they count for nothing.

    Source: PySceneDetect 0.7, `FlashFilter.Mode.MERGE`. Of a fast-cut film's 23 cuts its
    AdaptiveDetector missed 7; this one sets 2 that are none.
    """

    def is_long(start: int, end: int) -> bool:
        return float((end - start) * time_base) >= SHORTEST_S

    before = None
    last_change = None
    merged_from = None
    has_cut = False
    for tick, picture in pictures:
        now = to_hsv(picture)
        is_change = before is not None and mean_difference(before, now) >= THRESHOLD
        before = now
        has_stood = is_long(tick if last_change is None else last_change, tick)
        if last_change is None or is_change:
            last_change = tick
        if merged_from is not None:
            if has_stood and not is_change and is_long(merged_from, last_change):
                merged_from = None
                yield last_change
        elif is_change and has_stood:
            has_cut = True
            yield tick
        elif is_change and has_cut:
            merged_from = tick


def to_hsv(bgr: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return hue (0 to 179), saturation and value (0 to 255) of a picture, shape (3, h, w).

    The same bits as OpenCV's COLOR_BGR2HSV, for all 16.7 million colours. Pillow's HSV has hues
    from 0 to 255, rounded otherwise. About 0.5 ms for 256 x 144.
    """
    blue, green, red = np.ascontiguousarray(bgr.transpose(2, 0, 1)).astype(np.int16)
    value = np.maximum(np.maximum(blue, green), red)
    spread = value - np.minimum(np.minimum(blue, green), red)
    sixths = np.where(
        value == red,
        green - blue,
        np.where(value == green, blue - red + 2 * spread, red - green + 4 * spread),
    )
    half = 1 << (_SHIFT - 1)
    saturation = (spread * _SATURATION[value] + half) >> _SHIFT
    hue = (sixths * _HUE[spread] + half) >> _SHIFT
    hue += 180 * (hue < 0)
    # Signed, since pictures are subtracted from each other.
    return np.stack([hue, saturation, value], dtype=np.int16, casting="unsafe")


def mean_difference(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    """Return the mean over hue, saturation and value of how far two pictures' pixels are apart."""
    totals: list[int] = np.abs(one - other).sum(axis=(1, 2), dtype=np.int64).tolist()
    pixels = one.size // len(totals)
    return sum(total / pixels for total in totals) / len(totals)


def small_pictures(path: Path, index: Index) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield tick and small BGR picture, shape (height, width, 3), of every frame, in order."""
    known = frozenset(index.shown)
    last = index.shown[0] - 1
    size = None
    for frame in _frames(path, index):
        if frame.pts not in known or frame.pts <= last:
            continue
        last = frame.pts
        # One size for all pictures, also where a stream changes its own: they are subtracted.
        if size is None:
            scale = min(1.0, LONGER_SIDE_PX / max(frame.width, frame.height))
            size = (max(1, round(frame.width * scale)), max(1, round(frame.height * scale)))
        small = frame.reformat(*size, format="bgr24", interpolation="AREA", threads=1)
        yield last, cast("NDArray[np.uint8]", small.to_ndarray())


def _frames(path: Path, index: Index) -> Iterator[VideoFrame]:
    with opened(path) as (container, stream):
        if has_guessed_times(path, container, stream):
            counted = frames_in_order(container, stream, index.shown, last=index.shown[-1])
            yield from (frame for frame, _ in counted)
            return
        with passed_over():
            for packet in container.demux(stream):
                with passed_over():
                    yield from stream.codec_context.decode(packet)
