"""Plain frames of two colours, films of them, and questions about what breaks into a film."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image

from tests.support.pictures import Film
from videoautoarena.agents.offline.language.tasks import describe_stretches, fits
from videoautoarena.agents.offline.vision.frame_features import FrameMeasurement, measured
from videoautoarena.agents.offline.vision.looks import PictureLook, Values, likenesses, looks_of
from videoautoarena.video.synth.drawing import COLOURS

PROBES = (("blue", "white"), ("red", "yellow"), ("green", "black"), ("purple", "orange"))
GROUND = ("grey", "brown")


@cache
def frame(main: str, second: str, part: float = 0.3) -> bytes:
    """Return a JPEG mostly of one colour, `part` of it of another."""
    picture = Image.new("RGB", (160, 90), COLOURS[main])
    picture.paste(COLOURS[second], (0, 0, round(160 * part), 90))
    held = io.BytesIO()
    picture.save(held, "JPEG", quality=90)
    return held.getvalue()


@cache
def glance_at(main: str, second: str, part: float = 0.3) -> FrameMeasurement:
    return measured(frame(main, second, part))


def describe(glances: Sequence[FrameMeasurement]) -> str | None:
    """Return the words for a stretch of these frames."""
    luma, shares = _curves(glances)
    return describe_stretches(luma, shares, frames=len(glances))[0]


def fit(text: str, glance: FrameMeasurement) -> float:
    """Return how well a frame fits words."""
    return float(fits(text, *_curves([glance]))[0])


def look_of(glances: Sequence[FrameMeasurement]) -> PictureLook | None:
    """Return what a stretch of these frames looks like."""
    return looks_of(*_curves(glances), frames=len(glances))[0]


def likeness_to(look: PictureLook, glance: FrameMeasurement) -> float:
    """Return how well a frame fits a look."""
    return float(likenesses(look, *_curves([glance]))[0])


def _curves(glances: Sequence[FrameMeasurement]) -> tuple[Values, Values]:
    return np.array([one.luma for one in glances]), np.stack([one.shares for one in glances])


def text_of(probe: tuple[str, str]) -> str:
    """Return the words for a frame of these colours."""
    text = describe([glance_at(*probe)])
    assert text is not None
    return text


TEXTS = tuple(text_of(probe) for probe in PROBES)


def film(*probes: tuple[int, int], frames: int = 64) -> Film:
    """Return a plain film with probes in it: which one, and from which frame on; each 4 long."""
    shown = [GROUND] * frames
    for probe, at in probes:
        shown[at : at + 4] = [PROBES[probe]] * 4
    return tuple((float(second), frame(*colours)) for second, colours in enumerate(shown))


def reordered(frames: Film, places: Sequence[int]) -> Film:
    """Return a film with its pictures in another order at the same times."""
    return tuple((time, frames[place][1]) for (time, _), place in zip(frames, places, strict=True))
