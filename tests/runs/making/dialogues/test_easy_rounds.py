"""Rounds on which every model does well are no longer scored."""

from __future__ import annotations

import pytest

from tests.support.reviewing import play, reviewed
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.game import golden_turns
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.making.dialogues.review import ReviewOptions, review


def test_rounds_that_every_model_answers_are_easy(made: OpenBench[DialogueItem]) -> None:
    play(made, "m:good", [5, 4, 5, 3])
    play(made, "m:poor", [4, 5, 3, 4], facts={"model": "offline:hawk"})
    play(made, "m:cut", [0, 0, 0])
    play(made, "m:own", [0, 0, 0, 0], history="own")
    done = review(ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.8))
    new = open_bench(done.folder)
    assert done.counts == (2, 0, 0, 2)
    assert done.played.taken == ("m:good", "m:poor (stand-in)")
    assert done.played.passed_over == {
        "m:cut": "which has 3 of 4 rounds",
        "m:own": "which was sent its own history",
    }
    (item,) = new.items
    assert item.rounds == made.items[1].rounds
    assert new.manifest.selection["review"] == {
        "base": made.bench,
        **done.counts._asdict(),
        "easy_from": 0.8,
        "models": ["m:good", "m:poor (stand-in)"],
    }


def test_a_share_that_is_just_reached_counts(made: OpenBench[DialogueItem]) -> None:
    play(made, "m:x", [3, 2, 3, 2])
    done = review(ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.6))
    assert done.counts.easy == 2
    said = open_bench(done.folder).items[0].rounds[1].made["easy"]
    before = [one.model_dump() for one in made.items[0].rounds[1].checklist]
    assert said == {"score": 0.6, "before": {"checklist": before}}


def test_a_round_that_was_corrected_is_not_the_one_that_was_easy(
    made: OpenBench[DialogueItem],
) -> None:
    """Nor is one whose history was."""
    play(made, "m:x", [5, 5, 5, 5])
    done, _ = reviewed(made, {(1, "corrected_item_1"): "Is it so?"}, easy=1.0)
    assert done.counts == (1, 0, 1, 2)
    assert done.gone == 1


@pytest.mark.parametrize("column", ["user", "reference"])
def test_every_round_after_a_corrected_one_is_another_than_was_played(
    made: OpenBench[DialogueItem], column: str
) -> None:
    play(made, "m:x", [5, 5, 5, 5])
    done, new = reviewed(made, {(0, f"corrected_{column}"): "The lamp."}, easy=1.0)
    assert done.counts == (2, 0, 1, 2)
    (item,) = new.items
    assert [one.is_scored for one in item.rounds] == [False, True, True]
    assert all("The lamp." in golden_turns(item, number)[0] for number in (2, 3))


def test_a_corrected_round_stays_and_an_easy_one_before_it_is_still_easy(
    made: OpenBench[DialogueItem],
) -> None:
    play(made, "m:x", [5, 5, 0, 0])
    _, new = reviewed(made, {(2, "corrected_item_1"): "Is it so?"}, easy=1.0)
    first, second, third = new.items[0].rounds
    assert (first.is_scored, second.is_scored, third.is_scored) == (False, False, True)
    assert third.checklist[0].text == "Is it so?"


def test_a_round_that_could_not_be_marked_is_not_easy(made: OpenBench[DialogueItem]) -> None:
    lost = RoundLine(qid=made.items[1].qid, round=3, end="unscored", response="So it is.")
    lines = [RoundLine(qid=item.qid, round=n, end="answered", answers=["yes"] * 3 + ["no"] * 2)
             for item in made.items for n in (2, 3)]  # fmt: skip
    write_result(
        made,
        DialogueResult(
            bench=made.bench, model="m:x", judge="j", how="run", lines=[*lines[:3], lost]
        ),
    )
    done = review(ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.5))
    assert done.counts.easy == 3


def test_nothing_easy_without_results_and_something_must_be_left(
    made: OpenBench[DialogueItem],
) -> None:
    wish = ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.0)
    with pytest.raises(BadInput, match="no whole result with golden history"):
        review(wish)
    play(made, "m:x", [5, 5, 5, 5])
    with pytest.raises(BadInput, match="no scored round would be left"):
        review(wish)
    assert not wish.to.exists()
