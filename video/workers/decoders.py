"""Decoding beside the event loop: long-lived worker processes, each with one video at a time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.errors import ArenaError, FramesChanged, UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video, VideoFrames
from videoautoarena.video.sampling.cache import FrameCache, NotCached, kept_scenes
from videoautoarena.video.sampling.scenes import SceneSpan
from videoautoarena.video.synth.splice import Splice
from videoautoarena.video.synth.timeline import Film, FilmPlan
from videoautoarena.video.workers.pool import HANDS, DecodingWorker, WornWorker, give_back, hire

SPLICED_BYTES = 256 * 1024 * 1024
"""Bytes of spliced clips that are kept for another judge: a clip takes 2 MB and can be made
again."""
TRIES = 8
"""How often frames are made again that are cleared away before they are read."""
LARGE_PX = 1920 * 1088
MOST_MORE = 7
"""Larger pictures have as much longer a deadline as they are larger, by at most so many times,
since one thread decodes them."""
SLOWEST = 10.0
"""Seconds that a second of a film may take to be encoded: HD takes 2 on one core."""
BETWEEN_PRUNES = 64
"""Videos that are decoded between two looks whether the cache has outgrown its cap."""


class Decoders:
    """Frames on demand: from the cache, else decoded by the next idle worker.

    Lives in one event loop; close it there, or use it as `async with`. Workers start when first
    needed and outlive it, for the next that needs one. One that dies or overruns its deadline costs
    its video and is replaced.
    """

    def __init__(
        self, cache: FrameCache, *, workers: int | None = None, deadline_s: float = 300.0
    ) -> None:
        self.cache = cache
        self.spliced = FrameCache(cache.folder / "spliced")
        self._deadline_s = deadline_s
        self._seats = asyncio.Semaphore(workers or HANDS)
        # Threads of its own: the default ones read frames from the cache and must not wait for
        # decoding.
        self._waiting = ThreadPoolExecutor(workers or HANDS, thread_name_prefix="decoding")
        self._making: dict[tuple[str, Sampling], asyncio.Lock] = {}
        self._made = 0

    async def frames(self, path: Path, video: Video, sampling: Sampling) -> VideoFrames:
        """Return the frames of a video, whose JPEG bytes are then in the cache.

        The deadline is up to `1 + MOST_MORE` times as late for pictures larger than HD. Raises
        UnusableVideo where no frame could be decoded from these bytes within it, and BadInput where
        the cache cannot be written.
        """
        # Several lineages ask for the same video at once; only the first has it decoded.
        async with self._making.setdefault((video.sha256, sampling), asyncio.Lock()):
            cached = await asyncio.to_thread(self.cache.get, video.sha256, sampling)
            if cached:
                return cached
            self._made += 1
            if self._made % BETWEEN_PRUNES == 0:
                await asyncio.to_thread(self.cache.prune)
            if sampling.needs_scenes:
                # A request of its own with a longer deadline, since it decodes everything; the next
                # one reads what it kept.
                await self.scenes(path, video)
            larger = video.width_px * video.height_px / LARGE_PX - 1
            return await self._frames(
                "frames",
                sampling,
                self.cache,
                more_s=self._deadline_s * min(MOST_MORE, max(0.0, larger)),
                path=os.fspath(path),
                sha256=video.sha256,
            )

    async def scenes(self, path: Path, video: Video) -> tuple[SceneSpan, ...]:
        """Return the scenes of a video: those that were kept, else found by a worker and kept.

        That decodes the whole video, so it may take longer than a deadline by as much as the video
        lasts.

        Raises UnusableVideo: it cannot be decoded within the deadline, or no longer has these
        bytes; BadInput: they cannot be kept.
        """
        folder = self.cache.folder
        kept = kept_scenes(folder, video.sha256)
        if kept is None:
            asked = {"path": os.fspath(path), "sha256": video.sha256, "cache": os.fspath(folder)}
            await self.request("scenes", more_s=video.duration_s, **asked)
            kept = kept_scenes(folder, video.sha256)
        if kept is None:
            raise UnusableVideo("had its scenes found and then lost; try again")
        return kept

    async def splice(
        self, splice: Splice | FilmPlan, files: Mapping[str, Path], sampling: Sampling
    ) -> VideoFrames:
        """Return the frames of a spliced clip, or of a film that is no file, then in the cache.

        Raises as `frames` does.
        """
        async with self._making.setdefault((splice.sha256, sampling), asyncio.Lock()):
            cached = await asyncio.to_thread(self.spliced.get, splice.sha256, sampling)
            if cached:
                return cached
            asked = {"splice": splice.model_dump(), "files": _needed(splice, files)}
            return await self._frames("splice", sampling, self.spliced, **asked)

    async def film(self, plan: FilmPlan, files: Mapping[str, Path], to: Path | None = None) -> Film:
        """Return what is in the film of a plan, written by a worker if there is a `to`.

        It may take `SLOWEST` times as much longer than a deadline as the film lasts. Raises
        UnusableVideo, which begins with the name of the file, where a video cannot be used for it
        or no longer has these bytes; BadInput where `to` cannot be written.
        """
        lasts_s = sum(excerpt.seconds for excerpt in plan.excerpts)
        named = os.fspath(to) if to else None
        asked = {"plan": plan.model_dump(), "files": _needed(plan, files), "to": named}
        reply = await self.request("film", more_s=SLOWEST * lasts_s, **asked)
        return Film.model_validate(reply["film"])

    async def spliced_jpegs(
        self,
        splice: Splice | FilmPlan,
        files: Mapping[str, Path],
        *,
        sampling: Sampling,
        digests: Sequence[str],
    ) -> list[bytes]:
        """Return JPEG bytes of a spliced clip; makes it again where the cache has lost them.

        Raises as `jpegs` does.
        """
        read = partial(self.spliced.jpegs, splice.sha256, sampling, digests)
        gone = (
            f"the spliced clip {splice.id} no longer has the frames it had before; "
            "begin again, or go back to the versions of av and pillow it was made by"
        )
        make = partial(self.splice, splice, files, sampling)
        return await _read(read, digests, make=make, gone=gone)

    async def jpegs(
        self, path: Path, video: Video, *, sampling: Sampling, digests: Sequence[str]
    ) -> list[bytes]:
        """Return the JPEG bytes of the digests; decodes again where the cache has lost them.

        Raises FramesChanged: decoding gives other bytes now than these digests were made from;
        UnusableVideo: the video is gone or cannot be decoded any more.
        """
        read = partial(self.cache.jpegs, video.sha256, sampling, digests)
        gone = (
            f"video {video.id} no longer gives the frames this run has seen; "
            "start a new run, or go back to the versions of av and pillow it began with"
        )
        make = partial(self.frames, path, video, sampling)
        return await _read(read, digests, make=make, gone=gone)

    async def close(self) -> None:
        """Keep only the latest spliced clips, and of all frames what the cap allows."""
        await asyncio.to_thread(self.spliced.prune, SPLICED_BYTES)
        await asyncio.to_thread(self.cache.prune)
        self._waiting.shutdown(wait=False)

    async def __aenter__(self) -> Decoders:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def request(self, want: str, *, more_s: float = 0.0, **fields: Any) -> dict[str, Any]:
        """Return what a worker answers to a request.

        `want` is one of the kinds in `video.workers.worker.ANSWERS`, `fields` is what it needs; all
        of it JSON, paths by `os.fspath`. Its deadline is `more_s` later than that of the others.

        Raises UnusableVideo for no answer, DecoderLost where it cost the worker its life, or was
        not there within the deadline, and BadInput where what was asked for cannot be written.
        """
        answer = partial(self._ask, want=want, fields=fields, deadline_s=self._deadline_s + more_s)
        async with self._seats:
            try:
                return await answer(hire())
            except WornWorker:
                return await answer(DecodingWorker())

    async def _ask(
        self, worker: DecodingWorker, *, want: str, fields: Mapping[str, Any], deadline_s: float
    ) -> dict[str, Any]:
        asked = None
        try:
            asked = self._waiting.submit(worker.ask, want, fields, deadline_s=deadline_s)
            reply = await asyncio.wrap_future(asked)
        except ArenaError:
            give_back(worker)
            raise
        except BaseException:
            # Cancelled, or a bug: the worker is still decoding and cannot be lent to anybody else.
            worker.kill()
            # The waiting thread closes the pipes only where it fails; it may have just had its
            # answer.
            if asked is None:
                worker.end()
            else:
                asked.add_done_callback(lambda _asked: worker.end())
            raise
        give_back(worker)
        return reply

    async def _frames(
        self, want: str, sampling: Sampling, cache: FrameCache, **fields: Any
    ) -> VideoFrames:
        kept_in = os.fspath(cache.folder)
        reply = await self.request(want, sampling=sampling.model_dump(), cache=kept_in, **fields)
        return VideoFrames.model_validate(reply["frames"])


def _needed(splice: Splice | FilmPlan, files: Mapping[str, Path]) -> dict[str, str]:
    return {sha256: os.fspath(files[sha256]) for sha256 in splice.videos}


async def _read(
    read: Callable[[], list[bytes]],
    digests: Sequence[str],
    *,
    make: Callable[[], Awaitable[VideoFrames]],
    gone: str,
) -> list[bytes]:
    """Return what `read` gives, made again where it is lost; others may clear the cache meanwhile.

    Raises FramesChanged, with `gone`, where other frames are made now, or they are lost each time.
    """
    for _ in range(TRIES):
        with suppress(NotCached):
            return await asyncio.to_thread(read)
        made = await make()
        if not {frame.digest for frame in made.frames}.issuperset(digests):
            break
    with suppress(NotCached):
        return await asyncio.to_thread(read)
    raise FramesChanged(gone)
