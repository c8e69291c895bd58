"""Anybody's battles rated: what a row may say, what is refused, what comes out."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.played import invoke, lineage, play, video
from tests.support.votes import HEADER, refused, season, written
from videoautoarena.runs.cli.program.main import arena_main
from videoautoarena.runs.rating.behaviour import SHARES
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.rate import MOST_MODELS, rate_file


def test_ten_wins_to_one_are_four_hundred_points_by_plain_maximum_likelihood(
    tmp_path: Path,
) -> None:
    rows = [("x", "y", "model_a")] * 10 + [("x", "y", "model_b")]
    table = rate_file(written(tmp_path / "b.csv", rows), RatingMethod(fit="mle"))
    assert [(row["model"], row["rating"]) for row in table.to_json()["models"]] == [
        ("x", 1200),
        ("y", 800),
    ]
    assert table.to_json()["settings"]["fit"] == "mle"
    assert table.to_json()["models"][0]["win_rate"] == pytest.approx(10 / 11, abs=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "tie"),
    [
        ("model_a", "model_b", "tie"), ("a", "b", "tie (bothbad)"), ("A", " B ", "Tie"),
        ("1", "0", "0.5"), ("1.0", "0.0", ".5"), ("a", "b", "tie_good"), ("a", "b", "split"),
    ],
)  # fmt: skip
def test_a_winner_may_be_written_in_many_ways(tmp_path: Path, a: str, b: str, tie: str) -> None:
    rows = [("x", "y", a), ("x", "y", a), ("x", "y", b), ("x", "y", tie)]
    table = rate_file(written(tmp_path / "b.csv", rows))
    first = table.to_json()["models"][0]
    assert (first["model"], first["wins"], first["losses"], first["ties"]) == ("x", 2, 1, 1)


@pytest.mark.parametrize("name", ["b.jsonl", "b.parquet"])
def test_a_winner_may_be_a_number(tmp_path: Path, name: str) -> None:
    rows = [("x", "y", 1.0), ("x", "y", 0.0), ("x", "y", 0.5), ("x", "y", 1.0)]
    assert rate_file(written(tmp_path / name, rows)).to_json()["models"][0]["wins"] == 2


def test_videos_widen_what_their_battles_share(tmp_path: Path) -> None:
    # Within a video the same side wins every time.
    rows = [("x", "y", "a" if v % 2 else "b", f"v{v}") for v in range(20) for _ in range(10)]
    rows.append(("x", "y", "a", "v1"))
    file = written(tmp_path / "b.csv", rows, (*HEADER, "video"))
    boards = [
        rate_file(file, method).to_json()
        for method in (RatingMethod(), RatingMethod(intervals="battle"))
    ]
    widths = [t["models"][0]["high"] - t["models"][0]["low"] for t in boards]
    assert widths[0] > 2.5 * widths[1]


def test_without_a_column_of_videos_battles_are_independent_and_that_is_said(
    tmp_path: Path,
) -> None:
    table = rate_file(written(tmp_path / "b.csv", [row[:3] for row in season()]))
    assert table.to_json()["settings"]["videos"] is None
    assert table.to_json()["settings"]["pieces"] == [300]
    assert table.to_json()["settings"]["interval"] == "sandwich of independent battles, Student's t"
    assert any("no column video" in line for line in table.to_json()["settings"]["warnings"])


def test_few_battles_without_videos_are_called_battles(tmp_path: Path) -> None:
    file = written(tmp_path / "b.csv", [("x", "y", "a"), ("x", "y", "b"), ("x", "y", "a")])
    said = " ".join(invoke("rate", file).output.split())
    assert "only 3 battles: too few battles to rank" in invoke("rate", file, "--notes").output
    assert "3 battles decided, 0 tied" in said
    assert "3 battles are too few to rank (10 are needed): x is rated highest" in said
    alone = " ".join(invoke("rate", written(tmp_path / "c.csv", [("x", "y", "a")])).output.split())
    assert "1 battle is too few to rank (10 are needed), and there are no intervals" in alone
    even = written(tmp_path / "d.csv", [("x", "y", "tie")] * 3)
    assert "x and y are rated alike" in " ".join(invoke("rate", even).output.split())


def test_the_battles_a_run_lists_give_the_board_of_the_run(tmp_path: Path) -> None:
    films = [video(), video(b"another")]
    run = play(tmp_path / "out", [b for film in films for b in lineage(film)], videos=films)
    board = json.loads(invoke("leaderboard", run, "--json").output)
    for form, suffix in (("jsonl", "jsonl"), ("csv", "csv")):
        file = tmp_path / f"battles.{suffix}"
        file.write_text(invoke("battles", run, "--format", form).output)
        table = rate_file(file)
        # What a run alone knows stands in no row of other battles.
        own = (*SHARES, "mean_tokens", "frames")
        rated = [
            {key: value for key, value in row.items() if key not in own}
            for row in board["models"]
            if row["battles"] or row["forfeits"]
        ]
        assert sorted(table.to_json()["models"], key=str) == sorted(rated, key=str)
        assert table.to_json()["settings"]["totals"] == board["settings"]["totals"]


def test_voids_and_forfeits_are_counted_and_not_rated(tmp_path: Path) -> None:
    header = ("model_a", "model_b", "verdict")
    rows = [("x", "y", "a"), ("x", "y", "forfeit_b"), ("", "", "void"), ("z", "y", "forfeit_a")]
    table = rate_file(written(tmp_path / "b.csv", rows, header))
    assert table.to_json()["settings"]["totals"] == {
        "battles": 4, "decided": 1, "ties": 0, "splits": 0, "forfeits": 2, "voids": 1,
    }  # fmt: skip
    assert {row.model: row.forfeits for row in table.models} == {
        "x": 0,
        "y": 1,
        "z": 1,
    }


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("x", "y", "a"), ("x", "x", "a")], ', row 2: "x" plays against itself'),
        ([("x", " x", "a")], ', row 1: "x" plays against itself'),
        ([("x", "y", "a"), ("x", "", "a")], ", row 2: model_b is missing"),
        ([("nan", "y", "a")], ", row 1: model_a is missing"),
        ([("x", "y", "a"), ("x", "y", "z")], ', row 2: winner is "z"; it may be model_a,'),
        ([("x", "y", "")], ", row 1: winner is missing"),
        ([("x", "y", "NaN")], ", row 1: winner is missing"),
        ([("x", "y", "2")], ', row 1: winner is "2"'),
        ([("x", "y", "a"), ("x", "y")], ", row 2: 2 cells where the header has 3"),
        ([("x", "y", "a", "b")], ", row 1: 4 cells where the header has 3"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, rows: list[tuple[str, ...]], said: str) -> None:
    assert refused(written(tmp_path / "b.csv", rows)).startswith(said)


def test_a_header_alone_rates_nobody(tmp_path: Path) -> None:
    result = invoke("rate", written(tmp_path / "b.csv", []))
    assert result.exit_code == 0
    assert "no model is rated" in result.output


def test_an_unbeaten_model_and_two_islands_are_said(tmp_path: Path) -> None:
    rows = [("x", "y", "a")] * 12 + [("p", "q", "a"), ("q", "p", "a")] * 6
    table = rate_file(written(tmp_path / "b.csv", rows))
    flags = {row["model"]: row["flags"] for row in table.to_json()["models"]}
    assert flags["x"] == ["one-sided"]
    assert flags["p"] == ["not comparable"]
    assert "2 groups of models never met" in " ".join(table.to_json()["settings"]["warnings"])


@pytest.mark.parametrize(
    ("pairs", "flagged"),
    [
        (["hub a", "hub b", "hub c"], {"hub", "a", "b", "c"}),
        (["a b", "b c", "c d"], {"a", "b", "c", "d"}),
    ],
)
def test_a_star_and_a_chain_of_wins_are_held_and_flagged(
    tmp_path: Path, pairs: list[str], flagged: set[str]
) -> None:
    rows = [(*pair.split(), "a") for pair in pairs for _ in range(4)]
    file = written(tmp_path / "b.csv", rows)
    models = rate_file(file).to_json()["models"]
    assert {row["model"] for row in models if row["flags"] == ["one-sided"]} == flagged
    assert models[0]["model"] == pairs[0].split()[0]
    assert all(row["low"] + 100 < row["rating"] < row["high"] - 100 for row in models)
    assert invoke("rate", file).output.count("one-sided") == 4


@pytest.mark.parametrize("tied", [True, False])
def test_an_even_star_needs_nothing_to_hold_it(tmp_path: Path, tied: bool) -> None:
    winners = ["tie"] * 6 if tied else ["a", "b"] * 3
    rows = [("hub", leaf, winner) for leaf in "abc" for winner in winners]
    models = rate_file(written(tmp_path / "b.csv", rows)).to_json()["models"]
    assert {row["rating"] for row in models} == {1000.0}
    assert all(not row["flags"] and row["rank_worst"] == 4 for row in models)
    assert all(row["high"] - row["low"] > 30 for row in models)


def test_one_battle_ranks_nobody_and_has_no_interval(tmp_path: Path) -> None:
    models = rate_file(written(tmp_path / "b.csv", [("x", "y", "a")])).to_json()["models"]
    assert [row["low"] for row in models] == [None, None]
    assert [(row["rank_best"], row["rank_worst"]) for row in models] == [(None, None)] * 2


@pytest.mark.parametrize(
    ("one", "two"),
    [("gpt-4o", "GPT 4o"), ("qwen", "qwen\u200b"), ("gemini", "gemini\u0301"), ("opus", "оpus")],
)
def test_names_that_look_alike_are_warned_of(tmp_path: Path, one: str, two: str) -> None:
    rows = [(one, "other", "a"), (two, "other", "b")]
    table = rate_file(written(tmp_path / "b.csv", rows))
    assert len(table.to_json()["models"]) == 3
    assert any("look alike" in line for line in table.to_json()["settings"]["warnings"])


def test_versions_do_not_look_alike(tmp_path: Path) -> None:
    rows = [("gpt-4.1", "gpt-41", "a"), ("gpt-41", "gpt-4", "b")]
    table = rate_file(written(tmp_path / "b.csv", rows))
    assert not any("look alike" in line for line in table.to_json()["settings"]["warnings"])


def test_too_many_models_are_a_wrong_column(tmp_path: Path) -> None:
    rows = [(f"a question {k}", "y", "a") for k in range(MOST_MODELS + 1)]
    assert "the right columns?" in refused(written(tmp_path / "b.csv", rows))


def test_style_is_counted_in_answers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = []
    for a, b, *_ in season():
        long = bool(rng.random() < 0.5)
        winner = "a" if long == bool(rng.random() < 0.8) else "b"
        told = ("many words " * 9, "few") if long else ("few", "many words " * 9)
        rows.append((a, b, winner, *told))
    file = written(tmp_path / "b.csv", rows, (*HEADER, "answer_a", "answer_b"))
    style = rate_file(file, RatingMethod(style=True)).to_json()["settings"]["terms"][0]["style"]
    assert style["length"]["low"] > 100
    assert style["bold"] is None


def test_style_may_be_given_as_sizes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(*row[:3], *rng.integers(1, 50, 2)) for row in season()]
    header = (*HEADER, "style_names_a", "style_names_b")
    for name in ("b.csv", "b.parquet"):
        rows = [(*row[:3], int(row[3]), int(row[4])) for row in rows]
        table = rate_file(written(tmp_path / name, rows, header), RatingMethod(style=True))
        style = table.to_json()["settings"]["terms"][0]["style"]
        assert list(style) == ["names"]
        assert style["names"]["low"] < 0 < style["names"]["high"]


@pytest.mark.parametrize(
    ("header", "cells", "said"),
    [
        ((), (), " has neither answer_a and answer_b nor style_NAME_a"),
        (("style_x_a",), ("1",), ' has no column "style_x_b", but its other half'),
        (("style_x_a", "style_x_b"), ("1", "few"), ', row 1: style_x_b is no number: "few"'),
        (("style_x_a", "style_x_b"), ("1", ""), ", row 1: style_x_b is missing"),
        (("style_x_a", "style_x_b"), ("-1", "1"), ', row 1: style_x_a is below zero: "-1"'),
        (("style_x_a", "style_x_b"), ("1", "inf"), ', row 1: style_x_b is no number: "inf"'),
    ],
)
def test_style_without_sizes_is_refused(
    tmp_path: Path, header: tuple[str, ...], cells: tuple[str, ...], said: str
) -> None:
    file = written(tmp_path / "b.csv", [("x", "y", "a", *cells)], (*HEADER, *header))
    assert refused(file, RatingMethod(style=True)).startswith(said)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_the_command_prints_every_form(tmp_path: Path, form: str) -> None:
    file = written(tmp_path / "b.csv", season(), (*HEADER, "video"))
    result = invoke("rate", file, "--format", form, "--elo", "--pairs")
    assert result.exit_code == 0, result.output
    assert "ant" in result.output


def test_hostile_names_are_shown_and_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "[red]x[/]\x1b[2J\u202egpt"
    file = written(tmp_path / "b.csv", [(evil, "y", "a"), (evil, evil, "a")])
    monkeypatch.setattr(sys, "argv", ["arena", "rate", str(file)])
    with pytest.raises(SystemExit) as stop:
        arena_main()
    assert stop.value.code == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "\x1b" not in told
    shown = invoke("rate", written(tmp_path / "c.csv", [(evil, "y", "a")] * 3)).output
    assert "\x1b" not in shown


def test_bars_have_an_axis_and_one_wide_interval_is_cut_with_an_arrow(tmp_path: Path) -> None:
    rows = [*[("x", "y", "a"), ("y", "x", "a"), ("y", "z", "tie"), ("z", "x", "tie")] * 40]
    file = written(tmp_path / "b.csv", [*rows, ("rare", "x", "a"), ("y", "rare", "a")])
    _, head, _, *lines = invoke("rate", file).output.splitlines()
    low, high = (int(end) for end in re.findall(r"interval +(-?\d+) to (-?\d+) +win %", head)[0])
    assert 800 < low < 1000 < high < 1200
    bars = {line.split()[1]: re.findall("[◂─●▸]+", line)[0] for line in lines[:4]}
    assert bars["rare"].startswith("◂")
    assert bars["rare"].endswith("▸")
    assert all(3 <= len(bars[name]) and not set(bars[name]) & set("◂▸") for name in "xyz")
