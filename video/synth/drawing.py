"""Drawing the sample clips: scenes, moving shapes and captions as YUV 4:2:0 planes.

Everything is rendered once a scene; a frame costs a crop, a few pastes and one table lookup, since
six thousand of them have to be drawn in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Plane = NDArray[np.uint8]
Colour = tuple[int, int, int]

COLOURS: dict[str, Colour] = {
    "black": (16, 16, 18),
    "grey": (126, 128, 130),
    "white": (232, 233, 230),
    "red": (204, 28, 38),
    "orange": (238, 132, 26),
    "brown": (118, 70, 34),
    "yellow": (238, 218, 44),
    "green": (40, 152, 62),
    "teal": (28, 162, 158),
    "blue": (38, 82, 206),
    "purple": (134, 58, 186),
    "pink": (242, 138, 178),
}
SHAPES = ("disc", "square", "diamond", "ring", "bar")


class Planes(NamedTuple):
    """Luma of shape (height, width) and both chromas of half that each way."""

    y: Plane
    u: Plane
    v: Plane


@dataclass(frozen=True)
class Sprite:
    """A shape that bounces about the picture; `at` and `speed` in parts of the room it has."""

    shape: str
    colour: str
    size: float
    at: tuple[float, float]
    speed: tuple[float, float]


def to_planes(image: Image.Image) -> Planes:
    """Return an RGB image of even size as planes, by BT.601 in whole numbers, alike everywhere."""
    red, green, blue = (np.asarray(part, np.int32) for part in image.convert("RGB").split())
    luma = (66 * red + 129 * green + 25 * blue + 4224) >> 8
    red, green, blue = (_halved(part) for part in (red, green, blue))
    chroma_u = (-38 * red - 74 * green + 112 * blue + 32896) >> 8
    chroma_v = (112 * red - 94 * green - 18 * blue + 32896) >> 8
    return Planes(*(plane.astype(np.uint8) for plane in (luma, chroma_u, chroma_v)))


def _halved(part: NDArray[np.int32]) -> NDArray[np.int32]:
    total = part[::2, ::2] + part[1::2, ::2] + part[::2, 1::2] + part[1::2, 1::2]
    return (total + 2) >> 2


def split(flat: Plane, width: int, height: int) -> Planes:
    """Return views of the planes that lie behind one another in a buffer of shape (3h/2, w)."""
    line = flat.reshape(-1)
    luma = width * height
    chroma = width * height // 4
    half = (height // 2, width // 2)
    return Planes(
        line[:luma].reshape(height, width),
        line[luma : luma + chroma].reshape(half),
        line[luma + chroma :].reshape(half),
    )


def draw_scene(seed: int, *, colour: str, detail: int, size: tuple[int, int]) -> Planes:
    """Return a picture mostly of one colour, with `detail` things on it (0 is plain)."""
    chance = Random(seed)
    width, height = size
    image = _ground(chance, colour=colour, size=(width, height))
    pen = ImageDraw.Draw(image)
    for _ in range(detail):
        _draw_thing(pen, chance, colour=colour, size=(width, height))
    return to_planes(image)


def draw_sprite(sprite: Sprite, size: tuple[int, int]) -> tuple[Planes, Planes]:
    """Return a shape's planes and its masks (0 or 1), one for each plane."""
    side = max(8, int(sprite.size * size[0]) // 2 * 2)
    mask = Image.new("L", (side, side))
    _outline(ImageDraw.Draw(mask), sprite.shape, side)
    full = (np.asarray(mask) > 0).astype(np.uint8)
    half = np.ascontiguousarray(full[::2, ::2])
    colours = to_planes(Image.new("RGB", (side, side), COLOURS[sprite.colour]))
    return colours, Planes(full, half, half)


def draw_caption(text: str, size: tuple[int, int]) -> Planes:
    """Return a dark strip as wide as the picture with the words on it in white."""
    width = size[0]
    height = size[1] // 8 // 2 * 2
    image = Image.new("RGB", (width, height), (8, 8, 10))
    font = ImageFont.load_default(height * 0.6)
    ImageDraw.Draw(image).text(
        (width / 2, height / 2), text, fill=(245, 245, 240), font=font, anchor="mm"
    )
    return to_planes(image)


def _ground(chance: Random, *, colour: str, size: tuple[int, int]) -> Image.Image:
    """Return a sky that fades and, off the middle, hills in a deeper shade of the same colour."""
    width, height = size
    fade = np.linspace(chance.uniform(0.98, 1.1), chance.uniform(0.86, 0.96), height)
    base = np.array(COLOURS[colour], np.float32) * fade[:, None, None].astype(np.float32)
    # A wave of parabolas: a sine would differ in its last bit from one processor to the next.
    across = (chance.uniform(0, 2) + np.arange(width) * (chance.uniform(0.6, 2) / height)) % 2 - 1
    wave = 4 * across * (1 - np.abs(across))
    skyline = height * (chance.uniform(0.55, 0.9) + 0.08 * wave)
    below = np.arange(height)[:, None] > skyline[None, :]
    shade = np.where(below, chance.uniform(0.72, 0.85), 1.0)[..., None]
    return Image.fromarray(np.clip(base * shade, 0, 255).astype(np.uint8))


def _draw_thing(
    pen: ImageDraw.ImageDraw, chance: Random, *, colour: str, size: tuple[int, int]
) -> None:
    width, height = size
    long = chance.uniform(0.03, 0.16) * height
    wide = chance.uniform(0.03, 0.1) * height
    x = chance.uniform(0, width)
    y = chance.uniform(0, height)
    factor = chance.choice((0.5, 0.62, 0.75, 1.25, 1.4))
    shade = tuple(max(0, min(255, int(part * factor + 4))) for part in COLOURS[colour])
    box = (x - wide, y - long, x + wide, y + long)
    if chance.random() < 0.6:
        pen.rectangle(box, fill=shade)
    else:
        pen.ellipse(box, fill=shade)


def _outline(pen: ImageDraw.ImageDraw, shape: str, side: int) -> None:
    end = side - 1
    middle = side / 2
    if shape == "disc":
        pen.ellipse((0, 0, end, end), fill=255)
    elif shape == "ring":
        pen.ellipse((0, 0, end, end), outline=255, width=max(2, side // 4))
    elif shape == "diamond":
        pen.polygon([(middle, 0), (end, middle), (middle, end), (0, middle)], fill=255)
    elif shape == "bar":
        pen.rectangle((0, side // 3, end, 2 * side // 3), fill=255)
    else:
        pen.rectangle((0, 0, end, end), fill=255)
