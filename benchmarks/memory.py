"""Does a run's memory grow with its battles or its slots: `python -m benchmarks.memory [slots]`.

A run of 10,002 lineages whose models answer at once, heard by plain lines, a trace file and to a
live console that nobody sees, is played to its end. The resident memory of the process is read
every few hundred battles. It may not pass 500 MB, nor grow after the first tenth of the battles by
more than a little. The answers, analyses and briefs are as long as those of real models; without
frames, the file may hold 20 KB a battle.

With `slots` a run of 5,000 videos and 50 rounds, which has 750,000 slots, is begun and played until
an interrupt after some thousand battles; a second process continues it for a few more, a third does
so as a program does that imports the arena, and a fourth is `arena status`. None of them may ever
hold 500 MB, and the last may take 5 s of CPU. A process that begins a run of sixty videos says what
there is without slots.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks.canned import (
    Shape,
    begun,
    check_whole,
    continued,
    keep,
    parser_of,
    played,
    resident_mb,
    timed,
)
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import BattleSettled, Hear, Listeners, all_of
from videoautoarena.runs.console.progress.interrupts import worked
from videoautoarena.runs.console.progress.live import LiveConsole, plain_lines
from videoautoarena.runs.console.progress.trace import TraceFile
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.tournament.opening import introduce

MOST_MB = 500
MOST_GROWTH_MB = 20.0
"""From the first tenth of a run to its end: 2 KB a battle of 9,000, less than any battle's text."""
MOST_KB = 20.0
VIDEOS = 3334
SAMPLES = 40
MOST_STATUS_S = 5.0
SMALL = Shape(60, 1)
LARGE = Shape(5000, 50)
BATTLES = 20_000
MORE = 200
"""Battles that are played once the run is continued."""
_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which the system counts what a process held."""


@dataclass
class Curve:
    """Resident memory by number of battles."""

    every: int
    settled: int = 0
    points: list[tuple[int, float]] = field(default_factory=list)

    def hear(self, event: object) -> None:
        """Count a battle, and read the memory where it is time to."""
        if isinstance(event, BattleSettled):
            self.settled += 1
            if self.settled % self.every == 0:
                gc.collect()
                self.points.append((self.settled, resident_mb()))

    def growth_mb(self, after: int) -> float:
        """Return how much more the most is after so many battles than the most before."""
        before = max((mb for settled, mb in self.points if settled <= after), default=0.0)
        return max(mb for _, mb in self.points) - before


@contextmanager
def everybody(folder: Path) -> Iterator[Hear]:
    """Give all that may listen to a run, before a terminal that swallows everything."""
    with open(os.devnull, "w") as nowhere:
        console = Console(file=nowhere, force_terminal=True, width=160, height=50)
        live = LiveConsole(console)
        trace = TraceFile(folder / "trace.jsonl")
        lines = plain_lines(lambda line: print(line, file=nowhere))
        try:
            yield all_of(live.hear, lines, trace.hear)
        finally:
            live.close()
            trace.close()


def play(folder: Path, shape: Shape) -> Curve:
    """Play the run and return how its memory went."""
    curve = Curve(every=max(1, shape.battles // SAMPLES))
    run = begun(folder, shape)
    with everybody(folder) as hear:
        listeners = Listeners(say=_nobody, hear=all_of(hear, curve.hear))
        finished = run_async(played(run, folder, listeners=listeners))
    check_whole(finished, shape.battles)
    return curve


def parts(path: Path) -> dict[str, int]:
    """Return how many bytes each table and index of a run's file takes, the largest first."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sql = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC"
        return dict(connection.execute(sql))


class Process(NamedTuple):
    """What a process came to."""

    peak_mb: float
    cpu_s: float


@dataclass
class Until:
    """Interrupts its own process after so many battles."""

    battles: int
    settled: int = field(default=0, init=False)

    def hear(self, event: object) -> None:
        """Count a battle."""
        if isinstance(event, BattleSettled):
            self.settled += 1
            if self.settled == self.battles:
                os.kill(os.getpid(), signal.SIGINT)


def play_slots(folder: Path, shape: Shape, battles: int, *, phase: str) -> None:
    """Begin or continue a run and play so many battles of it, as a command or a program does."""
    is_new = phase == "begin"
    run = (begun if is_new else continued)(folder, shape)
    introduce(run, folder / "out", say=_nobody, assumed_cast=False, exists=not is_new)
    until = Until(battles)
    curve = Curve(every=max(1, battles // SAMPLES))
    do = worked if phase == "python" else run_async
    with everybody(folder) as hear:
        listeners = Listeners(say=_nobody, hear=all_of(hear, curve.hear, until.hear))
        finished = do(played(run, folder, listeners=listeners))
    if until.settled < battles or finished.voids:
        raise RuntimeError(f"{finished} after {until.settled} battles")
    growth = curve.growth_mb(battles // 10)
    at_first = f"{curve.points[0][1]:.0f} MB at first"
    print(f"{phase}: {at_first}, {growth:.1f} MB more after its first tenth", file=sys.stderr)


def _nobody(_line: str) -> None:
    return


def took(*command: object) -> Process:
    """Run a command to its end and return what its process came to."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return Process(used.ru_maxrss * _UNIT / 1e6, used.ru_utime + used.ru_stime)


def measure_slots(
    folder: Path, small: Shape, shape: Shape, battles: int, more: int
) -> dict[str, Process]:
    """Return what each of the processes came to, by what it did."""

    def phase(name: str, where: str, size: Shape, count: int) -> Process:
        place = folder / where
        place.mkdir(exist_ok=True)
        options = ("--videos", size.videos, "--rounds", size.rounds, "--battles", count)
        return took(
            sys.executable, "-m", "benchmarks.memory", "slots", *options, "--only", name, place
        )

    arena = Path(sys.executable).with_name("arena")
    return {
        f"a run of {small.battles} slots": phase("begin", "small", small, small.battles),
        f"begun, {battles} battles played": phase("begin", "large", shape, battles),
        f"continued, {more} battles played": phase("continue", "large", shape, more),
        f"from Python, {more} battles played": phase("python", "large", shape, more),
        "arena status": took(arena, "status", folder / "large" / "out"),
    }


def main_slots(arguments: Sequence[str]) -> int:
    """Print what processes with many slots took; return 1 beyond a bound."""
    figures = {"videos": LARGE.videos, "rounds": LARGE.rounds, "small": SMALL.videos}
    parser = parser_of(__doc__, **figures, battles=BATTLES, more=MORE)
    parser.add_argument("--only", nargs=2, metavar=("PHASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    shape = Shape(options.videos, options.rounds)
    if options.only:
        phase, folder = options.only
        play_slots(Path(folder), shape, options.battles, phase=phase)
        return 0
    with tempfile.TemporaryDirectory() as name:
        small = Shape(options.small, SMALL.rounds)
        found = measure_slots(Path(name), small, shape, options.battles, options.more)
    print(f"a run of {shape.battles} slots")
    for what, (peak_mb, cpu_s) in found.items():
        print(f"{what:<36}{peak_mb:8.0f} MB at most{cpu_s:9.1f} s CPU")
    least, *large = (process.peak_mb for process in found.values())
    status_s = found["arena status"].cpu_s
    holds = {
        f"{max(large):.0f} MB, of at most {MOST_MB}": max(large) <= MOST_MB,
        f"{status_s:.1f} s of CPU for arena status, of at most {MOST_STATUS_S:g}": (
            status_s <= MOST_STATUS_S
        ),
    }
    print(f"{(max(large) - least) * 1e6 / shape.battles:.0f} bytes a slot beyond the small run")
    return 0 if all([keep(*bound) for bound in holds.items()]) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Print curve and sizes, or what many slots take; return 1 beyond a bound."""
    typed = sys.argv[1:] if arguments is None else arguments
    if typed[:1] == ["slots"]:
        return main_slots(typed[1:])
    options = parser_of(__doc__, videos=VIDEOS, rounds=1).parse_args(typed)
    shape = Shape(options.videos, options.rounds)
    with tempfile.TemporaryDirectory() as name, timed() as took:
        curve = play(Path(name), shape)
        found = parts(Path(name) / "out" / RUN_FILE)
    battles = shape.battles
    first = shape.battles // 10
    kb = sum(size for part, size in found.items() if part != "frames") / battles / 1000
    most = max(mb for _, mb in curve.points)
    growth = curve.growth_mb(first)
    print("battles     MB", *(f"{at:>7} {mb:6.0f}" for at, mb in curve.points), sep="\n")
    print(f"{'the file, KB a battle':<32}{'KB':>8}")
    for part, size in found.items():
        print(f"  {part:<30}{size / battles / 1000:8.2f}")
    print(
        f"{battles} battles in {took.wall_s:.0f} s, {took.cpu_s * 1000 / battles:.1f} ms CPU each"
    )
    holds = {
        f"{most:.0f} MB of at most {MOST_MB}": most <= MOST_MB,
        f"{growth:.1f} MB of growth after {first} battles, of at most {MOST_GROWTH_MB:g}": (
            growth <= MOST_GROWTH_MB
        ),
        f"{kb:.1f} KB a battle without frames, of at most {MOST_KB:g}": kb <= MOST_KB,
    }
    return 0 if all([keep(*bound) for bound in holds.items()]) else 1


if __name__ == "__main__":
    sys.exit(main())
