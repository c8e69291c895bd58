"""Coloured areas of a picture that stand out from what is around them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videoautoarena.agents.offline.vision.frame_features import (
    COLOURS,
    Memo,
    ReceivedFrame,
    colour_names,
)

SIDE_PX = 192
LEAST, MOST = 0.004, 0.2
"""Shares of the picture: smaller is noise, larger is the ground."""
_LEAST_FILL = 0.38
"""Share of its box that an area has to fill; what fills less is an edge."""
_CONTRAST = 60.0
"""Levels of RGB between its mean colour and that around it: with less it is a shade of that."""
_LONG = 1.7
"""Least ratio of an area's sides, or of height to width, for it to be long."""
_FITS = 0.8
"""Least overlap of an area with a shape's outline, over what both cover, to have that shape."""
PATCH = "patch"
"""Name of an area of no particular shape."""
SAME_SIZE = 1.25
"""Widths and heights of one thing in two pictures differ by less than this factor."""
OFTEN = 0.4
"""Least share of the pictures in which a thing is seen, two of several at least: what is there for
an instant is no thing."""


Box = tuple[float, float, float, float]


class Area(NamedTuple):
    """One area of one colour; box and size are shares of the picture."""

    colour: str
    shape: str
    box: Box

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        return self.box[2] - self.box[0], self.box[3] - self.box[1]


class DepictedObject(NamedTuple):
    """Areas of several pictures that look like one thing, by the places of their pictures."""

    areas: dict[int, Area]

    @property
    def typical(self) -> tuple[int, Area]:
        """The place of a picture, and the area in it whose size is the middle one."""
        places = sorted(self.areas, key=lambda place: (self.areas[place].size, place))
        place = places[len(places) // 2]
        return place, self.areas[place]


_AREAS: Memo[bytes, tuple[Area, ...]] = Memo(2048)


def areas_of(picture: ReceivedFrame) -> tuple[Area, ...]:
    """Return the areas of one picture, the largest first. Decodes once per digest, about 5 ms."""
    return _AREAS.get(picture.digest, lambda: find_areas(base64.b64decode(picture.base64)))


def things_in(pictures: Sequence[ReceivedFrame]) -> list[DepictedObject]:
    """Return the things seen in many of the pictures, the largest first."""
    things = list[DepictedObject]()
    for place, one in enumerate(pictures):
        for area in areas_of(one):
            known = (
                thing
                for thing in things
                if place not in thing.areas and is_alike(thing.typical[1], area)
            )
            thing = next(known, None)
            if thing is None:
                things.append(DepictedObject({place: area}))
            else:
                thing.areas[place] = area
    least = max(OFTEN * len(pictures), min(2, len(pictures)))
    often = [thing for thing in things if len(thing.areas) >= least]
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

    with Image.open(io.BytesIO(jpeg)) as picture:
        small = picture.convert("RGB")
    small.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.BOX)
    pixels = np.asarray(small)
    names = colour_names(pixels.reshape(-1, 3)).reshape(pixels.shape[:2])
    height, width = pixels.shape[:2]
    found = list[tuple[int, Area]]()
    for colour in np.unique(names).tolist():
        labels, count = cast("tuple[NDArray[np.int32], int]", ndimage.label(names == colour))
        sizes = np.bincount(labels.ravel(), minlength=count + 1)
        for number, place in enumerate(ndimage.find_objects(labels), 1):
            rows = place[0]
            columns = place[1]
            # Of what the edge of the picture cuts off nobody sees the shape.
            is_cut_off = 0 in (rows.start, columns.start) or (
                rows.stop == height or columns.stop == width
            )
            share = sizes[number] / names.size
            if is_cut_off or not LEAST <= share <= MOST:
                continue
            shape = _shape_of(labels[place] == number)
            if shape is not None and _contrast(pixels, labels == number, place) >= _CONTRAST:
                box = (
                    columns.start / width,
                    rows.start / height,
                    columns.stop / width,
                    rows.stop / height,
                )
                found.append((int(sizes[number]), Area(COLOURS[colour], shape, box)))
    rings = [area.box for _, area in found if area.shape == "ring"]
    # What is seen through a ring is no thing of its own.
    found = [
        (size, area)
        for size, area in found
        if not any(
            np.greater(area.box[:2], ring[:2]).all() and np.less(area.box[2:], ring[2:]).all()
            for ring in rings
        )
    ]
    return tuple(area for _, area in sorted(found, key=lambda one: (-one[0], one[1])))


def _contrast(pixels: NDArray[np.uint8], mask: NDArray[np.bool_], place: Sequence[slice]) -> float:
    """Return how far the colour of an area is from what is around it, a third of its size off."""
    rows, columns = (
        slice(max(0, side.start - margin), side.stop + margin)
        for side in place
        for margin in [max(2, (side.stop - side.start) // 3)]
    )
    near = pixels[rows, columns]
    inside = mask[rows, columns]
    return float(np.linalg.norm(near[inside].mean(axis=0) - near[~inside].mean(axis=0)))


def _shape_of(mask: NDArray[np.bool_]) -> str | None:
    """Return a word for an area that fills its box so; None for what is no area but an edge."""
    height, width = mask.shape
    if mask.mean() < _LEAST_FILL:
        return None
    down, across = (np.abs((np.arange(side) + 0.5) * 2 / side - 1) for side in (height, width))
    round_ = down[:, None] ** 2 + across[None] ** 2
    outlines = {
        "square": np.ones_like(mask),
        "disc": round_ <= 1,
        "ring": (round_ <= 1) & (round_ >= 0.25),
        "diamond": down[:, None] + across[None] <= 1,
    }
    fits = {
        name: float((mask & outline).sum() / (mask | outline).sum())
        for name, outline in outlines.items()
    }
    best = max(fits, key=lambda name: fits[name])
    if fits[best] < _FITS:
        return PATCH
    if best == "square" and max(height, width) >= _LONG * min(height, width):
        return "bar" if width > height else "column"
    return best
