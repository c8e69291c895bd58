"""A name in composed letters and the same in decomposed ones: one model, said once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.played import invoke
from tests.support.votes import refused, written
from videoautoarena.runs.analysis.leaderboard.agreement import read_board
from videoautoarena.runs.exchange.interop.battles import import_battles
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.rate import rate_file

ONE = "caf\u00e9"
TWO = "cafe\u0301"
ROWS = [(ONE, "bee", "a"), (TWO, "bee", "b"), ("bee", TWO, "tie")]


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.jsonl", "b.parquet"])
def test_a_name_in_two_kinds_of_letters_is_one_model_and_said_once(
    name: str, tmp_path: Path
) -> None:
    told = rate_file(written(tmp_path / name, ROWS)).to_json()
    assert {row["model"]: row["battles"] for row in told["models"]} == {ONE: 3, "bee": 3}
    said = [line for line in told["settings"]["warnings"] if ONE in line]
    assert [line.partition(";")[2] for line in said] == [" it is taken for one model"]
    again = invoke("rate", tmp_path / name).output
    assert " ".join(again.split()).count("it is taken for one model") == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("\u00c5ngstr\u00f6m", "\u212bngstro\u0308m"),
        ("\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("q\u0307\u0323", "q\u0323\u0307"),
        ("\u1e69", "s\u0307\u0323"),
        ("\u304c", "\u304b\u3099"),
    ],
)
def test_letters_that_are_the_same_by_canon_are_one(one: str, two: str, tmp_path: Path) -> None:
    rows = [(one, "bee", "a"), (two, "bee", "b")]
    assert len(rate_file(written(tmp_path / "b.csv", rows)).to_json()["models"]) == 2


def test_names_of_one_kind_of_letters_are_not_spoken_of(tmp_path: Path) -> None:
    rows = [(TWO, "bee", "a"), ("bee", TWO, "a")]
    told = rate_file(written(tmp_path / "b.csv", rows)).to_json()
    assert {row["model"] for row in told["models"]} == {ONE, "bee"}
    assert not any("one model" in line for line in told["settings"]["warnings"])


def test_a_model_does_not_play_itself_in_other_letters(tmp_path: Path) -> None:
    file = written(tmp_path / "b.csv", [*ROWS, (ONE, TWO, "a")])
    assert refused(file) == f', row 4: "{ONE}" plays against itself'


def test_an_anchor_is_found_in_whichever_letters_it_is_typed(tmp_path: Path) -> None:
    file = written(tmp_path / "b.csv", ROWS)
    (row,) = (
        row
        for row in rate_file(file, RatingMethod(anchor=f"{TWO}=1200")).to_json()["models"]
        if row["model"] == ONE
    )
    assert row["rating"] == pytest.approx(1200)


def test_a_video_in_two_kinds_of_letters_is_one(tmp_path: Path) -> None:
    rows = [("ant", "bee", "a", ONE), ("ant", "bee", "b", TWO), ("bee", "ant", "a", "else")]
    file = written(tmp_path / "b.csv", rows, ("model_a", "model_b", "winner", "video"))
    assert rate_file(file).to_json()["settings"]["videos"] == [2]


def test_battles_are_imported_with_each_name_in_one_kind_of_letters(tmp_path: Path) -> None:
    battles = [
        {"model_a": name, "model_b": "bee", "winner": "model_a", "question_id": "q"}
        for name in (ONE, TWO)
    ]
    (tmp_path / "b.json").write_text(json.dumps(battles))
    found = import_battles([tmp_path / "b.json"], tmp_path / "b.jsonl")
    assert found.models == 2
    assert found.as_line() == (
        "2 battles of 2 models, fastchat; 1 name in composed and in decomposed letters, "
        "each taken for one model"
    )


def test_a_board_in_other_letters_names_the_same_models(tmp_path: Path) -> None:
    board = tmp_path / "b.csv"
    board.write_text(f"model,rating\n{TWO},1010\nbee,990\n")
    assert list(read_board(board).entries) == [ONE, "bee"]
