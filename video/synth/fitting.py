"""Pictures of a video as a film takes them: scaled to fill it, upright, in its colours."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from av import VideoFrame
from av.video.frame import PictureType
from av.video.reformatter import ColorRange
from PIL import Image

from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.video.decode.av import first_frame
from videoautoarena.video.decode.index import Index, read_index
from videoautoarena.video.decode.jpeg import (
    BT709,
    HLG,
    PQ,
    SWAPPED,
    UNKNOWN,
    WIDE,
    Turn,
    covering_size,
    cropped,
    displayed_size,
    turn_of,
    upright,
)
from videoautoarena.video.decode.reading import frames_from

SD, SD_TOO = 5, 6
"""Matrix of BT.601 by H.273, beside `BT709`: of 625 lines, and of 525, which is the same."""
Size = tuple[int, int]


class Source(NamedTuple):
    """A video of which excerpts are taken."""

    path: Path
    times: Index
    shape: Size
    """As a player shows it."""
    turn: Turn | None
    matrix: int
    """`BT709` or `SD`: what its colours are stored by."""


class Reader:
    """The pictures of one excerpt, asked for in ascending order."""

    def __init__(self, source: Source, first: int, *, size: Size, matrix: int) -> None:
        """Read from the video's `first` frame on, for a film of this size and matrix."""
        self._frames = frames_from(source.path, source.times, first)
        self._source = source
        self._size = size
        self._matrix = matrix
        self._number = -1
        self._picture = VideoFrame()

    def picture(self, number: int) -> VideoFrame:
        """Return the picture of a frame of the video."""
        if number != self._number:
            while self._number < number:
                self._number, frame = next(self._frames)
            self._picture = self._fitted(frame)
        return self._picture

    def close(self) -> None:
        """Close the video."""
        self._frames.close()

    def _fitted(self, frame: VideoFrame) -> VideoFrame:
        """Return a decoded frame as a picture of the film."""
        if _is_special(frame):
            inner = covering_size(self._source.shape, self._size, self._size)
            picture = cropped(upright(frame, inner, self._source.turn), self._size)
            rgb = VideoFrame.from_ndarray(np.asarray(picture), format="rgb24")
            return rgb.reformat(format="yuv420p", dst_colorspace=self._matrix, threads=1)
        if not self._is_fit(frame):
            return self._filled(frame)
        # What kind of frame it was there is no matter here.
        frame.pict_type = PictureType.NONE
        return frame

    def _is_fit(self, frame: VideoFrame) -> bool:
        return (
            (frame.width, frame.height) == self._source.shape == self._size
            and self._source.turn is None
            and frame.format.name == "yuv420p"
            and frame.color_range != ColorRange.JPEG
            and _matrix(frame) == self._matrix
        )

    def _filled(self, frame: VideoFrame) -> VideoFrame:
        """Return it scaled, upright and cut, without the loss of going through RGB."""
        turn = self._source.turn
        inner = covering_size(self._source.shape, self._size, self._size)
        width, height = inner[::-1] if turn in SWAPPED.values() else inner
        # With colours as fine as light, so that it can be cut at any line.
        scaled = frame.reformat(
            width=width,
            height=height,
            format="yuv444p",
            src_colorspace=_matrix(frame),
            dst_colorspace=self._matrix,
            src_color_range=frame.color_range,
            dst_color_range=ColorRange.MPEG,
            interpolation="AREA",
            threads=1,
        )
        planes = [Image.fromarray(plane) for plane in np.asarray(scaled.to_ndarray(), np.uint8)]
        turned = planes if turn is None else [plane.transpose(turn) for plane in planes]
        cut = np.stack([np.asarray(cropped(plane, self._size)) for plane in turned])
        return VideoFrame.from_ndarray(cut, format="yuv444p").reformat(format="yuv420p", threads=1)


def _is_special(frame: VideoFrame) -> bool:
    """Return whether its colours or lines mean something else than a plain screen takes them for.

    Its matrix then is one of others than `_matrix` knows, or it is two pictures in one.
    """
    is_plain = frame.colorspace in (BT709, SD, SD_TOO, UNKNOWN)
    is_hdr = frame.color_trc in (PQ, HLG) or frame.color_primaries == WIDE
    return is_hdr or frame.interlaced_frame or not is_plain


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Put the name of a file before what is wrong with it."""
    try:
        yield
    except UnusableVideo as error:
        raise UnusableVideo(f"{path.name!a} {error}") from None


def source_of(path: Path) -> Source:
    index = read_index(path)
    first = first_frame(path)
    if first is None:
        raise UnusableVideo("holds no frame that can be decoded")
    source = Source(path, index, displayed_size(*first), turn_of(first[0]), _matrix(first[0]))
    # Asked how it is turned, a frame is held by itself.
    del first
    gc.collect(1)
    return source


def _matrix(frame: VideoFrame) -> int:
    """Return what a player takes the colours of a frame to be stored by, in a plain film."""
    is_hd = min(frame.width, frame.height) >= 720
    return BT709 if frame.colorspace == BT709 or (frame.colorspace == UNKNOWN and is_hd) else SD
