"""The frames that a model sees of a video, now or as a run showed them, and as one picture."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.prompting.layout import label
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.frame_policies import FPS, FRAME_POLICIES
from videoautoarena.memory.records.records import Cue, Sampling, Video, VideoFrames
from videoautoarena.runs.formats.files import refuse_existing, write_whole
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import in_full, spent
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.run_config import (
    RunConfig,
    choose_sampling,
    preset_of,
    refuse_missing,
)
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import NO_FOLDER, videos_folder
from videoautoarena.runs.run.rundir.reader import RunReader, counted, open_run
from videoautoarena.video.folder.find import read_video
from videoautoarena.video.sampling.cache import FrameCache, kept_scenes
from videoautoarena.video.sampling.scenes import SceneSpan
from videoautoarena.video.sampling.thinning import thin
from videoautoarena.video.synth.contact_sheet import Heading, SheetPicture, draw_sheet
from videoautoarena.video.workers.decoders import Decoders

NAMED = 5
"""The most videos of a run that an error names."""
ROUNDED_S = 0.0051
"""Times of frames are rounded to 0.01 s, so one may stand just before its own scene."""


@dataclass(frozen=True)
class FramesRequest:
    """Which frames of which video are requested."""

    video: str
    """A file; with a run also the id or the path of one of its videos."""
    sampling: Sampling
    """How frames are sampled; ignored with a run, which has its own."""
    seen: int | None = None
    """Show only the frames that a model limited to so many would be sent."""
    run: Path | None = None
    model: str | None = None
    """Show only the frames that this contestant of the run is sent."""


def asked_sampling(typed: Mapping[str, Any]) -> Sampling:
    """Return the sampling that results from options, by their names in `Flags`, and the file.

    Raises:
        BadInput: a value that cannot be, or a library that is not installed.
    """
    file = arena_file(typed["config"])
    flags = RunRequest(**typed)
    sampling = choose_sampling(
        vars(flags), file.sampling, is_paper=preset_of(flags, file) == "paper"
    )
    refuse_missing(sampling)
    return sampling


@dataclass(frozen=True)
class FramesView:
    """The frames that are shown of one video."""

    video: Video
    sampling: Sampling
    frames: VideoFrames
    """The frames that are shown."""
    total: int
    """How many frames the video gave, of which these are chosen."""
    jpegs: tuple[bytes, ...]
    scenes: tuple[SceneSpan, ...] = ()
    """Scenes of the video, if the sampling goes by scenes."""
    by: str = ""
    """Words for the model that sees no more than these; empty if they are all."""
    run: str = ""
    """The run that has shown them; empty for frames that are sampled now."""

    @property
    def scene_numbers(self) -> list[int]:
        """The number, from 1, of the scene that each frame is in; empty without scenes."""
        starts = [scene.start_s for scene in self.scenes]
        times = (frame.time_s + ROUNDED_S for frame in self.frames.frames)
        return [bisect_right(starts, time_s) for time_s in times] if starts else []

    def as_json(self, sheet: Path | None) -> dict[str, Any]:
        """Return it in the shape of `arena frames --json`."""
        frames = self.frames
        seen = [
            SeenFrame(frame.time_s, frame.digest, len(jpeg))
            for frame, jpeg in zip(frames.frames, self.jpegs, strict=True)
        ]
        return record_json(
            ShownFrames(
                video=self.video,
                sampling=self.sampling,
                run=self.run or None,
                width_px=frames.width_px,
                height_px=frames.height_px,
                total=self.total,
                damaged=frames.damaged,
                approximate=frames.approximate,
                frames=seen,
                captions=frames.captions,
                scenes=self.scenes,
                sheet=sheet,
            )
        )


class SeenFrame(NamedTuple):
    """A frame that is shown."""

    time_s: float
    digest: str
    """Digest of its JPEG."""
    bytes: int


@dataclass(frozen=True)
class ShownFrames:
    """What `arena frames --json` prints of a view, without its pictures."""

    video: Video
    """The video, as a run keeps it."""
    sampling: Sampling
    """How frames were chosen and made, as in [`[sampling]`](#sampling)."""
    run: str | None
    """Folder of the run that has shown them, or None."""
    width_px: int
    """Width of each frame."""
    height_px: int
    """Height of each frame."""
    total: int
    """How many frames the video gave; `--seen` and `--model` list fewer."""
    damaged: int
    """How many of all frames follow reported damage or show a neighbour; 0 is no proof that the
    file is whole."""
    approximate: int
    """How many of all frames may not be exactly those of their times."""
    frames: Sequence[SeenFrame]
    """For each frame `time_s`, the `digest` of its JPEG and its `bytes`."""
    captions: Sequence[Cue]
    """Text read in them by a run of an earlier version: `start_s`, `end_s`, `text`; else empty."""
    scenes: Sequence[SceneSpan]
    """With the policy `scenes`: `start_s`, `end_s`; else empty."""
    sheet: Path | None
    """The picture that was written, or None."""


async def view(asked: FramesRequest) -> FramesView:
    """Return the frames that are seen of a video; decode what is not in the cache.

    Raises:
        BadInput: there is no such video or model, or it gives no frames; the message names it.
        FramesChanged: the file gives other frames now than the run has shown.
    """
    if asked.run is None:
        return await _sampled(asked)
    with open_run(asked.run) as run:
        return await _shown(run, asked)


async def _sampled(asked: FramesRequest) -> FramesView:
    path = Path(asked.video)
    video = await asyncio.to_thread(read_one, path)
    is_by_scenes = asked.sampling.needs_scenes
    async with Decoders(FrameCache()) as decoders:
        try:
            frames = await decoders.frames(path, video, asked.sampling)
            scenes = await decoders.scenes(path, video) if is_by_scenes else ()
            seen = frames if asked.seen is None else thin(frames, asked.seen)
            jpegs = await _jpegs(decoders, path, video, asked.sampling, seen)
        except UnusableVideo as failure:
            raise BadInput(f"{asked.video} {failure}") from None
    by = _of_at_most(asked.seen)
    return FramesView(video, asked.sampling, seen, len(frames.frames), jpegs, scenes, by)


async def _shown(run: RunReader, asked: FramesRequest) -> FramesView:
    config = RunConfig.of_manifest(run.manifest)
    most = asked.seen
    by = _of_at_most(asked.seen)
    if asked.model is not None:
        model = in_full(asked.model, config.models)
        if model not in config.models:
            there = f"{run.folder}; choose from {', '.join(map(safe, config.models))}"
            raise BadInput(f"{asked.model} is not a contestant of {there}")
        most = config.model_of(model).frame_limit("contestant")
        by = safe(model)
    # In a thread, since a file that is compared by content is read whole.
    video, path = await asyncio.to_thread(_of_run, run, asked.video)
    frames = run.store.frames(video.id)
    if frames is None:
        raise BadInput(f"{run.folder} has not decoded {safe(video.path)} yet")
    seen = frames if most is None else thin(frames, most)
    async with Decoders(FrameCache()) as decoders:
        try:
            jpegs = await _jpegs(decoders, path, video, config.sampling, seen)
        except UnusableVideo as failure:
            is_known = not path.is_relative_to(NO_FOLDER)
            why = str(failure) if is_known else "lies in a folder that is not known here"
            raise BadInput(f"{safe(video.path)} {why}; pass the file as it was") from None
        # Only those that are kept: a search would decode the whole video.
        scenes = kept_scenes(decoders.cache.folder, video.sha256)
    return FramesView(
        *(video, config.sampling, seen, len(frames.frames), jpegs),
        scenes=(scenes or ()) if config.sampling.needs_scenes else (),
        by=by,
        run=str(run.folder),
    )


async def _jpegs(
    decoders: Decoders, path: Path, video: Video, sampling: Sampling, frames: VideoFrames
) -> tuple[bytes, ...]:
    digests = [frame.digest for frame in frames.frames]
    return tuple(await decoders.jpegs(path, video, sampling=sampling, digests=digests))


def _of_at_most(seen: int | None) -> str:
    return "" if seen is None else f"a model limited to {seen}"


def read_one(path: Path) -> Video:
    """Return the video in a file; BadInput, which names the file, if there is none."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder; pass a file (arena videos lists those of a folder)")
    if not path.exists():
        raise BadInput(f"there is no file {path}; pass a video")
    try:
        return read_video(path.parent, path.name)
    except UnusableVideo as failure:
        raise BadInput(f"{path} {failure}") from None


def _of_run(run: RunReader, wanted: str) -> tuple[Video, Path]:
    """Return a video of the run and its file, by id or its beginning, by path or by content."""
    videos = run.store.videos()
    folder = videos_folder(run.store) or NO_FOLDER
    for video in videos:
        if wanted in (video.id, video.path):
            return video, folder / video.path
    # By content: the file may have moved since, and the frames that a run saw follow from its
    # bytes.
    if (path := Path(wanted)).is_file():
        sha256 = read_one(path).sha256
        for video in videos:
            if video.sha256 == sha256:
                return video, path
    # Last: the name of a file may be the beginning of an id.
    begun = [video for video in videos if wanted and video.id.startswith(wanted)]
    if len(begun) == 1:
        return begun[0], folder / begun[0].path
    raise BadInput(f"{run.folder} has no video {wanted}; there are {_named(videos)}")


def _named(videos: Sequence[Video]) -> str:
    more = len(videos) - NAMED
    names = ", ".join(safe(video.path) for video in videos[:NAMED])
    return f"{names} and {more} more" if more > 0 else names or "none"


LONGEST_STEM = 60
"""Characters of a video's name in its sheet's: up to 4 bytes each, of 255 that a name may have."""


def write_sheet(view: FramesView, to: Path, columns: int | None) -> None:
    """Write the contact sheet; BadInput if it cannot be written."""
    write_whole(to, draw_sheet(shots(view), heading(view), columns=columns, font=sheet_font()))


def sheet_font() -> Path | None:
    """Return matplotlib's font, which has accents, Greek and Cyrillic; None without matplotlib."""
    try:
        from matplotlib import get_data_path
    except ModuleNotFoundError:
        return None
    return Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def sheet_file(video: str, to: Path | None, *, force: bool) -> Path:
    """Return the file of a sheet, `to` or one here; BadInput if it is no PNG or exists."""
    file = to or Path(f"{_stem(video)}-frames.png")
    if file.suffix.lower() != ".png":
        raise BadInput(f"{file} is not the name of a PNG file; pass one that ends in .png")
    refuse_existing(file, force=force)
    return file


def shots(view: FramesView) -> list[SheetPicture]:
    """Return the pictures with their times, as the models read them, and where scenes begin."""
    notes = [""] * len(view.jpegs)
    # No scene has the number 0, so the first picture always has a note.
    numbers = [0, *view.scene_numbers]
    for place, (before, here) in enumerate(pairwise(numbers)):
        notes[place] = f"scene {here}" if here != before else ""
    labels = map(label, view.frames.frames)
    return [SheetPicture(*shot) for shot in zip(view.jpegs, labels, notes, strict=True)]


def heading(view: FramesView) -> Heading:
    """Return the heading above the pictures."""
    lines = [about_video(view.video), about_frames(view)]
    if view.run:
        lines.append(f"as shown in the run in {safe(view.run)}")
    return Heading(safe(view.video.path), lines, warnings(view))


def about_video(video: Video) -> str:
    """Return a video's shape in one line."""
    turned = f", turned by {video.rotation} degrees" if video.rotation else ""
    return (
        f"{duration(video.duration_s)}, {video.width_px} x {video.height_px}, "
        f"{video.fps:g} frames per second, {safe(video.codec)}{turned}"
    )


def about_frames(view: FramesView) -> str:
    """Return one line on which frames these are."""
    frames = view.frames
    sampling = view.sampling
    count = len(frames.frames)
    which = counted(count, "frame")
    if count != view.total:
        which = f"{count} of {counted(view.total, 'frame')}, as seen by {view.by or 'no model'},"
    bytes_ = sum(map(len, view.jpegs))
    size = f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e6 else f"{bytes_ / 1e3:.0f} kB"
    fit = {"keep": "", "stretch": " stretched", "pad": " on black"}[sampling.fit]
    scenes = counted(len(view.scenes), "scene") if view.scenes else "its scenes"
    spread = FRAME_POLICIES[sampling.policy].on_sheet.format(fps=sampling.fps or FPS, scenes=scenes)
    return (
        f"{which} at {frames.width_px} x {frames.height_px}{fit}, {spread}, "
        f"JPEG quality {sampling.quality}, {size}"
    )


def warnings(view: FramesView) -> list[str]:
    """Return warnings for a person who is to trust these pictures."""
    found = [safe(problem) for problem in view.video.problems]
    if damaged := view.frames.damaged:
        of = f"{damaged} of {counted(view.total, 'frame')}"
        found.append(f"{of} damaged; a frame that cannot be decoded is replaced by its neighbour")
    if approximate := view.frames.approximate:
        of = f"{approximate} of {counted(view.total, 'frame')}"
        found.append(f"{of} may not match their times exactly")
    return found


def duration(seconds: float) -> str:
    """Return a length of time: seconds with one digit, from two minutes on in two units."""
    return f"{seconds:.1f} s" if seconds < 120 else spent(seconds)


def _stem(video: str) -> str:
    """Return the stem of a video's name without characters that a file name should not have."""
    stem = Path(video).stem
    shown = "".join(c if c.isalnum() or c in " ._-+()" else "_" for c in stem[:LONGEST_STEM])
    return shown.strip(" .-_") or "video"
