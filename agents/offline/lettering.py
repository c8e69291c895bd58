"""Which words are drawn into the picture, for a viewer who was told what OCR read there.

Nobody offline can read pixels at 512: these facts exist only where captions came with the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from agents.offline.facets import Facet, Score, Type, Value, clip
from agents.offline.quoting import alike, letters
from agents.offline.sent import Caption
from agents.offline.sights import Sight

_CLOSE = 0.04
"""Share of the video by which two captions may differ in what is asked, and both be right."""
_LEGIBLE = range(5, 61)
"""Characters of a caption that is asked about."""
_LIKE, _UNLIKE = 0.85, 0.6
"""Similarity from which words are right, and up to which they are wrong."""

Lag = Callable[[Caption, Sight], float]
"""By how many seconds a caption falls short of what is asked; the least is the answer."""


@dataclass(frozen=True, eq=False)
class Lettering(Facet):
    """The words of one caption, chosen by when it stands."""

    lag: Lag

    @property
    def type(self) -> Type:
        """Words."""
        return "text"

    def measure(self, seen: Sight) -> str | None:
        """Return the words; None where these frames came with none."""
        right = self._right(seen)
        return right[0].text if right else None

    def is_salient(self, seen: Sight) -> bool:
        """Return whether one caption is the answer, and is neither a scrap nor a page."""
        right = self._right(seen)
        if not right or any(alike(right[0].text, other.text) < _LIKE for other in right):
            return False
        text = right[0].text
        return len(text) in _LEGIBLE and sum(char.isalpha() for char in text) >= len(text) / 2

    def score(self, claim: Value, seen: Sight, *, fine: bool) -> Score | None:  # noqa: ARG002
        """Score by letters and digits; chance is the share of instants that show these words."""
        right = self._right(seen)
        if not right or not isinstance(claim, str) or not letters(claim):
            return None
        best = max(alike(claim, caption.text) for caption in right)
        said = [caption for caption in seen.captions if alike(claim, caption.text) >= _LIKE]
        return Score(
            right=clip((best - _UNLIKE) / (_LIKE - _UNLIKE)), chance=_share_shown(said, seen)
        )

    def _right(self, seen: Sight) -> list[Caption]:
        """Return the captions that may be meant, the best first."""
        ranked = sorted(
            seen.captions, key=lambda caption: (self.lag(caption, seen), caption.start_s)
        )
        most = self.lag(ranked[0], seen) + _CLOSE * seen.duration_s if ranked else inf
        if most == inf:
            return []
        return [caption for caption in ranked if self.lag(caption, seen) <= most]


def from_second(caption: Caption, seen: Sight) -> float:
    """Return how far it appears from the second of all; infinitely far where there is but one."""
    starts = sorted(other.start_s for other in seen.captions)
    return abs(caption.start_s - starts[1]) if len(starts) > 1 else inf


def from_middle(caption: Caption, seen: Sight) -> float:
    """Return how far it stands from the middle; 0 where it stands there."""
    middle = seen.duration_s / 2
    return max(0.0, caption.start_s - middle, middle - caption.end_s)


def _share_shown(captions: Sequence[Caption], seen: Sight) -> float:
    """Return the share of the video in which any of the captions stands."""
    shown, until_s = 0.0, 0.0
    for caption in sorted(captions, key=lambda caption: caption.start_s):
        shown += max(0.0, caption.end_s - max(until_s, caption.start_s))
        until_s = max(until_s, caption.end_s)
    return clip(shown / seen.duration_s)
