"""How it is cut: the number of shots, when cuts fall, and the stretches between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from videoautoarena.agents.offline.facets.facet import (
    NEVER,
    Facet,
    Score,
    Stretch,
    Type,
    Value,
    clip,
    sharpness,
    stretch,
)
from videoautoarena.agents.offline.vision.sequence import Sight


@dataclass(frozen=True, eq=False)
class ShotCount(Facet):
    """How many shots there are."""

    type: ClassVar[Type] = "count"

    def measure(self, seen: Sight) -> int:
        return len(seen.scenes)

    def is_salient(self, seen: Sight) -> bool:
        return len(seen.scenes) > 1

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Exact up to seven, within some percent from eight; off by one is half right from four."""
        if not isinstance(claim, int):
            return None
        true = self.measure(seen)
        off = abs(claim - true)
        slack = 0.0 if true < 8 else (0.07 if fine else 0.12) * true
        # two viewers who both watched well differ by one where a shot lasts a few frames only
        near = 0.5 if true >= 4 and off <= 1 + slack else 0.0
        return Score(1.0 if off <= slack else near, chance=0.15)


@dataclass(frozen=True, eq=False)
class CutTime(Facet):
    """When the first or the last cut falls."""

    last: bool

    type: ClassVar[Type] = "instant"

    def measure(self, seen: Sight) -> Stretch:
        if not seen.cuts:
            return NEVER
        at = seen.cuts[-1 if self.last else 0]
        return at, at

    def is_salient(self, seen: Sight) -> bool:
        return bool(seen.cuts)

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Right within a small distance, falling to nothing at twice that."""
        start, end = stretch(claim)
        true = self.measure(seen)[0]
        if true < 0 or start < 0:
            return Score(1.0 if true == start else 0.0, chance=0.5 if true < 0 else 0.1)
        slack = 0.75 * seen.gap_s + (0.1 if fine else 0.3 + 0.03 * seen.duration_s)
        half = (end - start) / 2
        off = max(0.0, abs((start + end) / 2 - true) - half)
        chance = clip(2 * (1.5 * slack + half) / seen.duration_s)
        return Score(clip(2 - off / slack) * sharpness(half, seen, fine=fine), chance)


@dataclass(frozen=True, eq=False)
class Span(Facet):
    """From when to when something lasts; rivals are stretches that nearly qualify too."""

    find: Callable[[Sight], Stretch | None]
    rivals: Callable[[Sight, Stretch], list[Stretch]]

    type: ClassVar[Type] = "stretch"

    def measure(self, seen: Sight) -> Stretch | None:
        return self.find(seen)

    def is_salient(self, seen: Sight) -> bool:
        """Return whether there is one, and not half of the video full of rivals."""
        true = self.find(seen)
        if true is None:
            return False
        return sum(b - a for a, b in self.rivals(seen, true)) < 0.8 * seen.duration_s

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Score by the overlap with the best rival, over what both cover together."""
        true = self.find(seen)
        if true is None:
            return None
        shared = max(_overlap(stretch(claim), rival) for rival in self.rivals(seen, true))
        chance = clip(0.8 * (true[1] - true[0]) / seen.duration_s)
        return Score(clip((shared - 0.25) / (0.6 if fine else 0.4)), chance)


def _overlap(claim: Stretch, true: Stretch) -> float:
    """Return intersection over union; an instant inside counts .6."""
    if claim[0] == claim[1]:
        return 0.6 if true[0] - 0.3 <= claim[0] <= true[1] + 0.3 else 0.0
    both = max(0.0, min(claim[1], true[1]) - max(claim[0], true[0]))
    return both / (max(claim[1], true[1]) - min(claim[0], true[0]))


def shots(seen: Sight) -> list[Stretch]:
    """Return every shot from start to end."""
    return list(pairwise((0.0, *seen.cuts, seen.duration_s)))


def longest_shot(seen: Sight) -> Stretch:
    """Return the longest shot, which in a single take is the whole."""
    return max(shots(seen), key=_length)


def shortest_shot(seen: Sight) -> Stretch:
    """Return the shortest shot, which in a single take is the whole."""
    return min(shots(seen), key=_length)


def shots_as_long(seen: Sight, shot: Stretch) -> list[Stretch]:
    """Return every shot within 12 % of this one's length."""
    slack = 0.12 * _length(shot) + 0.1
    return [s for s in shots(seen) if abs(_length(s) - _length(shot)) <= slack]


def _length(span: Stretch) -> float:
    return span[1] - span[0]
