"""Pictures of a run's videos: thumbnails on a sheet, and single frames as models were sent them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Role, Sampling, Video, VideoFrames
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.opener import NO_FOLDER, UNKNOWN_FOLDER, videos_folder
from videoautoarena.runs.run.rundir.reader import RunReader, open_run
from videoautoarena.runs.serve.server.serve import aside
from videoautoarena.runs.views.page.sheets import (
    COLUMNS,
    WIDTH_PX,
    ThumbnailStudio,
    worth_a_thumbnail,
)
from videoautoarena.video.sampling.thinning import kept_places
from videoautoarena.video.workers.decoders import Decoders

THUMBS = 16
"""Thumbnails a video gets at least."""
Places = Mapping[str, tuple[int, ...]]
"""Places of frames, by who saw them."""


class FoundVideo(NamedTuple):
    """A video of a run, and where it lay."""

    video: Video
    folder: Path


class RunPictures:
    """Draws and finds the pictures of one run.

    Which thumbnails a video has is decided once: a page that knows where each of them lies must
    find them there, though more models see the video while the run goes on.
    """

    def __init__(self, folder: Path, decoders: Decoders, films: Path | None = None) -> None:
        """Take the folder of a run, and that of its videos where it was named now."""
        self._folder = folder
        self._films = films
        self._decoders = decoders
        self._sheets: dict[str, tuple[Places, dict[str, Any]]] = {}
        """For each video, what its sheet is drawn from, and where each thumbnail lies on it."""

    def lay_out(self, run: RunReader, videos: Mapping[str, dict[str, Any]]) -> None:
        """Add to each video, as a page reads it, where its thumbnails lie."""
        config = RunConfig.of_manifest(run.manifest)
        for id_, body in videos.items():
            if id_ not in self._sheets and (frames := run.store.frames(id_)) is not None:
                seen = {**dict(_limits(config, len(frames.frames))), **(body["seen"] or {})}
                self._sheets[id_] = seen, _layout(frames, seen)
            body["sprite"] = self._sheets[id_][1] if id_ in self._sheets else None

    async def sheet(self, id_: str) -> bytes | None:
        """Return the thumbnails of a video as WebP; None where no frame can be had any more."""
        known = self._sheets.get(id_)
        found = await aside(lambda: self.find(id_))
        if known is None or found is None:
            return None
        with open_run(self._folder) as run:
            async with ThumbnailStudio(run, THUMBS, self._films) as studio:
                sheet = await studio.sheet(found.video, known[0])
        return sheet.webp if sheet else None

    async def frame(self, id_: str, place: int) -> bytes | None:
        """Return a frame as JPEG, decoded again where the cache has lost it; None if there is none.

        Raises:
            UnusableVideo: the video is gone or cannot be decoded; FramesChanged: it gives others.
        """
        found = await aside(lambda: self.find(id_))
        frames, sampling = await aside(lambda: self._frames(id_))
        if found is None or frames is None or place >= len(frames.frames):
            return None
        path = found.folder / found.video.path
        digests = [frames.frames[place].digest]
        try:
            ask = self._decoders.jpegs(path, found.video, sampling=sampling, digests=digests)
            return (await ask)[0]
        except UnusableVideo:
            if found.folder is NO_FOLDER:
                raise UnusableVideo(UNKNOWN_FOLDER) from None
            raise

    def find(self, id_: str) -> FoundVideo | None:
        """Return a video of the run by its whole id, and the folder it lies in."""
        with open_run(self._folder) as run:
            video = next((one for one in run.store.videos() if one.id == id_), None)
            # Only a folder that was named on this machine: the file of a run is not believed where
            # it leads.
            folder = videos_folder(run.store, self._films) or NO_FOLDER
        return FoundVideo(video, folder) if video else None

    def _frames(self, id_: str) -> tuple[VideoFrames | None, Sampling]:
        with open_run(self._folder) as run:
            return run.store.frames(id_), RunConfig.of_manifest(run.manifest).sampling


def _limits(config: RunConfig, total: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield which of `total` frames each contestant and judge will see."""
    roles: dict[Role, Sequence[str]] = {"contestant": config.models, "judge": config.judges}
    for role, names in roles.items():
        for name in names:
            limit = config.model_of(name).frame_limit(role)
            yield f"{role} {name}", tuple(kept_places(total, limit))


def _layout(frames: VideoFrames, seen: Places) -> dict[str, Any]:
    places = worth_a_thumbnail(len(frames.frames), list(seen.values()), THUMBS)
    # Of a very wide video it would be rounded to nothing.
    height = max(1, round(frames.height_px * WIDTH_PX / frames.width_px))
    return {"w": WIDTH_PX, "h": height, "columns": COLUMNS, "of": list(places)}
