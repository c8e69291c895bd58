"""Rows for training leave as JSON lines and Parquet, with a word on what is not among them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from docs.generate import DOCS
from tests.support import small_runs
from tests.support.clips import draw_folder
from tests.support.json_schemas import problems
from tests.support.played import battle, invoke, lineage, play, slot, video
from tests.support.small_runs import altered
from videoautoarena.runs.analysis.categories.tags import categories_of
from videoautoarena.runs.exchange.training.rows import ROWS, rows_schema
from videoautoarena.runs.exchange.training.write import TrainingOrder, parquet_schema, rows_of
from videoautoarena.runs.run.rundir.reader import open_run

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
    with rows_of(play(tmp_path / "out", both), TrainingOrder("preferences")) as (summary, rows):
        assert len(list(rows)) == 3
    assert (summary.agreed, summary.judged_twice) == (2, 3)
    assert any("2 of 3 pairs judged" in line for line in summary.as_lines())


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over two clips, one with a licence in videos.csv, whose questions were tagged."""
    place = tmp_path_factory.mktemp("described")
    videos = draw_folder(place / "videos", 2, seconds=2)
    (videos / "videos.csv").write_text("path,licence\nclip00.mp4,=CC0 <b>\nclip01.mp4,\n")
    small_runs.play(videos, place / "out", rounds=1)
    with altered(place / "out") as file:
        file.execute("UPDATE battles SET body = json_set(body, '$.verdict', 'a')")
    tagged = invoke("categories", "tag", place / "out", "--classifier", "offline:judge")
    assert tagged.exit_code == 0, tagged.output
    return place / "out"


@pytest.mark.parametrize("what", ROWS)
def test_licences_and_categories_are_those_of_the_run(described: Path, what: str) -> None:
    result = invoke("export", described, "--what", what)
    rows = lines(result.stdout)
    assert {row["path"]: row["licence"] for row in rows} == {
        "clip00.mp4": "=CC0 <b>",
        "clip01.mp4": None,
    }
    assert "no licence is known of 1 of 2 videos;" in result.stderr
    with open_run(described) as run:
        named = {id_: list(names) for id_, names in categories_of(run).items()}
    turns = [turn for row in rows for turn in row.get("turns", [row])]
    assert {turn["battle"]: turn["categories"] for turn in turns} == named
    assert any(named.values())


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
    os.mkfifo(tmp_path / "pipe")
    said = str(invoke(*words, "--to", tmp_path / "pipe", "--force").exception)
    assert "is no ordinary file" in said
    assert (tmp_path / "pipe").is_fifo()
    assert invoke(*words, "--to", tmp_path / "there", "--force").exit_code == 0


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    damaged = [*lineage(video()), battle(slot(video(), 3, ordinal=3), answer_b=None)]
    out = play(tmp_path / "out", damaged)
    to = tmp_path / "pairs.jsonl"
    result = invoke("export", out, "--what", "preferences", "--to", to)
    assert "has no answer_b" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
