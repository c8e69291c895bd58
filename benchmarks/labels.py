"""How often ratings hold the scale of people: by a judge alone, by labels alone, by both.

    python -m benchmarks.labels

Eleven models with half the spread of VideoAutoArena's table, and its number of battles. People pick
the better answer as Bradley-Terry says; the judge sees the same gap through noise of its own, and
likes two models better than people do, by `favour` nats. A random part of the battles is labelled.
Beside the ratings of the judge stand those of the labels alone (lambda 0), of plain
prediction-powered inference (lambda 1), and of the arena, which tunes lambda. The share is one of
models over all tournaments whose 95 % interval holds what endless labels would give.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.coverage import TIES, Coverage, held_by, true_ratings
from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Floats, count_cells
from videoautoarena.scoring.ratings.prediction_powered import JudgedBattles, rate_on_labels
from videoautoarena.scoring.ratings.ratings import PLAIN, Ratings, rate

BATTLES = 12_479
PAPER = np.array([1505, 1430, 1365, 1290, 1205, 1130, 1060, 985, 905, 800, 705.0])
STRENGTH: Floats = (PAPER - PAPER.mean()) / SCALE / 2.0
FAVOURITES = [3, 7]
LAMBDAS: dict[str, float | None] = {"labels alone": 0.0, "lambda 1": 1.0, "tuned": None}
LEAST, MOST, BLIND = 0.94, 0.96, 0.7
"""What the shares of the corrected ratings lie between, and what the judge's own stays below."""


class Setting(NamedTuple):
    """One row."""

    noise: float
    """Of the judge, a standard deviation in nats."""
    favour: float
    labels: int
    videos: int
    tau: float
    """How much videos suit some models better than others, a standard deviation in nats."""


SETTINGS = (
    *(Setting(1.0, 0.0, labels, BATTLES, 0.0) for labels in (500, 1000, 2500)),
    *(Setting(1.0, 0.5, labels, BATTLES, 0.0) for labels in (500, 1000, 2500)),
    *(Setting(2.5, 0.5, labels, BATTLES, 0.0) for labels in (500, 1000, 2500)),
    *(Setting(1.0, 0.5, labels, 300, 0.5) for labels in (500, 1000, 2500)),
)


class Found(NamedTuple):
    """Of one setting."""

    kinds: dict[str, Coverage]
    lam: float
    gain: float


def draw(setting: Setting, seed: int, battles: int) -> JudgedBattles:
    """Return a seeded tournament, part of it labelled."""
    rng = np.random.default_rng([seed, setting.labels, setting.videos, round(10 * setting.noise)])
    models = len(STRENGTH)
    pairs = roster_pairs(len(STRENGTH))
    a, b = rng.permuted(pairs[rng.integers(0, len(pairs), battles)], axis=1).T
    video = np.arange(battles) % setting.videos
    favour = np.zeros(models)
    favour[FAVOURITES] = setting.favour
    suits = rng.normal(0, setting.tau, (setting.videos, models)) if setting.tau else None
    gap = STRENGTH[a] - STRENGTH[b] + rng.logistic(size=battles)
    if suits is not None:
        gap += suits[video, a] - suits[video, b]
    seen = gap + favour[a] - favour[b] + rng.normal(0, setting.noise, battles)
    people = np.full(battles, np.nan)
    asked = rng.choice(battles, setting.labels, replace=False)
    people[asked] = np.where(rng.random(battles) < TIES, 0.5, gap > 0)[asked]
    judge = np.where(rng.random(battles) < TIES, 0.5, seen > 0)
    return JudgedBattles(models, a, b, judge, people, np.ones(battles), video)


def cover(setting: Setting, *, sets: int, battles: int = BATTLES) -> Found:
    """Return how often each kind of rating held the scale of people."""
    truth = true_ratings(STRENGTH, setting.tau)
    held = defaultdict[str, list[float]](list)
    width = defaultdict[str, list[float]](list)
    lams = []
    gains = []
    for seed in range(sets):
        data = draw(setting, seed, battles)
        judged = count_cells(
            data.a, data.b, outcome=data.judge, models=data.models, cluster=data.cluster
        )
        tables: dict[str, Ratings] = {"judge alone": rate(judged)}
        for kind, lam in LAMBDAS.items():
            found = rate_on_labels(data, PLAIN, lam=lam)
            tables[kind] = found.ratings
            if lam is None:
                lams.append(found.tunings[0].lam)
                gains.append(found.tunings[0].gain)
        for kind, table in tables.items():
            held[kind].append(float(held_by(table, truth).mean()))
            width[kind].append(float(np.mean(table.high - table.low)))
    kinds = {kind: Coverage.of(held[kind], width[kind]) for kind in held}
    return Found(kinds, float(np.mean(lams)), float(np.mean(gains)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for every setting; return 1 where a share misses its range."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=120)
    sets = parser.parse_args(arguments).sets
    kinds = ("judge alone", *LAMBDAS)
    missed = 0
    print(f"11 models, {BATTLES} battles, {sets} tournaments a row; share held (mean width)\n")
    print(
        f"{'noise':>5} {'favour':>6} {'videos':>6} {'labels':>6}  "
        + "".join(f"{kind:17}" for kind in kinds)
        + "lambda  gain"
    )
    for setting in SETTINGS:
        found = cover(setting, sets=sets)
        cells = [
            f"{found.kinds[kind].share:.3f} ({found.kinds[kind].width:5.1f})" for kind in kinds
        ]
        # The models of some tournaments make a share that scatters; so much is no miss.
        tuned = found.kinds["tuned"]
        slack = 2 * tuned.error
        miss = not LEAST - slack <= tuned.share <= MOST + slack
        miss |= found.kinds["judge alone"].share >= BLIND
        missed += miss
        print(
            f"{setting.noise:5} {setting.favour:6} {setting.videos:6} {setting.labels:6}  "
            + "".join(f"{cell:17}" for cell in cells)
            + f"{found.lam:6.2f} {found.gain:5.2f}{'  MISS' if miss else ''}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
