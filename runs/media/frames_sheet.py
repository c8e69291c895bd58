"""What is seen of a video as a picture for a person, and where that picture is written."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from videoautoarena.agents.prompting.layout import label
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.runs.media.frames import View
from videoautoarena.runs.rundir.reader import counted, spent
from videoautoarena.runs.text.files import refuse_existing, write_whole
from videoautoarena.runs.text.terminal import safe
from videoautoarena.video.synth.contact_sheet import Heading, Shot, draw_sheet

LONGEST_STEM = 60
"""Characters of a video's name in that of its sheet: 4 bytes each, and a name has 255 at most."""


def write_sheet(view: View, to: Path, columns: int | None) -> int:
    """Write the contact sheet and return its size in bytes.

    Raises:
        BadInput: it cannot be written.
    """
    png = draw_sheet(shots(view), heading(view), columns=columns, font=_font())
    write_whole(to, png)
    return len(png)


def sheet_file(video: str, to: Path | None, *, force: bool) -> Path:
    """Return where a sheet of a video goes: a name in the current folder unless told otherwise.

    Raises:
        BadInput: it is no PNG, or there already and not to be replaced.
    """
    file = to or Path(f"{_stem(video)}-frames.png")
    if file.suffix.lower() != ".png":
        raise BadInput(f"{file} is not the name of a PNG file; pass one that ends in .png")
    refuse_existing(file, force=force)
    return file


def shots(view: View) -> list[Shot]:
    """Return the pictures with their times, as the models read them, and where scenes begin."""
    notes = [""] * len(view.jpegs)
    numbers = [0, *view.scene_numbers]
    for place, (before, here) in enumerate(pairwise(numbers)):
        notes[place] = f"scene {here}" if here != before else ""
    labels = map(label, view.frames.frames)
    return [Shot(*shot) for shot in zip(view.jpegs, labels, notes, strict=True)]


def heading(view: View) -> Heading:
    """Return what stands above the pictures."""
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


def about_frames(view: View) -> str:
    """Return in one line which frames these are."""
    frames, sampling = view.frames, view.sampling
    count = len(frames.frames)
    which = counted(count, "frame")
    if count != view.total:
        which = f"{count} of {counted(view.total, 'frame')}, as seen by {view.by or 'no model'},"
    bytes_ = sum(map(len, view.jpegs))
    size = f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e6 else f"{bytes_ / 1e3:.0f} kB"
    fit = {"keep": "", "stretch": " stretched", "pad": " on black"}[sampling.fit]
    return (
        f"{which} at {frames.width_px} x {frames.height_px}{fit}, {_policy(view, sampling)}, "
        f"JPEG quality {sampling.quality}, {size}"
    )


def warnings(view: View) -> list[str]:
    """Return what a person has to know who trusts these pictures."""
    told = [safe(problem) for problem in view.video.problems]
    if damaged := view.frames.damaged:
        of = f"{damaged} of {counted(view.total, 'frame')}"
        told.append(f"{of} damaged; a frame that cannot be decoded is replaced by its neighbour")
    if approximate := view.frames.approximate:
        of = f"{approximate} of {counted(view.total, 'frame')}"
        told.append(f"{of} may not match their times exactly")
    return told


def duration(seconds: float) -> str:
    """Return a length for a person: seconds with one digit, from two minutes on in two units."""
    return f"{seconds:.1f} s" if seconds < 120 else spent(seconds)


def _policy(view: View, sampling: Sampling) -> str:
    match sampling.policy:
        case "fps":
            return f"{sampling.fps or 1:g} a second"
        case "scenes":
            found = f"{counted(len(view.scenes), 'scene')}" if view.scenes else "its scenes"
            return f"over {found}"
        case "keyframes":
            return "key frames"
        case _:
            return "evenly in time"


def _stem(video: str) -> str:
    """Return the name of a sheet's video without anything that a file name should not have."""
    stem = Path(video).stem
    shown = "".join(c if c.isalnum() or c in " ._-+()" else "_" for c in stem[:LONGEST_STEM])
    return shown.strip(" .-_") or "video"


def _font() -> Path:
    """Return letters with accents, Greek and Cyrillic ones: those that matplotlib brings."""
    from matplotlib import get_data_path

    return Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
