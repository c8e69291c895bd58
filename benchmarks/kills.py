"""Is any moment fatal to a run: `python -m benchmarks.kills`.

A run of six battles is killed at every single write, sync, truncation, deletion and close of its
files, one after the other, and gone on with each time: it has to come to the battles of the
undisturbed run, and nothing that was said to be kept may be asked again. Likewise it meets thirty
sizes of a full disk; and with --fsync the power goes after every fourth operation, and what was not
synced is gone, all of it or by chance in part.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.support.faulty_disk import Disk, recorded
from tests.support.killed_runs import Ground, cut_power, program, promised

SIZES = 30
POWER_STEP = 4
Trial = Callable[[Ground], int]


class Grounds:
    """As many grounds as there are cores; each plays one run at a time."""

    def __init__(self, folder: Path, undo: ExitStack) -> None:
        self._free: SimpleQueue[Ground] = SimpleQueue()
        self.count = os.cpu_count() or 1
        for number in range(self.count):
            place = folder / str(number)
            place.mkdir()
            self._free.put(Ground.prepared(undo.enter_context(program()), place))

    @contextmanager
    def one(self) -> Iterator[Ground]:
        """Give a ground that nobody is at."""
        ground = self._free.get()
        try:
            yield ground
        finally:
            self._free.put(ground)

    def all(self, trials: Iterable[Trial]) -> list[str]:
        """Return how each trial ended: "killed", "ended", "stopped", or what went wrong."""
        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(self._tried, trials))

    def _tried(self, trial: Trial) -> str:
        try:
            with self.one() as ground:
                return {-9: "killed", 0: "ended", 1: "stopped"}[trial(ground)]
        except Exception as wrong:  # noqa: BLE001 - reported as a failure of this trial
            return f"FAILED: {wrong}"


def killed_at(number: int) -> Trial:
    """Return what kills a run at one operation; of every second write one half gets through."""
    disk = Disk(kill_at=number, is_torn=number % 2 == 0)
    return lambda ground: ground.goes_on(disk, f"kill-{number}")


def full_at(size: int) -> Trial:
    """Return what lets a run meet a disk of so many thirtieths of what it takes."""
    return lambda ground: ground.goes_on(Disk(room=ground.most_bytes * size // SIZES), f"{size}")


def without_power(number: int, record: Path) -> Trial:
    """Return what goes on from what was synced when the power goes after an operation."""

    def trial(ground: Ground) -> int:
        left = ground.folder / f"left-{number}"
        again = ground.folder / f"again-{number}"
        left.mkdir()
        seed = number if number % 2 else None
        promises = cut_power(recorded(record)[:number], left, seed=seed)
        ground.goes_on_from(left, again, "--fsync")
        if lost := promises & promised(again):
            raise RuntimeError(f"{len(lost)} things were promised and lost")
        return 0

    return trial


def summed_up(what: str, ended: Sequence[str]) -> bool:
    """Print how trials ended, and return whether all went well."""
    counts = Counter("FAILED" if end.startswith("FAILED") else end for end in ended)
    print(f"{what}: {len(ended)}, of which", *(f"{n} {end}" for end, n in counts.items()))
    print(*(f"  {end}" for end in ended if end.startswith("FAILED")), sep="\n", end="")
    return not counts["FAILED"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what became of all trials; return 1 if any run did not go on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1, help="every so many operations")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, ExitStack() as undo:
        grounds = Grounds(Path(name), undo)
        record = Path(name) / "synced.ops"
        with grounds.one() as ground:
            numbers = range(1, len(ground.kinds) + 1, options.step)
            print("a run does", *(f"{n} {kind}," for kind, n in Counter(ground.kinds).items()))
            ground.simulate(Path(name) / "synced", Disk(record=str(record)), "--fsync")
        cuts = range(1, len(recorded(record)), POWER_STEP * options.step)
        kept = [
            summed_up("kills, at every operation", grounds.all(map(killed_at, numbers))),
            summed_up("sizes of a full disk", grounds.all(map(full_at, range(1, SIZES + 1)))),
            summed_up("power cuts", grounds.all(without_power(n, record) for n in cuts)),
        ]
    print("every run went on to the same battles" if all(kept) else "NOT every run went on")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
