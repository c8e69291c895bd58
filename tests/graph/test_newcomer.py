"""A newcomer over a stored answer: what is asked again, what is kept, and how it may end."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests.support.stage import JUDGED, VIDEO, Stage
from videoautoarena.graph.slot_ids import newcomer_id
from videoautoarena.memory.records.errors import FramesChanged
from videoautoarena.memory.records.records import Battle, StoredAnswer

PLACE = f"{VIDEO}-p1-r0"
NEWCOMER = newcomer_id(PLACE, 1)
Seat = Literal["a", "b"]
SEATS: tuple[Seat, Seat] = ("a", "b")


@pytest.fixture
def source() -> Battle:
    """Return a battle that was played, with answers that can be told apart."""
    stored = {"answer_a": "Stored a.", "answer_b": "Stored b.", "basis": 3, "propensity": 0.5}
    times = {"frames_a": (0.0,), "frames_b": (1.0, 2.0)}
    return Stage(rounds=1).play()["p1-r0"].model_copy(update={**stored, **times})


def stage_of(borrowed: Seat, lines: dict[str, Any] | None = None, **settings: Any) -> Stage:
    """Return a stage on which the answer in that seat is borrowed."""
    return Stage(lines or {}, borrowed=StoredAnswer(battle=PLACE, seat=borrowed), **settings)


@pytest.mark.parametrize("borrowed", SEATS)
def test_a_newcomer_answers_the_old_question_and_is_judged_against_the_stored_answer(
    source: Battle, borrowed: Seat
) -> None:
    stage = stage_of(borrowed)
    battle = stage.meet(NEWCOMER, source)
    roles = [sending.role for sending in stage.script.seen]
    assert roles == ["contestant", "judge"]
    assert "What is thrown?" in stage.script.seen[0].text
    (shown,) = stage.texts("judge")
    answers = {"a": ("Stored a.", "A pancake."), "b": ("A pancake.", "Stored b.")}[borrowed]
    assert (shown["answer_a"], shown["answer_b"]) == answers
    assert (shown["persona"], shown["question"]) == ("A person who cooks.", "What is thrown?")
    assert (battle.answer_a, battle.answer_b) == answers
    kept = source.frames_a if borrowed == "a" else source.frames_b
    assert (battle.frames_a if borrowed == "a" else battle.frames_b) == kept
    assert len(battle.frames_b if borrowed == "a" else battle.frames_a) == 8


def test_all_else_of_the_first_battle_stands_and_nothing_of_its_end(source: Battle) -> None:
    battle = stage_of("a").meet(NEWCOMER, source)
    same = source.model_dump()
    for name in ("answer_b", "frames_b", "verdicts"):
        same[name] = battle.model_dump()[name]
    expected = {"id": NEWCOMER, "basis": None, "propensity": 1.0}
    borrowed = {"borrowed": {"battle": PLACE, "seat": "a"}}
    assert battle.model_dump() == {**same, **expected, **borrowed}
    assert [one.verdict for one in battle.verdicts] == ["a"]


def test_its_calls_are_asked_in_its_first_slot(source: Battle) -> None:
    stage = stage_of("a")
    again = f"{NEWCOMER}~2"
    stage.meet(again, source)
    assert stage.settled.keys() == {again}
    assert {row.nonce.scope for row in stage.journal.rows.values()} == {NEWCOMER}
    answered, judged = stage.journal.rows.values()
    assert (answered.alias, judged.alias) == ("right", "m")


@pytest.mark.parametrize("borrowed", SEATS)
def test_a_newcomer_without_an_answer_forfeits_in_its_own_seat(
    source: Battle, borrowed: Seat
) -> None:
    stage = stage_of(borrowed, {"contestant": ""})
    battle = stage.meet(NEWCOMER, source)
    assert battle.verdict == ("forfeit_b" if borrowed == "a" else "forfeit_a")
    assert "no text" in (battle.reason or "")
    gone = (
        (battle.answer_b, battle.frames_b)
        if borrowed == "a"
        else (
            battle.answer_a,
            battle.frames_a,
        )
    )
    assert gone == (None, ())
    assert not battle.verdicts
    assert not stage.texts("judge")


def test_frames_that_are_lost_are_no_fault_of_the_newcomers(source: Battle) -> None:
    changed = stage_of("b", {"contestant": FramesChanged("other pictures")}).meet(NEWCOMER, source)
    assert (changed.verdict, changed.reason) == ("void", "no answer: other pictures")
    unusable = stage_of("b", unusable="the file ends early").meet(NEWCOMER, source)
    assert (unusable.verdict, unusable.reason) == ("void", "no answer: the file ends early")


def test_a_judge_without_a_usable_reply_makes_a_void(source: Battle) -> None:
    battle = stage_of("b", {"judge": "A, I think"}).meet(NEWCOMER, source)
    assert (battle.verdict, battle.answer_a) == ("void", "A pancake.")
    assert [one.verdict for one in battle.verdicts] == ["failed"]


def test_the_seats_of_a_newcomer_count_as_those_of_its_run_do(source: Battle) -> None:
    audit = stage_of("b", {"judge": JUDGED}, swap=True).meet(NEWCOMER, source)
    rules = {"seats_count": True}
    both = stage_of("b", {"judge": JUDGED}, swap=True, rules=rules).meet(NEWCOMER, source)
    assert [one.verdict for one in audit.verdicts] == ["a", "b"]
    assert (audit.verdict, both.verdict) == ("a", "split")


def test_a_newcomer_without_an_answer_to_meet_is_a_bug(source: Battle) -> None:
    with pytest.raises(RuntimeError, match="without an answer to meet"):
        Stage().meet(NEWCOMER, source)
