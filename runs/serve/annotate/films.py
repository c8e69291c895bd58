"""The videos of a run as labellers get them: the file where browsers play it, and its frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.serve.server.files import VideoFiles
from videoautoarena.video.workers.decoders import Decoders

# HEVC is left out: it plays in some browsers only.
PLAYED = frozenset({"h264", "vp8", "vp9", "av1"})
"""Codecs that all browsers decode."""
UNPLAYED = frozenset({".avi", ".flv", ".wmv", ".ts", ".mpg", ".mpeg"})
"""Endings of containers that browsers do not open, whatever is inside."""


class Films:
    """Files and frames of a run's videos, by the ids of these; no answer holds a name."""

    def __init__(self, store: Store, decoders: Decoders, folder: Path) -> None:
        self._store = store
        self._decoders = decoders
        self._folder = folder
        self._files = VideoFiles()
        self._videos = {video.id: video for video in store.videos()}
        self._sampling = Sampling.model_validate(store.manifest()["sampling"])

    def about(self, video: str) -> dict[str, Any]:
        """Return what a page needs to show a video, as JSON-ready values."""
        of = self._videos[video]
        frames = self._store.frames(video)
        return {
            "plays": _plays(of),
            "duration_s": of.duration_s,
            "width_px": of.width_px,
            "height_px": of.height_px,
            "times": [frame.time_s for frame in frames.frames] if frames else [],
        }

    async def response(self, video: str) -> Response:
        """Return a response with the file of a video, whole or in ranges.

        Raises:
            VideoGone: it is not there any more, or is not the one that the models saw.
        """
        return await self._files.response(self._videos[video], self._folder)

    async def frame(self, video: str, place: int) -> bytes | None:
        """Return a frame as JPEG, decoded again where it is not at hand; None for no such place.

        Raises:
            UnusableVideo: its file is gone.
            FramesChanged: it gives other frames now.
        """
        frames = self._store.frames(video)
        if frames is None or place >= len(frames.frames):
            return None
        of = self._videos[video]
        (jpeg,) = await self._decoders.jpegs(
            self._folder / of.path,
            of,
            sampling=self._sampling,
            digests=[frames.frames[place].digest],
        )
        return jpeg


def _plays(video: Video) -> bool:
    return video.codec in PLAYED and Path(video.path).suffix.lower() not in UNPLAYED
