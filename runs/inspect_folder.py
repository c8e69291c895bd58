"""A folder of logs for Inspect's viewer, and what goes into them beside words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from memory.errors import BadInput
from memory.records import Frame, Sampling
from memory.store import Store
from runs.console import safe
from runs.files import refuse_existing
from runs.inspect_log import Log, Sample, write_log
from runs.reading import counted
from video.cache import FrameCache, NotCached
from video.thumbnails import thumbnail

Tell = Callable[[int, int], None]
"""Takes how many logs are written, and how many there will be."""


def say_nothing(_done: int, _of: int) -> None:
    """Hear how far it is, and say nothing."""


class Written(NamedTuple):
    """Logs that were written."""

    folder: Path
    files: list[Path]
    samples: int
    missing: int
    """Videos whose frames were wanted and not at hand."""

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        told, name = counted(self.samples, "sample"), safe(str(self.folder))
        logs = counted(len(self.files), "log")
        lines = [f"{logs} with {told} written to {name}; see: inspect view --log-dir {name}"]
        if self.missing:
            videos = counted(self.missing, "video")
            lines.append(f"frames of {videos} are not in the cache any more and were left out")
        return lines


def write_folder(
    to: Path,
    logs: Sequence[tuple[Log, Iterable[Sample]]],
    *,
    force: bool,
    pictures: Frames,
    tell: Tell,
) -> Written:
    """Write logs into a folder, each whole or not at all; `tell` hears after each how many are.

    Raises:
        BadInput: the folder cannot be made, or one of the files is there and not `force`.
    """
    files = [to / log.file_name for log, _ in logs]
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        told = f"{safe(str(to))} cannot be made: {wrong.strerror}; pass a folder with --to"
        raise BadInput(told) from wrong
    for file in files:
        refuse_existing(file, force=force)
    count = 0
    for place, (file, (log, samples)) in enumerate(zip(files, logs, strict=True), start=1):
        count += write_log(file, log, samples)
        tell(place, len(files))
    return Written(to, files, count, len(pictures.missing))


def span_of(store: Store | None, file: Path) -> tuple[float, float]:
    """Return when work began and ended, in seconds since 1970; a file tells when it was written."""
    sessions = store.sessions.all() if store is not None else []
    if not sessions:
        written_s = file.stat().st_mtime
        return written_s, written_s
    last = sessions[-1]
    return sessions[0].began_at_s, last.began_at_s + last.worked_s


class Frames:
    """Thumbnails of the frames that answers were made from, as far as they are still cached."""

    def __init__(self, store: Store | None, sampling: Mapping[str, Any], most: int) -> None:
        self._store, self._most = store, most
        self._cache = FrameCache()
        try:
            self._sampling = Sampling.model_validate(sampling)
        except ValidationError:
            self._most = 0
        self._sha = {video.id: video.sha256 for video in store.videos()} if store else {}
        self.missing = set[str]()
        """Videos whose frames are not at hand."""

    def of(self, video: str, times: Sequence[float] | None) -> list[tuple[float, bytes]]:
        """Return thumbnails of a video with their times, spread evenly.

        `times` are those of the frames that were sent; None for all that the video gave.
        """
        known = self._store.frames(video) if self._store is not None and self._most else None
        if known is None:
            return []
        sent = None if times is None else set(times)
        chosen = _spread([f for f in known.frames if sent is None or f.time_s in sent], self._most)
        try:
            digests = [frame.digest for frame in chosen]
            jpegs = self._cache.jpegs(self._sha[video], self._sampling, digests)
            return [(f.time_s, thumbnail(j)) for f, j in zip(chosen, jpegs, strict=True)]
        except (NotCached, KeyError, OSError):
            self.missing.add(video)
            return []


def _spread(frames: Sequence[Frame], most: int) -> list[Frame]:
    if len(frames) <= most:
        return list(frames)
    return [frames[(2 * k + 1) * len(frames) // (2 * most)] for k in range(most)]
