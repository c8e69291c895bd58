"""Small sets of dialogues made by hand, and a server's brain that speaks and marks in them.

Each round asks for a word, which its reference and the Yes items of its checklist name; its No
items name another word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from videoautoarena.agents.offline.language.dialogues import Check as OfAnswer
from videoautoarena.agents.offline.language.dialogues import TimeWindowCheck, word_check
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.prompting.contracts import FORMAT_LINE
from videoautoarena.agents.prompting.fences import history_in, open_fences, question_in
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.schema import Ability, Check, DialogueItem, Round

_WORD = re.compile(r"\b(?:heron|lamp)\d+\b")


def check(word: str, expected: str = "yes") -> Check:
    """Return an item that is yes of a reply that names a word."""
    return Check(text=f"Does the answer name {word}?", expected=expected)  # type: ignore[arg-type]


def turn(number: int, yes: int = 3, no: int = 2, **changed: Any) -> Round:
    """Return a round with so many Yes and No items; not scored where there are none."""
    items = [check(f"heron{number}")] * yes + [check(f"lamp{number}", "no")] * no
    made = {
        "user": f"What comes {number}th, after what you named before?",
        "reference": f"It is heron{number}.",
        "checklist": items,
        **changed,
    }
    return Round(**made)


def dialogue(
    video: str, place: int = 0, /, ability: Ability = "object_reference", **changed: Any
) -> DialogueItem:
    """Return a dialogue of three rounds, the last two scored; another `place` makes another."""
    rounds = [turn(10 * place + n, *([0, 0] if n == 1 else [])) for n in (1, 2, 3)]
    found = {"video_id": video, "ability": ability, "rounds": rounds, **changed}
    item = DialogueItem(**{"qid": "", **found})
    return item if item.qid else item.model_copy(update={"qid": item.own_qid()})


def spoken(
    video: str,
    place: int = 0,
    /,
    ability: Ability = "object_reference",
    *,
    last_alone: bool = False,
    **changed: Any,
) -> DialogueItem:
    """Return a dialogue in the words that stand-ins know, whose keys are made up.

    Its last two rounds are scored, or the last alone.
    """
    dice = Dice(video, place)
    first = "When is it brightest, and when is it darkest?"
    beside = "Counting only what comes after {}, when is the picture plainest?"
    turns = [
        (first, "It is brightest at 0:01.2 and darkest at 0:00.4.", False),
        (beside.format("the one you named second"), "It is plainest at 0:02.1.", not last_alone),
        (
            beside.format("the moment in your first answer"),
            f"It is plainest at {1 + place / 100:.2f} s.",
            True,
        ),
    ]
    gives: list[OfAnswer] = [TimeWindowCheck("plainest", k / 2, k / 2 + 0.5) for k in range(4)]
    rounds = [
        Round(
            user=user,
            reference=reference,
            checklist=[
                Check(text=word_check(one, dice), expected="yes" if one is gives[k] else "no")
                for one in gives
            ]
            if is_scored
            else [],
        )
        for k, (user, reference, is_scored) in enumerate(turns)
    ]
    return dialogue(video, place, ability, rounds=rounds, **changed)


def write_dialogues(
    folder: Path, items: Sequence[DialogueItem], *, videos: Path | None = None
) -> OpenBench[DialogueItem]:
    """Write a set and return it; with a folder of videos, ids are those of its files."""
    from tests.support.task_sets import write_items

    write_items(folder, items, "dialogue", videos=videos)
    return open_bench(folder)


def speaker(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Return what a model of this server says.

    `judge` marks by the words that stand in the reply. `able` names the word that is asked for,
    `silent` none, `wrong` the other one, `failing` only thinks where it is asked to fail, and any
    other name is like `able`.
    """
    text = str(messages[-1].content_blocks[-1].get("text", ""))
    if FORMAT_LINE in text:
        return _reply(json.dumps({"items": _marks(text)}), len(text))
    if model == "failing" and "fail" in question_in(text):
        return _reply("<think>I had better not.</think>", len(text))
    number = re.search(r"\d+", question_in(text))
    named = "lamp" if model == "wrong" else "heron"
    said = "I would not know." if model == "silent" else f"It is {named}{number and number[0]}."
    return _reply(f"{said} That is after {len(history_in(text))}.", len(text))


def _marks(text: str) -> list[dict[str, str]]:
    blocks = open_fences(text)[1]
    words = set(_WORD.findall(blocks["answer"]))
    return [
        {"analysis": "Read.", "answer": "yes" if words & set(_WORD.findall(line)) else "no"}
        for line in blocks["checklist"].splitlines()
    ]


def _reply(said: str, read: int) -> AIMessage:
    usage = {"input_tokens": read // 4, "output_tokens": 20, "total_tokens": read // 4 + 20}
    return AIMessage.model_validate({"content": said, "usage_metadata": usage})
