"""Finding the usable videos in a folder, by content; none of them is opened by this process."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from videoautoarena.memory.records.errors import BadInput, DecoderLost, UnusableVideo
from videoautoarena.memory.records.records import SkippedFile, Video
from videoautoarena.video.decode.container import trouble
from videoautoarena.video.workers.pool import HANDS, DecodingWorker, ask

_VIDEO_KINDS = """
3g2 3gp asf avi divx f4v flv ivf m2ts m2v m4v mkv mov mp4 mpe mpeg mpg mts mxf ogm ogv ts vob webm
wmv
"""
SUFFIXES = frozenset(f".{kind}" for kind in _VIDEO_KINDS.split())
"""Suffixes that claim to be a video: such a file is never passed over silently."""
_UNFINISHED_KINDS = """
part crdownload download partial filepart opdownload ytdl aria2 !ut !qb bc! tmp temp
"""
UNFINISHED = frozenset(f".{kind}" for kind in _UNFINISHED_KINDS.split())
"""Suffixes that downloading programs append to a file's name until it is whole."""
PATIENCE_S = 60.0
SLOWEST_BYTES_S = 20e6
"""A file has `PATIENCE_S` to be read and described, and a second more for each so many bytes."""
MOST_BESIDE = 1_000
"""Most folders that are searched for one with a name like that of a folder that is not there."""

OnProgress = Callable[[int, int], None]
"""Called with how many files have been read, and of how many."""


class Duplicate(NamedTuple):
    """A file with the same bytes as a video."""

    path: str
    same_as: str
    """Path of that video."""


class Findings(NamedTuple):
    """What a folder holds; paths are relative to it, and all three are sorted by them."""

    videos: list[Video]
    skipped: list[SkippedFile]
    duplicates: list[Duplicate]


class VideoPaths:
    """What lies in a folder, looked up by paths as people write them; none is ever opened."""

    def __init__(self, found: Findings) -> None:
        ids = {video.path: video.id for video in found.videos}
        ids |= {path: ids[same] for path, same in found.duplicates if same in ids}
        self._ids = {_plain(path): id_ for path, id_ in ids.items()}
        self._skipped = {_plain(one.path): one.reason for one in found.skipped}

    def id_of(self, written: str) -> str | None:
        """Return the id of the video that a path means, or its copy; None where it means none."""
        return next((self._ids[path] for path in _spelled(written) if path in self._ids), None)

    def why_skipped(self, written: str) -> str | None:
        """Return why the file that a path means was skipped; None where it was not."""
        there = (path for path in _spelled(written) if path in self._skipped)
        return next((self._skipped[path] for path in there), None)


def _plain(path: str) -> str:
    # Some systems store an accent as a character of its own.
    return unicodedata.normalize("NFC", path)


def _spelled(written: str) -> Iterator[str]:
    """Yield the spellings in which the same path may be stored."""
    plain = _plain(written)
    yield plain
    for path in (plain, plain.replace("\\", "/")):
        # A path that ends in a slash means a folder; PurePosixPath would drop the slash.
        if not path.endswith("/"):
            yield str(PurePosixPath(path))


def find_videos(folder: Path, on_progress: OnProgress | None = None) -> Findings:
    """Return every usable video below the folder, and why the others are none.

    Suffixes only decide whether an unusable file is listed as skipped. Raises BadInput for no
    such folder, or none that can be read.
    """
    refuse_no_folder(folder)
    found = Findings([], [], [])
    first_of: dict[str, str] = {}
    # Sorted, so that of equal files the same one is the video on every system.
    whole = sorted(_walk(folder))
    read = iter(read_videos(folder, [name for name, why in whole if not why], on_progress))
    for name, why in whole:
        video = UnusableVideo(why) if why else next(read)
        if isinstance(video, UnusableVideo):
            stem, suffix = os.path.splitext(name)
            is_unfinished = not why and suffix.lower() in UNFINISHED and _claims_to_be_video(stem)
            reason = str(video)
            if is_unfinished:
                reason = f"is by its name a download that has not ended, and {reason}"
            if why or is_unfinished or _claims_to_be_video(name) or isinstance(video, DecoderLost):
                found.skipped.append(SkippedFile(path=name, reason=reason))
            continue
        same = first_of.setdefault(video.sha256, name)
        if same == name:
            found.videos.append(video)
        else:
            found.duplicates.append(Duplicate(name, same))
    return found


def _claims_to_be_video(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in SUFFIXES


def read_video(folder: Path, name: str) -> Video:
    """Return the record of the file called `name` in `folder`; UnusableVideo where it is none."""
    (video,) = read_videos(folder, [name])
    if isinstance(video, UnusableVideo):
        raise video
    return video


def read_videos(
    folder: Path, names: Sequence[str], on_progress: OnProgress | None = None
) -> list[Video | UnusableVideo]:
    """Return the record of each file called so in `folder`, or why it has none, in their order."""
    busy: set[DecodingWorker] = set()
    pool = ThreadPoolExecutor(max_workers=max(1, min(HANDS, len(names))))
    read = []
    try:
        for video in pool.map(lambda name: _read(folder, name, busy), names):
            read.append(video)
            if on_progress:
                on_progress(len(read), len(names))
    finally:
        # Before workers are killed, or their threads would go on to the next file.
        pool.shutdown(wait=False, cancel_futures=True)
        # Only after Ctrl-C or an error are workers still busy here; else each was given back.
        for worker in list(busy):
            worker.kill()
        pool.shutdown()
    return read


def _read(folder: Path, name: str, busy: set[DecodingWorker]) -> Video | UnusableVideo:
    asked = {"folder": os.fspath(folder), "name": name}
    try:
        reply = ask("video", asked, deadline_s=patience_s(folder / name), busy=busy)
    except UnusableVideo as failure:
        return failure
    return Video.model_validate(reply["video"])


def patience_s(path: Path) -> float:
    """Return how many seconds reading a file may take; gaps in it earn none."""
    try:
        # Blocks and not the size: a sparse file may claim terabytes.
        stored = path.stat().st_blocks * 512
    except OSError:
        stored = 0
    return PATIENCE_S + round(stored / SLOWEST_BYTES_S)


def _meant(folder: Path) -> str:
    """Return `did you mean A? else ` for a folder with a like name, or an empty text."""
    try:
        with os.scandir(folder.parent) as entries:
            beside = [entry.name for entry in islice(entries, MOST_BESIDE) if entry.is_dir()]
    except OSError:
        return ""
    near = get_close_matches(folder.name, beside, n=1)
    return f"did you mean {os.fspath(folder.with_name(near[0]))!a}? else " if near else ""


def refuse_no_folder(folder: Path) -> None:
    """Raise BadInput where there is no readable folder, with the name that may have been meant."""
    shown = ascii(os.fspath(folder))
    if not folder.exists():
        meant = _meant(folder)
        raise BadInput(f"there is no folder {shown}; {meant}pass a folder that holds videos")
    if not folder.is_dir():
        raise BadInput(f"{shown} is a file; pass the folder that holds it")
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise BadInput(f"{shown} cannot be read: {error.strerror}") from None


def _walk(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (relative path, trouble) of everything but folders; regular files have no trouble."""
    denied: list[OSError] = []
    # By itself os.walk passes over folders that cannot be read, and says nothing.
    for parent, folders, files in os.walk(folder, onerror=denied.append):
        # os.walk does not follow links to folders, and yet lists them among the folders.
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in files + links:
            path = os.path.join(parent, name)
            yield os.path.relpath(path, folder), trouble(path)
    for error in denied:
        name = os.path.relpath(error.filename, folder)
        yield name, f"a folder that cannot be read: {error.strerror}"
