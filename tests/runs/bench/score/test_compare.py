"""Which of two models is better on a bench: counted by hand, and never surer than it can be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.judged import bench_of, judged
from tests.support.played import invoke
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.points import QuestionPoints, points_of
from videoautoarena.runs.bench.score.compare import BenchComparison, compare
from videoautoarena.runs.views.results.comparisons import comparison_report


def test_a_question_is_worth_what_the_published_rule_says(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 3)
    result = judged(bench, "owl", ["win", "tie", "loss"], ["win", "tie", "win"])
    assert list(points_of(result).values()) == [
        QuestionPoints(1.0, 1.0),
        QuestionPoints(0.5, 0.0),
        QuestionPoints(0.0, 1.0),
    ]


def test_what_is_void_against_one_reference_has_no_points(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    result = judged(bench, "owl", ["void", "win"], ["win", "win"])
    assert list(points_of(result)) == [bench.items[1].qid]


def test_both_seatings_of_a_reference_count_half(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 1)
    result = judged(bench, "owl", ["win"], ["win"])
    (first, second) = result.rulings
    twice = [first.model_copy(update={"seats": "ab"}), second]
    twice.append(first.model_copy(update={"seats": "ba", "verdict": "loss"}))
    both = result.model_copy(update={"rulings": twice})
    assert list(points_of(both).values()) == [QuestionPoints(0.5, 1.0)]


def said_of(found: BenchComparison) -> str:
    headline = comparison_report(found).headline
    assert headline is not None
    return headline.text


def test_who_wins_everywhere_is_better_for_sure(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    judged(bench, "owl", ["win"] * 12, ["win"] * 12)
    judged(bench, "mole", ["loss"] * 12, ["loss"] * 12)
    report = compare(bench, "owl", "mole")
    assert report.difference["average"].value == 100.0
    assert report.better > 0.999
    assert report.items == {"a_higher": 12, "level": 0, "b_higher": 0}
    assert said_of(report).startswith("owl is better than mole, by 100.0 points")
    assert "P(better) 99.9 %" in said_of(report)


def test_the_order_of_the_names_turns_the_figures_and_not_the_sentence(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    judged(bench, "owl", ["win"] * 9 + ["tie"] * 3, ["win"] * 12)
    judged(bench, "mole", ["tie"] * 9 + ["win"] * 3, ["win"] * 12)
    there, back = (compare(bench, *names) for names in (("owl", "mole"), ("mole", "owl")))
    assert said_of(there) == said_of(back)
    assert there.difference["selected"].value == -back.difference["selected"].value
    assert there.better == pytest.approx(1 - back.better)
    assert "not significantly" in said_of(there)


def test_equal_results_tell_nobody_apart(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 4)
    for name in ("owl", "mole"):
        judged(bench, name, ["win"] * 4, ["tie"] * 4)
    report = compare(bench, "owl", "mole")
    assert report.better == 0.5
    assert report.difference["average"].low < 0 < report.difference["average"].high
    assert "have the same score" in said_of(report)


def test_one_video_tells_nobody_apart(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 1, each=3)
    judged(bench, "owl", ["win"] * 3, ["win"] * 3)
    judged(bench, "mole", ["loss"] * 3, ["loss"] * 3)
    report = compare(bench, "owl", "mole")
    assert report.better is None
    assert "too few to generalise" in report.warnings[0]
    assert said_of(report) == "One video is not enough to separate owl and mole."


def test_only_questions_that_both_have_count_and_that_is_said(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 4)
    judged(bench, "owl", ["win", "void", "win"], ["win"] * 3)
    judged(bench, "mole", ["win"] * 4, ["loss"] * 4)
    report = compare(bench, "owl", "mole")
    assert report.questions == 2
    assert report.models[0].average == 100.0
    assert "2 of 4 questions left out" in report.warnings[-1]


def test_several_judges_have_to_be_told_apart(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    for judge, verdict in (("one", "win"), ("two", "loss")):
        judged(bench, "owl", [verdict] * 2, ["win"] * 2, judge=judge)
        judged(bench, "mole", ["tie"] * 2, ["win"] * 2, judge=judge)
    with pytest.raises(BadInput, match=r'several judges .*"one", "two"'):
        compare(bench, "owl", "mole")
    gaps = [compare(bench, "owl", "mole", judge=j).items for j in ("one", "two")]
    assert [gap["a_higher"] for gap in gaps] == [2, 0]


@pytest.mark.parametrize(
    ("names", "words"),
    [(("owl", "owl"), "with itself"), (("owl", "nobody\x1b[31m"), "has no result")],
)
def test_what_cannot_be_compared_is_said(
    tmp_path: Path, names: tuple[str, str], words: str
) -> None:
    bench = bench_of(tmp_path, 1)
    judged(bench, "owl", ["win"], ["win"])
    told = invoke("bench", "compare", bench.folder, *names)
    assert words in str(told.exception)
    assert "\x1b" not in str(told.exception)


def test_a_name_that_paints_the_terminal_is_shown_as_text(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    judged(bench, "o\x1b[31mwl", ["win"] * 2, ["win"] * 2)
    judged(bench, "mole", ["loss"] * 2, ["loss"] * 2)
    told = invoke("bench", "compare", bench.folder, "o\x1b[31mwl", "mole")
    assert told.exit_code == 0
    assert "\x1b" not in told.output
    found = json.loads(
        invoke("bench", "compare", bench.folder, "mole", "o\x1b[31mwl", "--json").output
    )
    assert found["models"][1]["model"] == "o\x1b[31mwl"
