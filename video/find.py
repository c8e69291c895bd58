"""Finding the usable videos in a folder, by content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memory.errors import BadInput, UnusableVideo
from memory.records import Skipped, Video
from video.probe import probe

SUFFIXES = frozenset(
    f".{kind}"
    for kind in (
        *("3g2", "3gp", "asf", "avi", "divx", "f4v", "flv", "ivf", "m2ts", "m2v", "m4v", "mkv"),
        *("mov", "mp4", "mpe", "mpeg", "mpg", "mts", "mxf", "ogm", "ogv", "ts", "vob", "webm"),
        "wmv",
    )
)
"""Names that claim to be a video: such a file is never passed over in silence."""
KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a link to a folder, which is not followed"),
)


class Findings(NamedTuple):
    """What a folder holds; paths are relative to it, and all three are sorted by them."""

    videos: list[Video]
    skipped: list[Skipped]
    duplicates: list[tuple[str, str]]
    """(path, path of the video with the same bytes)."""


def find_videos(folder: Path) -> Findings:
    """Return every usable video below the folder, and why the others are none.

    Suffixes decide nothing except whether an unusable file is worth a word.

    Raises:
        BadInput: no such folder, or none that can be read.
    """
    _refuse_no_folder(folder)
    found = Findings([], [], [])
    first_of: dict[str, str] = {}
    for name, why in sorted(_walk(folder)):
        try:
            if why:
                raise UnusableVideo(why)
            video = read_video(folder, name)
        except UnusableVideo as error:
            if why or _claims_to_be_video(name):
                found.skipped.append(Skipped(path=name, reason=str(error)))
            continue
        same = first_of.setdefault(video.sha256, name)
        if same == name:
            found.videos.append(video)
        else:
            found.duplicates.append((name, same))
    return found


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes, read as a stream."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_no_folder(folder: Path) -> None:
    shown = ascii(os.fspath(folder))
    if not folder.exists():
        raise BadInput(f"there is no folder {shown}; pass a folder that holds videos")
    if not folder.is_dir():
        raise BadInput(f"{shown} is a file; pass the folder that holds it")
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise BadInput(f"{shown} cannot be read: {error.strerror}") from None


def _walk(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (relative path, trouble) of everything that is no folder; no trouble for files."""
    denied: list[tuple[str, str]] = []

    def deny(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        denied.append((name, f"a folder that cannot be read: {error.strerror}"))

    for parent, folders, files in os.walk(folder, onerror=deny):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in files + links:
            path = os.path.join(parent, name)
            yield os.path.relpath(path, folder), trouble(path)
    yield from denied


def trouble(path: str) -> str:
    """Return why a path leads to no regular file, or nothing; the file is not opened."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        is_link = os.path.islink(path)
        return "a link that leads nowhere" if is_link else f"not readable: {error.strerror}"
    if stat.S_ISREG(mode):
        return ""
    return next((kind for matches, kind in KINDS if matches(mode)), "no regular file")


def _claims_to_be_video(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in SUFFIXES


def read_video(folder: Path, name: str) -> Video:
    """Return the record of the file called `name` in `folder`; UnusableVideo where it is none."""
    path = folder / name
    try:
        size_bytes = path.stat().st_size
        if not size_bytes:
            raise UnusableVideo("is empty")
        shape = probe(path)
        sha256 = sha256_of(path)
    except OSError as error:
        raise UnusableVideo(f"cannot be read: {error.strerror}") from None
    return Video(id=sha256[:12], sha256=sha256, path=name, size_bytes=size_bytes, **shape._asdict())
