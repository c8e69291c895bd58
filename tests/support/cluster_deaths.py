"""Runs on a real cluster in which something dies, and what is found when they are over."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.support import rayed
from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, serving_apart
from tests.support.rayed import LENDER, LOOPBACK, OWNER, WORKER, Rayed
from tests.support.serverlog import Log, arrivals, open_calls
from tests.support.whole_runs import battles, command, end_well, environment, opened, write_config

CLIPS = 9
ROUNDS = 2
BLOCK = 3
SECONDS = 3.0
LATENCY_S = ("0.1", "0.4")
LEASE_S = 10.0
CALLS_BEFORE = 30
"""Calls that have come when something dies, and again before the next death; at most one in six of
all."""
PATIENCE_S = 200.0
GLANCE_S = 0.02
TOKEN = "7a" * 32


class Found(NamedTuple):
    """What came of a run in which something died."""

    code: int
    battles: dict[str, str]
    in_flight: int
    """Calls that had come and were not answered at the death, and those that came right after."""
    again: Counter[str]
    """How often each key came more than once."""
    listed: set[str]
    """Keys of tries that the run says may have been paid for nothing."""
    late: tuple[str, ...]
    """Keys that were answered and written down before the death, and came again."""
    said: str


@dataclass
class Ground:
    """Videos, and the battles that one process comes to."""

    folder: Path
    calm: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def made(cls, folder: Path, clips: int = CLIPS) -> Ground:
        """Draw videos, and play them in one process."""
        ground = cls(folder)
        draw_folder(folder / "videos", clips, seconds=SECONDS)
        with serving_apart(folder / "calm-log", "--canned") as server:
            end_well(command("simulate", *ground.arguments(server, "calm")))
        ground.calm = battles(folder / "calm")
        return ground

    def arguments(self, server: Loopback, out: str) -> list[str]:
        """Return what every simulation of these videos is told."""
        config = write_config(self.folder / f"{out}.toml", "openai", server)
        shape = ["--rounds", str(ROUNDS), "--block", str(BLOCK), "--concurrency", "12", "-q"]
        where = ["--videos", str(self.folder / "videos"), "--out", str(self.folder / out)]
        return [*where, "--config", str(config), *shape]

    def clustered(self, server: Loopback, out: str, rayed_: Rayed) -> list[str]:
        """Return the command line of one on a cluster."""
        engine = ["--engine", "ray", "--address", rayed_.address, "--lease", str(LEASE_S)]
        return rayed.command("simulate", *self.arguments(server, out), *engine)


Deed = Callable[[Rayed, subprocess.Popen[bytes]], None]


def _two(cluster: Rayed, _driver: subprocess.Popen[bytes]) -> None:
    cluster.kill(OWNER)
    cluster.kill(WORKER)


DEATHS: dict[str, Deed] = {
    "worker": lambda cluster, _driver: _kill(cluster, WORKER),
    "owner": lambda cluster, _driver: _kill(cluster, OWNER),
    "lender": lambda cluster, _driver: _kill(cluster, LENDER),
    "node": lambda cluster, _driver: cluster.tell("kill-node"),
    "driver": lambda _cluster, driver: driver.kill(),
    "two": _two,
}


def _kill(cluster: Rayed, title: str) -> None:
    cluster.kill(title)


def died(ground: Ground, cluster: Rayed, names: Sequence[str], out: str) -> Found:
    """Play a run in which things of these names die one after another, to its end.

    Before each death so many calls come that did not come before the last one. A driver dies last.
    """
    deaths = []
    in_flight = 0
    with watched(ground, out) as (server, log):
        line = ground.clustered(server, out, cluster)
        with running(line) as driver:
            for number, name in enumerate(names, start=1):
                death = at_work(ground, out, driver, log, calls=number * CALLS_BEFORE)
                DEATHS[name](cluster, driver)
                in_flight += death.in_flight(log)
                deaths.append(death)
            _, err = driver.communicate(timeout=PATIENCE_S)
        if "driver" in names:
            driver, err = goes_on(line)
        if "node" in names:
            cluster.tell("add-node")
        return found_of(deaths, log, driver.returncode, in_flight, err)


def lost_head(ground: Ground, first: Rayed, out: str) -> Found:
    """Play a run whose whole cluster and command die at once, and resume it on a new cluster.

    The new one asks for a token.
    """
    with watched(ground, out) as (server, log):
        with running(ground.clustered(server, out, first)) as driver:
            death = at_work(ground, out, driver, log)
            driver.kill()
            first.die()
            in_flight = death.in_flight(log)
        with rayed.cluster(1, token=TOKEN) as second:
            engine = ["--engine", "ray", "--address", second.address, "--lease", str(LEASE_S)]
            line = ["resume", str(ground.folder / out), "-q", *engine]
            driver, err = goes_on(rayed.command("arena", *line), RAY_AUTH_TOKEN=TOKEN)
        return found_of([death], log, driver.returncode, in_flight, err)


@contextmanager
def watched(ground: Ground, out: str) -> Iterator[tuple[Loopback, Log]]:
    """Give a server, and the log of what comes to it."""
    log_path = ground.folder / f"{out}-log"
    with serving_apart(log_path, "--canned", "--latency-s", *LATENCY_S) as server:
        yield server, Log(log_path)


class Death(NamedTuple):
    """A run, just before something of it dies."""

    out: Path
    committed: set[str]
    """Keys of the calls that are written down."""
    before: int
    """Events of the server."""

    def in_flight(self, log: Log) -> int:
        """Return how many calls may be under way just after the death."""
        log.read_on()
        # What was on its way when it died may come a moment later.
        return open_calls(log.events) + len(log.events) - self.before

    def late(self, log: Log) -> set[str]:
        """Return the keys of calls that came after it though they were written down before."""
        return self.committed & set(arrivals(log.events[self.before :]))


def found_of(deaths: Sequence[Death], log: Log, code: int, in_flight: int, err: bytes) -> Found:
    """Return what came of a run with these deaths, now that it is over."""
    log.read_on()
    out = deaths[0].out
    times = Counter(arrivals(log.events))
    again = Counter({key: count for key, count in times.items() if count > 1})
    late = set[str]().union(*(death.late(log) for death in deaths))
    with opened(out) as file:
        listed = {k for (k,) in file.execute("SELECT key FROM intents WHERE is_left_over")}
        still = file.execute("SELECT count(*) FROM intents WHERE NOT is_left_over").fetchone()
    assert still == (0,), (code, err[-1500:])
    return Found(code, battles(out), in_flight, again, listed, tuple(late), err.decode())


def at_work(
    ground: Ground,
    out: str,
    driver: subprocess.Popen[bytes],
    log: Log,
    calls: int = CALLS_BEFORE,
) -> Death:
    """Wait until so many calls of a run have come, and return what there is of it."""
    until(driver, lambda: _came(log) >= calls)
    return Death(ground.folder / out, _kept(ground.folder / out), len(log.events))


def goes_on(line: list[str], **variables: str) -> tuple[subprocess.Popen[bytes], bytes]:
    """Give the same command again, until nobody has the run's file any more."""
    end = time.monotonic() + PATIENCE_S
    while True:
        with running(line, **variables) as again:
            _, err = again.communicate(timeout=PATIENCE_S)
        if b"wait for it to end" not in err or time.monotonic() > end:
            return again, err
        time.sleep(GLANCE_S)


@contextmanager
def running(line: list[str], **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command while the block lasts."""
    env = {**environment(), **LOOPBACK, **variables}
    with subprocess.Popen(line, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    end = time.monotonic() + PATIENCE_S
    while not happened():
        if process.poll() is not None:
            said = process.stderr.read() if process.stderr else b""
            raise AssertionError(f"it ended by itself: {said.decode()[-2000:]}")
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(GLANCE_S)


def _came(log: Log) -> int:
    if log.path.exists():
        log.read_on()
    return len(set(arrivals(log.events)))


def _kept(out: Path) -> set[str]:
    with opened(out) as file:
        return {key for (key,) in file.execute("SELECT key FROM calls")}


def hung(ground: Ground, cluster: Rayed, seconds: float) -> tuple[Found, list[str], int]:
    """Play a run in which a worker stands still for so long, then goes on.

    Also return what it sent after that, and how many rows the file gained through it.
    """
    out = "hung"
    with watched(ground, out) as (server, log):
        with running(ground.clustered(server, out, cluster)) as driver:
            death = at_work(ground, out, driver, log)
            worker = cluster.kill(WORKER, number=signal.SIGSTOP)
            stopped_at = time.monotonic()
            in_flight = death.in_flight(log)
            _, err = driver.communicate(timeout=PATIENCE_S)
            time.sleep(max(0.0, seconds - (time.monotonic() - stopped_at)))
            log.read_on()
            came = len(log.events)
            rows = len(_kept(ground.folder / out))
            rayed.go_on(worker)
            log.read_on()
            sent = arrivals(log.events[came:])
            gained = len(_kept(ground.folder / out)) - rows
        end = found_of([death], log, driver.returncode, in_flight, err)
    return end, sent, gained


def state(found: Found) -> str:
    """Return what came of a run as a line."""
    return json.dumps(
        {
            "code": found.code,
            "battles": len(found.battles),
            "in flight": found.in_flight,
            "billed again": sum(found.again.values()) - len(found.again),
            "listed": len(found.listed),
        }
    )
