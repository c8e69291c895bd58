"""Questions and answers in prose: phrased from facets by phrase books, and understood again."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from videoautoarena.agents.offline.facets.facet import (
    NEVER,
    Facet,
    Stretch,
    Value,
    is_stretch,
    stretch,
)
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.reader import topics
from videoautoarena.agents.offline.language.values import (
    NUMBER,
    Dice,
    TimeStyle,
    clock,
    counted,
    number,
    table,
)

Format = Literal["table", "list", "json", "short"]
BOOKS = ("plain", "brisk", "chatty", "report")


@dataclass(frozen=True)
class Book:
    """One way of talking."""

    time: TimeStyle
    count: Literal["words", "digits"]
    leads: list[str]
    doubt: list[str]
    no_cut: list[str]
    run: list[str]
    none: list[str]
    elsewhere: list[str]
    hook: list[str]
    says: dict[str, list[str]]
    sides: dict[str, dict[str, list[str]]]


@cache
def book(name: str) -> Book:
    return Book(**table("language/books", name))


def say(key: str, value: Value | None, *, style: Book, dice: Dice) -> str:
    """Return a sentence that claims `value` for a facet, or admits that it is not known."""
    facet = FACETS[key]
    if value is None:
        return dice.one(style.doubt).format(label=facet.label)
    if value == NEVER:
        return dice.one(style.no_cut).format(label=facet.label)
    if facet.type == "choice":
        return dice.one(style.sides[key][str(value)])
    return dice.one(style.says[key]).format(**_slots(facet, value, style))


def say_run(colour: str, run: Stretch, *, style: Book, dice: Dice) -> str:
    """Return a sentence that says from when to when a colour has a fifth of the picture."""
    start, end = (clock(at, style=style.time) for at in run)
    named = {"c": colour, "C": colour.capitalize()}
    return dice.one(style.run).format(**named, a=start, b=end)


def say_none(colour: str, *, style: Book, dice: Dice) -> str:
    """Return a sentence that says that a colour never has a fifth of the picture."""
    return dice.one(style.none).format(c=colour)


def say_elsewhere(answer: str, *, style: Book, dice: Dice) -> str:
    """Return a sentence that gives the answer to what is asked beside the video."""
    return dice.one(style.elsewhere).format(answer=answer, Answer=capital(answer))


def say_hook(one: str, two: str, *, style: Book, dice: Dice) -> str:
    """Return two sentences about the video with a question to a user who has lost interest."""
    return dice.one(style.hook).format(one=one, two=two)


def capital(text: str) -> str:
    """Return the text with its first letter as a sentence begins."""
    return text[:1].upper() + text[1:]


def phrased(value: Value | None) -> str:
    """Return the bare value, as it stands in a referee's remark."""
    if value is None:
        return "no telling"
    if is_stretch(value):
        start, end = stretch(value)
        if start < 0:
            return "no such cut"
        return clock(start) if start == end else f"{clock(start)} to {clock(end)}"
    return ", then ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def laid_out(sentences: list[tuple[str, str]], form: Format | None, *, lead: str) -> str:
    """Return (label, sentence) pairs in the asked format."""
    if form == "table":
        rows = [f"| {label.capitalize()} | {said} |" for label, said in sentences]
        return "\n".join(["| What was asked | What I saw |", "|---|---|", *rows])
    if form == "list":
        return "\n".join(f"- {said}" for _, said in sentences)
    if form == "json":
        return json.dumps(dict(sentences), indent=1)
    said = " ".join(said for _, said in sentences)
    return f"{lead} {said}" if lead and form is None else said


def _slots(facet: Facet, value: Value, style: Book) -> dict[str, str]:
    if is_stretch(value):
        start, end = stretch(value)
        a, b = clock(start, style=style.time), clock(end, style=style.time)
        return {"t": a, "a": a, "b": b}
    if isinstance(value, int):
        return {"n": counted(value, style=style.count), "s": "" if value == 1 else "s"}
    if isinstance(value, str):
        return {"c": value}
    if facet.type == "colours":
        return {"cs": " to ".join(str(c) for c in value)}
    return dict(zip("xyz", (str(name) for name in value), strict=True))


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
    joined = asked_for(ask.keys, dice)
    lead: str = dice.one(table("language", "questions")["leads"])
    return " ".join((lead.format(q=joined, Q=capital(joined)), *asked_form(ask, dice)))


def asked_for(keys: Sequence[str], dice: Dice) -> str:
    """Return the words that ask for these facets, in their order, without a beginning or end."""
    asks: dict[str, list[str]] = table("language", "questions")["asks"]
    *parts, last = [dice.one(asks[key]) for key in keys]
    return ", ".join(parts) + ", and " + last if parts else last


def asked_form(ask: Ask, dice: Dice) -> list[str]:
    """Return the sentences that say how fine and in which form an answer is wanted."""
    wording = table("language", "questions")
    said: list[str] = [dice.one(wording["fine"])] if ask.fine else []
    return [*said, wording["formats"][ask.form].format(n=ask.words)] if ask.form else said


def is_timed(keys: tuple[str, ...]) -> bool:
    return any(FACETS[key].is_timed for key in keys)
