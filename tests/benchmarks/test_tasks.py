"""The benchmark of made tasks runs, small, and its predictions follow from the instants alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import tasks
from tests.support.plain_videos import draw_plain_videos


@pytest.mark.slow
def test_stand_ins_answer_as_the_sampled_instants_let_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clips = draw_plain_videos(tmp_path / "videos")
    small = ("--n", "40", "--files", "3", "--seconds", "30")
    tasks.main(["--videos", str(clips), "--clips", str(tmp_path / "clips"), *small])
    said = capsys.readouterr().out
    missed = [line for line in said.splitlines() if line.endswith("NOT kept")]
    # So few items cannot show that mole is ahead of blind, or that nobody's guess is a good one.
    assert [line for line in missed if "mole above blind" not in line] == []
    assert len(re.findall(r"right when hit 1\.000", said)) == 3
    assert "30 s: 3 of 3 files leave the same options: kept" in said
    assert "30 s: 3 of 3 the same without a file: kept" in said
