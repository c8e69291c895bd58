"""Battles that weigh differently: the fit, its sandwich, and what their intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from tests.support.battles import draw_battles, fit_logistic
from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.counts import Floats, Ints, count_cells, count_rows, to_cells
from videoautoarena.scoring.ratings.ratings import FitMethod, rate


def drawn(seed: int) -> tuple[Ints, Ints, Floats, Floats, Ints]:
    a, b, points = draw_battles(seed, 4, battles=200)
    rng = np.random.default_rng(seed)
    return a, b, points, rng.uniform(0.2, 3.0, len(a)), rng.integers(0, 25, len(a))


def test_a_whole_weight_counts_a_battle_so_often() -> None:
    a, b, points, _, video = drawn(0)
    times = np.random.default_rng(1).integers(1, 4, len(a))
    weighted = count_cells(a, b, outcome=points, models=4, cluster=video, weight=times)
    repeat = [np.repeat(x, times) for x in (a, b, points, video)]
    repeated = count_cells(repeat[0], repeat[1], outcome=repeat[2], models=4, cluster=repeat[3])
    assert weighted.counts == pytest.approx(repeated.counts)
    mine = rate(weighted)
    theirs = rate(repeated)
    assert mine.rating == pytest.approx(theirs.rating)
    # Their sums over videos are the same, and so is the clustered sandwich.
    assert mine.fits[0].spread.robust == pytest.approx(theirs.fits[0].spread.robust)


def test_equal_weights_change_nothing() -> None:
    a, b, points, _, video = drawn(2)
    plain = rate(count_cells(a, b, outcome=points, models=4, cluster=video))
    ones = np.ones(len(a))
    weighted = rate(count_cells(a, b, outcome=points, models=4, cluster=video, weight=ones))
    assert weighted.rating == pytest.approx(plain.rating)
    assert weighted.low == pytest.approx(plain.low)


def test_a_weighted_fit_is_that_of_a_weighted_logistic_regression() -> None:
    a, b, points, weight, video = drawn(3)
    cells = count_cells(a, b, outcome=points, models=4, cluster=video, weight=weight)
    theta = rate(cells, FitMethod(likelihood="mle")).theta
    design = np.eye(4)[a] - np.eye(4)[b]
    repeated = np.rint(weight * 100).astype(int)
    found = fit_logistic(np.repeat(design[:, :3], repeated, axis=0), np.repeat(points, repeated))
    assert theta[:3] - theta[3] == pytest.approx(found, abs=5e-3)


def test_rows_and_cells_of_weighted_battles_agree() -> None:
    a, b, points, weight, video = drawn(4)
    cells = count_cells(a, b, outcome=points, models=4, cluster=video, weight=weight)
    rows = count_rows(a, b, outcome=points, models=4, cluster=video, weight=weight)
    assert to_cells(rows).counts == pytest.approx(cells.counts)
    mine = rate(rows)
    theirs = rate(cells)
    assert mine.high == pytest.approx(theirs.high)
    assert mine.fits[0].spread.least == pytest.approx(theirs.fits[0].spread.least)


def test_independent_battles_of_unequal_weight_tell_less() -> None:
    a, b, points, weight, _ = drawn(5)
    alone = np.arange(len(a))
    weighted = rate(count_cells(a, b, outcome=points, models=4, cluster=alone, weight=weight))
    plain = rate(count_cells(a, b, outcome=points, models=4, cluster=alone))
    lost = np.diag(weighted.fits[0].spread.least) / np.diag(plain.fits[0].spread.least)
    kish = len(a) * (weight**2).sum() / weight.sum() ** 2
    assert lost == pytest.approx(kish, rel=0.35)
    assert (lost > 1.0).all()


@pytest.mark.parametrize("weight", [[1.0], [1.0, 0.0], [1.0, np.nan], [1.0, -1.0]])
def test_a_weight_that_is_none_is_refused(weight: list[float]) -> None:
    with pytest.raises(ValueError, match="above zero for every battle"):
        count_cells([0, 1], [1, 0], outcome=[1, 1], models=2, cluster=[0, 1], weight=weight)


def test_weights_without_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match="need clusters"):
        count_cells([0, 1], [1, 0], outcome=[1, 1], models=2, weight=[1.0, 1.0])


def test_weighted_intervals_cover_what_battles_drawn_alike_would_come_to() -> None:
    """Of models that no line orders, so that who meets whom how often changes the fit."""
    theta = np.array([0.8, 0.2, -0.2, -0.8])
    pairs = roster_pairs(4)
    odd = np.array([0.9, -0.6, 0.0, 0.3, -0.8, 0.5])
    gaps = theta[pairs[:, 0]] - theta[pairs[:, 1]] + odd
    target = _target(expit(gaps), pairs)
    share = np.array([0.35, 0.05, 0.05, 0.05, 0.2, 0.3])
    covered = {True: 0.0, False: 0.0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        video = np.repeat(np.arange(60), 12)
        pair = rng.choice(6, size=len(video), p=share)
        mood = rng.normal(0.0, 0.3, (60, 6))
        points = (rng.random(len(video)) < expit(gaps[pair] + mood[video, pair])).astype(float)
        for reweighted in covered:
            weight = 1.0 / (6.0 * share[pair]) if reweighted else np.ones(len(pair))
            cells = count_cells(
                pairs[pair, 0], pairs[pair, 1],
                outcome=points, models=4, cluster=video, weight=weight,
            )  # fmt: skip
            found = rate(cells)
            covered[reweighted] += float(((found.low < target) & (target < found.high)).mean())
    assert covered[True] / 30 >= 0.92
    assert covered[False] / 30 <= 0.75


def _target(chance: Floats, pairs: Ints) -> Floats:
    """The ratings of endlessly many battles, every pair equally often."""
    times = np.concatenate([chance, 1.0 - chance]) * 1e6
    a = np.tile(pairs[:, 0], 2)
    b = np.tile(pairs[:, 1], 2)
    points = np.repeat([1.0, 0.0], len(pairs))
    alone = np.arange(len(a))
    cells = count_cells(a, b, outcome=points, models=4, cluster=alone, weight=times)
    return rate(cells).rating
