"""A bench is held against an anchor: it answers once, everybody is read from both seats."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.support.held import held
from tests.support.published_bench import published, write_published
from tests.support.small_benches import calls_of
from tests.support.small_benches import run_bench as run
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import (
    Anchored,
    Answers,
    read_anchored,
    read_results,
    write_answers,
    write_result,
)
from videoautoarena.runs.exchange.interop.videoautobench import import_videoautobench

MOLE = ("--model", "offline:mole", "--limit", 3)
TERSE = ("--anchor", "offline:terse")


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


def results_of(bench: Path) -> dict[str, Anchored]:
    return {result.model: result for result in read_anchored(open_bench(bench))}


def roles(bench: Path) -> Counter[str]:
    return Counter(row.nonce.role for row in calls_of(bench))


@pytest.mark.slow
def test_the_ladder_of_the_cast_comes_out_of_an_anchor(ground: Path, bench: Path) -> None:
    cast = ("--model", "offline:mole,offline:hawk,offline:owl", "--anchor", "offline:terse")
    told = run(bench, "--videos", ground / "videos", *cast, "--json")
    assert told.return_value == 0, told.output
    found = json.loads(told.stdout)
    asked = len(open_bench(bench).items)
    assert roles(bench) == {"contestant": 4 * asked, "comparer": 2 * 3 * asked}
    scores = {row["model"]: row["score"] for row in found["scores"]["models"]}
    assert scores["offline:hawk"] >= scores["offline:owl"] > scores["offline:mole"]
    assert found["scores"]["anchor"] == "offline:terse"
    assert found["scores"]["seats"]["split"] == 0
    for result in results_of(bench).values():
        lines = [(one.qid, one.seats) for one in result.rulings]
        assert lines == [(i.qid, seats) for i in open_bench(bench).items for seats in ("ab", "ba")]
        assert all(one.anchor_response and one.response for one in result.rulings)
    assert read_results(open_bench(bench)) == []


def test_the_same_command_asks_nobody_and_comes_to_the_same(ground: Path, bench: Path) -> None:
    planned = json.loads(
        run(bench, "--videos", ground / "videos", *MOLE, *TERSE, "--plan", "--json").stdout
    )
    assert planned["anchor"] == "offline:terse"
    assert planned["calls_at_most"] == {"offline:terse": 3, "offline:mole": 3, "offline:judge": 12}
    run(bench, "--videos", ground / "videos", *MOLE, *TERSE)
    rows = calls_of(bench)
    before = results_of(bench)
    for file in (bench / "results").glob("*.jsonl"):
        file.unlink()
    again = run(bench, *MOLE, *TERSE)
    assert again.return_value == 0
    assert "3 of 3 need no call; at most 0 calls" in again.stderr
    assert calls_of(bench) == rows
    assert results_of(bench) == before


@pytest.mark.slow
def test_another_model_uses_the_anchors_answers(ground: Path, bench: Path) -> None:
    films = ("--videos", ground / "videos")
    run(bench, *films, *MOLE, *TERSE)
    more = ("--model", "offline:mole,offline:hawk", "--limit", 3, *TERSE)
    planned = json.loads(run(bench, *films, *more, "--plan", "--json").stdout)
    assert planned["known"] == 3
    assert planned["calls_at_most"] == {"offline:hawk": 3, "offline:judge": 12}
    run(bench, *films, *more)
    assert roles(bench) == {"contestant": 9, "comparer": 12}
    # What stood against the references uses the same answers.
    run(bench, *films, *MOLE, "--swap", "none")
    assert roles(bench) == {"contestant": 9, "comparer": 12, "judge": 6}


def test_the_benchs_own_answers_can_be_the_anchor(ground: Path, bench: Path) -> None:
    hawk = ("--model", "offline:hawk", "--limit", 4, "--anchor", "selected")
    told = run(bench, "--videos", ground / "videos", *hawk)
    assert told.return_value == 0, told.output
    assert roles(bench) == {"contestant": 4, "comparer": 8}
    items = {item.qid: item for item in open_bench(bench).items}
    for one in results_of(bench)["offline:hawk"].rulings:
        assert one.anchor_response == items[one.qid].selected_answer
        if one.response == one.anchor_response:
            assert one.verdict == "same"


@pytest.mark.slow
def test_what_was_handed_in_can_be_the_anchor_and_a_gap_in_it_is_void(
    ground: Path, bench: Path
) -> None:
    opened = open_bench(bench)
    texts = {item.qid: "It is so." for item in opened.items[1:]}
    write_answers(
        opened, Answers(bench=opened.bench, model="theirs", how="import", responses=texts)
    )
    told = run(
        bench, "--videos", ground / "videos", "--model", "offline:mole", "--anchor", "theirs",
        "--allow-offline-judge",
    )  # fmt: skip
    assert told.return_value == (3 if len(opened.items) < 20 else 0)
    void, *others = results_of(bench)["offline:mole"].rulings
    assert (void.qid, void.verdict, void.seats) == (opened.items[0].qid, "void", None)
    assert void.reason == "the anchor has no answer: no answer was handed in"
    assert all(one.seats for one in others)


def test_a_model_without_an_answer_is_much_worse_unread(ground: Path, bench: Path) -> None:
    opened = open_bench(bench)
    texts = {item.qid: "It is so." for item in opened.items[1:]}
    write_answers(
        opened, Answers(bench=opened.bench, model="theirs", how="import", responses=texts)
    )
    run(bench, "--videos", ground / "videos", "--model", "theirs", *TERSE, "--allow-offline-judge")
    lost = results_of(bench)["theirs"].rulings[0]
    assert (lost.verdict, lost.seats, lost.reason) == (
        "much_worse",
        None,
        "no answer was handed in",
    )


def test_a_lost_video_is_void_and_says_so(ground: Path, bench: Path, tmp_path: Path) -> None:
    there = Path(shutil.copytree(ground / "videos", tmp_path / "others"))
    gone = next(iter(open_bench(bench).manifest.videos.values())).path or ""
    (there / gone).unlink()
    told = run(bench, "--videos", there, "--allow-missing", *MOLE, *TERSE)
    assert told.return_value == 3
    verdicts = Counter(one.verdict for one in results_of(bench)["offline:mole"].rulings)
    assert 0 < verdicts["void"] < verdicts.total()
    assert f"1 to answer, {verdicts['void']} without a usable video" in told.stderr
    assert f"lost, {verdicts['void']}: the video is missing" in told.stderr
    assert f"\n1 answer, {verdicts['void']} without a usable video; pass" in told.stderr
    assert "--videos" in told.stderr


@pytest.mark.slow
def test_what_was_compared_stays_where_the_videos_are_gone(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    run(bench, "--videos", ground / "videos", *MOLE, *TERSE)
    before = results_of(bench)
    again = run(bench, "--videos", ground / "videos", *MOLE, *TERSE, "--limit", 1)
    assert "was kept: " in again.stderr
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "another.mp4").touch()
    told = run(bench, "--videos", tmp_path / "others", *MOLE, *TERSE)
    assert "holds none of the " in str(told.exception)
    assert results_of(bench) == before


def test_the_anchor_meets_everybody_but_itself(ground: Path, bench: Path) -> None:
    both = ("--model", "offline:mole,offline:terse", *TERSE, "--plan")
    told = run(bench, "--videos", ground / "videos", *both)
    assert "questions for offline:mole against offline:terse" in told.stdout
    assert "offline:terse is the anchor and is not compared with itself" in told.stdout
    alone = run(bench, "--videos", ground / "videos", "--model", "offline:terse", *TERSE)
    assert "would only meet itself" in str(alone.exception)


def test_a_judge_need_not_know_the_writers_of_what_it_does_not_read(
    ground: Path, tmp_path: Path
) -> None:
    bench = tmp_path / "published"
    import_videoautobench(write_published(tmp_path / "vab.json", published(3, 3)), bench)
    (tmp_path / "films").mkdir()
    shutil.copy(ground / "videos" / "clip00.mp4", tmp_path / "films" / "vid_0-x.mp4")
    films = ("--videos", tmp_path / "films", "--allow-missing", "--plan")
    told = run(bench, *films, *MOLE, *TERSE)
    assert "for offline:mole against offline:terse, judged by offline:judge" in told.stdout
    told = run(bench, *films, *MOLE, "--anchor", "selected")
    assert "there is no judge" in str(told.exception)


def test_the_judge_is_no_anchor(ground: Path, bench: Path) -> None:
    told = run(
        bench, "--videos", ground / "videos", "--model", "openai:a", "--anchor", "openai:b",
        "--judge", "openai:b",
    )  # fmt: skip
    assert "would judge or examine its own battles" in str(told.exception)


def test_an_imported_result_is_never_written_over(ground: Path, bench: Path) -> None:
    opened = open_bench(bench)
    made = held(opened, "offline:mole", ["> >"], anchor="offline:terse", judge="offline:judge")
    held_in = made.model_copy(update={"how": "import"})
    write_result(opened, held_in, force=True)
    told = run(bench, "--videos", ground / "videos", *MOLE, *TERSE)
    assert "has an imported result" in str(told.exception)
    assert results_of(bench)["offline:mole"] == held_in
