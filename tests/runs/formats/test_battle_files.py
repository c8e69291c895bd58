"""Files of battles: every form is read alike, and what is broken is named with its row."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.votes import HEADER, refused, season, written
from videoautoarena.memory.records.errors import install_command
from videoautoarena.runs.rating.rate import rate_file


def test_every_form_of_the_same_battles_gives_the_same_table(tmp_path: Path) -> None:
    header = (*HEADER, "video")
    names = ("b.csv", "b.tsv", "b.jsonl", "b.ndjson", "b.parquet", "B.CSV")
    files = [written(tmp_path / name, season(), header) for name in names[:-1]]
    files.append(written(tmp_path / names[-1], season(), header))
    tables = [rate_file(file).to_json() for file in files]
    assert all(table == tables[0] for table in tables)
    assert tables[0]["components"] == [["ant", "bee", "cat"]]
    assert tables[0]["settings"]["videos"] == [30]
    assert list(tables[0]["models"][0]) == [
        "model", "rating", "low", "high", "rank", "rank_best", "rank_worst",
        "battles", "wins", "losses", "ties", "win_rate", "forfeits", "flags",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "where"), [("b.jsonl", "line 3"), ("b.parquet", "row 3"), ("b.tsv", "row 3")]
)
def test_the_row_is_counted_in_every_form(tmp_path: Path, name: str, where: str) -> None:
    rows = [("x", "y", "a"), ("x", "y", "b"), ("x", None, "a")]
    assert refused(written(tmp_path / name, rows)) == f", {where}: model_b is missing"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"model_a": "x"\n', ', line 1: not JSON: "{\\"model_a'),
        ("[1, 2]\n", ', line 1: not a JSON object: "[1, 2]"'),
        ('{"model_a": "x", "model_b": "y", "winner": "a"}\n\n', ", line 2: blank"),
        ('{"model_a": 3.5, "model_b": "y", "winner": 1}\n', ', line 1: model_a is no name: "3.5"'),
        (
            '{"model_a": {"of": 1}, "model_b": "y", "winner": 1}\n',
            ', line 1: model_a is no name: "{',
        ),
        ('{"model_a": "x", "model_b": ["y"], "winner": 1}\n', ', line 1: model_b is no name: "['),
        (
            '{"model_a": "x", "model_b": true, "winner": 1}\n',
            ', line 1: model_b is no name: "true"',
        ),
        ('{"model_a": "x", "model_b": ["y"], "winner": true}\n', ', line 1: winner is "true"'),
        ('{"model_a": "x", "model_b": "y", "winner": NaN}\n', ", line 1: winner is missing"),
        ('{"model_a": NaN, "model_b": "y", "winner": 1}\n', ", line 1: model_a is missing"),
        ("[" * 100_000 + "\n", ", line 1: not JSON"),
        (
            '{"model_a": "x", "model_b": "y", "winner": "a", "winner": "b"}\n',
            ', line 1: has the key "winner" twice; keep one',
        ),
        (
            '{"model_a": "x", "model_b": "y", "winner": 1}\n'
            '{"model_a": "x", "model_b": "y", "winner": 1, "model_\\u0061": "x"}\n',
            ', line 2: has the key "model_a" twice; keep one',
        ),
        ('{"\\u001b[31m": 1, "\\u001b[31m": 1}\n', ', line 1: has the key "\\x1b[31m" twice'),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:12\n", " is a pointer of Git LFS"),
        ('{"model_a": "x", "winner": "a"}\n', " has no column model_b; it has"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "b.jsonl").write_text(text)
    assert refused(tmp_path / "b.jsonl").replace('"{"', '"{\\"').startswith(said)


def test_whole_numbers_are_names_in_every_form(tmp_path: Path) -> None:
    rows = [(1, 20, "a"), (20, 1, "a"), (1, 3, "tie")]
    columns = dict(zip(("model_a", "model_b", "winner"), zip(*rows, strict=True), strict=True))
    (tmp_path / "b.csv").write_text(
        "model_a,model_b,winner\n" + "".join(f"{a},{b},{w}\n" for a, b, w in rows)
    )
    lines = (dict(zip(columns, row, strict=True)) for row in rows)
    (tmp_path / "b.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    pq.write_table(pa.table(columns), tmp_path / "b.parquet")
    floats = {**columns, "model_a": [1.0, 20.0, 1.0]}
    pq.write_table(pa.table(floats), tmp_path / "floats.parquet")
    boards = [
        rate_file(tmp_path / name).to_json()
        for name in ("b.csv", "b.jsonl", "b.parquet", "floats.parquet")
    ]
    assert {row["model"] for row in boards[0]["models"]} == {"1", "20", "3"}
    assert all(board["models"] == boards[0]["models"] for board in boards)


def test_columns_that_come_late_are_gaps_before(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("videoautoarena.runs.formats.battle_table._PORTION", 2)
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
    monkeypatch.setattr("videoautoarena.runs.formats.battle_table._PORTION", 7)
    assert rate_file(file) == whole


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", " is empty; it needs a header"),
        (b"\n\n\n", " is blank; it needs a header"),
        (b"model_a,model_b\nx,y\n", ' has no column winner; it has "model_a", "model_b"'),
        (b"a,a,winner\nx,y,a\n", ', line 1: two columns are called "a"; rename one'),
        (b"\n\nmodel_a,model_b, winner,winner \nx,y,a,b\n", ', line 3: two columns are called "w'),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:12\n",
            " is a pointer of Git LFS",
        ),
        (b"model_a,model_b,winner\nx,\xff\xfe,a\n", " is not UTF-8 text"),
        (b'model_a,model_b,winner\nx,"y"z,a\n', ", row 1: "),
        (b'model_a,model_b,winner\nx,y,a\n\nx,"y,a\ny,x,a\n', ", row 2: a quote is never closed"),
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
    assert rate_file(tmp_path / "b.parquet").to_json()["models"] == []


def test_without_pyarrow_parquet_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert install_command("parquet") in refused(tmp_path / "b.parquet")


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    assert " is no file" in refused(tmp_path / "none.csv")
    (tmp_path / "b.xlsx").write_text("x")
    assert " must end in .csv" in refused(tmp_path / "b.xlsx")
