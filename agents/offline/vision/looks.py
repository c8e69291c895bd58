"""What a picture looks like in three words: its light and its two main colours; and fitting it.

A look is said of a stretch only where a second look would say the same: the two colours lead
clearly, and every frame fits.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from videoautoarena.agents.offline.vision.frame_features import (
    COLOURS,
    ModelInput,
    glance,
)

Values: TypeAlias = NDArray[np.floating[Any]]

LIGHTS = MappingProxyType({"dark": 0.2, "half-lit": 0.42, "bright": 0.68})
"""Word to the mean brightness it stands for."""
FITS = 0.8
"""A frame that fits better than this is taken for one that is meant."""

# Set on nine real clips and twelve drawn ones, where whoever was sent a frame of the picture then
# always named it rightly.
_LEAST_MAIN = 0.33
_LEAST_SECOND = 0.10
_LEAD_MAIN = 1.25
_LEAD_SECOND = 1.2
_SURE_SECOND = 0.08
"""A second colour of less than this counts for the less."""
_LIGHT_WIDTH = 0.35


class PictureLook(NamedTuple):
    """A picture in three words."""

    light: str
    main: str
    second: str


def looks_of(luma: Values, shares: Values, *, frames: int) -> list[PictureLook | None]:
    """Return the look of each stretch of so many frames; None if another eye might differ.

    `luma` has shape (n,), `shares` (n, 12): there are n - frames + 1 stretches, or none.
    """
    if len(luma) < frames:
        return []
    means = sliding_window_view(shares, frames, axis=0).mean(axis=-1)
    # Stable, so that equal shares come in one order on every machine.
    order = np.argsort(-means, axis=1, kind="stable")[:, :3]
    first, second, third = np.take_along_axis(means, order, axis=1).T
    is_clear = first >= np.maximum(_LEAST_MAIN, _LEAD_MAIN * second)
    is_clear &= second >= np.maximum(_LEAST_SECOND, _LEAD_SECOND * third)
    lit = sliding_window_view(luma, frames).mean(axis=-1)
    lights = np.abs(lit[:, None] - np.array(list(LIGHTS.values()))).argmin(axis=1)
    worst: dict[PictureLook, Values] = {}
    found: list[PictureLook | None] = [None] * len(means)
    for place in np.flatnonzero(is_clear).tolist():
        main, other = order[place, :2]
        look = PictureLook(list(LIGHTS)[lights[place]], COLOURS[main], COLOURS[other])
        if look not in worst:
            every = likenesses(look, luma, shares)
            worst[look] = sliding_window_view(every, frames).min(axis=-1)
        if worst[look][place] > FITS:
            found[place] = look
    return found


def likenesses(look: PictureLook, luma: Values, shares: Values) -> Values:
    """Return how well each frame of a sequence fits what is said, 0 to 1, shape (n,)."""
    main, second = (COLOURS.index(colour) for colour in look[1:])
    rest = np.delete(shares, main, axis=1).max(axis=1)
    led = shares[:, main] / shares.max(axis=1)
    joined = shares[:, second] / np.maximum(rest, 1e-6)
    joined = np.minimum(1.0, joined * np.minimum(1.0, shares[:, second] / _SURE_SECOND))
    lit = np.maximum(0.0, 1 - np.abs(luma - LIGHTS[look.light]) / _LIGHT_WIDTH)
    return np.asarray(0.55 * led**2 + 0.30 * joined + 0.15 * lit)


_FIRST, _SECOND = 0.6, 0.3
"""Weights of the first and second colour named: the first covers most of a picture."""
_WORD = re.compile(rf"\b({'|'.join(COLOURS)})\b", re.IGNORECASE)


def vector_of(sent: ModelInput) -> list[float]:
    """Return the mean shares of colours in the frames; without any, what the words name."""
    if sent.pictures:
        shares = np.mean([glance(picture).shares for picture in sent.pictures], axis=0)
        return [round(float(share), 6) for share in shares]
    found = dict.fromkeys(COLOURS, 0.0)
    for place, word in enumerate(_WORD.findall(sent.text)):
        # Each look names its main colour before the second, so that the weights take turns.
        found[word.lower()] += _SECOND if place % 2 else _FIRST
    return [round(weight, 6) for weight in found.values()]
