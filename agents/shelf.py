"""Frames ready to be sent: the base64 of each once, while some call needs it or space allows."""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from weakref import WeakValueDictionary

from agents.splice import Encoded

Load = Callable[[str, list[str]], Awaitable[list[bytes]]]
"""Video id and frame digests to the frames' JPEG bytes."""

KEPT_BYTES = 256 * 1024 * 1024
"""Most bytes that are kept for calls to come: 128 frames each of some 40 videos, two blocks."""


class Shelf:
    """The base64 of frames by digest; one for a whole run, within one event loop.

    What calls under way hold is shared whether or not it is still kept, and is counted nowhere.
    """

    def __init__(self, load: Load, *, most_bytes: int = KEPT_BYTES) -> None:
        """Begin empty; `load` is asked for a frame once as long as it is on the shelf."""
        self._load = load
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Encoded] = OrderedDict()
        self._in_use: WeakValueDictionary[str, Encoded] = WeakValueDictionary()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def images(self, video: str, digests: Iterable[str]) -> list[Encoded]:
        """Return the frames of these digests, loading what is not there.

        Raises:
            FramesChanged, UnusableVideo: as the loader does.
        """
        wanted = list(digests)
        lock = self._locks.setdefault(video, asyncio.Lock())
        # Whoever comes while they are being read waits for them instead of reading them too.
        async with lock:
            found = {digest: self._in_use.get(digest) for digest in wanted}
            missing = [digest for digest, image in found.items() if image is None]
            jpegs = await self._load(video, missing) if missing else []
            for digest, jpeg in zip(missing, jpegs, strict=True):
                found[digest] = self._in_use[digest] = Encoded(base64.b64encode(jpeg))
        images = [image for digest in wanted if (image := found[digest]) is not None]
        self._keep(wanted, images)
        return images

    def _keep(self, digests: list[str], images: list[Encoded]) -> None:
        for digest, image in zip(digests, images, strict=True):
            if digest not in self._kept:
                self._bytes += len(image.base64)
            self._kept[digest] = image
            self._kept.move_to_end(digest)
        while self._bytes > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.base64)
