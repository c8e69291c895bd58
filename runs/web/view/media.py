"""The run's videos, their frames and thumbnails: the bytes that the run saw, and no other file.

A video is known by its id alone. It is opened where the run found it, if it lies inside the folder
of videos and still has the bytes that were recorded; the answer is read from that very file, so
that a link put in its place a moment later is never followed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from pathlib import Path

from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from videoautoarena.memory.records.errors import FramesChanged, UnusableVideo
from videoautoarena.memory.records.records import Video
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.runs.rundir.opener import videos_folder
from videoautoarena.runs.rundir.reader import one_line, open_run
from videoautoarena.runs.web.view.current import aside
from videoautoarena.video.workers.decoders import Decoders

GONE = 410
BLOCK = 1 << 20
Identity = tuple[int, int, int, int, int]
"""Device, inode, size, times of change of the bytes and of what is known of the file."""


class Gone(Exception):
    """What was asked for cannot be given any more; the message is the reason."""


class Unknown(Exception):
    """The run has nothing of this name."""


class Media:
    """Gives out the videos and frames of one run."""

    def __init__(self, folder: Path, decoders: Decoders) -> None:
        self._folder = folder
        self._decoders = decoders
        self._checked: dict[str, tuple[Identity, bool]] = {}
        """By video: the file that was read last, and whether it has the recorded bytes."""
        self._locks: dict[str, asyncio.Lock] = {}

    async def video(self, id_: str) -> Response:
        """Return a response with the file of a video, whole or in ranges."""
        try:
            video, folder = await aside(lambda: self._find(id_))
            return await self._file(video, folder)
        except Unknown:
            return _refused(404, "this run has no such video")
        except Gone as gone:
            return _refused(GONE, str(gone))

    async def frame(self, id_: str, place: int) -> Response:
        """Return one frame as models were sent it, decoded again where the cache has lost it."""
        try:
            jpeg = await self._jpeg(id_, place)
        except Unknown:
            return _refused(404, "this run has no such frame")
        except (Gone, UnusableVideo, FramesChanged) as gone:
            return _refused(GONE, str(gone))
        return Response(jpeg, media_type="image/jpeg")

    async def _jpeg(self, id_: str, place: int) -> bytes:
        video, folder = await aside(lambda: self._find(id_))
        with open_run(self._folder) as run:
            frames, sampling = run.store.frames(id_), RunConfig.of_manifest(run.manifest).sampling
        if frames is None or place >= len(frames.frames):
            raise Unknown
        digests = [frames.frames[place].digest]
        path = folder / video.path
        (jpeg,) = await self._decoders.jpegs(path, video, sampling=sampling, digests=digests)
        return jpeg

    def _find(self, id_: str) -> tuple[Video, Path]:
        with open_run(self._folder) as run:
            folder = videos_folder(run.store)
            video = next((one for one in run.store.videos() if one.id == id_), None)
        if video is None:
            raise Unknown
        if folder is None:
            raise Gone("this run does not say where its videos lay")
        return video, folder

    async def _file(self, video: Video, folder: Path) -> Response:
        handle = _opened(video, folder)
        try:
            async with self._locks.setdefault(video.id, asyncio.Lock()):
                await self._check(video, handle)
            return _OpenFile(handle, _kind(os.pread(handle, 64, 0)))
        except BaseException:
            os.close(handle)
            raise

    async def _check(self, video: Video, handle: int) -> None:
        """Make sure that an open file has the bytes of a video; each file is read once for that."""
        identity = _identity(handle)
        known = self._checked.get(video.id)
        if known is None or known[0] != identity:
            is_same = identity[2] == video.size_bytes
            is_same = is_same and await aside(lambda: _sha256(handle)) == video.sha256
            if _identity(handle) != identity:
                raise Gone("this file is being changed")
            known = self._checked[video.id] = identity, is_same
        if not known[1]:
            raise Gone("this file has changed since the run saw it")


class _OpenFile(FileResponse):
    """A file that is open already, sent from its handle and then closed."""

    def __init__(self, handle: int, kind: str) -> None:
        super().__init__(f"/dev/fd/{handle}", media_type=kind, stat_result=os.fstat(handle))
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            os.close(self._handle)


def _opened(video: Video, folder: Path) -> int:
    """Return a handle of the file of a video; Gone where none is where it was, or it is no file."""
    try:
        path = (folder / video.path).resolve(strict=True)
        if not path.is_relative_to(folder.resolve(strict=True)):
            raise Gone("this file lies outside of the folder of videos")
        # A pipe would wait for somebody to write to it.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        handle = os.open(path, flags)
    except (OSError, ValueError, RuntimeError):
        raise Gone("this file is not where it was when the run saw it") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Gone("this is no file any more")
    return handle


def _identity(handle: int) -> Identity:
    about = os.fstat(handle)
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _sha256(handle: int) -> str:
    found, place = hashlib.sha256(), 0
    while block := os.pread(handle, BLOCK, place):
        found.update(block)
        place += len(block)
    return found.hexdigest()


def _kind(head: bytes) -> str:
    """Return what a browser calls a file that begins so; names say nothing of a file."""
    if head[4:8] == b"ftyp":
        return "video/quicktime" if head[8:12] == b"qt  " else "video/mp4"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in head else "video/x-matroska"
    if head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        return "video/x-msvideo"
    return "video/ogg" if head.startswith(b"OggS") else "application/octet-stream"


def _refused(status: int, reason: str) -> Response:
    return PlainTextResponse(f"{one_line(reason, 200)}\n", status_code=status)
