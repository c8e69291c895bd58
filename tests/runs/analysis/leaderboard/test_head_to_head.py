"""What each two models took from each other, and each judge of a panel alone."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.runs.rating.test_table import CAST, season
from tests.runs.rating.test_table import battle as bout
from tests.support.played import battle, invoke, lineage, play, slot, video
from videoautoarena.memory.records.records import Judging
from videoautoarena.runs.analysis.leaderboard.slices import UNLIKE, build_pairs
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.rating.method import THIN, RatingMethod
from videoautoarena.runs.rating.table import build

FILM = video()


def pairs(battles: Any, **method: Any) -> dict[tuple[str, str], dict[str, Any]]:
    table = build_pairs(battles, CAST, method=RatingMethod(**method))
    return {(pair.model, pair.rival): fields_json(pair) for pair in table.pairs}


def test_a_pair_is_told_by_the_points_of_the_better_rated() -> None:
    found = pairs(season(40))[("hawk", "owl")]
    assert (found["wins"], found["losses"], found["ties"], found["battles"]) == (80, 40, 0, 120)
    assert found["share"]["value"] == pytest.approx(2 / 3)
    assert found["share"]["low"] < found["expected"] < found["share"]["high"]


def test_cells_under_a_hundred_battles_are_flagged() -> None:
    found = pairs(season(40))
    assert THIN in found[("hawk", "mole")]["flags"]
    assert THIN not in found[("hawk", "owl")]["flags"]


def test_a_pair_that_fits_no_scale_is_marked() -> None:
    circle = [("hawk", "owl", "a")] * 4 + [("hawk", "owl", "b")]
    circle += [("owl", "mole", "a")] * 4 + [("owl", "mole", "b")]
    circle += [("mole", "hawk", "a")] * 3 + [("mole", "hawk", "b")]
    rounds = [bout(v, verdict, a, b) for v in range(30) for a, b, verdict in circle]
    assert all(UNLIKE in pair["flags"] for pair in pairs(rounds).values())


def test_ties_are_half_a_point_and_may_be_left_out() -> None:
    battles = [bout(v, verdict) for v in range(12) for verdict in ("a", "b", "tie", "tie_bad")]
    found = pairs(battles)[("hawk", "owl")]
    assert (found["share"]["value"], found["both_bad_share"]["value"]) == (0.5, 0.25)
    cut = pairs(battles, without=("ties",))[("hawk", "owl")]
    assert (cut["battles"], cut["both_bad_share"]["value"]) == (24, 0.25)
    said = [b.model_copy(update={"answer_a": "I can't help."}) if b.verdict == "tie_bad" else b
            for b in battles]  # fmt: skip
    kept = pairs(said, without=("refusals",))[("hawk", "owl")]
    assert (kept["battles"], kept["both_bad_share"]["value"]) == (36, 0.0)


def test_matrices_of_pairs_flag_thin_cells() -> None:
    table = build(season(40), CAST, method=RatingMethod(pairs=True))
    assert table.to_json()["pairs"]["thin"] == [
        [False, False, True],
        [False, False, False],
        [True, False, False],
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(FILM))


def test_pairs_are_shown_in_every_form(run: Path) -> None:
    shown = invoke("leaderboard", run, "--by", "pair").output
    assert "fewer than 100 battles" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    table = json.loads(invoke("leaderboard", run, "--by", "pair", "--json").output)
    assert list(table) == ["schema", "by", "pairs", "components", "settings"]
    first, *_ = csv.DictReader(io.StringIO(invoke("leaderboard", run, "--by", "pair",
                                                  "--format", "csv").output))  # fmt: skip
    assert float(first["share"]) == table["pairs"][0]["share"]["value"]
    assert "| model |" in invoke("leaderboard", run, "--by", "pair", "--format", "markdown").output


def test_a_run_without_battles_has_no_pairs(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [], slots=[slot(FILM, 0)])
    assert "No two models met" in invoke("leaderboard", out, "--by", "pair").output


def judged(**verdicts: str) -> tuple[Judging, ...]:
    return tuple(
        Judging(judge=name, seats="ab", verdict=verdict) for name, verdict in verdicts.items()
    )


def test_each_judge_of_a_panel_has_a_board_of_its_own(tmp_path: Path) -> None:
    battles = [
        battle(slot(FILM, 0), verdict="a", verdicts=judged(one="a", two="a", three="b")),
        battle(slot(FILM, 1), verdict="split", verdicts=judged(one="a", two="b", three="abstain")),
    ]
    out = play(tmp_path / "out", battles)
    table = json.loads(invoke("leaderboard", out, "--by", "judge", "--json").output)
    wins = {
        part["slice"]: {row["model"]: row["wins"] for row in part["models"]}
        for part in table["slices"]
    }
    assert wins["one"]["hawk"] == 2
    assert wins["two"] == wins["two"] | {"hawk": 1, "owl": 1}
    three = next(part for part in table["slices"] if part["slice"] == "three")
    assert (three["battles"], three["settings"]["totals"]["voids"]) == (1, 1)


def test_a_run_with_one_judge_has_one_board(tmp_path: Path) -> None:
    battles = [battle(slot(FILM, k), verdicts=judged(judge="a")) for k in range(3)]
    out = play(tmp_path / "out", battles)
    (part,) = json.loads(invoke("leaderboard", out, "--by", "judge", "--json").output)["slices"]
    whole = json.loads(invoke("leaderboard", out, "--json").output)
    assert (part["slice"], part["battles"], part["both_bad_share"]["n"]) == ("judge", 3, 3)
    assert [row["rating"] for row in part["models"]] == [row["rating"] for row in whole["models"]]
