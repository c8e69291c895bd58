"""What can be said of one video before it is sampled."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from memory.errors import UnusableVideo
from video.container import opened
from video.decode import first_frame
from video.index import read_index
from video.pictures import displayed_size, rotation


class Probe(NamedTuple):
    """The shape of a video; the size is the one a player shows."""

    duration_s: float
    width_px: int
    height_px: int
    fps: float
    codec: str
    rotation: int = 0
    """Degrees clockwise by which a player turns the stored picture."""
    problems: tuple[str, ...] = ()
    """What is wrong with it though it can be used, a clause each."""


def probe(path: Path) -> Probe:
    """Return the shape of a video whose first frame has been decoded. Costs one pass of reading.

    Raises:
        UnusableVideo: the reason alone, one clause without the name.
    """
    index = read_index(path)
    first = first_frame(path)
    if first is None:
        raise UnusableVideo("holds no frame that can be decoded")
    with opened(path) as (_, stream):
        codec = stream.codec_context.name
    return Probe(
        round(index.duration_s, 3),
        *displayed_size(*first),
        fps=round(index.fps, 3),
        codec=codec,
        rotation=rotation(first[0]),
        problems=index.problems,
    )
