"""When a video's first frame is shown, by the clock that subtitle files keep to."""

from __future__ import annotations

from pathlib import Path

from video.container import opened
from video.index import read_index


def first_shown_s(path: Path) -> float:
    """Return when the first frame is shown, in seconds on the clock that subtitles keep to.

    MPEG streams start their clock anywhere, so players count from where the file starts.

    Raises:
        UnusableVideo: it cannot be opened, or holds no frame.
    """
    index = read_index(path)
    with opened(path) as (container, _):
        is_anywhere = container.format.name in ("mpegts", "mpeg")
        start_s = (container.start_time or 0) / 1_000_000 if is_anywhere else 0.0
    return float(index.shown[0] * index.time_base) - start_s
