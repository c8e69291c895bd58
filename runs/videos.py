"""What a folder holds: every usable video with its shape, and why the other files are none."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory.errors import BadInput, UnusableVideo
from memory.records import SCHEMA, Sampling, Skipped, Video
from runs.buckets import BUCKET_NAMES, bucket
from runs.events import Say
from runs.gathering import gather
from runs.reading import counted
from runs.tallying import telling
from video.cache import FrameCache
from video.find import Findings
from video.studio import Decoders
from video.subtitles import Shelf


@dataclass(frozen=True)
class Row:
    """One usable video."""

    video: Video
    subtitles: str | None
    """The file whose cues a run would send with its frames."""
    scenes: int | None = None
    """None where nobody looked, or none could be found."""
    problems: tuple[str, ...] = ()
    damaged: int | None = None
    """Of the frames that a run would look at, how many are; None where nobody looked."""

    @property
    def bucket(self) -> str:
        """The duration bucket it is sliced by."""
        return bucket(self.video.duration_s)

    def as_json(self) -> dict[str, Any]:
        """Return it as one of `videos` in `arena videos --json`."""
        return {
            **self.video.model_dump(exclude={"problems"}),
            "bucket": self.bucket,
            "scenes": self.scenes,
            "damaged": self.damaged,
            "subtitles": self.subtitles,
            "problems": list(self.problems),
        }


@dataclass(frozen=True)
class Library:
    """A folder of videos."""

    folder: Path
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...]
    duplicates: tuple[tuple[str, str], ...]
    """(path, path of the video with the same bytes)."""

    @property
    def buckets(self) -> dict[str, int]:
        """How many videos there are of each duration bucket that has any."""
        counts = Counter(row.bucket for row in self.rows)
        return {name: counts[name] for name in BUCKET_NAMES if counts[name]}

    @property
    def duration_s(self) -> float:
        """Of all videos together."""
        return round(sum(row.video.duration_s for row in self.rows), 3)

    @property
    def size_bytes(self) -> int:
        """Of all videos together."""
        return sum(row.video.size_bytes for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena videos --json`."""
        return {
            "schema": SCHEMA,
            "folder": str(self.folder),
            "videos": [row.as_json() for row in self.rows],
            "skipped": [skipped.model_dump() for skipped in self.skipped],
            "duplicates": [{"path": path, "same_as": same} for path, same in self.duplicates],
            "totals": {
                "videos": len(self.rows),
                "duration_s": self.duration_s,
                "size_bytes": self.size_bytes,
                "buckets": self.buckets,
            },
        }


def read_library(folder: Path, say: Say) -> Library:
    """Return what a folder holds; each file is opened by a worker.

    Raises:
        BadInput: no such folder, or none that can be read.
    """
    found = gather(folder, say)
    shelf = Shelf(folder)
    rows = tuple(_row(shelf, video, found) for video in found.videos)
    return Library(folder, rows, tuple(found.skipped), tuple(found.duplicates))


def _row(shelf: Shelf, video: Video, found: Findings) -> Row:
    copies = [path for path, same in found.duplicates if same == video.path]
    beside = shelf.beside(video, copies)
    wrong = [f"{skipped.path} {skipped.reason}" for skipped in beside.skipped]
    track = beside.track
    return Row(video, track and track.path, problems=(*video.problems, *wrong))


async def with_damage(library: Library, say: Say) -> Library:
    """Return it with the damaged frames counted of those that a run looks at by itself.

    They are decoded where the cache does not hold them, and a run finds them there. Where it cannot
    be written, that is said, and nothing is counted.
    """

    async def look(decoders: Decoders, row: Row) -> Row:
        try:
            path = library.folder / row.video.path
            frames = await decoders.frames(path, row.video, Sampling())
        except UnusableVideo as failure:
            return replace(row, problems=(*row.problems, f"{failure} when it was decoded"))
        of = f"{frames.damaged} of the {counted(len(frames.frames), 'frame')} looked at are damaged"
        problems = (*row.problems, *[of] * bool(frames.damaged))
        return replace(row, damaged=frames.damaged, problems=problems)

    try:
        return await _with_each(library, look, say=say, words="decoded")
    except BadInput as failure:
        say(f"damage was not looked for: {failure}")
        return library


async def with_scenes(library: Library, say: Say) -> Library:
    """Return it with the scenes counted, at the cost of a full decode of what was never looked at.

    Raises:
        BadInput: what is found cannot be kept.
    """

    async def look(decoders: Decoders, row: Row) -> Row:
        try:
            scenes = await decoders.scenes(library.folder / row.video.path, row.video)
        except UnusableVideo as failure:
            found = (*row.problems, f"{failure} when its scenes were looked for")
            return replace(row, problems=found)
        return replace(row, scenes=len(scenes))

    return await _with_each(library, look, say=say, words="searched for scenes")


async def _with_each(
    library: Library, look: Callable[[Decoders, Row], Awaitable[Row]], *, say: Say, words: str
) -> Library:
    """Return it with every row looked at once more."""
    done = 0
    with telling(say) as tell:
        async with Decoders(FrameCache()) as decoders:

            async def look_and_tell(row: Row) -> Row:
                nonlocal done
                looked = await look(decoders, row)
                done += 1
                tell(done, len(library.rows), words)
                return looked

            rows = await asyncio.gather(*map(look_and_tell, library.rows))
    return replace(library, rows=tuple(rows))
