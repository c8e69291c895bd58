"""The videos of a run as labellers get them: the file where it is the same still, or its frames."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.video.workers.decoders import Decoders

KINDS = {".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/mp4", ".webm": "video/webm"}
"""What browsers play, by the end of the name; a name itself is never sent."""
PLAYED = frozenset({"h264", "vp8", "vp9", "av1"})


class Films:
    """Files and frames of a run's videos, by the ids of these."""

    def __init__(self, store: Store, decoders: Decoders, folder: Path) -> None:
        self._store = store
        self._decoders = decoders
        self._folder = folder
        self._videos = {video.id: video for video in store.videos()}
        self._sampling: Sampling = RunConfig.of_manifest(store.manifest()).sampling
        self._checked: dict[str, tuple[int, int]] = {}
        """Size and time of change of a file that had the right bytes."""

    def about(self, video: str) -> dict[str, Any]:
        """Return what a page needs to show a video, as JSON-ready values."""
        of, frames = self._videos[video], self._store.frames(video)
        return {
            "plays": kind_of(of) is not None,
            "duration_s": of.duration_s,
            "width_px": of.width_px,
            "height_px": of.height_px,
            "times": [frame.time_s for frame in frames.frames] if frames else [],
        }

    async def file(self, video: str) -> tuple[Path, str] | None:
        """Return a video's file and media type; None where browsers cannot play it, or it changed.

        The first time all of it is read, to see whether it is what the models saw.
        """
        of = self._videos[video]
        kind, path = kind_of(of), self._folder / of.path
        if kind is None or not await asyncio.to_thread(self._is_same, path, of):
            return None
        return path, kind

    async def frame(self, video: str, place: int) -> bytes | None:
        """Return a frame as JPEG, decoded again where it is not at hand; None for no such place.

        Raises:
            UnusableVideo: its file is gone; FramesChanged: it gives others now.
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

    def _is_same(self, path: Path, video: Video) -> bool:
        try:
            status = path.stat()
            seen = (status.st_size, status.st_mtime_ns)
            if self._checked.get(video.id) == seen:
                return True
            if status.st_size != video.size_bytes:
                return False
            with path.open("rb") as file:
                is_same = hashlib.file_digest(file, "sha256").hexdigest() == video.sha256
        except OSError:
            return False
        if is_same:
            self._checked[video.id] = seen
        return is_same


def kind_of(video: Video) -> str | None:
    """Return the media type of a video that browsers play; None for others."""
    return KINDS.get(Path(video.path).suffix.lower()) if video.codec in PLAYED else None
