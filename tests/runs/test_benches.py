"""A bench of any schema opens as one thing, or says what is wrong with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memory.errors import BadInput
from memory.records import Sampling
from runs.bench import verify
from runs.benches import open_bench
from runs.freeze import freeze
from tests.support.played import CLIP_BYTES, lineage, play, video

FIRST = Path(__file__).parent / "golden" / "bench-schema-1"


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    freeze(play(tmp_path / "out", lineage(video())), tmp_path / "bench")
    return tmp_path / "bench"


def test_a_bench_of_schema_1_is_still_intact_with_its_video(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(CLIP_BYTES)
    checked = verify(FIRST, tmp_path)
    assert checked.problems == []
    assert checked.bench == "743f766a5eaba5852626e4a50037f61e8fad48c355fe5090500548518482d0ec"


def test_both_schemas_of_one_run_open_as_the_same_items(bench: Path) -> None:
    first, now = open_bench(FIRST), open_bench(bench)
    assert first.items == now.items
    assert first.manifest.videos == now.manifest.videos
    then, since = dict(first.manifest.run), dict(now.manifest.run)
    sampling = [Sampling.model_validate(run.pop("sampling")) for run in (then, since)]
    assert sampling[0] == sampling[1]
    assert then == since
    assert first.bench != now.bench


def test_a_changed_byte_in_a_bench_of_schema_1_is_named(tmp_path: Path) -> None:
    copy = shutil.copytree(FIRST, tmp_path / "copy")
    lines = (copy / "questions.jsonl").read_bytes()
    (copy / "questions.jsonl").write_bytes(lines.replace(b"carrot", b"turnip"))
    with pytest.raises(BadInput, match=r"questions\.jsonl has changed"):
        open_bench(copy)


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
    with pytest.raises(BadInput, match=r"no intact bench: manifest\.json is missing"):
        open_bench(bench)
    assert verify(bench, None).problems[1:] == ["a stranger does not belong to the bench"]
