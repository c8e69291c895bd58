"""Thumbnails of a video's frames on one picture, and which frames are worth one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video, VideoFrames
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.opener import NO_FOLDER, UNKNOWN_FOLDER, videos_folder
from videoautoarena.runs.run.rundir.reader import RunReader, one_line
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.synth.contact_sheet import tile
from videoautoarena.video.workers.decoders import Decoders

WIDTH_PX = 160
COLUMNS = 16
FEW = 16
"""Longest list of seen frames that are all on the sheet."""


@dataclass(frozen=True)
class ThumbnailSheet:
    """Thumbnails of one video."""

    webp: bytes
    height_px: int
    """Height of each; they are WIDTH_PX wide, COLUMNS in a row."""
    places: tuple[int, ...]
    """Which of the video's frames they show, in their order."""

    def to_json(self) -> dict[str, Any]:
        """Return where each thumbnail lies, as a page reads it."""
        return {"w": WIDTH_PX, "h": self.height_px, "columns": COLUMNS, "of": list(self.places)}


def worth_a_thumbnail(total: int, seen: Collection[Sequence[int]], thumbs: int) -> tuple[int, ...]:
    """Return which frames of `total` are shown: all of short lists, and evenly `thumbs` more.

    Args:
        total: how many frames the video gave.
        seen: for each model, the places of the frames it was sent.
        thumbs: how many at least; 0 means none at all.
    """
    if not thumbs or not total:
        return ()
    count = min(thumbs, total)
    steps = {round(k * (total - 1) / max(count - 1, 1)) for k in range(count)}
    short = {place for places in seen if len(places) <= FEW for place in places}
    return tuple(sorted(steps | short | {0, total - 1}))


class ThumbnailStudio:
    """Draws sheets of a run's videos; keeps them in the frame cache, and decodes lost frames again.

    Use it with `async with`. Its workers start when a frame has to be decoded, not before.
    """

    def __init__(self, run: RunReader, thumbs: int, films: Path | None = None) -> None:
        """Take an open run, how many thumbnails a video gets at least, and where videos are now."""
        self.missing: dict[str, str] = {}
        """Why videos have no sheet, by their ids."""
        self._run = run
        self._thumbs = thumbs
        self._cache = FrameCache()
        self._sampling = RunConfig.of_manifest(run.manifest).sampling
        # Only a folder that was named on this machine: the file of a run is not believed where it
        # leads.
        self._folder = videos_folder(run.store, films) or NO_FOLDER
        self._decoders = Decoders(self._cache)

    async def __aenter__(self) -> Self:
        await self._decoders.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._decoders.__aexit__(*raised)

    async def sheet(self, video: Video, seen: Mapping[str, Sequence[int]]) -> ThumbnailSheet | None:
        """Return the thumbnails of a video; None where no frame of it can be had any more."""
        frames = self._run.store.frames(video.id)
        if frames is None:
            return None
        places = worth_a_thumbnail(len(frames.frames), seen.values(), self._thumbs)
        if not places:
            return None
        name = _name(self._sampling, frames, places)
        # At least a pixel, which a very wide picture would not have.
        height = max(1, round(frames.height_px * WIDTH_PX / frames.width_px))
        if kept := self._cache.sheet(video.sha256, name):
            return ThumbnailSheet(kept, height, places)
        try:
            jpegs = await self._jpegs(video, frames, places)
            # In a thread, so that a server answers others while a sheet is drawn.
            drawn = await asyncio.to_thread(tile, jpegs, width_px=WIDTH_PX, columns=COLUMNS)
        except (UnusableVideo, OSError) as failure:
            is_known = self._folder is not NO_FOLDER
            reason = str(failure) if is_known else UNKNOWN_FOLDER
            self.missing[video.id] = one_line(reason, 200)
            return None
        self._cache.put_sheet(video.sha256, name, drawn.webp)
        return ThumbnailSheet(drawn.webp, drawn.height_px, places)

    async def _jpegs(self, video: Video, frames: VideoFrames, places: Sequence[int]) -> list[bytes]:
        digests = [frames.frames[place].digest for place in places]
        path = self._folder / video.path
        return await self._decoders.jpegs(path, video, sampling=self._sampling, digests=digests)


def _name(sampling: Sampling, frames: VideoFrames, places: Sequence[int]) -> str:
    """Return the name of a sheet in the cache; it is drawn anew if any part of it has changed."""
    shown = [frames.frames[place].digest for place in places]
    # The number stands for the way of drawing: another one draws every sheet anew.
    return canonical_json(["sheet", 1, WIDTH_PX, COLUMNS, sampling.model_dump(), shown])
