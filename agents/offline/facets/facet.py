"""What a facet is: one kind of fact that can be measured, asked for, claimed and checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from videoautoarena.agents.offline.vision.sequence import Sight

Stretch: TypeAlias = tuple[float, float]
"""From when to when, in seconds; both equal for one instant."""
Value: TypeAlias = Stretch | int | str | tuple[str, ...]
Type = Literal["instant", "stretch", "count", "colour", "colours", "choice", "order"]

NEVER: Stretch = (-1.0, -1.0)
"""The claim that there is no such instant."""


class Score(NamedTuple):
    """How right a claim is, and how right a guess would have been; both 0 to 1."""

    right: float
    chance: float

    @property
    def room(self) -> float:
        """What is left to know once chance is taken off."""
        return 1 - self.chance

    @property
    def credit(self) -> float:
        """What the claim earns; below 0 where a guess would have done better."""
        return self.right - self.chance


@dataclass(frozen=True, eq=False)
class Facet(ABC):
    """One kind of fact."""

    key: str
    label: str
    """How a person names it."""
    type: ClassVar[Type]

    @property
    def is_timed(self) -> bool:
        """Whether it matters that times are asked for to the tenth."""
        return self.type in ("instant", "stretch")

    @abstractmethod
    def measure(self, seen: Sight) -> Value | None:
        """Return what these frames show; None where they do not show it."""

    @abstractmethod
    def is_salient(self, seen: Sight) -> bool:
        """Return whether these frames leave no doubt, so that it is fair to ask."""

    @abstractmethod
    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:
        """Return how well the claim fits these frames; None where they do not show it."""


def clip(value: float) -> float:
    return float(min(1.0, max(0.0, value)))


def is_stretch(claim: Value) -> bool:
    return isinstance(claim, tuple) and len(claim) == 2 and not isinstance(claim[0], str)


def stretch(claim: Value) -> Stretch:
    """Return the claim as a stretch; TypeError where it is none."""
    if isinstance(claim, tuple) and len(claim) == 2:
        start, end = claim
        if not isinstance(start, str) and not isinstance(end, str):
            return start, end
    raise TypeError(f"{claim!r} is no stretch of time")


def sharpness(half_width_s: float, seen: Sight, *, fine: bool) -> float:
    """Return what a claim that wide is worth: much less where the tenth was asked for."""
    allowed = 0.3 + 0.01 * seen.duration_s if fine else 0.06 * seen.duration_s
    return min(1.0, (allowed / half_width_s) ** 0.5) if half_width_s > allowed else 1.0
