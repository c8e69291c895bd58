"""Dialogues that were spoilt on purpose are refused, each for what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.written_dialogues import Rounds, good, written
from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion, ItemValidation
from videoautoarena.graph.dialogue_checks import (
    FALLS,
    DialogueRequirements,
    checklist_fault,
    find_fault,
    gives_away,
    kept_items,
    says_nothing,
    scored,
)

BANK = {"o1": "red kettle", "o2": "blue cup"}
ABILITIES = (
    "object_reference", "memory_recall", "content_summary", "answer_refusal", "refusal_twin",
    "topic_shifting", "proactive_interaction",
)  # fmt: skip
Spoil = Callable[[Rounds, int], tuple[Rounds, str]]


def frame(ability: str) -> DialogueRequirements:
    return DialogueRequirements(ability, bank=BANK, asked=["What was asked elsewhere?"])


def _last(rounds: Rounds, **change: Any) -> Rounds:
    return [*rounds[:-1], rounds[-1].model_copy(update=change)]


COMMON: tuple[Spoil, ...] = (
    lambda _, __: ([], "unwritten"),
    lambda rounds, _: (rounds[-4:], "rounds"),
    lambda rounds, _: (
        [written(f"Number {n}?", "Yes it is.") for n in range(9 - len(rounds))] + rounds, "rounds",
    ),
    lambda rounds, _: (_last(rounds, user="?"), "length"),
    lambda rounds, _: (_last(rounds, assistant="x" * 2_001), "length"),
    lambda rounds, _: (_last(rounds, explicit="x" * 1_001), "length"),
    lambda rounds, _: (_last(rounds, others=("It?", "x" * 1_001)), "length"),
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
        lambda rounds, _: (_last(rounds, user="And what of those kettles?"), "mention"),
        lambda rounds, _: (_last(rounds, others=()), "referents"),
        lambda rounds, _: (_last(rounds, others=(rounds[-1].explicit.upper(),)), "referents"),
    ),
    "memory_recall": (
        lambda rounds, _: (_last(rounds, refers_to=None), "refers"),
        lambda rounds, _: (_last(rounds, user="In your third answer: when is it?"), "recall"),
        lambda rounds, _: (_last(rounds, user="In your last answer: when is it?"), "recall"),
        lambda rounds, _: (_last(rounds, user="And when does somebody touch it?"), "recall"),
        lambda rounds, _: (_last(rounds, user="What is it like at the start?"), "recall"),
        lambda rounds, _: (_last(rounds, user="Does the round thing come back?"), "recall"),
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
        lambda rounds, _: (
            [*rounds[:2], rounds[2].model_copy(update={"scored": "yes"})]
            + [one.model_copy(update={"about": "elsewhere", "scored": "no"}) for one in rounds[3:]],
            "shift",
        ),
        lambda rounds, _: (
            [rounds[0], *(one.model_copy(update={"refers_to": 1}) for one in rounds[1:])], "shift",
        ),
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


def test_words_that_name_nothing_and_bored_users_are_no_fault() -> None:
    rounds = _last(good("object_reference", 0), user="And what of the second thing you named?")
    vague = DialogueRequirements("object_reference", bank={"o1": "small dark thing"})
    assert find_fault(rounds, vague) is None
    bored = _last(good("proactive_interaction", 0), about="elsewhere")
    assert find_fault(bored, frame("proactive_interaction")) is None


def test_what_stands_anywhere_but_in_the_answer_itself_is_given_away() -> None:
    rounds = good("topic_shifting", 0)
    rounds[2] = rounds[2].model_copy(update={"assistant": "At 12.0 s.", "scored": "yes"})
    rounds[4] = rounds[4].model_copy(update={"assistant": "At 30.0 s."})
    assert not gives_away([YES, NO], rounds, 3)
    for change in ({"user": "What follows after 12.0 s?"}, {"assistant": "Later than 12.0 s."}):
        assert gives_away([YES, NO], _last(rounds, **change), 3)


YES = ChecklistQuestion("Does it put it between 0:11 and 0:13?", True)
NO = ChecklistQuestion("Does it say 0:44?", False)
GONE = ChecklistQuestion("Does it say that this is not in the video?", True)
KETTLE, SPOON = (ChecklistQuestion(f"Does it name a {name}?", True) for name in ("kettle", "spoon"))


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
        ("content_summary", [YES, KETTLE, NO], "summary"),
        ("content_summary", [YES, KETTLE, SPOON, NO], None),
        ("memory_recall", [YES, *[NO] * 4], None),
        ("memory_recall", [NO, *[YES] * 4], None),
    ],
)
def test_a_checklist_asks_for_both_and_points_the_right_way(
    ability: str, items: list[ChecklistQuestion], reason: str | None
) -> None:
    rounds = good(ability, 0)
    fault = checklist_fault(items, rounds, scored(rounds)[-1], ability=ability)
    assert (fault and fault.reason) == reason


def test_items_stay_that_the_reference_settles_and_no_other_says_again() -> None:
    again = YES._replace(text=YES.text.upper())
    items = [YES, again, NO, GONE, GONE._replace(text="Is it open, at all?")]
    said = [ItemValidation(True, None), ItemValidation(True, None), ItemValidation(False, None)]
    said += [ItemValidation(None, None), ItemValidation(True, 1)]
    assert kept_items(items, said) == (YES, NO)


def test_an_item_that_repeats_one_that_fell_stays() -> None:
    items = [GONE, YES, NO]
    again = YES._replace(text="Is it put there at 0:12?")
    said = [ItemValidation(None, None), ItemValidation(True, 1), ItemValidation(False, 3)]
    assert kept_items(items, said) == (YES, NO)
    assert kept_items([YES, again], [ItemValidation(True, 2), ItemValidation(True, 1)]) == (YES,)


BACK = (
    "In your second answer you named a lamp: when is it lit?",
    "What did you say in answer number 2 of the lamp?",
    "Going back to what you said about the lamp: when is it lit?",
    "The lamp we talked about, when is it lit?",
    "Earlier you mentioned a lamp. When is it lit?",
    "You named a lamp at the start of our talk; when is it lit?",
    "What I asked second: when is it lit?",
    "The one named before: when is it lit?",
)


@pytest.mark.parametrize("words", BACK)
def test_a_recall_may_name_its_round_in_many_words(words: str) -> None:
    rounds = _last(good("memory_recall", 0), user=words)
    assert find_fault(rounds, frame("memory_recall")) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The dialogue does not say it.", True),
        ("Nothing in it says when. That cannot be told.", True),
        ("It isn't mentioned; the conversation doesn\u2019t give it.", False),
        ("It is not mentioned; the conversation doesn\u2019t give it.", True),
        ("", True),
        ("The dialogue does not say it. It may be red.", False),
        ("The dialogue does not say when, but the car comes first.", False),
        ("The dialogue does not say that it is later than 12 s.", False),
        ("There is no such thing in the video.", False),
        ("At 12.0 s.", False),
    ],
)
def test_an_answer_that_knows_nothing_is_no_answer(answer: str, expected: bool) -> None:
    assert says_nothing(answer) is expected


ROUNDS = st.lists(
    st.builds(
        RoundReply,
        user=st.text(min_size=1, max_size=30).filter(str.strip),
        assistant=st.text(min_size=1, max_size=30).filter(str.strip) | st.just("x" * 3_000),
        scored=st.sampled_from(["yes", "no"]),
        about=st.sampled_from(["video", "elsewhere"]),
        refers_to=st.none() | st.integers(1, 10**12),
        objects=st.lists(st.sampled_from([*BANK, "o9"])).map(tuple),
        explicit=st.text(max_size=30),
        others=st.lists(st.text(min_size=1, max_size=9).filter(str.strip), max_size=4).map(tuple),
    ),
    max_size=9,
)
ITEMS = st.lists(st.builds(ChecklistQuestion, st.text(max_size=60), st.booleans()), max_size=5)
CHECKED = st.builds(ItemValidation, st.none() | st.booleans(), st.none() | st.integers(1, 10**9))


@settings(max_examples=30, deadline=None)
@given(ROUNDS, st.sampled_from(ABILITIES), ITEMS, st.data())
def test_no_dialogue_breaks_the_checks(
    rounds: Rounds, ability: str, items: list[ChecklistQuestion], data: st.DataObject
) -> None:
    fault = find_fault(rounds, frame(ability))
    assert fault is None or fault.reason in FALLS
    checked = data.draw(st.lists(CHECKED, min_size=len(items), max_size=len(items)))
    kept = kept_items(items, checked)
    assert set(kept) <= set(items)
    for number in range(1, len(rounds) + 1):
        fault = checklist_fault(kept, rounds, number, ability=ability)
        assert fault is None or fault.reason in FALLS
        gives_away(kept, rounds, number)
