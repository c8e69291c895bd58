"""A set of tasks whose playing is killed again and again pays for nothing twice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.faulty_disk import Disk
from tests.support.killed_runs import Program, program
from tests.support.killed_sets import IMPORTED, LATENCY_S, Deaths
from tests.support.loopback import serving_apart
from tests.support.task_sets import choice, free, write_set
from videoautoarena.video.folder.find import find_videos

pytestmark = pytest.mark.slow

KILLS, AT_LEAST_IN_FLIGHT = 20, 10
ITEMS = 40
"""Of choice as many as of free text."""


@pytest.fixture(scope="module")
def children() -> Iterator[Program]:
    with program(*IMPORTED) as running:
        yield running


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips, and a set with choices and free text about them."""
    place = tmp_path_factory.mktemp("killed")
    videos = find_videos(draw_folder(place / "videos", 4, seconds=2)).videos
    each = range(ITEMS // len(videos) // 2)
    items = [make(video.id, k) for video in videos for k in each for make in (choice, free)]
    write_set(place / "set", items, videos=place / "videos")
    return place


def test_twenty_kills_pay_for_no_answer_and_no_marking_twice(
    children: Program, ground: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = Path(shutil.copytree(ground / "set", ground / "killed"))
    with serving_apart(ground / "calm.log") as server:
        calm = Deaths(children, ground, ground / "set", server)
        assert calm.live(Disk()) == 0, calm.said
    with serving_apart(ground / "log", "--latency-s", *LATENCY_S) as server:
        lives = Deaths(children, ground, killed, server)
        lives.die(KILLS)
        assert lives.live(Disk()) == 0, lives.said
    with capsys.disabled():
        print("", lives.account(), sep="\n")  # noqa: T201
    assert lives.results == calm.results
    assert calm.results
    lives.check_payments(roles={"contestant", "scene_marker"}, at_least=AT_LEAST_IN_FLIGHT)
