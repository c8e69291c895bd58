"""In which order a capped run spends: on the first battles first, so that they come to an end.

Nobody wants a cap's worth of questions without answers. A battle is begun only when what is left
would also pay for all that stand before it, and for the rest of those that are begun.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.money import NOTHING, Sum

ENOUGH = 3
"""Once so many battles have ended, the dearest of them says what one comes to."""


@dataclass
class Course:
    """The battles that are left, in their order, and what was spent on each that is begun."""

    places: Mapping[str, int]
    """Scope of a call to the place of the battle it is made for; from 0 on, without gaps."""
    likely: Sum
    """What a battle is expected to come to, before any has ended."""
    begun: dict[int, Sum] = field(default_factory=dict, init=False)
    """By place, what was spent; without those that have ended."""
    _ended: array[int] = field(default_factory=lambda: array("i"), init=False, repr=False)
    """Places, ascending."""
    _dearest: Sum = field(default=NOTHING, init=False)
    _paid_for: int = field(default=0, init=False)
    """Battles that cost something and have ended."""

    def place(self, scope: str) -> int:
        """Return the place of the battle that a call is made for; -1, before all, where unknown."""
        return self.places.get(scope, -1)

    def is_new(self, place: int) -> bool:
        """Return whether nothing was let through yet for the battle in a place."""
        return place >= 0 and place not in self.begun and not self._has_ended(place)

    def begin(self, place: int) -> None:
        """Take note that a call of a battle is let through."""
        if self.is_new(place):
            self.begun[place] = NOTHING

    def pay(self, place: int, cost: Sum) -> None:
        """Count what a call of a battle came to."""
        if place in self.begun:
            self.begun[place] = self.begun[place].plus(cost)

    def end(self, scope: str) -> None:
        """Take note that a battle is settled."""
        place = self.place(scope)
        if place < 0 or self._has_ended(place):
            return
        insort(self._ended, place)
        cost = self.begun.pop(place, NOTHING)
        if cost != NOTHING:
            self._paid_for += 1
            self._dearest = self._dearest.most(cost)

    def has_begun_before(self, place: int) -> bool:
        """Return whether a battle before a place is begun and has not ended."""
        return any(other < place for other in self.begun)

    def need(self, place: int, size: Sum) -> Sum:
        """Return what must be left for a new battle, whose first call may come to `size`.

        That is enough for itself, for all before it, and for what is begun behind it.
        """
        each = self._each()
        before = place - bisect_left(self._ended, place)
        behind = sum(other > place for other in self.begun)
        paid = NOTHING
        for spent in self.begun.values():
            paid = paid.plus(spent.least(each))
        return each.times(before + behind).minus(paid).plus(each.most(size))

    def _each(self) -> Sum:
        if self._paid_for >= ENOUGH:
            return self._dearest
        return self._dearest.most(self.likely)

    def _has_ended(self, place: int) -> bool:
        found = bisect_left(self._ended, place)
        return found < len(self._ended) and self._ended[found] == place
