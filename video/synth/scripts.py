"""What happens in the twelve sample clips, shot by shot; all of it follows from a clip's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import NamedTuple

from videoautoarena.memory.records.digests import derive
from videoautoarena.video.synth.drawing import COLOURS, SHAPES, Sprite


class Clip(NamedTuple):
    """One sample: its file name without suffix, and its frame."""

    name: str
    seconds: int
    width_px: int
    height_px: int
    fps: int
    shots: int


CLIPS = (
    Clip("lanterns", 8, 1280, 720, 25, 6),
    Clip("pebbles", 9, 432, 240, 30, 11),
    Clip("orchard", 10, 512, 288, 25, 3),
    Clip("tramline", 12, 480, 368, 24, 14),
    Clip("kites", 14, 640, 368, 25, 9),
    Clip("quay", 16, 368, 480, 30, 5),
    Clip("market", 18, 512, 288, 24, 21),
    Clip("weather", 20, 432, 240, 25, 8),
    Clip("signals", 22, 384, 224, 30, 16),
    Clip("workshop", 26, 480, 272, 24, 12),
    Clip("carousel", 30, 512, 288, 24, 25),
    Clip("valley", 50, 448, 256, 24, 18),
)
WORDS = (
    *("LOW TIDE", "NORTH GATE", "OPEN LATE", "PLATFORM TWO", "FIRST SNOW", "MIND THE STEP"),
    *("HALF PRICE", "ROUND THREE", "LAST ORDERS", "WET PAINT", "HIGH WATER", "NO ENTRY"),
)
ORDINARY = tuple(name for name in COLOURS if name not in ("black", "white"))
PEAKS = ("darkest", "brightest", "liveliest", "busiest")


@dataclass(frozen=True)
class Shot:
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
    """When the light falls away for a moment, in seconds of the clip."""
    sprites: tuple[Sprite, ...] = ()
    caption: str | None = None


def write_script(clip: Clip) -> list[Shot]:
    """Return the shots of a clip in order, without a gap.

    Every clip has one short shot each that is its darkest, brightest, liveliest and busiest where
    it has shots enough: too short for sixteen frames to be sure of, long enough for sixty-four.
    """
    chance = Random(int(derive(1, clip.name)[:16], 16))
    peaks = _place_peaks(chance, clip.shots)
    bounds = _cut(chance, clip=clip, short=set(peaks))
    shots: list[Shot] = []
    for number, (start_s, end_s) in enumerate(pairwise(bounds)):
        peak = peaks.get(number)
        if number >= 3 and peak is None and chance.random() < 0.3:
            places = [shots[n] for n in range(number - 1) if n not in peaks]
            seen = chance.choice([s for s in places if s.scene != shots[-1].scene] or shots[:1])
            shots.append(replace(seen, start_s=start_s, end_s=end_s, dip=None))
            continue
        shot = _invent(chance, shots, start_s=start_s, end_s=end_s)
        shots.append(_raise(chance, shot, peak) if peak else shot)
    return shots


def _place_peaks(chance: Random, shots: int) -> dict[int, str]:
    """Return which shots hold an extreme: never the first or last, at most half of them."""
    places = chance.sample(range(1, shots - 1), min(len(PEAKS), (shots - 1) // 2))
    return dict(zip(places, chance.sample(PEAKS, len(places)), strict=True))


def _cut(chance: Random, *, clip: Clip, short: set[int]) -> list[float]:
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


def _invent(chance: Random, shots: list[Shot], *, start_s: float, end_s: float) -> Shot:
    """Return a shot of a new place in a colour not seen in the last two."""
    recent = {shot.colour for shot in shots[-2:]}
    colour = chance.choice([name for name in ORDINARY if name not in recent])
    level = chance.uniform(0.62, 0.88)
    drift = chance.choice((0.0, 0.0, 0.0, -0.22, 0.2))
    mood = chance.choice(("still", "still", "pan", "thing", "things"))
    return Shot(
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


def _raise(chance: Random, shot: Shot, peak: str) -> Shot:
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
