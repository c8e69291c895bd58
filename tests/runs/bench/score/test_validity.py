"""Whether a bench measures what it should: every alarm rings where it must, and only there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.judged import bench_of, judged
from tests.support.played import invoke
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import Anchored, Comparison
from videoautoarena.runs.bench.score.anchor_score import WantedScores, score_bench
from videoautoarena.runs.bench.score.validity import check, languages_of
from videoautoarena.runs.views.results.checks import validity_report
from videoautoarena.runs.views.results.comparisons import pasted, set_reports
from videoautoarena.runs.views.results.forms import as_text


def figures(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {found["key"]: found for found in report["figures"]}


def test_a_bench_whose_longer_answer_always_wins_rings(tmp_path: Path) -> None:
    long = bench_of(tmp_path / "long", 12, answer_a="An onion, " * 9, answer_b="A leek.")
    short = bench_of(tmp_path / "short", 12, answer_a="A leek.", answer_b="An onion, " * 9)
    for bench, value in ((long, 1.0), (short, 0.0)):
        judged(bench, "owl", ["win"] * 12, ["win"] * 12)
        found = figures(check(bench).to_json())["length.bench"]
        assert (found["value"], found["alarm"]) == (value, bool(value))


def test_a_judge_that_likes_long_answers_rings(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    judged(bench, "owl", ["win"] * 12, ["win"] * 12, response="so " * 99)
    judged(bench, "mole", ["loss"] * 12, ["loss"] * 12, response="so")
    found = figures(check(bench).to_json())["length.judge"]
    assert (found["value"], found["n"], found["alarm"]) == (1.0, 48, True)


def test_constant_words_that_win_ring(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    for verdict, rings in (("loss", False), ("win", True)):
        facts = {"model": "offline:parrot"}
        judged(bench, "polly", [verdict] * 12, ["loss"] * 12, facts=facts)
        assert figures(check(bench).to_json())["canary.constant"]["alarm"] is rings


def test_padding_that_gains_rings(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    judged(bench, "offline:terse", ["tie"] * 12, ["win"] * 12)
    for verdict, rings in (("tie", False), ("win", True), ("loss", False)):
        judged(bench, "offline:windbag", [verdict] * 12, ["win"] * 12)
        assert figures(check(bench).to_json())["canary.offline:windbag"]["alarm"] is rings


def test_questions_that_need_no_video_ring(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    untold = figures(check_with(bench, "seer", 64))
    assert untold["leak.blind"]["value"] is None
    assert figures(check_with(bench, "seer", 0))["leak.blind.seer"]["alarm"]


def check_with(bench: Any, model: str, frames: int) -> dict[str, Any]:
    facts = {"model": "openai:x", "max_frames": frames}
    judged(bench, model, ["win"] * 12, ["win"] * 12, facts=facts)
    return check(bench).to_json()


def test_a_bench_on_which_all_come_to_the_same_has_no_room(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 60)
    for name in ("owl", "mole", "hawk"):
        judged(bench, name, ["win"] * 60, ["win"] * 60)
    found = figures(check(bench).to_json())
    assert found["room.solved"]["value"] == 1.0
    assert found["room.level"]["alarm"]
    assert found["room.best"]["value"] == 1.0


def test_the_best_score_is_the_one_that_the_bench_has(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 24)
    judged(bench, "owl", ["win", "tie", "loss", "void"] * 6, ["win", "loss", "win", "loss"] * 6)
    judged(bench, "mole", ["loss"] * 24, ["win", "loss"] * 12)
    best = figures(check(bench).to_json())["room.best"]
    (row,) = (
        row
        for row in score_bench(bench, WantedScores()).to_json()["models"]
        if row["model"] == "owl"
    )
    told = [100 * best[end] for end in ("value", "low", "high")]
    assert told == pytest.approx([row[end] for end in ("average", "low", "high")], abs=0.01)
    assert best["n"] == row["n"]


def test_what_some_model_solves_is_counted_once(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 4)
    judged(bench, "owl", ["win", "loss", "tie", "loss"], ["win"] * 4)
    judged(bench, "mole", ["win", "win", "loss", "loss"], ["win"] * 4)
    assert figures(check(bench).to_json())["room.solved"]["value"] == 0.5


def test_an_answer_that_is_the_reference_is_counted(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    judged(bench, "owl", ["tie"] * 2, ["win"] * 2, response=bench.items[0].selected_answer)
    assert figures(check(bench).to_json())["copies"]["value"] == 0.5


def test_the_order_of_the_run_is_held_against_that_of_the_scores(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 30)
    for name, wins in (("hawk", 30), ("owl", 15), ("mole", 0)):
        judged(bench, name, ["win"] * wins + ["loss"] * (30 - wins), ["win"] * 30)
    board = tmp_path / "board.csv"
    for ratings, value in (((3, 2, 1), 1.0), ((1, 2, 3), -1.0)):
        rows = zip(("hawk", "owl", "mole"), ratings, strict=True)
        told = "\n".join(f"{name},{at},{at - 0.1},{at + 0.1}" for name, at in rows)
        board.write_text(f"model,rating,low,high\n{told}\n")
        agreement = (found := check(bench, run=board)).to_json()["agreement"]
        assert figures(agreement)["agree.spearman"]["value"] == value
        assert bool(agreement["turned"]) is (value < 0)
        assert "Rank correlation (Spearman)" in as_text(validity_report(found), notes=True)


def test_without_results_there_is_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no results; make some with bench\.run"):
        check(bench_of(tmp_path, 1))


def test_what_a_result_says_paints_no_terminal(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    facts = {"model": "offline:parrot", "max_frames": 0}
    judged(bench, "p\x1b[31m", ["win"] * 2, ["win"] * 2, facts=facts)
    told = invoke("bench", "check", bench.folder)
    assert told.exit_code == 0
    assert "\x1b" not in told.output
    assert json.loads(invoke("bench", "check", bench.folder, "--json").output)["agreement"] is None


def in_two_languages(place: Path) -> OpenBench:
    """Return a bench whose questions are by turns in German and in English."""
    bench = bench_of(place, 24)
    spoken = [
        item.model_copy(update={"language": ("de", "en")[k % 2]})
        for k, item in enumerate(bench.items)
    ]
    return replace(bench, items=spoken)


def test_a_judge_that_likes_length_in_one_language_rings_above_the_board(tmp_path: Path) -> None:
    bench = in_two_languages(tmp_path)
    judged(bench, "owl", ["win", "loss"] * 12, ["win", "loss"] * 12, response="so " * 99)
    judged(bench, "mole", ["loss", "win"] * 12, ["loss", "win"] * 12, response="so " * 99)
    evenly = score_bench(bench, WantedScores(by="language")).audit or ()
    assert {f.key: f.value for f in evenly}["language.longer_gap.de"] == 0.0
    judged(bench, "mole", ["win", "loss"] * 12, ["win", "loss"] * 12, response="so " * 99)
    scores = score_bench(bench, WantedScores(by="language"))
    found = {one.key: one for one in scores.audit or ()}
    assert [found[f"language.longer.{code}"].value for code in ("de", "en")] == [1.0, 0.0]
    assert (found["language.longer_gap.de"].is_alarm, found["language.longer.de"].n) == (True, 48)
    assert list(scores.to_json())[:3] == ["schema", "bench", "audit"]
    lines = as_text(set_reports(scores)[0]).splitlines()
    assert lines[0].startswith("First, the judge in each language")
    assert any(line.split() == ["by", "language", "de", "en"] for line in lines[4:])
    for form in ("markdown", "latex", "html"):
        assert "ALARM In German" in pasted(scores, form)


def test_verdicts_from_both_seatings_tell_of_flips_and_of_the_first_seat(tmp_path: Path) -> None:
    bench = in_two_languages(tmp_path)
    first = {("de", "ab"): "worse", ("de", "ba"): "better"}
    rulings = [
        Comparison(qid=item.qid, verdict=first.get((item.language, seats), "worse"), seats=seats)  # type: ignore[arg-type]
        for item in bench.items
        for seats in ("ab", "ba")
    ]
    said = Anchored(
        bench=bench.bench, model="owl", judge="judge", anchor="mole", how="run", rulings=rulings
    )
    found = {one.key: one.value for one in languages_of(bench, [said])}
    assert (found["language.flips.de"], found["language.flips.en"]) == (1.0, 0.0)
    assert (found["language.first.de"], found["language.first.en"]) == (1.0, 0.5)
    assert not any("longer" in key for key in found)


def test_a_bench_of_one_language_says_that_nothing_is_known_by_language(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2, language="de")
    judged(bench, "owl", ["win"] * 2, ["win"] * 2)
    scores = score_bench(bench, WantedScores(by="language"))
    assert as_text(set_reports(scores)[0]).startswith("Nothing is known of the judge by language")
    assert score_bench(bench, WantedScores(by="category")).audit is None
