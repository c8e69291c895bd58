"""How models behaved: refusals, forfeits, voids, both bad, and how long their answers are."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, call, invoke, play, slot, video
from videoautoarena.memory.records.records import Battle, CallRow, Nonce, StoredAnswer, Usage
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.rating.behaviour import ContestantCall, measure_behaviour

FILM = video()
REFUSAL = "I'm sorry, but I can't help with that."


def battles(*changes: dict[str, Any]) -> list[Battle]:
    return [battle(slot(FILM, k), **change) for k, change in enumerate(changes)]


def conduct(*changes: dict[str, Any], asked: Any = None) -> dict[str, dict[str, Any]]:
    found = measure_behaviour(battles(*changes), ["hawk", "owl"], asked or {})
    return {model: fields_json(behaviour) for model, behaviour in found.items()}


def test_a_refusal_in_plain_words_counts_and_so_does_one_that_the_provider_marked() -> None:
    marked = {(slot(FILM, 2).id, 1): ContestantCall(None, is_refusal=True)}
    gone = {"verdict": "forfeit_b", "reason": "refusal", "answer_b": None}
    found = conduct({}, {"answer_b": REFUSAL}, gone, asked=marked)["owl"]
    assert found["refusal_share"]["value"] == pytest.approx(2 / 3)
    assert found["forfeit_share"]["value"] == pytest.approx(1 / 3)


def test_a_forfeit_for_another_reason_is_no_refusal() -> None:
    both = conduct({"verdict": "forfeit_b", "reason": "outage", "answer_b": None})
    assert (both["hawk"]["forfeit_share"]["value"], both["hawk"]["forfeit_share"]["n"]) == (0.0, 1)
    found = both["owl"]
    assert found["refusal_share"] == {"value": None, "low": None, "high": None, "n": 0}
    assert (found["forfeit_share"]["value"], found["forfeit_share"]["n"]) == (1.0, 1)


def test_voids_are_of_all_slots_and_both_bad_of_the_decided_ones() -> None:
    found = conduct({}, {"verdict": "tie_bad"}, {"verdict": "void", "reason": "no judge"})["hawk"]
    assert found["void_share"]["value"] == pytest.approx(1 / 3)
    assert (found["both_bad_share"]["value"], found["both_bad_share"]["n"]) == (0.5, 2)


def test_a_share_of_one_video_says_that_it_knows_nothing() -> None:
    share = conduct({}, {"verdict": "tie_bad"})["hawk"]["both_bad_share"]
    assert (share["low"], share["high"]) == (0.0, 1.0)


def test_tokens_are_the_providers_where_it_counted_all_else_words() -> None:
    known = {(slot(FILM, k).id, 0): ContestantCall(10 + k, is_refusal=False) for k in range(2)}
    found = conduct({}, {}, asked=known)
    assert (found["hawk"]["mean_tokens"]["value"], found["hawk"]["mean_tokens"]["from"]) == (
        10.5, "provider",
    )  # fmt: skip
    assert (found["owl"]["mean_tokens"]["value"], found["owl"]["mean_tokens"]["from"]) == (
        3.0, "words and signs",
    )  # fmt: skip


def contestant(scope: str, seat: int, **changed: Any) -> CallRow:
    nonce = Nonce(scope=scope, role="contestant", ordinal=2 * seat)
    return call(scope, nonce=nonce, alias=f"seat{seat}", **changed)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    played = battles({}, {"verdict": "tie_bad", "answer_b": REFUSAL}, {"verdict": "tie"})
    usage = Usage(output_tokens=90, reasoning_tokens=30)
    calls = [contestant(one.id, seat, usage=usage) for one in played for seat in (0, 1)]
    return play(tmp_path / "out", played, calls=calls)


def rows(run: Path, *options: str) -> dict[str, dict[str, Any]]:
    table = json.loads(invoke("leaderboard", run, "--json", *options).output)
    return {row["model"]: row for row in table["models"]}


def test_what_was_thought_is_no_part_of_an_answer(run: Path) -> None:
    assert rows(run)["hawk"]["mean_tokens"]["value"] == 60


def test_of_two_calls_for_an_answer_the_one_that_answered_counts(tmp_path: Path) -> None:
    played = battles({}, {})
    spoken = {"usage": Usage(output_tokens=7)}
    mute = {"reply": None, "failure": "gone", "failure_kind": "outage"}
    calls = []
    # Answered at the second ask, and at the first.
    for one, order in zip(played, ((mute, spoken), (spoken, mute)), strict=True):
        for generation, said in enumerate(order):
            nonce = Nonce(scope=one.id, role="contestant", generation=generation)
            calls.append(call(one.id, nonce=nonce, alias="hawk", **said))
    mean = rows(play(tmp_path / "out", played, calls=calls))["hawk"]["mean_tokens"]
    assert (mean["value"], mean["n"], mean["from"]) == (7.0, 2, "provider")


def test_a_borrowed_answer_is_not_counted_again(tmp_path: Path) -> None:
    borrowed = StoredAnswer(battle=slot(FILM, 0).id, seat="a")
    played = battles({}, {"borrowed": borrowed, "model_b": "mole"})
    found = rows(play(tmp_path / "out", played))
    assert {name: row["mean_tokens"]["n"] for name, row in found.items()} == {
        "hawk": 1, "owl": 1, "mole": 1,
    }  # fmt: skip


def test_csv_and_details_show_them(run: Path) -> None:
    table = invoke("leaderboard", run, "--format", "csv").output
    owl = next(r for r in csv.DictReader(io.StringIO(table)) if r["model"] == "owl")
    assert (owl["refusal_share"], owl["mean_tokens"]) == ("0.333333", "60.0")
    assert owl["tokens_from"] == "provider"
    shown = invoke("leaderboard", run, "--details").output
    assert "33.3" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "both bad" in invoke("leaderboard", run, "--details", "--format", "markdown").output


def test_details_of_slices_show_each_figure_and_both_bad_always(run: Path) -> None:
    plain = invoke("leaderboard", run, "--by", "round").output
    lines = [" ".join(line.split()) for line in plain.splitlines()]
    assert "both bad % 0.0 100.0 0.0" in lines
    assert "refused %" in invoke("leaderboard", run, "--by", "round", "--details").output


def test_ties_are_left_out_of_the_fit_and_told(run: Path) -> None:
    table = json.loads(invoke("leaderboard", run, "--json", "--without", "ties").output)
    assert table["settings"]["without"] == {"ties": 2}
    assert table["settings"]["totals"]["decided"] == 1
    assert table["models"][0]["both_bad_share"]["n"] == 3
    shown = invoke("leaderboard", run, "--without", "ties", "--without", "refusals").output
    told = "2 ties and splits and 0 battles with a refusal in plain words"
    assert told in " ".join(shown.split())


def test_refusals_are_left_out_of_the_fit_and_of_slices(run: Path) -> None:
    assert rows(run, "--without", "refusals")["hawk"]["battles"] == 2
    shown = invoke("leaderboard", run, "--by", "round", "--without", "refusals").output
    assert ["left", "out", "0", "1", "0"] in [line.split() for line in shown.splitlines()]
