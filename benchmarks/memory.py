"""Does memory grow with a run, and how large is its file: `python -m benchmarks.memory`.

A run of 10,002 lineages whose models answer at once, told to plain lines, to a trace file and to a
live console that nobody sees, is played to its end. The resident memory of the process is read
every few hundred battles. It may not pass 500 MB, nor grow after the first tenth of the battles by
more than a little. The answers, analyses and briefs are as long as those of real models; without
frames, the file may hold 20 KB a battle.
"""

from __future__ import annotations

import argparse
import gc
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks.whole import Shape, begun, played, timed
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.console.events import Hear, Listeners, Settled, all_of
from videoautoarena.runs.console.live import LiveConsole, plain_lines
from videoautoarena.runs.console.trace import TraceFile
from videoautoarena.runs.rundir.reader import RUN_FILE

MOST_MB = 500
MOST_GROWTH_MB = 20.0
"""From the first tenth of a run to its end: 2 KB a battle of 9,000, less than any battle's text."""
MOST_KB = 20.0
VIDEOS = 3334
SAMPLES = 40
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_mb() -> float:
    """Return how much memory the process has in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE_BYTES / 1e6


@dataclass
class Curve:
    """Resident memory by number of battles."""

    every: int
    settled: int = 0
    points: list[tuple[int, float]] = field(default_factory=list)

    def hear(self, event: object) -> None:
        """Count a battle, and read the memory where it is time to."""
        if isinstance(event, Settled):
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
        live, trace = LiveConsole(console), TraceFile(folder / "trace.jsonl")
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
        told = Listeners(say=lambda _line: None, hear=all_of(hear, curve.hear))
        finished = run_async(played(run, folder, told=told))
    if finished.settled != shape.battles or finished.voids:
        raise RuntimeError(f"{finished} is no whole run")
    return curve


class Part(NamedTuple):
    """What one table or index of a run's file takes."""

    name: str
    size_bytes: int


def parts(path: Path) -> list[Part]:
    """Return what each table and index takes, the largest first."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sql = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC"
        return [Part(name, size) for name, size in connection.execute(sql)]


def size_table(found: Sequence[Part], battles: int) -> list[str]:
    """Return the parts of a file as lines."""
    lines = [f"{'the file, KB a battle':<32}{'KB':>8}"]
    lines += [f"  {part.name:<30}{part.size_bytes / battles / 1000:8.2f}" for part in found]
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print curve and sizes; return 1 beyond a bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=VIDEOS)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args(arguments)
    shape = Shape(options.videos, options.rounds)
    with tempfile.TemporaryDirectory() as name, timed() as took:
        curve = play(Path(name), shape)
        found = parts(Path(name) / "out" / RUN_FILE)
    battles, first = shape.battles, shape.battles // 10
    kb = sum(part.size_bytes for part in found if part.name != "frames") / battles / 1000
    most, growth = max(mb for _, mb in curve.points), curve.growth_mb(first)
    print("battles     MB", *(f"{at:>7} {mb:6.0f}" for at, mb in curve.points), sep="\n")
    print(*size_table(found, battles), sep="\n")
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
    for line, kept in holds.items():
        print(f"{line}: {'kept' if kept else 'NOT kept'}")
    return 0 if all(holds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
