"""What one answer is worth to a viewer of these frames, and how hard a question is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from videoautoarena.agents.offline.facets.table import (
    FACETS,
    ClaimScore,
    Value,
    is_stretch,
    stretch,
)
from videoautoarena.agents.offline.language.phrasing import FactRequest, understand
from videoautoarena.agents.offline.language.reader import FactClaim, HeardText, carried, hear
from videoautoarena.agents.offline.language.tongues import tongue
from videoautoarena.agents.offline.vision.frame_features import Memo, ReceivedFrame
from videoautoarena.agents.offline.vision.sequence import FrameSequence, coarser, sight

FAIR_FRAMES = 64
"""A fact that so many frames do not show is no fair question."""
_COARSE = (16, 8, 4)
_FAIR = 0.8
_EACH = 0.06
_FORM = 0.05
HARDEST = 1.25

_ASKABLE: Memo[tuple[bytes, bool], tuple[str, ...]] = Memo(512)
_HARDNESS: Memo[tuple[bytes, str, bool], float] = Memo(16384)


def askable(seen: FrameSequence, *, fine: bool = False) -> tuple[str, ...]:
    """Return the facets that are plain in these frames, and that 64 of them show right."""

    def plain() -> tuple[str, ...]:
        found = []
        for key, facet in FACETS.items():
            is_plain = facet.is_salient(seen)
            score = _coarse_score(seen, key, FAIR_FRAMES, fine=fine) if is_plain else None
            # What a guess nearly earns is not worth asking, and neither is what 64 frames do not
            # show.
            if score is not None and score.right >= _FAIR and score.room >= 0.4:
                found.append(key)
        return tuple(found)

    return _ASKABLE.get((seen.key, fine), plain)


def hardness(seen: FrameSequence, key: str, *, fine: bool) -> float:
    """Return the share that viewers of 16, 8 and 4 frames get wrong, 0 to 1."""

    def share_wrong() -> float:
        # said to the tenth and scored as an answer would be, so that grading and judging agree
        scores = (_coarse_score(seen, key, n, fine=fine) for n in _COARSE)
        return fmean(1 - (score.right if score else 0.0) for score in scores)

    return _HARDNESS.get((seen.key, key, fine), share_wrong)


def difficulty(seen: FrameSequence, ask: FactRequest) -> float:
    """Return the mean hardness of what is asked, and a little for each demand."""
    if not ask.keys:
        return 0.0
    mean = fmean(hardness(seen, key, fine=ask.fine) for key in ask.keys)
    return mean + _EACH * len(ask.keys) + _FORM * (ask.form is not None)


def graded(difficulty: float) -> float:
    """Return a difficulty as a grade from 1.0 to 5.0 with one decimal."""
    return round(min(5.0, max(1.0, 1 + 4 * difficulty / HARDEST)), 1)


def _coarse_score(seen: FrameSequence, key: str, frames: int, *, fine: bool) -> ClaimScore | None:
    value = FACETS[key].measure(coarser(seen, frames))
    if value is None:
        return None
    if is_stretch(value):
        # As it would be said: to the tenth.
        start, end = stretch(value)
        value = round(start, 1), round(end, 1)
    return FACETS[key].score(value, seen, fine=fine)


STANDARD_WEIGHTS: dict[str, int] = {
    "instruction_following": 1,
    "accuracy": 2,
    "relevance": 1,
    "helpfulness": 2,
}
"""How much each standard counts in an answer's total."""
RIGHT = 0.6
"""Least score of a claim that is called right."""
_FREE_WORDS = 12
"""Words of courtesy that cost no relevance."""
_WORST = -0.4
"""Lowest score of a standard, so that whoever says nothing at all still comes last."""
_FOREIGN = 0.5
"""Factor of instruction following for an answer in another language than was asked for."""
_LEAST_ROOM = 0.2
_UNKNOWN_ROOM = 0.8


@dataclass(frozen=True)
class ClaimRow:
    """One facet as an answer put it."""

    key: str
    value: Value
    score: ClaimScore | None
    """None if these frames do not show it."""
    room: float
    """What there is to know beyond chance, for somebody who knows it."""
    asked: bool

    @property
    def credit(self) -> float:
        return self.score.credit if self.score else 0.0

    @property
    def is_wrong(self) -> bool:
        return self.score is not None and self.score.right < RIGHT


@dataclass(frozen=True)
class AnswerSheet:
    """One answer, weighed."""

    rows: tuple[ClaimRow, ...]
    missing: tuple[str, ...]
    """Facets that were asked for and not answered in words that could be read."""
    illegible: tuple[str, ...]
    """Facets among `missing` for which the answer has a value in words that cannot be read."""
    followed: int
    statements: int
    """How many statements there are, of which `followed` could be read."""
    is_foreign: bool
    """Whether it is in another language than was asked for."""
    scores: dict[str, float]
    """Standard to its score, up to 1; a little below 0 if guessing would have done better."""

    @property
    def total(self) -> float:
        """The weighted mean over the standards, up to 1."""
        weighted = sum(self.scores[name] * weight for name, weight in STANDARD_WEIGHTS.items())
        return weighted / sum(STANDARD_WEIGHTS.values())

    @property
    def wrong(self) -> list[ClaimRow]:
        return [row for row in self.rows if row.is_wrong]


def weigh(
    answer: str, ask: FactRequest, seen: FrameSequence, expected: str | None = None
) -> AnswerSheet:
    """Return the answer's claims, each checked against these frames, and its scores.

    An answer in another language than the one that is expected, by its code, follows the
    instruction the less.
    """
    heard = hear(answer, seen.duration_s, ask.keys, tongue(ask.code))
    is_foreign = expected is not None and heard.tongue not in (None, tongue(expected))
    rows = tuple(_rows(heard.claims, ask, seen))
    have = {row.key for row in rows}
    missing = tuple(key for key in ask.keys if key not in have)
    followed, unread, illegible = _reading(heard, missing)
    on_topic = sum(len(heard.units[place].split()) for place in {one.unit for one in heard.claims})
    focus = min(1.0, (on_topic + _FREE_WORDS) / max(1, len(answer.split()))) ** 0.5
    answered = sum(row.asked for row in rows) / len(ask.keys) if ask.keys else 1.0
    kept = (0.75 + 0.25 * keeps_form(answer, ask)) * (_FOREIGN if is_foreign else 1.0)
    return AnswerSheet(
        rows=rows,
        missing=missing,
        illegible=illegible,
        followed=followed,
        statements=followed + unread,
        is_foreign=is_foreign,
        scores={
            "instruction_following": answered * kept,
            "relevance": answered * focus,
            "accuracy": _accuracy(rows),
            "helpfulness": max(_WORST, _share_known(ask, seen, rows)),
        },
    )


def asked_right(answer: str, question: str, pictures: Sequence[ReceivedFrame]) -> float:
    """Return the share of the asked facts that these frames confirm; 0 is what guessing earns."""
    ask = understand(question)
    seen = sight(pictures)
    claims = hear(answer, seen.duration_s, ask.keys, tongue(ask.code)).claims
    return _share_known(ask, seen, tuple(_rows(claims, ask, seen)))


def read_share(answer: str, question: str, *, duration_s: float) -> float:
    """Return the share of an answer's statements that the reader could follow; 1 if it has none.

    A statement is a unit with a claim, a time, a number, a colour, or an admission not to know;
    also a plain one, for each asked fact of few answers that was not heard.
    """
    ask = understand(question)
    asked = ask.keys
    heard = hear(answer, duration_s, asked, tongue(ask.code))
    have = {claim.key for claim in heard.claims}
    followed, unread, _ = _reading(heard, tuple(key for key in asked if key not in have))
    return followed / (followed + unread) if followed + unread else 1.0


def _rows(claims: list[FactClaim], ask: FactRequest, seen: FrameSequence) -> list[ClaimRow]:
    """Return one row a facet. Distinct values share one credit: naming all of them says nothing."""
    rows = []
    for key, same in groupby(sorted(claims, key=lambda c: c.key), key=lambda c: c.key):
        values = list(dict.fromkeys(claim.value for claim in same))
        scores = [FACETS[key].score(value, seen, fine=ask.fine) for value in values]
        known = [score for score in scores if score is not None]
        score = None
        if known:
            right = sum(s.right for s in known) / len(known)
            score = ClaimScore(right, min(s.chance for s in known))
        rows.append(ClaimRow(key, values[0], score, _room(key, ask, seen), key in ask.keys))
    return sorted(rows, key=lambda row: (*ask.keys, row.key).index(row.key))


def _reading(heard: HeardText, missing: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    """Return how many statements were followed and how many not, and facets those may speak of."""
    spoken = {claim.unit for claim in heard.claims} | heard.hedged
    each = enumerate(zip(heard.units, heard.tongues, strict=True))
    left = [one for place, one in each if place not in spoken]
    types = [carried(unit, words) for unit, words in left]
    valued = len(types) - types.count(None)
    # a fact of few answers carries no value that would show: an unread one hides in plain words
    plain = [key for key in missing if FACETS[key].type in ("choice", "order")]
    hidden = max(0, len(plain) - len(heard.hedged))
    hinted = {
        key
        for key in plain
        if not heard.hedged
        if any(words.patterns("stems")[key].search(unit) for unit, words in left)
    }
    illegible = tuple(key for key in missing if key in hinted or FACETS[key].type in types)
    return len(spoken), valued + min(hidden, len(left) - valued), illegible


def _accuracy(rows: tuple[ClaimRow, ...]) -> float:
    """Return credit per room, extra claims at half weight; a little room is added against luck."""
    weighted = [(row, 1.0 if row.asked else 0.5) for row in rows if row.score is not None]
    if not weighted:
        return 0.0
    credit = sum(row.credit * weight for row, weight in weighted)
    room = sum(row.room * weight for row, weight in weighted)
    return min(1.0, max(_WORST, (credit + 0.05) / (room + 0.25)))


def _share_known(ask: FactRequest, seen: FrameSequence, rows: tuple[ClaimRow, ...]) -> float:
    """Return the credit for what was asked, over the room there was."""
    if not ask.keys:
        return min(1.0, sum(row.credit for row in rows) / 3)
    credit = sum(row.credit for row in rows if row.asked)
    return min(1.0, credit / sum(_room(key, ask, seen) for key in ask.keys))


def _room(key: str, ask: FactRequest, seen: FrameSequence) -> float:
    true = FACETS[key].measure(seen)
    score = None if true is None else FACETS[key].score(true, seen, fine=ask.fine)
    return max(_LEAST_ROOM, score.room) if score else _UNKNOWN_ROOM


def keeps_form(answer: str, ask: FactRequest) -> bool:
    """Return whether the answer has the form that was asked for."""
    if ask.form == "table":
        return len(re.findall(r"^\s*\|.*\|", answer, re.MULTILINE)) >= 2
    if ask.form == "list":
        items = re.findall(r"^\s*(?:[-*•]|\d+[.)])\s", answer, re.MULTILINE)
        return len(items) >= max(1, len(ask.keys))
    if ask.form == "json":
        try:
            found = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
        # JSON nested too deeply ends in a RecursionError, which is no ValueError.
        except (ValueError, RecursionError):
            return False
        return isinstance(found, dict)
    return ask.form is None or len(answer.split()) <= ask.words
