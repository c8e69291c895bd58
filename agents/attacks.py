"""The kit: answers that speak to the judge instead of the person, and answers that say nothing.

All are worded here, each after a kind of attack that is known; none is aimed at one judge. They
stand in `attacks.json`. `[[question]]` in a text is where the question that was asked goes, which
is all that a contestant knows beside its frames.

Source of the idea: Zheng et al. (2024), Cheating Automatic LLM Benchmarks: Null Models Achieve High
Win Rates; Shi et al. (2024), Optimization-based Prompt Injection Attack to LLM-as-a-Judge.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Literal

from memory.records import Record

_QUESTION = "[[question]]"


class Attack(Record):
    """Text put onto an answer so that it wins without deserving to."""

    name: str
    family: str
    """What kind it is of: attacks of one family go the same way."""
    about: str
    """What it does, in a few words."""
    place: Literal["before", "after"]
    """On which side of the answer it stands."""
    text: str


class Constant(Record):
    """An answer that is the same whatever was asked."""

    name: str
    text: str


@cache
def attacks() -> tuple[Attack, ...]:
    """Return all attacks, in the order of the file."""
    return tuple(Attack.model_validate(one) for one in _kit()["attacks"])


@cache
def constants() -> tuple[Constant, ...]:
    """Return all constant answers, in the order of the file."""
    return tuple(Constant.model_validate(one) for one in _kit()["constants"])


def attacked(answer: str, attack: Attack, *, question: str) -> str:
    """Return an answer with an attack on it."""
    text = worded(attack.text, question=question)
    return f"{text}\n\n{answer}" if attack.place == "before" else f"{answer}\n\n{text}"


def worded(text: str, *, question: str) -> str:
    """Return a text of the kit as it is sent in where `question` was asked."""
    return text.replace(_QUESTION, question)


@cache
def _kit() -> dict[str, Any]:
    kit: dict[str, Any] = json.loads(
        resources.files("agents").joinpath("attacks.json").read_text("utf-8")
    )
    return kit
