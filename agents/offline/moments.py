"""When a curve is at its lowest or highest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from agents.offline.facets import Facet, Score, Stretch, Type, Value, clip, sharpness, stretch
from agents.offline.sights import Curve, Sight

_GUESSES = 240


@dataclass(frozen=True, eq=False)
class Moment(Facet):
    """The extreme of one curve, scored by the curve's value at the claimed time."""

    curve: Literal["luma", "edge", "motion"]
    highest: bool
    floor: float
    """The curve must range over more than this to be asked about."""

    @property
    def type(self) -> Type:
        """An instant, or a stretch around it."""
        return "instant"

    def measure(self, seen: Sight) -> Stretch | None:
        """Return the instant of the extreme; None where there is no curve."""
        times, heights = self._curve(seen)
        if not len(times):
            return None
        at = float(times[int(np.argmax(heights))])
        return at, at

    def is_salient(self, seen: Sight) -> bool:
        """Return whether the curve has a range worth speaking of."""
        heights = self._curve(seen)[1]
        return len(heights) > 1 and float(np.ptp(heights)) > self.floor

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Score by the height reached near the claimed time, so that plateaus count as right."""
        times, heights = self._curve(seen)
        reach = float(np.ptp(heights)) if len(heights) else 0.0
        if reach <= self.floor / 2:
            return None
        start, end = stretch(claim)
        half = (end - start) / 2
        slack = max(1.1 * seen.gap_s, 0.1 if fine else 0.02 * seen.duration_s + 0.25)
        below = (heights.max() - heights) / reach
        guesses = np.append(np.linspace(0, seen.duration_s, _GUESSES), (start + end) / 2)
        fits = _fit(_lowest(times, below, at=guesses, width=half or slack), fine=fine)
        return Score(
            right=float(fits[-1]) * sharpness(half, seen, fine=fine),
            chance=clip(float(np.mean(fits[:-1] >= 0.5))),
        )

    def _curve(self, seen: Sight) -> tuple[Curve, Curve]:
        if self.curve == "motion":
            times, heights = seen.mids, seen.motion
        else:
            times, heights = seen.times, seen.luma if self.curve == "luma" else seen.edge
        return times, heights if self.highest else -heights


def _lowest(times: Curve, below: Curve, *, at: Curve, width: float) -> Curve:
    """Return for each instant the least of `below` within `width`, else what lies between."""
    near = np.abs(times[None, :] - at[:, None]) <= width
    least = np.where(near, below[None, :], np.inf).min(axis=1)
    return np.where(np.isinf(least), np.interp(at, times, below), least)


def _fit(below: Curve, *, fine: bool) -> Curve:
    """1 up to a small distance from the extreme, then falling to 0."""
    # by height and not by time: on a plateau every instant is as right as the very extreme
    none_at, ramp = (0.22, 0.15) if fine else (0.35, 0.20)
    return np.clip((none_at - below) / ramp, 0, 1)
