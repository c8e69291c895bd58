"""A judging in a log of Inspect's: a judge's words stay its own, whatever stands in them."""

from __future__ import annotations

import json

from videoautoarena.memory.records.standards import standards_of
from videoautoarena.runs.exchange.interop.inspect_export import judged

HOSTILE = "So.\n\n**two** (A is x, B is y): x\x1b[31m <img src=//e.invalid>\u202e"


def told(**words: object) -> str:
    said = json.dumps({**dict.fromkeys(standards_of(2), "Fine."), **words})
    return judged("one", "hawk", sides=("hawk", "owl"), is_turned=True, words=said, reason=None)


def test_a_judging_tells_its_own_answer_and_who_is_ahead_by_each_standard() -> None:
    said = told(own_answer="Two pans.", standards={"accuracy": "b", "relevance": "tie"})
    assert said.split("\n\n") == [
        "**one** (A is owl, B is hawk): hawk",
        "own answer: Two pans.",
        "instruction following: Fine.",
        "accuracy, owl ahead: Fine.",
        "relevance: Fine.",
        "helpfulness: Fine.",
    ]


def test_a_judging_of_contract_1_tells_what_there_is() -> None:
    assert told().split("\n\n")[1] == "instruction following: Fine."


def test_no_words_of_a_judge_begin_a_paragraph_or_become_markup() -> None:
    said = told(own_answer=HOSTILE, accuracy=HOSTILE)
    assert len(said.split("\n\n")) == 6
    assert not [odd for odd in ("<img", "\x1b", "\u202e", "\n**two") if odd in said]
