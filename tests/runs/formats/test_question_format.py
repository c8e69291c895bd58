"""The form a question asks for, told from its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import videoautoarena.agents.offline
from videoautoarena.scoring.texts.traits import FORMS, asked_form

EXAMPLES = {
    "When does it rain? Please answer as JSON.": "JSON",
    "Give me a bulleted list of the cuts, in JSON.": "JSON",
    "Which scenes are there? Please set it out as a table.": "table",
    "Make a two-column table of times and colours.": "table",
    "Compare the two dancers in a Markdown table.": "table",
    "List the three darkest moments.": "list",
    "Could you list what she packs?": "list",
    "What happens? Use bullet points.": "list",
    "Explain the recipe in Markdown with headings.": "Markdown",
    "Who wins? Please use no more than 30 words.": "short",
    "What is he doing, in one sentence?": "short",
    "Briefly, why does the crowd leave?": "short",
    "Does the door open? Answer yes or no.": "short",
    "What stands on the table in the kitchen?": "none",
    "In which scene does he put a cup on a wooden table?": "none",
    "What does the price list on the wall say?": "none",
    "How does she explain the proof?": "none",
    "": "none",
}


@pytest.mark.parametrize(("question", "form"), EXAMPLES.items())
def test_a_question_asks_for(question: str, form: str) -> None:
    assert asked_form(question) == form


def test_what_the_offline_examiner_asks_for_is_recognised() -> None:
    words = json.loads(
        (
            Path(videoautoarena.agents.offline.__file__).parent / "language" / "questions.json"
        ).read_text()
    )
    for form, sentence in words["formats"].items():
        told = asked_form(f"When is it darkest? {sentence.format(n=30)}")
        assert told.lower() == form


def test_no_length_of_question_takes_the_rules_long() -> None:
    assert asked_form("as in a " * 20_000) in FORMS
