"""The offline examiner as it writes checklists, and as it checks those of others."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from videoautoarena.agents.offline.facets.table import Value, is_stretch, stretch
from videoautoarena.agents.offline.language.dialogues import (
    AbsenceCheck,
    BoredTurn,
    Check,
    ColourDenialCheck,
    ColourRunTurn,
    CounterQuestionCheck,
    FactsTurn,
    OffTopicTurn,
    OverlapCheck,
    TimeGivenCheck,
    TimeWindowCheck,
    ValueCheck,
    WordCheck,
    hear_answer,
    phrase_value,
    read,
    read_check,
    resolve,
    without_part,
    word_check,
)
from videoautoarena.agents.offline.language.phrasing import book, say
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import Dice, table
from videoautoarena.agents.offline.language.tongues import (
    ENGLISH,
    colours,
    number,
    times,
    without_times,
)
from videoautoarena.agents.offline.players.answering import hook_keys, speak
from videoautoarena.agents.offline.players.rounds import WRONG_S, DialogueFacts, search
from videoautoarena.agents.offline.vision.frame_features import COLOURS, ModelInput
from videoautoarena.agents.offline.vision.sequence import longest_run, most_of, sight_of
from videoautoarena.agents.prompting.fences import Turn

# As in MT-Video-Bench.
MOST_ITEMS = 5
MOST_WRONG = 2
NOTHING = "The dialogue does not say it."
_LENGTH_S = 1e4
"""Stands for the length of a video, which no dialogue gives: "near the start" then says no time."""
_NUMBER = re.compile(r"^\d+\. ")


class ChecklistItem(NamedTuple):
    """What is asked of an answer, and whether a right one does it."""

    check: Check
    is_yes: bool


def make_checklist(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return the questions by which an answer to the last thing said is marked."""
    found = search(sight_of(sent))
    question = blocks.get("question", "")
    items = items_of(found, question, history_of(blocks))
    dice = Dice("wording", question)
    return {
        "items": [
            {"question": word_check(one.check, dice), "answer": "yes" if one.is_yes else "no"}
            for one in items
        ]
    }


def validate_checklist(blocks: dict[str, str]) -> dict[str, object]:
    """Return what the reference says to each item, and which earlier one it says again."""
    lines = blocks.get("checklist", "").splitlines()
    checks = [read_check(_NUMBER.sub("", line)) for line in lines]
    answer = hear_answer(blocks.get("reference", ""), [check for check in checks if check])
    return {
        "items": [
            {
                "analysis": "I know this question." if check else "I cannot read this question.",
                "answer": "open" if check is None else "yes" if answer.meets(check) else "no",
                "repeats": checks.index(check) + 1 if check and check in checks[:place] else None,
            }
            for place, check in enumerate(checks)
        ]
    }


def history_of(blocks: dict[str, str]) -> tuple[Turn, ...]:
    """Return the rounds that stand in a role's slot; none if it holds something else."""
    try:
        said = json.loads(blocks.get("history", "") or "[]")
        return tuple((str(one["user"]), str(one["assistant"] or "")) for one in said)
    except (ValueError, TypeError, KeyError):
        return ()


def is_met(items: Sequence[ChecklistItem], text: str, *, only_yes: bool = False) -> bool:
    """Return whether an answer does what a right one does."""
    answer = hear_answer(text, [item.check for item in items])
    return all(
        answer.meets(item.check) is item.is_yes for item in items if item.is_yes or not only_yes
    )


def items_of(found: DialogueFacts, question: str, history: Sequence[Turn]) -> list[ChecklistItem]:
    """Return what is asked of an answer to a question, by what the frames show."""
    turn = read(question)
    dice = Dice("checklist", question, found.seen.key.hex())
    if isinstance(turn, ColourRunTurn):
        return _of_run(found, turn.colour, dice)
    if isinstance(turn, BoredTurn):
        facts = _of_facts(found, hook_keys(found.seen), dice)
        return [ChecklistItem(CounterQuestionCheck(), True), *facts][:MOST_ITEMS]
    if not isinstance(turn, FactsTurn):
        return []
    if turn.part is None:
        items = _of_facts(found, turn.ask.keys, dice)
        turns = (read(user) for user, _ in history[::-1])
        # Whoever still speaks of what was asked in between has not come back to the video.
        far = next((one for one in turns if isinstance(one, OffTopicTurn)), None)
        if far and len(items) < MOST_ITEMS:
            items.append(ChecklistItem(WordCheck(far.answer), False))
        return items
    at_s = resolve(turn.part, history)
    right: list[ChecklistItem] = []
    wrong: list[ChecklistItem] = []
    for key in turn.ask.keys:
        window = None if at_s is None else found.window(key, turn.part.side, at_s)
        if window is None:
            continue
        right.append(ChecklistItem(TimeWindowCheck(key, window.start_s, window.end_s), True))
        # who forgets which part was meant gives the extreme of the whole video instead
        whole_s = found.whole_s(key)
        if whole_s is not None and not window.holds(whole_s, margin_s=WRONG_S):
            start_s = max(0.0, whole_s - WRONG_S)
            wrong.append(ChecklistItem(TimeWindowCheck(key, start_s, whole_s + WRONG_S), False))
    return [*right, *wrong][:MOST_ITEMS]


def _of_facts(found: DialogueFacts, keys: Sequence[str], dice: Dice) -> list[ChecklistItem]:
    facts = [fact for key in keys if (fact := found.fact(key, dice))]
    right = [ChecklistItem(_claims(fact.key, fact.right), True) for fact in facts]
    wrong = [ChecklistItem(_claims(fact.key, fact.wrong), False) for fact in facts]
    return [*right, *dice.shuffled(wrong)[:MOST_WRONG]][:MOST_ITEMS]


def _claims(key: str, value: Value) -> Check:
    if is_stretch(value):
        return TimeWindowCheck(key, *stretch(value))
    return ValueCheck(key, phrase_value(value))


def _of_run(found: DialogueFacts, colour: str, dice: Dice) -> list[ChecklistItem]:
    run = longest_run(found.seen, colour)
    if run is None:
        most_s = most_of(found.seen, colour)
        near = OverlapCheck(max(0.0, most_s - 2 * WRONG_S), most_s + 2 * WRONG_S)
        right: list[Check] = [AbsenceCheck(), ColourDenialCheck(colour), WordCheck(colour)]
        return [
            *(ChecklistItem(check, True) for check in right),
            ChecklistItem(TimeGivenCheck(), False),
            ChecklistItem(near, False),
        ]
    # Both ends are asked for, so that an answer has to reach from the first third into the last.
    third_s = (run[1] - run[0]) / 3
    items = [
        ChecklistItem(WordCheck(colour), True),
        ChecklistItem(OverlapCheck(run[0], run[0] + third_s), True),
        ChecklistItem(OverlapCheck(run[1] - third_s, run[1]), True),
        ChecklistItem(AbsenceCheck(), False),
    ]
    # a stretch as long that lies well outside, where there is room for one
    lasts_s = max(run[1] - run[0], 2 * WRONG_S)
    apart_s = 4 * found.seen.gap_s + WRONG_S
    places = [
        start_s
        for start_s in (run[0] - apart_s - lasts_s, run[1] + apart_s)
        if 0 <= start_s <= found.seen.duration_s - lasts_s
    ]
    if places:
        start_s = dice.one(places)
        items.append(ChecklistItem(OverlapCheck(start_s, start_s + lasts_s), False))
    return items


class DialogueRound(NamedTuple):
    """One round as a dialogue shows it."""

    user: str
    assistant: str | None
    """None if the answer is left out."""


def check_leak(blocks: dict[str, str]) -> dict[str, object]:
    """Return what the rest of a dialogue says to a question, or that it says nothing."""
    try:
        said = json.loads(blocks.get("dialogue", "") or "[]")
        rounds = [DialogueRound(str(one["user"]), one["assistant"]) for one in said]
    except (ValueError, TypeError, KeyError):
        rounds = []
    return {"answer": gathered(rounds, blocks.get("question", ""))}


def answer_last(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return what these frames and what was said before say to the user."""
    question = blocks.get("question", "")
    return {"answer": speak("examiner", sight_of(sent), question, history_of(blocks))}


def gathered(rounds: Sequence[DialogueRound], question: str) -> str:
    """Return what a dialogue says to a question, with what is usual where it says only a part."""
    turn = read(question)
    if not isinstance(turn, FactsTurn):
        return NOTHING
    known: dict[str, Value] = {}

    def listen(text: str, asked: Sequence[str]) -> None:
        # By exact wording first: asked for single facts at once, `hear` takes any value for them,
        # and leaks caught fell from .97 to .75.
        heard = hear(text, _LENGTH_S).claims or hear(text, _LENGTH_S, asked).claims
        known.update({claim.key: claim.value for claim in heard})

    for one in rounds:
        asked = read(one.user)
        part = asked.part if isinstance(asked, FactsTurn) else None
        keys = asked.ask.keys if isinstance(asked, FactsTurn) else ()
        # What a user says of a part before asking of it is taken to be said of that part; when
        # the part begins or ends says nothing of what is asked.
        if part == turn.part:
            listen(without_part(one.user), ())
        if part == turn.part or not keys:
            listen(one.assistant or "", keys)
    keys = turn.ask.answered
    if not known.keys() & set(keys):
        return NOTHING
    habits = table("players", "priors")
    dice = Dice("leak", question)
    return " ".join(
        say(key, known[key], style=book("plain"), dice=dice) if key in known else str(habits[key])
        for key in keys
    )


def is_said(check: Check, text: str) -> bool:
    """Return whether the value of an item stands in a text, whatever words are around it."""
    # Of leaks in free words the reader caught none of 104; looking for the bare value caught all.
    if isinstance(check, TimeWindowCheck | OverlapCheck):
        return any(check.a <= time_s <= check.b for time_s in times(text))
    if not isinstance(check, ValueCheck):
        return False
    if check.value in COLOURS:
        return check.value in colours(text)
    if check.value.isdecimal():
        numbers = (
            number(found[1]) for found in ENGLISH.pattern("number").finditer(without_times(text))
        )
        return int(check.value) in numbers
    return re.search(rf"\b{re.escape(check.value)}\b", text, re.IGNORECASE) is not None
