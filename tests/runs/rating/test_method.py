"""The further ways of making a leaderboard: what each says, on a terminal and in JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from rich.console import Console

from tests.support.played import battle, invoke, lineage, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.cli.program.main import load
from videoautoarena.runs.rating import fit
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod, read_anchor
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.views.results.forms import ReportView, marked_up
from videoautoarena.runs.views.results.leaderboard import leaderboard_report
from videoautoarena.scoring.texts.style import (
    FEATURES,
    compare_styles,
    count_style,
    measure_styles,
    standardise,
)

CAST = ["hawk", "owl", "mole"]
EVERYTHING = RatingMethod(
    ties="davidson",
    intervals="bootstrap",
    style=True,
    seats=True,
    anchor="owl",
    simultaneous=True,
    elo=True,
    pairs=True,
)
FIELDS = set(get_type_hints(RatingMethod))
OF_RUNS = {"without", "reweight"}
"""Fields of a method that need a run."""


def season(videos: int, *, ties: int = 0) -> list[Battle]:
    """Battles in which the seat read first wins somewhat too often, and a long answer too."""
    rng = np.random.default_rng(3)
    made = []
    for k in range(videos):
        place = slot(video(f"clip {k}".encode()), 0)
        for n in range(6):
            a, b = rng.permutation(CAST)[:2]
            gap = CAST.index(b) - CAST.index(a)
            long = bool(rng.random() < 0.5)
            won = rng.random() < 1 / (1 + np.exp(-(0.5 * gap + 0.4 + (0.8 if long else -0.8))))
            verdict = "tie_good" if n < ties else "a" if won else "b"
            told = ("a word " * 20, "**so** it is") if long else ("it is", "a word " * 20)
            made.append(
                battle(
                    place, model_a=str(a), model_b=str(b), verdict=verdict,
                    answer_a=told[0], answer_b=told[1],
                )
            )  # fmt: skip
    return made


def board(method: RatingMethod, *, ties: int = 0, videos: int = 60) -> RatedLeaderboard:
    table = build(season(videos, ties=ties), CAST, method=method)
    json.dumps(table.to_json(), allow_nan=False)
    return table


def shown(table: RatedLeaderboard) -> str:
    console = Console(width=400, record=True)
    with console.capture() as captured:
        console.print(ReportView(leaderboard_report(table)))
    return captured.get()


def settings(**chosen: Any) -> dict[str, Any]:
    found: dict[str, Any] = board(RatingMethod(**chosen), ties=1).to_json()["settings"]
    return found


def test_the_usual_way_says_nothing_further() -> None:
    table = board(RatingMethod())
    assert [one.key for one in leaderboard_report(table).sentences] == ["counted", "lead"]
    assert set(table.to_json()) == {"schema", "models", "components", "settings", "leads"}
    assert list(table.to_json()["settings"]) == [
        "model", "fit", "ties", "scale", "mean", "level", "interval", "videos", "totals",
        "shift", "stand_ins", "warnings",
    ]  # fmt: skip


def test_being_first_is_worth_what_the_battles_say() -> None:
    table = board(RatingMethod(seats=True))
    (terms,) = table.to_json()["settings"]["terms"]
    assert terms["seat"]["low"] < 70 < terms["seat"]["high"]
    assert "Being read first is worth +" in shown(table)


def test_a_long_answer_is_worth_more_than_a_bold_word() -> None:
    table = board(RatingMethod(style=True))
    style = table.to_json()["settings"]["terms"][0]["style"]
    assert list(style) == list(FEATURES)
    assert style["length"]["points"] > 0
    assert style["headers"] is None
    assert "headers never differs" in shown(table)


def test_davidson_says_how_many_battles_between_equals_tie() -> None:
    table = board(RatingMethod(ties="davidson"), ties=1)
    share = table.to_json()["settings"]["terms"][0]["tie_share"]
    assert 0.12 < share < 0.25
    assert table.to_json()["settings"]["ties"] == "davidson"
    assert "(Davidson)" in shown(table)
    assert "there are none" in shown(board(RatingMethod(ties="davidson")))


def test_an_anchor_stands_where_it_is_put() -> None:
    table = board(RatingMethod(anchor="owl=1234.5"))
    rating = {row["model"]: row["rating"] for row in table.to_json()["models"]}
    assert rating["owl"] == 1234.5
    assert table.to_json()["settings"]["anchor"] == {"model": "owl", "rating": 1234.5}
    assert "owl is fixed at 1234.5" in shown(table)


@pytest.mark.parametrize(
    ("text", "names", "model", "rating"),
    [
        ("owl", ["owl"], "owl", 1000),
        ("owl=900", ["owl"], "owl", 900),
        ("a=b", ["a=b", "a"], "a=b", 1000),
        ("a=b=5", ["a=b"], "a=b", 5),
    ],
)
def test_a_name_may_hold_an_equals_sign(
    text: str, names: Sequence[str], model: str, rating: float
) -> None:
    assert read_anchor(text, names) == (model, rating)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("eagle", "no such model; there are hawk, owl, mole"),
        ("owl=", "is no rating"),
        ("owl=high", "high is no rating"),
        ("owl=nan", "nan is no rating"),
        ("", "no such model"),
    ],
)
def test_an_anchor_that_is_none_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        board(RatingMethod(anchor=text))


def test_the_bootstrap_says_so_and_follows_its_seed() -> None:
    first, again, other = (
        board(RatingMethod(intervals="bootstrap", seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.models != other.models
    assert first.to_json()["settings"]["bootstrap"] == {"rounds": 1000, "seed": 1}
    assert "percentiles of 1000 bootstrap draws of videos" in shown(first)


def test_intervals_of_battles_carry_a_warning() -> None:
    found = settings(intervals="battle")
    assert found["interval"] == "sandwich of independent battles, Student's t"
    assert any("too narrow" in line for line in found["warnings"])
    assert found["videos"] == [60]


def test_ranges_that_hold_at_once_say_so() -> None:
    table = board(RatingMethod(simultaneous=True))
    assert table.to_json()["settings"]["simultaneous"] is True
    assert "ranks are simultaneous" in shown(table)
    said = "hawk leads, and in all comparisons at once no other may be best."
    assert said in shown(table)


def test_the_last_sentence_says_the_same_as_ranges_that_hold_at_once() -> None:
    table = board(RatingMethod(simultaneous=True), videos=12)
    assert table.to_json()["models"][1]["rank_best"] == 1
    said = "hawk leads, but in all comparisons at once owl may be as good; "
    assert said in shown(table)


def test_elo_stands_in_every_row_and_below_the_table() -> None:
    table = build(season(60), [*CAST, "bench"], method=RatingMethod(elo=True))
    elo = {row["model"]: row["elo"] for row in table.to_json()["models"]}
    assert elo["hawk"] > elo["owl"] > elo["mole"]
    assert elo["bench"] is None
    assert "Online Elo" in shown(table)
    said = (one.text for one in leaderboard_report(table).sentences)
    assert "bench" not in next(text for text in said if "Elo" in text)


def test_pairs_say_who_met_whom_and_who_is_better() -> None:
    table = board(RatingMethod(pairs=True))
    pairs = table.to_json()["pairs"]
    assert pairs["models"] == [row["model"] for row in table.to_json()["models"]]
    assert sum(map(sum, pairs["battles"])) == 2 * 360
    assert pairs["better"][0][0] is None
    assert pairs["better"][0][1] + pairs["better"][1][0] == pytest.approx(1, abs=1e-5)
    assert pairs["wins"][0][1] + pairs["wins"][1][0] == pytest.approx(1, abs=1e-5)
    assert "hawk above owl 99." in shown(table)


def test_without_a_battle_the_further_figures_are_empty() -> None:
    table = build([], CAST, method=EVERYTHING)
    assert table.to_json()["pairs"]["models"] == []
    assert table.to_json()["settings"]["terms"] == []
    assert "no model is rated" in shown(table)


def test_on_one_video_nothing_has_an_interval() -> None:
    fights = [battle(slot(video(), 0), verdict=v) for v in "aab"]
    table = build(fights, CAST[:2], method=RatingMethod(seats=True, pairs=True, elo=True))
    assert table.to_json()["settings"]["terms"][0]["seat"]["low"] is None
    assert "interval unknown" in shown(table)


def test_a_seat_that_always_wins_is_held_and_said() -> None:
    fights = [
        battle(slot(video(f"{k}".encode()), 0), model_a=a, model_b=b, verdict="a")
        for k in range(12) for a, b in (("hawk", "owl"), ("owl", "hawk"))
    ]  # fmt: skip
    table = build(fights, CAST[:2], method=RatingMethod(seats=True, fit="mle"))
    assert any("a prior of 0 +- 347" in line for line in table.to_json()["settings"]["warnings"])
    # Bias-reduced it is finite: in each order of the two 12 wins of 12, with half a win more both
    # sides 12.5 to 0.5.
    table = build(fights, CAST[:2], method=RatingMethod(seats=True))
    worth = table.to_json()["settings"]["terms"][0]["seat"]["points"]
    assert worth == pytest.approx(400 * math.log10(12.5 / 0.5), abs=1e-3)
    assert not any("a prior" in line for line in table.to_json()["settings"]["warnings"])


def test_a_seat_that_a_model_always_has_is_held_and_said() -> None:
    fights = [battle(slot(video(f"{k}".encode()), 0), verdict="ab"[k % 3 == 0]) for k in range(12)]
    table = build(fights, CAST[:2], method=RatingMethod(seats=True))
    assert any("a prior of 0 +- 347" in line for line in table.to_json()["settings"]["warnings"])


def test_plain_maximum_likelihood_refuses_what_it_has_no_finite_rating_of() -> None:
    fights = [battle(slot(video(f"{k}".encode()), 0), verdict="a") for k in range(12)]
    with pytest.raises(BadInput, match="there is no finite rating for hawk, owl"):
        build(fights, CAST[:2], method=RatingMethod(fit="mle"))


def test_further_lines_travel_into_markdown() -> None:
    assert "Being read first is worth" in marked_up(
        leaderboard_report(board(RatingMethod(seats=True))), "markdown"
    )


def test_an_answers_looks_are_counted_outside_its_code() -> None:
    text = "# One\n- two **three**\n1. four\n```\n# no\n- no **no**\n```\n__five__"
    looks = dict(zip(FEATURES, count_style(text), strict=True))
    assert (looks["headers"], looks["lists"], looks["bold"]) == (1, 2, 2)
    assert dict(zip(FEATURES, count_style("It's two, isn't it?"), strict=True))["length"] == 10
    assert count_style("") == (0, 0, 0, 0, 0)


def test_styles_are_compared_by_their_share_and_in_units_of_their_scatter() -> None:
    first = np.array([[30.0, 0.0], [10.0, 0.0]])
    second = np.array([[10.0, 0.0], [30.0, 0.0]])
    differ = compare_styles(first, second)
    assert differ.tolist() == [[0.5, 0.0], [-0.5, 0.0]]
    x, units = standardise(differ)
    assert x.tolist() == [[1.0, 0.0], [-1.0, 0.0]]
    assert units.tolist() == [0.5, 0.0]
    assert standardise(np.empty((0, 2)))[1].tolist() == [0.0, 0.0]
    assert measure_styles([]).shape == (0, len(FEATURES))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def test_the_command_takes_them_all_together(run: Path) -> None:
    line = ("leaderboard", run, "--style", "--seats", "--ties", "davidson", "--anchor", "owl",
            "--intervals", "bootstrap", "--simultaneous", "--elo", "--pairs",
            "--seed", 3)  # fmt: skip
    whole = invoke(*line, "--json")
    sliced = invoke(*line, "--by", "round", "--json")
    assert whole.exit_code == sliced.exit_code == 0, whole.output
    assert json.loads(whole.output)["settings"]["elo"]["seed"] == 3
    for part in json.loads(sliced.output)["slices"]:
        assert "pairs" in part
    assert "owl is fixed at 1000" in invoke(*line).output.replace("\n", " ")


@pytest.mark.parametrize(("command", "absent"), [("leaderboard", set()), ("rate", OF_RUNS)])
def test_each_field_of_the_method_is_an_option_of_commands(command: str, absent: set[str]) -> None:
    context = load(command).make_context(command, ["x"])
    said = {param.name: getattr(param, "help", None) for param in context.command.params}
    for field, kind in get_type_hints(RatingMethod, include_extras=True).items():
        assert said.get(field) == (None if field in absent else kind.__metadata__[0])
    typed = {name: value for name, value in context.params.items() if name in FIELDS}
    assert RatingMethod(**typed) == RatingMethod()


def test_what_is_left_out_twice_is_counted_once() -> None:
    once, twice = (board(RatingMethod(without=("ties",) * n), ties=1).to_json() for n in (1, 2))
    assert once["settings"]["without"] == {"ties": 60}
    assert twice == once


def test_a_seed_below_zero_is_refused(run: Path) -> None:
    refused = invoke("leaderboard", run, "--seed", -1).exception
    assert "seed cannot be -1: it is a whole number from 0" in str(refused)


def test_further_figures_are_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "ROUNDS", 30)
    text = (Path(__file__).parents[3] / "docs" / "records.md").read_text()
    part = text.partition("## A leaderboard")[2].partition("### Slices")[0]
    table = board(EVERYTHING, ties=1).to_json()
    plain = board(RatingMethod()).to_json()
    further = set(table) - set(plain) | (set(table["settings"]) - set(plain["settings"]))
    further |= set(table["pairs"])
    for inner in ("anchor", "bootstrap", "elo"):
        further |= set(table["settings"][inner])
    (terms,) = table["settings"]["terms"]
    further |= set(terms) | set(terms["control"]) | {"points", "low", "high"}
    assert not [name for name in further if f"`{name}`" not in part]
