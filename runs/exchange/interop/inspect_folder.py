"""A folder of logs for Inspect's viewer, and what goes into them beside words."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from videoautoarena.memory.records.records import Frame, Sampling
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.exchange.interop.inspect_log import Json, Log, Sample, write_log
from videoautoarena.runs.formats.files import make_folder, refuse_existing
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.sampling.cache import FrameCache, NotCached
from videoautoarena.video.synth.contact_sheet import thumbnail

_PARAMETERS = {
    "temperature": float,
    "top_p": float,
    "max_tokens": int,
    "seed": int,
    "presence_penalty": float,
    "frequency_penalty": float,
}
"""Sampling parameters that both have, by one name."""


def cast_entry(cast: Any, name: str) -> Mapping[str, Any]:
    """Return what a cast says of a model; nothing where it does not know it."""
    found = cast.get(name) if isinstance(cast, dict) else None
    return found if isinstance(found, dict) else {}


def parameters_of(entry: Mapping[str, Any]) -> Json:
    """Return a model's sampling parameters as far as a log has a place for them; never a key."""
    given = entry.get("parameters")
    found = given if isinstance(given, Mapping) else {}
    return {
        name: kind(found[name])
        for name, kind in _PARAMETERS.items()
        if isinstance(found.get(name), int | float)
    }


def row_metrics(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, float | int | None]:
    """Return those figures of a row that are numbers; a share with its interval is its value."""
    found = {}
    for name in names:
        value = row.get(name)
        value = value.get("value") if isinstance(value, Mapping) else value
        found[name] = value if isinstance(value, int | float) else None
    return found


def rival_said(name: str, answer: str | None) -> list[Json]:
    """Return the message that shows what an answer was held against."""
    if answer is None:
        return []
    content = f"The answer of {safe(name)}, which it was compared with:\n\n{answer}"
    return [{"role": "user", "content": content}]


def judged(
    judge: str,
    won: str,
    *,
    sides: tuple[str, str],
    is_turned: bool,
    words: str | None,
    reason: str | None,
) -> str:
    """Return one judging as Markdown.

    Args:
        judge: its name.
        won: what it saw: a name, or the verdict's own word.
        sides: whose answers `a` and `b` are in its verdicts.
        is_turned: whether it read b's answer first, as its A.
        words: as JSON of the standards, or anything else as it stands.
        reason: why there is no verdict.
    """
    first, second = map(safe, sides[::-1] if is_turned else sides)
    head = f"**{safe(judge)}** (A is {first}, B is {second}): {safe(won)}"
    since = f", since {reason}" if reason else ""
    return "\n\n".join([f"{head}{since}", *_standards(words, sides)])


def _standards(words: str | None, sides: tuple[str, str]) -> list[str]:
    if words is None:
        return []
    try:
        said = json.loads(words)
    except (ValueError, RecursionError):
        return [words]
    panel = said.get("judges") if isinstance(said, dict) else None
    if not isinstance(panel, dict):
        return _by_standard(said, sides) or [words]
    return [
        line
        for name, one in panel.items()
        for line in (f"**{safe(name)}**", *_by_standard(one, sides))
    ]


def _by_standard(said: Any, sides: tuple[str, str]) -> list[str]:
    """Return a judge's words on each standard; nothing of what has another shape."""
    if not isinstance(said, dict):
        return []
    asked = [name for name in STANDARDS if isinstance(said.get(name), str)]
    if not asked:
        return []
    own = said.get("own_answer")
    better = said.get("standards")
    leads = better if isinstance(better, dict) else {}
    ahead = {"a": f", {safe(sides[0])} ahead", "b": f", {safe(sides[1])} ahead"}
    found = {"own answer": own} if isinstance(own, str) else {}
    for name in asked:
        found[f"{STANDARDS[name].words}{ahead.get(str(leads.get(name)), '')}"] = said[name]
    # Each is to stay one paragraph, whatever stands in it.
    return [
        f"{head}: {' '.join(html.escape(safe(words, lines=True), quote=False).split())}"
        for head, words in found.items()
    ]


OnProgress = Callable[[int, int], None]
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
        name = safe(str(self.folder))
        logs = counted(len(self.files), "log")
        samples = counted(self.samples, "sample")
        lines = [f"{logs} with {samples} written to {name}; see: inspect view --log-dir {name}"]
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
    on_progress: OnProgress,
) -> Written:
    """Write logs into a folder, each whole or not at all; `on_progress` hears after each.

    Raises:
        BadInput: the folder cannot be made, or one of the files is there and not `force`.
    """
    files = [to / log.file_name for log, _ in logs]
    make_folder(to)
    for file in files:
        refuse_existing(file, force=force)
    count = 0
    for place, (file, (log, samples)) in enumerate(zip(files, logs, strict=True), start=1):
        count += write_log(file, log, samples)
        on_progress(place, len(files))
    return Written(to, files, count, len(pictures.missing))


def span_of(store: Store | None, file: Path) -> tuple[float, float]:
    """Return when work began and ended, in seconds since 1970; else when a file was written."""
    sessions = store.sessions.all() if store is not None else []
    if not sessions:
        written_s = file.stat().st_mtime
        return written_s, written_s
    last = sessions[-1]
    return sessions[0].began_at_s, last.began_at_s + last.worked_s


class Frames:
    """Thumbnails of the frames that answers were made from, as far as they are still cached."""

    def __init__(self, store: Store | None, sampling: Mapping[str, Any], most: int) -> None:
        self._store = store
        self._most = most
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
