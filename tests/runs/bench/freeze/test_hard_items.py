"""Hard questions as items: which answers stand there, how hard each is, and which are left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.audited import audited, entry, fought
from tests.support.labelled import label
from tests.support.played import battle, manifest, play, slot, video
from videoautoarena.memory.records.records import Battle, Borrowed, Judging
from videoautoarena.memory.store.evidence import Label
from videoautoarena.runs.bench.format.schema import Hardness, Item, question_bytes
from videoautoarena.runs.bench.freeze.items import (
    EASY,
    LIKED,
    UNTRIED,
    HardPool,
    counts_of_hard,
    hard_pool_of,
    unasked,
)
from videoautoarena.runs.bench.freeze.selection import (
    FOREIGN,
    LATER,
    LEAKED,
    UNTOLD,
    BenchSelection,
    choose_items,
)
from videoautoarena.runs.bench.selecting.asking import HardFound
from videoautoarena.runs.bench.selecting.hard import BadQuestion, Tried
from videoautoarena.runs.run.rundir.reader import open_run

SAID = (Judging(judge="judge", seats="ab", verdict="b"),)


def bad(number: int = 0) -> Battle:
    return fought(number, "hawk", "owl", "tie_bad", answer_a="STORED A", answer_b="STORED B")


LOST = Tried("mole", "a", "a", "NOTHING", SAID)
WON = Tried("terse", "a", "b", "BETTER", SAID)
WON_AS_A = Tried("parrot", "b", "a", "BETTER STILL", SAID)
VOID = Tried("mole", "a", "void", "HM")


def pool(*questions: BadQuestion, seed: int = 0, **more: Any) -> HardPool:
    given = audited([one.battle for one in questions])
    return hard_pool_of(HardFound(questions), replace(given, **more), seed)


def item(*tried: Tried, seed: int = 0) -> Item:
    (found,) = pool(BadQuestion(bad(), tried), seed=seed).items
    return found


def test_an_answer_that_was_found_better_stands_beside_the_bad_one_that_it_met() -> None:
    found = item(LOST, LOST, WON)
    assert (found.selected_answer, found.rejected_answer) == ("BETTER", "STORED A")
    assert (found.selected_model, found.rejected_model) == ("terse", "hawk")
    assert (found.selected_seat, found.chosen_by) == ("b", "judge")
    assert [one.verdict for one in found.judge_verdicts] == ["b"]
    other = item(LOST, LOST, WON_AS_A)
    assert (other.selected_answer, other.rejected_answer) == ("BETTER STILL", "STORED B")
    assert (other.selected_seat, other.rejected_model) == ("a", "owl")


def test_of_several_better_answers_the_seed_draws_one() -> None:
    tried = (LOST, LOST, LOST, WON, WON_AS_A)
    drawn = [item(*tried, seed=seed).selected_model for seed in range(20)]
    assert set(drawn) == {"terse", "parrot"}
    assert item(*tried, seed=3) == item(*tried, seed=3)


def test_where_none_is_better_both_are_bad_and_nobody_selected() -> None:
    found = [item(LOST, seed=seed) for seed in range(20)]
    assert {one.chosen_by for one in found} == {"nobody"}
    assert {one.selected_seat for one in found} == {None}
    pairs = {(one.selected_answer, one.rejected_answer) for one in found}
    assert pairs == {("STORED A", "STORED B"), ("STORED B", "STORED A")}


def test_an_item_counts_its_models() -> None:
    assert item(LOST, LOST, WON, VOID).hard == Hardness(asked=4, failed=2, void=1)


def test_other_items_are_written_without_it() -> None:
    hard = item(LOST)
    assert b'"hard": {"asked": 1' in question_bytes([hard])
    plain = hard.model_copy(update={"hard": None})
    assert b'"hard"' not in question_bytes([plain])


def test_its_qid_is_that_of_its_content() -> None:
    for one in (item(LOST), item(LOST, LOST, WON)):
        assert one.qid == one.own_qid()


def test_why_others_are_left_out_is_counted() -> None:
    found = pool(
        BadQuestion(bad(0), (LOST, WON)),
        BadQuestion(bad(1), (VOID,)),
        BadQuestion(bad(2), (LOST,)),
        BadQuestion(bad(3), ()),
    )
    assert [one.battle for one in found.items] == ["battle-2"]
    assert found.left_out == {EASY: 1, UNTRIED: 2}


def test_what_nobody_was_asked_is_left_out_with_its_reason() -> None:
    found = pool(BadQuestion(bad(), (), FOREIGN), BadQuestion(bad(1), (LOST,)))
    assert (len(found.items), found.left_out) == (1, {FOREIGN: 1})
    assert counts_of_hard(HardFound([BadQuestion(bad(), (), FOREIGN)]), 0)["unasked"] == 1


@pytest.mark.parametrize(
    ("wish", "changed", "why"),
    [
        ({}, {}, None),
        ({"language": "de"}, {"language": "de"}, None),
        ({"language": "de"}, {"language": "en"}, FOREIGN),
        ({"language": "de"}, {"question": "12:30 + 4?"}, UNTOLD),
        ({"turns": 1}, {"round": 0}, None),
        ({"turns": 1}, {"round": 1}, LATER),
        ({"leak_filter": True}, {}, LEAKED),
    ],
)
def test_what_a_bench_will_not_have_is_known_before_anybody_is_asked(
    tmp_path: Path, wish: dict[str, Any], changed: dict[str, Any], why: str | None
) -> None:
    asked = battle(slot(video(), 0), verdict="tie_bad", **changed)
    met = Borrowed(battle=asked.id, seat="a")
    seen = {"model_b": "mole", "answer_b": "Blind.", "verdict": "b", "borrowed": met}
    guest = asked.model_copy(update={"id": f"{asked.id}+mole", **seen})
    settings = manifest()
    settings["cast"]["mole"]["max_frames"] = 0
    out = play(tmp_path / "out", [asked, guest], settings=settings)
    with open_run(out) as run:
        assert unasked(BenchSelection(hard=True, **wish))(run)(asked) == why
    label(out, Label(battle=asked.id, labeller="anna", verdict="a"))
    with open_run(out) as run:
        assert unasked(BenchSelection(hard=True, **wish))(run)(asked) == LIKED


def test_the_hardest_come_first_and_of_equals_those_of_more_models() -> None:
    found = pool(
        BadQuestion(bad(0), (LOST, LOST, WON)),
        BadQuestion(bad(1), (LOST,)),
        BadQuestion(bad(2), (LOST, LOST)),
    )
    ranks = {}
    for most in (1, 2, 3):
        wish = BenchSelection(hard=True, most=most)
        kept = choose_items(found.items, wish, seed=0, worth=found.worth)
        ranks[most] = {one.battle for one in kept.items}
        assert sum(kept.left_out.values()) == 3 - most
    assert ranks == {
        1: {"battle-2"},
        2: {"battle-1", "battle-2"},
        3: {"battle-0", "battle-1", "battle-2"},
    }


def test_equally_hard_ones_are_drawn_by_the_seed() -> None:
    found = pool(*(BadQuestion(bad(number), (LOST,)) for number in range(12)))
    wish = BenchSelection(hard=True, most=3)
    draws = [
        {one.battle for one in choose_items(found.items, wish, seed=s, worth=found.worth).items}
        for s in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_one_that_was_won_without_a_frame_leaks() -> None:
    asked = bad()
    guest = asked.model_copy(
        update={
            "id": "battle-9",
            "model_b": "blind",
            "verdict": "b",
            "verdicts": SAID,
            "borrowed": Borrowed(battle=asked.id, seat="a"),
        }
    )
    cast = {"hawk": entry("offline:hawk"), "blind": entry("offline:blind", frames=0)}
    given = audited([asked, guest], cast=cast)
    question = BadQuestion(asked, (LOST,))
    assert len(hard_pool_of(HardFound([question]), given, 0).leaked) == 1
    assert not hard_pool_of(HardFound([question]), audited([asked], cast=cast), 0).leaked


def test_all_models_are_counted_and_what_was_known_apart() -> None:
    known = Tried("mole", "a", "a", "NOTHING", is_asked=False)
    found = HardFound([BadQuestion(bad(), (known, LOST, WON, VOID))], 3, 6, None)
    assert counts_of_hard(found, 1) == {
        "questions": 1,
        "unasked": 0,
        "asked": 3,
        "known": 1,
        "failed": 2,
        "passed": 1,
        "void": 1,
        "hard": 1,
        "calls": 6,
        "cost_usd": None,
    }
