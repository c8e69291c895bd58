"""A kind of item that is cut stands in one table, and is known to all who need it."""

from __future__ import annotations

import re

import pytest

from tests.support.played import invoke
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import sought
from videoautoarena.agents.offline.players.answering import SEARCHES
from videoautoarena.agents.prompting.fences import OfferedOptions
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS, OPTIONS
from videoautoarena.runs.making.tasks.options import Stretch
from videoautoarena.runs.making.tasks.watched_items import WATCHED

LOOKS = [
    f"a {light} picture, mostly {colour} with some blue"
    for light in ("bright", "dark")
    for colour in ("red", "green")
]


def stretch(text: str) -> Stretch:
    """Return a stretch of nothing that is described so."""
    return Stretch(None, 0, 5, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", CUT_KINDS)
def test_a_question_of_each_kind_is_known_again_and_can_be_answered_offline(kind: str) -> None:
    cut = CUT_KINDS[kind]
    stretches = [stretch(text) for text in LOOKS[: cut.stretches(3)]]
    for seed in range(9):
        question, options, films = cut.build(stretches, [1, 2, 3, 4], Dice("kinds", str(seed)))
        assert len(options) == len(films) == OPTIONS
        wanted = sought(OfferedOptions(question, tuple(options)))
        assert wanted is not None
        assert wanted.kind == kind
    assert kind in SEARCHES


def test_every_way_to_answer_is_of_a_kind_that_is_made() -> None:
    assert SEARCHES.keys() == CUT_KINDS.keys()


def test_help_names_every_kind() -> None:
    said = " ".join(invoke("tasks", "make", "--help").output.split())
    *others, last = CUT_KINDS
    assert f"{', '.join(others)} and {last}, or topic" in said
    assert re.search(rf"{','.join(CUT_KINDS)}\b", said)


@pytest.mark.parametrize("kind", [*CUT_KINDS, *WATCHED])
def test_help_says_in_a_sentence_what_an_item_of_each_kind_asks(kind: str) -> None:
    assert f"({kind})" in invoke("tasks", "make", "--help").output
