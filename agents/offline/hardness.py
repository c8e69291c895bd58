"""How hard a question is: measured by what a coarser viewer of the same frames gets wrong."""

from __future__ import annotations

from statistics import fmean

from agents.offline.facets import Score, Value, is_stretch, stretch
from agents.offline.facts import FACETS
from agents.offline.memo import Memo
from agents.offline.questions import Ask
from agents.offline.sights import Sight, coarser

FAIR_FRAMES = 64
"""A fact that so many frames do not show is no fair question."""
_COARSE = (16, 8, 4)
_FAIR = 0.8
_EACH = 0.06
_FORM = 0.05
HARDEST = 1.25
"""The difficulty that is graded 5.0."""

_ASKABLE: Memo[tuple[bytes, bool], tuple[str, ...]] = Memo(512)
_HARDNESS: Memo[tuple[bytes, str, bool], float] = Memo(16384)


def askable(seen: Sight, *, fine: bool = False) -> tuple[str, ...]:
    """Return the facets that are plain in these frames, and that 64 of them show right."""
    return _ASKABLE.get(
        (seen.key, fine),
        lambda: tuple(
            key
            for key, facet in FACETS.items()
            if facet.is_salient(seen) and _is_fair(seen, key, fine=fine)
        ),
    )


def hardness(seen: Sight, key: str, *, fine: bool) -> float:
    """Return the share that viewers of 16, 8 and 4 frames get wrong, 0 to 1."""
    return _HARDNESS.get(
        (seen.key, key, fine),
        # said to the tenth and scored as an answer would be, so that grading and judging agree
        lambda: fmean(1 - _right(_told(seen, key, n, fine=fine)) for n in _COARSE),
    )


def difficulty(seen: Sight, ask: Ask) -> float:
    """Return the mean hardness of what is asked, and a little for each demand."""
    if not ask.keys:
        return 0.0
    mean = fmean(hardness(seen, key, fine=ask.fine) for key in ask.keys)
    return mean + _EACH * len(ask.keys) + _FORM * (ask.form is not None)


def graded(difficulty: float) -> float:
    """Return a difficulty as a grade from 1.0 to 5.0 with one decimal."""
    return round(min(5.0, max(1.0, 1 + 4 * difficulty / HARDEST)), 1)


def _is_fair(seen: Sight, key: str, *, fine: bool) -> bool:
    score = _told(seen, key, FAIR_FRAMES, fine=fine)
    return score is not None and score.right >= _FAIR and score.room >= 0.4


def _told(seen: Sight, key: str, frames: int, *, fine: bool) -> Score | None:
    """Return the score of what a viewer of so many frames would say."""
    value = FACETS[key].measure(coarser(seen, frames))
    return None if value is None else FACETS[key].score(_rounded(value), seen, fine=fine)


def _rounded(value: Value) -> Value:
    """Return the value as it would be said: times to the tenth."""
    if not is_stretch(value):
        return value
    start, end = stretch(value)
    return round(start, 1), round(end, 1)


def _right(score: Score | None) -> float:
    return score.right if score else 0.0
