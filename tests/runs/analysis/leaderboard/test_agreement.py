from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, lineage, play, slot, video
from tests.support.published import BENCH_CLAUDE, BENCH_GPT, VIDEO_ARENA
from tests.support.quoted import misquoting
from tests.support.votes import season, written
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.leaderboard import agreement
from videoautoarena.runs.analysis.leaderboard.agreement import read_board
from videoautoarena.runs.views.results.audit import agreement_report

Bounds = Mapping[str, tuple[float, ...]]
COLUMNS = ("model", "rating", "low", "high")


def table(path: Path, board: Bounds, columns: Sequence[str] = COLUMNS) -> Path:
    """A file with a row for every model, with as many columns as there are figures."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns[: 1 + len(next(iter(board.values())))])
        writer.writerows([name, *figures] for name, figures in board.items())
    return path


def agree(*boards: Path, rename: Path | None = None) -> dict[str, Any]:
    return agreement.agree(*boards, rename=rename).to_json()


def figures(report: dict[str, Any]) -> dict[str, Any]:
    return {found["key"].removeprefix("agree."): found["value"] for found in report["figures"]}


def told(report: dict[str, Any], key: str) -> str:
    (found,) = (found for found in report["figures"] if found["key"] == f"agree.{key}")
    return str(found["sentence"])


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return table(tmp_path / "three.csv", {"ant": (30,), "bee": (20,), "cat": (10,)})


def test_the_tables_of_vision_arena_agree_as_they_do_in_arrays(tmp_path: Path) -> None:
    a = table(tmp_path / "gpt.csv", BENCH_GPT, ("model", "score", "low", "high"))
    report = agree(a, table(tmp_path / "claude.csv", BENCH_CLAUDE))
    found = figures(report)
    assert found["spearman"] == pytest.approx(0.9912, abs=5e-5)
    assert found["confidence"] == pytest.approx(108 / 109, abs=1e-6)
    assert found["arena_hard"] == pytest.approx(107 / 120, abs=1e-6)
    assert "117 of 120 pairs are ordered the same way" in told(report, "kendall")
    assert misquoting(agreement_report(agreement.agree(a, tmp_path / "claude.csv"))) == []
    assert report["turned"] == [
        {"above_on_a": "gemini-1.5-flash-exp-0827", "above_on_b": "claude-3.5-sonnet-20240620"}
    ]


def test_pairs_that_both_boards_are_sure_of_and_turn_are_named(tmp_path: Path) -> None:
    a = table(tmp_path / "a.csv", {"x": (3, 2.9, 3.1), "y": (2, 1.9, 2.1), "z": (1, 0, 1.5)})
    b = table(tmp_path / "b.csv", {"x": (3, 2.9, 3.1), "y": (4, 3.9, 4.1), "z": (1, 0, 1.5)})
    said = invoke("leaderboard", a, "--against", b).output
    assert "Ordered with confidence on both, but in opposite ways: x above y." in said


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("n.json", "[1]", "is no JSON object of names"),
        ("n.json", '{"a": 1}', "is no JSON object of names"),
        ("n.csv", "old,new\na,b\n", "needs the columns from and to"),
        ("n.json", "\xff", "is no JSON"),
        ("n.csv", "from,to\nbee,wasp\nant, \n", "row 2: to holds no name"),
        ("n.json", '{"ant": " "}', '"ant" gets no name'),
    ],
)
def test_names_that_are_no_names_are_refused(
    tmp_path: Path, three: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=said):
        agree(three, three, rename=tmp_path / name)


def test_video_arenas_ratings_against_its_bench_need_no_intervals(tmp_path: Path) -> None:
    a = table(tmp_path / "elo.csv", {name: row[:1] for name, row in VIDEO_ARENA.items()})
    b = table(tmp_path / "bench.csv", {name: row[2:] for name, row in VIDEO_ARENA.items()})
    report = agree(a, b)
    found = figures(report)
    assert found["spearman"] == pytest.approx(0.9909, abs=5e-5)
    assert found["confidence"] is found["separability_a"] is found["brier"] is None
    assert told(report, "separability_b") == "Separability of B: it has no intervals."


def test_a_run_its_json_and_its_csv_are_one_board(tmp_path: Path) -> None:
    run = play(tmp_path / "out", lineage(video()))
    for form in ("json", "csv"):
        (tmp_path / f"b.{form}").write_text(
            invoke("leaderboard", run, "--pairs", "--format", form).output
        )
    boards = [read_board(place) for place in (run, tmp_path / "b.json", tmp_path / "b.csv")]
    assert boards[0].entries == boards[1].entries
    assert boards[0].better == boards[1].better != {}
    assert [entry[0] for entry in boards[2].entries.values()] == [
        entry.rating for entry in boards[0].entries.values()
    ]


def test_names_like_formulas_are_the_same_in_its_json_and_its_csv(tmp_path: Path) -> None:
    names = ("=1+1", "-x", " @y", "'=z", "''", "'tis", "plain")
    rows = [(a, b, "a") for a in names for b in names if a != b]
    battles = written(tmp_path / "b.csv", rows)
    for form in ("json", "csv"):
        (tmp_path / f"rated.{form}").write_text(invoke("rate", battles, "--format", form).output)
    assert "'=1+1," in (tmp_path / "rated.csv").read_text()
    boards = [read_board(tmp_path / f"rated.{form}") for form in ("json", "csv")]
    assert set(boards[0].entries) == {name.strip() for name in names}
    assert set(boards[1].entries) == set(boards[0].entries)


def test_a_quote_is_kept_where_no_formula_follows_it(tmp_path: Path) -> None:
    board = read_board(table(tmp_path / "b.csv", {"'tis": (2,), "'": (1,)}))
    assert list(board.entries) == ["'tis", "'"]


def test_rated_battles_agree_with_themselves(tmp_path: Path) -> None:
    battles = written(tmp_path / "b.csv", season(), ("model_a", "model_b", "winner", "video"))
    (tmp_path / "rated.json").write_text(invoke("rate", battles, "--json").output)
    found = figures(agree(tmp_path / "rated.json", tmp_path / "rated.json"))
    assert found["spearman"] == found["kendall"] == found["pearson"] == 1
    assert found["brier"] < 0.01


def test_models_of_other_groups_have_another_scale(tmp_path: Path) -> None:
    rows = [("ant", "bee", "a")] * 3 + [("bee", "ant", "a"), ("bee", "cat", "a"), ("cat", "bee", 1)]
    rows += [("x", "y", "a"), ("y", "x", "a")]
    for form in ("json", "csv"):
        said = invoke("rate", written(tmp_path / "b.csv", rows), "--format", form).output
        (tmp_path / f"rated.{form}").write_text(said)
        assert set(read_board(tmp_path / f"rated.{form}").entries) == {"ant", "bee", "cat"}
    assert read_board(tmp_path / "rated.json").notes == [
        "left out, not connected to the others: 2 models"
    ]


def test_an_interval_of_our_own_that_is_unknown_has_no_end(tmp_path: Path) -> None:
    run = play(tmp_path / "out", [battle(slot(video(), 0))])
    board = read_board(run)
    assert board.entries["hawk"].high == math.inf
    assert board.notes == ["left out, without a rating: 1 model"]


def test_look_alikes_are_named_and_not_joined(tmp_path: Path, three: Path) -> None:
    other = table(tmp_path / "b.csv", {"openai:Ant": (3,), "bee": (2,), "cat": (1,), "dog": (0,)})
    warnings = agree(three, other)["warnings"]
    assert warnings[0].startswith('"ant" on A and "openai:Ant" on B look alike')
    assert warnings[2] == 'only on B, left out: "openai:Ant", "dog"'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("n.json", '{"openai:Ant": "ant", "eel": "fox"}'),
        ("n.csv", "from,to\nopenai:Ant,ant\neel,x"),
    ],
)
def test_names_are_joined_where_a_file_says_so(
    tmp_path: Path, three: Path, name: str, content: str
) -> None:
    other = table(tmp_path / "b.csv", {"openai:Ant": (3,), "bee": (2,), "cat": (1,)})
    (tmp_path / name).write_text(content)
    report = agree(three, other, rename=tmp_path / name)
    assert [row["model"] for row in report["models"]] == ["ant", "bee", "cat"]
    assert report["warnings"] == ['--rename: no board has "eel"']


def test_two_names_that_become_one_are_refused(tmp_path: Path, three: Path) -> None:
    (tmp_path / "n.json").write_text('{"bee": "ant"}')
    with pytest.raises(BadInput, match='gives two models the name "ant"'):
        agree(three, three, rename=tmp_path / "n.json")


def test_one_or_two_shared_models_are_too_few_to_tell(tmp_path: Path, three: Path) -> None:
    report = agree(three, table(tmp_path / "b.csv", {"ant": (1, 0, 2), "bee": (5, 4, 6)}))
    assert told(report, "spearman").endswith("2 shared models are too few.")
    assert figures(report)["kendall"] is None


def test_no_shared_model_is_an_error_that_shows_names(tmp_path: Path, three: Path) -> None:
    with pytest.raises(BadInput, match='share no model: "ant", "bee", "cat" here, "x" there'):
        agree(three, table(tmp_path / "b.csv", {"x": (1,)}))


def test_a_board_that_rates_all_alike_has_no_order(tmp_path: Path, three: Path) -> None:
    report = agree(three, table(tmp_path / "b.csv", {"ant": (5,), "bee": (5,), "cat": (5,)}))
    assert "rates all shared models the same" in told(report, "pearson")


def test_a_row_without_an_interval_is_apart_from_nobody(tmp_path: Path, three: Path) -> None:
    one = tmp_path / "b.csv"
    one.write_text("model,rating,low,high\nant,3,2.9,3.1\nbee,2,,\ncat,1,-inf,1.1\n")
    report = agree(one, one)
    assert figures(report)["separability_a"] == pytest.approx(1 / 3, abs=1e-6)
    assert "without an interval, so never counted as separated: 1 model" in report["warnings"][0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("b.csv", "", "is empty; it needs a header"),
        ("b.csv", "model,rating\n", "holds no model with a rating"),
        ("b.csv", "name,rating\nx,1\n", 'has no column model; it has "name", "rating"'),
        ("b.csv", "model,wins\nx,1\n", "has no column rating"),
        ("b.csv", "model,rating\nx,1\nx,2\n", 'model 2: "x" appears twice'),
        ("b.csv", "model,rating\n,1\n", "model 1: the name is missing"),
        ("b.csv", "model,rating\nx,1e999\n", 'model 1 ("x"): rating is no number: "1e999"'),
        ("b.csv", "model,rating,low,high\nx,67,-1,2\n", "low and high are ratings, not distances"),
        ("b.csv", "model,rating,low,high\nx,6,5,\n", "low and high belong together"),
        ("b.csv", "model,rating,low,high\nx,6,5,z\n", 'high is no number: "z"'),
        ("b.json", "{", "is no JSON"),
        ("b.json", "[" * 100_000, "is no JSON"),
        ("b.json", '{"models": 3}', "holds no list of models"),
        ("b.json", '[{"model": 7, "rating": 1}]', 'model 1: is no name: "7"'),
        ("b.json", '{"slices": []}', "holds a leaderboard for each slice"),
        ("b.json", '{"models": [], "settings": {}, "components": 3}', "holds no model"),
        (
            "b.json",
            '{"models": [{"model": "x", "rating": 1}], "settings": {}, "components": [3, 4]}',
            "holds no model with a rating in its first component",
        ),
        ("b.json", '[{"model": "x", "rating": [1]}]', "rating is no number"),
        ("b.json", '[{"model": "x", "rating": NaN}]', "holds no model with a rating"),
        ("b.txt", "x", "must end in"),
        ("none.json", None, "is neither a run folder nor a file"),
        ("none.csv", None, "is neither a run folder nor a file"),
    ],
)
def test_what_is_no_board_is_refused_in_one_line(
    tmp_path: Path, three: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput) as wrong:
        agree(three, tmp_path / name)
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "pairs", [3, {"models": [["x"]], "better": [[0.5]]}, {"models": ["x"], "better": [[10**400]]}]
)
def test_chances_that_are_none_are_passed_over(tmp_path: Path, pairs: Any) -> None:
    board = {"models": [{"model": "x", "rating": 1}], "settings": {}, "pairs": pairs}
    (tmp_path / "b.json").write_text(json.dumps(board))
    assert read_board(tmp_path / "b.json").better == {}


def test_hostile_names_reach_no_terminal(tmp_path: Path) -> None:
    rude = table(tmp_path / "b.csv", {"a\x1b[31m": (3,), "[bold]b": (2,), "c\u202e": (1,)})
    said = invoke("leaderboard", rude, "--against", rude)
    assert "\\x1b[31m" in said.output
    assert "[bold]b" in said.output
    assert "\x1b" not in said.output
    assert "\u202e" not in said.output


def test_the_command_prints_both_boards_or_json(three: Path) -> None:
    said = invoke("leaderboard", three, "--against", three).output
    assert "3 models on both" in said
    assert "too few models for an interval" in said
    found = json.loads(invoke("leaderboard", three, "--against", three, "--json").output)
    assert found["schema"] == 1
    assert [board["models"] for board in found["boards"]] == [3, 3]
