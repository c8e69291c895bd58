"""Clips with words drawn into them, as the demo's samples have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tests.support.clips import COLOURS

FPS = 8
SIZE = (320, 180)


class Words(NamedTuple):
    """What stands on the screen, and from when to when in seconds."""

    start_s: float
    end_s: float
    text: str


def draw_lettered(path: Path, said: Sequence[Words], *, seconds: float, grounds: int = 4) -> Path:
    """Write a clip of some grounds of equal length with the words on them, 16 pixels high."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=FPS)
        stream.width, stream.height = SIZE
        stream.pix_fmt, stream.bit_rate = "yuv420p", 4_000_000
        for number in range(int(seconds * FPS)):
            time_s = number / FPS
            ground = COLOURS[int(grounds * time_s / seconds)]
            words = [one.text for one in said if one.start_s <= time_s < one.end_s]
            picture = draw_words(words, ground=ground, height_px=16)
            # Something has to move, or all frames of a scene are one.
            picture.paste((250, 250, 250), (number % 50, 10, number % 50 + 12, 22))
            frame = av.VideoFrame.from_ndarray(np.asarray(picture), format="rgb24")
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path


def draw_words(
    lines: Sequence[str],
    *,
    ground: tuple[int, int, int] = (70, 80, 90),
    size: tuple[int, int] = SIZE,
    height_px: int,
) -> Image.Image:
    """Return a picture with lines of white words from the middle downwards."""
    image = Image.new("RGB", size, ground)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(height_px)
    for place, line in enumerate(lines):
        at = (20, size[1] // 2 + place * 2 * height_px)
        box = pen.textbbox(at, line, font=font)
        pen.rectangle((box[0] - 4, box[1] - 3, box[2] + 4, box[3] + 3), fill=(8, 8, 10))
        pen.text(at, line, fill=(245, 245, 240), font=font)
    return image
