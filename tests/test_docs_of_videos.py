"""What is told of videos and their frames is written down field by field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.played import invoke

RECORDS = Path(__file__).parents[1] / "docs" / "records.md"


def section(heading: str) -> str:
    return RECORDS.read_text().split(f"# {heading}\n")[1].split("\n#")[0]


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def test_what_is_told_of_videos_and_their_frames_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    draw_folder(tmp_path / "clips", 1, seconds=2.0)
    listed = json.loads(invoke("videos", "clips", "--json").stdout)
    seen = json.loads(invoke("frames", "clips/clip00.mp4", "--frames", "2", "--json").stdout)
    assert first_column(section("A folder of videos")) == list(listed)
    assert first_column(section("A video that was listed")) == list(listed["videos"][0])
    text = section("Frames of a video")
    assert first_column(text) == list(seen)
    told = set(re.findall(r"`(\w+)`", text + section("A folder of videos")))
    assert set(seen["frames"][0]) | set(listed["totals"]) <= told
