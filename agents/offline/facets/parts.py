"""Facts of a part of a video, or of all of it, on the clock of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.table import (
    FACETS,
    ExtremeMoment,
    Stretch,
    Value,
    is_stretch,
    stretch,
)
from videoautoarena.agents.offline.vision.sequence import Curve, FrameSequence, sight


@dataclass(frozen=True)
class VideoPart:
    """A part of a video: what is seen of it, and when it begins."""

    seen: FrameSequence
    start_s: float = 0.0

    def measure(self, key: str) -> Value | None:
        """Return what these frames show of a facet; None if they do not show it."""
        value = FACETS[key].measure(self.seen)
        return None if value is None else _shifted(value, self.start_s)

    def right(self, key: str, claim: Value) -> float:
        """Return how right a claim is, 0 to 1; 0 if these frames do not show it."""
        facet = FACETS[key]
        score = facet.score(_shifted(claim, -self.start_s), self.seen, fine=False)
        return score.right if score else 0.0


def part_of(seen: FrameSequence, span: Stretch) -> VideoPart | None:
    """Return what is seen from one time to another; None if no frame falls there."""
    first = seen.pictures[0].time_s
    pictures = [one for one in seen.pictures if span[0] <= one.time_s - first <= span[1]]
    return VideoPart(sight(pictures), pictures[0].time_s - first) if pictures else None


def _shifted(value: Value, by_s: float) -> Value:
    if not is_stretch(value) or stretch(value)[0] < 0:
        return value
    start, end = stretch(value)
    return start + by_s, end + by_s


MOMENTS = {key: facet for key, facet in FACETS.items() if isinstance(facet, ExtremeMoment)}
NEAR = 0.2
"""How far below the extreme a frame still counts as near it, as a share of the curve's range."""
MOST = 0.4
"""Largest share of a part's frames that may come near; with more there is no clear extreme."""
SLACK = 2.2
"""Gaps between frames by which an answer may miss the frames that come near."""
LEAST_FRAMES = 8
LEAST_SHARE = 0.2
"""Least share of the video that a part has to take."""


class ExtremeWindow(NamedTuple):
    """When an extreme is, and from when to when an answer counts as right."""

    at_s: float
    start_s: float
    end_s: float

    def holds(self, time_s: float, *, margin_s: float = 0.0) -> bool:
        """Return whether a time is right, or less than `margin_s` from being so."""
        return self.start_s - margin_s <= time_s <= self.end_s + margin_s


@dataclass(frozen=True, eq=False)
class Extremes:
    """The extremes of the parts of one video.

    A part is cut out of its curves: to look at its frames alone would take a hundred times as long.
    """

    seen: FrameSequence

    def at(self, key: str, part: Stretch) -> float | None:
        """Return when a part has its extreme, whether that stands out or not."""
        times, heights = self._cut(key, part)
        return float(times[int(np.argmax(heights))]) if len(times) else None

    def window(self, key: str, part: Stretch) -> ExtremeWindow | None:
        """Return the extreme of a part; None if it does not stand out, or the part is short."""
        times, heights = self._cut(key, part)
        reach = float(np.ptp(heights)) if len(times) else 0.0
        is_long = part[1] - part[0] >= LEAST_SHARE * self.seen.duration_s
        if not is_long or len(times) < LEAST_FRAMES or reach <= MOMENTS[key].floor:
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
        slack_s = SLACK * self.seen.gap_s
        return ExtremeWindow(
            float(times[best]),
            max(0.0, float(times[first]) - slack_s),
            float(times[last]) + slack_s,
        )

    def _cut(self, key: str, part: Stretch) -> tuple[Curve, Curve]:
        times, heights = MOMENTS[key].points(self.seen)
        # What moves lies between two frames, both of which are in the part.
        reach = (self.seen.gap_s / 2 if MOMENTS[key].curve == "motion" else 0.0) - 1e-9
        inside = (times >= part[0] + reach) & (times <= part[1] - reach)
        return times[inside], heights[inside]
