"""A dialogue as it is being written, and whether it may be sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from videoautoarena.agents.offline.answers.answering import speak
from videoautoarena.agents.offline.language.checks import Gives, Within
from videoautoarena.agents.offline.language.turns import (
    At,
    ColourRun,
    Facts,
    Lead,
    UserTurn,
    read,
    word,
)
from videoautoarena.agents.offline.language.values import Dice, times
from videoautoarena.agents.offline.players.checklists import Item, is_met, items_of
from videoautoarena.agents.offline.players.leaks import Round, gathered, is_said
from videoautoarena.agents.offline.players.rounds import Search
from videoautoarena.agents.offline.players.viewers import listed
from videoautoarena.agents.prompting.fences import Turn

FEWEST = 5
"""Rounds of a dialogue."""
APART_S = 0.3
"""Two moments that lie closer are the same to who is asked."""
FEWEST_ITEMS = 4


class Thing(NamedTuple):
    """An object of the bank."""

    id: str
    name: str
    times: tuple[float, ...]
    """When it was seen."""


class Wish(NamedTuple):
    """What a dialogue is to be, as far as this examiner reads it."""

    ability: str
    turns: int
    asked: tuple[str, ...] = ()
    """What it may not ask again."""
    objects: tuple[Thing, ...] = ()

    def has_asked(self, turn: UserTurn) -> bool:
        """Return whether the same was asked before, in whatever words."""
        return any(_same(turn, read(text)) for text in self.asked)


class Plan(NamedTuple):
    """A round before it is worded."""

    turn: UserTurn
    lead: Lead = "next"
    is_scored: bool = False
    refers_to: int | None = None
    """Number of the round that names the moment its words point to."""
    meant_s: float | None = None
    """That moment."""


class Written(NamedTuple):
    """A round in words."""

    plan: Plan
    user: str
    assistant: str

    @property
    def turn(self) -> Turn:
        """What was said, as a history holds it."""
        return self.user, self.assistant


def is_fair(found: Search, draft: Sequence[Written], ability: str) -> bool:
    """Return whether each scored round shows what it is to show, and nothing gives it away."""
    scored = [number for number, one in enumerate(draft, 1) if one.plan.is_scored]
    return all(_is_fair_round(found, draft, number, ability) for number in scored)


def others_s(draft: Sequence[Written], number: int) -> list[float]:
    """Return the other moments that the words of round `number` could be taken to point to.

    Of an answer that names several those beside the one that is meant come first.
    """
    one = draft[number - 1]
    if one.plan.meant_s is None or one.plan.refers_to is None:
        return []
    near = draft[one.plan.refers_to - 1]
    said = [time_s for each in (near, *draft[: number - 1]) for time_s in times(each.assistant)]
    found: list[float] = []
    for time_s in said:
        if all(abs(time_s - other) > APART_S for other in (one.plan.meant_s, *found)):
            found.append(time_s)
    return found


def _is_fair_round(found: Search, draft: Sequence[Written], number: int, ability: str) -> bool:
    one = draft[number - 1]
    history = [each.turn for each in draft[: number - 1]]
    items = items_of(found, one.user, history)
    if read(one.user) != one.plan.turn or len(items) < FEWEST_ITEMS:
        return False
    shown = speak("examiner", found.left, one.user, history)
    if not is_met(items, one.assistant) or not is_met(items, shown):
        return False
    return _takes_history(found, draft, number, items) and not _is_leaked(
        draft, number, items, ability
    )


def _takes_history(
    found: Search, draft: Sequence[Written], number: int, items: Sequence[Item]
) -> bool:
    """Return whether who does not know which moment is meant gets it wrong."""
    one = draft[number - 1]
    turn = one.plan.turn
    if not isinstance(turn, Facts) or one.plan.meant_s is None:
        return True
    right = [item for item in items if item.is_yes]
    forgetful = speak("examiner", found.seen, one.user)
    if any(is_met([item], forgetful) for item in right):
        return False
    others = others_s(draft, number)
    dice = Dice("others", one.user)
    said = (speak("examiner", found.seen, word(turn.at(At(other_s)), dice)) for other_s in others)
    return bool(others) and not any(is_met(right, text) for text in said)


def _is_leaked(draft: Sequence[Written], number: int, items: Sequence[Item], ability: str) -> bool:
    """Return whether the rest of the dialogue gives an answer away."""
    if isinstance(draft[number - 1].plan.turn, ColourRun) and ability == "answer_refusal":
        return False
    right = [item for item in items if item.is_yes and isinstance(item.check, Within | Gives)]
    rest = [
        Round(one.user, None if place == number else one.assistant)
        for place, one in enumerate(draft, 1)
    ]
    text = " ".join(f"{one.user} {one.assistant or ''}" for one in rest)
    said = [is_said(item.check, text) for item in right]
    # A summary is of what nobody has said yet; else a colour may come up again.
    is_new = ability == "content_summary"
    if all(said) or (is_new and any(said)):
        return bool(right)
    return is_met(items, gathered(rest, draft[number - 1].user), only_yes=True)


def _same(one: UserTurn, other: UserTurn | None) -> bool:
    if isinstance(one, Facts) and isinstance(other, Facts):
        is_alike = set(one.ask.keys) == set(other.ask.keys)
        return is_alike and (one.part and one.part.side) == (other.part and other.part.side)
    return one == other


def read_wish(blocks: dict[str, str]) -> Wish:
    """Return what the slots of a dialogist want."""
    ability = blocks.get("ability", "").partition("\n")[0].strip()
    turns = blocks.get("turns", "").strip()
    count = int(turns) if turns.isdecimal() and len(turns) < 3 else FEWEST
    asked = [str(one) for one in listed(blocks.get("asked", ""))]
    return Wish(ability, max(FEWEST, count), (*asked, *_refused(blocks)), read_objects(blocks))


def _refused(blocks: dict[str, str]) -> list[str]:
    """Return what was asked by the scored rounds of the last try."""
    try:
        rounds = json.loads(blocks.get("refused", "") or "{}")["rounds"]
        return [str(one["user"]) for one in rounds if one["scored"] == "yes"]
    except (ValueError, TypeError, KeyError):
        return []


def read_objects(blocks: dict[str, str]) -> tuple[Thing, ...]:
    """Return the bank in a slot; nothing where it holds something else."""
    try:
        return tuple(
            Thing(str(one["id"]), str(one["name"]), tuple(float(s["time_s"]) for s in one["seen"]))
            for one in listed(blocks.get("objects", ""))
        )
    except (ValueError, TypeError, KeyError):
        return ()
