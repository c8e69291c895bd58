"""How often the sets and ranges of places that a leaderboard names hold the truth.

    python -m benchmarks.leads

Tournaments of each kind about the same number of videos, on each of which some models do better
than elsewhere (offsets of .5 nats). Counted is how often a true best is among those that may be
best, and how often a model's range of places holds its true place, or all places of its equals, for
the model that fares worst. Beside the number of candidates and the mean width of ranges stand those
of the rule that looks where intervals of ratings overlap, which was that of earlier versions, and
how often a model is said to be apart from the first though it is as strong.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.counts import Cells, Floats, count_cells
from videoautoarena.scoring.ratings.ratings import rate

LEAST = 0.95
WIDER = 1.12
"""As many times as wide as ranges of overlap may ranges of places be."""
OFFSET = 0.5
TIES = 0.07
SAME = 1e-9
_FIELD = np.linspace(0.6, -0.6, 7)


class Kind(NamedTuple):
    """What the tournaments of a kind have in common."""

    strength: Floats
    """In nats."""
    videos: int = 30
    each: int = 12
    """Battles on a video, on average."""
    is_unequal: bool = False
    """Whether shares of videos are drawn from Dirichlet(1)."""
    newcomer: float = 1.0
    """Share of its battles that the last model fights."""


KINDS = {
    "balanced": Kind(_FIELD),
    "unequal": Kind(_FIELD, is_unequal=True),
    "ten videos": Kind(_FIELD, videos=10),
    "newcomer": Kind(np.append(np.linspace(0.6, -0.6, 6), 0.3), newcomer=0.1),
    "parrot": Kind(np.append(np.linspace(0.6, -0.6, 6), -6.0)),
    "3 equal": Kind(np.zeros(3)),
    "7 equal": Kind(np.zeros(7)),
    "20 equal": Kind(np.zeros(20), each=60),
}


class Held(NamedTuple):
    """Of many tournaments of a kind."""

    best: float
    """Share in which a true best is among those that may be best."""
    range: float
    """Share in which a range holds the true places, of the model that fares worst."""
    candidates: float
    """How many may be best, on average."""
    overlapping: float
    """How many intervals meet that of the first, which are the candidates by overlap."""
    width: float
    """Places in a range, on average."""
    overlapped: float
    """The same by overlap."""


def play(kind: Kind, seed: int) -> Cells:
    """Return the battles of one tournament."""
    rng = np.random.default_rng([seed, len(kind.strength), kind.videos, kind.each])
    models = len(kind.strength)
    battles = kind.videos * kind.each
    if kind.is_unequal:
        video = rng.choice(kind.videos, battles, p=rng.dirichlet(np.ones(kind.videos)))
    else:
        video = np.repeat(np.arange(kind.videos), kind.each)
    pairs = roster_pairs(models)
    a, b = pairs[rng.integers(0, len(pairs), battles)].T
    is_new = (a == models - 1) | (b == models - 1)
    kept = ~is_new | (rng.random(battles) < kind.newcomer)
    a = a[kept]
    b = b[kept]
    video = video[kept]
    offset = rng.normal(0.0, OFFSET, (kind.videos, models))
    gap = kind.strength[a] - kind.strength[b] + offset[video, a] - offset[video, b]
    won = (rng.random(len(a)) < expit(gap)).astype(float)
    points = np.where(rng.random(len(a)) < TIES, 0.5, won)
    return count_cells(a, b, outcome=points, models=models, cluster=video)


def hold(kind: Kind, *, tournaments: int) -> Held:
    """Return how often the truth was held in seeded tournaments."""
    strength = kind.strength
    first = 1 + (strength[None, :] > strength[:, None] + SAME).sum(axis=1)
    last = (strength[None, :] >= strength[:, None] - SAME).sum(axis=1)
    rows = []
    ranges = np.zeros(len(strength))
    for seed in range(tournaments):
        table = rate(play(kind, seed))
        (lead,) = table.leads
        ranges += (lead.best <= first) & (lead.worst >= last)
        top = int(np.argmax(table.rating))
        above = (table.low[None, :] > table.high[:, None]).sum(axis=1)
        below = (table.high[None, :] < table.low[:, None]).sum(axis=1)
        rows.append((
            lead.may_be_best[first == 1].any(),
            lead.may_be_best.sum(),
            (table.high >= table.low[top]).sum(),
            (lead.worst - lead.best + 1).mean(),
            (len(strength) - below - above).mean(),
        ))  # fmt: skip
    best, *rest = map(float, np.mean(rows, axis=0))
    return Held(best, float(ranges.min()) / tournaments, *rest)


def faults(found: Held) -> list[str]:
    """Return what of a kind misses its bound."""
    return [
        name
        for name, is_missed in {
            "best": found.best < LEAST,
            "range": found.range < LEAST,
            "candidates": found.candidates >= found.overlapping,
            "width": found.width > WIDER * found.overlapped,
        }.items()
        if is_missed
    ]


def main() -> int:
    """Print a row for every kind; return 1 where one misses a bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tournaments", type=int, default=400)
    tournaments = parser.parse_args().tournaments
    missed = 0
    print(f"{tournaments} tournaments a kind; in brackets by overlapping intervals\n")
    print(f"{'':12}{'best held':>10}{'range held':>12}{'may be best':>20}{'places open':>20}")
    for name, kind in KINDS.items():
        found = hold(kind, tournaments=tournaments)
        wrong = faults(found)
        missed += bool(wrong)
        candidates = f"{found.candidates:.2f} ({found.overlapping:.2f})"
        places = f"{found.width:.2f} ({found.overlapped:.2f})"
        line = f"{name:12}{found.best:10.3f}{found.range:12.3f}{candidates:>20}{places:>20}"
        print(f"{line}  {'MISS ' + ', '.join(wrong) if wrong else ''}".rstrip(), flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
