"""A run as one HTML file that opens anywhere, and a large one as a file with siblings."""

from __future__ import annotations

import gzip
import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.console.progress.events import Say
from videoautoarena.runs.console.progress.listeners import OnProgress, unheard
from videoautoarena.runs.formats.files import make_folder, refuse_existing, whole_file, write_whole
from videoautoarena.runs.formats.record_json import LEFT_OUT, fields_json, keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import roughly
from videoautoarena.runs.run.rundir.reader import RunReader, counted, open_run
from videoautoarena.runs.views.page.data import LISTED, PageData
from videoautoarena.runs.views.page.document import as_text, block, document, is_ours
from videoautoarena.runs.views.page.sheets import ThumbnailSheet, ThumbnailStudio

MOST_BATTLES = 10_000
"""Battles that a report in one file lists at most: about 12 MB without pictures."""
THUMBS = 16
"""Thumbnails a video gets at least, unless asked otherwise."""
LEVEL = 6
"""Compression level of gzip: 9 takes three times as long for 1 % less."""
_BLOCK = re.compile(r"(?:index|videos|part-\d+|sprite-[0-9a-f]{12})\.js")
READ_A_SECOND, WORTH_SAYING = 700, 2_000
"""Battles that are read a second, and how many make it worth saying how long it takes."""


@dataclass(frozen=True)
class ReportOptions:
    """Which report is to be written."""

    folder: Path
    to: Path
    thumbs: int = THUMBS
    """Thumbnails a video gets at least; 0 for none."""
    split: bool = False
    """Put battles and pictures into a folder beside the file, which loads them when looked at."""
    videos: Path | None = None
    """The folder of the videos; None: the one named last on this machine."""
    topics: bool = False
    """Show models by topic, too; needs scikit-learn."""


@dataclass(frozen=True)
class WrittenReport:
    """The report that was written."""

    SHOWN: ClassVar = (
        *("to", "battles", "size_bytes", "pictures_bytes", "missing_pictures", "note"),
    )
    to: Path = field(metadata=keyed("report"))
    """The file that was written."""
    battles: int
    """Battles in its lists."""
    size_bytes: int = field(metadata=keyed("bytes"))
    """Size of the file and of those beside it."""
    pictures_bytes: int = field(metadata=keyed("picture_bytes"))
    """Size of the thumbnails, before they are encoded as text."""
    missing: Mapping[str, str]
    """Reasons by path for videos of which no frame could be had any more."""
    note: str | None = field(default=None, metadata=LEFT_OUT)
    """Which battles are listed, if not all of them."""

    @property
    def missing_pictures(self) -> list[dict[str, str]]:
        """Videos of which no frame could be had any more: `path` and `reason`."""
        return [{"path": path, "reason": why} for path, why in self.missing.items()]

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena report --json` prints it."""
        return fields_json(self)

    def as_lines(self) -> list[str]:
        """Return it for a person."""
        size = f"{self.size_bytes / 1e6:,.1f} MB"
        lines = [f"{safe(str(self.to))}: {counted(self.battles, 'battle')}, {size}"]
        if self.missing:
            path, why = next(iter(self.missing.items()))
            more = f" and {len(self.missing) - 1} more" if len(self.missing) > 1 else ""
            lines.append(f"no pictures of {safe(path)}{more}: {safe(why)}")
        return lines


def report_file(folder: Path, to: Path | None, *, force: bool) -> Path:
    """Return the file of a report, `to` or one in a folder, where an earlier report is replaced.

    Raises:
        BadInput: it is no name for one, cannot be made, or exists and `force` is not given.
    """
    file = to or folder / "report.html"
    if file.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"{file} is not the name of a page; pass one that ends in .html")
    if not file.absolute().parent.is_dir():
        raise BadInput(f"{file.parent} is not a folder; create it, or pass another {option('to')}")
    refuse_existing(file, force=force or (to is None and is_ours(file)))
    return file


async def write_report(
    order: ReportOptions, on_progress: OnProgress = unheard, say: Say | None = None
) -> WrittenReport:
    """Write the report of a run; calls no model, and changes nothing else in the run's folder.

    `on_progress` hears how many videos have their thumbnails, `say` how long a large run takes.

    Thumbnails come from the frame cache, what that has lost from the videos themselves; a video
    whose frames are gone is left without, and named in what comes back.

    Raises:
        BadInput: no run, topics of a run that has none, or a file that cannot be written.
    """
    if say is not None:
        with open_run(order.folder) as run:
            count = len(run.battles)
        if count >= WORTH_SAYING:
            say(f"reading {count:,} battles takes about {roughly(count / READ_A_SECOND)}")
    most = LISTED if order.split else MOST_BATTLES
    data = PageData.read(order.folder, most, topics=order.topics)
    with open_run(order.folder) as run:
        sheets, missing = await draw_sheets(run, data, order, on_progress)
        # Whole or not at all: an earlier report stays where this one fails.
        with whole_file(order.to) as file:
            size = _write(file, run, data, sheets, _siblings(order.to) if order.split else None)
    pictures = sum(len(sheet.webp) for sheet in sheets.values())
    return WrittenReport(order.to, len(data.index.id), size, pictures, missing, data.note)


async def draw_sheets(
    run: RunReader, data: PageData, order: ReportOptions, on_progress: OnProgress = unheard
) -> tuple[dict[str, ThumbnailSheet], dict[str, str]]:
    """Return thumbnails by video, also noted in the page's data, and why others are missing."""
    found: dict[str, ThumbnailSheet] = {}
    if not order.thumbs:
        return {}, {}
    videos = [video for video in run.store.videos() if video.id in data.videos]
    on_progress(0, len(videos), "pictures of videos")
    async with ThumbnailStudio(run, order.thumbs, order.videos) as studio:
        for number, video in enumerate(videos, start=1):
            body = data.videos[video.id]
            if sheet := await studio.sheet(video, body["seen"]):
                found[video.id] = sheet
                body["sprite"] = sheet.to_json()
            on_progress(number, len(videos), "pictures of videos")
    return found, {v.path: studio.missing[v.id] for v in videos if v.id in studio.missing}


def _write(
    file: BinaryIO,
    run: RunReader,
    data: PageData,
    sheets: Mapping[str, ThumbnailSheet],
    beside: Path | None,
) -> int:
    """Write the document and what lies beside it; return the bytes of all of it."""
    summary = data.summary if beside is None else {**data.summary, "siblings": beside.name}
    head, tail = document(
        "report",
        place="file" if beside is None else "split",
        title=page_title(summary),
        summary=summary,
        plain=plain_table(summary),
    )
    file.write(head.encode())
    size = 0
    if beside is not None:
        _empty(beside)
    for name, text in _blocks(run, data, sheets):
        if beside is None:
            # As they come, with one part in memory at a time.
            file.write(f"{block(name, text)}\n".encode())
        else:
            # A script, since a page opened from disk may not fetch the files beside it.
            content = f'arenaBlock("{name}","{text}")\n'.encode()
            write_whole(beside / f"{name}.js", content)
            size += len(content)
    file.write(tail.encode())
    return size + file.tell()


def _blocks(
    run: RunReader, data: PageData, sheets: Mapping[str, ThumbnailSheet]
) -> Iterator[tuple[str, str]]:
    """Yield everything past the first figure, by its name, as base64: no other sign is in it."""
    yield "index", packed(fields_json(data.index))
    yield "videos", packed(data.videos)
    for number, part in enumerate(data.parts(run)):
        yield f"part-{number}", packed(part)
    for video, sheet in sheets.items():
        yield f"sprite-{video}", b64encode(sheet.webp).decode()


def packed(value: Any) -> str:
    """Return JSON gzipped in base64, the same text every time."""
    raw = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Without a time of making, so that equal data give equal bytes.
    small = gzip.compress(raw.encode("utf-8", "replace"), LEVEL, mtime=0)
    return b64encode(small).decode()


def page_title(summary: Mapping[str, Any]) -> str:
    """Return the title of a page: who leads, and the name of the run."""
    words = summary["words"]
    return f"{as_text(words['lead'], words['short'])} · {summary['run']['name']}"


def plain_table(summary: Mapping[str, Any]) -> str:
    """Return the leaderboard as HTML for readers without scripts, every text escaped."""
    words = summary["words"]
    table = summary["tables"]["leaderboard"]
    lead = html.escape(as_text(words["lead"], words["short"]))
    columns = [of for of in table["columns"] if of["kind"] != "bar" and not of["is_detail"]]
    # HTML needs no end tags for cells and rows.
    head = "".join(f"<th>{html.escape(of['title'])}" for of in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(row['cells'][of['key']])}" for of in columns)
        for row in table["rows"]
    )
    return f"<h1>{lead}</h1><table><tr>{head}{rows}</table>"


def _siblings(to: Path) -> Path:
    return to.with_name(f"{to.stem}-files")


def _empty(folder: Path) -> None:
    """Make the folder of a split report, without the blocks of one that was there before."""
    make_folder(folder)
    for old in folder.glob("*.js"):
        # Blocks of an earlier report alone: whatever else lies there is somebody's.
        if _BLOCK.fullmatch(old.name):
            old.unlink()
