"""Twelve clips the project makes itself, so that a first run needs nobody's videos.

Scripts follow from the seed of a clip; pictures are drawn with numpy, and captions with Pillow.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from videoautoarena.memory.records.digests import canonical_json, derive, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.video.decode.container import Unreadable
from videoautoarena.video.synth.film import h264_stream, mux_pictures, whole_or_not

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
    # 4224 is 256 times black's level of 16 and a half to round by; 32896 is the same of 128.
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
    # Even, since chroma has one pixel for two by two of luma.
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
    # A wave of parabolas, since a sine may differ in its last bit between processors.
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


class SampleClip(NamedTuple):
    """One sample: its file name without suffix, and its frame."""

    name: str
    seconds: int
    width_px: int
    height_px: int
    fps: int
    shots: int


CLIPS = (
    SampleClip("lanterns", 8, 1280, 720, 25, 6),
    SampleClip("pebbles", 9, 432, 240, 30, 11),
    SampleClip("orchard", 10, 512, 288, 25, 3),
    SampleClip("tramline", 12, 480, 368, 24, 14),
    SampleClip("kites", 14, 640, 368, 25, 9),
    SampleClip("quay", 16, 368, 480, 30, 5),
    SampleClip("market", 18, 512, 288, 24, 21),
    SampleClip("weather", 20, 432, 240, 25, 8),
    SampleClip("signals", 22, 384, 224, 30, 16),
    SampleClip("workshop", 26, 480, 272, 24, 12),
    SampleClip("carousel", 30, 512, 288, 24, 25),
    SampleClip("valley", 50, 448, 256, 24, 18),
)
WORDS = (
    "LOW TIDE",
    "NORTH GATE",
    "OPEN LATE",
    "PLATFORM TWO",
    "FIRST SNOW",
    "MIND THE STEP",
    "HALF PRICE",
    "ROUND THREE",
    "LAST ORDERS",
    "WET PAINT",
    "HIGH WATER",
    "NO ENTRY",
)
ORDINARY = tuple(name for name in COLOURS if name not in ("black", "white"))
PEAKS = ("darkest", "brightest", "liveliest", "busiest")


@dataclass(frozen=True)
class SampleShot:
    """A stretch between two cuts. Speeds are in picture widths a second, light in parts of full."""

    start_s: float
    end_s: float
    scene: int
    """Seed of its picture; the same seed is the same place."""
    colour: str
    detail: int
    pan: float
    light: tuple[float, float]
    """At the beginning and at the end."""
    tint: tuple[int, int] = (0, 0)
    """How far both chromas have drifted by the end."""
    dip: tuple[float, float] | None = None
    """From when to when the light falls away, in seconds of the clip."""
    sprites: tuple[Sprite, ...] = ()
    caption: str | None = None


def write_script(clip: SampleClip) -> list[SampleShot]:
    """Return the shots of a clip in order, without a gap.

    Every clip has one short shot each that is its darkest, brightest, liveliest and busiest where
    it has shots enough: too short for sixteen frames to be sure of, long enough for sixty-four.
    """
    chance = Random(int(derive(1, clip.name)[:16], 16))
    peaks = _place_peaks(chance, clip.shots)
    bounds = _cut(chance, clip=clip, short=set(peaks))
    shots: list[SampleShot] = []
    for number, (start_s, end_s) in enumerate(pairwise(bounds)):
        peak = peaks.get(number)
        if number >= 3 and peak is None and chance.random() < 0.3:
            places = [shots[n] for n in range(number - 1) if n not in peaks]
            seen = chance.choice([s for s in places if s.scene != shots[-1].scene] or shots[:1])
            # A dip is at a time of the clip, which the shot that comes back does not hold.
            shots.append(replace(seen, start_s=start_s, end_s=end_s, dip=None))
            continue
        shot = _invent(chance, shots, start_s=start_s, end_s=end_s)
        shots.append(_raise(chance, shot, peak) if peak else shot)
    return shots


def _place_peaks(chance: Random, shots: int) -> dict[int, str]:
    """Return which shots hold an extreme: never the first or last, at most half of them."""
    places = chance.sample(range(1, shots - 1), min(len(PEAKS), (shots - 1) // 2))
    return dict(zip(places, chance.sample(PEAKS, len(places)), strict=True))


def _cut(chance: Random, *, clip: SampleClip, short: set[int]) -> list[float]:
    """Return the shots' bounds in seconds: irregular, the short ones 2.5 to 5 % of the clip."""
    shares = [
        chance.uniform(0.025, 0.05) if number in short else 0.0 for number in range(clip.shots)
    ]
    weights = [0.0 if share else chance.uniform(0.35, 1.0) ** 2 for share in shares]
    rest = (1 - sum(shares)) / sum(weights)
    bounds = [0.0]
    for share, weight in zip(shares, weights, strict=True):
        bounds.append(bounds[-1] + clip.seconds * (share + weight * rest))
    return bounds


def _invent(chance: Random, shots: list[SampleShot], *, start_s: float, end_s: float) -> SampleShot:
    """Return a shot of a new place in a colour not seen in the last two."""
    recent = {shot.colour for shot in shots[-2:]}
    colour = chance.choice([name for name in ORDINARY if name not in recent])
    level = chance.uniform(0.62, 0.88)
    drift = chance.choice((0.0, 0.0, 0.0, -0.22, 0.2))
    mood = chance.choice(("still", "still", "pan", "thing", "things"))
    return SampleShot(
        start_s=start_s,
        end_s=end_s,
        scene=chance.getrandbits(32),
        colour=colour,
        detail=chance.choice((0, 6, 20, 50)),
        pan=chance.choice((-0.14, -0.08, 0.08, 0.14)) if mood == "pan" else 0.0,
        light=(level, min(0.92, level + drift)),
        tint=chance.choice(((0, 0), (0, 0), (0, 0), (14, -10), (-12, 12))),
        dip=_dip(chance, start_s, end_s),
        sprites=_cast(chance, colour, count={"thing": 1, "things": 3}.get(mood, 0), speed=0.22),
        caption=chance.choice(WORDS) if chance.random() < 0.25 else None,
    )


def _raise(chance: Random, shot: SampleShot, peak: str) -> SampleShot:
    """Return the shot made the clip's extreme of its kind, and moderate otherwise."""
    shot = replace(shot, dip=None, tint=(0, 0), light=(0.8, 0.8))
    if peak == "darkest":
        return replace(shot, light=(0.3, 0.3), caption=None)
    if peak == "brightest":
        return replace(shot, light=(1.0, 1.0), colour=chance.choice(("white", "yellow")))
    if peak == "busiest":
        return replace(shot, detail=260, pan=0.0, sprites=())
    lively = _cast(chance, shot.colour, count=4, speed=0.9)
    return replace(shot, sprites=lively, pan=0.5, caption=None)


def _dip(chance: Random, start_s: float, end_s: float) -> tuple[float, float] | None:
    """Return a moment of darkness inside a long shot, now and then."""
    length_s = end_s - start_s
    if length_s < 1.6 or chance.random() > 0.25:
        return None
    at_s = start_s + chance.uniform(0.25, 0.6) * length_s
    return at_s, at_s + min(0.25 * length_s, chance.uniform(0.4, 0.9))


def _cast(chance: Random, colour: str, *, count: int, speed: float) -> tuple[Sprite, ...]:
    other = chance.choice([name for name in ("white", "black", "yellow") if name != colour])
    return tuple(
        Sprite(
            shape=chance.choice(SHAPES),
            colour=other,
            size=chance.uniform(0.1, 0.2),
            at=(chance.random(), chance.random()),
            speed=(speed * chance.uniform(0.5, 1.2), speed * chance.uniform(0.1, 0.6)),
        )
        for _ in range(count)
    )


RECIPE = "1"
"""To be raised whenever the drawing changes; a kept clip says by which it was made."""
PAN_WIDTHS = 2
"""Width, in pictures, of a scene that the camera moves through."""
DIP = 0.35
"""Share of the light that is left during a dip."""


def make_samples(folder: Path, on_done: Callable[[Path], None] = lambda _: None) -> list[Path]:
    """Return the twelve clips in `folder`, made where they are not there yet, `on_done` for each.

    A clip appears whole or not at all; the same version of av makes the same bytes. BadInput where
    the folder cannot be written to, or holds another file by a sample's name.
    """
    paths = {clip: folder / f"{clip.name}.mp4" for clip in CLIPS}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        missing = [clip for clip in CLIPS if not _is_kept(paths[clip], clip)]
        for clip in CLIPS:
            if clip not in missing:
                on_done(paths[clip])
        for clip in _encode_all(missing, paths):
            on_done(paths[clip])
    except OSError as error:
        shown = f"{os.fspath(folder)!a}: {error.strerror}"
        raise BadInput(f"samples cannot be written to {shown}") from None
    return list(paths.values())


def _is_kept(path: Path, clip: SampleClip) -> bool:
    """Return whether this very clip is there already; raise where something else is."""
    if not os.path.lexists(path):
        return False
    try:
        with av.open(f"file:{path}", options={"protocol_whitelist": "file"}) as container:
            is_ours = container.metadata.get("comment") == _mark(clip)
    except Unreadable:
        is_ours = False
    if not is_ours:
        other = f"{os.fspath(path)!a} is there already and is not this version's sample"
        raise BadInput(f"{other}; pass an empty folder")
    return True


def _mark(clip: SampleClip) -> str:
    return f"videoautoarena sample {digest(canonical_json([RECIPE, *clip]))[:16]}"


def _encode_all(clips: list[SampleClip], paths: dict[SampleClip, Path]) -> Iterator[SampleClip]:
    """Yield each clip once it is there; the largest are begun first, so that none is left over."""
    if not clips:
        return
    by_work = sorted(clips, key=lambda c: -c.seconds * c.fps * c.width_px * c.height_px)
    workers = min(len(clips), os.cpu_count() or 1)
    # Spawned and not forked: a fork of a process with threads (the event loop's, libav's) may hang.
    quiet = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=quiet) as pool:
        try:
            with _deaf_to_ctrl_c():
                jobs = {pool.submit(encode_clip, clip, paths[clip]): clip for clip in by_work}
            for job in as_completed(jobs):
                job.result()
                yield jobs[job]
        finally:
            # Called here, since the pool's own exit would take back that the rest is cancelled.
            pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back until the end, and start processes meanwhile that never hear it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    # Blocking alone is not enough: a library's thread may take the signal, and Python raises it
    # here.
    handler = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


def encode_clip(clip: SampleClip, path: Path) -> None:
    """Draw and encode one clip; a file already there is replaced only when all is written."""
    exact = {"fflags": "+bitexact"}
    with whole_or_not(path) as part, av.open(part, "w", format="mp4", options=exact) as container:
        container.metadata["comment"] = _mark(clip)
        rate = Fraction(clip.fps)
        # A preset without x264's macroblock tree, which gave other bytes one time in ten.
        options: dict[str, object] = {"preset": "ultrafast", "crf": "23", "g": str(2 * clip.fps)}
        stream = h264_stream(container, rate, (clip.width_px, clip.height_px), options)
        pictures = (av.VideoFrame.from_ndarray(one, format="yuv420p") for one in draw_clip(clip))
        mux_pictures(container, stream, pictures, rate)


def draw_clip(clip: SampleClip) -> Iterator[Plane]:
    """Yield each picture as one buffer of shape (3 * height / 2, width); it is used again."""
    size = (clip.width_px, clip.height_px)
    shots = write_script(clip)
    flat = np.empty((clip.height_px * 3 // 2, clip.width_px), np.uint8)
    planes = split(flat, *size)
    scene = cache(draw_scene)
    sprite = cache(draw_sprite)
    caption = cache(draw_caption)
    number = 0
    for index in range(clip.seconds * clip.fps):
        now_s = index / clip.fps
        while now_s >= shots[number].end_s and number + 1 < len(shots):
            number += 1
        shot = shots[number]
        canvas = scene(shot.scene, colour=shot.colour, detail=shot.detail, size=_room(shot, size))
        _crop(canvas, planes, moved=shot.pan * (now_s - shot.start_s) * clip.width_px)
        for thing in shot.sprites:
            _paste(sprite(thing, size), planes, at=_place(thing, now_s - shot.start_s))
        _light(planes, shot, now_s)
        if shot.caption:
            _caption(caption(shot.caption, size), planes)
        yield flat


def _room(shot: SampleShot, size: tuple[int, int]) -> tuple[int, int]:
    return (size[0] * PAN_WIDTHS, size[1]) if shot.pan else size


def _bounce(x: float, room: float) -> float:
    """Return the place of a point that has moved by x and turns back at 0 and at `room`."""
    if not room:
        return 0.0
    x %= 2 * room
    return min(x, 2 * room - x)


def _crop(canvas: Planes, out: Planes, *, moved: float) -> None:
    width = out.y.shape[1]
    left = int(_bounce(moved, canvas.y.shape[1] - width)) // 2 * 2
    out.y[:] = canvas.y[:, left : left + width]
    for source, target in ((canvas.u, out.u), (canvas.v, out.v)):
        target[:] = source[:, left // 2 : (left + width) // 2]


def _place(sprite: Sprite, shot_s: float) -> tuple[float, float]:
    x, y = (
        _bounce(at + speed * shot_s, 1.0) for at, speed in zip(sprite.at, sprite.speed, strict=True)
    )
    return x, y


def _paste(drawn: tuple[Planes, Planes], out: Planes, *, at: tuple[float, float]) -> None:
    side = drawn[0].y.shape[0]
    height, width = out.y.shape
    left, top = (
        int(part * (room - side)) // 2 * 2 for part, room in zip(at, (width, height), strict=True)
    )
    for source, mask, target in zip(*drawn, out, strict=True):
        scale = height // target.shape[0]
        rows = slice(top // scale, (top + side) // scale)
        columns = slice(left // scale, (left + side) // scale)
        np.copyto(target[rows, columns], source, where=mask.astype(bool))


def _light(out: Planes, shot: SampleShot, now_s: float) -> None:
    """Apply the light of the moment to luma and chroma, through tables."""
    part = (now_s - shot.start_s) / (shot.end_s - shot.start_s)
    level = shot.light[0] + part * (shot.light[1] - shot.light[0])
    if shot.dip and shot.dip[0] <= now_s < shot.dip[1]:
        level *= DIP
    values = np.arange(256)
    # In video black is 16 and white 235; chroma has its zero at 128 and ends at 16 and 240.
    luma = np.clip(16 + (values - 16) * level, 16, 235).astype(np.uint8)
    out.y[:] = luma[out.y]
    for plane, drift in zip((out.u, out.v), shot.tint, strict=True):
        chroma = np.clip(128 + (values - 128) * level + drift * part, 16, 240).astype(np.uint8)
        plane[:] = chroma[plane]


def _caption(strip: Planes, out: Planes) -> None:
    for source, target in zip(strip, out, strict=True):
        gap = target.shape[0] // 16
        bottom = target.shape[0] - gap
        target[bottom - source.shape[0] : bottom] = source
