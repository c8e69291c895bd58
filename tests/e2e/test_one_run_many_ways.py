"""The same seed, videos and cast give the same battles, whatever carries the calls."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.loopback import serving
from tests.support.manners import Manners, Mishap
from tests.support.played import invoke
from tests.support.typed import run
from tests.support.whole_runs import KEY, battles, committed_keys, folder_bytes, write_config
from videoautoarena.runs.run.rundir.reader import RUN_FILE

CLIPS = 2
ROUNDS = 3
CALLS_AT_ONCE = 16
TROUBLE = (
    Mishap("status", nth=3, status=429, retry_after=0.05),
    Mishap("status", nth=7, status=500),
    Mishap("close", nth=11),
    Mishap("cut", nth=15),
)


@dataclass(frozen=True)
class Ground:
    """Videos, and a run over them that nothing disturbed."""

    videos: Path
    out: Path


def simulate(videos: Path, out: Path, *, config: Path, concurrency: int = CALLS_AT_ONCE) -> Path:
    arguments = ("--videos", videos, "--rounds", str(ROUNDS), "--seed", "3", "--swap", "0.3")
    # A block for each video: two waves in three are drawn by the results of those before them.
    waves = ("--block", "1", f"--concurrency={concurrency}")
    run("simulate", *arguments, *waves, "--config", config, "--out", out)
    return out


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    place = tmp_path_factory.mktemp("ground")
    videos = draw_folder(place / "videos", CLIPS, seconds=3)
    config = write_config(place / "arena.toml", "offline")
    return Ground(videos, simulate(videos, place / "out", config=config))


def test_a_finished_run_has_no_empty_pages_in_its_file(ground: Ground) -> None:
    with closing(sqlite3.connect(ground.out / RUN_FILE)) as file:
        (pages,) = file.execute("PRAGMA page_count").fetchone()
        (empty,) = file.execute("PRAGMA freelist_count").fetchone()
    assert pages > 20
    # A place for intents and batches may be left; a hundredth is not worth writing a file anew.
    assert empty <= pages / 100


def test_every_slot_of_the_undisturbed_run_is_decided(ground: Ground) -> None:
    found = [json.loads(body) for body in battles(ground.out).values()]
    assert len(found) == CLIPS * 3 * ROUNDS
    assert {battle["verdict"] for battle in found} <= {"a", "b", "tie_good", "tie_bad"}
    assert {battle["origin"] for battle in found} >= {"first", "evolved"}
    assert any(len(battle["verdicts"]) == 2 for battle in found)
    assert {battle["basis"] for battle in found} == {None, 0, 1, 2, 3}
    assert len({battle["propensity"] for battle in found}) > 4


@pytest.mark.slow
def test_over_another_protocol_the_battles_are_those_of_the_run_in_process(
    ground: Ground, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", Manners(api_key=KEY)) as server:
        config = write_config(tmp_path / "arena.toml", "google_genai", server)
        out = simulate(ground.videos, tmp_path / "out", config=config)
    assert battles(out) == battles(ground.out)
    arrived = [row["key"] for row in server.events("arrived")]
    assert sorted(arrived) == sorted(committed_keys(out))
    assert not server.events("failed")


def test_over_http_with_trouble_on_the_way_the_battles_are_those_of_the_run_in_process(
    ground: Ground, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", Manners(api_key=KEY, mishaps=TROUBLE)) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        out = simulate(ground.videos, tmp_path / "out", config=config)
    assert battles(out) == battles(ground.out)
    arrived = [row["key"] for row in server.events("arrived")]
    assert set(arrived) == committed_keys(out)
    assert len(arrived) == len(set(arrived)) + len(TROUBLE)
    assert not server.events("failed")


def test_one_call_at_a_time_gives_the_same_battles_and_the_same_bench(
    ground: Ground, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "arena.toml", "offline")
    out = simulate(ground.videos, tmp_path / "out", config=config, concurrency=1)
    assert battles(out) == battles(ground.out)
    benches = tmp_path / "this", tmp_path / "that"
    for run_, bench in zip((out, ground.out), benches, strict=True):
        assert invoke("freeze", run_, "--to", bench).exit_code == 0
    assert folder_bytes(benches[0]) == folder_bytes(benches[1])


def test_a_replay_needs_neither_videos_nor_server(ground: Ground) -> None:
    before = folder_bytes(ground.out)
    told = json.loads(invoke("replay", ground.out, "--json").stdout)
    assert (told["equal"], told["different"]) == (CLIPS * 3 * ROUNDS, [])
    assert folder_bytes(ground.out) == before
