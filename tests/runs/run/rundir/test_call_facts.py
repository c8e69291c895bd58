"""A fact about a model's calls is counted by how they ended, and says nothing where it never is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.events import judged
from tests.support.played import battle, play, slot, video
from videoautoarena.memory.records.records import CallEnds, StoredAnswer
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.call_facts import (
    FACTS,
    MOST_LISTED,
    MOST_NAMED,
    CallFact,
    FactCount,
    fact_lines,
    is_fact,
    warning_lines,
)
from videoautoarena.runs.run.rundir.reader import RUN_FILE


def ends(alias: str = "hawk", **changes: Any) -> CallEnds:
    usual = CallEnds(alias, "contestant", True, "stop", "", False, False)
    return usual._replace(**changes)


def counted(*found: CallEnds) -> list[CallFact]:
    count = FactCount()
    for one in found:
        count.add(one)
    return count.found()


def test_calls_that_went_well_are_silent() -> None:
    assert counted(ends(calls=100), ends(role="judge")) == []


@pytest.mark.parametrize(
    ("ending", "key"),
    [
        ("length", "cut"),
        ("finishreason.max_tokens", "cut"),
        ("max_output_tokens", "cut"),
        ("content_filter", "cut-by-filter"),
        ("finishreason.safety", "cut-by-filter"),
    ],
)
def test_an_ending_is_read_in_the_words_of_any_provider(ending: str, key: str) -> None:
    (found,) = counted(ends(ending=ending, calls=3), ends(calls=13))
    assert (found.fact.key, found.count, found.of) == (key, 3, 16)


def test_a_failed_call_is_among_calls_and_not_among_answers() -> None:
    # Its last try was cut off, too.
    lost = ends(is_answered=False, ending="length", failure="timeout", is_late=True)
    late, *others = counted(lost, ends(ending="length"))[::-1]
    assert (late.fact.key, late.count, late.of) == ("timed-out", 1, 2)
    assert [(one.fact.key, one.count, one.of) for one in others] == [("cut", 1, 1)]


def test_what_a_filter_kept_back_is_no_answer() -> None:
    lost = ends(is_answered=False, ending="content_filter", failure="content-filter")
    (found,) = counted(lost, ends(calls=4))
    assert found.sentence == (
        "1 of 5 answers of hawk was broken off or kept back by a filter and taken as none"
    )


def test_a_model_that_saw_no_frames_is_called_that() -> None:
    (found,) = counted(ends(is_blind=True, calls=7))
    assert (found.fact.key, found.sentence) == ("no-frames", "hawk saw no frames")
    assert list(warning_lines([found])) == []


def test_a_judge_is_named_as_one_and_stands_behind_the_contestants() -> None:
    cut = ends(ending="length")
    found = counted(cut._replace(role="judge", alias="a judge"), cut, cut._replace(role="grader"))
    assert [one.sentence for one in found] == [
        "1 of 1 answer of hawk was cut off at the token limit",
        "1 of 1 reply of a judge (judge) was cut off at the token limit",
        "1 of 1 reply of hawk (examiner) was cut off at the token limit",
    ]


def test_scouts_are_left_out() -> None:
    assert counted(ends(role="captioner", ending="length")) == []


def test_marks_of_thought_are_counted_in_stored_answers_but_borrowed_ones() -> None:
    count = FactCount()
    count.add(ends("offline:hawk", calls=4))
    battle = judged("v0-p1-r0")
    assert battle.model_a == "offline:hawk"
    assert not count.add_answers(battle)
    assert count.add_answers(battle.model_copy(update={"answer_a": "<think>red?</think> Red."}))
    marked = battle.model_copy(update={"answer_a": "<think>red?</think> Red."})
    for seat, is_counted in (("a", False), ("b", True)):
        borrowed = StoredAnswer(battle="v0-p1-r1", seat=seat)
        update = {"borrowed": borrowed}
        assert FactCount().add_answers(marked.model_copy(update=update)) is is_counted
    (found,) = count.found()
    assert (found.count, found.of) == (1, 4)
    assert "such as <think>, and was judged with it" in found.sentence


def test_an_answer_whose_place_was_settled_again_is_not_counted(tmp_path: Path) -> None:
    thought = {"answer_a": "<think>red?</think> Red."}
    places = [slot(video(), 0), slot(video(), 1), slot(video(), 1, ordinal=2, generation=1)]
    battles = [battle(place, **thought) for place in places]
    with Store.open(play(tmp_path / "out", battles, slots=places) / RUN_FILE, write=False) as store:
        (found,) = FactCount.of_answers(store).found()
    assert found.count == 2


def test_many_models_share_a_line_with_the_worst_first() -> None:
    every = MOST_LISTED + 2
    found = counted(
        *(ends(f"m{n}", ending="length", calls=n + 1) for n in range(every)),
        *(ends(f"m{n}", calls=10 if n else 1) for n in range(every)),
    )
    (line,) = fact_lines(found)
    assert line.startswith("answers cut off at the token limit: m0 1 of 2, m7 8 of 18, ")
    assert line.endswith(" and 2 more models")
    few = [one for one in found if one.model < f"m{MOST_NAMED}"]
    assert len(list(fact_lines(few))) == MOST_NAMED


def test_every_line_of_a_fact_is_known_as_one() -> None:
    for fact in FACTS:
        one = CallFact(fact, "hawk", "contestant", 2, 3, "<think>")
        assert is_fact(one.sentence)
        assert is_fact(f"{fact.noun} {fact.title}: hawk 2 of 3")
    assert not is_fact("the run is not finished: 3 of 9 slots to go")


def test_a_name_that_a_stranger_gave_moves_no_terminal() -> None:
    (found,) = counted(ends("a\x1b[2J", ending="length"))
    assert found.sentence.isprintable()


def test_keys_of_facts_differ() -> None:
    keys = [fact.key for fact in FACTS]
    assert len(set(keys)) == len(keys)
