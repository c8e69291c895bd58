"""Scores on a bench, by the rule of VideoAutoBench."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.played import invoke
from tests.support.published_bench import (
    ITEMS,
    VIDEOS,
    outcomes,
    published,
    write_judgments,
    write_published,
)
from tests.support.quoted import misquoting
from tests.support.told import board_report, notes, scored
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import (
    REFERENCES,
    Result,
    Ruling,
    read_results,
    write_result,
)
from videoautoarena.runs.bench.format.schema import counts_of
from videoautoarena.runs.bench.score.compare import compare
from videoautoarena.runs.bench.score.score import build_scores
from videoautoarena.runs.exchange.interop.judgments import import_judgments
from videoautoarena.runs.exchange.interop.videoautobench import import_videoautobench
from videoautoarena.runs.views.results.comparisons import pasted
from videoautoarena.runs.views.results.forms import ReportView
from videoautoarena.runs.views.results.preferences import printed

TABLE = {
    "GPT-4o": (170, 22, 240, "70.98", "94.12", "82.55"),
    "GPT-4o-mini": (120, 14, 235, "49.80", "92.16", "70.98"),
    "Gemini-1.5-Flash": (60, 19, 209, "27.25", "81.96", "54.61"),
    "Aria": (42, 17, 196, "19.80", "76.86", "48.33"),
    "Qwen2-VL-72B": (30, 11, 165, "13.92", "64.71", "39.32"),
    "Qwen2-VL-7B": (25, 11, 153, "11.96", "60.00", "35.98"),
    "LLaVA-Video-72B": (15, 8, 143, "7.45", "56.08", "31.77"),
    "LLaVA-OneVision-72B": (9, 3, 133, "4.12", "52.16", "28.14"),
    "LLaVA-Video-7B": (13, 1, 119, "5.29", "46.67", "25.98"),
    "LLaVA-OneVision-7B": (9, 0, 79, "3.53", "30.98", "17.26"),
}
"""Wins and ties against selected, wins against rejected, and the published figures they give."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> OpenBench:
    folder = tmp_path_factory.mktemp("published")
    import_videoautobench(write_published(folder / "vab.json", published()), folder / "bench")
    return open_bench(folder / "bench")


def result(
    bench: OpenBench,
    selected: Sequence[str],
    rejected: Sequence[str],
    *,
    model: str = "owl",
    judge: str = "gpt-4o",
) -> Result:
    """A verdict for each question from the first on; None where there is none."""
    rulings = [
        Ruling.model_validate({"qid": item.qid, "against": against, "verdict": verdict})
        for against, verdicts in zip(REFERENCES, (selected, rejected), strict=True)
        for item, verdict in zip(bench.items, verdicts, strict=False)
    ]
    return Result(bench=bench.bench, model=model, judge=judge, how="import", rulings=rulings)


def row(bench: OpenBench, *results: Result, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = build_scores(bench, results, **options)["models"][0]
    return found


@pytest.mark.parametrize("model", TABLE)
def test_published_figures_come_out_to_the_last_digit(bench: OpenBench, model: str) -> None:
    wins, ties, over_rejected, *figures = TABLE[model]
    found = row(
        bench,
        result(bench, outcomes(wins, ties), outcomes(over_rejected, 5), model=model),
    )
    assert printed(found) == tuple(map(float, figures))
    assert found["vs_selected"] == pytest.approx(100 * (wins + ties / 2) / ITEMS)
    assert found["average"] == pytest.approx((found["vs_selected"] + found["vs_rejected"]) / 2)
    assert (found["n"], found["videos"], found["flags"]) == (ITEMS, VIDEOS, [])


def test_a_table_is_recomputed_from_judge_outputs_as_they_are_published(tmp_path: Path) -> None:
    source = published()
    words = write_published(tmp_path / "vab.json", source), "--to", tmp_path / "bench"
    assert invoke("import", "videoautobench", *words).exit_code == 0
    for model in ("GPT-4o", "Aria"):
        wins, ties, over_rejected, *_ = TABLE[model]
        given_to = tmp_path / model
        selected = write_judgments(
            given_to, source, against="selected", verdicts=outcomes(wins, ties)
        )
        rejected = write_judgments(
            given_to, source, against="rejected", verdicts=outcomes(over_rejected, 5)
        )
        import_judgments(selected, rejected, open_bench(tmp_path / "bench"), model)
    found = json.loads(invoke("bench", "score", tmp_path / "bench", "--json").stdout)
    figures = [
        (r["model"], *(round(r[k], 2) for k in ("vs_selected", "vs_rejected", "average")))
        for r in found["models"]
    ]
    assert figures == [("GPT-4o", 70.98, 94.12, 82.55), ("Aria", 19.8, 76.86, 48.33)]
    assert "70.98" in invoke("bench", "score", tmp_path / "bench").stdout


def test_a_tie_with_the_rejected_answer_is_not_won(bench: OpenBench) -> None:
    found = row(bench, result(bench, ["tie"] * ITEMS, ["tie"] * ITEMS))
    assert (found["vs_selected"], found["vs_rejected"], found["average"]) == (50.0, 0.0, 25.0)
    told = notes(build_scores(bench, [result(bench, ["tie"] * ITEMS, ["tie"] * ITEMS)]))
    assert "A tie counts half against a selected answer, nothing against a rejected one." in told


def test_a_void_is_not_won_and_the_share_of_the_decided_stands_beside(bench: OpenBench) -> None:
    verdicts = ["win"] * 100 + ["void"] * 100 + ["loss"] * 55
    given_to = result(bench, verdicts, ["win"] * ITEMS)
    found = row(bench, given_to)
    assert found["vs_selected"] == pytest.approx(100 * 100 / 255)
    assert found["decided"]["vs_selected"] == pytest.approx(100 * 100 / 155)
    assert (found["decided"]["n"], found["selected"]["void"]) == (155, 100)
    assert found["flags"] == ["voids"]
    decided = row(bench, given_to, of="decided")
    assert {k: decided[k] for k in found["decided"]} == found["decided"]
    told = " ".join(notes(build_scores(bench, [given_to])))
    assert (
        "owl: 100 of 510 judgings void; on the 155 questions decided its average is 82.26" in told
    )


def test_what_is_missing_counts_only_when_asked(bench: OpenBench) -> None:
    given_to = result(bench, ["win"] * 51, ["win"] * 51)
    found = row(bench, given_to)
    whole = row(bench, given_to, of="all")
    assert (found["average"], found["n"], found["flags"]) == (100.0, 51, ["partial"])
    assert (whole["average"], whole["n"]) == (pytest.approx(20.0), 255)
    assert "owl: 204 of 255 questions not judged." in notes(build_scores(bench, [given_to]))


def test_questions_that_count_on_one_side_only_stay_in_that_percentage(bench: OpenBench) -> None:
    found = row(bench, result(bench, ["win"] * 200 + ["loss"] * 55, ["win"] * 200))
    assert found["vs_selected"] == pytest.approx(100 * 200 / 255)
    assert (found["vs_rejected"], found["n"]) == (100.0, 200)
    assert found["low"] < found["average"] < found["high"] <= 100.0


def test_two_seatings_of_a_question_count_half_each(bench: OpenBench) -> None:
    qid = bench.items[0].qid
    rulings = [
        Ruling(qid=qid, against=against, verdict=verdict, seats=seats)
        for against in REFERENCES
        for seats, verdict in (("ab", "win"), ("ba", "loss"))
    ]
    both = Result(bench=bench.bench, model="owl", judge="j", how="run", rulings=rulings)
    assert row(bench, both)["average"] == 50.0


def test_the_best_stands_first_and_names_part_equals(bench: OpenBench) -> None:
    results = [
        result(bench, outcomes(wins, 0), outcomes(wins, 0), model=model)
        for model, wins in (("c", 10), ("b", 20), ("a", 10))
    ]
    board = build_scores(bench, results)
    assert [r["model"] for r in board["models"]] == ["b", "a", "c"]
    assert [(d["a"], d["b"]) for d in board["differences"]] == [("b", "a"), ("b", "c"), ("a", "c")]


def test_a_difference_is_that_of_a_comparison(bench: OpenBench, tmp_path: Path) -> None:
    import_videoautobench(write_published(tmp_path / "v.json", published()), tmp_path / "bench")
    for model, wins in (("one", 90), ("other", 60)):
        verdicts = outcomes(wins, 20)[::-1] if model == "one" else outcomes(wins, 20)
        write_result(bench, result(bench, verdicts, outcomes(wins, 0), model=model), force=True)
    board = build_scores(bench, read_results(bench))
    (found,) = board["differences"]
    lead = compare(bench, "one", "other").difference["average"]
    for mine, theirs in (("difference", "value"), ("low", "low"), ("high", "high")):
        assert found[mine] == pytest.approx(getattr(lead, theirs), abs=0.01)


def test_what_is_hard_for_both_widens_no_difference(bench: OpenBench) -> None:
    hard = outcomes(128, 0)
    better = ["win"] * 10 + hard[10:118] + ["loss"] * 0 + ["win"] * 20 + ["loss"] * 117
    one = result(bench, better, better, model="one")
    other = result(bench, hard, hard, model="other")
    (found,) = build_scores(bench, [one, other])["differences"]
    alone = row(bench, one)
    assert found["high"] - found["low"] < (alone["high"] - alone["low"]) / 2


def test_several_questions_of_a_video_are_worth_less_than_as_many_videos(tmp_path: Path) -> None:
    wide = []
    for videos in (8, 80):
        file = write_published(tmp_path / f"{videos}.json", published(80, videos))
        import_videoautobench(file, tmp_path / f"bench-{videos}")
        opened = open_bench(tmp_path / f"bench-{videos}")
        of_video = {item.video_id: k % 2 for k, item in enumerate(opened.items[:8])}
        verdicts = [
            "win" if of_video.get(item.video_id, k % 2) else "loss"
            for k, item in enumerate(opened.items)
        ]
        found = row(opened, result(opened, verdicts, verdicts))
        wide.append(found["high"] - found["low"])
    assert wide[0] > 2 * wide[1]


def test_judges_stand_apart_and_are_never_subtracted(bench: OpenBench) -> None:
    results = [
        result(bench, outcomes(10, 0), outcomes(10, 0), judge=judge) for judge in ("one", "two")
    ]
    board = build_scores(bench, results)
    assert board["differences"] == []
    assert "Judges differ: compare models that one judge judged." in notes(board)
    assert "| owl | one |" in pasted(scored(board), "markdown")


def test_a_slice_scores_its_own_questions(bench: OpenBench) -> None:
    topics = ["rain", "snow", None]
    items = [
        item.model_copy(update={"topic": topics[k % 3], "duration_s": float(10 ** (k % 3 + 1))})
        for k, item in enumerate(bench.items)
    ]
    sliced = OpenBench(bench.folder, bench.bench, bench.manifest, items)
    verdicts = ["win" if k % 3 == 0 else "loss" for k in range(ITEMS)]
    board = build_scores(sliced, [result(sliced, verdicts, verdicts)], by="topic")
    assert [
        (part["slice"], part["items"], part["models"][0]["average"]) for part in board["slices"]
    ] == [("rain", 85, 100.0), ("snow", 85, 0.0), ("unknown", 85, 0.0)]
    by_duration = build_scores(sliced, [result(sliced, verdicts, verdicts)], by="duration")
    assert [part["slice"] for part in by_duration["slices"]] == ["8-15 s", "60-180 s", "900-3600 s"]


def test_a_question_stands_in_each_of_its_categories_and_once_in_the_whole(
    bench: OpenBench,
) -> None:
    with pytest.raises(WrongArgument, match=r"this set has duration, category, topic, language$"):
        build_scores(bench, [], by="question-category")
    kinds = [["code", "text_on_screen", "code"], ["text_on_screen"], [], None, ["=own"]]
    items = [
        item.model_copy(update={"question_categories": kinds[k % 5]})
        for k, item in enumerate(bench.items)
    ]
    sliced = OpenBench(bench.folder, bench.bench, bench.manifest, items)
    verdicts = ["win" if k % 5 == 0 else "loss" for k in range(ITEMS)]
    board = build_scores(sliced, [result(sliced, verdicts, verdicts)], by="question-category")
    assert [
        (part["slice"], part["items"], part["models"][0]["average"]) for part in board["slices"]
    ] == [
        *(("text on screen", 102, 50.0), ("code", 51, 100.0), ("none of these", 51, 0.0)),
        *(("=own", 51, 0.0), ("unknown", 51, 0.0)),
    ]
    assert (board["items"], board["models"][0]["average"]) == (255, 20.0)
    assert "may share questions" in " ".join(notes(board))
    assert counts_of(items)["question_categories"]["code"] == 51


def test_a_model_that_was_asked_nothing_of_a_slice_has_no_score_there(bench: OpenBench) -> None:
    items = [
        item.model_copy(update={"category": "cooking" if k < 50 else "travel"})
        for k, item in enumerate(bench.items)
    ]
    sliced = OpenBench(bench.folder, bench.bench, bench.manifest, items)
    board = build_scores(sliced, [result(sliced, ["win"] * 50, ["win"] * 50)], by="category")
    empty = board["slices"][1]["models"][0]
    assert (empty["average"], empty["low"], empty["n"]) == (None, None, 0)
    assert "| owl | 100.00 (50) | – |" in pasted(scored(board), "markdown")


verdicts = st.lists(st.sampled_from(["win", "tie", "loss", "void"]), min_size=1, max_size=12)


@settings(max_examples=15, deadline=None)
@given(selected=verdicts, rejected=verdicts, of=st.sampled_from(["judged", "decided", "all"]))
def test_every_interval_holds_its_figure(
    bench: OpenBench, selected: list[str], rejected: list[str], of: Any
) -> None:
    found = row(bench, result(bench, selected, rejected), of=of)
    if found["average"] is not None:
        assert 0 <= found["low"] <= found["average"] <= found["high"] <= 100
    for side in REFERENCES:
        counts = (found[side][verdict] for verdict in ("win", "tie", "loss", "void", "missing"))
        assert sum(counts) == ITEMS


def test_scores_of_stand_ins_say_so(bench: OpenBench) -> None:
    real = result(bench, outcomes(1, 0), outcomes(2, 0))
    stand_in = real.model_copy(update={"model": "h", "facts": {"model": "offline:hawk"}})
    told = "rates stand-ins: every model is an offline one."
    assert told in notes(build_scores(bench, [stand_in]))
    assert told not in notes(build_scores(bench, [stand_in, real]))


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_a_narrow_terminal_loses_columns_before_names(bench: OpenBench, width: int) -> None:
    from rich.console import Console

    names = ["offline:windbag", "offline:hawk"]
    found = [result(bench, outcomes(9, n), outcomes(9, 0), model=m) for n, m in enumerate(names)]
    file = io.StringIO()
    view = ReportView(board_report(build_scores(bench, found)))
    Console(width=width, file=file).print(view)
    table, _, below = file.getvalue().partition("In percent")
    assert all(name in table for name in ("average", *names))
    assert max(map(len, file.getvalue().splitlines())) <= width
    assert ("over next" in table.split("──")[0]) == (width >= 80)
    assert ("A wider terminal also shows: n" in table) == (width < 80)
    (first,) = (line for line in table.splitlines() if names[0] in line)
    assert "1.9 to 6.6" in first
    assert below


def test_models_judged_on_few_videos_are_named_in_one_line(bench: OpenBench) -> None:
    few = [result(bench, ["win"] * 5, ["win"] * 5, model=name) for name in ("mole", "owl")]
    many = result(bench, ["win"] * 50, ["win"] * 50, model="hawk")
    words = "Fewer than 10 videos, too few to trust an interval: "
    for found, who in ([*few, many], "mole, owl."), (few, "all."), (few[:1], "mole."):
        told = [line for line in notes(build_scores(bench, found)) if line.startswith(words)]
        assert told == [words + who]
    assert not any(line.startswith(words) for line in notes(build_scores(bench, [many])))


def test_csv_has_every_digit_and_no_formula(bench: OpenBench) -> None:
    board = build_scores(
        bench, [result(bench, outcomes(1, 0), outcomes(2, 0), model='=cmd("x")')], by="topic"
    )
    rows = list(csv.DictReader(io.StringIO(pasted(scored(board), "csv"))))
    assert [r["slice"] for r in rows] == ["", "unknown"]
    assert rows[0]["model"] == '\'=cmd("x")'
    assert float(rows[0]["average"]) == board["models"][0]["average"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_hostile_name_stays_text_at_any_width(bench: OpenBench, width: int) -> None:
    from rich.console import Console

    name = "\x1b[2J[bold]evil[/bold]" * 8
    board = build_scores(bench, [result(bench, outcomes(1, 0), outcomes(2, 0), model=name)])
    console = Console(width=width, file=io.StringIO(), markup=False)
    console.print(ReportView(board_report(board)))
    assert isinstance(console.file, io.StringIO)
    assert "\x1b" not in console.file.getvalue()
    assert "[bold]" in console.file.getvalue().replace("\n", "") or width == 40


def test_a_bench_without_results_says_how_to_get_some(tmp_path: Path) -> None:
    import_videoautobench(write_published(tmp_path / "v.json", published(3, 3)), tmp_path / "b")
    said = invoke("bench", "score", tmp_path / "b")
    assert "no results; make some with arena bench run" in str(said.exception)


def test_a_judge_who_ruled_nothing_is_named_with_those_who_did(tmp_path: Path) -> None:
    import_videoautobench(write_published(tmp_path / "v.json", published(3, 3)), tmp_path / "b")
    opened = open_bench(tmp_path / "b")
    write_result(opened, result(opened, ["win"] * 3, ["win"] * 3))
    said = invoke("bench", "score", tmp_path / "b", "--judge", "nobody")
    assert '"nobody" has no rulings' in str(said.exception)
    assert invoke("bench", "score", tmp_path / "b", "--judge", "gpt-4o").exit_code == 0


def test_a_model_whose_own_answers_are_references_is_named_with_how_often(
    bench: OpenBench,
) -> None:
    found = result(bench, ["tie"] * 40, ["win"] * 40)
    rulings = [
        one.model_copy(
            update={"response": bench.by_qid[one.qid].reference("selected") if k < 4 else "other"}
        )
        for k, one in enumerate(found.rulings)
    ]
    author = found.model_copy(update={"rulings": rulings})
    board = build_scores(bench, [author, result(bench, ["win"] * 40, ["win"] * 40, model="hawk")])
    assert notes(board)[-2] == (
        "Judged against its own answer, word for word, since it wrote references of this bench, so "
        "that its score says less: owl in 4 of 80."
    )
    assert misquoting(board_report(board)) == []
    rare = found.model_copy(update={"rulings": rulings[1:]})
    assert not any("copies" in row for row in build_scores(bench, [rare])["models"])
