"""A hundred dialogues played in every way come to the same, and kills pay for nothing twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.faulty_disk import Disk
from tests.support.killed_runs import Program, program
from tests.support.killed_sets import IMPORTED, LATENCY_S, Deaths
from tests.support.loopback import serving_apart
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, write_config
from videoautoarena.video.folder.find import find_videos

pytestmark = pytest.mark.slow

KILLS, AT_LEAST_IN_FLIGHT = 20, 10
DIALOGUES = 100


@pytest.fixture(scope="module")
def children() -> Iterator[Program]:
    with program(*IMPORTED) as running:
        yield running


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips, and a set with dialogues about them, some of them about a part."""
    place = tmp_path_factory.mktemp("killed")
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


def test_twenty_kills_pay_for_no_answer_and_no_marking_twice(
    children: Program, ground: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = Path(shutil.copytree(ground / "set", ground / "killed"))
    with serving_apart(ground / "calm.log") as server:
        calm = Deaths(
            children, ground, Path(shutil.copytree(ground / "set", ground / "calm")), server
        )
        assert calm.live(Disk()) == 0, calm.said
    with serving_apart(ground / "log", "--latency-s", *LATENCY_S) as server:
        lives = Deaths(children, ground, killed, server)
        lives.die(KILLS)
        assert lives.live(Disk()) == 0, lives.said
    with capsys.disabled():
        print("", lives.account(), sep="\n")  # noqa: T201
    assert lives.results == calm.results
    assert {len(lines) for lines in lines_of(calm.bench).values()} == {2 * DIALOGUES}
    lives.check_payments(roles={"contestant", "checklist_marker"}, at_least=AT_LEAST_IN_FLIGHT)


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
            cast = ("--model", "hawk,owl", "--judge", "judge", "--config", config, "--limit", "30")
            how = ("--concurrency", str(width), "--history", history, "--videos", ground / "videos")
            assert Terminal(capsys).arena("bench", "run", bench, *cast, *how, "-q").code == 0
            found.append(lines_of(bench))
            before = {file: file.read_bytes() for file in (bench / "results").glob("*.jsonl")}
            again = Terminal(capsys).arena("bench", "run", bench, *cast, *how, "-q")
            assert again.code == 0
            assert before == {file: file.read_bytes() for file in before}
    assert found[0] == found[1]
    assert said_in(found[0]) == said_in(found[2])
    assert {len(lines) for lines in found[0].values()} == {60}
