"""A bench on a real cluster of this machine, over HTTP, of which a worker is killed on the way."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import rayed
from tests.support.forks import ended
from tests.support.loopback import Loopback, serving_apart
from tests.support.rayed import LOOPBACK, WORKER, Rayed
from tests.support.small_benches import freeze_ground
from tests.support.whole_runs import command, environment, write_config

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arena() -> Path:
    """The command of an environment that has Ray."""
    rayed.require()
    return rayed.ENVIRONMENT / "bin" / "arena"


@pytest.fixture(scope="module")
def cluster(arena: Path) -> Iterator[Rayed]:
    """One node for both; that a command starts its own is tested with received runs."""
    with rayed.cluster(1) as up:
        yield up


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    log = tmp_path_factory.mktemp("server") / "log"
    with serving_apart(log, "--latency-s", "0.2", "0.6") as served:
        yield served


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips and a bench about them."""
    return freeze_ground(tmp_path_factory.mktemp("ground"), seconds=2)


def line(bench: Path, config: Path, videos: Path) -> list[str | Path]:
    models = ("--model", "hawk,mole,terse", "--judge", "judge", "--swap", "all")
    where = ("--config", config, "--videos", videos, "--concurrency", "4")
    return ["bench", "run", bench, *models, *where]


def wait_for(server: Loopback, answers: int, playing: subprocess.Popen[str]) -> None:
    """Wait for so many answers for as long as it plays: a cluster may take minutes to begin."""
    while len(server.events("sent")) < answers and playing.poll() is None:
        server.after(answers)


def results_of(bench: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (bench / "results").glob("*.jsonl")}


def keys_of(bench: Path) -> list[str]:
    with sqlite3.connect(bench / "results" / "calls.sqlite") as file:
        return [key for (key,) in file.execute("SELECT key FROM calls ORDER BY key")]


def test_a_killed_worker_changes_no_byte_of_a_benchs_results(
    arena: Path, cluster: Rayed, server: Loopback, ground: Path, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "arena.toml", "openai", server)
    alone, shared = (Path(shutil.copytree(ground / "bench", tmp_path / name)) for name in "ab")
    told = ended(command("arena", *line(alone, config, ground / "videos")), env=environment())
    assert results_of(alone), told.stderr
    sent = len(server.events("sent"))
    ray = ["--engine", "ray", "--address", cluster.address, "--lease", "10"]
    with subprocess.Popen(
        [arena, *line(shared, config, ground / "videos"), *ray],
        env={**environment(), **LOOPBACK},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as playing:
        wait_for(server, sent + 6, playing)
        cluster.kill(WORKER)
        _, said = playing.communicate(timeout=240)
    assert playing.returncode == told.returncode, said
    assert "a worker on" in said
    assert results_of(shared) == results_of(alone)
    assert keys_of(shared) == keys_of(alone)


def test_an_interrupt_costs_no_call_and_the_same_command_goes_on(
    arena: Path, cluster: Rayed, server: Loopback, ground: Path, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "arena.toml", "openai", server)
    bench = Path(shutil.copytree(ground / "bench", tmp_path / "bench"))
    sent = len(server.events("sent"))
    ray = ["--engine", "ray", "--address", cluster.address]
    words = [arena, *line(bench, config, ground / "videos"), *ray]
    env = {**environment(), **LOOPBACK}
    with subprocess.Popen(
        words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as playing:
        wait_for(server, sent + 3, playing)
        playing.send_signal(signal.SIGINT)
        _, said = playing.communicate(timeout=240)
    assert playing.returncode == 130, said
    assert "interrupted: " in said
    known = keys_of(bench)
    assert len(known) == len(server.events("sent")) - sent
    told = ended(command("arena", *line(bench, config, ground / "videos")), env=environment())
    assert results_of(bench), told.stderr
    assert len(keys_of(bench)) == len(server.events("sent")) - sent
