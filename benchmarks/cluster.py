"""What a Ray cluster costs and survives: `python -m benchmarks.cluster [--times N]`.

Rows a second through the one process that writes, in messages of 1, 32 and 128 rows of 5 kB. CPU of
a worker for each battle against that of the one-process run over the same server: of the process
alone, from its first call to its end, so that neither counts its imports. And runs on four nodes in
which worker, owner, lender, node, driver, or two of them die, N times each: battles byte for byte
those of one process, what was billed again listed and no more than was under way.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support import rayed
from tests.support.cluster_deaths import DEATHS, Ground, died, running, state, until
from tests.support.loopback import ROOT, serving_apart
from tests.support.rayed import WORKER, Rayed
from tests.support.serverlog import Log, arrivals
from tests.support.whole_runs import battles, command, environment

LEAST_ROWS = 3000
MOST_OVERHEAD = 1.10
NODES = 3
SPARE = 12
"""Calls that may have been sent between the last look at the server and the death: all places."""
BATCHED = "32"
TURNS = 3
TICKS = 100
"""A second of CPU, as the kernel counts it."""


def main() -> int:
    """Measure, and return 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often everything dies")
    parser.add_argument("--deaths", action="store_true", help="nothing but the deaths")
    asked = parser.parse_args()
    rayed.require()
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground.made(Path(folder))
        kept = [] if asked.deaths else [rows_are_enough(), overhead_is_small(ground)]
        with rayed.cluster(NODES) as up:
            kept += list(deaths(ground, up, asked.times))
    return 0 if all(kept) else 1


def rows_are_enough() -> bool:
    """Print rows a second, and return whether batches reach the bound."""
    line = [str(rayed.ENVIRONMENT / "bin" / "python"), "-m", "benchmarks.cluster_rows"]
    done = subprocess.run(line, cwd=ROOT, env=environment(), capture_output=True, text=True)
    if done.returncode:
        print(f"rows: NOT measured: {done.stderr[-500:]}")
        return False
    found = json.loads(done.stdout.splitlines()[-1])
    for rows, a_second in found.items():
        print(f"rows of 5 kB, {rows:>3} a message: {a_second:>7,} a second")
    return verdict("in batches", found[BATCHED] >= LEAST_ROWS, f"at least {LEAST_ROWS:,}")


def overhead_is_small(ground: Ground) -> bool:
    """Print CPU a battle here and on a worker, the least of several turns, and compare them."""
    alone = []
    there = []
    for turn in range(TURNS):
        with served(ground, f"alone-{turn}") as (line, log, out):
            alone.append(cpu_of(line, log, None) / len(battles(out)))
        with rayed.cluster(1) as up, served(ground, f"there-{turn}", up) as (line, log, out):
            there.append(cpu_of(line, log, up) / len(battles(out)))
    here_ms = 1000 * min(alone)
    there_ms = 1000 * min(there)
    ratio = there_ms / here_ms
    print(f"CPU a battle: {here_ms:.1f} ms in one process, {there_ms:.1f} ms of a worker")
    return verdict(f"{ratio:.2f}", ratio <= MOST_OVERHEAD, f"at most {MOST_OVERHEAD}")


@contextmanager
def served(
    ground: Ground, out: str, cluster: Rayed | None = None
) -> Iterator[tuple[list[str], Log, Path]]:
    """Give the command line of a run, the log of its server, and where the run will be."""
    log = ground.folder / f"{out}-log"
    with serving_apart(log, "--canned") as server:
        line = command("simulate", *ground.arguments(server, out))
        if cluster is not None:
            line = ground.clustered(server, out, cluster)
        yield line, Log(log), ground.folder / out


def cpu_of(line: list[str], log: Log, cluster: Rayed | None) -> float:
    """Return the CPU seconds of the process that plays, from its first call to its end."""
    with running(line) as driver:
        until(driver, lambda: bool(came(log)))
        player = cluster.processes(WORKER)[0] if cluster else driver.pid
        first = last = ticks_of(player)
        while driver.poll() is None:
            last = ticks_of(player) or last
            with suppress(subprocess.TimeoutExpired):
                driver.wait(timeout=0.02)
    if driver.returncode:
        raise SystemExit(f"{line} ended with {driver.returncode}")
    return (last - first) / TICKS


def ticks_of(process: int) -> int:
    """Return how many ticks of CPU a process has had; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def came(log: Log) -> list[str]:
    """Return the calls that have come to a server."""
    if log.path.exists():
        log.read_on()
    return arrivals(log.events)


def deaths(ground: Ground, cluster: Rayed, times: int) -> Iterator[bool]:
    """Print what came of each run in which something died, and yield whether nothing was lost."""
    for name in DEATHS:
        for time in range(times):
            found = died(ground, cluster, [name], f"{name}-{time}")
            again = sum(found.again.values()) - len(found.again)
            is_kept = (
                found.code == 0
                and found.battles == ground.calm
                and not found.late
                and set(found.again) <= found.listed
                and again <= found.in_flight + SPARE
            )
            yield verdict(f"{name} died: {state(found)}", is_kept, "nothing lost, all listed")


def verdict(what: str, is_kept: bool, bound: str) -> bool:
    """Print a figure beside its bound, and return whether it holds."""
    print(f"{what} ({bound}: {'kept' if is_kept else 'NOT kept'})", flush=True)
    return is_kept


if __name__ == "__main__":
    sys.exit(main())
