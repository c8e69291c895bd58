"""Dialogues that were spoilt on purpose are refused, each for what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.written_dialogues import Rounds, good, written
from videoautoarena.agents.roles.write_dialogue import Item, Validated
from videoautoarena.graph.dialogue_checks import (
    Frame,
    checklist_fault,
    find_fault,
    kept_items,
    scored,
)
from videoautoarena.graph.leaks import is_given_away

BANK = {"o1": "red kettle", "o2": "blue cup"}
ABILITIES = (
    "object_reference", "memory_recall", "content_summary", "answer_refusal", "refusal_twin",
    "topic_shifting", "proactive_interaction",
)  # fmt: skip
Spoil = Callable[[Rounds, int], tuple[Rounds, str]]


def frame(ability: str) -> Frame:
    return Frame(ability, bank=BANK, asked=["What was asked elsewhere?"])


def _last(rounds: Rounds, **change: Any) -> Rounds:
    return [*rounds[:-1], rounds[-1].model_copy(update=change)]


COMMON: tuple[Spoil, ...] = (
    lambda rounds, _: (rounds[-4:], "rounds"),
    lambda rounds, _: (
        [written(f"Number {n}?", "Yes it is.") for n in range(9 - len(rounds))] + rounds, "rounds",
    ),
    lambda rounds, _: (_last(rounds, user="?"), "length"),
    lambda rounds, _: (_last(rounds, assistant="x" * 2_001), "length"),
    lambda rounds, _: ([rounds[0], rounds[0], *rounds[2:]], "repeated"),
    lambda rounds, _: (_last(rounds, scored="no"), "unscored"),
    lambda rounds, _: (_last(rounds, refers_to=len(rounds)), "refers"),
    lambda rounds, _: (_last(rounds, objects=("o9",)), "object"),
    lambda rounds, _: (_last(rounds, user="what was ASKED, elsewhere"), "asked"),
)  # fmt: skip
OWN: dict[str, tuple[Spoil, ...]] = {
    "object_reference": (
        lambda rounds, _: (_last(rounds, objects=()), "object"),
        lambda rounds, _: (_last(rounds, refers_to=None), "refers"),
        lambda rounds, _: (_last(rounds, user="What of the red kettle now?"), "mention"),
        lambda rounds, _: (_last(rounds, explicit=rounds[-1].user.upper()), "mention"),
        lambda rounds, _: (_last(rounds, others=()), "referents"),
    ),
    "memory_recall": (
        lambda rounds, _: (_last(rounds, refers_to=None), "refers"),
        lambda rounds, _: (_last(rounds, user="In your third answer: when is it?"), "recall"),
        lambda rounds, _: (_last(rounds, user="And when does somebody touch it?"), "recall"),
        lambda rounds, _: (_last(rounds, explicit=""), "mention"),
    ),
    "content_summary": (
        lambda rounds, _: ([rounds[-1], *rounds[:-1]], "summary"),
        lambda rounds, _: (
            [rounds[0].model_copy(update={"scored": "yes"}), *rounds[1:]], "summary",
        ),
    ),
    "answer_refusal": (lambda rounds, _: (_last(rounds, assistant="From 3 s to 8 s."), "refusal"),),
    "refusal_twin": (
        lambda rounds, _: (_last(rounds, assistant="That never comes."), "refusal"),
    ),
    "topic_shifting": (
        lambda rounds, _: ([one.model_copy(update={"about": "video"}) for one in rounds], "shift"),
        lambda rounds, _: (
            [rounds[0], rounds[1].model_copy(update={"about": "video"}), *rounds[2:]], "shift",
        ),
        lambda rounds, _: (
            [rounds[0].model_copy(update={"scored": "yes"}), *rounds[1:]], "shift",
        ),
        lambda rounds, _: (_last(rounds, about="elsewhere"), "unscored"),
    ),
    "proactive_interaction": (
        lambda rounds, _: (_last(rounds, assistant="At 12.0 s the lid flies off."), "question"),
    ),
}  # fmt: skip


def spoilt(ability: str) -> Iterator[tuple[Rounds, str]]:
    """Yield 50 at least."""
    for number in range(8):
        for spoil in (*COMMON, *OWN[ability]):
            yield spoil(good(ability, number), number)


@pytest.mark.parametrize("ability", ABILITIES)
def test_each_of_fifty_spoilt_dialogues_is_refused_for_what_was_done_to_it(ability: str) -> None:
    for number in range(8):
        assert find_fault(good(ability, number), frame(ability)) is None
    cases = list(spoilt(ability))
    assert len(cases) >= 50
    for rounds, reason in cases:
        fault = find_fault(rounds, frame(ability))
        assert (fault and fault.reason) == reason


YES, NO = Item("Does it put it between 0:11 and 0:13?", True), Item("Does it say 0:44?", False)
GONE = Item("Does it say that this is not in the video?", True)


@pytest.mark.parametrize(
    ("ability", "items", "reason"),
    [
        ("memory_recall", [YES, NO], None),
        ("memory_recall", [YES], "items"),
        ("memory_recall", [YES, GONE], "balance"),
        ("memory_recall", [NO, NO._replace(text="Does it say 3?")], "balance"),
        ("answer_refusal", [GONE, NO], None),
        ("answer_refusal", [GONE._replace(is_yes=False), YES], "refusal"),
        ("answer_refusal", [YES, NO], "refusal"),
        ("refusal_twin", [GONE, NO], "refusal"),
        ("refusal_twin", [GONE._replace(is_yes=False), YES], None),
        ("content_summary", [YES, NO], "summary"),
    ],
)
def test_a_checklist_asks_for_both_and_points_the_right_way(
    ability: str, items: list[Item], reason: str | None
) -> None:
    rounds = good(ability, 0)
    fault = checklist_fault(items, rounds, scored(rounds)[-1], ability=ability)
    assert (fault and fault.reason) == reason


def test_items_stay_that_the_reference_settles_and_no_other_says_again() -> None:
    again = YES._replace(text=YES.text.upper())
    items = [YES, again, NO, GONE, GONE._replace(text="Is it open, at all?")]
    said = [Validated(True, None), Validated(True, None), Validated(False, None)]
    said += [Validated(None, None), Validated(True, 1)]
    assert kept_items(items, said) == (YES, NO)


@pytest.mark.parametrize(
    ("rest", "is_given"),
    [
        (["It is darkest at 0:12.4."], True),
        (["Nobody looks up about twelve seconds in."], True),
        (["It comes around 12."], True),
        (["Twelve lamps hang there."], False),
        (["It is darkest at 0:20.0."], False),
        ([], False),
    ],
)
def test_a_value_leaks_in_whatever_words_are_around_it(rest: list[str], is_given: bool) -> None:
    yes = ["Does the answer put the darkest moment between 0:11.0 and 0:13.0?"]
    assert is_given_away(yes, "When is it darkest?", rest) is is_given
