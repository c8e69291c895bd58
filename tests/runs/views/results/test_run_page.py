"""The page of a run as a report: what each section finds, and that its tables say the same."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.analysis.leaderboard.test_effects_by_slice import fought
from tests.runs.rating.test_table import CAST, season
from tests.runs.views.results.test_leaderboard import boards
from tests.support.quoted import misquoting
from videoautoarena.memory.records.records import UnansweredTries
from videoautoarena.memory.records.standards import PAPER_CONTRACTS
from videoautoarena.runs.analysis.leaderboard.slices import PairRecords, build_pairs
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.battles.rounds import Difficulty, Gate, Points, RunRound
from videoautoarena.runs.run.config.preset import left_by_preset
from videoautoarena.runs.run.rundir.account import RunSetup
from videoautoarena.runs.run.rundir.spending import Spending, Waits
from videoautoarena.runs.views.page.document import as_text
from videoautoarena.runs.views.results.report import Report
from videoautoarena.runs.views.results.run_page import (
    RunRecords,
    UnplayedCounts,
    made_section,
    missing_section,
    page_words,
    run_page,
)

NOTHING_LEFT = UnplayedCounts(battles=36, gone=0, files=0, damaged=0)


def page(board: RatedLeaderboard | None = None, **about: Any) -> Report:
    """Return the page of a season of three models, or of what is said here."""
    board = build(season(12), CAST) if board is None else board
    pairs = build_pairs(season(12), CAST, method=RatingMethod())
    plain = RunRecords(board, pairs, (), (), ("eye",), (), (), 61.0, 0.0, 0, NOTHING_LEFT)
    return run_page(replace(plain, **about))


def said(report: Report, key: str) -> str:
    found = report.sentence(key)
    assert found is not None
    return found.text


@pytest.mark.parametrize("number", [2, PAPER_CONTRACTS, None])
def test_how_a_run_by_the_paper_was_made_says_what_is_not_as_there(number: int | None) -> None:
    setup = RunSetup.model_construct(
        swap=0.0,
        pairing="keep-pair",
        version="1",
        contracts=number or 2,
        preset="paper" if number else None,
        sampling=None,
        cast={},
        prompts={},
        seed=0,
    )
    settings = build(season(12), CAST).settings
    facts = made_section(settings, setup).tables[0].rows
    (text,) = [row["text"] for row in facts if row["name"] == "Preset"] or [None]
    if number is None:
        assert text is None
        return
    left = left_by_preset(is_early=number == 2)
    assert text == f"paper, which leaves: {'; '.join(left)}"


def graded(number: int, mean: float | None, refused: int = 0, passed: int = 0) -> RunRound:
    return RunRound(
        round=number,
        battles=9,
        difficulty=Difficulty(values=(), mean=mean),
        before=(),
        standards=None,
        origin={},
        gate=Gate(passed=passed, refused=refused),
        verdicts={},
        points={},
        themes={},
        looked_at=0,
    )


@pytest.mark.parametrize(
    ("rounds", "sentence"),
    [
        ([], "No question was evolved, so none was graded."),
        ([graded(0, None)], "No question was evolved, so none was graded."),
        (
            [graded(0, None), graded(1, 2.9, 1, 2), graded(2, 3.4, 2, 1)],
            "Questions rose from 2.9 to 3.4 of 5 in difficulty from round 2 to round 3; the gate "
            "refused 3 of 6 proposals for not being harder.",
        ),
        (
            [graded(1, 3.42, 0, 1), graded(2, 3.38, 0, 1)],
            "Questions stayed at 3.4 of 5 in difficulty from round 2 to round 3; the gate refused "
            "0 of 2 proposals for not being harder.",
        ),
        (
            [graded(1, 2.0, 0, 1)],
            "Questions of round 2 are 2.0 of 5 hard on average; the gate refused 0 of 1 proposals "
            "for not being harder.",
        ),
    ],
)
def test_rounds_are_told_by_the_means_that_their_table_shows(
    rounds: list[RunRound], sentence: str
) -> None:
    report = page(rounds=rounds)
    assert said(report, "rounds") == sentence
    table = next(one for one in report.tables if one.name == "rounds")
    shown = [table.cell(k, table.column("number")) for k in range(len(rounds))]
    assert shown == [str(one.round + 1) for one in rounds]


def test_the_audit_sentence_counts_alarms_passes_and_what_was_not_measured() -> None:
    calm = Finding("a", 0.5, 0.4, 0.6, 30, "Calm.")
    loud = replace(calm, key="b", is_alarm=True)
    missing = replace(calm, key="c", value=float("nan"))
    assert said(page(findings=[calm, calm, missing]), "audit") == (
        "None of 2 checks on the judge raises an alarm; 1 was not made."
    )
    assert said(page(findings=[calm, loud]), "audit") == (
        "1 of 2 checks on the judge raises an alarm."
    )
    assert said(page(findings=[missing]), "audit") == "No check on the judge could be made yet."


def test_what_stands_behind_the_headline_is_counted() -> None:
    assert said(page(rounds=[graded(0, None)]), "behind") == (
        "84 decided battles on 12 videos, 3 rated models, 1 round of questions, judged by eye."
    )


def test_a_model_won_as_often_as_its_row_says_and_not_as_its_mean_over_opponents() -> None:
    report = page()
    for row in report.tables[0].rows:
        text = said(report, f"standing: {row['model']}")
        counts = f"won {row['wins']}, tied {row['ties']} and lost {row['losses']}"
        assert f"{counts} of {row['battles']} battles." in text


def test_how_far_the_first_stands_above_the_second_is_what_a_reader_subtracts() -> None:
    board = build(season(12), CAST)
    first, second, *rest = board.models
    near = replace(first, rating=1342.4), replace(second, rating=1164.6)
    text = said(page(replace(board, models=(*near, *rest))), "ladder")
    # Of 1342 and 1165; by all digits it would be 178.
    assert text.startswith("hawk stands 177 points above owl; intervals reach ")


def test_two_that_are_rated_alike_are_level_and_none_stands_no_points_above_the_other() -> None:
    board = build(season(12), CAST)
    first, second, *rest = board.models
    near = replace(first, rating=1000.4), replace(second, rating=999.6)
    text = said(page(replace(board, models=(*near, *rest))), "ladder")
    assert text.startswith("hawk and owl are level; intervals reach ")


def test_the_gap_stands_beside_the_narrowest_and_the_widest_interval() -> None:
    report = page()
    table = report.tables[0]
    reaches = {row["model"]: table.cell(k, table.column("interval"))
               for k, row in enumerate(table.rows)}  # fmt: skip
    text = said(report, "ladder")
    found = re.search(r"reach (\S+) for (\w+) and (\S+) for (\w+)\.", text)
    assert found is not None
    assert reaches[found[2]] == found[1]
    assert reaches[found[4]] == found[3]


def test_spending_is_told_in_calls_tokens_time_and_money() -> None:
    judge = Spending(
        role="judge", model=None, calls=1200, failed=0, input_tokens=2_460_000,
        output_tokens=12_000, untold_tokens=0, cost_usd=1.5, known_usd=1.5, unknown_cost=2,
        latency_s=Waits(median=0.24, p90=120.0),
    )  # fmt: skip
    report = page(roles=[judge], cost_usd=1.5, unknown_cost=2)
    assert said(report, "spending") == (
        "1,200 calls read 2,460,000 tokens and wrote 12,000 in 1 min 1 s, for $1.50 known, and "
        "2 calls of unknown cost."
    )
    lost = page(roles=[judge], cost_usd=1.5, lost=UnansweredTries(2, 0.25, 900))
    assert said(lost, "spending").endswith("$1.50; possibly paid, too: 2 attempts, up to $0.2500.")
    table = next(one for one in report.tables if one.name == "spending-by-role")
    assert table.cell(0, table.column("median_s")) == "240 ms"
    assert table.cell(0, table.column("p90_s")) == "2.0 min"


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        (UnplayedCounts(0, 0, 0, 0), "No battle has been played yet, so none was left out."),
        (
            UnplayedCounts(1, 0, 0, 0),
            "Nothing was left out: the one battle was decided and every file was used.",
        ),
        (
            NOTHING_LEFT,
            "Nothing was left out: all 36 battles were decided and every file was used.",
        ),
        (
            UnplayedCounts(36, 2, 1, 0),
            "2 of 36 battles ended without a verdict; 1 file could not be used.",
        ),
        (
            UnplayedCounts(36, 0, 0, 2),
            "0 of 36 battles ended without a verdict; 0 files could not be used; "
            "2 videos or frames are damaged.",
        ),
    ],
)  # fmt: skip
def test_what_was_left_out_is_counted(left: UnplayedCounts, sentence: str) -> None:
    assert said(page(left=left), "missing") == sentence


def test_what_was_left_out_leads_to_its_battles_and_names_a_file_once() -> None:
    status = {
        "void_reasons": {"odd": 2},
        "forfeits": {"hawk": 1},
        "quarantine": [{"path": "a.mp4", "reason": "set aside"}],
        "skipped": [{"path": "a.mp4", "reason": "skipped"}, {"path": "b.mp4", "reason": "empty"}],
        "damage": ["a frame is gone"],
    }
    found = missing_section(page(), status)
    battles, files = found.tables
    assert [(row["battles"], row["link"]["verdict"]) for row in battles.rows] == [
        (2, "void"), (1, "forfeit")
    ]  # fmt: skip
    assert battles.rows[1]["model"] == "hawk"
    assert [row["reason"] for row in files.rows] == ["set aside", "empty"]
    assert [one.text for one in found.notes] == ["a frame is gone"]
    nothing = {key: type(value)() for key, value in status.items()}
    assert missing_section(page(), nothing).tables == ()


def test_the_points_of_a_round_are_those_of_the_first_rated_models_in_percent() -> None:
    taken = {name: Points(share=0.25, n=8) for name in (*CAST, "unrated")}
    rounds = [graded(0, None).model_copy(update={"points": taken}), graded(1, 2.0)]
    points, models = (
        next(one for one in page(rounds=rounds).tables if one.name == name)
        for name in ("points", "leaderboard")
    )
    assert [row["model"] for row in points.rows] == [row["model"] for row in models.rows]
    assert {(row["number"], row["share"]) for row in points.rows} == {(1, 25.0)}


def test_pairs_that_contradict_the_ratings_are_named_or_counted() -> None:
    plain = build_pairs(season(12), CAST, method=RatingMethod())
    odd = tuple(replace(pair, flags=("unlike its ratings",)) for pair in plain.pairs)
    few = replace(plain, pairs=odd[:2])
    many = replace(plain, pairs=odd * 2)
    names = [(pair.model, pair.rival) for pair in odd[:2]]
    assert said(page(pairs=few), "pairs") == (
        f"{names[0][0]} against {names[0][1]} and {names[1][0]} against {names[1][1]} did not go "
        "as the ratings predict."
    )
    every = 2 * len(odd)
    assert said(page(pairs=many), "pairs") == f"{every} of {every} pairs contradict the ratings."
    assert said(page(pairs=PairRecords((), plain.board)), "pairs") == "No pair was decided."


def test_names_of_sentences_become_short_and_parts_say_the_same() -> None:
    report = page()
    words = page_words(report, {name: name.upper() for name in CAST})
    assert words["short"]["hawk"] == "HAWK"
    assert as_text(words["lead"], words["short"]).startswith("HAWK leads")
    assert {"model": "hawk"} in words["lead"]
    assert set(words["standing"]) == set(CAST)


def test_a_page_says_why_style_stays_in_where_it_does() -> None:
    few, many = (
        build(
            fought("Movies", videos=videos, each=8 if videos > 12 else 2),
            CAST,
            method=RatingMethod(style=True),
        )
        for videos in (12, 60)
    )
    report = page(styled=few)
    assert said(report, "control").startswith("Style is not taken out of the ratings")
    (named,) = [table for table in report.tables if table.name == "terms"]
    words = page_words(report, {name: name for name in CAST})
    cells = [cell for part in words["control"] if "cells" in part for cell in part["cells"]]
    assert {name for name, *_ in cells} == {named.name}
    for board in (many, None):
        assert page_words(page(styled=board), {})["control"] == []


def test_the_ladder_says_how_far_apart_the_first_two_are_whether_they_have_intervals_or_not() -> (
    None
):
    many = build(season(12), CAST)
    one = build(season(1), CAST)
    assert re.fullmatch(
        r"hawk stands \d+ points above owl; intervals reach \S+ for \w+ and \S+ for \w+\.",
        said(page(many), "ladder"),
    )
    assert said(page(one), "ladder") == "hawk and owl are level."


@settings(max_examples=25, deadline=None)
@given(boards(), st.lists(st.floats(1, 5), max_size=4))
def test_every_number_of_a_page_is_in_a_table_of_it_or_the_difference_of_two(
    board: RatedLeaderboard, means: list[float]
) -> None:
    report = page(board, rounds=[graded(k, mean, k, 1) for k, mean in enumerate(means)])
    assert misquoting(report) == []
    is_rated = any(row.rating is not None for row in board.models)
    assert (report.sentence("ladder") is not None) == is_rated


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(boards(), st.lists(st.floats(1, 5), max_size=4))
def test_so_it_is_for_many_runs(board: RatedLeaderboard, means: list[float]) -> None:
    report = page(board, rounds=[graded(k, mean, k, 1) for k, mean in enumerate(means)])
    assert misquoting(report) == []
    is_rated = any(row.rating is not None for row in board.models)
    assert (report.sentence("ladder") is not None) == is_rated
