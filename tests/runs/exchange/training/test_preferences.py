"""Battles with a winner leave as pairs of a chosen and a rejected answer, and no others do."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.labelled import label
from tests.support.played import battle, judging, lineage, play, slot, video
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Battle, Frame, StoredAnswer, VideoFrames
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.exchange.training import examples as told
from videoautoarena.runs.exchange.training.examples import RunSources, preferences
from videoautoarena.runs.exchange.training.rows import Preference
from videoautoarena.runs.run.rundir.reader import open_run

SEATED = {"ab": judging(seats="ab"), "ba": judging(seats="ba")}


def pairs(out: Path) -> tuple[list[Preference], dict[str, int]]:
    left_out: Counter[str] = Counter()
    with open_run(out) as run:
        return list(preferences(run, RunSources(run), left_out)), dict(left_out)


def of(out: Path, **changed: Any) -> tuple[list[Preference], dict[str, int]]:
    """Return the pairs of a run of one battle that differs so from one that hawk won."""
    return pairs(play(out, [battle(slot(video(), 0), **changed)]))


def test_a_pair_is_the_question_with_the_winners_answer_first(tmp_path: Path) -> None:
    first, second = pairs(play(tmp_path / "out", lineage(video())))[0]
    assert (first.prompt, first.chosen, first.rejected) == (
        "What is in the pan in round 0?",
        "An onion, diced, from second 3 on.",
        "A carrot.",
    )
    assert (first.chosen_model, first.rejected_model, first.verdict) == ("hawk", "owl", "a")
    assert (second.chosen_model, second.rejected_model, second.verdict) == ("mole", "hawk", "b")
    assert (first.path, first.sha256) == ("clip.mp4", video().sha256)
    assert (first.language, first.categories, first.licence) == ("en", None, None)


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        ("tie", "tie"),
        ("tie_good", "tie"),
        ("tie_bad", "tie"),
        ("split", "split"),
        ("forfeit_a", "forfeit"),
        ("forfeit_b", "forfeit"),
        ("void", "void"),
    ],
)
def test_what_has_no_winner_is_no_pair_and_is_counted(
    tmp_path: Path, verdict: str, why: str
) -> None:
    verdicts = () if why in ("forfeit", "void") else (judging(),)
    assert of(tmp_path / "out", verdict=verdict, verdicts=verdicts) == ([], {why: 1})


@pytest.mark.parametrize("verdict", ["void", "a"])
def test_a_judging_that_failed_makes_no_pair(tmp_path: Path, verdict: str) -> None:
    failed = judging(verdict="failed", analyses=None, reason="no reply could be read")
    assert of(tmp_path / "out", verdict=verdict, verdicts=(failed,)) == ([], {told.FAILED: 1})


def test_a_judging_that_failed_beside_one_that_did_not_stands_in_the_pair(tmp_path: Path) -> None:
    failed = judging(judge="other", verdict="failed", analyses=None, reason="no reply")
    [pair], _ = of(tmp_path / "out", verdicts=(SEATED["ab"], failed))
    assert [one.verdict for one in pair.judgings] == ["a", "failed"]


@pytest.mark.parametrize(
    ("back", "agree"), [("a", True), ("b", False), ("tie_bad", False), ("failed", None)]
)
def test_a_pair_says_whether_both_seatings_agreed(
    tmp_path: Path, back: str, agree: bool | None
) -> None:
    both = (SEATED["ab"], judging(seats="ba", verdict=back))
    [pair], _ = of(tmp_path / "out", verdicts=both)
    assert pair.seats_agree is agree


def test_where_one_seating_was_judged_nobody_knows_whether_they_agree(tmp_path: Path) -> None:
    [pair], _ = of(tmp_path / "out", verdicts=(SEATED["ab"],))
    assert pair.seats_agree is None


def test_people_choose_where_they_labelled_and_leave_out_what_they_call_a_tie(
    tmp_path: Path,
) -> None:
    out = play(tmp_path / "out", lineage(video()))
    ids = [slot(video(), k).id for k in range(3)]
    label(out, *(Label(battle=id_, labeller="anna", verdict=verdict)
                 for id_, verdict in zip(ids, ("b", "tie_bad", "a"), strict=True)))  # fmt: skip
    [pair], left_out = pairs(out)
    assert (pair.chosen_model, pair.chosen_by, pair.verdict) == ("owl", "labels", "a")
    # The judges called the third a tie, and that is no pair whatever people say.
    assert left_out == {told.PEOPLE: 1, told.TIE: 1}


def test_two_equal_answers_are_no_pair(tmp_path: Path) -> None:
    same = of(tmp_path / "out", answer_a="A carrot. ", answer_b="A  carrot.")
    assert same == ([], {told.SAME: 1})


def test_frames_of_each_answer_have_their_times_and_digests(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    shown = tuple(Frame(time_s=float(k), digest=digest(f"jpeg {k}")) for k in range(12))
    with Store.open(out / "run.sqlite", write=True) as store:
        frames = VideoFrames(video=video().id, width_px=64, height_px=36, frames=shown)
        asyncio.run(store.put_frames(frames))
    first = pairs(out)[0][0]
    assert first.chosen_frames.times_s == tuple(frame.time_s for frame in shown)
    assert first.chosen_frames.digests == tuple(frame.digest for frame in shown)
    # One of these two times is that of no frame of the run.
    assert (first.rejected_frames.times_s, first.rejected_frames.digests) == ((0.0, 12.46), None)


def test_a_model_that_was_sent_no_frame_has_none(tmp_path: Path) -> None:
    [pair], _ = of(tmp_path / "out", frames_a=())
    assert (pair.chosen_frames.times_s, pair.chosen_frames.digests) == ((), ())


def test_the_language_drawn_is_carried(tmp_path: Path) -> None:
    [pair], _ = of(tmp_path / "out", language="de")
    assert (pair.language, pair.licence, pair.categories) == ("de", None, None)


def test_a_decided_battle_without_an_answer_is_damage(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is decided but has no answer_b"):
        of(tmp_path / "out", answer_b=None)


def test_a_battle_over_a_stored_answer_is_a_pair_as_well(tmp_path: Path) -> None:
    borrowed = StoredAnswer(battle=slot(video(), 0).id, seat="b")
    [pair], _ = of(tmp_path / "out", borrowed=borrowed)
    assert pair.rejected == "A carrot."


ENDINGS = ("a", "b", "tie", "tie_good", "tie_bad", "split", "void", "forfeit_a", "forfeit_b")


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=8))
def test_every_battle_is_a_pair_or_counted(
    tmp_path_factory: pytest.TempPathFactory, endings: list[str]
) -> None:
    battles: list[Battle] = [
        battle(slot(video(), k), origin="first", verdict=verdict, verdicts=())
        for k, verdict in enumerate(endings)
    ]
    found, left_out = pairs(play(tmp_path_factory.mktemp("run") / "out", battles))
    assert [pair.verdict for pair in found] == [one for one in endings if one in ("a", "b")]
    assert len(found) + sum(left_out.values()) == len(endings)
