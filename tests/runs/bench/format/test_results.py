"""What models came to on a bench, as files below it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.played import invoke, lineage, play, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import (
    Answers,
    Result,
    Ruling,
    read_answers,
    read_results,
    write_answers,
    write_result,
)
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play.videos import find_bench_videos


@pytest.fixture
def bench(tmp_path: Path) -> OpenBench:
    freeze(play(tmp_path / "out", lineage(video())), tmp_path / "bench")
    return open_bench(tmp_path / "bench")


def result(bench: OpenBench, model: str = "owl", judge: str = "judge") -> Result:
    qid = bench.items[0].qid
    rulings = [
        Ruling(qid=qid, against="selected", verdict="tie", seats="ab", response="so", words="w"),
        Ruling(qid=qid, against="rejected", verdict="void", reason="no verdict"),
    ]
    return Result(bench=bench.bench, model=model, judge=judge, how="run", rulings=rulings)


@pytest.mark.parametrize(("said", "reading"), [(None, 1), (1, 1), (2, 2), (0, 1), (True, 1)])
def test_a_result_that_does_not_say_how_its_replies_are_read_is_read_as_at_first(
    bench: OpenBench, said: object, reading: int
) -> None:
    facts = {} if said is None else {"reading": said}
    assert result(bench).model_copy(update={"facts": facts}).reading == reading


def test_what_was_written_is_read_again(bench: OpenBench) -> None:
    assert read_results(bench) == []
    write_result(bench, result(bench))
    assert read_results(bench) == [result(bench)]


def test_results_stand_in_the_order_of_their_models_and_judges(bench: OpenBench) -> None:
    for model, judge in (("owl", "two"), ("owl", "one"), ("hawk", "two")):
        write_result(bench, result(bench, model, judge))
    assert [(r.model, r.judge) for r in read_results(bench)] == [
        ("hawk", "two"),
        ("owl", "one"),
        ("owl", "two"),
    ]


def test_a_bench_with_results_is_intact(bench: OpenBench) -> None:
    write_result(bench, result(bench))
    assert invoke("bench", "verify", bench.folder).exit_code == 0


def test_a_result_is_replaced_only_when_asked(bench: OpenBench) -> None:
    write_result(bench, result(bench))
    with pytest.raises(BadInput, match=r'result of "owl" by "judge" already; pass --force'):
        write_result(bench, result(bench))
    write_result(bench, result(bench).model_copy(update={"how": "import"}), force=True)
    assert [r.how for r in read_results(bench)] == ["import"]


@pytest.mark.parametrize("model", ["../../evil", "/etc/passwd", "Ünï\x1b[31m", ".", "a" * 200])
def test_the_name_of_a_model_is_no_path(bench: OpenBench, model: str) -> None:
    file = write_result(bench, result(bench, model))
    assert file.parent == bench.results
    assert file.name.isascii()
    assert len(file.name) < 70
    assert [r.model for r in read_results(bench)] == [model]


def test_names_that_look_alike_have_files_of_their_own(bench: OpenBench) -> None:
    files = {write_result(bench, result(bench, model)) for model in ("a/b", "a:b", "A-B", "a b")}
    assert len(files) == 4


def test_answers_are_no_result(bench: OpenBench) -> None:
    answers = Answers(
        bench=bench.bench, model="owl", how="import", responses={bench.items[0].qid: "so"}
    )
    write_answers(bench, answers)
    assert read_results(bench) == []
    assert read_answers(bench, "owl") == answers
    assert read_answers(bench, "hawk") is None
    with pytest.raises(BadInput, match='answers of "owl" already'):
        write_answers(bench, answers)


def spoil(file: Path, line: int, **changed: object) -> None:
    lines = [json.loads(text) for text in file.read_text().splitlines()]
    lines[line].update(changed)
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))


@pytest.mark.parametrize(
    ("line", "changed", "told"),
    [
        (0, {"bench": "0" * 64}, "on another bench, 000000000000"),
        (0, {"schema": 2}, "newer schema than 1"),
        (0, {"model": ""}, "line 1"),
        (1, {"verdict": "great"}, "line 2: not a valid line of a result"),
        (1, {"qid": "elsewhere"}, '"elsewhere", which is not in the bench'),
        (2, {"against": "selected", "seats": "ab"}, "rules twice"),
    ],
)
def test_a_file_that_cannot_be_is_named(
    bench: OpenBench, line: int, changed: dict[str, object], told: str
) -> None:
    file = write_result(bench, result(bench))
    spoil(file, line, **changed)
    with pytest.raises(BadInput, match=told) as wrong:
        read_results(bench)
    assert file.name in str(wrong.value)


@pytest.mark.parametrize("content", [b"", b"\xff\n", b"[" * 100_000, b'{"kind": NaN}\n', b"1\n"])
def test_what_is_no_result_is_named_too(bench: OpenBench, content: bytes) -> None:
    bench.results.mkdir()
    (bench.results / "x.jsonl").write_bytes(content)
    with pytest.raises(BadInput, match=r"x\.jsonl, line 1: no head"):
        read_results(bench)


def test_a_file_in_the_place_of_the_folder_is_one_line(bench: OpenBench) -> None:
    bench.results.write_text("")
    with pytest.raises(BadInput, match="is no folder"):
        write_result(bench, result(bench))


def test_a_link_in_the_place_of_a_result_is_not_followed(bench: OpenBench, tmp_path: Path) -> None:
    write_result(bench, result(bench))
    (file,) = bench.results.glob("*.jsonl")
    file.rename(tmp_path / "elsewhere.jsonl")
    file.symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(BadInput, match="is a link; put the file itself there"):
        read_results(bench)


@pytest.mark.parametrize("which", ["clip.mp4", ""])
def test_copies_of_videos_that_are_links_are_not_followed(
    which: str, bench: OpenBench, tmp_path: Path
) -> None:
    copies = bench.folder / "videos"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "clip.mp4").touch()
    if which:
        copies.mkdir()
    (copies / which).symlink_to(elsewhere / which)
    own = replace(bench, manifest=bench.manifest.model_copy(update={"with_videos": True}))
    with pytest.raises(BadInput, match="is a link, and no copy of a video"):
        find_bench_videos(own, list(own.manifest.videos), folder=None, store=None)
