"""Coloured areas of a picture that stand out from what is around them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videoautoarena.agents.offline.vision.frame_features import (
    COLOURS,
    Memo,
    Picture,
    colour_names,
)

SIDE_PX = 192
LEAST, MOST = 0.004, 0.2
"""Shares of the picture: smaller is noise, larger is the ground."""
_LEAST_FILL = 0.38
_LONG = 1.7
"""Width to height from which on an area is long."""
_SQUARE, _ROUND = 0.9, 0.68
"""Shares of its box that an area fills at least, by its shape."""
SAME_SIZE = 1.25
"""Widths and heights of one thing in two pictures differ by less than this factor."""
OFTEN = 0.4
"""Share of the pictures in which a thing is seen at least: what is there for an instant is none."""


class Area(NamedTuple):
    """One area of one colour; box and size are shares of the picture."""

    colour: str
    shape: str
    box: tuple[float, float, float, float]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        return self.box[2] - self.box[0], self.box[3] - self.box[1]


class Thing(NamedTuple):
    """Areas of several pictures that look like one thing, by the places of their pictures."""

    areas: dict[int, Area]

    @property
    def typical(self) -> tuple[int, Area]:
        """The place of a picture, and the area in it whose size is the middle one."""
        places = sorted(self.areas, key=lambda place: (self.areas[place].size, place))
        place = places[len(places) // 2]
        return place, self.areas[place]


_AREAS: Memo[bytes, tuple[Area, ...]] = Memo(2048)


def areas_of(picture: Picture) -> tuple[Area, ...]:
    """Return the areas of one picture, the largest first. Decodes once per digest, about 5 ms."""
    return _AREAS.get(picture.digest, lambda: find_areas(base64.b64decode(picture.base64)))


def things_in(pictures: Sequence[Picture]) -> list[Thing]:
    """Return what is seen in many of the pictures, the largest first."""
    things = list[Thing]()
    for place, one in enumerate(pictures):
        for area in areas_of(one):
            known = (
                thing
                for thing in things
                if place not in thing.areas and is_alike(thing.typical[1], area)
            )
            thing = next(known, None)
            if thing is None:
                things.append(Thing({place: area}))
            else:
                thing.areas[place] = area
    often = [thing for thing in things if len(thing.areas) >= OFTEN * len(pictures)]
    return sorted(often, key=lambda thing: -np.prod(thing.typical[1].size))


def is_alike(one: Area, other: Area) -> bool:
    """Return whether two areas may be of one thing."""
    return (one.colour, one.shape) == (other.colour, other.shape) and all(
        max(a, b) <= SAME_SIZE * min(a, b) for a, b in zip(one.size, other.size, strict=True)
    )


def find_areas(jpeg: bytes) -> tuple[Area, ...]:
    """Return the areas of one picture, the largest first; not remembered, unlike `areas_of`."""
    # It takes a tenth of a second to import, which a cast without an examiner never needs.
    from scipy import ndimage

    names = _named(jpeg)
    height, width = names.shape
    found = list[tuple[int, Area]]()
    for colour in np.unique(names).tolist():
        labels, count = ndimage.label(names == colour)
        sizes = np.bincount(labels.ravel(), minlength=count + 1)
        for number, place in enumerate(ndimage.find_objects(labels), 1):
            rows, columns = place
            is_cut_off = 0 in (rows.start, columns.start) or (
                rows.stop == height or columns.stop == width
            )
            share = sizes[number] / names.size
            if is_cut_off or not LEAST <= share <= MOST:
                continue
            shape = _shape_of(labels[place] == number)
            if shape is not None:
                box = (
                    columns.start / width,
                    rows.start / height,
                    columns.stop / width,
                    rows.stop / height,
                )
                found.append((int(sizes[number]), Area(COLOURS[colour], shape, box)))
    return tuple(area for _, area in sorted(found, key=lambda one: (-one[0], one[1])))


def _named(jpeg: bytes) -> NDArray[np.intp]:
    """Return the place in COLOURS of each pixel's name, shape (height, width)."""
    with Image.open(io.BytesIO(jpeg)) as picture:
        small = picture.convert("RGB")
    small.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.BOX)
    pixels = np.asarray(small)
    return colour_names(pixels.reshape(-1, 3)).reshape(pixels.shape[:2])


def _shape_of(mask: NDArray[np.bool_]) -> str | None:
    """Return a word for an area that fills its box so; None for one without a shape."""
    height, width = mask.shape
    fill = float(mask.mean())
    if fill < _LEAST_FILL:
        return None
    if not mask[height // 3 : -(-2 * height // 3), width // 3 : -(-2 * width // 3)].any():
        return "ring"
    if width >= _LONG * height:
        return "bar"
    if height >= _LONG * width:
        return "column"
    return "square" if fill >= _SQUARE else "disc" if fill >= _ROUND else "diamond"
