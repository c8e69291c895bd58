"""What a dialogue gives away of an answer that is left out, and what frames say to a user."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from videoautoarena.agents.offline.answers.answering import speak
from videoautoarena.agents.offline.facets.facet import Value
from videoautoarena.agents.offline.language.checks import Check, Gives, Overlaps, Within
from videoautoarena.agents.offline.language.phrasing import book, say
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import table
from videoautoarena.agents.offline.language.tongues import ENGLISH
from videoautoarena.agents.offline.language.turns import Beside, Facts, read, without_part
from videoautoarena.agents.offline.language.values import (
    Dice,
    colours,
    number,
    times,
    without_times,
)
from videoautoarena.agents.offline.players.checklists import history_of
from videoautoarena.agents.offline.vision.frame_features import COLOURS, Sent
from videoautoarena.agents.offline.vision.sequence import sight_of

NOTHING = "The dialogue does not say it."
_LENGTH_S = 1e4


class Round(NamedTuple):
    """What stands in a dialogue of one round."""

    user: str
    assistant: str | None
    """None where it is left out."""


def check_leak(blocks: dict[str, str]) -> dict[str, object]:
    """Return what the rest of a dialogue says to a question, or that it says nothing."""
    return {"answer": gathered(_rounds(blocks.get("dialogue", "")), blocks.get("question", ""))}


def answer_last(sent: Sent, blocks: dict[str, str]) -> dict[str, object]:
    """Return what these frames and what was said before say to the user."""
    question = blocks.get("question", "")
    return {"answer": speak("examiner", sight_of(sent), question, history_of(blocks))}


def gathered(rounds: Sequence[Round], question: str) -> str:
    """Return what a dialogue says to a question, with what is usual where it says only a part."""
    turn = read(question)
    if not isinstance(turn, Facts):
        return NOTHING
    known: dict[str, Value] = {}
    for part, asked, text in _statements(rounds, turn):
        if part == turn.part:
            heard = hear(text, _LENGTH_S).claims or hear(text, _LENGTH_S, asked).claims
            known |= {claim.key: claim.value for claim in heard}
    keys = turn.ask.answered
    if not known.keys() & set(keys):
        return NOTHING
    habits = table("answers", "priors")
    dice = Dice("leak", question)
    return " ".join(
        say(key, known[key], style=book("plain"), dice=dice) if key in known else str(habits[key])
        for key in keys
    )


def is_said(check: Check, text: str) -> bool:
    """Return whether the value of an item stands in a text, whatever words are around it."""
    if isinstance(check, Within | Overlaps):
        return any(check.a <= time_s <= check.b for time_s in times(text))
    if not isinstance(check, Gives):
        return False
    if check.value in COLOURS:
        return check.value in colours(text)
    if check.value.isdecimal():
        numbers = (number(found[1]) for found in ENGLISH.number.finditer(without_times(text)))
        return int(check.value) in numbers
    return re.search(rf"\b{re.escape(check.value)}\b", text, re.IGNORECASE) is not None


def _statements(
    rounds: Sequence[Round], turn: Facts
) -> Iterator[tuple[Beside | None, Sequence[str], str]]:
    """Yield which part each text of a dialogue speaks of, what it was asked, and the text."""
    for one in rounds:
        asked = read(one.user)
        part = asked.part if isinstance(asked, Facts) else None
        keys = asked.ask.keys if isinstance(asked, Facts) else ()
        # What a user says of a part before asking of it is taken to be said of that part; when
        # the part begins or ends says nothing of what is asked.
        yield part, (), without_part(one.user)
        yield part if keys else turn.part, keys, one.assistant or ""


def _rounds(text: str) -> list[Round]:
    try:
        return [Round(str(one["user"]), one["assistant"]) for one in json.loads(text or "[]")]
    except (ValueError, TypeError, KeyError):
        return []
