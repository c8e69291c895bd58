"""The frames of a run's videos: decided once, kept by digest, fetched as bytes only to be sent."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from memory.errors import UnusableVideo
from memory.records import Frames, Sampling, Video
from memory.store import Store
from runs.quarantine import condemn, verdict_on
from runs.subtitles import stored_subtitles
from video.studio import Decoders

KEPT = 48
"""Videos whose frames' times and digests are kept at hand: two blocks, about 30 KB each."""


class Footage:
    """Frames of the videos of one run; `decoders` is None where nothing may be decoded.

    `files` says where each video lies now, which need not be where the run found it. With a
    `generation`, what gave no frames is told as it stood in that one.
    """

    def __init__(
        self,
        store: Store,
        decoders: Decoders | None,
        *,
        files: Mapping[str, Path],
        sampling: Sampling,
        videos: Mapping[str, Video],
        generation: int | None = None,
    ) -> None:
        self._store = store
        self._decoders = decoders
        self._files = files
        self._sampling = sampling
        self._videos = videos
        self._generation = generation
        self._kept: OrderedDict[str, Frames] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}
        self._foreseen: dict[str, UnusableVideo] = {}

    async def frames(self, video: str) -> Frames:
        """Return times and digests of a video's frames; the first time decides them for the run.

        The subtitles that were kept when the run began stand with them.

        Raises:
            UnusableVideo: no frame could be decoded.
        """
        if video in self._kept:
            self._kept.move_to_end(video)
            return self._kept[video]
        async with self._locks.setdefault(video, asyncio.Lock()):
            frames = self._kept.get(video)
            if frames is None:
                self._refuse_quarantined(video)
                frames = self._store.frames(video) or await self._first(video)
                spoken = stored_subtitles(self._store, video)
                frames = frames.model_copy(update={"subtitles": spoken})
            self._kept[video] = frames
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            # From here on there is nothing to wait for.
            self._locks.pop(video, None)
            return frames

    async def foresee(self, video: str) -> None:
        """Bring a video's frames into the cache; the run knows nothing of them until its turn.

        What is wrong with the video is kept for then.
        """
        if self._decoders is None or video not in self._files or self.is_quarantined(video):
            return
        file, known = self._files[video], self._videos[video]
        async with self._locks.setdefault(video, asyncio.Lock()):
            try:
                await self._decoders.frames(file, known, self._sampling)
            except UnusableVideo as failure:
                self._foreseen[video] = failure

    def has(self, video: str) -> bool:
        """Return whether the run has seen a video's frames."""
        return video in self._kept or self._store.frames(video) is not None

    async def _first(self, video: str) -> Frames:
        if self._decoders is None or video not in self._files:
            raise UnusableVideo("this run never saw its frames")
        try:
            if video in self._foreseen:
                raise self._foreseen.pop(video)
            file, known = self._files[video], self._videos[video]
            frames = await self._decoders.frames(file, known, self._sampling)
        except UnusableVideo as failure:
            condemn(self._store, video, str(failure))
            raise
        await self._store.put_frames(frames)
        return frames

    def is_quarantined(self, video: str) -> bool:
        """Return whether a video has given no frames, and is not tried again."""
        return verdict_on(self._store, video, self._generation) is not None

    def _refuse_quarantined(self, video: str) -> None:
        if (why := verdict_on(self._store, video, self._generation)) is not None:
            raise UnusableVideo(why)

    async def jpegs(self, video: str, digests: Sequence[str]) -> list[bytes]:
        """Return the JPEG bytes of a video's frames.

        Raises:
            FramesChanged: the file now gives other frames than this run has seen.
            UnusableVideo: the file is gone or broken.
        """
        if self._decoders is None or video not in self._files:
            raise UnusableVideo("its file is not at hand")
        return await self._decoders.jpegs(
            self._files[video], self._videos[video], sampling=self._sampling, digests=digests
        )
