"""A run whose process is stopped pays for nothing twice that was answered meanwhile."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.forks import Process, started
from tests.support.loopback import serving_apart
from tests.support.serverlog import Log, arrivals, open_calls
from tests.support.whole_runs import command, end_well, environment, write_config

CALLS = 8
LATENCY = ("--latency-s", "0.6", "1.0")
STOP_S = 6.5
LIMIT_S = 3.0


def wait_for_calls(life: Process, log: Log) -> None:
    """Return once so many calls are under way, none of them among the first."""
    while len(arrivals(log.events)) < 2 * CALLS or open_calls(log.events) < CALLS:
        assert life.poll() is None, life.stderr and life.stderr.read().decode()
        time.sleep(0.02)
        log.read_on()


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "google_genai"])
def test_a_stopped_run_asks_nothing_again_that_was_answered_meanwhile(
    provider: str, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "videos", 3, seconds=2.0)
    out = tmp_path / "run"
    with serving_apart(tmp_path / "log", "--canned", *LATENCY) as server:
        config = write_config(tmp_path / "arena.toml", provider, server, timeout_s=LIMIT_S)
        typed = ("--videos", tmp_path / "videos", "--rounds", "1", "--config", config)
        line = command("simulate", *typed, "--out", out, "--concurrency", str(CALLS), "-q")
        log = Log(server.log)
        with started(line, env=environment(), stderr=subprocess.PIPE) as life:
            wait_for_calls(life, log)
            life.send_signal(signal.SIGSTOP)
            time.sleep(STOP_S)
            life.send_signal(signal.SIGCONT)
            _, told = life.communicate()
        assert life.returncode == 0, told[-2000:].decode()
        log.read_on()
    assert {key: count for key, count in Counter(arrivals(log.events)).items() if count > 1} == {}
    said = end_well(command("arena", "status", out))
    assert "possibly paid" not in said
    assert "timed out" not in said
