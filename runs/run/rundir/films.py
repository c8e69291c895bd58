"""The videos of a run: what each file was, and which of its frames everybody saw."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from videoautoarena.memory.records.records import SCOUTS, Published, Video
from videoautoarena.memory.store.journal import Sent
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.reader import Run
from videoautoarena.runs.run.rundir.subtitles import stored_subtitles
from videoautoarena.video.sampling.thinning import kept_places

Places = tuple[int, ...]


class RunVideo(Published):
    """One video of a run; what the run does not hold is None."""

    id: str
    """First 12 hex digits of the file's sha256."""
    path: str
    """Relative to the folder of videos."""
    bytes: int
    """Size of the file."""
    duration_s: float
    """From the first frame to the end of the last."""
    width: int
    """In pixels, as displayed."""
    height: int
    """Likewise."""
    fps: float
    """Frames a second, counted."""
    category: str | None
    """As in a battle; null too before its first battle."""
    subtitles: str | None
    """Path of the file whose cues were sent with its frames, or null."""
    times: tuple[float, ...] | None
    """Of all its frames that the run uses; null if none were decoded."""
    seen: dict[str, Places] | None
    """Reader to the frames it was sent at least once, as places in `times` from 0; null
    likewise."""


@dataclass(frozen=True)
class _Readers:
    """Who was sent which frames."""

    store: Store
    config: RunConfig

    def seen(self, video: str, times: Sequence[float]) -> dict[str, Places]:
        """Return by name which of a video's frames a reader saw, roles first."""
        others = [
            sent
            for sent in self.store.journal.sent_about(video)
            if sent.role not in ("contestant", *SCOUTS) and sent.frames
        ]
        roles = _gathered((self._reader(one), self._sent(one, len(times))) for one in others)
        answers = self.store.answered_from(video)
        return roles | _gathered((one.model, places_of(times, one.times)) for one in answers)

    def _reader(self, sent: Sent) -> str:
        """Return what a role is called: with the model's name where the role alone is no name."""
        is_panel = sent.role == "judge" and len(self.config.judges) > 1
        named = is_panel or sent.role in self.config.models
        return f"{sent.role} {sent.alias}" if named else sent.role

    def _sent(self, sent: Sent, total: int) -> Iterable[int]:
        """Return which of so many frames were sent: thinned for its model, then for its server."""
        entry = self.config.cast.get(sent.alias)
        limit = total if entry is None else entry.as_model(sent.alias).frame_limit(sent.role)
        kept = kept_places(total, max(limit, sent.frames))
        return (kept[place] for place in kept_places(len(kept), sent.frames))


def videos_of(run: Run, some: Container[str] | None = None) -> Iterator[RunVideo]:
    """Give the videos of a run in their order, or `some` by id, one in memory at a time."""
    readers = _Readers(run.store, RunConfig.of_manifest(run.manifest))
    for video in run.store.videos():
        if some is None or video.id in some:
            yield _video(run, video, readers, category=run.store.category(video.id))


def _video(run: Run, video: Video, readers: _Readers, *, category: str | None) -> RunVideo:
    frames = run.store.frames(video.id)
    spoken = stored_subtitles(run.store, video.id)
    times = None if frames is None else tuple(frame.time_s for frame in frames.frames)
    return RunVideo(
        id=video.id,
        path=video.path,
        bytes=video.size_bytes,
        duration_s=video.duration_s,
        width=video.width_px,
        height=video.height_px,
        fps=video.fps,
        category=category,
        subtitles=spoken.path if spoken else None,
        times=times,
        seen=None if times is None else readers.seen(video.id, times),
    )


def _gathered(found: Iterable[tuple[str, Iterable[int]]]) -> dict[str, Places]:
    places: dict[str, set[int]] = {}
    for reader, sent in found:
        places.setdefault(reader, set()).update(sent)
    return {reader: tuple(sorted(places[reader])) for reader in sorted(places)}


def places_of(times: Sequence[float], sent: Sequence[float]) -> list[int]:
    """Return which frames were sent, by their times; a time that no frame has is left out."""
    usual = kept_places(len(times), len(sent))
    if [times[place] for place in usual] == list(sent):
        return usual
    # Frames less than 10 ms apart may have one time.
    found = []
    place = 0
    for time_s in sent:
        behind = next((k for k in range(place, len(times)) if times[k] == time_s), None)
        if behind is not None:
            found.append(behind)
            place = behind + 1
    return found
