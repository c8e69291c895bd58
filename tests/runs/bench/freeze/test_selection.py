"""What a person asks of a bench is what it has, and what is left out is counted."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.played import battle, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.bench.format.schema import Item, JudgeVerdict, Votes
from videoautoarena.runs.bench.freeze.items import steadiness, worth_of
from videoautoarena.runs.bench.freeze.selection import (
    CROWDED,
    LEAKED,
    REPEATED,
    UNDRAWN,
    BenchSelection,
    choose_items,
    longer,
)


def item(number: int, **changed: object) -> Item:
    told = {
        "qid": f"q{number}",
        "video_id": f"v{number % 5}",
        "persona": "A person who cooks.",
        "question": f"What is said about number {number}, and how about {number**3}?",
        "selected_answer": "long enough",
        "rejected_answer": "short",
        "chosen_by": "judge",
        "duration_s": 12.0,
        "category": "Art",
        "selected_seat": "a",
    }
    return Item.model_validate({**told, **changed})


POOL = [item(k) for k in range(20)]
PLAIN = ("duration", "category")


def qids(items: list[Item]) -> list[str]:
    return [one.qid for one in items]


def test_without_a_wish_everything_stays_in_its_order() -> None:
    chosen = choose_items(POOL, BenchSelection(), seed=0)
    assert chosen.items == POOL
    assert chosen.left_out == {}


def test_leaked_questions_are_left_out_and_counted() -> None:
    chosen = choose_items(POOL, BenchSelection(leak_filter=True), seed=0, leaked={"q3", "q4"})
    assert qids(chosen.items) == [q for q in qids(POOL) if q not in ("q3", "q4")]
    assert chosen.left_out == {LEAKED: 2}
    assert len(choose_items(POOL, BenchSelection(), seed=0, leaked={"q3"}).items) == 20


def test_at_most_so_many_questions_are_about_one_video() -> None:
    chosen = choose_items(POOL, BenchSelection(per_video=3), seed=0)
    assert set(Counter(one.video_id for one in chosen.items).values()) == {3}
    assert chosen.left_out == {CROWDED: 5}


def test_of_equal_questions_about_a_video_one_stays() -> None:
    pool = [item(k, question="Which tools are used, and when?") for k in range(20)]
    chosen = choose_items(pool, BenchSelection(distinct=True), seed=0)
    assert len(chosen.items) == len({one.video_id for one in chosen.items}) == 5
    assert chosen.left_out == {REPEATED: 15}


def test_a_draw_takes_one_question_of_each_video_first() -> None:
    chosen = choose_items(POOL, BenchSelection(size=5, by=PLAIN), seed=0)
    assert len({one.video_id for one in chosen.items}) == 5
    assert chosen.left_out == {UNDRAWN: 15}


def test_a_draw_is_even_over_durations_and_categories() -> None:
    pool = [item(k, duration_s=12.0 if k < 90 else 100.0, video_id=f"v{k}") for k in range(100)]
    chosen = choose_items(pool, BenchSelection(size=10, by=PLAIN), seed=0)
    assert Counter(one.duration_s for one in chosen.items) == {12.0: 5, 100.0: 5}


def test_another_seed_draws_others_and_the_same_seed_the_same() -> None:
    selection = BenchSelection(size=8, by=PLAIN)
    first = choose_items(POOL, selection, seed=1).items
    assert first == choose_items(POOL, selection, seed=1).items
    assert any(choose_items(POOL, selection, seed=seed).items != first for seed in range(2, 5))


def test_what_is_drawn_stands_in_the_order_of_the_pool() -> None:
    drawn = qids(choose_items(POOL, BenchSelection(size=12, by=PLAIN), seed=3).items)
    assert drawn == [q for q in qids(POOL) if q in drawn]


def test_length_matched_leaves_the_longer_answer_right_in_half() -> None:
    short = {"selected_answer": "no", "rejected_answer": "a long one"}
    pool = [item(k, **short if k % 4 == 0 else {}) for k in range(20)]
    chosen = choose_items(pool, BenchSelection(length_matched=True, by=PLAIN), seed=0)
    assert Counter(map(longer, chosen.items)) == {1: 5, -1: 5}
    assert chosen.left_out == {UNDRAWN: 10}


def test_topics_are_named_only_where_they_were_drawn_over() -> None:
    words = ["onion pan butter salt", "rook bishop pawn castle"]
    pool = [item(k, question=f"{words[k % 2]} {k % 7}") for k in range(40)]
    assert {
        one.topic for one in choose_items(pool, BenchSelection(size=30, by=PLAIN), seed=0).items
    } == {None}
    drawn = choose_items(pool, BenchSelection(size=30), seed=0).items
    assert len({one.topic for one in drawn}) == 2
    assert all(
        set(str(one.topic).split()) <= set(words[int(one.qid[1:]) % 2].split()) for one in drawn
    )


def test_what_separates_is_drawn_first() -> None:
    worth = {one.qid: float(k) for k, one in enumerate(POOL)}
    chosen = choose_items(
        POOL, BenchSelection(size=5, separating=True, by=PLAIN), seed=0, worth=worth
    )
    assert qids(chosen.items) == [f"q{k}" for k in range(15, 20)]


def test_separating_alone_would_do_nothing_and_is_refused() -> None:
    with pytest.raises(BadInput, match="size="):
        BenchSelection(separating=True).check()
    BenchSelection(separating=True, per_video=1).check()


def ladder() -> list[Battle]:
    """Battles between four models of which each beats all below it three times of four."""
    names = ("best", "good", "fair", "last")
    made = list[Battle]()
    for turn in range(4):
        for high in range(4):
            for low in range(high + 1, 4):
                verdict = "b" if turn == 3 else "a"
                place = slot(video(), len(made))
                made.append(battle(place, model_a=names[high], model_b=names[low], verdict=verdict))
    return made


def test_answers_of_the_middle_tell_models_apart_better_than_those_of_the_ends() -> None:
    def between(one: str, other: str) -> float:
        asked = item(1, selected_model=one, rejected_model=other)
        return worth_of([asked], ladder())["q1"]

    assert between("good", "fair") > between("best", "last") > 0
    assert between("nobody", "never met") == 0


def test_a_winner_that_judgings_dispute_is_worth_less() -> None:
    judged = [JudgeVerdict(judge="j", seats=s, verdict=v) for s, v in (("ab", "a"), ("ba", "b"))]
    assert steadiness(item(1, judge_verdicts=judged)) == 0.5
    assert steadiness(item(1, judge_verdicts=judged[:1])) == 1.0
    assert steadiness(item(1, votes=Votes(selected=3, rejected=0, tie=1))) == 0.75
    failed = JudgeVerdict(judge="j", seats="ab", verdict="failed")
    assert steadiness(item(1, judge_verdicts=[failed])) == 1.0
