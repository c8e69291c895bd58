"""Scores against an anchor: counted by hand, and shown with what must be known of them."""

from __future__ import annotations

import csv
import io
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.held import LABELS, held
from tests.support.judged import bench_of, judged
from tests.support.played import invoke
from tests.support.told import notes, plain, scored
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.points import LEADS, shares_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import Anchored, read_anchored, write_result
from videoautoarena.runs.bench.score.anchor_score import AnchorScoring, build_anchored
from videoautoarena.runs.bench.score.compare import compare
from videoautoarena.runs.views.results.comparisons import comparison_report, pasted
from videoautoarena.scoring.fitting.bradley_terry import SCALE


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> OpenBench:
    """Twelve questions about as many videos, which no test writes to."""
    return bench_of(tmp_path_factory.mktemp("ground"), 12)


def board(bench: OpenBench, *results: Anchored, **way: Any) -> dict[str, Any]:
    (found,) = build_anchored(bench, results, AnchorScoring(**way))
    return found


def of(bench: OpenBench, *said: str, **more: Any) -> Anchored:
    return held(bench, more.pop("model", "owl"), said, write=False, **more)


def test_much_better_counts_three_times_and_equal_half(bench: OpenBench) -> None:
    # Won: 3 + 3, then 1 + 1/2, then nothing of 1 + 3, so 7.5 of 12.
    (row,) = board(bench, of(bench, ">> >>", "> =", "< <<"))["models"]
    assert row["score"] == pytest.approx(62.5)
    assert row["rating"] == pytest.approx(1000 + SCALE * np.log(0.625 / 0.375))
    assert row["n"] == 3
    assert row["share"] == pytest.approx(100 * (1 + 0.75 + 0) / 3)
    assert (row["much_better"], row["better"], row["same"]) == (2, 1, 1)
    assert (row["worse"], row["much_worse"], row["missing"]) == (1, 1, 9)


def test_the_weight_is_the_readers(bench: OpenBench) -> None:
    (row,) = board(bench, of(bench, ">> >>", "> =", "< <<"), weight=1)["models"]
    assert row["score"] == pytest.approx(100 * 3.5 / 6)


def test_a_question_with_a_void_seating_counts_for_nobody(bench: OpenBench) -> None:
    found = board(bench, of(bench, "> >", "< <", ">> ?", "?"))
    (row,) = found["models"]
    assert (row["score"], row["n"], row["void"]) == (pytest.approx(50.0), 2, 2)
    assert "voids" in row["flags"]
    assert any("2 questions void, which are not counted" in line for line in notes(found))


def test_a_model_without_an_answer_has_lost_both_games(bench: OpenBench) -> None:
    (row,) = board(bench, of(bench, "<<", ">> >>"))["models"]
    assert (row["score"], row["n"], row["void"]) == (pytest.approx(50.0), 2, 0)


def test_seats_that_disagree_are_counted_and_told(bench: OpenBench) -> None:
    # A judge for whom the answer that is read first always wins, but once.
    found = board(bench, of(bench, "< >", "< >", "<< >", "> >"))
    assert found["seats"] == {"questions": 4, "same": 1, "split": 3, "first": 7, "second": 1}
    assert found["models"][0]["split"] == 3
    (told,) = [line for line in notes(found) if line.startswith("Position")]
    assert "read first won 87.5 % of 8 decided judgings; on 3 of 4 questions" in told


def test_a_tie_beside_a_verdict_is_no_split(bench: OpenBench) -> None:
    assert board(bench, of(bench, "= >"))["seats"]["split"] == 0


def test_turning_every_verdict_turns_the_score(bench: OpenBench) -> None:
    words = ("<<", "<", "=", ">", ">>")
    pairs = [f"{a} {b}" for a, b in product(words, repeat=2)][:12]
    turned = [" ".join(words[4 - words.index(w)] for w in pair.split()) for pair in pairs]
    one, other = (board(bench, of(bench, *said))["models"][0] for said in (pairs, turned))
    assert one["score"] + other["score"] == pytest.approx(100)
    assert one["low"] + other["high"] == pytest.approx(100)


@given(st.lists(st.sampled_from([f"{a} {b}" for a in LABELS for b in LABELS]), max_size=12))
@settings(max_examples=15, deadline=None)
def test_scores_lie_within_their_bounds_whatever_was_said(
    bench: OpenBench, said: list[str]
) -> None:
    found = board(bench, of(bench, *said), of(bench, "> <", ">> =", model="mole"))
    json.dumps(found, allow_nan=False)
    for row in found["models"]:
        if row["score"] is not None:
            assert 0 <= row["low"] <= row["score"] <= row["high"] <= 100
        assert row["n"] + row["void"] + row["missing"] == 12


def test_models_of_one_judge_and_anchor_share_a_board(bench: OpenBench) -> None:
    results = [
        of(bench, "> >", model="a"),
        of(bench, "> >", model="b", anchor="other"),
        of(bench, "> >", model="c", judge="second"),
        of(bench, "< <", model="d"),
    ]
    found = build_anchored(bench, results)
    assert [[row["model"] for row in one["models"]] for one in found] == [["a", "d"], ["b"], ["c"]]


def test_the_best_stands_first_with_its_lead(bench: OpenBench) -> None:
    found = board(
        bench, of(bench, *["< <"] * 12, model="low"), of(bench, *["> >", "> ="] * 6, model="high")
    )
    assert [row["model"] for row in found["models"]] == ["high", "low"]
    (lead,) = found["differences"]
    assert (lead["a"], lead["b"], lead["difference"]) == ("high", "low", pytest.approx(87.5))
    assert notes(found)[-1] == "high leads, and no other may be best."
    assert [row["rank"] for row in found["models"]] == [1, 3]
    assert "one-sided" in found["models"][1]["flags"]


def test_a_model_of_which_nothing_counts_has_no_score(bench: OpenBench) -> None:
    found = board(bench, of(bench, "? ?", model="a"), of(bench, "> <", model="b"))
    assert [(row["model"], row["score"]) for row in found["models"]][1] == ("a", None)
    assert "| a | – |" in pasted(scored(found), "markdown")


def test_drawing_videos_again_moves_no_score(bench: OpenBench) -> None:
    said = ["> >", "< =", ">> >", "<< <"] * 3
    plain = board(bench, of(bench, *said))["models"][0]
    drawn = board(bench, of(bench, *said), intervals="bootstrap")["models"][0]
    assert drawn["score"] == plain["score"]
    assert (drawn["low"], drawn["high"]) != (plain["low"], plain["high"])


def lengthy(bench: OpenBench, *, won_long: int, long: int, won_short: int) -> Anchored:
    """Return a result of whose answers so many of ten win, are long, and win though they are short.

    In turns over the questions of the bench, alike from both seats; short is as long as the anchor.
    """
    tens = [(k < won_long, True) for k in range(long)]
    tens += [(k < won_short, False) for k in range(10 - long)]
    turns = {item.qid: tens[k % 10] for k, item in enumerate(bench.items)}
    words = ["> >" if is_won else "< <" for is_won, _ in turns.values()]
    result = held(bench, "long", words, write=False)
    lines = [
        one.model_copy(update={"response": "so " * (30 if turns[one.qid][1] else 3)})
        for one in result.rulings
    ]
    return result.model_copy(update={"rulings": lines})


def test_style_takes_out_what_length_alone_has_won(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 400)
    told = lengthy(bench, won_long=4, long=5, won_short=2)
    plain, controlled = (board(bench, told, style=style) for style in (False, True))
    assert controlled["models"][0]["score"] < plain["models"][0]["score"] - 10
    assert controlled["terms"]["control"]["identified"]
    assert controlled["terms"]["style"]["length"]["points"] > 100
    assert controlled["terms"]["style"]["headers"] is None
    assert any(line.startswith("Style, points per") for line in notes(controlled))


def test_style_that_few_games_do_not_tell_from_strength_is_left_in(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 40)
    told = lengthy(bench, won_long=4, long=5, won_short=2)
    plain, refused = (board(bench, told, style=style) for style in (False, True))
    assert refused["models"] == plain["models"]
    assert refused["lead"] == plain["lead"]
    assert not refused["terms"]["control"]["identified"]
    assert refused["terms"]["style"]["length"]["low"] < refused["terms"]["style"]["length"]["high"]
    assert any(line.startswith("Style is not taken out of the ratings") for line in notes(refused))


def test_style_of_answers_that_nobody_kept_is_refused(bench: OpenBench) -> None:
    with pytest.raises(BadInput, match=r'"owl" has 1 judgings without both answers'):
        board(bench, of(bench, "> >", texts=("a", None)), style=True)


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 3)
    made = held(bench, "../owl\x1b[31m", ["> =", "<<", "? >>"])
    assert read_anchored(bench) == [made]
    with pytest.raises(BadInput, match='against "base" already; pass --force'):
        write_result(bench, made)
    assert [file.parent for file in bench.results.iterdir()] == [bench.results]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (["> >", "> >"], "rules twice"),
        (["<<", "> >"], "rules twice"),
        (["<<", "<<"], "rules twice"),
    ],
)
def test_a_question_is_compared_once_a_seating(tmp_path: Path, said: list[str], wrong: str) -> None:
    bench = bench_of(tmp_path, 2)
    made = held(bench, "owl", said, write=False)
    same = [one.model_copy(update={"qid": bench.items[0].qid}) for one in made.rulings]
    write_result(bench, made.model_copy(update={"rulings": same}))
    with pytest.raises(BadInput, match=wrong):
        read_anchored(bench)


def test_what_is_held_against_references_is_left_alone(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    judged(bench, "owl", ["win"] * 12, ["win"] * 12)
    before = json.loads(invoke("bench", "score", bench.folder, "--json").stdout)
    held(bench, "owl", ["> >"] * 12)
    after = json.loads(invoke("bench", "score", bench.folder, "--json").stdout)
    (anchored,) = after.pop("anchored")
    assert after == before
    alone = json.loads(invoke("bench", "score", bench.folder, "--anchor", "base", "--json").stdout)
    assert alone["models"] == []
    assert alone["anchored"] == [anchored]
    both = invoke("bench", "score", bench.folder).stdout
    assert both.index("vs") < both.index("Against base, judged by judge")


def test_a_lead_is_said_to_be_another_figure_than_the_scores(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    held(bench, "owl", ["> >"] * 12)
    assert "lead over next:" not in " ".join(invoke("bench", "score", bench.folder).stdout.split())
    held(bench, "mole", ["= ="] * 12)
    told = " ".join(invoke("bench", "score", bench.folder).stdout.split())
    assert "lead over next: 95 % interval of the difference" in told
    assert "not of these win rates" in told


def test_stand_ins_alone_against_an_anchor_are_said_to_be_some(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    made = held(bench, "owl", ["> >"] * 2, write=False)
    write_result(bench, made.model_copy(update={"facts": {"model": "offline:owl"}}))
    found = json.loads(invoke("bench", "score", bench.folder, "--anchor", "base", "--json").stdout)
    assert [found["stand_ins"], found["anchored"][0]["stand_ins"]] == [True, True]


def test_every_form_holds_the_same_figures(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    held(bench, "=owl|`x`", ["> >", "> <"] * 6)
    scored = {
        form: invoke("bench", "score", bench.folder, "--by", "duration", "--format", form).stdout
        for form in ("csv", "json", "latex", "markdown", "table")
    }
    (found,) = json.loads(scored["json"])["anchored"]
    rows = list(csv.DictReader(io.StringIO(scored["csv"])))
    assert [float(row["score"]) for row in rows] == [pytest.approx(75.0)] * 2
    assert [row["slice"] for row in rows] == ["", found["slices"][0]["slice"]]
    assert rows[0]["model"] == "'=owl|`x`"
    for form in ("latex", "markdown", "table"):
        assert "75.00" in scored[form]
    assert "base (anchor)" in scored["table"]


def test_an_anchor_that_nobody_met_is_named(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 2)
    held(bench, "owl", ["> >"])
    told = str(invoke("bench", "score", bench.folder, "--anchor", "nobody").exception)
    assert told.startswith('there are no results against "nobody"')
    assert told.endswith('there is "base" by "judge"')


def test_two_models_are_compared_question_by_question(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    held(bench, "owl", ["> >"] * 12)
    held(bench, "mole", ["> <"] * 11 + ["? <"])
    report = compare(bench, "owl", "mole")
    assert report.anchor == "base"
    assert (report.questions, report.items["a_higher"]) == (11, 11)
    assert report.difference["average"].value == pytest.approx(50.0)
    assert report.better > 0.999
    told = plain(comparison_report(report))
    assert told.startswith("Share of a question's games against base, judged by judge.")
    assert "note: only 11 videos: intervals are rough below 50." in told
    turned, there = (comparison_report(compare(bench, *names)).headline for names in (
        ("mole", "owl"), ("owl", "mole")
    ))  # fmt: skip
    assert turned is not None
    assert there is not None
    assert turned.text == there.text


def test_the_references_count_where_both_were_held_against_them(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    for model, word in (("owl", ">"), ("mole", "<")):
        judged(bench, model, ["win"] * 12, ["win"] * 12)
        held(bench, model, [f"{word} {word}"] * 12)
    assert compare(bench, "owl", "mole").anchor is None
    assert compare(bench, "owl", "mole", anchor="base").anchor == "base"


def test_several_anchors_must_be_told_apart(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 3)
    for model, anchor in (("owl", "base"), ("mole", "base"), ("owl", "other"), ("mole", "other")):
        held(bench, model, ["> >"] * 3, anchor=anchor)
    with pytest.raises(BadInput, match="pick one with anchor="):
        compare(bench, "owl", "mole")
    assert compare(bench, "owl", "mole", anchor="other").anchor == "other"
    with pytest.raises(BadInput, match='"hawk" has no result against an anchor'):
        compare(bench, "owl", "hawk", anchor="base")


def test_a_share_is_of_the_weighted_games(bench: OpenBench) -> None:
    result = of(bench, ">> <", "= =", ">", "? >")
    assert list(shares_of(result).values()) == [0.75, 0.5, 1.0]
    assert set(LABELS.values()) == {*LEADS, "void"}
