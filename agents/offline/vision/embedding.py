"""Frames and words as vectors in one space: how much of each of twelve colours there is."""

from __future__ import annotations

import re

import numpy as np

from videoautoarena.agents.offline.vision.frame_features import COLOURS, Sent, glance

_FIRST, _SECOND = 0.6, 0.3
"""What is said first of a picture covers the most of it."""
_WORD = re.compile(rf"\b({'|'.join(COLOURS)})\b", re.IGNORECASE)


def vector_of(sent: Sent) -> list[float]:
    """Return the mean shares of colours in the frames; without any, what the words name."""
    if sent.pictures:
        shares = np.mean([glance(picture).shares for picture in sent.pictures], axis=0)
        return [round(float(share), 6) for share in shares]
    found = dict.fromkeys(COLOURS, 0.0)
    for place, word in enumerate(_WORD.findall(sent.text)):
        found[word.lower()] += _SECOND if place % 2 else _FIRST
    return [round(weight, 6) for weight in found.values()]
