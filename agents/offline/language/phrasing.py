"""Questions and answers in prose: phrased from facets by phrase books, and understood again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, get_args

from videoautoarena.agents.offline.facets.table import (
    FACETS,
    NEVER,
    Facet,
    Stretch,
    Value,
    is_stretch,
    stretch,
)
from videoautoarena.agents.offline.language.reader import topics
from videoautoarena.agents.offline.language.tables import Dice, wording
from videoautoarena.agents.offline.language.tongues import (
    CODES,
    ENGLISH,
    SpokenLanguage,
    TimeStyle,
    clock,
    counted,
    number,
    told,
    tongue,
)

Format = Literal["table", "list", "json", "short"]
BOOKS = ("plain", "brisk", "chatty", "report")


@dataclass(frozen=True)
class PhraseBook:
    """One way of talking."""

    tongue: SpokenLanguage
    time: TimeStyle
    count: Literal["words", "digits"]
    leads: list[str]
    doubt: list[str]
    no_cut: list[str]
    says: dict[str, list[str]]
    sides: dict[str, dict[str, list[str]]]
    run: Sequence[str] = ()
    none: Sequence[str] = ()
    elsewhere: Sequence[str] = ()
    hook: Sequence[str] = ()
    """These four are said in dialogues, which are in English."""


@cache
def book(name: str, code: str = CODES[0]) -> PhraseBook:
    """Return the phrase book of that name in a language that is spoken."""
    held = wording("language", f"books/{name}", code)
    return PhraseBook(tongue=tongue(code), **held)


def say(key: str, value: Value | None, *, style: PhraseBook, dice: Dice) -> str:
    """Return a sentence that claims `value` for a facet, or admits that it is not known."""
    facet = FACETS[key]
    if value is None:
        return dice.one(style.doubt).format(label=style.tongue.label(key, facet.label))
    if value == NEVER:
        return dice.one(style.no_cut).format(label=style.tongue.label(key, facet.label))
    if facet.type == "choice":
        return dice.one(style.sides[key][str(value)])
    return dice.one(style.says[key]).format(**_slots(facet, value, style))


def say_run(colour: str, run: Stretch, *, style: PhraseBook, dice: Dice) -> str:
    """Return a sentence that says from when to when a colour has a fifth of the picture."""
    start, end = (clock(at, style=style.time, tongue=style.tongue) for at in run)
    named = {"c": style.tongue.name(colour), "C": capital(style.tongue.name(colour))}
    return dice.one(style.run).format(**named, a=start, b=end)


def say_none(colour: str, *, style: PhraseBook, dice: Dice) -> str:
    """Return a sentence that says that a colour never has a fifth of the picture."""
    return dice.one(style.none).format(c=style.tongue.name(colour))


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


def laid_out(
    sentences: list[tuple[str, str]],
    form: Format | None,
    *,
    lead: str,
    tongue: SpokenLanguage = ENGLISH,
) -> str:
    """Return (label, sentence) pairs in the asked format."""
    if form == "table":
        rows = [f"| {capital(label)} | {said} |" for label, said in sentences]
        return "\n".join([f"| {' | '.join(tongue.said['heading'])} |", "|---|---|", *rows])
    if form == "list":
        return "\n".join(f"- {said}" for _, said in sentences)
    if form == "json":
        return json.dumps(dict(sentences), indent=1, ensure_ascii=tongue is ENGLISH)
    said = " ".join(said for _, said in sentences)
    return f"{lead} {said}" if lead and form is None else said


def _slots(facet: Facet, value: Value, style: PhraseBook) -> dict[str, str]:
    words = style.tongue
    if is_stretch(value):
        a, b = (clock(at, style=style.time, tongue=words) for at in stretch(value))
        return {"t": a, "a": a, "b": b}
    if isinstance(value, int):
        plural = "" if value == 1 else str(words.said["plural"])
        return {"n": counted(value, style=style.count, tongue=words), "s": plural}
    if isinstance(value, str):
        return {"c": words.name(value)}
    named = [words.name(name) for name in value]
    if facet.type == "colours":
        return {"cs": str(words.said["then"]).join(named)}
    return dict(zip("xyz", named, strict=True))


SHORT_WORDS = 80
"""How many words a short answer may have when we ask for one."""
_FREELY = ("shots", "main_colour", "liveliest", "darkest")


@dataclass(frozen=True)
class FactRequest:
    """A question as understood."""

    keys: tuple[str, ...]
    fine: bool = False
    """Whether times are wanted to the tenth of a second."""
    form: Format | None = None
    words: int = SHORT_WORDS
    """Most words of an answer in the form "short"."""
    code: str = CODES[0]
    """Code of the language that the question is in."""

    @property
    def answered(self) -> tuple[str, ...]:
        """What a contestant speaks of: what was asked, or a little of everything."""
        return self.keys or _FREELY


@lru_cache(maxsize=256)
def understand(question: str) -> FactRequest:
    """Return the facets a question asks for, how fine, in which form, and in which language."""
    keys: list[str] = []
    question = " ".join(question.split())
    words = told(question)
    for part in words.pattern("between").split(question):
        keys += [key for key in topics(part, words) if key not in keys]
    form = next(
        (f for f in get_args(Format) if words.patterns("formats")[f].search(question)), None
    )
    limit = words.patterns("formats")["short"].search(question)
    most = number(limit[1], words) if limit else SHORT_WORDS
    return FactRequest(
        tuple(keys), bool(words.pattern("fine").search(question)), form, most, words.code
    )


def phrase(ask: FactRequest, dice: Dice) -> str:
    """Return a question that asks for exactly this, in its language."""
    joined = asked_for(ask.keys, dice, ask.code)
    lead: str = dice.one(wording("language", "questions", ask.code)["leads"])
    return " ".join((lead.format(q=joined, Q=capital(joined)), *asked_form(ask, dice)))


def asked_for(keys: Sequence[str], dice: Dice, code: str = CODES[0]) -> str:
    """Return the words that ask for these facets, in their order, without a beginning or end."""
    asks: dict[str, list[str]] = wording("language", "questions", code)["asks"]
    *parts, last = [dice.one(asks[key]) for key in keys]
    return ", ".join(parts) + str(tongue(code).said["and_last"]) + last if parts else last


def asked_form(ask: FactRequest, dice: Dice) -> list[str]:
    """Return the sentences that say how fine and in which form an answer is wanted."""
    words = wording("language", "questions", ask.code)
    said: list[str] = [dice.one(words["fine"])] if ask.fine else []
    return [*said, words["formats"][ask.form].format(n=ask.words)] if ask.form else said


def is_timed(keys: tuple[str, ...]) -> bool:
    return any(FACETS[key].is_timed for key in keys)
