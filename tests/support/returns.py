"""Films in which it is known which object comes back where, and how well a memory says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

import av
import numpy as np
from PIL import Image, ImageDraw

from videoautoarena.memory.records.scenes import Box, SceneMemory
from videoautoarena.video.synth.samples import COLOURS, SHAPES

FPS = 8
SIZE = (320, 180)
SCENE_S = 2.5
LARGER = 1.6
"""How much larger a look-alike is that differs in size alone."""
_NEAR = (
    {"red", "orange", "brown", "pink"},
    {"orange", "yellow", "brown"},
    {"green", "teal"},
    {"teal", "blue"},
    {"blue", "purple"},
    {"purple", "pink"},
    {"black", "grey"},
    {"grey", "white"},
)
"""Colours that stand out little from one another."""


class Thing(NamedTuple):
    """What an object looks like; its size is its share of the picture's width."""

    shape: str
    colour: str
    size: float


class Place(NamedTuple):
    """Where a thing is in one scene: at the start, and how far it goes, in shares of the room."""

    thing: Thing
    at: tuple[float, float]
    goes: tuple[float, float]


@dataclass(frozen=True)
class Story:
    """Scenes one after the other, each on a ground of its own."""

    grounds: tuple[str, ...]
    places: tuple[tuple[Place, ...], ...]

    @property
    def returns(self) -> set[tuple[Thing, int, int]]:
        """Each thing with each two of its scenes."""
        scenes = [{place.thing for place in places} for places in self.places]
        pairs = combinations(range(len(scenes)), 2)
        return {(thing, a, b) for a, b in pairs for thing in scenes[a] & scenes[b]}

    def box(self, thing: Thing, time_s: float) -> Box:
        """Return where a thing is at a time, as shares of the picture."""
        scene = min(int(time_s / SCENE_S), len(self.places) - 1)
        place = next(one for one in self.places[scene] if one.thing == thing)
        part = (time_s - scene * SCENE_S) / SCENE_S
        wide = thing.size
        high = thing.size * SIZE[0] / SIZE[1]
        left, top = (
            (start + part * way) * (1 - side)
            for start, way, side in zip(place.at, place.goes, (wide, high), strict=True)
        )
        inset = high / 3 if thing.shape == "bar" else 0.0
        return left, top + inset, left + wide, top + high - inset


def invent(seed: int, *, scenes: int = 6) -> Story:
    """Return a story: three things that come back, and a look-alike of each that does not."""
    chance = Random(f"returns {seed}")
    colours = [name for name in COLOURS if name not in ("grey", "brown")]
    cast = [
        Thing(shape, colour, chance.uniform(0.13, 0.17))
        for shape, colour in zip(chance.sample(SHAPES, 3), chance.sample(colours, 3), strict=True)
    ]
    alike = [_alike(chance, thing, k) for k, thing in enumerate(cast)]
    grounds = list[str]()
    for _ in range(scenes):
        free = [
            name
            for name in COLOURS
            if name not in grounds[-1:]
            and not any(_is_near(name, thing.colour) for thing in (*cast, *alike))
        ]
        grounds.append(chance.choice(free or ["grey"]))
    shown = [chance.sample(cast, 2) for _ in range(scenes)]
    for thing in alike:
        chance.choice(shown).append(thing)
    return Story(tuple(grounds), tuple(_set_out(chance, things) for things in shown))


def _alike(chance: Random, thing: Thing, trait: int) -> Thing:
    """Return what differs from a thing in colour, shape or size alone."""
    if trait == 0:
        others = [
            c for c in COLOURS if not _is_near(c, thing.colour) and c not in ("grey", "brown")
        ]
        return thing._replace(colour=chance.choice(others))
    if trait == 1:
        return thing._replace(shape=chance.choice([s for s in SHAPES if s != thing.shape]))
    return thing._replace(size=thing.size * LARGER)


def _is_near(one: str, other: str) -> bool:
    return one == other or any({one, other} <= near for near in _NEAR)


def _set_out(chance: Random, things: Sequence[Thing]) -> tuple[Place, ...]:
    """Give each thing a column of the picture to itself, in which it goes up or down."""
    order = list(things)
    chance.shuffle(order)
    places = []
    for k, thing in enumerate(order):
        middle = (k + 0.5) / len(order)
        left = (middle - thing.size / 2) / (1 - thing.size)
        top = chance.uniform(0.1, 0.3)
        bottom = chance.uniform(0.6, 0.85)
        start, end = (top, bottom) if chance.random() < 0.5 else (bottom, top)
        places.append(Place(thing, (left, start), (0.0, end - start)))
    return tuple(places)


def draw_story(story: Story, path: Path) -> Path:
    """Write a story as an H.264 file."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=FPS)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "20"}
        for number in range(int(len(story.places) * SCENE_S * FPS)):
            picture = _picture(story, number / FPS)
            file.mux(stream.encode(av.VideoFrame.from_image(picture)))
        file.mux(stream.encode(None))
    return path


def _picture(story: Story, time_s: float) -> Image.Image:
    scene = min(int(time_s / SCENE_S), len(story.places) - 1)
    fade = np.linspace(1.05, 0.9, SIZE[1])[:, None, None]
    ground = np.array(COLOURS[story.grounds[scene]], np.float32) * fade
    whole = np.broadcast_to(ground, (SIZE[1], SIZE[0], 3))
    image = Image.fromarray(np.clip(whole, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for place in story.places[scene]:
        left, top, right, bottom = story.box(place.thing, time_s)
        edges = left * SIZE[0], top * SIZE[1], right * SIZE[0], bottom * SIZE[1]
        _draw(draw, place.thing, edges)
    return image


def _draw(
    draw: ImageDraw.ImageDraw, thing: Thing, edges: tuple[float, float, float, float]
) -> None:
    fill = COLOURS[thing.colour]
    left, top, right, bottom = edges
    across = (left + right) / 2
    down = (top + bottom) / 2
    if thing.shape == "disc":
        draw.ellipse(edges, fill=fill)
    elif thing.shape == "ring":
        draw.ellipse(edges, outline=fill, width=round((right - left) / 4))
    elif thing.shape == "diamond":
        draw.polygon([(across, top), (right, down), (across, bottom), (left, down)], fill=fill)
    else:
        draw.rectangle(edges, fill=fill)


class Recalled(NamedTuple):
    """How well a memory says what came back, in pairs of scenes."""

    right: int
    said: int
    there: int

    @property
    def precision(self) -> float:
        """Share of the pairs that were said which are so."""
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        """Share of the pairs that are so which were said."""
        return self.right / self.there if self.there else 1.0


def recalled(story: Story, memory: SceneMemory) -> Recalled:
    """Return how well a memory knows a story's things again; a box over nothing is wrong."""
    said = right = 0
    found = set[tuple[Thing, int, int]]()
    for known in memory.objects:
        shown = [(_shown(story, one.box, one.time_s), one.time_s) for one in known.appearances]
        for (one, early_s), (other, late_s) in combinations(shown, 2):
            said += 1
            pair = int(early_s / SCENE_S), int(late_s / SCENE_S)
            if one is not None and one == other and pair[0] != pair[1]:
                right += 1
                found.add((one, *pair))
    return Recalled(len(found), said - right + len(found), len(story.returns))


def _shown(story: Story, box: Box | None, time_s: float) -> Thing | None:
    """Return the thing that is in a box at a time."""
    scene = min(int(time_s / SCENE_S), len(story.places) - 1)
    for place in story.places[scene] if box else ():
        if overlap(story.box(place.thing, time_s), box or (0, 0, 0, 0)) >= 0.5:
            return place.thing
    return None


def overlap(one: Box, other: Box) -> float:
    """Return the share of both boxes together that is in both."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    both = max(0.0, wide) * max(0.0, high)
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return both / (sum(areas) - both)
