"""An even draw over several kinds of strata at once, with long and short winners in balance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.cells import Floats, Ints

Strata = Sequence[tuple[str, ...]]
"""Of each item its part by every dimension, such as its duration bucket and its category."""


def draw_evenly(strata: Strata, size: int, sides: Sequence[int] | None = None) -> list[int]:
    """Return the places of at most `size` items, even over the parts of every dimension.

    Each next item comes from the cell (a combination of parts) whose parts have been drawn least,
    measured by the parts' even share: a step down the squares of how far all parts are from it. A
    part that has too few items gives all it has. Cost: cells x size.

    Args:
        strata: of all items, which stand in the order of preference.
        size: how many are wanted.
        sides: of each item 1, -1 or 0; as many of either are drawn, which may take an item or more
            away from `size`. None where there are none.

    Returns:
        Places in the order in which they were drawn.
    """
    cells = _Cells(strata, size, sides)
    while len(cells.drawn) < min(size, len(strata)) and cells.take(size):
        pass
    return cells.balanced()


class _Cells:
    """What is left in each cell, and what was drawn of each part."""

    def __init__(self, strata: Strata, size: int, sides: Sequence[int] | None) -> None:
        self._sides = [0] * len(strata) if sides is None else list(sides)
        waiting: dict[tuple[object, ...], list[int]] = {}
        for place, parts in enumerate(strata):
            waiting.setdefault((*parts, self._sides[place]), []).append(place)
        self._waiting = [places[::-1] for places in waiting.values()]
        self._side = np.array([key[-1] for key in waiting], dtype=np.int64)
        self._next = np.array([places[-1] for places in self._waiting], dtype=np.float64)
        self._parts: list[Ints] = []
        self._costs: list[Floats] = []
        self._steps: list[float] = []
        for dimension in range(len(strata[0]) if strata else 0):
            codes = {part: k for k, part in enumerate(dict.fromkeys(s[dimension] for s in strata))}
            self._parts.append(np.array([codes[str(key[dimension])] for key in waiting]))
            even = size / len(codes)
            # The first of a part costs 1 / even, each next 2 / even more.
            self._costs.append(np.full(len(codes), 1 / even))
            self._steps.append(2 / even)
        self._last = max(1, len(strata))
        self.drawn: list[int] = []
        self._neither = self._sides.count(0) if any(self._sides) else 0
        """How many of side 0 are left; moot where there are no sides."""
        self._ahead = 0
        """How many more of side 1 than of side -1 were drawn: never more than one."""

    def take(self, size: int) -> bool:
        """Draw one more; False where nothing is left that may be drawn."""
        cost = 1e-6 * self._next / self._last
        for parts, costs in zip(self._parts, self._costs, strict=True):
            cost = cost + costs[parts]
        cost[~self._allowed(size)] = np.inf
        cell = int(np.argmin(cost)) if len(cost) else 0
        if not len(cost) or not np.isfinite(cost[cell]):
            return False
        self.drawn.append(self._waiting[cell].pop())
        self._ahead += int(self._side[cell])
        self._neither -= self._side[cell] == 0
        self._next[cell] = self._waiting[cell][-1] if self._waiting[cell] else np.inf
        for parts, costs, step in zip(self._parts, self._costs, self._steps, strict=True):
            costs[parts[cell]] += step
        return True

    def _allowed(self, size: int) -> NDArray[np.bool_]:
        """Return which cells may be drawn from without tipping the balance for good."""
        left = size - len(self.drawn)
        if self._ahead:
            allowed = np.asarray(self._side * self._ahead <= 0)
        elif left == 1 and self._side.any():
            allowed = np.asarray(self._side == 0)
        else:
            allowed = np.ones(len(self._side), dtype=np.bool_)
        # The last item of neither side is kept where pairs alone would leave one place empty.
        if self._neither == 1 and (left - abs(self._ahead)) % 2 == 0:
            sided = allowed & (self._side != 0)
            return sided if (sided & np.isfinite(self._next)).any() else allowed
        return allowed

    def balanced(self) -> list[int]:
        """Return what was drawn, without the last one that nothing stands against."""
        if excess := self._ahead:
            last = max(k for k, place in enumerate(self.drawn) if self._sides[place] == excess)
            return self.drawn[:last] + self.drawn[last + 1 :]
        return self.drawn
