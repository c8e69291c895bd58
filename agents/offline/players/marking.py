"""The offline judge with a written key and no frames: are its facts in the answer, in any words?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from statistics import fmean

from videoautoarena.agents.offline.facets.table import NEIGHBOURS, Value, is_stretch, stretch
from videoautoarena.agents.offline.language.dialogues import (
    hear_answer,
    read_check,
)
from videoautoarena.agents.offline.language.reader import FactClaim, hear, split_units

_LENGTH_S = 60.0
"""A video's length is not in a key; only words like "in the first half" are read by it."""
_NEAR_S, _FAR_S = 1.0, 3.0
"""Seconds between two times that are still the same, or nearly the same."""
SAME = 0.75
_PARTLY = 0.4
"""Least share of a fact that counts as saying it, or as saying it in part."""
_OF_IT = 0.3
"""Least share of a sentence's words that the key has, too, for the sentence to be about it."""
_DEGREES = ("I do not find it in the answer.", "A part of it is said.", "It is said.")
_NUMBER = re.compile(r"^\s*\d+[.)]\s+")
_WORD = re.compile(r"[^\W_]{3,}")
_COMMON = frozenset(
    _WORD.findall(
        "the and are was were its his her their this that with from into for then there here has "
        "had have been being which who what when where while one picture video scene frame"
    )
)


def mark_scene(blocks: dict[str, str]) -> dict[str, object]:
    """Return 1, 3 or 5 for each scoring point, and how far the answer stays with them."""
    answer = blocks.get("answer", "")
    points = points_in(blocks.get("points", ""))
    degrees = [_degree(said_of(point, answer)) for point in points]
    key = [blocks.get("reference", ""), *points]
    # Which share of the answer's words stands in sentences about what the key is about.
    known = {claim.key for text in key for claim in hear(text, _LENGTH_S).claims}
    heard = hear(answer, _LENGTH_S, sorted(known))
    about = {claim.unit for claim in heard.claims if claim.key in known}
    sizes = [len(unit.split()) for unit in heard.units]
    own = sum(
        size
        for place, (unit, size) in enumerate(zip(heard.units, sizes, strict=True))
        if place in about or _shared(unit, " ".join(key)) >= _OF_IT
    )
    focus = own / sum(sizes) if sum(sizes) else 0.0
    return {
        "points": [{"analysis": _DEGREES[one], "score": 1 + 2 * one} for one in degrees],
        "relevance": _scale("of the answer is about what was asked", focus),
    }


def mark_summary(blocks: dict[str, str]) -> dict[str, object]:
    """Return how much of the key the answer holds, and how much of it agrees with the key."""
    answer = blocks.get("answer", "")
    reference = blocks.get("reference", "")
    points = points_in(blocks.get("points", ""))
    facts = points or split_units(reference)
    held = fmean(_degree(said_of(fact, answer)) / 2 for fact in facts) if facts else 0.0
    key = "\n".join([reference, *points])
    truths = hear(key, _LENGTH_S).claims
    heard = hear(answer, _LENGTH_S, list(dict.fromkeys(truth.key for truth in truths)))
    agreed: list[float] = []
    for place, unit in enumerate(heard.units):
        claims = [claim for claim in heard.claims if claim.unit == place]
        if claims:
            agreed.append(fmean(_borne_out(claim, truths) for claim in claims))
        elif _words(unit) and place not in heard.hedged:
            agreed.append(1.0 if _shared(unit, key) >= 2 * _OF_IT else 0.0)
    return {
        "completeness": _scale("of the key stands in the answer", held),
        "reliability": _scale(
            "of the answer agrees with the key", fmean(agreed) if agreed else 0.0
        ),
    }


def points_in(text: str) -> list[str]:
    """Return the lines of a numbered list, without their numbers."""
    lines = (_NUMBER.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def _degree(share: float) -> int:
    """Return the place in `_DEGREES` of how fully a fact is said."""
    return 2 if share >= SAME else 1 if share >= _PARTLY else 0


def _scale(what: str, share: float) -> dict[str, object]:
    return {"analysis": f"About {share:.0%} {what}.", "score": round(1 + 4 * share)}


def said_of(fact: str, answer: str) -> float:
    """Return how much of a fact an answer says, 0 to 1: its claims, or its words if it has none."""
    claims = hear(fact, _LENGTH_S).claims
    if not claims:
        return max((_shared(fact, unit) for unit in split_units(answer)), default=0.0)
    heard = hear(answer, _LENGTH_S, [claim.key for claim in claims]).claims
    return fmean(_borne_out(claim, heard) for claim in claims)


def _borne_out(claim: FactClaim, heard: Iterable[FactClaim]) -> float:
    """Return how well what was heard bears a claim out; several values share one credit."""
    values = list(dict.fromkeys(other.value for other in heard if other.key == claim.key))
    return fmean(_alike(claim.value, value) for value in values) if values else 0.0


def _alike(one: Value, other: Value) -> float:
    if one == other:
        return 1.0
    if is_stretch(one) and is_stretch(other):
        apart = max(abs(a - b) for a, b in zip(stretch(one), stretch(other), strict=True))
        return 1.0 if apart <= _NEAR_S else 0.5 if apart <= _FAR_S else 0.0
    if isinstance(one, int) and isinstance(other, int):
        return 0.5 if abs(one - other) == 1 else 0.0
    if isinstance(one, str) and isinstance(other, str):
        return 0.5 if frozenset((one, other)) in NEIGHBOURS else 0.0
    return 0.0


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _shared(text: str, other: str) -> float:
    words = _words(text)
    return len(words & _words(other)) / len(words) if words else 0.0


_ASKED = re.compile(
    r"^(does|did|do|is|are|has|was|can) the (answer|reply|response|assistant|model)\w*\s"
    r"((\w+ly )?(mention|mentions?|states?|says?|describes?|names?|identif(y|ies)|points? out)\s)?"
    r"(that\s)?",
    re.IGNORECASE,
)
"""Beginning of an item that somebody else worded; what the answer should say follows."""
_WORDS = {True: "The answer says so.", False: "I do not find it in the answer."}


def mark_checklist(blocks: dict[str, str]) -> dict[str, object]:
    """Return yes or no for each item; the answer is heard once for all of them."""
    answer = blocks.get("answer", "")
    items = points_in(blocks.get("checklist", ""))
    checks = [read_check(item) for item in items]
    heard = hear_answer(answer, [check for check in checks if check is not None])
    met = [
        # an item in unknown words is met by the facts or words in it
        heard.meets(check) if check is not None else said_of(_ASKED.sub("", item), answer) >= SAME
        for check, item in zip(checks, items, strict=True)
    ]
    return {"items": [{"analysis": _WORDS[one], "answer": "yes" if one else "no"} for one in met]}
