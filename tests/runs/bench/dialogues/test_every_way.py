"""Dialogues come to the same one call at a time, many at once, in process and over HTTP."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.loopback import serving_apart
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, write_config
from videoautoarena.video.folder.find import find_videos

pytestmark = pytest.mark.slow

DIALOGUES = 12


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips, and a set with dialogues about them, some of them about a part."""
    place = tmp_path_factory.mktemp("ways")
    videos = find_videos(draw_folder(place / "videos", 4, seconds=2)).videos
    each = range(DIALOGUES // len(videos))
    spans: dict[str, Any] = {"spans": [(0.2, 0.8), (1.0, 1.6)]}
    items = [dialogue(v.id, k, **(spans if k % 5 == 0 else {})) for v in videos for k in each]
    write_dialogues(place / "set", items, videos=place / "videos")
    return place


def lines_of(bench: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what each model came to, without the head, which says how it was reached."""
    found = {}
    for file in (bench / "results").glob("*.jsonl"):
        head, *lines = map(json.loads, file.read_text().splitlines())
        found[head["model"]] = lines
    return found


def said_in(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return lines without how a reply ended and what it cost, which only a server says."""
    left_out = {"ending", "usd"}
    return {
        model: [{k: v for k, v in line.items() if k not in left_out} for line in lines]
        for model, lines in found.items()
    }


@pytest.mark.parametrize("history", ["golden", "own"])
def test_one_call_at_a_time_sixteen_in_process_and_over_http_say_the_same(
    ground: Path, history: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    found = []
    with serving_apart(ground / f"{history}.log") as server:
        far = write_config(ground / "far.toml", "openai", server)
        near = write_config(ground / "near.toml", "offline")
        for config, width in ((near, 1), (near, 16), (far, 16)):
            bench = Path(shutil.copytree(ground / "set", ground / f"{history}{len(found)}"))
            cast = ("--model", "hawk,owl", "--judge", "judge", "--config", config)
            how = ("--concurrency", str(width), "--history", history, "--videos", ground / "videos")
            assert Terminal(capsys).arena("bench", "run", bench, *cast, *how, "-q").code == 0
            found.append(lines_of(bench))
            before = {file: file.read_bytes() for file in (bench / "results").glob("*.jsonl")}
            again = Terminal(capsys).arena("bench", "run", bench, *cast, *how, "-q")
            assert again.code == 0
            assert before == {file: file.read_bytes() for file in before}
    assert found[0] == found[1]
    assert said_in(found[0]) == said_in(found[2])
    assert {len(lines) for lines in found[0].values()} == {2 * DIALOGUES}
