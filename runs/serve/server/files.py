"""Gives out videos: the bytes that a run saw, and no other file.

A video is opened where the run found it, if it lies inside the folder of videos and still has the
bytes that were recorded. The answer is read from that very file, so that whatever is put in its
place a moment later is never sent.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from pathlib import Path

from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from videoautoarena.memory.records.records import Video
from videoautoarena.runs.serve.server.serve import aside

BLOCK = 1 << 20
HEAD = 64
"""Bytes at the beginning that tell the kind of a file."""
Identity = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of change of content and of metadata, in nanoseconds."""


class VideoGone(Exception):
    """A video that cannot be given out any more; the message is the reason."""


class VideoFiles:
    """Gives out videos as files, whole or in ranges; each is read once to be sure of it."""

    def __init__(self) -> None:
        self._checked: dict[str, tuple[Identity, bool]] = {}
        """The file of each video that was hashed last, and whether it has the recorded bytes."""
        self._locks: dict[str, asyncio.Lock] = {}

    async def response(self, video: Video, folder: Path) -> Response:
        """Return a response with the file of a video that was found in a folder.

        Raises:
            VideoGone: it is not there any more, lies outside of the folder, or has changed.
        """
        handle = _opened(folder, video.path)
        try:
            # One at a time: a browser asks for several ranges at once, and the file is hashed for
            # the first.
            async with self._locks.setdefault(video.id, asyncio.Lock()):
                await self._check(video, handle)
            return _OpenFile(handle)
        # Also where the request is cancelled: a client may leave while its file is hashed.
        except BaseException:
            os.close(handle)
            raise

    async def _check(self, video: Video, handle: int) -> None:
        identity = _identity(handle)
        known = self._checked.get(video.id)
        if known is None or known[0] != identity:
            # The size first: it tells most other files without reading them.
            is_same = identity[2] == video.size_bytes
            is_same = is_same and await aside(lambda: _sha256(handle)) == video.sha256
            if _identity(handle) != identity:
                raise VideoGone("this file is being changed")
            known = self._checked[video.id] = identity, is_same
        if not known[1]:
            raise VideoGone("this file has changed since the run saw it")


class _OpenFile(FileResponse):
    """A file that is open already, sent from its handle and then closed."""

    def __init__(self, handle: int) -> None:
        about = os.fstat(handle)
        kind = _kind(os.pread(handle, HEAD, 0))
        # By its handle, since the name may lead to another file by now.
        super().__init__(f"/dev/fd/{handle}", media_type=kind, stat_result=about)
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            os.close(self._handle)


def _opened(folder: Path, name: str) -> int:
    """Return a handle of a file in a folder; raise VideoGone where none can be given out."""
    try:
        path = (folder / name).resolve(strict=True)
        is_inside = path.is_relative_to(folder.resolve(strict=True))
        # The path is resolved: a link found here was put in its place since.
        # A pipe would wait for somebody to write to it.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        handle = os.open(path, flags) if is_inside else None
    except (OSError, ValueError, RuntimeError):
        raise VideoGone("this file is not where it was when the run saw it") from None
    if handle is None:
        raise VideoGone("this file lies outside of the folder of videos")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise VideoGone("this is no file any more")
    return handle


def _identity(handle: int) -> Identity:
    about = os.fstat(handle)
    # Whoever changes a file can set mtime back, but not ctime.
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _sha256(handle: int) -> str:
    found = hashlib.sha256()
    place = 0
    while block := os.pread(handle, BLOCK, place):
        found.update(block)
        place += len(block)
    return found.hexdigest()


def _kind(head: bytes) -> str:
    """Return the media type of a file by its first bytes; its name is not believed."""
    if head[4:8] == b"ftyp":
        return "video/quicktime" if head[8:12] == b"qt  " else "video/mp4"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in head else "video/x-matroska"
    if head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        return "video/x-msvideo"
    return "video/ogg" if head.startswith(b"OggS") else "application/octet-stream"
