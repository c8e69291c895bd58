"""Finds the claims in prose that anybody may have written. Knows no phrase book."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from videoautoarena.agents.offline.facets.table import FACETS, NEVER, Value
from videoautoarena.agents.offline.language.tongues import (
    COVERS,
    ENGLISH,
    SpokenLanguage,
    colours,
    leading,
    number,
    stretches,
    times,
    told,
    without_times,
)

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-ZÄÖÜ“„\"'*\d-])")
_BRACES = 20
"""Most braces at which JSON is looked for; a text full of braces would else take for ever."""
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


class FactClaim(NamedTuple):
    """That a facet has a value, and which unit of the text says so."""

    key: str
    value: Value
    unit: int


class HeardText(NamedTuple):
    """What was understood of a text."""

    units: list[str]
    """Sentences, bullets, table rows, JSON pairs."""
    claims: list[FactClaim]
    hedged: frozenset[int]
    tongues: list[SpokenLanguage]
    """The language of each unit."""

    @property
    def tongue(self) -> SpokenLanguage | None:
        """The language of the units that claim something, else of all; None if none leads."""
        claiming = sorted({claim.unit for claim in self.claims})
        return leading(" ".join([self.units[place] for place in claiming] or self.units))


def hear(
    text: str, duration_s: float, asked: Sequence[str] = (), usual: SpokenLanguage = ENGLISH
) -> HeardText:
    """Return the claims: exact wording first; what was asked also by hints and elimination.

    Each unit is read in its own language: where its words do not tell, in that of the whole text,
    and where that does not either, in the usual one.
    """
    units = split_units(text)
    most = told(text, usual)
    tongues = [told(unit, most) for unit in units]
    each = list(zip(units, tongues, strict=True))
    hedged = frozenset(
        i for i, (unit, tongue) in enumerate(each) if tongue.pattern("hedge").search(unit)
    )
    claims = [
        FactClaim(key, value, i)
        for i, (unit, tongue) in enumerate(each)
        # "It is hard to say" claims nothing, whatever value stands beside it.
        if i not in hedged
        for key, value in _exact(unit, tongue, duration_s)
    ]
    claims = _claimed(each, claims, hedged, asked, duration_s)
    return HeardText(units, claims, hedged, tongues)


# Two contestants, a judge and an examiner read the same words.
@lru_cache(maxsize=1024)
def topics(text: str, tongue: SpokenLanguage = ENGLISH) -> tuple[str, ...]:
    """Return the keys of the facets that the text names, the covered ones left out."""
    named = [key for key, pattern in tongue.patterns("topics").items() if pattern.search(text)]
    covered = {other for key in named for other in COVERS.get(key, ())}
    return tuple(key for key in named if key not in covered)


def carried(unit: str, tongue: SpokenLanguage = ENGLISH) -> str | None:
    """Return which type of value a unit carries; None if it carries none, or several."""
    if given := len(times(unit, tongue)):
        return {1: "instant", 2: "stretch"}.get(given)
    if named := len(colours(unit, tongue)):
        return "colour" if named == 1 else "colours"
    return "count" if _plain_number(unit, tongue) is not None else None


def split_units(text: str) -> list[str]:
    """Return sentences, bullets, table rows and JSON pairs, each by itself."""
    text = text.replace("**", "").replace("__", "")
    units = []
    for start in islice(re.finditer(r"\{", text), _BRACES):
        try:
            found, end = json.JSONDecoder().raw_decode(text, start.start())
        # JSON nested too deeply ends in a RecursionError, which is no ValueError.
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            for label, value in found.items():
                said = ", ".join(map(str, value)) if isinstance(value, list) else value
                units.append(f"{label}: {said}")
            text = f"{text[: start.start()]}\n{text[end:]}"
            break
    for line in text.splitlines():
        # runs of blanks are folded: the patterns' time grows with the square of their length
        stripped = " ".join(line.split())
        if not re.search(r"\w", stripped) or stripped.startswith("```"):
            continue
        if stripped.startswith("|"):
            units.append(" : ".join(cell.strip() for cell in stripped.strip("|").split("|")))
        else:
            units += [u for u in _SENTENCE_END.split(_BULLET.sub("", stripped)) if u]
    return units


def _exact(unit: str, tongue: SpokenLanguage, duration_s: float) -> list[tuple[str, Value]]:
    keys = list(topics(unit, tongue))
    # two times in one sentence are two moments, however they are strung together
    if "sequence" in keys and len(times(unit, tongue)) > 1:
        keys = [key for key in COVERS["sequence"] if tongue.patterns("topics")[key].search(unit)]
    if "colour_order" not in keys and "shots" in keys and len(keys) > 1 and times(unit, tongue):
        keys.remove("shots")
    parts = ((key, _part(key, unit, keys, tongue, duration_s)) for key in keys)
    found = ((key, _value(key, part, tongue, duration_s)) for key, part in parts)
    return [(key, value) for key, value in found if value is not None]


def _part(key: str, unit: str, keys: list[str], tongue: SpokenLanguage, duration_s: float) -> str:
    """Return the clause of the unit that speaks of this facet, when it speaks of several."""
    if len(keys) == 1:
        return unit
    clauses = re.split(tongue.words["clause_end"], unit)
    own = [i for i, clause in enumerate(clauses) if tongue.patterns("topics")[key].search(clause)]
    for i in own:
        if _value(key, clauses[i], tongue, duration_s) is not None:
            return clauses[i]
    return " ".join(clauses[max(0, own[0] - 1) : own[0] + 2]) if own else unit


def _value(key: str, text: str, tongue: SpokenLanguage, duration_s: float) -> Value | None:
    kind = FACETS[key].type
    if kind == "choice":
        return next(
            (side for side, p in tongue.patterns("sides", key).items() if p.search(text)), None
        )
    if key == "blanks":
        often = tongue.pattern("often").search(without_times(text, tongue))
        return number(often[1] or often["often"], tongue) if often else None
    if kind == "count":
        return _count(without_times(text, tongue), tongue)
    if kind == "colour":
        return next(iter(colours(text, tongue)), None)
    if kind == "colours":
        return colours(text, tongue) or None
    if kind == "order":
        marks = tongue.patterns("landmarks").items()
        places = {name: found.start() for name, p in marks if (found := p.search(text))}
        return tuple(sorted(places, key=lambda name: places[name])) if len(places) > 1 else None
    if key in ("first_cut", "last_cut") and tongue.pattern("no_cut").search(text):
        return NEVER
    given = times(text, tongue)
    if kind == "stretch" and len(given) > 1:
        return min(given[:2]), max(given[:2])
    return stretches(text, duration_s, tongue)


def _count(text: str, tongue: SpokenLanguage) -> int | None:
    for pattern, extra in tongue.words["counts"]:
        if match := tongue.compiled(pattern).search(text):
            count: int = number(match[1], tongue) + extra
            return count
    return 1 if tongue.pattern("no_cut").search(text) else None


def _plain_number(text: str, tongue: SpokenLanguage) -> int | None:
    """Return the first number that is more than an article ("one", "no", "single")."""
    for match in tongue.pattern("number").finditer(text):
        # "one" is as often a pronoun as a count
        if match[1].isdigit() or number(match[1], tongue) > 1:
            return number(match[1], tongue)
    return None


def _claimed(
    each: Sequence[tuple[str, SpokenLanguage]],
    claims: list[FactClaim],
    hedged: frozenset[int],
    asked: Sequence[str],
    duration_s: float,
) -> list[FactClaim]:
    """Return the claims, with those on what was asked and not yet heard in units left over."""
    # An admission not to know answers nothing, and is read for no other fact either.
    taken = set(hedged) | {claim.unit for claim in claims if claim.key in asked}

    def missing() -> list[str]:
        have = {claim.key for claim in claims}
        return [key for key in asked if key not in have]

    def typed(key: str, place: int) -> Value | None:
        unit, tongue = each[place]
        if FACETS[key].type == "count":
            return _plain_number(without_times(unit, tongue), tongue)
        return _value(key, unit, tongue, duration_s)

    def take(claim: FactClaim) -> None:
        if claim.unit not in taken and claim.key in missing():
            claims[:] = [one for one in claims if one.unit != claim.unit or one.key in asked]
            claims.append(claim)
            taken.add(claim.unit)

    # By exact wording alone, a coarse viewer who spoke in our own words beat a finer one who used
    # others.
    hints = []
    free = [place for place in range(len(each)) if place not in taken]
    for key in missing():
        kind = FACETS[key].type
        for place in free:
            unit, tongue = each[place]
            if not tongue.patterns("stems")[key].search(unit):
                continue
            value = None
            if kind in ("choice", "order"):
                value = _value(key, unit, tongue, duration_s)
            elif carried(unit, tongue) == kind:
                value = typed(key, place)
            if value is not None:
                hints.append(FactClaim(key, value, place))
    # What stands where its question stood comes first.
    order = list(asked)
    hints.sort(key=lambda one: abs(order.index(one.key) / len(order) - one.unit / len(each)))
    for claim in hints:
        take(claim)
    # By elimination: as many values of one type as open questions of that type.
    for kind in ("instant", "stretch", "colour", "colours", "count"):
        # With this 86 % of the sentences in a strange phrase book are read, without it 64 %.
        keys = [key for key in missing() if FACETS[key].type == kind]
        left = [place for place in range(len(each)) if place not in taken]
        units = [place for place in left if carried(*each[place]) == kind]
        # More values than questions, or fewer, leave open which belongs to which.
        if len(keys) != len(units):
            continue
        for key, place in zip(keys, units, strict=True):
            value = typed(key, place)
            if value is not None:
                take(FactClaim(key, value, place))
    return claims
