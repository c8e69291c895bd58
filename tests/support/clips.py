"""Small clips with something to see in them, drawn and encoded in a tenth of a second each."""

from __future__ import annotations

import shutil
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

FPS = 6
SIZE = (160, 120)
COLOURS = ((200, 40, 40), (40, 90, 200), (50, 160, 70), (220, 190, 60), (120, 60, 150))


def draw_clip(path: Path, seed: int, *, seconds: float = 6.0) -> Path:
    """Write a clip: three scenes of plain ground in a seeded order, a square going across them."""
    chance = np.random.default_rng(seed)
    frames = int(seconds * FPS)
    order = chance.permutation(len(COLOURS))
    cuts = np.sort(chance.choice(np.arange(4, frames - 4), size=2, replace=False))
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=FPS)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 2_000_000
        for number in range(frames):
            scene = int(np.searchsorted(cuts, number, side="right"))
            ground = COLOURS[order[scene]]
            thing = COLOURS[order[(scene + 2) % len(order)]]
            picture = draw_picture(ground, thing, place=number / frames)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
    return path


def draw_picture(
    ground: tuple[int, int, int], thing: tuple[int, int, int], *, place: float
) -> NDArray[np.uint8]:
    """Return one picture: a square of a quarter of the height, `place` of the way across."""
    width, height = SIZE
    picture = np.full((height, width, 3), ground, np.uint8)
    side = height // 4
    left = int(place * (width - side))
    top = int((0.3 + 0.3 * place) * (height - side))
    picture[top : top + side, left : left + side] = thing
    return picture


def draw_folder(folder: Path, count: int, *, seconds: float = 6.0) -> Path:
    """Write `count` different clips into a new folder."""
    folder.mkdir()
    for seed in range(count):
        draw_clip(folder / f"clip{seed:02d}.mp4", seed, seconds=seconds)
    return folder


def copy_but_one(clips: Path, folder: Path) -> Path:
    """Copy the sample clips but the smallest, so that a command has one left to draw."""
    shutil.copytree(clips, folder)
    min(folder.iterdir(), key=lambda path: path.stat().st_size).unlink()
    return folder
