"""Does a run take memory for all its slots, or for what is in flight: `python -m benchmarks.slots`.

A run of 5,000 videos and 50 rounds has 750,000 slots. In one process it is begun and played, by
models that answer at once and before a console and a trace, until an interrupt after some thousand
battles; in a second one it is continued for a few more; a third is `arena status`. None of them may
ever hold 500 MB, and the last may take 5 s of CPU. A process that begins a run of sixty videos says
what there is without slots.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.memory import everybody
from benchmarks.whole import Shape, begun, continued, played
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.console.events import Listeners, Settled, all_of
from videoautoarena.runs.tournament.simulate import introduce

MOST_MB = 500
MOST_STATUS_S = 5.0
SMALL = Shape(60, 1)
VIDEOS, ROUNDS, BATTLES = 5000, 50, 20_000
MORE = 200
"""Battles that are played once the run is continued."""
_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which the system tells how much a process held."""


class Took(NamedTuple):
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
        if isinstance(event, Settled):
            self.settled += 1
            if self.settled == self.battles:
                os.kill(os.getpid(), signal.SIGINT)


def play(folder: Path, shape: Shape, battles: int, *, is_new: bool) -> None:
    """Begin or continue a run and play so many battles of it, as the commands do."""
    run = (begun if is_new else continued)(folder, shape)
    introduce(run, folder / "out", say=_nobody, assumed_cast=False, exists=not is_new)
    until = Until(battles)
    with everybody(folder) as hear:
        told = Listeners(say=_nobody, hear=all_of(hear, until.hear))
        finished = run_async(played(run, folder, told=told))
    if until.settled < battles or finished.voids:
        raise RuntimeError(f"{finished} after {until.settled} battles")


def _nobody(_line: str) -> None:
    return


def took(*command: object) -> Took:
    """Run a command to its end and return what its process came to."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return Took(used.ru_maxrss * _UNIT / 1e6, used.ru_utime + used.ru_stime)


def measure(folder: Path, shape: Shape, battles: int) -> dict[str, Took]:
    """Return what each of the processes came to, by what it did."""

    def phase(name: str, where: str, size: Shape, count: int) -> Took:
        place = folder / where
        place.mkdir(exist_ok=True)
        options = ("--videos", size.videos, "--rounds", size.rounds, "--battles", count)
        return took(sys.executable, "-m", "benchmarks.slots", *options, "--only", name, place)

    arena = Path(sys.executable).with_name("arena")
    return {
        f"a run of {SMALL.battles} slots": phase("begin", "small", SMALL, SMALL.battles),
        f"begun, {battles} battles played": phase("begin", "large", shape, battles),
        f"continued, {MORE} battles played": phase("continue", "large", shape, MORE),
        "arena status": took(arena, "status", folder / "large" / "out"),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the processes took; return 1 beyond a bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=VIDEOS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--battles", type=int, default=BATTLES)
    parser.add_argument("--only", nargs=2, metavar=("PHASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    shape = Shape(options.videos, options.rounds)
    if options.only:
        phase, folder = options.only
        play(Path(folder), shape, options.battles, is_new=phase == "begin")
        return 0
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), shape, options.battles)
    print(f"a run of {shape.battles} slots")
    for what, (peak_mb, cpu_s) in found.items():
        print(f"{what:<36}{peak_mb:8.0f} MB at most{cpu_s:9.1f} s CPU")
    small, *large = (process.peak_mb for process in found.values())
    status_s = found["arena status"].cpu_s
    holds = {
        f"{max(large):.0f} MB, of at most {MOST_MB}": max(large) <= MOST_MB,
        f"{status_s:.1f} s of CPU for arena status, of at most {MOST_STATUS_S:g}": (
            status_s <= MOST_STATUS_S
        ),
    }
    print(f"{(max(large) - small) * 1e6 / shape.battles:.0f} bytes a slot beyond the small run")
    for line, kept in holds.items():
        print(f"{line}: {'kept' if kept else 'NOT kept'}")
    return 0 if all(holds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
