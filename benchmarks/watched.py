"""What stand-ins score on items that one of them wrote: `python -m benchmarks.watched`.

For each seed a set is made of a folder, as many items as it gives, and played by hawk (64 frames),
owl (16), mole (4) and blind (none). Pooled over seeds, more frames must come to more on every kind
of item, and blind must be at chance on choices: one in four.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import read_tasks
from videoautoarena.runs.bench.score.task_points import points_of

PLAYERS = ("hawk", "owl", "mole", "blind")
KINDS = ("topic", "plot", "scene", "summary")
CHOICE = ("topic", "plot")
CHANCE = 0.25
SEEDS = 3
MOST_N = 25
"""Items about one video, of all kinds."""
Points = dict[tuple[str, str], list[float]]
"""Kind and player to what each item came to: 0 or 1, or 2 to 10."""


def arena(*words: object) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    line = [str(Path(sys.executable).with_name("arena")), *map(str, words), "--json"]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def play(videos: Path, place: Path, seed: int) -> tuple[Points, Counter[int], dict[str, Any]]:
    """Return what every player came to, where keys stood, and how the set was made."""
    to = place / f"set{seed}"
    made = ("tasks", "make", videos, "--kind")
    count = arena(*made, "summary", "--to", to, "--plan")["videos"]
    wish = ("--n", MOST_N * count, "--seed", seed, "--at-most")
    said = arena(*made, ",".join(KINDS), "--to", to, *wish)
    arena("bench", "run", to, "--model", ",".join(f"offline:{player}" for player in PLAYERS))
    bench = open_bench(to)
    points = defaultdict[tuple[str, str], list[float]](list)
    for result in read_tasks(bench):
        for qid, one in points_of(bench.items, result).items():
            kind = bench.by_qid[qid].task
            points[kind, result.model.removeprefix("offline:")].append(one)
    keys = Counter(item.options.index(item.answer) for item in bench.items if item.is_choice)
    return dict(points), keys, said


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and return 0 where more frames come to more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args(arguments)
    pooled = defaultdict[tuple[str, str], list[float]](list)
    keys = Counter[int]()
    with tempfile.TemporaryDirectory() as place:
        for seed in range(options.seeds):
            points, placed, made = play(options.videos, Path(place), seed)
            each = ", ".join(f"{one['made']} {one['kind']}" for one in made["tasks"])
            print(f"seed {seed}: {each}; dropped {made['fallen'] or 'none'}", flush=True)
            for cell, values in points.items():
                pooled[cell] += values
            keys += placed
    print(f"{'items':10}" + "".join(f"{player:>8}" for player in PLAYERS) + f"{'n':>6}")
    for kind in KINDS:
        means = [fmean(pooled[kind, player]) for player in PLAYERS]
        n = len(pooled[kind, "hawk"])
        print(f"{kind:10}" + "".join(f"{mean:8.3f}" for mean in means) + f"{n:6}")
    print(f"keys stood at {', '.join(f'{keys[place]}' for place in range(4))}")
    return 0 if _is_kept(pooled) else 1


def _is_kept(pooled: Points) -> bool:
    ordered = all(
        fmean(pooled[kind, "hawk"]) > fmean(pooled[kind, "mole"]) > fmean(pooled[kind, "blind"])
        for kind in KINDS
    )
    blind = [one for kind in CHOICE for one in pooled[kind, "blind"]]
    error = sqrt(CHANCE * (1 - CHANCE) / len(blind))
    at_chance = abs(fmean(blind) - CHANCE) < 3 * error
    print(f"hawk > mole > blind on every kind: {'kept' if ordered else 'NOT kept'}")
    print(f"blind on choices {fmean(blind):.3f}, chance .250 +- {3 * error:.3f}: ", end="")
    print("kept" if at_chance else "NOT kept")
    return ordered and at_chance


if __name__ == "__main__":
    sys.exit(main())
