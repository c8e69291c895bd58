"""Decoding beside the event loop: long-lived worker processes, each with one video at a time."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory.errors import BadInput, FramesChanged, UnusableVideo
from memory.records import Frames, Sampling, Video
from video.cache import FrameCache, NotCached
from video.splicing import Splice

LONGEST_REPLY = 1 << 22
SPLICED_BYTES = 256 * 1024 * 1024
"""Of spliced clips so much is kept for another judge; 2 MB each, and they can be made again."""
# The parent's path, not its main module: a worker must not import the command line.
START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from video.worker import main
main()
"""


class Decoders:
    """Frames on demand: from the cache, else decoded by the next idle worker.

    Lives in one event loop; close it there, or use it as `async with`. Workers start when first
    needed. One that dies or overruns its deadline costs its video and is replaced.
    """

    def __init__(
        self, cache: FrameCache, *, workers: int | None = None, deadline_s: float = 300.0
    ) -> None:
        self.cache = cache
        self.spliced = FrameCache(cache.folder / "spliced")
        self._deadline_s = deadline_s
        self._seats = asyncio.Semaphore(workers or os.cpu_count() or 1)
        self._idle: list[Process] = []
        self._making: dict[tuple[str, Sampling], asyncio.Lock] = {}

    async def frames(self, path: Path, video: Video, sampling: Sampling) -> Frames:
        """Return the frames of a video, whose JPEG bytes are then in the cache.

        Raises:
            UnusableVideo: no frame could be decoded, within the deadline, from these bytes.
            BadInput: the cache cannot be written.
        """
        async with self._making.setdefault((video.sha256, sampling), asyncio.Lock()):
            cached = await asyncio.to_thread(self.cache.get, video.sha256, sampling)
            return cached or await self._frames(
                "frames", sampling, self.cache, path=os.fspath(path), sha256=video.sha256
            )

    async def splice(self, splice: Splice, files: Mapping[str, Path], sampling: Sampling) -> Frames:
        """Return the frames of a spliced clip, whose JPEG bytes are then in the cache.

        Raises:
            UnusableVideo: a video of it cannot be decoded, within the deadline, or it would be
                unclear what was set in.
            BadInput: the cache cannot be written.
        """
        async with self._making.setdefault((splice.sha256, sampling), asyncio.Lock()):
            cached = await asyncio.to_thread(self.spliced.get, splice.sha256, sampling)
            if cached:
                return cached
            needed = {sha256: os.fspath(files[sha256]) for sha256 in splice.videos}
            return await self._frames(
                "splice", sampling, self.spliced, splice=splice.model_dump(), files=needed
            )

    async def spliced_jpegs(
        self,
        splice: Splice,
        files: Mapping[str, Path],
        *,
        sampling: Sampling,
        digests: Sequence[str],
    ) -> list[bytes]:
        """Return JPEG bytes of a spliced clip; makes it again where the cache has lost them.

        Raises:
            FramesChanged, UnusableVideo: as `jpegs` does.
        """
        await self.splice(splice, files, sampling)
        try:
            return await asyncio.to_thread(self.spliced.jpegs, splice.sha256, sampling, digests)
        except NotCached:
            raise FramesChanged(
                f"the spliced clip {splice.id} no longer has the frames it had before; "
                "begin again, or go back to the versions of av and pillow it was made by"
            ) from None

    async def jpegs(
        self, path: Path, video: Video, *, sampling: Sampling, digests: Sequence[str]
    ) -> list[bytes]:
        """Return the JPEG bytes of the digests; decodes again where the cache has lost them.

        Raises:
            FramesChanged: decoding gives other bytes now than these digests were made from.
            UnusableVideo: the video is gone or cannot be decoded any more.
        """
        read = self.cache.jpegs
        try:
            return await asyncio.to_thread(read, video.sha256, sampling, digests)
        except NotCached:
            await self.frames(path, video, sampling)
        try:
            return await asyncio.to_thread(read, video.sha256, sampling, digests)
        except NotCached:
            raise FramesChanged(
                f"video {video.id} no longer gives the frames this run has seen; "
                "start a new run, or go back to the versions of av and pillow it began with"
            ) from None

    async def close(self) -> None:
        """End all idle workers and wait for them; of spliced clips, keep the latest."""
        await asyncio.to_thread(self.spliced.prune, SPLICED_BYTES)
        workers, self._idle = self._idle, []
        await asyncio.gather(*(_end(worker) for worker in workers))

    async def __aenter__(self) -> Decoders:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def request(self, want: str, **fields: Any) -> dict[str, Any]:
        """Return what a worker answers to a request of one of the kinds in `video.worker.ANSWERS`.

        Args:
            want: the kind.
            fields: what it needs; all of it JSON, paths by `os.fspath`.

        Raises:
            UnusableVideo: there is no answer, or none within the deadline.
            BadInput: what was asked for cannot be written.
        """
        reply = await self._ask(json.dumps({"want": want, **fields}).encode() + b"\n")
        if "UnusableVideo" in reply:
            raise UnusableVideo(reply["UnusableVideo"])
        if "BadInput" in reply:
            raise BadInput(reply["BadInput"])
        return reply

    async def _frames(
        self, want: str, sampling: Sampling, cache: FrameCache, **fields: Any
    ) -> Frames:
        kept_in = os.fspath(cache.folder)
        reply = await self.request(want, sampling=sampling.model_dump(), cache=kept_in, **fields)
        return Frames.model_validate(reply["frames"])

    async def _seated(self) -> Process:
        while self._idle:
            worker = self._idle.pop()
            if worker.returncode is None:
                return worker
            await _end(worker)
        return await _start()

    async def _ask(self, request: bytes) -> dict[str, Any]:
        """Return a worker's reply; the worker is kept only if it gave one."""
        async with self._seats:
            worker = await self._seated()
            try:
                async with asyncio.timeout(self._deadline_s):
                    line = await _exchange(worker, request)
            except TimeoutError:
                await _kill(worker)
                raise UnusableVideo(f"could not be decoded within {self._deadline_s:g} s") from None
            except BaseException:
                await _kill(worker)
                raise
            if not line.endswith(b"\n"):
                await _kill(worker)
                raise UnusableVideo("brought the decoder down")
            self._idle.append(worker)
            reply: dict[str, Any] = json.loads(line)
            return reply


async def _start() -> Process:
    # A group of its own keeps the terminal's Ctrl-C away until the worker can ignore it itself.
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", START, json.dumps(sys.path)),
        stdin=PIPE,
        stdout=PIPE,
        limit=LONGEST_REPLY,
        process_group=0,
    )


async def _exchange(worker: Process, request: bytes) -> bytes:
    """Return the worker's line; one without its end when the worker died."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(request)
        await worker.stdin.drain()
    except ConnectionError:
        return b""
    return await worker.stdout.readline()


async def _end(worker: Process) -> None:
    assert worker.stdin is not None
    worker.stdin.close()
    await worker.wait()


async def _kill(worker: Process) -> None:
    if worker.returncode is None:
        worker.kill()
    await _end(worker)
