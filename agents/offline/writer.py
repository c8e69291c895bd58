"""Puts what was measured into prose: phrase books as data, four formats. Reads nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from agents.offline.dice import Dice
from agents.offline.facets import NEVER, Facet, Value, is_stretch, stretch
from agents.offline.facts import FACETS
from agents.offline.words import TimeStyle, clock, counted

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
    says: dict[str, list[str]]
    sides: dict[str, dict[str, list[str]]]


@cache
def book(name: str) -> Book:
    """Return the phrase book of that name."""
    file = resources.files("agents.offline") / "books" / f"{name}.json"
    return Book(**json.loads(file.read_text("utf-8")))


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
