"""What a run tells of itself: its settings and its videos."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ConfigDict

from videoautoarena.memory.records.records import SCOUTS, PublishedRecord, Record, Sampling, Video
from videoautoarena.memory.store.evidence import ASIDE
from videoautoarena.memory.store.journal import FramesSent
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.arena_file import Pairing
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import kept_rule
from videoautoarena.runs.run.rundir.reader import (
    RunReader,
    contracts_of,
    reading_of,
    stored_subtitles,
    work_on,
)
from videoautoarena.video.sampling.thinning import kept_places


class Worked(Record):
    """How long a run was worked on, over all processes, to their last commits."""

    seconds: float
    processes: int
    calls_per_minute: float | None


class Member(Record):
    """One model of a run: what it is, not where its server stands."""

    model: str
    """`provider:model`."""
    max_frames: int | None
    """Most frames it is sent; null leaves it to the role."""
    parameters: dict[str, Any]
    """Sampling parameters."""
    detail: Literal["low", "high", "auto"] | None
    """How closely its provider looks at a frame; null: its default."""


class Roles(Record):
    """Who plays which part, by names in the cast."""

    contestants: tuple[str, ...]
    """Names of the contestants in roster order."""
    examiner: str
    """Name of the examiner, which also invents users, asks, evolves and grades questions."""
    judges: tuple[str, ...]
    """Names of the judges; several are a panel."""


class RunSetup(PublishedRecord):
    """The settings of a run; holds no address, key or absolute path."""

    model_config = ConfigDict(title="Setup")

    name: str
    """Name of its folder."""
    version: str | None
    """Version of videoautoarena when the run began."""
    began_s: float | None
    """When it was first worked on, in seconds since 1970; null of a run without a clock."""
    work: Worked
    """As in [a status](#how-a-run-stands)."""
    seed: int
    """Seed of all that is drawn."""
    rounds: int
    """Rounds of each lineage."""
    roles: Roles
    """Names in the cast: `contestants`, `examiner` and `judges`."""
    cast: dict[str, Member]
    """Name to `model`, `max_frames`, sampling `parameters` and `detail` of its pictures."""
    pairing: Pairing
    """Rule by which models meet."""
    swap: float | Literal["all"]
    """Share of battles also judged with the answers in swapped order, or `all`."""
    until: str | None
    """[stopping rule](#a-stopping-rule) that holds, or null."""
    preset: Literal["paper"] | None
    """`paper`, or null."""
    overall_only: bool
    """Whether judges give a verdict on the whole alone."""
    limit: int | None
    """Most videos, or null."""
    subtitles: bool
    """Whether subtitles beside a video are sent with its frames."""
    personas: str | None
    """Sha256 of the file of users, or null."""
    diverse: bool
    """Whether users of a video that are alike are invented anew."""
    languages: tuple[str, ...]
    """Codes of the languages that users ask in, sorted; empty if none is named."""
    sampling: Sampling
    """As in [`[sampling]`](#sampling)."""
    prompts: dict[str, str]
    """Role to digest of its prompt file."""
    contracts: int
    """Number of the [contracts](design.md#4-talking-to-models)."""
    reading: int
    """Number of the [way of reading](design.md#4-talking-to-models) of replies; 1 if absent."""
    offline: bool
    """Whether every model is a stand-in."""
    self_judging: bool
    """Whether a judge or the examiner also competes."""
    offline_judge_on_real: bool
    """Whether an offline judge rates real models."""
    blind_referee: bool
    """Whether the examiner or a judge is sent no frames; absent in the run's own file if not."""


_SAME = (
    *("seed", "rounds", "pairing", "swap", "preset", "limit", "subtitles", "personas"),
    *("diverse", "languages", "sampling"),
    *("offline", "self_judging", "offline_judge_on_real"),
)
"""Fields that are taken from the run's settings as they are."""


def setup_of(run: RunReader) -> RunSetup:
    """Return the settings of a run."""
    manifest = run.manifest
    store = run.store
    config = RunConfig.of_manifest(manifest)
    sessions = store.sessions.all()
    rule = kept_rule(store).rule
    work = work_on(store, store.journal.count(besides=ASIDE))
    return RunSetup(
        # Resolved, since a folder that was given as `.` has no name.
        name=run.folder.resolve().name,
        version=manifest.get("version"),
        began_s=sessions[0].began_at_s if sessions else None,
        work=Worked.model_validate(work.to_json()),
        roles=Roles(contestants=config.models, examiner=config.examiner, judges=config.judges),
        cast={
            name: Member.model_validate({key: getattr(entry, key) for key in Member.model_fields})
            for name, entry in config.cast.items()
        },
        until=None if rule is None else str(rule),
        blind_referee=bool(config.blind_referees),
        overall_only=config.rules.overall_only,
        prompts=manifest.get("prompts") or {},
        contracts=contracts_of(manifest),
        reading=reading_of(manifest),
        **{name: getattr(config, name) for name in _SAME},
    )


Places = tuple[int, ...]


class RunVideo(PublishedRecord):
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
    """Width in pixels, as displayed."""
    height: int
    """Height in pixels, as displayed."""
    fps: float
    """Frames per second, counted."""
    category: str | None
    """Its category, as in a battle; null before its first battle, too."""
    subtitles: str | None
    """Path of the file whose cues were sent with its frames, or null."""
    times: tuple[float, ...] | None
    """Times of all its frames that the run uses, in seconds; null if none were decoded."""
    seen: dict[str, Places] | None
    """Reader to the frames it was sent at least once, as places in `times` from 0; null if none
    were decoded."""


@dataclass(frozen=True)
class _Readers:
    """Who was sent which frames."""

    store: Store
    config: RunConfig

    def seen(self, video: str, times: Sequence[float]) -> dict[str, Places]:
        """Return reader to the frames of a video that it saw, roles first."""
        # Answers keep the times of their frames, calls only how many there were.
        others = [
            sent
            for sent in self.store.journal.sent_about(video)
            if sent.role not in ("contestant", *SCOUTS) and sent.frames
        ]
        roles = _gathered((self._reader(one), self._sent(one, len(times))) for one in others)
        answers = self.store.answered_from(video)
        return roles | _gathered((one.model, places_of(times, one.times)) for one in answers)

    def _reader(self, sent: FramesSent) -> str:
        """Return the name of a reader: its role, and the model's name if several share it."""
        is_panel = sent.role == "judge" and len(self.config.judges) > 1
        named = is_panel or sent.role in self.config.models
        return f"{sent.role} {sent.alias}" if named else sent.role

    def _sent(self, sent: FramesSent, total: int) -> Iterable[int]:
        """Return which of `total` frames were sent: thinned for its model, then for its server."""
        entry = self.config.cast.get(sent.alias)
        limit = total if entry is None else entry.as_model(sent.alias).frame_limit(sent.role)
        kept = kept_places(total, max(limit, sent.frames))
        return (kept[place] for place in kept_places(len(kept), sent.frames))


def videos_of(run: RunReader, some: Container[str] | None = None) -> Iterator[RunVideo]:
    """Yield the videos of a run in order, or `some` by id, one in memory at a time."""
    readers = _Readers(run.store, RunConfig.of_manifest(run.manifest))
    for video in run.store.videos():
        if some is None or video.id in some:
            yield _video(run, video, readers, category=run.store.category(video.id))


def _video(run: RunReader, video: Video, readers: _Readers, *, category: str | None) -> RunVideo:
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
    """Return the places of sent frames by their times; times that no frame has are left out."""
    usual = kept_places(len(times), len(sent))
    # Thinned in the usual way: then two frames with equal times are not mixed up.
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
