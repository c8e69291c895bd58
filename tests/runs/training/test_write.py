"""Rows for training leave as JSON lines and Parquet, with a word on what is not among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from docs.generate import DOCS
from tests.support.json_schemas import problems
from tests.support.played import battle, invoke, lineage, play, slot, video
from videoautoarena.runs.training.rows import ROWS, rows_schema
from videoautoarena.runs.training.write import Wanted, parquet_schema, rows_of

HOSTILE = "=cmd|x <b>\x1b[2J\n\ud800"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    hostile = battle(slot(video(), 3, ordinal=3), question=HOSTILE, answer_a=HOSTILE)
    return play(tmp_path / "out", [*lineage(video()), hostile])


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("what", ROWS)
def test_each_row_fits_the_published_schema(out: Path, what: str) -> None:
    published = json.loads((DOCS / "training-rows.schema.json").read_text())
    assert published == rows_schema(), "make docs"
    result = invoke("export", out, "--what", what)
    assert (result.exit_code, result.stdout.isascii()) == (0, True)
    rows = lines(result.stdout)
    assert rows
    for row in rows:
        assert problems(row, published["properties"][what], published) == []
        assert next(iter(row.items())) == ("schema", 1)
    assert problems({**rows[0], "more": 1}, published["properties"][what], published)


@pytest.mark.parametrize("what", ROWS)
def test_parquet_holds_the_rows_of_the_lines(out: Path, tmp_path: Path, what: str) -> None:
    to = tmp_path / "rows"
    result = invoke("export", out, "--what", what, "--format", "parquet", "--to", to)
    assert result.exit_code == 0, result.output
    said = invoke("export", out, "--what", what).stdout
    rows = lines(said.replace("\\ud800", "\\\\ud800"))  # no lone surrogates in Parquet
    assert pq.read_table(to).to_pylist() == rows  # type: ignore[no-untyped-call]
    assert parquet_schema(what).names == list(ROWS[what].model_json_schema()["properties"])


def test_the_file_holds_what_stands_on_standard_output(out: Path, tmp_path: Path) -> None:
    to = tmp_path / "pairs.jsonl"
    assert invoke("export", out, "--what", "preferences", "--to", to).exit_code == 0
    assert to.read_text() == invoke("export", out, "--what", "preferences").stdout


def test_what_was_left_out_is_counted_on_the_other_stream(out: Path) -> None:
    said = invoke("export", out, "--what", "preferences").stderr
    assert "3 pairs about 1 video" in said
    assert "left out: 1 battle (1 tie)" in said
    assert "no licence is known of 1 of 1 video;" in said
    assert "rates stand-ins" in said
    assert "the first 3 by rating: " in invoke("export", out, "--what", "conversations").stderr


def test_seatings_that_agree_are_counted(tmp_path: Path) -> None:
    from tests.support.played import judging

    both = [
        battle(
            slot(video(), k),
            origin="first",
            verdicts=(judging(seats="ab"), judging(seats="ba", verdict=back)),
        )
        for k, back in enumerate("aab")
    ]
    with rows_of(play(tmp_path / "out", both), Wanted("preferences")) as (summary, rows):
        assert len(list(rows)) == 3
    assert (summary.agreed, summary.judged_twice) == (2, 3)
    assert any("2 of 3 pairs judged" in line for line in summary.as_lines())


def test_a_licence_that_is_known_is_not_missed(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from videoautoarena.runs.training import sources

    monkeypatch.setattr(sources, "licences_of", lambda _: {video().id: "CC0-1.0"})
    result = invoke("export", out, "--what", "preferences")
    assert {row["licence"] for row in lines(result.stdout)} == {"CC0-1.0"}
    assert "no licence" not in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--what", "calls", "--top", 2), 2, "--top needs --what conversations"),
        (("--what", "preferences", "--top", 2), 2, "--top needs --what conversations"),
        (("--what", "battles", "--format", "parquet"), 2, "needs --what preferences or conv"),
        (("--what", "preferences", "--format", "fastchat"), 2, "needs --what battles"),
        (("--what", "preferences", "--format", "parquet"), 2, "name it with --to"),
        (("--what", "conversations", "--top", 0), 2, "--top"),
        (("--what", "preferences", "--frames", 2), 2, "--frames needs --format inspect"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    out: Path, words: tuple[object, ...], code: int, said: str
) -> None:
    result = invoke("export", out, *words, width=200)
    assert result.exit_code == code
    assert said in result.stderr


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_file_that_is_there_or_is_none_is_left_alone(
    out: Path, tmp_path: Path, form: str
) -> None:
    (tmp_path / "there").write_text("mine")
    words = ("export", out, "--what", "preferences", "--format", form)
    assert "already exists" in str(invoke(*words, "--to", tmp_path / "there").exception)
    assert (tmp_path / "there").read_text() == "mine"
    run = out / "run.sqlite"
    assert "is the run itself" in str(invoke(*words, "--to", run, "--force").exception)
    device = str(invoke(*words, "--to", "/dev/null", "--force").exception)
    assert "is no ordinary file" in device
    assert Path("/dev/null").is_char_device()
    assert invoke(*words, "--to", tmp_path / "there", "--force").exit_code == 0


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    damaged = [*lineage(video()), battle(slot(video(), 3, ordinal=3), answer_b=None)]
    out = play(tmp_path / "out", damaged)
    to = tmp_path / "pairs.jsonl"
    result = invoke("export", out, "--what", "preferences", "--to", to)
    assert "has no answer_b" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
