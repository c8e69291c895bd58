"""A run that is killed again and again loses nothing and repeats nothing it had written down."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.forks import Process, started
from tests.support.loopback import Loopback, serving_apart
from tests.support.serverlog import Log, arrivals, open_calls
from tests.support.typed import run
from tests.support.whole_runs import (
    battles,
    command,
    committed_keys,
    end_well,
    environment,
    write_config,
)
from videoautoarena.memory.records.digests import unit_interval

KILLS, CLIPS, BLOCK = (100, 12, 4) if "WHOLE_TABLE" in os.environ else (12, 4, 2)
"""Nine waves, or six; all but two are drawn by what was settled before, in this life or another."""
AT_LEAST_IN_FLIGHT = 0.6
"""Share of deaths."""
ROUNDS = 3
SECONDS = 4.0
LATENCY_S = ("0.3", "0.9")
# Three lives in four are ended soon after their first call, the others anywhere from their start.
SHARE_AFTER_A_CALL = 0.75
SOON_S = 1.3
ANYWHERE_S = 0.8
GLANCE_S = 0.02


@dataclass
class Killer:
    """Lets one run live many times, and remembers what each death met."""

    line: list[str]
    out: Path
    log: Log
    in_flight: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    paid_again: set[str] = field(default_factory=set)

    def kill_once(self, number: int) -> None:
        """Start the run, kill it at a moment that its number decides, and look at what is left."""
        before = committed_keys(self.out)
        self.log.read_on()
        born = len(self.log.events)
        with started(self.line, env=environment(), stderr=subprocess.PIPE) as life:
            self._wait(life, number, born)
            life.send_signal(signal.SIGKILL)
            self.log.read_on()
        assert life.returncode == -signal.SIGKILL, f"death {number} found it ended"
        lived = self.log.events[born:]
        self.in_flight.append(open_calls(lived))
        self.kept.append(len(committed_keys(self.out)))
        self.paid_again |= before & set(arrivals(lived))

    def _wait(self, life: Process, number: int, born: int) -> None:
        after_a_call = unit_interval(0, "kind", number) < SHARE_AFTER_A_CALL
        moment = unit_interval(0, "moment", number)
        while after_a_call and not arrivals(self.log.events[born:]):
            self._let_live(life, GLANCE_S)
            self.log.read_on()
        self._let_live(life, moment * (SOON_S if after_a_call else ANYWHERE_S))

    def _let_live(self, life: Process, seconds: float) -> None:
        try:
            _, told = life.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return
        pytest.fail(f"it ended by itself with {life.returncode}: {told[-2000:].decode()}")

    def account(self) -> str:
        """Return the distribution of calls in flight at death, as lines."""
        counts = sorted(Counter(self.in_flight).items())
        lines = [f"  {calls:>3} in flight: {times:>3} deaths" for calls, times in counts]
        busy = sum(calls > 0 for calls in self.in_flight)
        sent = Counter(arrivals(self.log.events))
        again = sum(times - 1 for times in sent.values())
        return "\n".join(
            [
                f"{len(self.in_flight)} deaths, {busy} with calls in flight",
                *lines,
                f"  {self.kept[-1]} calls were kept by then; {again} were sent again, "
                f"{len(self.paid_again)} of them though they had been written down",
            ]
        )


def simulation(place: Path, server: Loopback, *, out: str, concurrency: int) -> list[str]:
    config = write_config(place / "arena.toml", "openai", server)
    shape = ("--rounds", str(ROUNDS), "--block", str(BLOCK))
    fixed = ("--videos", place / "videos", *shape, "--config", config)
    return command(
        "simulate", *fixed, "--out", place / out, "--concurrency", str(concurrency), "-q"
    )


@pytest.mark.slow
def test_a_run_killed_again_and_again_loses_nothing_and_repeats_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_folder(tmp_path / "videos", CLIPS, seconds=SECONDS)
    with serving_apart(tmp_path / "calm") as server:
        end_well(simulation(tmp_path, server, out="undisturbed", concurrency=16))
    with serving_apart(tmp_path / "log", "--latency-s", *LATENCY_S) as server:
        line = simulation(tmp_path, server, out="killed", concurrency=6)
        killer = Killer(line, tmp_path / "killed", Log(tmp_path / "log"))
        for number in range(KILLS):
            killer.kill_once(number)
        with capsys.disabled():
            print("", killer.account(), sep="\n")  # noqa: T201
        at_last = committed_keys(killer.out)
        died = len(server.events())
        end_well(simulation(tmp_path, server, out="killed", concurrency=32))
        assert not at_last & set(arrivals(server.events()[died:]))
    assert not killer.paid_again
    assert sum(calls > 0 for calls in killer.in_flight) >= AT_LEAST_IN_FLIGHT * KILLS
    assert battles(killer.out) == battles(tmp_path / "undisturbed")
    assert f"{CLIPS * 3 * ROUNDS} battles are identical" in run("arena", "replay", killer.out)
