"""`arena leaderboard` rates what a folder holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, lineage, manifest, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Verdict
from videoautoarena.memory.records.standards import PAPER_CONTRACTS


def board(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("leaderboard", out, "--json").output)
    return found


def test_every_model_of_the_roster_is_on_the_board(tmp_path: Path) -> None:
    table = board(play(tmp_path / "out", lineage(video())))
    assert {row["model"] for row in table["models"]} == {"hawk", "owl", "mole"}
    assert table["settings"]["stand_ins"] is True


def test_the_printed_board_names_models_and_says_that_stand_ins_play(tmp_path: Path) -> None:
    output = invoke("leaderboard", play(tmp_path / "out", lineage(video()))).output
    assert "mole" in output
    assert "stand-ins" in output


def test_a_run_without_a_decided_battle_lists_its_models_unrated(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict="void", reason="no frame")])
    assert [row["rating"] for row in board(out)["models"]] == [None] * 3
    assert invoke("leaderboard", out).exit_code == 0


def test_a_superseded_battle_is_not_rated(tmp_path: Path) -> None:
    places = [slot(video(), 0), slot(video(), 0, ordinal=1, generation=1)]
    out = play(tmp_path / "out", [battle(place) for place in places], slots=places)
    assert board(out)["settings"]["totals"]["battles"] == 1


@pytest.mark.parametrize(
    ("mark", "said"),
    [("self_judging", "also competed"), ("offline_judge_on_real", "offline judge rated real")],
)
def test_a_marked_run_carries_its_mark(tmp_path: Path, mark: str, said: str) -> None:
    out = play(tmp_path / "out", lineage(video()), settings=manifest(**{mark: True}))
    assert any(said in warning for warning in board(out)["settings"]["warnings"])


PLAIN = "plain maximum likelihood, as in the paper"


@pytest.mark.parametrize("is_balanced", [True, False])
def test_a_run_by_the_paper_is_rated_plainly_where_that_is_finite_and_says_so(
    is_balanced: bool, tmp_path: Path
) -> None:
    settings = manifest(preset="paper", contracts=PAPER_CONTRACTS)
    verdicts: list[Verdict] = ["a", "b"] if is_balanced else ["a", "a"]
    battles = [battle(slot(video(), k), verdict=verdict) for k, verdict in enumerate(verdicts)]
    out = play(tmp_path / "out", battles, settings=settings)
    (said,) = [one for one in board(out)["settings"]["warnings"] if PLAIN in one]
    assert board(out)["settings"]["fit"] == ("mle" if is_balanced else "firth")
    assert ("no finite rating" in said) != is_balanced
    assert PLAIN in " ".join(invoke("leaderboard", out).output.split())
    typed = json.loads(invoke("leaderboard", out, "--fit", "firth", "--json").output)["settings"]
    assert typed["fit"] == "firth"
    assert not [one for one in typed["warnings"] if PLAIN in one]


@pytest.mark.parametrize("kept", [{}, {"preset": "paper"}, {"preset": "paper", "contracts": 2}])
def test_any_other_run_is_rated_as_ever(kept: dict[str, Any], tmp_path: Path) -> None:
    settings = board(play(tmp_path / "out", lineage(video()), settings=manifest(**kept)))[
        "settings"
    ]
    assert settings["fit"] == "firth"
    assert not [one for one in settings["warnings"] if PLAIN in one]


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    slots = [slot(video(), round_) for round_ in range(3)]
    warnings = board(play(tmp_path / "out", [battle(slots[0])], slots=slots))["settings"][
        "warnings"
    ]
    assert "the run is not finished: 2 of 3 slots to go" in warnings


def test_a_folder_without_a_run_is_the_users_error(tmp_path: Path) -> None:
    assert isinstance(invoke("leaderboard", tmp_path).exception, BadInput)
