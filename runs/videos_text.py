"""A folder of videos on a terminal: a table, what is wrong, what was left out, and totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from runs.console import folded, safe
from runs.figures import length
from runs.reading import counted
from runs.videos import Library, Row
from runs.working import spent

if TYPE_CHECKING:
    from rich.console import RenderableType

NARROW = 80
_COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("length", lambda row: length(row.video.duration_s)),
    ("size", lambda row: f"{row.video.width_px}x{row.video.height_px}"),
    ("fps", lambda row: f"{row.video.fps:.4g}"),
    ("codec", lambda row: safe(row.video.codec)),
)


def render_library(library: Library) -> RenderableType:
    """Return a folder's videos for a console; columns that would be empty are left out."""
    if not library.rows:
        nothing = f"{safe(str(library.folder))} holds no usable video"
        return Group(*map(Text, (nothing, *_left_out(library))))
    columns = [*_COLUMNS, *_extra(library.rows), ("bucket", lambda row: row.bucket)]
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("video", overflow="fold")
    for title, _ in columns:
        grid.add_column(title, justify="right", no_wrap=True)
    for row in library.rows:
        mark = " !" if row.problems else ""
        cells = (Text(tell(row)) for _, tell in columns)
        grid.add_row(Text(f"{safe(row.video.path)}{mark}"), *cells)
    # Nothing more may be said: no decoder tells of all the damage there is.
    is_unmarked = all(row.damaged == 0 and not row.problems for row in library.rows)
    marked = ["no damage reported"] if is_unmarked else _problems(library.rows)
    below = [*marked, *_left_out(library)]
    return Group(grid, *map(Text, ("", *below, *[""] * bool(below), _totals(library))))


def _extra(rows: Sequence[Row]) -> Iterator[tuple[str, Callable[[Row], str]]]:
    if any(row.video.rotation for row in rows):
        yield "turned", lambda row: f"{row.video.rotation}°" if row.video.rotation else ""
    if any(row.scenes is not None for row in rows):
        yield "scenes", lambda row: "" if row.scenes is None else str(row.scenes)
    if any(row.subtitles for row in rows):
        yield "subtitles", lambda row: "yes" if row.subtitles else ""


def _problems(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for problem in row.problems:
            yield f"! {safe(row.video.path)}: {safe(problem)}"


def _left_out(library: Library) -> Iterator[str]:
    for skipped in library.skipped:
        yield f"skipped {safe(skipped.path)}: {safe(skipped.reason)}"
    for path, same in library.duplicates:
        yield f"{safe(path)} is the same video as {safe(same)}; it is used once"


def _totals(library: Library) -> str:
    buckets = ", ".join(f"{count} of {name}" for name, count in library.buckets.items())
    told = [
        counted(len(library.rows), "video"),
        spent(library.duration_s),
        f"{library.size_bytes / 1e6:.1f} MB",
        *[f"{len(library.skipped)} skipped"] * bool(library.skipped),
        *[counted(len(library.duplicates), "duplicate")] * bool(library.duplicates),
    ]
    return folded(f"{', '.join(told)}; {buckets}", NARROW)
