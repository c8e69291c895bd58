"""What a picture looks like in three words: its light and its two main colours; and fitting it.

A look is said of a stretch only where a second look would say the same: the two colours lead
clearly, and every frame fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.vision.frame_features import COLOURS, Glance, apart

LIGHTS = MappingProxyType({"dark": 0.2, "half-lit": 0.42, "bright": 0.68})
"""Word to the mean brightness it stands for."""
FITS = 0.8
"""A frame that fits better than this is taken for one that is meant."""

_LEAST_MAIN, _LEAST_SECOND = 0.33, 0.10
_LEAD_MAIN, _LEAD_SECOND = 1.25, 1.2
_SURE_SECOND = 0.08
"""A second colour of less than this counts for the less."""
_LIGHT_WIDTH = 0.35


class Look(NamedTuple):
    """What is said of a picture."""

    light: str
    main: str
    second: str


def look_of(glances: Sequence[Glance]) -> Look | None:
    """Return what a stretch looks like; None where another frame or eye might say otherwise."""
    shares = np.mean([glance.shares for glance in glances], axis=0)
    first, second, third = np.argsort(-shares, kind="stable")[:3]
    if shares[first] < max(_LEAST_MAIN, _LEAD_MAIN * shares[second]):
        return None
    if shares[second] < max(_LEAST_SECOND, _LEAD_SECOND * shares[third]):
        return None
    luma = float(np.mean([glance.luma for glance in glances]))
    light = min(LIGHTS, key=lambda word: abs(LIGHTS[word] - luma))
    look = Look(light, COLOURS[first], COLOURS[second])
    return look if all(likeness_to(look, glance) > FITS for glance in glances) else None


def likeness_to(look: Look, glance: Glance) -> float:
    """Return how well a frame fits what is said, 0 to 1."""
    shares = glance.shares
    main, second = (COLOURS.index(colour) for colour in look[1:])
    rest = np.delete(shares, main).max()
    led = shares[main] / shares.max()
    joined = shares[second] / max(rest, 1e-6) * min(1.0, shares[second] / _SURE_SECOND)
    lit = max(0.0, 1 - abs(glance.luma - LIGHTS[look.light]) / _LIGHT_WIDTH)
    return float(0.55 * led**2 + 0.30 * min(1.0, joined) + 0.15 * lit)


def distance(one: Glance, other: Glance) -> float:
    """Return how far two pictures lie apart in their colours, 0 to 1."""
    return apart(one.histogram, other.histogram)
