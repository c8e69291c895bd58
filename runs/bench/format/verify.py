"""Whether a bench is still what was frozen, and how it differs from another.

Everything is computed again, nothing believed.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.format.reader import (
    OpenBench,
    difference,
    is_folder,
    open_bench,
    read_bench,
    sha256_of,
)
from videoautoarena.runs.bench.format.schema import (
    VIDEOS,
    BenchSubtitles,
    BenchVideo,
    DialogueItem,
    Entry,
    Manifest,
    SealedFile,
    Shape,
)
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.run.rundir.reader import counted, one_line
from videoautoarena.video.folder.find import refuse_no_folder

PRINTED = 50
"""Problems that are printed; the rest is counted."""


@dataclass
class VerifiedBench:
    """What a check of one bench found."""

    SHOWN: ClassVar = (
        "bench", "ok", "questions", "videos", "videos_checked", "videos_unknown", "problems",
    )  # fmt: skip

    bench: str | None = None
    """The bench's digest of itself; None when its manifest cannot be used."""
    questions: int = 0
    """Questions in it."""
    videos: int = 0
    """Videos that they are about."""
    videos_checked: bool = False
    """Whether their bytes were read, with `--videos`."""
    videos_unknown: int = 0
    """Videos whose bytes the bench does not know, since it was imported."""
    problems: list[str] = field(default_factory=list)
    """What is wrong, a sentence each."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench verify --json`."""
        return {
            **record_json(self),
            "problems": [one_line(problem, 300) for problem in self.problems],
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person: one a problem, then one of summary."""
        if self.problems:
            lines = [one_line(problem, 300) for problem in self.problems[:PRINTED]]
            if len(self.problems) > PRINTED:
                lines.append(f"... and {len(self.problems) - PRINTED} more")
            return [*lines, f"not intact: {counted(len(self.problems), 'problem')}"]
        videos = "checked" if self.videos_checked else "unchecked; pass --videos DIR"
        if self.videos_unknown:
            videos = f"{videos if self.videos_checked else 'unchecked'}, of "
            videos += f"{self.videos_unknown} by name alone: their content is not known"
        return [
            f"intact: bench {(self.bench or '')[:12]}, {counted(self.questions, 'question')}; "
            f"{counted(self.videos, 'video')} {videos}"
        ]


def verify(folder: Path, videos: Path | None) -> VerifiedBench:
    """Return what is wrong with the bench in `folder`, and with its videos if they are given.

    Copies of the videos inside the bench are always looked at; BadInput if `videos` are
    given for those, or something is no folder.
    """
    if videos is not None:
        refuse_no_folder(videos)
    read = read_bench(folder)
    checked = VerifiedBench(bench=read.bench, questions=read.lines, problems=read.problems)
    if (manifest := read.manifest) is None:
        return checked
    checked.videos = len(manifest.videos)
    checked.videos_unknown = sum(video.sha256 is None for video in manifest.videos.values())
    if manifest.with_videos:
        if videos is not None:
            raise BadInput(
                f"{folder} holds its videos, which are checked; leave {option('videos')} out"
            )
        checked.problems += _copy_problems(folder / VIDEOS, manifest)
    if videos is not None:
        checked.problems += _video_problems(videos, manifest)
    checked.videos_checked = manifest.with_videos or videos is not None
    return checked


def _copy_problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    if not is_folder(folder):
        yield f"{VIDEOS} is missing or no folder"
        return
    known = {video.path for video in manifest.videos.values()}
    known |= {video.subtitles.path for video in manifest.videos.values() if video.subtitles}
    for name in sorted(os.listdir(folder)):
        # A link under the name of a copy is no copy: the video would not be in the folder.
        if name not in known or (folder / name).is_symlink():
            yield f"{VIDEOS}/{name} does not belong to the bench"
    yield from _video_problems(folder, manifest)


def _video_problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    by_name = files_by_name(folder)
    for id_, video in manifest.videos.items():
        wrong = _file_problem(folder, video) or _subtitles_problem(folder, video.subtitles)
        if wrong is None and video.sha256 is None:
            try:
                file_named(folder, by_name, id_, video)
            except UnusableVideo as why:
                wrong = str(why)
        if wrong is not None:
            yield f"video {id_} ({video.path}) {wrong}" if video.path else f"video {id_} {wrong}"


def _subtitles_problem(folder: Path, spoken: BenchSubtitles | None) -> str | None:
    if spoken is None:
        return None
    path = inside(folder, spoken.path)
    if path is None or not path.is_file():
        return "lacks its subtitles"
    try:
        return "has other subtitles" if sha256_of(path) != spoken.sha256 else None
    except OSError as wrong:
        return f"has subtitles that cannot be read: {wrong.strerror}"


def _file_problem(folder: Path, video: BenchVideo) -> str | None:
    if video.path is None or video.sha256 is None or video.size_bytes is None:
        return None  # counted as unknown
    path = inside(folder, video.path)
    if path is None:
        return "lies outside the folder of videos, or has an impossible name"
    if not path.is_file():
        return "is missing"
    return difference(path, SealedFile(sha256=video.sha256, bytes=video.size_bytes))


def files_by_name(folder: Path) -> dict[str, list[str]]:
    """Return the relative paths below a folder by a file's name, with and without its ending."""
    found = defaultdict[str, list[str]](list)
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(parent, name), folder)
            # Published sets often name a video by an id without the ending of its file.
            for known_as in {name, os.path.splitext(name)[0]}:
                # From a set: a name without an ending, listed twice, would pass for two files.
                found[known_as].append(path)
    return found


def file_named(
    folder: Path, by_name: Mapping[str, Sequence[str]], id_: str, entry: BenchVideo
) -> str:
    """Return the path of a video that is known by path, name or id; UnusableVideo without one."""
    if entry.path and (place := inside(folder, entry.path)) and place.is_file():
        return entry.path
    name = os.path.basename(entry.path) if entry.path else id_
    found: list[str] = [*by_name.get(name, ()), *by_name.get(id_, ())]
    # Subtitles lie beside a video under the same name, and are none.
    videos = [path for path in dict.fromkeys(found) if not path.lower().endswith((".srt", ".vtt"))]
    if not videos:
        raise UnusableVideo("is missing")
    if len(videos) > 1:
        raise UnusableVideo(f"may be any of {len(videos)} files of its name")
    return videos[0]


def inside(folder: Path, relative: str) -> Path | None:
    """Return the real place of `relative` below `folder`; None if it would lead out."""
    pure = PurePosixPath(relative)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        return None
    # Not Path.resolve: it raises on a link that leads to itself.
    try:
        root = os.path.realpath(folder)
        real = os.path.realpath(folder / pure)
    except ValueError:  # a NUL, or a surrogate that stands for no byte
        return None
    return Path(real) if Path(real).is_relative_to(root) else None


Report = dict[str, Any]
_SETTINGS = ("generator", "source", "run", "selection", "licence", "with_videos")
# A setting may be null, which differs from one that is not there.
_MISSING = object()


def diff(first: Path, second: Path) -> Report:
    """Return what changed from one bench to another; BadInput if one is not intact.

    A question is the same where its qid is; else where it asks the same of the same video,
    which finds those whose answers or users changed, as the qid of a run goes by all of them.
    """
    before = open_bench(first)
    after = open_bench(second)
    pairs = [(old, after.by_qid[qid]) for qid, old in before.by_qid.items() if qid in after.by_qid]
    done = {old.qid for old, _ in pairs}
    waiting = defaultdict[tuple[str, str], list[Entry]](list)
    for item in after.items:
        if item.qid not in done:
            waiting[_asks(after, item)].append(item)
    removed = list[Entry]()
    for item in before.items:
        if item.qid in done:
            continue
        if same := waiting[_asks(before, item)]:
            pairs.append((item, same.pop(0)))
        else:
            removed.append(item)
    # By identity, since items hold lists and have no hash.
    new_ids = {id(item) for items in waiting.values() for item in items}
    added = [item for item in after.items if id(item) in new_ids]
    changed = [
        {"qid": old.qid, "now": new.qid, "fields": sorted(fields)}
        for old, new in pairs
        if (fields := _changed(old, new))
    ]
    manifests = (one.manifest.model_dump(mode="json", by_alias=True) for one in (before, after))
    left, right = (dict(_flat({key: one.get(key) for key in _SETTINGS}, ())) for one in manifests)
    return {
        "schema": SCHEMA,
        "benches": [
            {"bench": one.bench, "questions": len(one.items), "videos": len(one.manifest.videos)}
            for one in (before, after)
        ],
        "same": before.bench == after.bench,
        "questions": {
            "unchanged": len(pairs) - len(changed),
            "changed": changed,
            "removed": [_named(item) for item in removed],
            "added": [_named(item) for item in added],
        },
        "videos": _videos(before, after),
        "settings": [
            {"setting": ".".join(key), "before": left.get(key), "after": right.get(key)}
            for key in {**left, **right}
            if left.get(key, _MISSING) != right.get(key, _MISSING)
        ],
    }


def _asks(bench: OpenBench[Any], item: Entry) -> tuple[str, str]:
    """Return what a question asks of which video, whatever the bench calls that."""
    entry = bench.manifest.videos[item.video_id]
    return entry.sha256 or item.video_id, " ".join(_text(item).split())


def _text(item: Entry) -> str:
    """Return what an item asks; of a dialogue its ability and what is said first."""
    if isinstance(item, DialogueItem):
        return f"{item.ability}: {item.rounds[0].user if item.rounds else ''}"
    return str(getattr(item, "question", ""))


def _changed(before: Shape, after: Shape) -> list[str]:
    """Return the names of the fields that differ."""
    old, new = (one.model_dump(mode="json", by_alias=True) for one in (before, after))
    return [key for key in {**old, **new} if old.get(key) != new.get(key)]


def _named(item: Entry) -> Report:
    return {"qid": item.qid, "video": item.video_id, "question": _text(item)}


def _videos(before: OpenBench[Any], after: OpenBench[Any]) -> Report:
    old = before.manifest.videos
    new = after.manifest.videos
    both = [id_ for id_ in old if id_ in new]
    return {
        "unchanged": sum(old[id_] == new[id_] for id_ in both),
        "changed": [
            {"video": id_, "fields": _changed(old[id_], new[id_])}
            for id_ in both
            if old[id_] != new[id_]
        ],
        "removed": [id_ for id_ in old if id_ not in new],
        "added": [id_ for id_ in new if id_ not in old],
    }


def _flat(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, (*path, key))
    else:
        yield path, value
