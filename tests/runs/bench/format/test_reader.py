"""A bench opens as one thing, or says what is wrong with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.played import lineage, play, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.bench.freeze.freeze import freeze


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    freeze(play(tmp_path / "out", lineage(video())), tmp_path / "bench")
    return tmp_path / "bench"


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (0, "has schema 0, older than 2; freeze or import it again"),
        (1, "has schema 1, older than 2; freeze or import it again"),
        (3, "has schema 3, newer than 2; update videoautoarena"),
    ],
)
def test_a_bench_of_another_schema_is_refused_in_one_line(
    bench: Path, schema: int, why: str
) -> None:
    manifest = bench / "manifest.json"
    raw = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps({**raw, "schema": schema}))
    with pytest.raises(BadInput) as refused:
        open_bench(bench)
    wanted = f"{bench} is not an intact bench: manifest.json {why}; see arena bench verify"
    assert str(refused.value) == wanted


def test_a_changed_byte_in_a_question_is_named(bench: Path) -> None:
    lines = (bench / "questions.jsonl").read_bytes()
    (bench / "questions.jsonl").write_bytes(lines.replace(b"carrot", b"turnip"))
    with pytest.raises(BadInput, match=r"questions\.jsonl has changed"):
        open_bench(bench)


def test_results_are_no_strangers_but_a_file_of_that_name_is(bench: Path) -> None:
    (bench / "results").mkdir()
    (bench / "results" / "anything.jsonl").write_text("{}")
    assert verify(bench, None).problems == []
    shutil.rmtree(bench / "results")
    (bench / "results").write_text("")
    assert verify(bench, None).problems == ["results does not belong to the bench"]


def test_an_open_bench_has_its_digest_and_knows_where_results_go(bench: Path) -> None:
    opened = open_bench(bench)
    assert opened.bench == json.loads((bench / "manifest.json").read_bytes())["bench"]
    assert opened.results == bench / "results"
    assert opened.videos is None


@pytest.mark.parametrize("name", ["videos", "extra"])
def test_a_folder_too_many_is_named(bench: Path, name: str) -> None:
    (bench / name).mkdir()
    with pytest.raises(BadInput, match=f"{name} does not belong"):
        open_bench(bench)


def test_what_is_no_bench_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no folder"):
        open_bench(tmp_path / "nothing")
    with pytest.raises(BadInput, match="is missing"):
        open_bench(tmp_path)


def test_a_missing_manifest_is_told_before_what_lies_there_instead(bench: Path) -> None:
    (bench / "manifest.json").unlink()
    (bench / "a stranger").write_text("")
    with pytest.raises(BadInput, match=r"not an intact bench: manifest\.json is missing"):
        open_bench(bench)
    assert verify(bench, None).problems[1:] == ["a stranger does not belong to the bench"]
