"""Facets of time: extremes of curves, one half against the other, beginning against end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import ClassVar, Literal

import numpy as np

from videoautoarena.agents.offline.facets.facet import (
    Facet,
    Score,
    Stretch,
    Type,
    Value,
    clip,
    sharpness,
    stretch,
)
from videoautoarena.agents.offline.vision.sequence import Curve, Sight

_GUESSES = 240


@dataclass(frozen=True, eq=False)
class Moment(Facet):
    """The extreme of one curve, scored by the curve's value at the claimed time."""

    curve: Literal["luma", "edge", "motion"]
    highest: bool
    floor: float
    """The curve must range over more than this to be asked about."""

    type: ClassVar[Type] = "instant"

    def measure(self, seen: Sight) -> Stretch | None:
        """Return the instant of the extreme; None where there is no curve."""
        times, heights = self.points(seen)
        if not len(times):
            return None
        at = float(times[int(np.argmax(heights))])
        return at, at

    def is_salient(self, seen: Sight) -> bool:
        heights = self.points(seen)[1]
        return len(heights) > 1 and float(np.ptp(heights)) > self.floor

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Score by the height reached near the claimed time, so that plateaus count as right."""
        times, heights = self.points(seen)
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

    def points(self, seen: Sight) -> tuple[Curve, Curve]:
        """Return the curve as times and heights, turned so that its highest point is meant."""
        if self.curve == "motion":
            times = seen.mids
            heights = seen.motion
        else:
            times = seen.times
            heights = seen.luma if self.curve == "luma" else seen.edge
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


@dataclass(frozen=True, eq=False)
class Choice(Facet):
    """One of two sides, or neither, by a lead that is measured."""

    lead: Callable[[Sight], float | None]
    """Above `margin` the first side holds, below -`margin` the second."""
    margin: float
    sides: tuple[str, str, str | None]
    """The last is what holds in between; None where nothing can be said there."""

    type: ClassVar[Type] = "choice"

    def measure(self, seen: Sight) -> str | None:
        lead = self.lead(seen)
        if lead is None:
            return None
        return self.sides[0 if lead > self.margin else 1 if lead < -self.margin else 2]

    def is_salient(self, seen: Sight) -> bool:
        lead = self.lead(seen)
        return lead is not None and abs(lead) > 1.6 * self.margin

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:  # noqa: ARG002
        """Right or wrong, half right next to the doubtful band."""
        lead = self.lead(seen)
        true = self.measure(seen)
        if lead is None or true is None:
            return None
        near = abs(lead) < 1.6 * self.margin and self.sides[2] in (claim, true)
        return Score(1.0 if claim == true else 0.5 if near else 0.0, chance=0.5)


@dataclass(frozen=True, eq=False)
class Sequence(Facet):
    """Which of three landmark moments comes first, second and third."""

    landmarks: dict[str, Moment]

    type: ClassVar[Type] = "order"

    def measure(self, seen: Sight) -> tuple[str, ...]:
        at = self._at(seen)
        return tuple(sorted(at, key=lambda name: at[name]))

    def is_salient(self, seen: Sight) -> bool:
        if not all(moment.is_salient(seen) for moment in self.landmarks.values()):
            return False
        ordered = sorted(self._at(seen).values())
        return min(b - a for a, b in pairwise(ordered)) > 0.12 * seen.duration_s

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:  # noqa: ARG002
        """Right if every pair stands in order; two that lie close may stand either way."""
        if not isinstance(claim, tuple) or not set(claim) <= set(self.landmarks):
            return None
        at = self._at(seen)
        pairs = list(combinations([str(name) for name in claim], 2))
        kept = sum(at[a] < at[b] + 0.05 * seen.duration_s for a, b in pairs)
        right = 1.0 if kept == len(pairs) else 0.34 if kept >= 2 else 0.0
        return Score(right if len(claim) == 3 else 0.7 * right, chance=0.2)

    def _at(self, seen: Sight) -> dict[str, float]:
        found: dict[str, Stretch | None] = {n: m.measure(seen) for n, m in self.landmarks.items()}
        return {name: stretch(value)[0] if value else 0.0 for name, value in found.items()}


def cut_lead(seen: Sight) -> float:
    """Return by what share of all cuts the first half leads; 0 with fewer than three cuts."""
    if len(seen.cuts) < 3:
        return 0.0
    early = sum(cut < seen.duration_s / 2 for cut in seen.cuts)
    return (2 * early - len(seen.cuts)) / len(seen.cuts)


def light_gain(seen: Sight) -> float:
    """Return how much brighter the last sixteenth is than the first, 0 to 1."""
    n = max(1, len(seen.luma) // 16)
    return float(seen.luma[-n:].mean() - seen.luma[:n].mean())


def motion_lead(seen: Sight) -> float | None:
    """Return by what share the first half moves more; None where one half was not seen."""
    early = seen.mids < seen.duration_s / 2
    if not early.any() or early.all():
        return None
    first = float(seen.motion[early].mean())
    second = float(seen.motion[~early].mean())
    return (first - second) / (first + second + 1e-6)
