"""The examples of docs/python.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.played_dialogues import play_dialogues
from tests.support.small_benches import freeze_ground, run_bench

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_examples_of_the_page_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ground").mkdir()
    place = freeze_ground(tmp_path / "ground")
    (tmp_path / "arena-out").mkdir()
    (place / "out").rename(tmp_path / "arena-out/demo")
    (place / "bench").rename(tmp_path / "my-bench")
    given = ("--model", "offline:owl", "--judge", "offline:judge", "--videos", place / "videos")
    assert run_bench(tmp_path / "my-bench", *given).return_value == 0
    play_dialogues(tmp_path / "my-dialogues")
    monkeypatch.chdir(tmp_path)
    draw_folder(tmp_path / "arena-samples", 4, seconds=2)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(blocks) == 6
    exec("".join(blocks), {})
    said = capsys.readouterr().out
    assert "offline:hawk" in said
    assert "model-x" in said
    assert "offline:owl offline:judge" in said
    assert " golden " in said
