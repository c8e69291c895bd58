"""What each command takes of a run of a million battles: `python -m benchmarks.million`.

Two runs over half of the videos each are filled with made-up battles (`benchmarks/filled.py`), 70
models and replies of 200 bytes, and merged. Each command then reads that run in a process of its
own. None may ever hold a gigabyte. Rating, from opening the run to ratings with clustered
intervals, may take ten seconds of the processor. `--runs DIR` keeps the runs there, and takes those
that an earlier call has left.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

VIDEOS = 33_334
ROUNDS = 10
MODELS = 70
MOST_MB = 1000.0
MOST_RATING_S = 10.0
RATING = "rating alone"
_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which the system counts what a process held."""
ARENA = Path(sys.executable).with_name("arena")
FILLED = (sys.executable, "-m", "benchmarks.filled")
RUN_FILE = "run.sqlite"


class Took(NamedTuple):
    """What one command came to."""

    name: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    written_mb: float

    @property
    def line(self) -> str:
        """Return it as a row of the table."""
        times = f"{self.wall_s:8.1f} s{self.cpu_s:8.1f} s CPU"
        return f"{self.name:<44}{times}{self.peak_mb:7.0f} MB at most{self.written_mb:9.1f} MB out"


def measured(name: str, *command: object, to: Path) -> Took:
    """Run a command to its end, with what it prints going to `to`; or RuntimeError."""
    began = time.perf_counter()
    with to.open("wb") as out:
        process = subprocess.Popen(
            [str(part) for part in command], stdout=out, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        with process.stderr:
            said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{name} ended with {process.returncode}: {said.decode()[-2000:]}")
    cpu_s = used.ru_utime + used.ru_stime
    wall_s = time.perf_counter() - began
    peak_mb = used.ru_maxrss * _UNIT / 1e6
    return Took(name, wall_s, cpu_s, peak_mb, to.stat().st_size / 1e6)


def commands(run: Path, place: Path) -> Iterator[tuple[str, list[object], Path | None]]:
    """Yield every command on a run, what it writes beside its output, and where."""
    lines = place / "battles.jsonl"
    parquet = place / "battles.parquet"
    with closing(sqlite3.connect(run / RUN_FILE)) as file:
        ((battle,),) = file.execute("SELECT id FROM battles ORDER BY rowid DESC LIMIT 1")
    yield RATING, [*FILLED, "--rate", run], None
    for line in (
        "status",
        "leaderboard",
        "leaderboard --json",
        "leaderboard --style --seats",
        "audit",
        "battles",
        "battles --jsonl",
        "battles --sort surprise --contains red",
        f"show {battle}",
        "show",
    ):
        name, *rest = line.split()
        yield f"arena {line}", [ARENA, name, run, *rest], None
    page = place / "report.html"
    yield "arena report", [ARENA, "report", run, "--thumbs", 0, "--to", page, "--force"], page
    fastchat = ["export", run, "--what", "battles", "--format", "fastchat", "--force"]
    yield "arena export --what battles", [ARENA, *fastchat, "--to", lines], lines
    yield "arena rate battles.jsonl", [ARENA, "rate", lines], None
    yield "the same lines as Parquet", [*FILLED, "--parquet", lines, parquet], parquet
    yield "arena rate battles.parquet", [ARENA, "rate", parquet], None
    for what in ("conversations", "preferences"):
        for form in ("jsonl", "parquet"):
            to = place / f"{what}.{form}"
            rows = ["export", run, "--what", what, "--format", form, "--to", to, "--force"]
            yield f"arena export --what {what} --format {form}", [ARENA, *rows], to


@contextmanager
def kept_in(folder: Path | None) -> Iterator[Path]:
    """Give a folder that stays, or one that is gone at the end."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def measure(place: Path, options: argparse.Namespace) -> Iterator[Took]:
    """Yield what each command takes that `only` is in the name of."""
    run = place / "whole"
    halves = [place / f"half-{k}" for k in (0, 1)]
    to = place / "printed"
    if not (run / RUN_FILE).exists():
        sizes = (f"--{name}={getattr(options, name)}" for name in ("videos", "rounds", "models"))
        subprocess.run([*FILLED, "--runs", *map(str, halves), *sizes], check=True)
        line = (ARENA, "merge", *(half / "out" for half in halves), "--to", run)
        took = measured("arena merge", *line, to=to)
        yield took._replace(written_mb=(run / RUN_FILE).stat().st_size / 1e6)
    for name, command, beside in commands(run, place):
        if options.only in name:
            took = measured(name, *command, to=to)
            size_mb = 0.0 if beside is None else beside.stat().st_size / 1e6
            yield took._replace(written_mb=took.written_mb + size_mb)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what every command takes; return 1 where one is beyond a bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("videos", VIDEOS), ("rounds", ROUNDS), ("models", MODELS)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--runs", type=Path, help="folder of the runs, which stay")
    parser.add_argument("--only", default="", help="part of the names of commands")
    options = parser.parse_args(arguments)
    found = list[Took]()
    print(f"{options.videos * 3 * options.rounds} battles of {options.models} models", flush=True)
    with kept_in(options.runs) as place:
        for took in measure(place, options):
            print(took.line, flush=True)
            found.append(took)
    most = max(found, key=lambda took: took.peak_mb)
    holds = {
        f"{most.peak_mb:.0f} MB for {most.name}, of at most {MOST_MB:.0f}": (
            most.peak_mb <= MOST_MB
        ),
    }
    for took in found:
        if took.name == RATING:
            figure = f"{took.cpu_s:.1f} s of the processor for it, of at most {MOST_RATING_S:g}"
            holds[f"{RATING}: {figure}"] = took.cpu_s <= MOST_RATING_S
    for figure, is_kept in holds.items():
        print(f"{figure}: {'kept' if is_kept else 'NOT kept'}")
    return 0 if all(holds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
