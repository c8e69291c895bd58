"""What a real run left can be read, frozen and verified by the commands a person types."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.clips import draw_folder
from tests.support.played import invoke


class Played(NamedTuple):
    """A folder of videos and the run over it."""

    videos: Path
    out: Path


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    place = tmp_path_factory.mktemp("played")
    videos = draw_folder(place / "videos", 2, seconds=2)
    out = place / "out"
    models = "offline:hawk,offline:parrot,offline:blind"
    ran = invoke(
        *("simulate", "--videos", videos, "--rounds", 2, "--models", models, "--out", out, "-q")
    )
    assert ran.exit_code == 0, ran.exception
    return Played(videos, out)


@pytest.fixture
def bench(played: Played, tmp_path: Path) -> Path:
    frozen = invoke("freeze", played.out, "--to", tmp_path / "bench")
    assert frozen.exit_code == 0, frozen.exception
    return tmp_path / "bench"


def test_every_battle_can_be_shown(played: Played) -> None:
    lines = invoke("battles", played.out, "--jsonl").output.splitlines()
    assert len(lines) == 2 * 3 * 2
    for line in lines:
        battle = json.loads(line)
        page = invoke("show", played.out, battle["id"], width=120)
        assert page.exit_code == 0, page.exception
        assert "contestant" in page.output


def test_status_finds_it_finished_and_every_role_called(played: Played) -> None:
    told = json.loads(invoke("status", played.out, "--json").output)
    assert told["slots"] == told["settled"] == 12
    assert set(told["calls"]) == set(
        ["examiner", "persona", "questioner", "contestant", "judge", "evolver", "grader"]
    )


def test_reading_leaves_the_run_as_it_is(played: Played) -> None:
    before = {path.name: path.read_bytes() for path in played.out.iterdir()}
    for command in ("status", "battles", "leaderboard"):
        assert invoke(command, played.out).exit_code == 0
    assert {path.name: path.read_bytes() for path in played.out.iterdir()} == before


def test_the_frozen_bench_and_its_videos_are_intact(played: Played, bench: Path) -> None:
    checked = invoke("bench", "verify", bench, "--videos", played.videos)
    assert checked.exit_code == 0, checked.output


def test_two_videos_that_changed_places_are_both_named(
    played: Played, bench: Path, tmp_path: Path
) -> None:
    first, second = sorted(path.name for path in played.videos.iterdir())
    swapped = tmp_path / "swapped"
    swapped.mkdir()
    shutil.copy(played.videos / first, swapped / second)
    shutil.copy(played.videos / second, swapped / first)
    checked = invoke("bench", "verify", bench, "--videos", swapped)
    assert checked.exit_code == 1
    assert checked.output.count("has changed") == 2
