"""Decoded frames and scene lists kept on disk, known by the bytes of their video.

Beyond a folder's cap, entries that were used longest ago are removed. Processes do not know of each
other: what one of them finds may be gone a moment later.
"""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling, VideoFrames
from videoautoarena.video.decode.index import Index
from videoautoarena.video.sampling.policies import EARLIER, SAMPLER, Sampled
from videoautoarena.video.sampling.scenes import SceneSpan, find_scenes

LARGEST = 20 * 1024**3
"""Bytes that are kept by default, but at most half of what the disk has for the cache."""
VARIABLE = "VIDEOAUTOARENA_CACHE_GB"
OLD_S = 600.0
"""Seconds for which an entry that was used may still be in use, and is not removed."""
LEFT_S = 3600.0
"""Nobody takes so long to write an entry: a half-written file older than this was left behind."""
# A run may read an entry many times within seconds; its time of use is not written each time.
TOUCHED_S = 30.0
KINDS = (".frames", ".scenes", ".sheet")
PART = ".part"


class CacheFile(NamedTuple):
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


def kept_in(folder: Path) -> list[CacheFile]:
    """Return every entry of a cache, what was used last at the end."""
    found = _files(folder, lambda name: name.endswith(KINDS) and not name.startswith("."))
    return sorted(found, key=lambda kept: (kept.used, kept.path))


def touch(file: BinaryIO) -> None:
    """Note that an entry was used; where the file is another user's that fails silently."""
    with suppress(OSError):
        if abs(time.time() - os.fstat(file.fileno()).st_mtime) > TOUCHED_S:
            os.utime(file.fileno())


def remove(kept: CacheFile) -> bool:
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


def _files(folder: Path, is_one: Callable[[str], bool]) -> Iterator[CacheFile]:
    for shelf in _scanned(folder):
        # Nothing that a link leads to is counted or removed.
        if len(shelf.name) == 2 and shelf.is_dir(follow_symlinks=False):
            for file in _scanned(shelf.path):
                with suppress(OSError):
                    if is_one(file.name) and file.is_file(follow_symlinks=False):
                        about = file.stat(follow_symlinks=False)
                        yield CacheFile(Path(file.path), about.st_size, about.st_mtime)


def _scanned(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


FINDER = "2"
"""To be raised whenever this code would find other scenes in the same video."""


def found_scenes(path: Path, index: Index, *, sha256: str, folder: Path) -> tuple[SceneSpan, ...]:
    """Return the scenes kept for these bytes, else find and keep them. Blocks."""
    kept = kept_scenes(folder, sha256)
    # A list that ends elsewhere was made from other times of the frames.
    if kept is not None and kept[-1].end_s == index.duration_s:
        return kept
    scenes = find_scenes(path, index)
    keep_scenes(folder, sha256, scenes)
    return scenes


def kept_scenes(folder: Path, sha256: str) -> tuple[SceneSpan, ...] | None:
    """Return the scenes that were kept; None where there are none or they are damaged."""
    try:
        with _file(folder, sha256).open("rb") as file:
            touch(file)
            content = json.load(file)
    except (OSError, ValueError):
        return None
    return _scenes(content)


def keep_scenes(folder: Path, sha256: str, scenes: Sequence[SceneSpan]) -> None:
    """Write scenes whole or not at all; BadInput where the folder cannot be written to."""
    text = json.dumps([list(scene) for scene in scenes])
    try:
        _write_whole(_file(folder, sha256), [text.encode()])
    except OSError as error:
        raise BadInput(_unwritable(folder, error)) from None


def _file(folder: Path, sha256: str) -> Path:
    return folder / sha256[:2] / f"{sha256}-{FINDER}.scenes"


def _scenes(content: Any) -> tuple[SceneSpan, ...] | None:
    """Return scenes from JSON; None unless they go from 0 on without a gap."""
    try:
        scenes = tuple(SceneSpan(float(start), float(end)) for start, end in content)
    except (TypeError, ValueError):
        return None
    ends = [0.0, *(scene.end_s for scene in scenes)]
    # Python's JSON reads NaN and Infinity, too.
    is_whole = [scene.start_s for scene in scenes] == ends[:-1] and all(
        earlier < later < math.inf for earlier, later in pairwise(ends)
    )
    return scenes if scenes and is_whole else None


HEAD = struct.Struct("<8s32sI")
"""Magic, sha256 of the index, length of the index in bytes. Then the index as JSON, then JPEGs."""
MAGIC = b"VAAframe"
_SUM_BYTES = 32
"""Length of the sha256 that stands before a kept sheet."""
ROOM = 32
"""Times its own size that is made free for an entry for which a full disk has no room."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_PLAIN = {"policy": "uniform", "fps": None, "decoder": "av", "ocr": False}


class NotCached(LookupError):
    """The entry is not there, or it is damaged and has been removed."""


class CacheEntry(NamedTuple):
    """The index of one entry."""

    frames: VideoFrames
    places: dict[str, tuple[int, int]]
    """From the digest of a JPEG to its offset and length in the file, in bytes."""


def default_folder() -> Path:
    """Return where frames are kept by default, by the XDG rules."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "videoautoarena" / "frames"


class FrameCache:
    """A folder of entries, one file each; several processes may use it at once.

    Entries appear whole under their names, and what is read is checked, so that none of them has to
    wait for another. One that vanishes or is found damaged is decoded again.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Take a folder, the user's own where none is given; BadInput where its cap is no size."""
        self.folder = folder or default_folder()
        self._said = said_bytes()

    def get(self, video_sha: str, sampling: Sampling) -> VideoFrames | None:
        """Return the frames of an entry that is intact; else remove it and return None."""
        try:
            with self._reading(self._path(video_sha, _unread(sampling))) as file:
                entry = _read_entry(file)
                # Every JPEG is checked now, while the frames can still be decoded again.
                for wanted in entry.places:
                    _read_jpeg(file, entry, wanted)
        except NotCached:
            return None
        return entry.frames

    def put(self, video_sha: str, sampling: Sampling, sampled: Sampled) -> None:
        """Write an entry whole or not at all; older ones make room for it."""
        path = self._path(video_sha, _unread(sampling))
        pieces = _encode(sampled)
        try:
            try:
                _write_whole(path, pieces)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                self.prune(self.size()[1] - ROOM * sum(map(len, pieces)))
                _write_whole(path, pieces)
        except OSError as error:
            raise BadInput(_unwritable(self.folder, error)) from None

    def jpegs(self, video_sha: str, sampling: Sampling, digests: Sequence[str]) -> list[bytes]:
        """Return the JPEG bytes of the digests, in their order; only these bytes are read.

        Entries of earlier versions serve, too. NotCached where one of the JPEGs is not intact.
        """
        for one in dict.fromkeys((sampling, _unread(sampling))):
            for sampler in (SAMPLER, *EARLIER):
                with suppress(NotCached):
                    return self._jpegs(self._path(video_sha, one, sampler), digests)
        raise NotCached(video_sha)

    def _jpegs(self, path: Path, digests: Sequence[str]) -> list[bytes]:
        with self._reading(path) as file:
            entry = _read_entry(file)
            for wanted in digests:
                if wanted not in entry.places:
                    # The entry is whole: NotCached would have it removed as damaged.
                    raise KeyError(wanted)
            return [_read_jpeg(file, entry, wanted) for wanted in digests]

    def sheet(self, video_sha: str, name: str) -> bytes | None:
        """Return a sheet of thumbnails that was kept; None where it is gone or damaged."""
        try:
            with self._sheet(video_sha, name).open("rb") as file:
                touch(file)
                expected = file.read(_SUM_BYTES)
                content = file.read()
        except OSError:
            return None
        return content if sha256(content).digest() == expected else None

    def put_sheet(self, video_sha: str, name: str, content: bytes) -> None:
        """Keep a sheet; one that cannot be written is not kept, since it can be drawn again."""
        with suppress(OSError):
            _write_whole(self._sheet(video_sha, name), [sha256(content).digest(), content])

    def _sheet(self, video_sha: str, name: str) -> Path:
        return self.folder / video_sha[:2] / f"{video_sha}-{digest(name)[:16]}.sheet"

    def entries(self) -> list[CacheFile]:
        """Return everything that is kept, what was used last at the end."""
        return kept_in(self.folder)

    def size(self) -> tuple[int, int]:
        """Return how many entries there are, and their bytes."""
        found = self.entries()
        return len(found), sum(entry.size_bytes for entry in found)

    def most_bytes(self) -> int:
        """Return how many bytes it may hold: what the user said, else a share of the disk."""
        return share_of_disk(self.folder) if self._said is None else self._said

    def prune(self, most: int | None = None, *, idle_s: float = OLD_S) -> list[CacheFile]:
        """Remove entries used longest ago until the rest is no larger than `most`; return them.

        Old half-written files of killed processes go, too. `most` is in bytes, by default the cap;
        what was used within `idle_s` stays, since a run may be reading it.
        """
        sweep(self.folder)
        found = self.entries()
        now = time.time()
        gone = []
        # Times in the future, from when a clock was wrong, count as the latest uses.
        left = sum(entry.size_bytes for entry in found)
        most = self.most_bytes() if most is None else most
        for entry in found:
            if left <= most:
                break
            if abs(now - entry.used) < idle_s:
                continue
            left -= entry.size_bytes
            if remove(entry):
                gone.append(entry)
        return gone

    def _path(self, video_sha: str, sampling: Sampling, sampler: str = "") -> Path:
        how = how_sampled(sampling, sampler)
        return self.folder / video_sha[:2] / f"{video_sha}-{how}.frames"

    @contextmanager
    def _reading(self, path: Path) -> Iterator[BinaryIO]:
        """Open an entry for reading and note that it was used; a damaged one is removed."""
        try:
            with path.open("rb") as file:
                touch(file)
                try:
                    yield file
                except NotCached:
                    _remove(path, file)
                    raise
        except (OSError, KeyError):
            raise NotCached(path.name) from None


def how_sampled(sampling: Sampling, sampler: str = "") -> str:
    """Return the part of an entry's name that stands for its sampling.

    Settings at the value they had before they could be chosen are left out, so that a new setting
    makes no older entry worthless. The version of the sampler is today's unless given.
    """
    said = sampling.model_dump().items()
    chosen = {name: value for name, value in said if name not in _PLAIN or _PLAIN[name] != value}
    return digest(canonical_json([sampler or SAMPLER, chosen]))[:16]


def _unread(sampling: Sampling) -> Sampling:
    """Return the sampling by which frames are made now: text in pictures is no longer read."""
    return sampling.model_copy(update={"ocr": False})


def _unwritable(folder: Path, error: OSError) -> str:
    shown = f"the frame cache {os.fspath(folder)!a} cannot be written: {error.strerror}"
    if error.errno in _FULL:
        return (
            f"{shown}; make room (arena cache clear) or set XDG_CACHE_HOME to a folder on another "
            "disk, and type the same command again: nothing is lost"
        )
    return f"{shown}; set XDG_CACHE_HOME to a folder that can"


def _remove(path: Path, file: BinaryIO) -> None:
    """Remove a damaged entry, unless another process has put a good one in its place."""
    with suppress(OSError):
        if os.path.samestat(path.stat(), os.fstat(file.fileno())):
            path.unlink()


def _encode(sampled: Sampled) -> list[bytes]:
    places: dict[str, tuple[int, int]] = {}
    blobs: list[bytes] = []
    offset = 0
    for frame, data in zip(sampled.frames.frames, sampled.jpegs, strict=True):
        if frame.digest not in places:
            places[frame.digest] = (offset, len(data))
            blobs.append(data)
            offset += len(data)
    index = canonical_json({"frames": sampled.frames.model_dump(), "places": places}).encode()
    return [HEAD.pack(MAGIC, sha256(index).digest(), len(index)), index, *blobs]


def _read_entry(file: BinaryIO) -> CacheEntry:
    head = file.read(HEAD.size)
    if len(head) != HEAD.size:
        raise NotCached("cut short")
    magic, expected, length = HEAD.unpack(head)
    index = file.read(length)
    if magic != MAGIC or sha256(index).digest() != expected:
        raise NotCached("damaged")
    start = HEAD.size + length
    try:
        content = json.loads(index)
        frames = VideoFrames.model_validate(content["frames"])
    except (ValueError, KeyError, ValidationError):
        raise NotCached("of another version") from None
    return CacheEntry(
        frames, {d: (start + at, size) for d, (at, size) in content["places"].items()}
    )


def _read_jpeg(file: BinaryIO, entry: CacheEntry, wanted: str) -> bytes:
    if wanted not in entry.places:
        raise NotCached(wanted)
    offset, length = entry.places[wanted]
    file.seek(offset)
    data = file.read(length)
    if digest(data) != wanted:
        raise NotCached(wanted)
    return data


def _write_whole(path: Path, pieces: Sequence[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            # Not synced: what a power cut tears is found by its digests and decoded again.
            file.writelines(pieces)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
