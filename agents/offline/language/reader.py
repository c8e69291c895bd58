"""Finds the claims in prose that anybody may have written. Knows no phrase book."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from videoautoarena.agents.offline.facets.table import FACETS, NEVER, Facet, Value
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
"""Where JSON may begin is tried so often; a text of braces would else take for ever."""
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
        """The language of the units that claim something, else of all; None where none leads."""
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
        if i not in hedged
        for key, value in _exact(unit, tongue, duration_s)
    ]
    taken = hedged | {claim.unit for claim in claims if claim.key in asked}
    listener = _ClaimListener(units, tongues, taken, duration_s, claims, list(asked))
    listener.take_hints()
    listener.take_what_is_left()
    return HeardText(units, listener.claims, hedged, tongues)


def topics(text: str, tongue: SpokenLanguage = ENGLISH) -> list[str]:
    """Return the keys of the facets that the text names, the covered ones left out."""
    named = [key for key, pattern in tongue.patterns("topics").items() if pattern.search(text)]
    covered = {other for key in named for other in COVERS.get(key, ())}
    return [key for key in named if key not in covered]


def carried(unit: str, tongue: SpokenLanguage = ENGLISH) -> str | None:
    """Return which type of value a unit carries; None where it carries none, or several."""
    if given := len(times(unit, tongue)):
        return {1: "instant", 2: "stretch"}.get(given)
    if named := len(colours(unit, tongue)):
        return "colour" if named == 1 else "colours"
    return "count" if _plain_number(unit, tongue) is not None else None


def split_units(text: str) -> list[str]:
    """Return sentences, bullets, table rows and JSON pairs, each by itself."""
    pairs, rest = _json_pairs(text.replace("**", "").replace("__", ""))
    units = [f"{label}: {said}" for label, said in pairs]
    for line in rest.splitlines():
        # runs of blanks are folded: the patterns' time grows with the square of their length
        stripped = " ".join(line.split())
        if not re.search(r"\w", stripped) or stripped.startswith("```"):
            continue
        if stripped.startswith("|"):
            units.append(" : ".join(cell.strip() for cell in stripped.strip("|").split("|")))
        else:
            units += [u for u in _SENTENCE_END.split(_BULLET.sub("", stripped)) if u]
    return units


def _json_pairs(text: str) -> tuple[list[tuple[str, str]], str]:
    for start in islice(re.finditer(r"\{", text), _BRACES):
        try:
            found, end = json.JSONDecoder().raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            pairs = [(str(key), _flat(value)) for key, value in found.items()]
            return pairs, f"{text[: start.start()]}\n{text[end:]}"
    return [], text


def _flat(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _exact(unit: str, tongue: SpokenLanguage, duration_s: float) -> list[tuple[str, Value]]:
    keys = topics(unit, tongue)
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
        return _order(text, tongue)
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


def _order(text: str, tongue: SpokenLanguage) -> tuple[str, ...] | None:
    places = {
        name: match.start()
        for name, pattern in tongue.patterns("landmarks").items()
        if (match := pattern.search(text))
    }
    return tuple(sorted(places, key=lambda name: places[name])) if len(places) > 1 else None


@dataclass
class _ClaimListener:
    """Looks for what was asked and not yet heard, in units that nobody has claimed."""

    units: list[str]
    tongues: list[SpokenLanguage]
    taken: frozenset[int]
    duration_s: float
    claims: list[FactClaim]
    asked: list[str]

    @property
    def missing(self) -> list[str]:
        """What was asked and not heard, in the order asked."""
        have = {claim.key for claim in self.claims}
        return [key for key in self.asked if key not in have]

    @property
    def free(self) -> list[int]:
        """Units that hold no asked claim."""
        return [i for i in range(len(self.units)) if i not in self.taken]

    def take_hints(self) -> None:
        """Claim a unit for a facet it hints at, the least ambiguous unit first."""
        found = [
            FactClaim(key, value, i)
            for key in self.missing
            for i in self.free
            if (value := self._hinted(key, i)) is not None
        ]
        found.sort(key=lambda c: (sum(o.unit == c.unit for o in found), self._detour(c)))
        for claim in found:
            self._take(claim)

    def take_what_is_left(self) -> None:
        """Claim by elimination: as many values of one type as open questions of that type."""
        for kind in ("instant", "stretch", "colour", "colours", "count"):
            keys = [key for key in self.missing if FACETS[key].type == kind]
            units = [i for i in self.free if carried(self.units[i], self.tongues[i]) == kind]
            if keys and len(keys) == len(units):
                for key, i in zip(keys, units, strict=True):
                    value = self._typed(FACETS[key], i)
                    if value is not None:
                        self._take(FactClaim(key, value, i))

    def _hinted(self, key: str, place: int) -> Value | None:
        kind = FACETS[key].type
        unit = self.units[place]
        tongue = self.tongues[place]
        if not tongue.patterns("stems")[key].search(unit):
            return None
        if kind in ("choice", "order"):
            return _value(key, unit, tongue, self.duration_s)
        return self._typed(FACETS[key], place) if carried(unit, tongue) == kind else None

    def _typed(self, facet: Facet, place: int) -> Value | None:
        unit = self.units[place]
        tongue = self.tongues[place]
        if facet.type == "count":
            return _plain_number(without_times(unit, tongue), tongue)
        return _value(facet.key, unit, tongue, self.duration_s)

    def _detour(self, claim: FactClaim) -> float:
        """How far a unit stands from where its question stood."""
        asked_at = self.asked.index(claim.key) / len(self.asked)
        return abs(asked_at - claim.unit / len(self.units))

    def _take(self, claim: FactClaim) -> None:
        if claim.unit in self.taken or claim.key not in self.missing:
            return
        self.claims = [o for o in self.claims if o.unit != claim.unit or o.key in self.asked]
        self.claims.append(claim)
        self.taken |= {claim.unit}
