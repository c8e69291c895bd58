"""The contact sheet of a video's scenes, with a box and an id around each object."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from videoautoarena.memory.records.scenes import Box, SceneMemory
from videoautoarena.runs.console.media.frames import about_video, sheet_font
from videoautoarena.runs.formats.files import write_whole
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.making.scenes.show import SceneReport
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.synth.contact_sheet import Colour, Heading, SheetPicture, draw_sheet

MOST_PICTURES = 240
COLOURS: tuple[Colour, ...] = (
    (244, 180, 60),
    (90, 200, 250),
    (255, 105, 97),
    (120, 220, 120),
    (220, 140, 255),
    (255, 255, 120),
)
"""Colours of the boxes; an object has the same one wherever it comes back."""
_THICK, _LETTERS = 0.006, 0.04
"""Shares of the picture's longer side."""


class _Boxed(NamedTuple):
    id: str
    box: Box


def write_scene_sheet(shown: SceneReport, memory: SceneMemory, to: Path) -> None:
    """Write the contact sheet as a PNG; BadInput if it cannot be written."""
    shots = scene_shots(shown, memory)
    lines = [
        about_video(shown.video),
        f"{counted(len(memory.scenes), 'scene')}, {counted(len(memory.objects), 'object')}, "
        f"named by {safe(shown.examiner)}",
    ]
    left_out = len(shots) - MOST_PICTURES
    warned = [f"the last {left_out} of {len(shots)} pictures are left out"] * (left_out > 0)
    heading = Heading(safe(shown.video.path), lines, warned)
    write_whole(to, draw_sheet(shots[:MOST_PICTURES], heading, font=sheet_font()))


def scene_shots(shown: SceneReport, memory: SceneMemory) -> list[SheetPicture]:
    """Return the pictures of all scenes in order, boxes drawn; each is labelled by scene, time."""
    shots = list[SheetPicture]()
    for scene, pictures in zip(memory.scenes, shown.pictures, strict=True):
        for time_s, jpeg in zip(pictures.times, pictures.jpegs, strict=True):
            there = [
                (known.id, one)
                for known in memory.objects
                for one in known.appearances
                if (one.scene, one.time_s) == (scene.number, time_s)
            ]
            boxes = [_Boxed(id_, one.box) for id_, one in there if one.box is not None]
            ids = " ".join(id_ for id_, _ in there)
            label = f"s{scene.number}  {time_s:.1f} s"
            shots.append(SheetPicture(boxed(jpeg, boxes) if boxes else jpeg, label, ids))
    return shots


def boxed(jpeg: bytes, boxes: list[_Boxed]) -> bytes:
    """Return a picture with boxes drawn into it, the id of each at its upper left corner."""
    with Image.open(BytesIO(jpeg), formats=["JPEG"]) as opened:
        picture = opened.convert("RGB")
    draw = ImageDraw.Draw(picture)
    longer = max(picture.size)
    letters = ImageFont.load_default(max(10, round(_LETTERS * longer)))
    for id_, box in boxes:
        colour = COLOURS[(int(id_[1:]) - 1) % len(COLOURS)]
        # Width and height twice: left and right are shares of the one, top and bottom of the other.
        left, top, right, bottom = (
            share * side for share, side in zip(box, picture.size * 2, strict=True)
        )
        draw.rectangle(
            (left, top, right, bottom), outline=colour, width=max(1, round(_THICK * longer))
        )
        name = draw.textbbox((0, 0), id_, font=letters)
        width = name[2] + 4
        height = name[3] + 3
        place = min(left, picture.width - width), max(0, top - height)
        draw.rectangle((*place, place[0] + width, place[1] + height), fill=colour)
        draw.text((place[0] + 2, place[1]), id_, fill=(20, 22, 26), font=letters)
    out = BytesIO()
    # Without subsampling: with colours of every second pixel alone, thin lines are washed out.
    picture.save(out, "JPEG", quality=92, subsampling=0)
    return out.getvalue()
