"""The cheapest setting that is shown to be nearly as good as the best."""

from __future__ import annotations

import numpy as np
import pytest

from videoautoarena.scoring.questions.scores import choose_cheapest
from videoautoarena.scoring.ratings.differences import measure_lead

RNG = np.random.default_rng(4)
BEST = (RNG.random(2000) < 0.8).astype(float)
"""What the dearest setting gets right."""


def losing(share: float) -> np.ndarray:
    """Return the results of a setting that misses such a share of what the best gets right."""
    return np.where(np.random.default_rng(5).random(2000) < share, 0.0, BEST)


def test_the_cheapest_of_those_within_the_margin_is_chosen() -> None:
    results = [losing(0.3), losing(0.005), losing(0.002), BEST]
    found = choose_cheapest(results, [1, 2, 3, 4])
    assert (found.best, found.cheapest) == (3, 1)
    for row, lead in zip(results[:3], found.leads, strict=False):
        assert lead == measure_lead(row, BEST)
    assert found.leads[3][:4] == (0.0, 0.0, 0.0, 2000)


def test_what_may_lie_further_behind_is_not_chosen_however_close_it_looks() -> None:
    few = [losing(0.01)[:60], BEST[:60]]
    many = [losing(0.01), BEST]
    assert choose_cheapest(few, [1, 2]).cheapest == 1
    assert choose_cheapest(many, [1, 2]).cheapest == 0
    assert choose_cheapest(many, [1, 2], margin=0.002).cheapest == 1


def test_items_of_one_video_are_not_independent() -> None:
    video = np.arange(2000) // 100
    lost = np.where(video == 3, 0.0, BEST)
    lost[300:360] = BEST[300:360]
    assert choose_cheapest([lost, BEST], [1, 2], margin=0.04).cheapest == 0
    assert choose_cheapest([lost, BEST], [1, 2], video, margin=0.04).cheapest == 1


def test_of_equally_good_ones_the_cheapest_is_the_best() -> None:
    assert choose_cheapest([BEST, BEST, BEST], [3, 1, 2])[:2] == (1, 1)
    assert choose_cheapest([[1.0], [0.0]], [5, 1])[:2] == (0, 0)


def test_the_order_of_settings_changes_nothing() -> None:
    results = np.array([losing(0.3), losing(0.005), BEST])
    costs = np.array([1, 2, 4])
    turn = [2, 0, 1]
    found = choose_cheapest(results[turn], costs[turn])
    assert (turn[found.best], turn[found.cheapest]) == (2, 1)


@pytest.mark.parametrize(
    ("results", "costs", "margin"),
    [([], [], 0.02), ([[1.0]], [1, 2], 0.02), ([[1.0]], [np.nan], 0.02), ([[1.0]], [1], 0.0),
     ([1.0], [1], 0.02)],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(
    results: list[list[float]], costs: list[float], margin: float
) -> None:
    with pytest.raises(ValueError, match="must"):
        choose_cheapest(results, costs, margin=margin)
