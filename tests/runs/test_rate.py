"""Files of anybody's battles: what is read alike, what is refused with its row, what comes out."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memory.errors import BadInput
from runs.cli import arena_main
from runs.leaderboard_method import Method
from runs.rate import MOST_MODELS, rate_file
from tests.support.played import invoke, lineage, play, video

HEADER = ("model_a", "model_b", "winner")


def written(path: Path, rows: Sequence[Sequence[Any]], header: Sequence[str] = HEADER) -> Path:
    """A file of rows in the form that its name asks for."""
    if path.suffix in (".jsonl", ".ndjson"):
        objects = [dict(zip(header, row, strict=True)) for row in rows]
        path.write_text("".join(json.dumps(found) + "\n" for found in objects))
    elif path.suffix == ".parquet":
        columns = list(zip(*rows, strict=True)) or [()] * len(header)
        arrays = [pa.array(list(column)) for column in columns]
        pq.write_table(pa.table(arrays, names=list(header)), path)
    else:
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(header)
            writer.writerows(rows)
    return path


def season(battles: int = 300) -> list[tuple[str, str, str, str]]:
    """Battles of three, the earlier in the alphabet the better, on thirty videos."""
    rng, rows = np.random.default_rng(5), []
    for k in range(battles):
        a, b = map(str, rng.permutation(["ant", "bee", "cat"])[:2])
        first = rng.random() < 1 / (1 + np.exp(-(ord(b[0]) - ord(a[0]))))
        winner = "tie" if rng.random() < 0.1 else "model_a" if first else "model_b"
        rows.append((a, b, winner, f"v{k % 30}"))
    return rows


def refused(file: Path, method: Method | None = None) -> str:
    with pytest.raises(BadInput) as wrong:
        rate_file(file, method or Method())
    return str(wrong.value).removeprefix(f"{file}")


def test_ten_wins_to_one_are_four_hundred_points(tmp_path: Path) -> None:
    rows = [("x", "y", "model_a")] * 10 + [("x", "y", "model_b")]
    table = rate_file(written(tmp_path / "b.csv", rows))
    assert [(row["model"], row["rating"]) for row in table["models"]] == [("x", 1200), ("y", 800)]
    assert table["models"][0]["win_rate"] == pytest.approx(10 / 11, abs=1e-6)


def test_every_form_of_the_same_battles_gives_the_same_table(tmp_path: Path) -> None:
    header = (*HEADER, "video")
    names = ("b.csv", "b.tsv", "b.jsonl", "b.ndjson", "b.parquet", "B.CSV")
    files = [written(tmp_path / name, season(), header) for name in names[:-1]]
    files.append(written(tmp_path / names[-1], season(), header))
    tables = [rate_file(file) for file in files]
    assert all(table == tables[0] for table in tables)
    assert tables[0]["components"] == [["ant", "bee", "cat"]]
    assert tables[0]["settings"]["videos"] == [30]
    assert list(tables[0]["models"][0]) == [
        "model", "rating", "low", "high", "rank", "rank_best", "rank_worst",
        "battles", "wins", "losses", "ties", "win_rate", "forfeits", "flags",
    ]  # fmt: skip


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
    first = table["models"][0]
    assert (first["model"], first["wins"], first["losses"], first["ties"]) == ("x", 2, 1, 1)


@pytest.mark.parametrize("name", ["b.jsonl", "b.parquet"])
def test_a_winner_may_be_a_number(tmp_path: Path, name: str) -> None:
    rows = [("x", "y", 1.0), ("x", "y", 0.0), ("x", "y", 0.5), ("x", "y", 1.0)]
    assert rate_file(written(tmp_path / name, rows))["models"][0]["wins"] == 2


def test_videos_widen_what_their_battles_share(tmp_path: Path) -> None:
    # Within a video the same side wins every time.
    rows = [("x", "y", "a" if v % 2 else "b", f"v{v}") for v in range(20) for _ in range(10)]
    rows.append(("x", "y", "a", "v1"))
    file = written(tmp_path / "b.csv", rows, (*HEADER, "video"))
    shared, alone = rate_file(file), rate_file(file, Method(intervals="battle"))
    widths = [t["models"][0]["high"] - t["models"][0]["low"] for t in (shared, alone)]
    assert widths[0] > 2.5 * widths[1]


def test_without_a_column_of_videos_battles_are_independent_and_that_is_said(
    tmp_path: Path,
) -> None:
    table = rate_file(written(tmp_path / "b.csv", [row[:3] for row in season()]))
    assert table["settings"]["videos"] is None
    assert table["settings"]["pieces"] == [300]
    assert table["settings"]["interval"] == "sandwich of independent battles, Student's t"
    assert any("no column video" in line for line in table["settings"]["warnings"])


def test_few_battles_without_videos_are_called_battles(tmp_path: Path) -> None:
    file = written(tmp_path / "b.csv", [("x", "y", "a"), ("x", "y", "b"), ("x", "y", "a")])
    said = " ".join(invoke("rate", file).output.split())
    assert "only 3 battles: too few battles to rank" in said
    assert "3 battles decided, 0 tied" in said
    assert "more battles would part it" in said
    alone = " ".join(invoke("rate", written(tmp_path / "c.csv", [("x", "y", "a")])).output.split())
    assert "on one battle, which tells nothing of others" in alone
    even = written(tmp_path / "d.csv", [("x", "y", "tie")] * 3)
    assert "no number of battles is sure to part them" in " ".join(
        invoke("rate", even).output.split()
    )


def test_the_battles_a_run_lists_give_the_board_of_the_run(tmp_path: Path) -> None:
    films = [video(), video(b"another")]
    run = play(tmp_path / "out", [b for film in films for b in lineage(film)], videos=films)
    board = json.loads(invoke("leaderboard", run, "--json").output)
    for form, suffix in (("jsonl", "jsonl"), ("csv", "csv")):
        file = tmp_path / f"battles.{suffix}"
        file.write_text(invoke("battles", run, "--format", form).output)
        table = rate_file(file)
        rated = [row for row in board["models"] if row["battles"] or row["forfeits"]]
        assert sorted(table["models"], key=str) == sorted(rated, key=str)
        assert table["settings"]["totals"] == board["settings"]["totals"]


def test_voids_and_forfeits_are_counted_and_not_rated(tmp_path: Path) -> None:
    header = ("model_a", "model_b", "verdict")
    rows = [("x", "y", "a"), ("x", "y", "forfeit_b"), ("", "", "void"), ("z", "y", "forfeit_a")]
    table = rate_file(written(tmp_path / "b.csv", rows, header))
    assert table["settings"]["totals"] == {
        "battles": 4, "decided": 1, "ties": 0, "splits": 0, "forfeits": 2, "voids": 1,
    }  # fmt: skip
    assert {row["model"]: row["forfeits"] for row in table["models"]} == {"x": 0, "y": 1, "z": 1}


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


@pytest.mark.parametrize(
    ("name", "where"), [("b.jsonl", "line 3"), ("b.parquet", "row 3"), ("b.tsv", "row 3")]
)
def test_the_row_is_counted_in_every_form(tmp_path: Path, name: str, where: str) -> None:
    rows = [("x", "y", "a"), ("x", "y", "b"), ("x", None, "a")]
    assert refused(written(tmp_path / name, rows)) == f", {where}: model_b is missing"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"model_a": "x"\n', ', line 1: no JSON: "{\\"model_a'),
        ("[1, 2]\n", ', line 1: no JSON object: "[1, 2]"'),
        ('{"model_a": "x", "model_b": "y", "winner": "a"}\n\n', ", line 2: blank"),
        ('{"model_a": 3, "model_b": "y", "winner": "a"}\n', ', line 1: model_a is no name: "3"'),
        ('{"model_a": "x", "model_b": ["y"], "winner": true}\n', ', line 1: winner is "true"'),
        ('{"model_a": "x", "model_b": "y", "winner": NaN}\n', ", line 1: winner is missing"),
        ('{"model_a": NaN, "model_b": "y", "winner": 1}\n', ", line 1: model_a is missing"),
        ("[" * 100_000 + "\n", ", line 1: no JSON"),
        ('{"model_a": "x", "winner": "a"}\n', " has no column model_b; it has"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "b.jsonl").write_text(text)
    assert refused(tmp_path / "b.jsonl").replace('"{"', '"{\\"').startswith(said)


def test_columns_that_come_late_are_gaps_before(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("runs.rate_file._PORTION", 2)
    rows = [{"model_a": "x", "model_b": "y", "winner": "a"} for _ in range(5)]
    rows[4]["video"] = "v"
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert refused(tmp_path / "b.jsonl") == (
        ", line 1: video is missing; name it, or drop the column"
    )


def test_portions_and_blank_lines_change_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    file = written(tmp_path / "b.csv", season(), (*HEADER, "video"))
    whole = rate_file(file)
    file.write_text(file.read_text().replace("\n", "\n\n\n\n"))
    monkeypatch.setattr("runs.rate_file._PORTION", 7)
    assert rate_file(file) == whole


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", " is empty; it needs the columns"),
        (b"\n\n\n", " is blank; it needs columns"),
        (b"model_a,model_b\nx,y\n", ' has no column winner; it has "model_a", "model_b"'),
        (b"a,a,winner\nx,y,a\n", ' has two columns called "a"'),
        (b"model_a,model_b,winner\nx,\xff\xfe,a\n", " is not UTF-8 text"),
        (b'model_a,model_b,winner\nx,"y"z,a\n', ", after row 0: "),
        (b'"model_a"x,model_b,winner\n', ", header: "),
        (b"\x89PNG\r\n\x1a\n\x00\x00", " is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "b.csv").write_bytes(content)
    assert refused(tmp_path / "b.csv").startswith(said)


def test_a_parquet_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and then nothing")
    assert " is no Parquet file that can be read" in refused(tmp_path / "b.parquet")


def test_parquet_may_hold_categories_in_many_pieces_and_numbers_for_videos(tmp_path: Path) -> None:
    rows = season()
    columns = [pa.array([row[k] for row in rows]).dictionary_encode() for k in range(3)]
    columns.append(pa.array([int(row[3][1:]) for row in rows]))
    table = pa.table(columns, names=[*HEADER, "video"])
    pieces = pa.concat_tables([table.slice(k, 50) for k in range(0, 300, 50)])
    pq.write_table(pieces, tmp_path / "b.parquet", row_group_size=70)
    plain = rate_file(written(tmp_path / "b.csv", rows, (*HEADER, "video")))
    assert rate_file(tmp_path / "b.parquet") == plain


def test_gaps_in_parquet_are_no_names_however_many_there_are(tmp_path: Path) -> None:
    for models in (2, 127, 128, 256, 300):
        names = pa.array([f"m{k}" for k in range(models)] + [None]).dictionary_encode()
        others = pa.array(["other"] * (models + 1))
        table = pa.table([names, others, pa.array(["a"] * (models + 1))], names=list(HEADER))
        pq.write_table(table, tmp_path / "b.parquet")
        said = refused(tmp_path / "b.parquet")
        assert said == f", row {models + 1}: model_a is missing"


def test_an_empty_parquet_rates_nobody(tmp_path: Path) -> None:
    empty = pa.table([pa.array([], pa.string())] * 3, names=list(HEADER))
    pq.write_table(empty, tmp_path / "b.parquet")
    assert rate_file(tmp_path / "b.parquet")["models"] == []


def test_without_pyarrow_parquet_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'videoautoarena[parquet]'" in refused(tmp_path / "b.parquet")


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    assert " is no file" in refused(tmp_path / "none.csv")
    (tmp_path / "b.xlsx").write_text("x")
    assert " must end in .csv" in refused(tmp_path / "b.xlsx")


def test_a_header_alone_rates_nobody(tmp_path: Path) -> None:
    result = invoke("rate", written(tmp_path / "b.csv", []))
    assert result.exit_code == 0
    assert "nobody is rated" in result.output


def test_an_unbeaten_model_and_two_islands_are_said(tmp_path: Path) -> None:
    rows = [("x", "y", "a")] * 12 + [("p", "q", "a"), ("q", "p", "a")] * 6
    table = rate_file(written(tmp_path / "b.csv", rows))
    flags = {row["model"]: row["flags"] for row in table["models"]}
    assert flags["x"] == ["one-sided"]
    assert flags["p"] == ["not comparable"]
    assert "2 groups of models never met" in " ".join(table["settings"]["warnings"])


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
    models = rate_file(file)["models"]
    assert {row["model"] for row in models if row["flags"] == ["one-sided"]} == flagged
    assert models[0]["model"] == pairs[0].split()[0]
    assert all(row["low"] + 100 < row["rating"] < row["high"] - 100 for row in models)
    assert invoke("rate", file).output.count("one-sided") == 4


@pytest.mark.parametrize("tied", [True, False])
def test_an_even_star_needs_nothing_to_hold_it(tmp_path: Path, tied: bool) -> None:
    winners = ["tie"] * 6 if tied else ["a", "b"] * 3
    rows = [("hub", leaf, winner) for leaf in "abc" for winner in winners]
    models = rate_file(written(tmp_path / "b.csv", rows))["models"]
    assert {row["rating"] for row in models} == {1000.0}
    assert all(not row["flags"] and row["rank_worst"] == 4 for row in models)
    assert all(row["high"] - row["low"] > 50 for row in models)


def test_one_battle_leaves_every_place_open_and_has_no_interval(tmp_path: Path) -> None:
    models = rate_file(written(tmp_path / "b.csv", [("x", "y", "a")]))["models"]
    assert [row["low"] for row in models] == [None, None]
    assert [(row["rank_best"], row["rank_worst"]) for row in models] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("one", "two"),
    [("gpt-4o", "GPT 4o"), ("qwen", "qwen\u200b"), ("gemini", "gemini\u0301"), ("opus", "оpus")],
)
def test_names_that_look_alike_are_warned_of(tmp_path: Path, one: str, two: str) -> None:
    rows = [(one, "other", "a"), (two, "other", "b")]
    table = rate_file(written(tmp_path / "b.csv", rows))
    assert len(table["models"]) == 3
    assert any("look alike" in line for line in table["settings"]["warnings"])


def test_versions_do_not_look_alike(tmp_path: Path) -> None:
    rows = [("gpt-4.1", "gpt-41", "a"), ("gpt-41", "gpt-4", "b")]
    table = rate_file(written(tmp_path / "b.csv", rows))
    assert not any("look alike" in line for line in table["settings"]["warnings"])


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
    style = rate_file(file, Method(style=True))["settings"]["terms"][0]["style"]
    assert style["length"]["low"] > 100
    assert style["bold"] is None


def test_style_may_be_given_as_sizes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(*row[:3], *rng.integers(1, 50, 2)) for row in season()]
    header = (*HEADER, "style_names_a", "style_names_b")
    for name in ("b.csv", "b.parquet"):
        rows = [(*row[:3], int(row[3]), int(row[4])) for row in rows]
        table = rate_file(written(tmp_path / name, rows, header), Method(style=True))
        style = table["settings"]["terms"][0]["style"]
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
    assert refused(file, Method(style=True)).startswith(said)


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
