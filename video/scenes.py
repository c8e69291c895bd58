"""Where a video's scenes begin and end: PySceneDetect's detectors fed with our own frames.

Its video classes are not used: they open a file by name, past the whitelists of
`video.container`, and two of them count frames where the clock of this project is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from av import VideoFrame

from video.container import opened, passed_over
from video.in_order import frames_in_order, has_guessed_times
from video.index import Index

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

LONGER_SIDE_PX = 256
"""Frames are compared at this size, as PySceneDetect's own manager does."""
SHORTEST_S = 0.6
"""A cut closer than this to the cut before it is none."""


class Stretch(NamedTuple):
    """A part of a video without a cut, in seconds from the first frame."""

    start_s: float
    end_s: float


def find_scenes(path: Path, index: Index) -> tuple[Stretch, ...]:
    """Return the scenes in order: each begins where the one before ends, together all of it.

    A cut is a frame whose hue, saturation and brightness differ enough from the one before
    (PySceneDetect's ContentDetector with its own threshold). Costs one full decode; a frame that
    cannot be decoded is passed over. Blocks; CPU only.

    Raises:
        UnusableVideo: the file cannot be opened.
    """
    cuts_at = _detector(index)
    cuts = [cut for tick, picture in _small_pictures(path, index) for cut in cuts_at(tick, picture)]
    starts = [0.0, *(index.seconds(tick) for tick in cuts), index.duration_s]
    return tuple(Stretch(*ends) for ends in pairwise(starts))


def _detector(index: Index) -> Callable[[int, NDArray[uint8]], list[int]]:
    """Return a function that takes tick and picture in turn and gives the ticks of new scenes."""
    # It brings OpenCV, which only a worker that is asked for scenes needs: 0.3 CPU seconds.
    from scenedetect.common import FrameTimecode, Timecode
    from scenedetect.detectors import ContentDetector

    # Of a fast-cut film's 23 cuts AdaptiveDetector missed 7; this one sets 2 that are none.
    detector = ContentDetector(min_scene_len=SHORTEST_S)
    first, rate = index.shown[0], Fraction(index.fps)

    def cuts_at(tick: int, picture: NDArray[uint8]) -> list[int]:
        time = FrameTimecode(Timecode(tick - first, index.time_base), rate)
        return [cut.pts + first for cut in detector.process_frame(time, picture)]

    return cuts_at


def _small_pictures(path: Path, index: Index) -> Iterator[tuple[int, NDArray[uint8]]]:
    """Yield tick and small BGR picture, shape (height, width, 3), of every frame, in order."""
    known, last, size = frozenset(index.shown), index.shown[0] - 1, None
    for frame in _frames(path, index):
        if frame.pts not in known or frame.pts <= last:
            continue
        last = frame.pts
        # One size for all, also where a stream changes its own: the detector subtracts them.
        size = size or _small(frame)
        small = frame.reformat(*size, format="bgr24", interpolation="AREA", threads=1)
        yield last, cast("NDArray[uint8]", small.to_ndarray())


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


def _small(frame: VideoFrame) -> tuple[int, int]:
    scale = min(1.0, LONGER_SIDE_PX / max(frame.width, frame.height))
    return max(1, round(frame.width * scale)), max(1, round(frame.height * scale))
