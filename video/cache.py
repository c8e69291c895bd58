"""Decoded frames kept on disk, known by the bytes of their video and the way they were sampled."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from memory.digests import canonical_json, digest
from memory.errors import BadInput
from memory.records import Frames, Sampling
from video.frames import SAMPLER, Sampled

HEAD = struct.Struct("<8s32sI")
"""Magic, sha256 of the index, length of the index in bytes. Then the index as JSON, then JPEGs."""
MAGIC = b"VAAframe"


class NotCached(LookupError):
    """The entry is not there, or it is damaged and has been removed."""


class Entry(NamedTuple):
    """The index of one entry."""

    frames: Frames
    places: dict[str, tuple[int, int]]
    """Digest of a JPEG to its offset and length in the file, in bytes."""


def default_folder() -> Path:
    """Return where frames are kept unless told otherwise, by the XDG rules."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "videoautoarena" / "frames"


class FrameCache:
    """A folder of entries, one file each; several processes may use it at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def get(self, video_sha: str, sampling: Sampling) -> Frames | None:
        """Return the frames of an entry whose every byte is as it was written, else None."""
        try:
            with self._open(video_sha, sampling) as file:
                entry = _read_entry(file)
                for wanted in entry.places:
                    _read_jpeg(file, entry, wanted)
        except NotCached:
            return None
        return entry.frames

    def put(self, video_sha: str, sampling: Sampling, sampled: Sampled) -> None:
        """Write an entry whole or not at all.

        Raises:
            BadInput: the folder cannot be written to.
        """
        path = self._path(video_sha, sampling)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(path, _encode(sampled))
        except OSError as error:
            raise BadInput(
                f"the frame cache {os.fspath(self.folder)!a} cannot be written: "
                f"{error.strerror}; set XDG_CACHE_HOME to a folder that can"
            ) from None

    def jpegs(self, video_sha: str, sampling: Sampling, digests: Sequence[str]) -> list[bytes]:
        """Return the JPEG bytes of the digests, in their order; only these bytes are read.

        Raises:
            NotCached: one of them is not there as it was written.
        """
        with self._open(video_sha, sampling) as file:
            entry = _read_entry(file)
            return [_read_jpeg(file, entry, wanted) for wanted in digests]

    def size(self) -> tuple[int, int]:
        """Return how many entries there are, and their bytes."""
        sizes = [path.stat().st_size for path in self.folder.glob("*/*.frames")]
        return len(sizes), sum(sizes)

    def prune(self, most_bytes: int) -> None:
        """Remove the oldest entries until the rest is no larger; what cannot be removed stays."""
        found = []
        for path in self.folder.glob("*/*.frames"):
            # Another process may be pruning, too.
            with suppress(OSError):
                about = path.stat()
                found.append((about.st_mtime_ns, about.st_size, path))
        for _, size, path in sorted(found, reverse=True):
            most_bytes -= size
            if most_bytes < 0:
                with suppress(OSError):
                    path.unlink()

    def _path(self, video_sha: str, sampling: Sampling) -> Path:
        how = digest(canonical_json([SAMPLER, sampling.model_dump()]))[:16]
        return self.folder / video_sha[:2] / f"{video_sha}-{how}.frames"

    def _open(self, video_sha: str, sampling: Sampling) -> BinaryIO:
        try:
            return self._path(video_sha, sampling).open("rb")
        except OSError:
            raise NotCached(video_sha) from None


def _encode(sampled: Sampled) -> list[bytes]:
    """Return the pieces of an entry's file; equal pictures are kept once."""
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


def _read_entry(file: BinaryIO) -> Entry:
    """Return the index, its places counted from the start of the file."""
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
        frames = Frames.model_validate(content["frames"])
    except (ValueError, KeyError, ValidationError):
        raise NotCached("of another version") from None
    return Entry(frames, {d: (start + at, size) for d, (at, size) in content["places"].items()})


def _read_jpeg(file: BinaryIO, entry: Entry, wanted: str) -> bytes:
    if wanted not in entry.places:
        raise NotCached(wanted)
    offset, length = entry.places[wanted]
    file.seek(offset)
    data = file.read(length)
    if digest(data) != wanted:
        raise NotCached(wanted)
    return data


def _write_whole(path: Path, pieces: Sequence[bytes]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
