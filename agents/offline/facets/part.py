"""Facts of a part of a video, or of all of it, on the clock of the whole."""

from __future__ import annotations

from dataclasses import dataclass

from videoautoarena.agents.offline.facets.facet import Score, Stretch, Value, is_stretch, stretch
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.vision.sequence import Sight, sight


@dataclass(frozen=True)
class Part:
    """What is seen of it, and when it begins."""

    seen: Sight
    start_s: float = 0.0

    def measure(self, key: str) -> Value | None:
        """Return what these frames show of a facet; None where they do not show it."""
        value = FACETS[key].measure(self.seen)
        return None if value is None else _shifted(value, self.start_s)

    def score(self, key: str, claim: Value) -> Score | None:
        """Return how well a claim fits these frames; None where they do not show it."""
        return FACETS[key].score(_shifted(claim, -self.start_s), self.seen, fine=False)

    def right(self, key: str, claim: Value) -> float:
        """Return how right a claim is, 0 to 1; 0 where these frames do not show it."""
        score = self.score(key, claim)
        return score.right if score else 0.0


def part_of(seen: Sight, span: Stretch) -> Part | None:
    """Return what is seen from one time to another; None where no frame falls there."""
    first = seen.pictures[0].time_s
    pictures = [one for one in seen.pictures if span[0] <= one.time_s - first <= span[1]]
    return Part(sight(pictures), pictures[0].time_s - first) if pictures else None


def _shifted(value: Value, by_s: float) -> Value:
    if not is_stretch(value) or stretch(value)[0] < 0:
        return value
    start, end = stretch(value)
    return start + by_s, end + by_s
