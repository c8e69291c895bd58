"""Clusters of unequal size: the jackknife behind them, and how many equal ones they are."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import cover_unequal
from tests.support.battles import draw_battles
from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths, information, pin_mean
from videoautoarena.scoring.fitting.counts import Cells, count_cells
from videoautoarena.scoring.intervals.sandwich import (
    effective_number,
    is_felt,
    measure_spread,
    without_pull,
)
from videoautoarena.scoring.ratings.ratings import rate


def test_equal_clusters_are_as_many_as_there_are() -> None:
    for clusters in (3, 8, 30):
        assert effective_number(np.full(clusters, 0.4)) == pytest.approx(clusters)


def test_one_cluster_that_holds_nearly_all_leaves_two() -> None:
    assert effective_number(np.array([1.0, 1e-9, 1e-9, 1e-9])) == pytest.approx(2, abs=1e-6)


def test_three_large_clusters_among_many_small_ones_are_little_more_than_three() -> None:
    assert 3 < effective_number(np.append(np.full(3, 1.0), np.full(40, 0.01))) < 4.2


def test_nothing_to_go_by_leaves_the_clusters_as_they_are() -> None:
    assert effective_number(np.zeros(7)) == 7
    assert effective_number(np.array([0.3, 0.1])) == 2
    assert not is_felt(np.empty(0))


def unequal(seed: int) -> Cells:
    a, b, y = draw_battles(seed, 4, battles=400)
    rng = np.random.default_rng(seed)
    video = rng.choice(6, len(a), p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    return count_cells(a, b, outcome=y, models=4, cluster=video)


@pytest.mark.parametrize("seed", range(3))
def test_the_sandwich_is_the_jackknife_of_one_newton_step(seed: int) -> None:
    cells = unequal(seed)
    theta = fit_strengths(cells)
    assert cells.parts is not None
    whole = pin_mean(information(cells, theta))
    moved = []
    for video in range(cells.clusters):
        counts = cells.counts.copy()
        mine = cells.parts.cluster == video
        np.add.at(counts, cells.parts.cell[mine], -cells.parts.counts[mine])
        left = Cells(4, cells.i, cells.j, counts)
        chance = 1 / (1 + np.exp(theta[cells.j] - theta[cells.i]))
        missing = left.points - left.battles * chance
        gradient = np.bincount(cells.i, missing, 4) - np.bincount(cells.j, missing, 4)
        pinned = information(left, theta) + np.trace(whole) / 16
        moved.append(np.linalg.solve(pinned, gradient))
    spread = measure_spread(cells, theta)
    steps = np.array(moved) - (np.array(moved) @ spread.zero)[:, None]
    jackknife = steps.T @ steps * (cells.clusters - 1) / cells.clusters
    assert spread.robust == pytest.approx(jackknife, rel=1e-6)


def test_a_cluster_that_alone_knows_a_direction_keeps_a_finite_score() -> None:
    scores = np.array([[1.0], [0.0]])
    bread = np.eye(1)
    whole = without_pull(scores, bread, lambda along: along * [[1.0], [0.0]])
    assert np.isfinite(whole).all()


def test_intervals_know_how_unequal_videos_are() -> None:
    cells = unequal(1)
    spread = rate(cells).fits[0].spread
    assert spread.clusters == 6
    assert 2 < spread.effective < 4.5


def test_videos_of_very_unequal_size_leave_intervals_that_hold() -> None:
    # Scaled by G / (G - 1), with G - 1 degrees, they held 0.90.
    found = cover_unequal(8, 45, 1.0, sets=40)
    assert found.share >= 0.94 - found.error
    assert found.width < 4 * SCALE


@pytest.mark.slow
@pytest.mark.parametrize(("videos", "each"), [(8, 45), (12, 45), (30, 45)])
def test_intervals_of_unequal_videos_hold_over_many_runs(videos: int, each: int) -> None:
    assert cover_unequal(videos, each, 1.0, sets=150).share >= 0.935
