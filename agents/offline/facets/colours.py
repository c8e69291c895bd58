"""Facets of colour: which colours rule, in what order, and how often the picture is blank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import numpy as np

from videoautoarena.agents.offline.facets.facet import Facet, Score, Type, Value, clip
from videoautoarena.agents.offline.vision.frame_features import COLOURS, Vector, glance
from videoautoarena.agents.offline.vision.sequence import Sight

NEIGHBOURS = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "black/grey", "grey/white", "red/orange", "red/brown", "orange/brown", "orange/yellow",
        "green/teal", "teal/blue", "blue/purple", "purple/pink", "red/pink", "brown/grey",
    )
)  # fmt: skip
"""Colours that two people may call by either name."""


@dataclass(frozen=True, eq=False)
class MainColour(Facet):
    """The colour with the largest share of some part."""

    part: Callable[[Sight], Vector]

    type: ClassVar[Type] = "colour"

    def measure(self, seen: Sight) -> str:
        return COLOURS[int(np.argmax(self.part(seen)))]

    def is_salient(self, seen: Sight) -> bool:
        second, first = np.sort(self.part(seen))[-2:]
        return bool(first > 0.3 and first > 1.25 * second)

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:  # noqa: ARG002
        """Right for a colour nearly as common as the first, partly for its neighbours."""
        if claim not in COLOURS:
            return None
        shares = self.part(seen)
        share = shares[COLOURS.index(str(claim))] / shares.max()
        near = share >= 0.6 or {claim, self.measure(seen)} in NEIGHBOURS
        return Score(1.0 if share >= 0.85 else 0.6 if near else 0.0, chance=0.15)


@dataclass(frozen=True, eq=False)
class ColourOrder(Facet):
    """The main colour of each scene in turn, repeats folded."""

    type: ClassVar[Type] = "colours"

    def measure(self, seen: Sight) -> tuple[str, ...]:
        mains = (COLOURS[int(np.argmax(scene.shares))] for scene in seen.scenes)
        return tuple(colour for colour, _ in groupby(mains))

    def is_salient(self, seen: Sight) -> bool:
        return 2 <= len(self.measure(seen)) <= 9

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Score by the longest order both share."""
        if not isinstance(claim, tuple) or not all(isinstance(c, str) for c in claim):
            return None
        true = self.measure(seen)
        share = _common(claim, true) / max(len(claim), len(true))
        return Score(clip((share - (0.3 if fine else 0.2)) / 0.6), chance=0.05)


def _common(one: Value, other: tuple[str, ...]) -> int:
    """Return the length of the longest common subsequence."""
    assert isinstance(one, tuple)
    best = [0] * (len(other) + 1)
    for item in one:
        before = list(best)
        for j, against in enumerate(other):
            best[j + 1] = before[j] + 1 if item == against else max(before[j + 1], best[j])
    return best[-1]


_FLAT = 16
"""Grey levels between the parts of a picture up to which it is one colour; a sky that fades has
more."""
_SURE_FRAMES = 4
"""A blank of fewer frames may be missed by who sees half of them."""


@dataclass(frozen=True, eq=False)
class BlankCount(Facet):
    """How many stretches there are in which the picture is blank."""

    type: ClassVar[Type] = "count"

    def measure(self, seen: Sight) -> int:
        return len(_blanks(seen))

    def is_salient(self, seen: Sight) -> bool:
        """Return whether there are several, each of them long enough to be sure of."""
        blanks = _blanks(seen)
        return len(blanks) > 1 and min(blanks) >= _SURE_FRAMES

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:  # noqa: ARG002
        if not isinstance(claim, int):
            return None
        return Score(1.0 if claim == self.measure(seen) else 0.0, chance=0.2)


def _blanks(seen: Sight) -> list[int]:
    layouts = (glance(picture).layout.reshape(-1, 3) for picture in seen.pictures)
    flat = [bool(np.ptp(layout, axis=0).max() <= _FLAT) for layout in layouts]
    return [len(list(run)) for is_flat, run in groupby(flat) if is_flat]
