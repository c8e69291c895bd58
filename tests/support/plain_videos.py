"""Short videos of two plain colours each, which are described alike from end to end."""

from __future__ import annotations

from pathlib import Path

import av
from PIL import Image

from videoautoarena.video.synth.samples import COLOURS

PAIRS = (
    ("blue", "white"),
    ("red", "yellow"),
    ("green", "black"),
    ("purple", "orange"),
    ("grey", "brown"),
    ("yellow", "teal"),
    ("white", "pink"),
)
RATE = 10


def draw_two_colours(
    path: Path, pair: tuple[str, str], *, seconds: float = 6.2, size: tuple[int, int] = (160, 90)
) -> Path:
    """Write a video mostly of one colour, with a bar of another that moves a little."""
    width, height = size
    with av.open(str(path), "w", format="mp4") as file:
        stream = file.add_stream("mpeg4", rate=RATE)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 1_000_000
        for number in range(round(seconds * RATE)):
            picture = Image.new("RGB", size, COLOURS[pair[0]])
            left = width // 3 + number % 4
            picture.paste(COLOURS[pair[1]], (left, 0, left + round(width * 0.3), height))
            file.mux(stream.encode(av.VideoFrame.from_image(picture)))
        file.mux(stream.encode())
    return path


def draw_plain_videos(folder: Path, count: int = len(PAIRS)) -> Path:
    """Write so many of them into a new folder."""
    folder.mkdir()
    for place, pair in enumerate(PAIRS[:count]):
        draw_two_colours(folder / f"{'-'.join(pair)}.mp4", pair, seconds=6.2 + place / 10)
    return folder
