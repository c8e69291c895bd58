"""Questions: phrased from facets, and understood back into them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, get_args

from agents.offline.dice import Dice
from agents.offline.facts import FACETS
from agents.offline.reader import topics
from agents.offline.words import NUMBER, number
from agents.offline.writer import Format

SHORT_WORDS = 80
"""How many words a short answer may have when we ask for one."""

_STARTS = (
    r"(?=(?:when|where|how|which|what|in what|in which|from when|does|do|did|is|are|at what)\b)"
)
_BETWEEN = re.compile(
    rf"[?;]|\.(?=\s|$)|,\s+(?:and\s+)?{_STARTS}|\s+and\s+{_STARTS}", re.IGNORECASE
)
_FORMATS: dict[Format, re.Pattern[str]] = {
    "table": re.compile(r"\btable\b", re.IGNORECASE),
    "json": re.compile(r"\bJSON\b", re.IGNORECASE),
    "short": re.compile(rf"(?:no more than|at most|within) {NUMBER} words", re.IGNORECASE),
    "list": re.compile(r"\blist\b|\bbullet", re.IGNORECASE),
}
_FINE = re.compile(r"\btenths?\b|\bexact(ly)?\b|\bprecise", re.IGNORECASE)
_FREELY = ("shots", "main_colour", "liveliest", "darkest")


@dataclass(frozen=True)
class Ask:
    """A question as understood."""

    keys: tuple[str, ...]
    fine: bool = False
    """Whether times are wanted to the tenth of a second."""
    form: Format | None = None
    words: int = SHORT_WORDS
    """At most so many, when the form is "short"."""

    @property
    def answered(self) -> tuple[str, ...]:
        """What a contestant speaks of: what was asked, or a little of everything."""
        return self.keys or _FREELY


def understand(question: str) -> Ask:
    """Return the facets a question asks for, how fine, and in which form."""
    keys: list[str] = []
    question = " ".join(question.split())
    for part in _BETWEEN.split(question):
        keys += [key for key in topics(part) if key not in keys]
    form = next((f for f in get_args(Format) if _FORMATS[f].search(question)), None)
    limit = _FORMATS["short"].search(question)
    words = number(limit[1]) if limit else SHORT_WORDS
    return Ask(tuple(keys), bool(_FINE.search(question)), form, words)


def phrase(ask: Ask, dice: Dice) -> str:
    """Return a question that asks for exactly this."""
    wording = _wording()
    parts = [dice.one(wording["asks"][key]) for key in ask.keys]
    joined = ", ".join(parts[:-1]) + ", and " + parts[-1] if len(parts) > 1 else parts[0]
    said: str = dice.one(wording["leads"]).format(q=joined, Q=joined[0].upper() + joined[1:])
    if ask.fine:
        said += " " + dice.one(wording["fine"])
    if ask.form:
        said += " " + wording["formats"][ask.form].format(n=ask.words)
    return said


def is_timed(keys: tuple[str, ...]) -> bool:
    """Return whether any of these facets is answered by a time."""
    return any(FACETS[key].is_timed for key in keys)


@cache
def _wording() -> dict[str, Any]:
    file = resources.files("agents.offline") / "questions.json"
    wording: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return wording
