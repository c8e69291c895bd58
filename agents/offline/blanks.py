"""How often the picture is blank: one flat colour from edge to edge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from agents.offline.facets import Facet, Score, Type, Value
from agents.offline.pictures import glance
from agents.offline.sights import Sight

_FLAT = 16
"""Grey levels between the parts of a picture up to which it is one colour; a sky that fades has
more."""
_SURE_FRAMES = 4
"""A blank of fewer frames may be missed by who sees half of them."""


@dataclass(frozen=True, eq=False)
class BlankCount(Facet):
    """How many stretches there are in which the picture is blank."""

    @property
    def type(self) -> Type:
        """A whole number."""
        return "count"

    def measure(self, seen: Sight) -> int:
        """Return the number of blank stretches."""
        return len(_blanks(seen))

    def is_salient(self, seen: Sight) -> bool:
        """Return whether there are several, each of them long enough to be sure of."""
        blanks = _blanks(seen)
        return len(blanks) > 1 and min(blanks) >= _SURE_FRAMES

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:  # noqa: ARG002
        """Right or wrong."""
        if not isinstance(claim, int):
            return None
        return Score(1.0 if claim == self.measure(seen) else 0.0, chance=0.2)


def _blanks(seen: Sight) -> list[int]:
    """Return how many frames each blank stretch has."""
    layouts = (glance(picture).layout.reshape(-1, 3) for picture in seen.pictures)
    flat = [bool(np.ptp(layout, axis=0).max() <= _FLAT) for layout in layouts]
    return [len(list(run)) for is_flat, run in groupby(flat) if is_flat]
