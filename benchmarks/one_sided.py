"""What models that lost or won all their battles do to the others' ratings and intervals.

    python -m benchmarks.one_sided

Chains, whose neighbours alone meet, with and without a newcomer that met the first once and lost:
how often the interval of the widest gap holds the truth. Schedules in which each team meets few
others, about as strong: the same for all gaps, by their length. Early runs of seven models, one of
them a parrot: the error of the gaps of the other six, and how often the intervals of ratings hold.
Newcomers that lose everything: by how much they move a gap of the others. Runs with a parrot
watched battle by battle: how far a battle moves the ratings of those that were not in it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from benchmarks.coverage import held_by
from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, count_cells
from videoautoarena.scoring.fitting.separation import find_components, find_one_sided
from videoautoarena.scoring.intervals.sandwich import gap_errors, half_widths
from videoautoarena.scoring.ratings.ratings import Ratings, rate

CHAINS = ((20, 30), (20, 120), (12, 24), (8, 30))
"""Models, and battles of each two neighbours."""
SCHEDULES = {6: (250.0, 60.0), 8: (300.0, 80.0), 12: (350.0, 90.0)}
"""Games of a team, the standard deviation of ratings, and how many places around its own a team's
opponents come from."""
TEAMS = 288
NEWCOMERS = 12
BINS = (0.0, 300.0, 600.0, np.inf)
"""Lengths of gaps, in points."""
EARLY = (30, 60, 108, 300)
"""Battles."""
PARROTS = ((30, 3), (12, 9), (30, 15), (30, 45))
"""Videos, and battles on each."""
STRENGTH = np.append(np.linspace(1.5, -1.0, 6), -6.0)
"""Of six models and a parrot, in nats."""
SPREAD = 0.8
"""Nats, 139 points: the standard deviation of strengths in a random field."""
TIES = 0.07
"""Share of battles that are ties in the runs that are watched."""
WATCHED = 5
"""Battles on each of their videos."""
LEAST = 0.93
MOST = 5.0
SLACK = 0.03
LEVEL_BATTLES = 40
"""Of each model of a field, at which `MOST` is held."""


class Held(NamedTuple):
    """Of many intervals."""

    share: float
    """That hold the truth."""
    mean: float
    """Of what they are about, in points."""


class Error(NamedTuple):
    """Of the gaps of six models beside a parrot, over many runs."""

    rms: float
    """In nats."""
    held: float
    """Share of intervals of gaps that hold the truth."""


def gap_halves(table: Ratings) -> Floats:
    """Return half the width of the interval of each gap of the only component, in nats."""
    spread = table.fits[0].spread
    return half_widths(gap_errors(spread), spread.effective)


def play_chain(models: int, each: int, *, newcomer: bool, seed: int) -> Cells:
    """Return battles of neighbours with odds of two to one; a newcomer lost once to the first."""
    rng = np.random.default_rng([seed, models, each])
    i = np.arange(models - 1)
    won = rng.binomial(each, 2.0 / 3.0, models - 1).astype(float)
    counts = np.stack([each - won, 0 * won, won], axis=1)
    j = i + 1
    if newcomer:
        i = np.insert(i, 1, 0)
        j = np.insert(j, 1, models)
        counts = np.insert(counts, 1, [0.0, 0.0, 1.0], axis=0)
    return Cells(models + newcomer, i, j, counts)


def cover_chain(models: int, each: int, *, newcomer: bool, sets: int) -> Held:
    """Return how often the gap of the first and the last holds, and its mean."""
    truth = (models - 1) * np.log(2.0)
    found = np.empty(sets)
    held = np.empty(sets)
    for seed in range(sets):
        table = rate(play_chain(models, each, newcomer=newcomer, seed=seed))
        found[seed] = table.theta[0] - table.theta[models - 1]
        held[seed] = abs(found[seed] - truth) <= gap_halves(table)[0, models - 1]
    return Held(held.mean(), SCALE * found.mean())


def play_schedule(games: int, *, seed: int) -> tuple[Floats, Cells]:
    """Return the strengths of 288 teams and their games; twelve newcomers behind lost one each."""
    rng, (deviation, reach) = np.random.default_rng([seed, games]), SCHEDULES[games]
    strength = np.sort(rng.normal(0.0, deviation / SCALE, TEAMS))
    places = [np.arange(TEAMS) + rng.uniform(0.0, reach, TEAMS) for _ in range(games)]
    a, b = np.concatenate([np.argsort(place).reshape(-1, 2) for place in places]).T
    won = rng.random(len(a)) < expit(strength[a] - strength[b])
    a = np.append(a, rng.integers(0, TEAMS, NEWCOMERS))
    b = np.append(b, np.arange(TEAMS, TEAMS + NEWCOMERS))
    points = np.append(won.astype(float), np.ones(NEWCOMERS))
    return strength, count_cells(a, b, outcome=points, models=TEAMS + NEWCOMERS)


def cover_schedule(games: int, *, sets: int) -> tuple[list[float], float]:
    """Return how often gaps of the 288 hold, by `BINS` and in all; and how many are one-sided."""
    held = np.zeros(len(BINS))
    there = np.zeros(len(BINS))
    one_sided = 0
    for seed in range(sets):
        strength, cells = play_schedule(games, seed=seed)
        table = rate(cells)
        one_sided += int(table.one_sided.sum())
        members = np.flatnonzero(np.isin(np.arange(TEAMS), table.components[0]))
        place = np.searchsorted(table.components[0], members)
        found, true = (gaps_of(x[members]) for x in (table.theta, strength))
        half = gap_halves(table)[np.ix_(place, place)][np.triu_indices(len(members), 1)]
        where = np.digitize(SCALE * np.abs(true), BINS[1:])
        inside = np.abs(found - true) <= half
        for k in range(len(BINS) - 1):
            held[k] += inside[where == k].sum()
            there[k] += (where == k).sum()
    held[-1], there[-1] = held.sum(), there.sum()
    return list(held / there), one_sided / sets


def gaps_of(x: Floats) -> Floats:
    """Return the gaps of all pairs, shape (n(n-1)/2,)."""
    i, j = np.triu_indices(len(x), 1)
    return np.asarray(x[i] - x[j], dtype=np.float64)


def play_parrot(battles: int, *, seed: int, videos: int | None = None) -> Cells:
    """Return battles of random pairs of `STRENGTH`, in turn about so many videos."""
    rng = np.random.default_rng([seed, battles, videos or 0])
    pairs = roster_pairs(len(STRENGTH))
    a, b = pairs[rng.integers(0, len(pairs), battles)].T
    won = rng.random(battles) < expit(STRENGTH[a] - STRENGTH[b])
    cluster = None if videos is None else np.arange(battles) % videos
    return count_cells(a, b, outcome=won.astype(float), models=len(STRENGTH), cluster=cluster)


def early_error(battles: int, *, sets: int) -> Error:
    """Return how far gaps of early runs are off, of runs that join all models."""
    square = []
    held = []
    for seed in range(sets):
        table = rate(play_parrot(battles, seed=seed))
        if len(table.components[0]) < len(STRENGTH):
            continue
        off = gaps_of(table.theta[:6]) - gaps_of(STRENGTH[:6])
        square.append((off**2).mean())
        half = gap_halves(table)[:6, :6][np.triu_indices(6, 1)]
        held.append((np.abs(off) <= half).mean())
    return Error(float(np.sqrt(np.mean(square))), float(np.mean(held)))


def cover_parrot(videos: int, each: int, *, sets: int) -> tuple[float, float]:
    """Return how often ratings of the others hold in a field with a parrot, and of the parrot."""
    others = []
    parrot = []
    for seed in range(sets):
        table = rate(play_parrot(videos * each, seed=seed, videos=videos))
        if len(table.components[0]) < len(STRENGTH):
            continue
        inside = held_by(table, SCALE * STRENGTH)
        others.append(inside[:6].mean())
        parrot.append(inside[6])
    return float(np.mean(others)), float(np.mean(parrot))


def watch(seed: int, *, each: int) -> tuple[float, float]:
    """Return how far one battle moves ratings of models that were not in it, at most.

    In points, and as a share of the half-width of the interval that it had before. Watched from the
    moment at which battles join all models: eight, the last a parrot, on thirty videos.
    """
    rng = np.random.default_rng([seed, each])
    models = 8
    videos = 30
    strength = np.append(np.linspace(1.0, -1.0, models - 1), -5.5)
    pairs = roster_pairs(models)
    video = np.repeat(np.arange(videos), each)
    a, b = pairs[rng.integers(0, len(pairs), len(video))].T
    points = (rng.random(len(a)) < expit(strength[a] - strength[b])).astype(float)
    points = np.where(rng.random(len(a)) < TIES, 0.5, points)
    farthest = 0.0
    share = 0.0
    before: Ratings | None = None
    for k in range(models, len(a) + 1):
        table = rate(
            count_cells(a[:k], b[:k], outcome=points[:k], models=models, cluster=video[:k])
        )
        whole = len(table.components[0]) == models and table.clusters[0] > 1
        if whole and before is not None:
            others = ~np.isin(np.arange(models), (a[k - 1], b[k - 1]))
            moved = np.abs(table.rating - before.rating)[others]
            half = np.minimum(before.rating - before.low, before.high - before.rating)[others]
            farthest = max(farthest, float(moved.max()))
            share = max(share, float((moved / half).max()))
        before = table if whole else None
    return farthest, share


def play_field(seed: int, *, each: int) -> tuple[int, Ints, Ints, Floats]:
    """Return the models of a random field, and its battles; about `each` a model."""
    rng = np.random.default_rng([seed, each])
    models = int(rng.integers(3, 61))
    strength = rng.normal(0.0, SPREAD, models)
    pairs = roster_pairs(models)
    a, b = pairs[rng.integers(0, len(pairs), models * each // 2)].T
    points = (rng.random(len(a)) < expit(strength[a] - strength[b])).astype(float)
    return models, a, b, points


def newcomer_moves(opponents: Callable[[int], int], *, fields: int, each: int) -> Floats:
    """Return the largest change of a gap of others, in points, by one that loses everything.

    One for each of the random fields in which every strength is bounded before it comes.
    """
    largest = []
    for seed in range(fields):
        models, a, b, points = play_field(seed, each=each)
        rng = np.random.default_rng([seed, 1])
        met = rng.permutation(models)[: opponents(models)]
        field = count_cells(a, b, outcome=points, models=models)
        if len(find_components(field)[0]) < models or find_one_sided(field).any():
            continue
        joined = count_cells(
            np.append(a, met),
            np.append(b, np.full(len(met), models)),
            outcome=np.append(points, np.ones(len(met))),
            models=models + 1,
        )
        # Strengths alone, of which ratings are made: who may be best is none of this.
        before, after = (fit_strengths(cells, likelihood="firth") for cells in (field, joined))
        largest.append(SCALE * np.ptp(after[:models] - before))
    return np.array(largest)


def main() -> int:
    """Print all of it; return 1 where something is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--watched", type=int, default=200)
    given = parser.parse_args()
    missed = 0
    sets = given.sets
    print(f"chains of odds two to one, {sets} each: share held (mean gap, true gap)")
    for models, each in CHAINS:
        for newcomer in (False, True):
            held = cover_chain(models, each, newcomer=newcomer, sets=sets)
            missed += held.share < LEAST
            true = SCALE * (models - 1) * np.log(2.0)
            who = "newcomer" if newcomer else ""
            line = f"{who:9} {held.share:.3f} ({held.mean:.0f}, {true:.0f})"
            print(f"  {models:3} x {each:<4} {line}", flush=True)
    print(f"\n{TEAMS} teams: share of gaps held up to 300 points, to 600, above, all (one-sided)")
    for games in SCHEDULES:
        shares, lost = cover_schedule(games, sets=max(1, sets // 20))
        missed += min(shares) < LEAST
        line = " ".join(f"{share:.3f}" for share in shares)
        print(f"  {games:3} games  {line} ({lost:.1f})", flush=True)
    print("\nseven models, one a parrot: error of the gaps of six in nats, share held")
    for battles in EARLY:
        print("  {:4} battles  {:.3f} {:.3f}".format(battles, *early_error(battles, sets=sets)))
    print("\nthe same, ratings: share held of six, of the parrot")
    for videos, each in PARROTS:
        of_six, of_parrot = cover_parrot(videos, each, sets=sets)
        missed += (
            min(of_six, of_parrot) < LEAST - SLACK
            or not LEAST <= (6 * of_six + of_parrot) / 7 <= 0.97
        )
        print(f"  {videos:3} x {each:<3} {of_six:.3f} {of_parrot:.3f}")
    moves = [watch(seed, each=WATCHED) for seed in range(given.watched)]
    farthest, share = np.max(moves, axis=0)
    missed += share > 1.0
    print(
        f"\n{len(moves)} runs with a parrot, battle by battle: a rating moved by a battle of others"
    )
    print(f"  at most {farthest:.1f} points, {share:.2f} of its half-width", flush=True)
    print("\na newcomer that loses to 1, 3 and all: change of a gap in 99 of 100 fields (in all)")
    for each in (10, 20, LEVEL_BATTLES):
        line = f"  {each:3} battles a model "
        for opponents in (lambda _: 1, lambda n: min(n, 3), lambda n: n):
            moved = newcomer_moves(opponents, fields=sets // 2, each=each)
            usual = float(np.quantile(moved, 0.99))
            missed += each == LEVEL_BATTLES and usual > MOST
            line += f" {usual:.2f} ({moved.max():.2f})"
        print(line, flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
