"""Answers a question from what the frames show. All kinds that look share one code."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from agents.attacks import Attack, attacked, attacks
from agents.offline.dice import Dice
from agents.offline.facts import FACETS
from agents.offline.questions import Ask, understand
from agents.offline.sent import Sent
from agents.offline.sights import sight_of
from agents.offline.writer import BOOKS, book, laid_out, say


def answer(kind: str, sent: Sent) -> str:
    """Return what a contestant of that kind says to what it was sent."""
    if kind == "parrot":
        return str(_data("manners")["parrot"])
    plain = _plain_answer(sent)
    if kind == "windbag":
        return _padded(plain, Dice("padding", sent.question))
    if kind == "trickster":
        return attacked(plain, _attack_on(sent), question=sent.question, contracts=1)
    return plain


def _attack_on(sent: Sent) -> Attack:
    """Return an attack of the kit; which one follows from all that was sent."""
    return Dice("attack", sent.question, *(p.digest.hex() for p in sent.pictures)).one(attacks())


def _plain_answer(sent: Sent) -> str:
    """Speak of every frame that was sent; without any, of what is usual."""
    ask = understand(sent.question)
    dice = Dice("answer", sent.question)
    style = book(dice.one(BOOKS))
    lead = dice.one(style.leads)
    if not sent.pictures:
        return laid_out(_from_habit(ask), ask.form, lead=lead)
    seen = sight_of(sent)
    sentences = [
        (facet.label, say(facet.key, facet.measure(seen), style=style, dice=dice))
        for facet in (FACETS[key] for key in ask.answered)
    ]
    return laid_out(sentences, ask.form, lead=lead)


def _from_habit(ask: Ask) -> list[tuple[str, str]]:
    priors = _data("priors")
    return [(FACETS[key].label, str(priors[key])) for key in ask.answered]


def _padded(plain: str, dice: Dice) -> str:
    """Return the same answer between sentences that say nothing."""
    before, between, after, last, _ = dice.shuffled(_data("manners")["padding"])
    gap = "\n\n" if plain[0] in "|-{" else " "
    return f"{before} {between}{gap}{plain}{gap}{after} {last}"


@cache
def _data(name: str) -> dict[str, Any]:
    file = resources.files("agents.offline") / f"{name}.json"
    data: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return data
