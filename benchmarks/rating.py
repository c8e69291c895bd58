"""How fast battles become ratings, beside other programs in the same process.

    python -m benchmarks.rating

Ours are bias-reduced fits, but for the difference from choix. Three things are held to bounds: 100
bootstrap draws beside evalica's own bootstrap and beside choix on the same draws; a million battles
with names from a Parquet file to ratings with clustered intervals, in CPU seconds of the process;
the sandwich of 200 models and two million battles once they are counted. BLAS has one thread
everywhere, for the others too. Programs take turns, and the median of the turns stands with the
least and the most; a ratio is one of medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import choix
import evalica
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from videoautoarena.runs.rating.rate import rate_file
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, count_cells
from videoautoarena.scoring.fitting.newton import one_blas_thread
from videoautoarena.scoring.intervals.sandwich import measure_spread, place_errors
from videoautoarena.scoring.ratings.bootstrap import bootstrap, draw_counts, fit_counts

ROUNDS = 100
EVALICA_TIMES = 100.0
CHOIX_TIMES = 15.0
FILE_S = 2.0
SANDWICH_S = 0.050


class Played(NamedTuple):
    """Battles of a made-up tournament."""

    a: Ints
    b: Ints
    points: Floats
    video: Ints


def draw(models: int, battles: int, *, videos: int = 1000, seed: int = 1) -> Played:
    """Return battles of models 800 points apart, 7 % of them ties."""
    rng = np.random.default_rng(seed)
    nats = np.linspace(1, -1, models) * 400 * np.log(10) / 400
    a = rng.integers(0, models, battles)
    b = (a + rng.integers(1, models, battles)) % models
    won = rng.random(battles) < 1 / (1 + np.exp(nats[b] - nats[a]))
    points = np.where(rng.random(battles) < 0.07, 0.5, won.astype(float))
    return Played(a, b, points, rng.integers(0, videos, battles))


def seconds(run: Callable[[], object], *, cpu: bool = False) -> float:
    """Return how long `run` takes."""
    clock = time.process_time if cpu else time.perf_counter
    began = clock()
    run()
    return clock() - began


def milliseconds(took: list[float]) -> str:
    """Return median, least and most in milliseconds."""
    return (
        f"{1e3 * statistics.median(took):9.1f} ms ({1e3 * min(took):.1f} - {1e3 * max(took):.1f})"
    )


def evalica_bootstrap(played: Played) -> Callable[[], object]:
    """Return evalica's bootstrap of the battles, ready; its default BCa is far slower."""
    kinds = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    first = played.a.astype(str).tolist()
    second = played.b.astype(str).tolist()
    winners = [kinds[point] for point in played.points.tolist()]
    return lambda: evalica.bootstrap(
        evalica.bradley_terry,
        first,
        second,
        winners,
        n_resamples=ROUNDS,
        bootstrap_method="percentile",
    )


def choix_on(cells: Cells, counts: Floats) -> Floats:
    """Return choix's strengths of each table of counts, from ready matrices of wins."""
    found = np.empty((len(counts), cells.models))
    for k, drawn in enumerate(counts):
        wins = np.zeros((cells.models, cells.models))
        points = drawn @ [0.0, 0.5, 1.0]
        wins[cells.i, cells.j], wins[cells.j, cells.i] = points, drawn.sum(axis=1) - points
        found[k] = choix.ilsr_pairwise_dense(wins)
    return found


def compare_bootstraps(turns: int) -> list[bool]:
    """Print 100 draws at the paper's size; return which bounds hold."""
    played = draw(11, 12_479)
    cells = count_cells(played.a, played.b, outcome=played.points, models=11)
    theta = fit_strengths(cells, likelihood="firth")
    theirs = evalica_bootstrap(played)
    counts = draw_counts(cells, np.random.default_rng(7), rounds=ROUNDS)

    def from_battles() -> Floats:
        counted = count_cells(played.a, played.b, outcome=played.points, models=11)
        found = fit_strengths(counted, likelihood="firth")
        return bootstrap(counted, found, rounds=ROUNDS, likelihood="firth")

    variants: dict[str, Callable[[], object]] = {
        "ours, from battles": from_battles,
        "ours, on given draws": lambda: fit_counts(cells, counts, start=theta, likelihood="firth"),
        "choix, on the same draws": lambda: choix_on(cells, counts),
        "evalica.bootstrap": theirs,
    }
    took: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns + 1):
        for name, run in variants.items():
            spent = seconds(run)
            if turn:  # the first one warms up
                took[name].append(spent)
    print(f"{ROUNDS} bootstrap draws, 11 models, 12,479 battles")
    for name, all_spent in took.items():
        print(f"  {name:26}{milliseconds(all_spent)}")
    apart = np.abs(choix_on(cells, counts) - fit_counts(cells, counts, start=theta)).max()
    middle = {name: statistics.median(spent) for name, spent in took.items()}
    faster = middle["evalica.bootstrap"] / middle["ours, from battles"]
    same = middle["choix, on the same draws"] / middle["ours, on given draws"]
    print(f"  largest difference from choix: {apart * 400 / np.log(10):.1e} points")
    return [
        verdict("evalica.bootstrap over ours, both from battles", faster, EVALICA_TIMES),
        verdict("choix over ours on the same draws", same, CHOIX_TIMES),
    ]


def verdict(what: str, found: float, bound: float, *, most: bool = False) -> bool:
    """Print whether a figure keeps its bound; return it."""
    kept = found <= bound if most else found >= bound
    word = "most" if most else "least"
    print(f"  {'ok  ' if kept else 'MISS'} {what}: {found:.3g}, at {word} {bound:g}")
    return kept


def rate_a_million(turns: int) -> list[bool]:
    """Print a million battles from a Parquet file to a table; return whether the bound holds."""
    played = draw(70, 1_000_000)
    names = np.array([f"provider/a-model-called-{k}" for k in range(70)])
    winner = np.array(["model_b", "tie", "model_a"])[(2 * played.points).astype(int)]
    columns = {
        "model_a": names[played.a],
        "model_b": names[played.b],
        "winner": winner,
        "video": np.array([f"video-{k:06d}.mp4" for k in range(1000)])[played.video],
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "battles.parquet"
        pq.write_table(pa.table(columns), file)
        took = [seconds(lambda: rate_file(file), cpu=True) for _ in range(turns + 1)]
    print("1,000,000 battles of 70 models on 1,000 videos, Parquet file to table, CPU time")
    print(f"  {'the first, then the others':26}{1e3 * took[0]:9.1f} ms;{milliseconds(took[1:])}")
    return [verdict("the slowest, in seconds", max(took), FILE_S, most=True)]


def sandwich_two_million(turns: int) -> list[bool]:
    """Print the sandwich of 200 models; return whether the bound holds."""
    played = draw(200, 2_000_000)
    given = {"outcome": played.points, "models": 200}
    loose = count_cells(played.a, played.b, outcome=played.points, models=200)
    tight = count_cells(played.a, played.b, outcome=played.points, models=200, cluster=played.video)
    theta = fit_strengths(loose)
    print("200 models, 2,000,000 battles, once counted")
    counted = [
        seconds(lambda: count_cells(played.a, played.b, **given))  # type: ignore[arg-type]
        for _ in range(turns)
    ]
    fitted = [seconds(lambda: fit_strengths(loose, likelihood="firth")) for _ in range(turns)]
    robust = [seconds(lambda: place_errors(measure_spread(loose, theta))) for _ in range(turns)]
    videos = [seconds(lambda: place_errors(measure_spread(tight, theta))) for _ in range(turns)]
    named = {"counting": counted, "fit": fitted, "sandwich by battle": robust}
    for name, took in {**named, "sandwich by 1,000 videos": videos}.items():
        print(f"  {name:26}{milliseconds(took)}")
    middle = statistics.median(robust)
    return [verdict("the sandwich, in seconds", middle, SANDWICH_S, most=True)]


def main() -> int:
    """Run all three; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    # evalica warns that its resampling is slow; that is what is measured.
    warnings.simplefilter("ignore")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; BLAS has one thread\n")
    with one_blas_thread():
        kept = compare_bootstraps(turns) + rate_a_million(turns) + sandwich_two_million(turns)
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
