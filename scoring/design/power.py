"""How many battles it takes to separate models that are a known way apart, by playing them.

Owns made-up tournaments: models whose strengths are known, a judge who sees them through ties and
through videos that suit some of them better, and pairs drawn as a run draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, stdtrit

from videoautoarena.scoring.design.pairing import WHOLE, mix_weights, roster_pairs
from videoautoarena.scoring.design.stopping import NOTHING_KNOWN, Separation, separate
from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, count_cells, count_outcomes
from videoautoarena.scoring.fitting.separation import find_components, find_one_sided
from videoautoarena.scoring.intervals.sandwich import LEVEL, gap_errors, measure_spread

LAG = 2
"""Pairs of a wave are weighed by results of waves up to this many before, as in a run."""
_DRAWS = 1000


@dataclass(frozen=True)
class StrengthLadder:
    """Models a known way apart, and the judge who is to find out."""

    strength: Floats
    """Shape (n,), in nats, best first."""
    ties: float = 0.07
    """Share of ties among equals."""
    quirk: float = 0.5
    """How much better or worse a video suits a model, as a standard deviation in nats."""
    blind: float = 0.0
    """Share of battles that the judge decides the wrong way round. Above 0 ties are as frequent
    among all, and measured gaps come out smaller than those of `strength`."""
    seat: float = 0.0
    """What being read first is worth, in nats."""


@dataclass(frozen=True)
class PlayPlan:
    """How a tournament is played."""

    is_mixed: bool = True
    """Whether pairs are drawn by `mix_weights`; otherwise all alike."""
    block: int = 21
    """Videos that are played side by side."""
    users: int = 3
    rounds: int = 3
    """Rounds of a block, each a wave, before the next block's turn."""
    videos: int | None = None
    """How many there are; once through, they are played again. None: always new ones."""
    patience: float = 0.0
    """Share by which battles must grow before pairs are weighed anew, which saves time and changes
    little; 0 weighs anew for every wave."""


class InterimResult(NamedTuple):
    """What a tournament shows after some battles."""

    theta: Floats
    """Strengths in nats; zeros where models cannot all be compared."""
    errors: Floats
    """Shape (n, n), errors of differences; infinite where models cannot all be compared."""
    battles: int
    clusters: float
    """How many equal clusters would say as much."""
    separation: Separation

    @property
    def ratios(self) -> Floats:
        """Shape (n - 1,), how many errors each model is above the one truly next to it."""
        above = np.arange(len(self.theta) - 1)
        return np.asarray(-np.diff(self.theta) / self.errors[above, above + 1], dtype=np.float64)

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Shape (n - 1,), whether the 95 % interval of that difference lies above zero."""
        return np.asarray(self.ratios > stdtrit(max(self.clusters - 1.0, 1.0), 0.5 + LEVEL / 2))

    @property
    def is_right(self) -> bool:
        """Whether all stand in their true order."""
        return bool((np.diff(self.theta) < 0.0).all())


class SimulatedFigure(NamedTuple):
    """A figure found by simulation, with the 95 % interval of the simulation's own error."""

    value: float
    """Infinite where it was not reached, as the bounds may be."""
    low: float
    high: float


def make_ladder(
    models: int, gap: float, *, ties: float = 0.07, quirk: float = 0.5
) -> StrengthLadder:
    """Return equally spaced models whose measured ratings, of endless battles, are `gap` apart.

    Videos that suit one model or the other hide part of a difference, so strengths lie further
    apart, until neighbours win as often as the gap says, in rating points.

    Raises:
        ValueError: fewer than two models, a gap not above 0, ties not in [0, 1), a negative quirk.
    """
    if models < 2 or not 0.0 < gap < np.inf or not 0.0 <= ties < 1.0 or not 0.0 <= quirk < np.inf:
        raise ValueError("a ladder needs two models, a gap above 0, ties below 1 and a quirk")
    # The mean over quirks, of which a gap holds two, by the quadrature of Gauss and Hermite.
    at, weight = np.polynomial.hermite_e.hermegauss(40)
    offset = np.sqrt(2.0) * quirk * at
    share = weight / weight.sum()

    def surplus(step: float) -> float:
        return float(expit(step + offset) @ share - expit(gap / SCALE))

    step = brentq(surplus, 0.0, (gap / SCALE + 1.0) * (10.0 + 10.0 * quirk))
    return StrengthLadder(np.asarray(-step * np.arange(models), dtype=np.float64), ties, quirk)


def play(
    ladder: StrengthLadder, course: PlayPlan, *, seed: int | Sequence[int], at: Sequence[int]
) -> Iterator[Cells]:
    """Yield the battles of a tournament, clustered by video, at ascending numbers of battles.

    Waves are played whole, so there may be up to a wave more.
    """
    rng = np.random.default_rng(seed)
    models = len(ladder.strength)
    pairs = roster_pairs(models)
    rows: list[NDArray[np.int32]] = []
    quirks = np.empty((0, models))
    known = np.zeros((len(pairs), 3))
    waiting = list[tuple[Ints, Ints]]()
    weighed = -1.0
    ends = np.empty(0)
    played = 0
    for aim in at:
        while played < aim:
            # As in a run, the wave before is still being played and must not be looked at.
            while len(waiting) > LAG - 1:
                known += count_outcomes(*waiting.pop(0), rows=len(pairs))
            # Pairs that are not mixed keep the weights of no battle, by which all are alike.
            if weighed < 0 or (course.is_mixed and known.sum() > (1 + course.patience) * weighed):
                weighed = float(known.sum())
                ends = np.cumsum(mix_weights(_cells(known, pairs)))
            wave = len(rows)
            video = _videos(course, wave)
            fresh = int(video.max()) + 1 - len(quirks)
            # A video that comes again keeps its quirks.
            quirks = np.vstack(
                [quirks, ladder.quirk * rng.standard_normal((max(fresh, 0), models))]
            )
            pair = np.searchsorted(ends, rng.integers(0, WHOLE, len(video)), side="right")
            halves = judge(ladder, rng, pairs[pair], quirks=quirks[video])
            rows.append(np.stack([pair, halves, video]).astype(np.int32))
            waiting.append((pair, halves))
            played += len(video)
        pair, halves, video = np.hstack(rows)
        a, b = pairs[pair].T
        yield count_cells(a, b, outcome=halves / 2, models=models, cluster=video)


def judge(ladder: StrengthLadder, rng: np.random.Generator, sides: Ints, *, quirks: Floats) -> Ints:
    """Return the half points of the first of each two: 0, 1 or 2.

    With a judge who is never blind, ties take as much from wins as from losses and are rarer the
    further apart two are, so that expected points are what Bradley and Terry say. `sides`, shape
    (B, 2), says who meets; `quirks`, shape (B, n), how much each battle's video suits each model.
    """
    here, (one, two) = np.arange(len(sides)), sides.T
    gap = ladder.strength[one] - ladder.strength[two] + quirks[here, one] - quirks[here, two]
    # Pairs name the stronger model first, so who is read first is drawn.
    seat = ladder.seat * rng.choice([-1.0, 1.0], len(sides)) if ladder.seat else 0.0
    chance = expit(gap + seat)
    if ladder.blind:
        chance = ladder.blind + (1.0 - 2.0 * ladder.blind) * chance
        tie = np.full(len(sides), ladder.ties)
        won = (1.0 - tie) * chance
    else:
        tie = 4.0 * ladder.ties * chance * (1.0 - chance)
        won = chance - tie / 2.0
    u = rng.random(len(sides))
    return np.where(u < won, 2, np.where(u < won + tie, 1, 0)).astype(np.int64)


def look(cells: Cells) -> InterimResult:
    """Return what a tournament shows; the models stand in their true order."""
    components = find_components(cells)
    n = cells.models
    battles = round(float(cells.counts.sum()))
    if not components or len(components[0]) < n:
        nobody = np.full((n, n), np.inf)
        return InterimResult(np.zeros(n), nobody, battles, float(cells.clusters), NOTHING_KNOWN)
    one_sided = find_one_sided(cells)
    theta = fit_strengths(cells, likelihood="firth")
    spread = measure_spread(cells, theta, one_sided=one_sided)
    separation = NOTHING_KNOWN if one_sided.any() else separate(theta, spread)
    return InterimResult(theta, gap_errors(spread), battles, spread.effective, separation)


def battles_needed(
    hits: Floats, at: Sequence[int], *, power: float, seed: int = 0
) -> SimulatedFigure:
    """Return after how many battles a share first reaches `power`, between looks by their logs.

    `hits`, shape (T, looks), is the share of each tournament at each look, and `at` the battles at
    each look, ascending. The interval is from a bootstrap over tournaments.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(hits), (_DRAWS, len(hits)))
    # By sorting, since interpolation between infinite numbers gives NaN.
    found = np.sort([_first(hits[rows].mean(axis=0), at, power) for rows in drawn])
    low = found[round(0.025 * _DRAWS)]
    high = found[round(0.975 * _DRAWS)]
    return SimulatedFigure(_first(hits.mean(axis=0), at, power), float(low), float(high))


def separable_gap(
    models: int, *, battles: int, videos: int, power: float = 0.8, quirk: float = 0.5
) -> float:
    """Return the gap in nats at which neighbours are told apart with probability `power`.

    A formula in place of simulated tournaments: equal models that all meet each other have
    `4 * (models - 1) / battles` as the variance of a gap (each battle tells 1/4 nats^-2), and a
    video adds what it favours one model more than another by, twice `quirk` squared. Student's t
    of `videos - 1` degrees of freedom stands for that no more is known of videos. Infinite with
    fewer than two videos. By `battles_needed` it is at most a seventh too large, for 2 to 20 models
    50 to 150 points apart.
    """
    if videos < 2 or battles < 1:
        return float("inf")
    variance = 4.0 * (models - 1) / battles + 2.0 * quirk**2 / videos
    freedom = videos - 1.0
    quantiles = stdtrit(freedom, (1.0 + LEVEL) / 2.0) + stdtrit(freedom, power)
    return float(quantiles * np.sqrt(variance))


def _first(share: Floats, at: Sequence[int], power: float) -> float:
    over = np.flatnonzero(share >= power)
    if len(over) == 0:
        return float("inf")
    k = int(over[0])
    if k == 0:
        return float(at[0])
    # The look before lies below `power` and this one does not, so the difference is above zero.
    part = (power - share[k - 1]) / (share[k] - share[k - 1])
    return float(at[k - 1] * (at[k] / at[k - 1]) ** part)


def _videos(course: PlayPlan, wave: int) -> Ints:
    """Return the video of each battle of a wave."""
    turn = wave // course.rounds
    size = course.block
    if course.videos is not None:
        turn %= -(-course.videos // course.block)
        size = min(size, course.videos - turn * course.block)
    return np.repeat(turn * course.block + np.arange(size), course.users)


def _cells(counts: Floats, pairs: Ints) -> Cells:
    met = counts.sum(axis=1) > 0
    return Cells(int(pairs.max()) + 1, pairs[met, 0], pairs[met, 1], counts[met])
