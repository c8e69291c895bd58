"""What `arena power` answers, for programs and for people."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.played import invoke
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.leaderboard.power import (
    GOALS,
    WAVE,
    PowerEstimate,
    PowerQuestion,
    answer,
)
from videoautoarena.runs.views.results.forms import as_text
from videoautoarena.runs.views.results.power import power_json, power_report

QUICK = ("--models", 2, "--gap", 150, "--tournaments", 12)


@pytest.fixture(scope="module")
def found() -> PowerEstimate:
    return answer(PowerQuestion(models=3, gap=120.0, tournaments=10))


@pytest.fixture(scope="module")
def table(found: PowerEstimate) -> dict[str, Any]:
    return found.to_json()


def test_wider_gaps_need_fewer_battles(table: dict[str, Any]) -> None:
    wide = answer(PowerQuestion(models=3, gap=300.0, tournaments=10))
    for goal in GOALS:
        assert (wide.needed[goal].battles or 0) < table["needed"][goal]["battles"]


def test_a_whole_order_needs_more_than_one_gap_and_a_stop_more_than_that(
    table: dict[str, Any],
) -> None:
    one, order, stop = (table["needed"][goal]["battles"] for goal in GOALS)
    assert one < order < stop


def test_what_is_needed_lies_in_its_interval_and_says_how_many_videos(
    table: dict[str, Any],
) -> None:
    for found in table["needed"].values():
        assert found["low"] <= found["battles"] <= found["high"]
        assert 0 <= 9 * found["videos"] - found["battles"] < 9


def test_the_curve_rises_and_intervals_shrink(table: dict[str, Any]) -> None:
    curve = table["curve"]
    battles = [point["battles"] for point in curve]
    assert battles == sorted(set(battles))
    assert all(n % WAVE == 0 for n in battles)
    assert curve[-1]["neighbours"]["value"] > curve[0]["neighbours"]["value"]
    assert curve[-1]["width"] < curve[0]["width"]
    stops = [point["separated"]["value"] for point in curve]
    assert stops == sorted(stops)


def test_the_same_question_has_the_same_answer() -> None:
    question = PowerQuestion(models=2, gap=200.0, tournaments=10)
    assert answer(question) == answer(question)
    assert answer(question) != answer(PowerQuestion(models=2, gap=200.0, tournaments=10, seed=1))


def test_few_videos_end_a_tournament_and_say_what_can_be_told_by_then() -> None:
    table = power_json(
        answer(PowerQuestion(models=4, gap=20.0, videos=25, rounds=2, tournaments=10))
    )
    assert table["curve"][-1]["battles"] == 25 * 3 * 2
    assert table["needed"]["order"] == dict.fromkeys(("battles", "low", "high", "videos"))
    assert table["sentence"].startswith(
        "25 videos of 2 rounds make 150 battles, which are not enough"
    )


def test_uniform_pairs_can_be_asked_about() -> None:
    table = answer(PowerQuestion(models=2, gap=200.0, pairing="uniform", tournaments=10)).to_json()
    assert table["question"]["pairing"] == "uniform"
    assert table["needed"]["neighbours"]["battles"] > 0


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"models": 1}, "--models 1 is out of range; give 2 to 200"),
        ({"gap": 0.0}, "--gap 0 "),
        ({"gap": float("nan")}, "--gap nan "),
        ({"power": 1.0}, "--power 1 "),
        ({"videos": 1}, "--videos 1 "),
        ({"battles": 5}, "--battles 5 "),
        ({"pairing": "nearest"}, "pairing= is one of mix, uniform"),
    ],
)
def test_a_figure_out_of_range_is_named(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInput) as wrong:
        answer(PowerQuestion(**asked))
    assert str(wrong.value).startswith(named)


def test_a_person_reads_it_in_eighty_columns(found: PowerEstimate) -> None:
    lines = as_text(power_report(found)).splitlines()
    assert max(map(len, lines)) <= 80
    battles = found.needed["neighbours"].battles
    assert any(line.startswith("a model is separated") and f"{battles:,}" in line for line in lines)
    assert f"{battles:,} battles" in power_json(found)["sentence"]


def test_what_was_not_reached_reads_never() -> None:
    found = answer(PowerQuestion(models=3, gap=5.0, battles=200, tournaments=10))
    assert sum("never" in line for line in as_text(power_report(found)).splitlines()) == len(GOALS)


def test_the_command_prints_an_object_to_stdout_and_its_chatter_elsewhere() -> None:
    result = invoke("power", *QUICK, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["question"]["gap"] == 150.0
    assert result.stderr == "playing 12 tournaments of up to 100,000 battles\n"


def test_the_command_prints_lines_that_fit() -> None:
    result = invoke("power", *QUICK)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
