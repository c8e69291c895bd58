"""Clips that cannot be taken for one another: each a pattern of its own with a square going by."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

FPS = 6
SIZE = (160, 120)
BLOCK_PX = 20


def draw_textured(path: Path, seed: int, *, seconds: float = 8.0) -> Path:
    """Write a clip of seeded blocks of colour, over which a white square goes."""
    chance = np.random.default_rng(seed)
    blocks = chance.integers(20, 236, (SIZE[1] // BLOCK_PX, SIZE[0] // BLOCK_PX, 3), np.uint8)
    ground = blocks.repeat(BLOCK_PX, axis=0).repeat(BLOCK_PX, axis=1)
    frames = int(seconds * FPS)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=FPS)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 2_000_000
        for number in range(frames):
            picture = ground.copy()
            left = number * (SIZE[0] - BLOCK_PX) // frames
            picture[50:70, left : left + BLOCK_PX] = 255
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
    return path


def draw_textures(folder: Path, count: int, *, seconds: float = 8.0) -> Path:
    """Write `count` different clips into a new folder."""
    folder.mkdir()
    for seed in range(count):
        draw_textured(folder / f"pattern{seed}.mp4", seed, seconds=seconds)
    return folder
