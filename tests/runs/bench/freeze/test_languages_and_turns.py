"""A bench of one language's questions, or of each user's first ones alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, lineage, play, slot, video
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.freeze.selection import FOREIGN, LATER, UNTOLD, BenchSelection

OTHER = video(b"other", path="other.mp4")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of two videos: one asked about in German, one in English, and once in no language."""
    german = [b.model_copy(update={"language": "de"}) for b in lineage(video())]
    english = [
        battle(slot(OTHER, 0, ordinal=3), language="en"),
        battle(slot(OTHER, 1, ordinal=4), question="12:30 + 4?"),
    ]
    return play(tmp_path / "out", [*german, *english], videos=[video(), OTHER])


def selection_of(bench: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((bench / "manifest.json").read_bytes())["selection"]
    return found


def test_only_questions_of_the_language_are_taken(out: Path, tmp_path: Path) -> None:
    found = freeze(out, tmp_path / "bench", BenchSelection(language="de"))
    assert {item.video_id for item in open_bench(tmp_path / "bench").items} == {video().id}
    assert found.dropped == {UNTOLD: 1, FOREIGN: 1}
    assert selection_of(tmp_path / "bench")["language"] == "de"
    assert "asked in German" in (tmp_path / "bench" / "card.md").read_text()


def test_only_the_first_questions_of_each_user_are_taken(out: Path, tmp_path: Path) -> None:
    found = freeze(out, tmp_path / "bench", BenchSelection(turns=1))
    assert [item.round for item in open_bench(tmp_path / "bench").items] == [0, 0]
    assert found.dropped == {LATER: 2}
    assert "the first 1 question of each user" in (tmp_path / "bench" / "card.md").read_text()


def test_more_turns_than_there_are_leave_nothing_out(out: Path, tmp_path: Path) -> None:
    assert freeze(out, tmp_path / "bench", BenchSelection(turns=9)).dropped == {LATER: 0}
    assert len(open_bench(tmp_path / "bench").items) == 4


def test_a_bench_of_neither_says_nothing_of_them(out: Path, tmp_path: Path) -> None:
    freeze(out, tmp_path / "bench")
    assert not {"language", "turns"} & set(selection_of(tmp_path / "bench"))


def test_a_language_that_nobody_asked_in_leaves_nothing_and_says_why(
    out: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"none of 4 .*1 asked in a language that nobody told; 3"):
        freeze(out, tmp_path / "bench", BenchSelection(language="zh"))
    assert not (tmp_path / "bench").exists()


def test_a_code_that_is_none_is_refused() -> None:
    with pytest.raises(WrongArgument, match="language='german' is none of the codes ar, bg"):
        BenchSelection(language="german").check()


def test_the_command_takes_both(out: Path, tmp_path: Path) -> None:
    to = tmp_path / "bench"
    result = invoke("freeze", out, "--to", to, "--language", "de", "--turns", 1, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["questions"] == 1
