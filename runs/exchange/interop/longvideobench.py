"""LongVideoBench's published files: `lvb_val.json`, `lvb_test_wo_gt.json` and subtitles.

Subtitles are those of the longer video that each clip was cut from. Where a folder is named for
them, they are written there as .srt files on the clock of the clip, and the set has their digests.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.schema import BenchSubtitles, BenchVideo, TaskItem
from videoautoarena.runs.bench.format.verify import inside
from videoautoarena.runs.exchange.interop.task_sets import (
    LONGEST_FILE_NAME,
    LONGEST_ID,
    PublishedItems,
    StrictRecord,
    TaskSetImport,
    UnusableRecord,
    files_of,
    make_items,
    named_video,
    put_tasks,
    read_records,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import kind_of, make_folder, read_json, write_whole
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted

LONGVIDEOBENCH = "longvideobench"
START = "starting_timestamp_for_subtitles"
CATEGORY = "topic_category"
KNOWN = ("id", "video_path", "question", "candidates", "duration", CATEGORY, "question_category")
"""Keys of a record that have a field of their own in an item."""
SUBTITLES = "subtitles"
"""The folder of subtitles beside the published files."""
# Characters of the name of a task.
LONGEST_NAME = 100
LATEST_S = 1e9
"""Later than any time of a video; a published number can be larger."""
_NAME = re.compile(r"(?!\.)[^/\\\x00-\x1f\x7f\ud800-\udfff]+")
_CLOCK = re.compile(r"([0-9]{1,4}):([0-9]{1,2}):([0-9]{1,2}(?:[.,][0-9]{1,9})?)")
_NAMED = 3


class SubtitledClip(NamedTuple):
    """What must be known of one video to write its subtitles."""

    spoken: str
    """Path of their file, below the folder of subtitles."""
    start_s: float
    """When the clip begins in the longer video that they belong to."""
    duration_s: float | None


def subtitles_beside(place: Path) -> Path:
    """Return the folder in which subtitles of a published file, or of those in a folder, lie."""
    return (place if place.is_dir() else place.parent) / SUBTITLES


@dataclass(frozen=True)
class SubtitleFiles:
    """The subtitles that were written."""

    folder: Path
    files: int
    lacking: tuple[str, ...]
    """Names of files that records give but that are missing."""

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in `arena import longvideobench --json`."""
        return {"folder": str(self.folder), "files": self.files, "lacking": list(self.lacking)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        lines = [
            f"{counted(self.files, 'file')} of subtitles in {safe(str(self.folder))}; they are "
            "read from beside each video, so put them there"
        ]
        if self.lacking:
            named = ", ".join(quoted(name) for name in self.lacking[:_NAMED])
            many = counted(len(self.lacking), "file")
            lines.append(f"{many} of subtitles not there, such as {named}")
        return lines


def import_longvideobench(
    place: Path,
    to: Path,
    *,
    split: str | None = None,
    licence: str | None = None,
    subtitles: Path | None = None,
) -> tuple[TaskSetImport, SubtitleFiles | None]:
    """Make a task set of a published file, or of those in a folder, whole or not at all.

    A file with a `correct_choice` is of the validation set, another of the test set, unless `split`
    says so. With `subtitles`, those beside the file are written into that folder.

    Raises:
        BadInput: a file cannot be read, a record in it cannot be used (it is named by its place),
            or `to` or `subtitles` holds something else.
    """
    parts = [_part(file, split) for file in files_of(place, "lvb_*.json")]
    items = [item for part in parts for item in part.items]
    texts = dict[str, bytes]()
    lacking = list[str]()
    if subtitles is not None:
        clips = dict[str, SubtitledClip]()
        for item in items:
            if spoken := item.extra.get("subtitle_path"):
                start_s = StrictRecord(item.extra).number(START) or 0.0
                clip = clips.setdefault(
                    item.video_id, SubtitledClip(str(spoken), start_s, item.duration_s)
                )
                if clip[:2] != (spoken, start_s):
                    video = quoted(item.video_id)
                    raise BadInput(
                        f"{quoted(item.qid)} and another item say of {video} other subtitles"
                    )
        texts, lacking = _read_subtitles(clips, subtitles_beside(place))
        # Before the set is put: where one of the two cannot be written, neither is.
        _refuse_others(texts, subtitles)
    videos = {item.video_id: _entry(item.video_id, texts) for item in items}
    taken = put_tasks(parts, to, form=LONGVIDEOBENCH, licence=licence, videos=videos)
    if subtitles is None:
        return taken, None
    make_folder(subtitles)
    for name, text in texts.items():
        write_whole(subtitles / name, text)
    return taken, SubtitleFiles(subtitles, len(texts), tuple(lacking))


def _part(file: Path, split: str | None) -> PublishedItems:
    records = read_records(file)
    of = split or ("val" if any(_is_keyed(row) for row in records.rows) else "test")
    return make_items(records, lambda row: _item(row, of))


def _is_keyed(row: Any) -> bool:
    return isinstance(row, dict) and row.get("correct_choice") not in (None, -1)


def _item(row: StrictRecord, split: str) -> TaskItem:
    options = row.options()
    if not options:
        raise UnusableRecord('has no "candidates" to choose from')
    # Only for what they raise: both stay in `extra`, from where subtitles are made.
    row.number(START)
    row.optional_text("subtitle_path")
    return TaskItem(
        qid=row.text("id", longest=LONGEST_ID),
        video_id=row.text("video_path", longest=LONGEST_ID),
        task=row.text("question_category", longest=LONGEST_NAME),
        question=row.text("question"),
        options=options,
        answer=_answer(row, options),
        split=split,
        duration_s=row.number("duration"),
        category=row.optional_text(CATEGORY),
        extra=row.rest(KNOWN),
    )


def _answer(row: StrictRecord, options: Sequence[str]) -> str | None:
    if not _is_keyed(row):
        return None
    place = row["correct_choice"]
    # Not isinstance: `true` is an int in Python.
    if type(place) is not int or not 0 <= place < len(options):
        raise UnusableRecord(
            f'has {quoted(place)} under "correct_choice", which is no place of an option'
        )
    return options[place]


def _entry(video: str, texts: Mapping[str, bytes]) -> BenchVideo:
    name = _srt_name(video)
    spoken = BenchSubtitles(path=name, sha256=digest(texts[name])) if name in texts else None
    return named_video(video).model_copy(update={"subtitles": spoken})


def _srt_name(video: str) -> str:
    return f"{PurePosixPath(video).stem}.srt"


def _read_subtitles(
    clips: Mapping[str, SubtitledClip], folder: Path
) -> tuple[dict[str, bytes], list[str]]:
    """Return .srt files by name, and the published names that are not there."""
    texts = dict[str, bytes]()
    lacking = list[str]()
    for video, clip in clips.items():
        name = _srt_name(video)
        # A published path leads nowhere but below the folder of subtitles.
        file = inside(folder, clip.spoken)
        can_be = _NAME.fullmatch(name) and len(name.encode()) <= LONGEST_FILE_NAME
        # Videos that differ in their endings alone would have one file of subtitles.
        if not can_be or name in texts:
            raise BadInput(f"no file of subtitles can be named after the video {quoted(video)}")
        if file is None or not os.path.isfile(file):
            lacking.append(clip.spoken)
        elif cues := list(_cues(file, clip)):
            blocks = (
                f"{number}\n{_stamp(start_s)} --> {_stamp(end_s)}\n{text}\n"
                for number, (start_s, end_s, text) in enumerate(sorted(cues), start=1)
            )
            # JSON can spell lone surrogates, for which UTF-8 has no bytes.
            texts[name] = "\n".join(blocks).encode("utf-8", "replace")
    return texts, lacking


def _refuse_others(texts: Mapping[str, bytes], folder: Path) -> None:
    for name, text in texts.items():
        there = folder / name
        if there.exists() and not (there.is_file() and there.read_bytes() == text):
            raise BadInput(f"{there} is there and says something else; pass another folder")


Cue = tuple[float, float, str]


def _cues(file: Path, clip: SubtitledClip) -> Iterator[Cue]:
    """Yield what is said during a clip, on its own clock."""
    raw = read_json(file)
    if not isinstance(raw, list):
        raise BadInput(f"{file} holds {kind_of(raw)}; it must be a list of subtitles")
    for number, row in enumerate(raw, start=1):
        try:
            start_s, end_s, text = _cue(StrictRecord.of(row))
        except UnusableRecord as why:
            raise BadInput(f"{file}, subtitle {number}: {why}; nothing was imported") from None
        # As in the published code, a subtitle without an end lasts until the clip ends.
        last_s = math.inf if clip.duration_s is None else clip.duration_s
        start_s -= clip.start_s
        end_s = last_s if end_s is None else max(start_s, end_s - clip.start_s)
        # They are of the longer video: what is said before or after the clip is left out.
        if text and end_s >= 0 and start_s < last_s:
            start_s = max(0.0, start_s)
            end_s = min(end_s, last_s)
            yield start_s, end_s if end_s < math.inf else start_s, text


def _cue(row: StrictRecord) -> tuple[float, float | None, str]:
    """Return start, end and text of a subtitle in either published form; some have no end."""
    if "timestamp" not in row:
        return _seconds(row, "start"), _seconds(row, "end"), _one_line(row.text("line"))
    times = row["timestamp"]
    if not isinstance(times, list) or len(times) != 2:
        raise UnusableRecord('has a "timestamp" that is no list of start and end')
    start_s = StrictRecord(start=times[0]).number("start")
    if start_s is None:
        raise UnusableRecord('has a "timestamp" without a start')
    return start_s, StrictRecord(end=times[1]).number("end"), _one_line(row.text("text"))


def _seconds(row: StrictRecord, key: str) -> float:
    found = _CLOCK.fullmatch(row.text(key))
    if found is None:
        raise UnusableRecord(
            f"has {quoted(row[key])} under {quoted(key)}; it must be a time as 00:01:02.345"
        )
    hours, minutes, seconds = found.groups()
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds.replace(",", "."))


def _one_line(text: str) -> str:
    """Return a text as one line that no reader of .srt files takes for a time."""
    return " ".join(text.split()).replace("-->", "->")


def _stamp(seconds: float) -> str:
    whole, thousandths = divmod(round(1000 * min(seconds, LATEST_S)), 1000)
    minutes, rest = divmod(whole, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02},{thousandths:03}"
