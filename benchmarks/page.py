"""What a report of 10,000 battles costs to write and to look at: `python -m benchmarks.page`.

The run is written by dice, with answers of the length of real ones, no two alike. `arena report`
writes it in a process of its own, whose CPU time and memory are counted; then Chromium opens the
file several times and the page's own clock is read. Needs what `make slow` installs: Playwright in
`.venv-browser`, and a Chromium.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.canned import keep, parser_of
from tests.support.browser import Browser, lacking
from tests.support.page_times import Times, visit
from tests.support.shown_runs import Shape, write_season
from tests.support.whole_runs import command

BOUNDS = {
    "first_ms": 500.0,
    "ready_ms": 1500.0,
    "filter_ms": 100.0,
    "battle_ms": 200.0,
    "heap_mb": 60.0,
}
CPU_S = 20.0
MEMORY_MB = 500.0
VIDEOS = 834
TURNS = 5


def write(folder: Path, videos: int) -> tuple[Path, float, float]:
    """Return the report of a run of so many videos, and the CPU time and memory that took."""
    out = write_season(folder / "out", Shape(videos=videos))
    file = folder / "report.html"
    line = command("arena", "report", out, "--to", file, "--thumbs", "0")
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return file, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def look(file: Path, turns: int) -> list[Times]:
    """Return what each of several visits took, none of which knows of another."""
    browser = Browser()
    try:
        found = []
        for _ in range(turns):
            with browser.looking() as page:
                found.append(visit(page, file))
        return found
    finally:
        browser.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what it costs; return 1 where a bound is not kept, or no page can be opened."""
    options = parser_of(__doc__, videos=VIDEOS, turns=TURNS).parse_args(arguments)
    if reason := lacking():
        print(reason)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        file, cpu_s, memory_mb = write(Path(folder), options.videos)
        print(f"{file.stat().st_size / 1e6:.1f} MB, without pictures")
        kept = [
            keep(f"{cpu_s:.1f} s of CPU to write it, of at most {CPU_S:.0f}", cpu_s <= CPU_S),
            keep(f"{memory_mb:.0f} MB, of at most {MEMORY_MB:.0f}", memory_mb <= MEMORY_MB),
        ]
        visits = look(file, options.turns)
    for name in Times._fields:
        values = sorted(getattr(one, name) for one in visits)
        line = f"{name:10} {median(values):7.0f}  ({values[0]:.0f} to {values[-1]:.0f})"
        if name in BOUNDS:
            bound = BOUNDS[name]
            kept.append(keep(f"{line}, of at most {bound:.0f}", median(values) <= bound))
        else:
            print(line)
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
