"""Plans over test clips, and soft clips that stay themselves however they are scaled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from PIL import Image

from tests.support.stamped import Recipe
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.synth.timeline import Excerpt, Probe


def whole(path: Path) -> Excerpt:
    """Return all of a video."""
    return Excerpt(video=sha256_of(path), seconds=read_index(path).duration_s)


def probe(path: Path, before: int, *, start_s: float = 0.2, seconds: float = 0.4) -> Probe:
    """Return a stretch of a video that goes before a frame of the ground."""
    return Probe(video=sha256_of(path), start_s=start_s, seconds=seconds, before=before)


def files(*paths: Path) -> dict[str, Path]:
    """Return where each video lies."""
    return {sha256_of(path): path for path in paths}


def frames_of(path: Path) -> Iterator[Image.Image]:
    """Yield the pictures of a file as they are stored."""
    with av.open(str(path)) as container:
        yield from (frame.to_image() for frame in container.decode(video=0))


def draw_smooth(path: Path, recipe: Recipe, *, tint: tuple[float, float, float]) -> Path:
    """Write a clip of soft moving waves, bright up to its edges, which any scaling keeps."""
    width, height = recipe.size
    down, across = np.mgrid[0:height, 0:width] / height * 6
    with av.open(str(path), "w") as file:
        stream = file.add_stream(recipe.codec, rate=recipe.rate, options=recipe.options)
        lies = recipe.turn % 180 != 0
        stream.width, stream.height = (height, width) if lies else (width, height)
        stream.pix_fmt = recipe.pix_fmt
        for name, value in recipe.tags.items():
            setattr(stream.codec_context, name, value)
        if recipe.turn:
            stream.set_display_rotation(recipe.turn)
        for number in range(recipe.count):
            phase = number / 4
            waves = np.sin(across + phase) + np.sin(down * 1.3 - phase) + np.sin(across - down)
            picture = (150 + 25 * waves)[..., None] * tint
            turned = np.rot90(picture.clip(0, 255).astype(np.uint8), -recipe.turn // 90)
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(turned), format="rgb24")
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path
