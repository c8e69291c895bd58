"""What a cache folder holds, how much it may hold, and what goes first when it is too much.

Processes know nothing of each other: whatever one of them finds may be gone a moment later.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from videoautoarena.memory.records.errors import BadInput

LARGEST = 20 * 1024**3
"""Bytes that are kept by default, and no more than half of what the disk has for it."""
VARIABLE = "VIDEOAUTOARENA_CACHE_GB"
OLD_S = 600.0
"""What was used within these seconds may be in use, and is not evicted."""
LEFT_S = 3600.0
"""Nobody writes one entry for so long: a file half written before that was left behind."""
TOUCHED_S = 30.0
KINDS = (".frames", ".scenes", ".sheet")
PART = ".part"


class Kept(NamedTuple):
    """One file of the cache."""

    path: Path
    size_bytes: int
    used: float
    """When it was read or written last, as `time.time()` counts."""

    @property
    def video(self) -> str:
        """Id of the video it was made from, which for a spliced clip is the clip's."""
        return self.path.name[:12]


def said_bytes() -> int | None:
    """Return how many bytes the user lets a cache hold, None where unset; BadInput for no size."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return None
    try:
        number = float(said)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e9:
        raise BadInput(f"{VARIABLE} is {said!a}; set it to a number of gigabytes, such as 20")
    return int(number * 1024**3)


def share_of_disk(folder: Path) -> int:
    """Return `LARGEST`, or half of what the disk has for the cache where that is less, in bytes."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    held = sum(kept.size_bytes for kept in kept_in(folder))
    return min(LARGEST, (shutil.disk_usage(there).free + held) // 2)


def kept_in(folder: Path) -> list[Kept]:
    """Return every entry of a cache, what was used last at the end."""
    found = _files(folder, lambda name: name.endswith(KINDS) and not name.startswith("."))
    return sorted(found, key=lambda kept: (kept.used, kept.path))


def touch(file: BinaryIO) -> None:
    """Note that an entry was used; one of another user is read all the same."""
    with suppress(OSError):
        if abs(time.time() - os.fstat(file.fileno()).st_mtime) > TOUCHED_S:
            os.utime(file.fileno())


def evict(folder: Path, most: int, *, idle_s: float = OLD_S) -> list[Kept]:
    """Remove what was used longest ago until no more than `most` bytes are left; return it.

    What the future used comes last of all: it was written while the clock was wrong.
    """
    sweep(folder)
    found = kept_in(folder)
    now = time.time()
    gone = []
    left = sum(kept.size_bytes for kept in found)
    for kept in found:
        if left <= most:
            break
        if abs(now - kept.used) < idle_s:
            continue
        left -= kept.size_bytes
        if remove(kept):
            gone.append(kept)
    return gone


def remove(kept: Kept) -> bool:
    """Remove an entry and return whether this process did it."""
    try:
        kept.path.unlink()
    except OSError:
        return False
    return True


def sweep(folder: Path, *, left_s: float = LEFT_S) -> int:
    """Remove files that killed processes left half written; return how many."""
    now = time.time()
    parts = _files(folder, lambda name: name.startswith(".") and name.endswith(PART))
    return sum(remove(part) for part in parts if abs(now - part.used) > left_s)


def _files(folder: Path, is_one: Callable[[str], bool]) -> Iterator[Kept]:
    for shelf in _scanned(folder):
        if len(shelf.name) == 2 and shelf.is_dir(follow_symlinks=False):
            for file in _scanned(shelf.path):
                with suppress(OSError):
                    if is_one(file.name) and file.is_file(follow_symlinks=False):
                        about = file.stat(follow_symlinks=False)
                        yield Kept(Path(file.path), about.st_size, about.st_mtime)


def _scanned(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
