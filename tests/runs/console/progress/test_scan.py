"""What is said while a folder of videos is read."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.clips import draw_clip
from videoautoarena.runs.console.progress.listeners import MANY, gather


def test_many_files_are_counted_on_the_way_and_found_in_order(tmp_path: Path) -> None:
    clip = draw_clip(tmp_path / "0.mp4", 0, seconds=2.0).read_bytes()
    for number in range(1, MANY):
        (tmp_path / f"{number}.mp4").write_bytes(clip if number % 10 == 0 else b"")
    said: list[str] = []
    found = gather(tmp_path, said.append)
    assert re.fullmatch(r"\[10/100( ~\d+ \w+)?\] files read", said[0])
    assert said[-1] == "[100/100] files read"
    assert len(said) == 10
    assert [video.path for video in found.videos] == ["0.mp4"]
    assert [path for path, _ in found.duplicates] == [f"{n}.mp4" for n in range(10, MANY, 10)]
    assert len(found.skipped) == 90


def test_few_files_are_no_news(tmp_path: Path) -> None:
    draw_clip(tmp_path / "0.mp4", 0, seconds=2.0)
    said: list[str] = []
    assert len(gather(tmp_path, said.append).videos) == 1
    assert said == []
