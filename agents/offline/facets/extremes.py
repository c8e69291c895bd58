"""The extremes of curves in parts of a video, and the stretches around them that count as right.

A part is asked about only where its extreme stands out: few of its frames come near, so that
whoever looks anywhere else is wrong.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.comparison import Moment
from videoautoarena.agents.offline.facets.facet import Stretch
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.vision.sequence import Curve, Sight

MOMENTS = tuple(key for key, facet in FACETS.items() if isinstance(facet, Moment))
NEAR = 0.2
"""How far below the extreme a frame still counts as near it, as a share of the curve's range."""
MOST = 0.4
"""How many of a part's frames may come near."""
SLACK = 2.2
"""How many gaps between frames a time may lie outside of those that come near."""
LEAST_FRAMES = 8
LEAST_SHARE = 0.2
"""Of the video, that a part has to take."""


class Window(NamedTuple):
    """When an extreme is, and from when to when an answer counts as right."""

    at_s: float
    start_s: float
    end_s: float

    def holds(self, time_s: float, *, margin_s: float = 0.0) -> bool:
        """Return whether a time is right, or less than `margin_s` from being so."""
        return self.start_s - margin_s <= time_s <= self.end_s + margin_s


class Extremes:
    """Those of one sight.

    A part is cut out of its curves: to look at its frames alone would take a hundred times as long.
    """

    def __init__(self, seen: Sight) -> None:
        """Read no curve yet."""
        self._seen = seen

    def at(self, key: str, part: Stretch) -> float | None:
        """Return when a part comes to its extreme, whether that stands out or not."""
        times, heights = self._cut(key, part)
        return float(times[int(np.argmax(heights))]) if len(times) else None

    def window(self, key: str, part: Stretch) -> Window | None:
        """Return the extreme of a part; None where it does not stand out, or the part is short."""
        times, heights = self._cut(key, part)
        reach = float(np.ptp(heights)) if len(times) else 0.0
        is_long = part[1] - part[0] >= LEAST_SHARE * self._seen.duration_s
        if not is_long or len(times) < LEAST_FRAMES or reach <= _moment(key).floor:
            return None
        is_near = (heights.max() - heights) / reach <= NEAR
        if float(is_near.mean()) > MOST:
            return None
        best = first = last = int(np.argmax(heights))
        while first and is_near[first - 1]:
            first -= 1
        while last < len(is_near) - 1 and is_near[last + 1]:
            last += 1
        if first == last:
            return None  # Whoever is sent half of the frames may not see it.
        slack_s = SLACK * self._seen.gap_s
        return Window(
            float(times[best]),
            max(0.0, float(times[first]) - slack_s),
            float(times[last]) + slack_s,
        )

    def _cut(self, key: str, part: Stretch) -> tuple[Curve, Curve]:
        times, heights = self._curves[key]
        # What moves lies between two frames, both of which are in the part.
        reach = (self._seen.gap_s / 2 if _moment(key).curve == "motion" else 0.0) - 1e-9
        inside = (times >= part[0] + reach) & (times <= part[1] - reach)
        return times[inside], heights[inside]

    @cached_property
    def _curves(self) -> dict[str, tuple[Curve, Curve]]:
        return {key: _moment(key).points(self._seen) for key in MOMENTS}


def _moment(key: str) -> Moment:
    facet = FACETS[key]
    assert isinstance(facet, Moment)
    return facet
