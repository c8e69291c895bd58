"""How often a 95 % interval holds the truth where battles share videos.

    python -m benchmarks.coverage

Eleven models, and for each model and video an offset of standard deviation tau nats: a video suits
some models better than others, and all its battles feel it. The truth is what endless videos would
give. Beside the clustered intervals of the arena stand those that take battles as independent, by
sandwich and by bootstrap, and the bootstrap by video. The share is one of models over all
tournaments; its error is that of the shares of the tournaments. Then come eight models and videos
that hold very unequal numbers of battles.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import (
    MEAN,
    centre,
    fit_strengths,
    to_ratings,
)
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, count_cells
from videoautoarena.scoring.ratings.ratings import FitMethod, Ratings, rate

MODELS = 11
TIES = 0.07
BATTLES = {8: 100, 15: 100, 30: 100, 100: 30, 1000: 5}
"""Videos, and battles on each."""
TAUS = (0.0, 0.5, 1.0)
UNEQUAL = ((8, 45), (12, 45), (30, 45), (30, 9))
"""Videos, and battles on one of them on average, where one holds much more than another."""
FEWER = 8
"""Models there."""
LEAST = 0.93
MOST = 0.97
KINDS = {
    "clustered": (True, FitMethod()),
    "naive": (False, FitMethod()),
    "bootstrap": (True, FitMethod(rounds=400)),
    "naive bootstrap": (False, FitMethod(rounds=400)),
}
"""Whether intervals know the videos, and how they are made."""


class Coverage(NamedTuple):
    """Of one kind of interval in one setting."""

    share: float
    error: float
    """Standard error of the share."""
    width: float
    """Mean width in points."""

    @classmethod
    def of(cls, held: ArrayLike, width: ArrayLike) -> Coverage:
        """Return it from the share held and the mean width of each tournament."""
        shares = np.asarray(held)
        error = float(shares.std(ddof=1) / np.sqrt(len(shares)))
        return cls(float(shares.mean()), error, float(np.asarray(width).mean()))


def true_ratings(strength: Floats, tau: float, ties: float = TIES) -> Floats:
    """Return what endless videos would give, ties at half: shares integrated over videos."""
    i, j = roster_pairs(len(strength)).T
    at, weight = np.polynomial.hermite_e.hermegauss(60)
    share = expit((strength[i] - strength[j])[:, None] + np.sqrt(2) * tau * at) @ weight
    share = ties / 2 + (1 - ties) * share / weight.sum()
    cells = Cells(len(strength), i, j, np.stack([1 - share, 0 * share, share], axis=1))
    return to_ratings(fit_strengths(cells))


def held_by(table: Ratings, truth: Floats) -> NDArray[np.bool_]:
    """Return which intervals of the only component hold the truth, which may have any zero."""
    (fit,) = table.fits
    true = MEAN + centre(truth, fit.spread.zero)
    return np.asarray((table.low <= true) & (true <= table.high), dtype=np.bool_)


def cover(videos: int, tau: float, *, sets: int, kinds: tuple[str, ...]) -> dict[str, Coverage]:
    """Return how often each kind of interval held the truth over seeded tournaments."""
    strength = np.linspace(1.5, -1.5, MODELS)
    truth = true_ratings(strength, tau)
    video = np.repeat(np.arange(videos), BATTLES[videos])
    held = {kind: np.empty(sets) for kind in kinds}
    width = {kind: np.empty(sets) for kind in kinds}
    for seed in range(sets):
        rng = np.random.default_rng([seed, videos, round(10 * tau)])
        a, b, points = _draw(rng, strength, rng.normal(0, tau, (videos, MODELS)), video)
        for kind in kinds:
            is_clustered, method = KINDS[kind]
            cells = count_cells(
                a, b, outcome=points, models=MODELS, cluster=video if is_clustered else None
            )
            table = rate(cells, method)
            held[kind][seed] = np.mean(held_by(table, truth))
            width[kind][seed] = np.mean(table.high - table.low)
    return {kind: Coverage.of(held[kind], width[kind]) for kind in kinds}


def draw_unequal(videos: int, each: int, tau: float, *, seed: int) -> Cells:
    """Return battles of eight models about videos whose shares are drawn from Dirichlet(1)."""
    rng = np.random.default_rng([seed, videos, each])
    video = rng.choice(videos, videos * each, p=rng.dirichlet(np.ones(videos)))
    strength = np.linspace(1.5, -1.5, FEWER)
    offset = rng.normal(0, tau, (videos, FEWER))
    a, b, points = _draw(rng, strength, offset, video)
    return count_cells(a, b, outcome=points, models=FEWER, cluster=video)


def _draw(
    rng: np.random.Generator, strength: Floats, offset: Floats, video: Ints
) -> tuple[Ints, Ints, Floats]:
    """Both models of random battles, one on each entry of `video`, and the points of the first."""
    pairs = roster_pairs(len(strength))
    a, b = pairs[rng.integers(0, len(pairs), len(video))].T
    chance = expit(strength[a] - strength[b] + offset[video, a] - offset[video, b])
    won = (rng.random(len(video)) < chance).astype(float)
    return a, b, np.where(rng.random(len(video)) < TIES, 0.5, won)


def cover_unequal(videos: int, each: int, tau: float, *, sets: int) -> Coverage:
    """Return how often clustered intervals held the truth where videos are of unequal size."""
    truth = true_ratings(np.linspace(1.5, -1.5, FEWER), tau)
    held = np.empty(sets)
    width = np.empty(sets)
    for seed in range(sets):
        table = rate(draw_unequal(videos, each, tau, seed=seed))
        held[seed] = np.mean(held_by(table, truth))
        width[seed] = np.mean(table.high - table.low)
    return Coverage.of(held, width)


def main() -> int:
    """Print a row for every setting; return 1 where the clustered intervals miss the range."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    given = parser.parse_args()
    sets, kinds = given.sets, ("clustered", *(k for k in given.kinds if k != "clustered"))
    missed = 0
    print(f"{MODELS} models, {sets} tournaments a row; share held +- its error (mean width)\n")
    print(f"{'videos':>6} {'battles':>7} {'tau':>4}  " + "".join(f"{kind:25}" for kind in kinds))
    for videos, battles in BATTLES.items():
        for tau in TAUS:
            found = cover(videos, tau, sets=sets, kinds=kinds)
            cells = [f"{c.share:.3f} +- {c.error:.3f} ({c.width:4.0f})" for c in found.values()]
            # The 150 and more numbers behind a share scatter; so much is no miss.
            ours = found["clustered"]
            slack = 2 * found["clustered"].error
            miss = not LEAST - slack <= ours.share <= MOST + slack
            missed += miss
            line = "".join(f"{cell:25}" for cell in cells).rstrip()
            line += "  MISS" if miss else ""
            print(f"{videos:6} {videos * battles:7} {tau:4}  {line}", flush=True)
    print(f"\n{FEWER} models, videos of very unequal size (Dirichlet(1)), {2 * sets} tournaments")
    for videos, each in UNEQUAL:
        line = f"{videos:6} {videos * each:7}  "
        for tau in TAUS:
            ours = cover_unequal(videos, each, tau, sets=2 * sets)
            missed += ours.share < LEAST - 2 * ours.error
            line += f"tau {tau}: {ours.share:.3f} +- {ours.error:.3f} ({ours.width:4.0f})   "
        print(line.rstrip(), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
