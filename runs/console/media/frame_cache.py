"""What the frame cache holds, for people and programs, and removing entries from it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.sampling.cache import VARIABLE, CacheFile, FrameCache, remove, sweep
from videoautoarena.video.workers.decoders import SPLICED_BYTES

SHOWN = 20
"""The most videos that are listed for a person."""
# Hex digits: fewer would mean many videos at once.
SHORTEST_ID = 4
_AGE = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class CachedVideo:
    """What the cache holds of one video."""

    SHOWN: ClassVar = ("video", "entries", "bytes", "used")
    video: str
    """Id of the video, or of a spliced clip."""
    entries: int
    bytes: int
    used_s: float
    """When any of it was used last, in seconds since 1970."""

    @property
    def used(self) -> str:
        """When any of it was used last, as a date."""
        return datetime.fromtimestamp(self.used_s, UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class CacheHoldings:
    """Everything the cache holds."""

    SHOWN: ClassVar = ("folder", "entries", "bytes", "most_bytes", "videos", "spliced")
    folder: str
    """Folder of decoded frames."""
    most_bytes: int
    """The most bytes that it may hold."""
    videos: list[CachedVideo]
    """`video` (id), `entries`, `bytes` and when last `used`, latest first."""
    clips: list[CachedVideo]

    @property
    def entries(self) -> int:
        """Files in it, without spliced clips."""
        return sum(one.entries for one in self.videos)

    @property
    def bytes(self) -> int:
        """Size of these files."""
        return sum(one.bytes for one in self.videos)

    @property
    def spliced(self) -> dict[str, int]:
        """Clips made for the trial `truth`: `entries`, `bytes` and their own `most_bytes`."""
        sums = {key: sum(getattr(one, key) for one in self.clips) for key in ("entries", "bytes")}
        return sums | {"most_bytes": SPLICED_BYTES}

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena cache --json`."""
        return record_json(self)

    def as_lines(self, now: float) -> Iterator[str]:
        """Yield lines for a person."""
        yield f"frame cache: {safe(self.folder)}"
        yield (
            f"  {counted(len(self.videos), 'video')}, {bytes_text(self.bytes)} of at most "
            f"{bytes_text(self.most_bytes)} ({VARIABLE} sets it)"
        )
        if self.clips:
            size = bytes_text(self.spliced["bytes"])
            yield f"  {counted(len(self.clips), 'spliced clip')}, {size}"
        if self.videos:
            yield ""
            yield "  video         entries        size  last used"
        for cached in self.videos[:SHOWN]:
            yield (
                f"  {cached.video:12}  {cached.entries:7}  {bytes_text(cached.bytes):>10}  "
                f"{age_text(now - cached.used_s)}"
            )
        if len(self.videos) > SHOWN:
            yield f"  and {len(self.videos) - SHOWN:,} more; --json lists them all"


def held() -> CacheHoldings:
    """Return what the user's cache holds; BadInput if its cap is no size."""
    cache, spliced = _caches()
    return CacheHoldings(
        folder=str(cache.folder),
        most_bytes=cache.most_bytes(),
        videos=_by_video(cache.entries()),
        clips=_by_video(spliced.entries()),
    )


class CacheSelection(NamedTuple):
    """Which entries are to be removed; all of them if nothing is given."""

    videos: tuple[str, ...] = ()
    """Beginnings of the ids of videos."""
    older_s: float | None = None
    """Only entries that were not used for so many seconds."""


def selected_entries(wish: CacheSelection) -> list[CacheFile]:
    """Return the selected entries; BadInput for what is no id, or an id that the cache lacks."""
    entries = [entry for cache in _caches() for entry in cache.entries()]
    for said in wish.videos:
        if len(said) < SHORTEST_ID or not _HEX.fullmatch(said):
            raise BadInput(f"{said!a} is not a video id; `arena cache` lists the cached ones")
        if not any(entry.path.name.startswith(said) for entry in entries):
            raise BadInput(f"the cache has no frames of {said}; `arena cache` lists its videos")
    before = time.time() - (wish.older_s or 0.0)
    return [
        entry
        for entry in entries
        if (not wish.videos or entry.path.name.startswith(wish.videos))
        and (wish.older_s is None or entry.used < before)
    ]


def clear(entries: Sequence[CacheFile]) -> list[CacheFile]:
    """Remove entries and what killed processes left behind; return the removed entries."""
    for cache in _caches():
        sweep(cache.folder)
    # Another process may have removed one already, or evicted it.
    return [entry for entry in entries if remove(entry)]


def seconds_of(age: str) -> float:
    """Return the seconds of an age like 30d, 12h or 90m; BadInput if it is none."""
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise BadInput(f"{age!a} is not an age; write 30d, 12h or 90m")
    return float(found[1]) * _SECONDS[found[2]]


def bytes_text(number: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024 or unit == "GiB":
            break
        number /= 1024
    return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:,.1f} {unit}"


def age_text(seconds: float) -> str:
    """Return in words how long ago something was."""
    for unit, name in (("d", "day"), ("h", "hour"), ("m", "minute")):
        if seconds >= _SECONDS[unit]:
            return f"{counted(int(seconds // _SECONDS[unit]), name)} ago"
    return "just now"


def _caches() -> tuple[FrameCache, FrameCache]:
    cache = FrameCache()
    return cache, FrameCache(cache.folder / "spliced")


def _by_video(entries: Sequence[CacheFile]) -> list[CachedVideo]:
    found: dict[str, CachedVideo] = {}
    for entry in entries:
        known = found.get(entry.video, CachedVideo(entry.video, 0, 0, 0.0))
        found[entry.video] = CachedVideo(
            entry.video,
            known.entries + 1,
            known.bytes + entry.size_bytes,
            max(known.used_s, entry.used),
        )
    return sorted(found.values(), key=lambda cached: (-cached.used_s, cached.video))
