"""CPU seconds until everyday commands, and mistakes, are answered: `python -m benchmarks.startup`.

Each is started several times, in turns, on a run of three sample clips that offline models play
first. Counted is user and system time of the process and its children, so that what else the
machine does is left out as far as it can be. Beside each stands how many times as long it takes as
to import numpy, click and rich alone. The first turn, which may have to compile, is not counted.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.canned import keep, parser_of
from tests.support.whole_runs import command, end_well

TURNS = 5
PEER = "import numpy, click, rich"
MISTAKEN = "mistaken"
"""The folder whose arena.toml has a wrong key."""


class Start(NamedTuple):
    """A command line, and how many CPU seconds it may take at most."""

    words: str
    most_s: float | None = None
    folder: str = "."


EVERYDAY = {
    "simulate --help": Start("simulate --help"),
    "arena --help": Start("arena --help"),
    "status": Start("arena status my-run", 0.8),
    "leaderboard": Start("arena leaderboard my-run", 0.8),
    "leaderboard --json": Start("arena leaderboard my-run --json", 0.8),
    "battles": Start("arena battles my-run", 0.8),
    "show": Start("arena show my-run", 0.8),
    "profile": Start("arena leaderboard my-run --profile"),
    "report": Start("arena report my-run --force"),
    "audit": Start("arena audit my-run"),
    "videos": Start("arena videos clips"),
    "doctor": Start("arena doctor"),
    "simulate --plan": Start("simulate --videos clips --plan"),
}
MISTAKES = {
    "a wrong key in arena.toml": Start("simulate --videos clips --plan", 0.5, MISTAKEN),
    "an unknown command": Start("arena leadrboard", 0.5),
    "an unknown flag": Start("arena leaderboard my-run --jsn", 0.5),
    "a path that is no run": Start("arena leaderboard clips"),
    "no folder of videos": Start("simulate --videos nowhere --rounds 1"),
}


def make_run(folder: Path) -> None:
    """Make the clips, the run and the file with a mistake that the commands are given."""
    end_well(command("arena", "samples", folder / "clips"))
    played = ("--videos", folder / "clips", "--rounds", "1", "--limit", "3", "--quiet")
    end_well(command("simulate", *played, "--out", folder / "my-run"))
    (folder / MISTAKEN).mkdir()
    (folder / MISTAKEN / "arena.toml").write_text("[run]\nroundz = 3\n")


def cpu_s(line: Sequence[str], folder: Path) -> float:
    """Return the CPU seconds that a process takes with its children."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where a bound is not kept."""
    options = parser_of(__doc__, turns=TURNS).parse_args(arguments)
    starts = EVERYDAY | MISTAKES
    took: dict[str, list[float]] = {name: [] for name in (PEER, *starts)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder)
        for turn in range(options.turns + 1):
            for name in took:
                if name == PEER:
                    spent_s = cpu_s([sys.executable, "-c", PEER], folder)
                else:
                    words = starts[name].words.split()
                    spent_s = cpu_s(command(*words), folder / starts[name].folder)
                if turn:
                    took[name].append(spent_s)
    peer_s = median(took[PEER])
    kept = []
    print(f"{'CPU seconds':26} least median x peer")
    for name, each in took.items():
        line = f"{name:26} {min(each):5.2f} {median(each):6.2f} {median(each) / peer_s:6.1f}"
        most_s = None if name == PEER else starts[name].most_s
        if most_s is None:
            print(line)
        else:
            kept.append(keep(f"{line}  of at most {most_s:.1f} s", min(each) <= most_s))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
