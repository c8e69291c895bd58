"""A reply in a dialogue is held against its checklist alone; a marking that fails is no "no"."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.asking import MODEL, Pages, Script, load_bytes, run
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.prompting.fences import attacked, attacks, open_fences
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.mark import ReplyWithChecklist, check_off
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import CallFailed

CASE = ReplyWithChecklist(
    "And after it?",
    "The goat drinks.",
    "A goat drinks water.",
    ("Does it name\na goat?", "Does it say that there is none?"),
)


def said(*answers: Any) -> str:
    return json.dumps({"items": [{"analysis": "so", "answer": one} for one in answers]})


def asked(*lines: str, case: ReplyWithChecklist = CASE) -> tuple[tuple[str, ...], Script]:
    script = Script(lines)
    prompter = Prompter(Asker(Pages(), load_bytes, make_client=script), PromptSet.load(bench=True))
    return run(check_off(prompter, MODEL, case=case, slot="set-q1:r2:a")), script


def test_each_item_is_answered_in_its_order() -> None:
    assert asked(said("yes", "no"))[0] == ("yes", "no")


@pytest.mark.parametrize("answers", [(), ("yes",), ("yes", "no", "no"), ("yes", "perhaps")])
def test_every_item_has_an_answer_and_no_other_has(answers: tuple[str, ...]) -> None:
    found, script = asked(said(*answers), said("no", "no"))
    assert found == ("no", "no")
    assert "items" in open_fences(script.seen[1].text)[1]["error"]
    with pytest.raises(CallFailed, match="checklist_marker gave no usable reply twice"):
        asked(said(*answers), said(*answers))


def test_the_marker_is_shown_the_case_and_neither_a_frame_nor_what_is_expected() -> None:
    _, script = asked(said("yes", "no"))
    sent = script.seen[0]
    assert sent.frames is None
    assert open_fences(sent.text)[1] == {
        "question": CASE.question,
        "reference": CASE.reference,
        "checklist": "1. Does it name a goat?\n2. Does it say that there is none?",
        "answer": CASE.reply,
    }


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_no_reply_leaves_its_fence(attack: Any) -> None:
    text = attacked(CASE.reply, attack, question=CASE.question)
    _, script = asked(
        said("yes", "no"), case=ReplyWithChecklist(CASE.question, "A.", text, CASE.items)
    )
    blocks = open_fences(script.seen[0].text)[1]
    assert blocks["answer"] == text
    assert blocks.keys() == {"question", "reference", "checklist", "answer"}
