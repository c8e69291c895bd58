"""A folder of videos on a terminal: a table, problems, unused files, and totals."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import (
    CATEGORIES,
    Sampling,
    SkippedFile,
    Video,
    VideoFacts,
)
from videoautoarena.runs.console.progress.events import Say
from videoautoarena.runs.console.progress.listeners import gather, progress
from videoautoarena.runs.formats.record_json import fields_json, keyed, record_json
from videoautoarena.runs.formats.terminal import folded, safe
from videoautoarena.runs.formats.words import length, spent
from videoautoarena.runs.run.inputs.facts import NO_FACTS, Facts, read_facts
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.scoring.texts.traits import BUCKET_NAMES, bucket
from videoautoarena.video.folder.find import Duplicate, Findings
from videoautoarena.video.folder.subtitles import SubtitleFolder
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class VideoRow:
    """One usable video."""

    SHOWN: ClassVar = ("bucket", "scenes", "damaged", "subtitles", "problems", "facts")
    video: Video
    subtitles: str | None
    """Path of the file whose cues a run would send, or None."""
    scenes: int | None = None
    """Number of scenes; None without `--scenes`, or if none could be found."""
    problems: tuple[str, ...] = ()
    """Problems that do not keep it from being used, a clause each."""
    damaged: int | None = None
    """Damaged frames among those that a run samples by default; 0 if none was reported; None with
    `--quick`, or if none could be decoded."""
    facts: VideoFacts | None = None
    """What `videos.csv` says of it: `title`, `category`, `language`, `licence`, each or None, and
    the file's own `columns`, name to cell; None without a row."""

    @property
    def bucket(self) -> str:
        """Bucket of its duration, by which boards are sliced."""
        return bucket(self.video.duration_s)

    def to_json(self) -> dict[str, Any]:
        """Return it as one of `videos` in `arena videos --json`."""
        return self.video.model_dump(exclude={"problems"}) | fields_json(self)


class FolderTotals(NamedTuple):
    """Sums over all videos of a folder."""

    videos: int
    duration_s: float
    size_bytes: int
    buckets: dict[str, int]
    """Bucket of duration to its number of videos, if it has any."""


class KnownFacts(NamedTuple):
    """What is known from a folder's file of facts."""

    problem: str | None
    """The problem for which a run would refuse the file, or None."""
    columns: tuple[str, ...]
    categories: tuple[str, ...]
    """The categories that an examiner chooses from."""
    videos: int
    """Number of videos that the file says something of."""


@dataclass(frozen=True)
class Library:
    """A folder of videos, as `arena videos` shows it."""

    SHOWN: ClassVar = ("folder", "rows", "skipped", "duplicates", "totals", "facts")
    folder: Path
    """The folder as it was typed."""
    rows: tuple[VideoRow, ...] = field(metadata=keyed("videos"))
    """Every usable [video](#a-video-that-was-listed)."""
    skipped: tuple[SkippedFile, ...]
    """`path` and `reason` of every file that cannot be used."""
    duplicates: tuple[Duplicate, ...]
    """`path` of a file, and the video it is `same_as`."""
    known: Facts = NO_FACTS
    wrong_facts: BadInput | None = None
    """Why a run over this folder would not begin, because of its facts."""

    @property
    def facts(self) -> KnownFacts | None:
        """What `videos.csv` says; None without a file.

        `columns`, `categories` to choose from, number of `videos` it says something of, and the
        `problem` for which a run would refuse it, or None.
        """
        facts = self.known
        wrong = self.wrong_facts
        if facts.sha256 is None and wrong is None:
            return None
        said = sum(row.facts is not None for row in self.rows)
        problem = None if wrong is None else str(wrong)
        return KnownFacts(problem, tuple(facts.columns), tuple(facts.categories), said)

    @property
    def totals(self) -> FolderTotals:
        """`videos`, `duration_s`, `size_bytes` and `buckets`: name to number of videos."""
        counts = Counter(row.bucket for row in self.rows)
        return FolderTotals(
            videos=len(self.rows),
            duration_s=round(sum(row.video.duration_s for row in self.rows), 3),
            size_bytes=sum(row.video.size_bytes for row in self.rows),
            buckets={name: counts[name] for name in BUCKET_NAMES if counts[name]},
        )

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena videos --json`."""
        return record_json(self)


def read_library(folder: Path, say: Say, facts: str | None = None) -> Library:
    """Return the videos of a folder; BadInput if it cannot be read.

    `facts` is the file that says what the videos are, "none", or None for the one beside them.
    """
    found = gather(folder, say)
    known = NO_FACTS
    wrong = None
    try:
        known = read_facts(folder, found, facts)
    except BadInput as why:
        # Kept and told below the table: the videos are listed all the same.
        wrong = why
    shelf = SubtitleFolder(folder)
    rows = tuple(
        replace(_row(shelf, video, found), facts=known.videos.get(video.id))
        for video in found.videos
    )
    left_out = tuple(found.skipped), tuple(found.duplicates)
    return Library(folder, rows, *left_out, known=known, wrong_facts=wrong)


def _row(shelf: SubtitleFolder, video: Video, found: Findings) -> VideoRow:
    # Subtitles count also beside a copy that is left out.
    copies = [path for path, same in found.duplicates if same == video.path]
    beside = shelf.beside(video, copies)
    wrong = [f"{skipped.path} {skipped.reason}" for skipped in beside.skipped]
    track = beside.track
    return VideoRow(video, track and track.path, problems=(*video.problems, *wrong))


async def with_damage(library: Library, say: Say) -> Library:
    """Return the library with damaged frames counted among those that a run samples by default.

    Frames are decoded into the cache, where a run finds them. If it cannot be written, that is
    said, and nothing is counted.
    """

    async def look(decoders: Decoders, row: VideoRow) -> VideoRow:
        try:
            path = library.folder / row.video.path
            frames = await decoders.frames(path, row.video, Sampling())
        except UnusableVideo as failure:
            return replace(row, problems=(*row.problems, f"{failure} while decoding"))
        of = f"{frames.damaged} of the {counted(len(frames.frames), 'frame')} checked are damaged"
        problems = (*row.problems, *[of] * bool(frames.damaged))
        return replace(row, damaged=frames.damaged, problems=problems)

    try:
        return await _with_each(library, look, say=say, words="decoded")
    except BadInput as failure:
        say(f"not checked for damage: {failure}")
        return library


async def with_scenes(library: Library, say: Say) -> Library:
    """Return the library with scenes counted: a full decode of each video not searched before."""

    async def look(decoders: Decoders, row: VideoRow) -> VideoRow:
        try:
            scenes = await decoders.scenes(library.folder / row.video.path, row.video)
        except UnusableVideo as failure:
            found = (*row.problems, f"{failure} while searching for scenes")
            return replace(row, problems=found)
        return replace(row, scenes=len(scenes))

    return await _with_each(library, look, say=say, words="searched for scenes")


async def _with_each(
    library: Library,
    look: Callable[[Decoders, VideoRow], Awaitable[VideoRow]],
    *,
    say: Say,
    words: str,
) -> Library:
    """Return the library with every row replaced by what `look` returns for it."""
    done = 0
    with progress(say) as on_progress:
        async with Decoders(FrameCache()) as decoders:

            async def look_and_count(row: VideoRow) -> VideoRow:
                nonlocal done
                looked = await look(decoders, row)
                done += 1
                on_progress(done, len(library.rows), words)
                return looked

            rows = await asyncio.gather(*map(look_and_count, library.rows))
    return replace(library, rows=tuple(rows))


NARROW = 80
MOST_VALUES = 6
"""The most values of a column of facts that are named; of more only their number is given."""
_COLUMNS: tuple[tuple[str, Callable[[VideoRow], str]], ...] = (
    ("length", lambda row: length(row.video.duration_s)),
    ("size", lambda row: f"{row.video.width_px}x{row.video.height_px}"),
    ("fps", lambda row: f"{row.video.fps:.4g}"),
    ("codec", lambda row: safe(row.video.codec)),
)


def render_library(library: Library) -> RenderableType:
    """Return a folder's videos for a console, without columns that would be empty."""
    if not library.rows:
        nothing = f"{safe(str(library.folder))} contains no usable video"
        return Group(*map(Text, (nothing, *_left_out(library))))
    columns = [*_COLUMNS, *_extra(library.rows), ("bucket", lambda row: row.bucket)]
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("video", overflow="fold")
    for title, _ in columns:
        grid.add_column(title, justify="right", no_wrap=True)
    for row in library.rows:
        mark = " !" if row.problems else ""
        cells = (Text(text_of(row)) for _, text_of in columns)
        grid.add_row(Text(f"{safe(row.video.path)}{mark}"), *cells)
    # Nothing more may be said: no decoder reports all the damage there is.
    is_unmarked = all(row.damaged == 0 and not row.problems for row in library.rows)
    marked = ["no damage reported"] if is_unmarked else _problems(library.rows)
    below = [*marked, *_left_out(library), *_about_facts(library)]
    return Group(grid, *map(Text, ("", *below, *[""] * bool(below), _totals(library))))


def _extra(rows: Sequence[VideoRow]) -> Iterator[tuple[str, Callable[[VideoRow], str]]]:
    if any(row.video.rotation for row in rows):
        yield "turned", lambda row: f"{row.video.rotation}°" if row.video.rotation else ""
    if any(row.scenes is not None for row in rows):
        yield "scenes", lambda row: "" if row.scenes is None else str(row.scenes)
    if any(row.facts and row.facts.category for row in rows):
        yield "category", lambda row: safe((row.facts and row.facts.category) or "")
    if any(row.subtitles for row in rows):
        yield "subtitles", lambda row: "yes" if row.subtitles else ""


def _problems(rows: Sequence[VideoRow]) -> Iterator[str]:
    for row in rows:
        for problem in row.problems:
            yield f"! {safe(row.video.path)}: {safe(problem)}"


def _left_out(library: Library) -> Iterator[str]:
    for skipped in library.skipped:
        yield f"skipped {safe(skipped.path)}: {safe(skipped.reason)}"
    for path, same in library.duplicates:
        yield f"{safe(path)} is the same video as {safe(same)}; it is used once"


def _about_facts(library: Library) -> Iterator[str]:
    """Yield lines on the facts, column by column, and on videos without any."""
    facts = library.known
    if facts.sha256 is None:
        return
    rows = [row for row in library.rows if row.facts is not None]
    yield f"facts on {len(rows)} of {counted(len(library.rows), 'video')}"
    for column in facts.columns:
        said = Counter(facts.cell(row.video.id, column) for row in library.rows)
        gaps = said.pop(None, 0)
        values = ", ".join(f"{count} {safe(name or '')}" for name, count in said.most_common())
        many = f"{len(said)} different" if len(said) > MOST_VALUES else values
        parts = [part for part in (many, f"{gaps} without" if gaps else "") if part]
        yield f"  {safe(column)}: {', '.join(parts)}"
    if silent := [safe(row.video.path) for row in library.rows if row.facts is None]:
        more = f" and {len(silent) - MOST_VALUES} more" if len(silent) > MOST_VALUES else ""
        yield f"  no row: {', '.join(silent[:MOST_VALUES])}{more}"
    if facts.categories != CATEGORIES:
        yield f"  an examiner chooses from: {', '.join(map(safe, facts.categories))}"


def _totals(library: Library) -> str:
    buckets = ", ".join(f"{count} of {name}" for name, count in library.totals.buckets.items())
    totals = [
        counted(len(library.rows), "video"),
        spent(library.totals.duration_s),
        f"{library.totals.size_bytes / 1e6:.1f} MB",
        *[f"{len(library.skipped)} skipped"] * bool(library.skipped),
        *[counted(len(library.duplicates), "duplicate")] * bool(library.duplicates),
    ]
    return folded(f"{', '.join(totals)}; {buckets}", NARROW)
