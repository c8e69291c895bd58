"""When a tournament is told apart, and how often that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, stdtr

from tests.support.tournament import fought
from videoautoarena.scoring.design.pairing import mix_weights, pick_weighted, roster_pairs
from videoautoarena.scoring.design.stopping import (
    NOTHING_KNOWN,
    Separation,
    as_normal,
    bound_ratios,
    measure_separation,
)
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, count_cells
from videoautoarena.scoring.intervals.sandwich import gap_errors, measure_spread
from videoautoarena.scoring.ratings.ratings import rate

LADDER = "A>B*45 B>A*20 B>C*40 C>B*21 A>C*48 C>A*10"


def test_the_bound_is_robbins_normal_mixture_shared_by_all_neighbours() -> None:
    error = 0.1
    models = 11
    likelihood_ratio = 10 / 0.05
    width = error**2
    scale = 0.3**2
    at_bound = bound_ratios(np.array(error), models=models) ** 2
    mixed = -0.5 * log(1 + scale / width) + 0.5 * at_bound * scale / (scale + width)
    assert mixed == pytest.approx(log(likelihood_ratio))
    assert bound_ratios(np.array(0.02), models=2, wrong=0.5) == pytest.approx(
        sqrt((1 + (0.02 / 0.3) ** 2) * (log(1 + (0.3 / 0.02) ** 2) + 2 * log(2)))
    )


@given(st.floats(1e-4, 10), st.integers(2, 100))
def test_the_bound_is_wider_than_one_look_at_one_pair_would_need(error: float, models: int) -> None:
    assert bound_ratios(np.array(error), models=models) > 2.4


def test_a_pair_of_no_known_error_is_never_apart() -> None:
    assert bound_ratios(np.array(np.inf), models=3) == np.inf
    assert bound_ratios(np.array(0.0), models=3) == np.inf


def test_a_normal_score_is_as_unlikely_as_the_ratio_with_few_videos() -> None:
    assert ndtr(-as_normal(np.array(4.0), 9)) == pytest.approx(stdtr(8, -4.0))
    assert as_normal(np.array(4.0), 9) == pytest.approx(2.88, abs=0.01)
    assert as_normal(np.array([0.0, 500.0]), 100_000).tolist() == pytest.approx([0.0, 37.0])


def test_the_closest_pair_stands_beside_its_bound() -> None:
    cells = fought(LADDER)
    theta = fit_strengths(cells, likelihood="firth")
    error = gap_errors(measure_spread(cells, theta))[1, 2]
    found = measure_separation(cells)
    assert found.pair == (1, 2)
    assert found.ratio == pytest.approx((theta[1] - theta[2]) / error, rel=0.05)
    assert found.bound == bound_ratios(error, models=3)


def test_the_width_is_the_mean_of_the_intervals_of_the_table() -> None:
    cells = fought("A>B*9@1 B>A*4@2 B>C*8@1 C>B*3@2 A>C*9@3 C>A*2@3 A>B*2@3")
    table = rate(cells)
    assert measure_separation(cells).width == pytest.approx(float((table.high - table.low).mean()))


def test_more_of_the_same_battles_tell_models_apart() -> None:
    few = fought(LADDER)
    many = Cells(3, few.i, few.j, few.counts * 20)
    assert not measure_separation(few).is_separated
    assert measure_separation(many).is_separated
    assert measure_separation(many).width == pytest.approx(
        measure_separation(few).width / sqrt(20), rel=0.02
    )


def test_many_battles_about_one_video_separate_nothing() -> None:
    found = measure_separation(fought("A>B*9000@1 B>A*4000@1"))
    assert not found.is_separated
    assert found.width == np.inf


def test_equal_models_are_not_separated() -> None:
    assert measure_separation(fought("A=B*500 B=C*500 A=C*500")).ratio == 0.0


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (count_cells([], [], outcome=[], models=3), "no battle"),
        (fought(LADDER, models=4), "a model without a battle"),
        (fought("A>B*99 B>A*50 C>D*99 D>C*50"), "two components"),
    ],
)
def test_what_cannot_be_compared_is_not_separated(cells: Cells, why: str) -> None:
    assert measure_separation(cells) == NOTHING_KNOWN, why
    assert not measure_separation(cells).is_separated


def test_the_interval_of_a_model_that_never_lost_counts_as_it_is_told() -> None:
    cells = fought("A>B*99 B>C*30 C>B*20")
    table = rate(cells)
    assert measure_separation(cells).width == pytest.approx(float((table.high - table.low).mean()))


def test_a_model_that_never_lost_is_apart_when_its_equal_would_hardly_do_that() -> None:
    # Two models share the risk of one neighbour: 2 to the power of 4 is below 20, of 5 above.
    assert not measure_separation(fought("A>B*4")).is_separated
    found = measure_separation(fought("A>B*5"))
    assert found.is_separated
    assert found.pair == (0, 1)
    assert found.ratio**2 / 2 == pytest.approx(5 * log(2))
    assert found.bound**2 / 2 == pytest.approx(log(20))


def test_others_must_be_apart_beside_a_model_that_lost_everything() -> None:
    clear = "A>B*400 B>A*210"
    assert measure_separation(fought(f"{clear} A>C*9 B>C*9")).is_separated
    hazy = measure_separation(fought("A>B*21 B>A*20 A>C*9 B>C*9"))
    assert not hazy.is_separated
    assert hazy.pair == (0, 1)
    short = measure_separation(fought(f"{clear} A>C*2 B>C*2"))
    assert not short.is_separated
    assert short.pair == (1, 2)


def test_groups_that_never_lost_a_point_to_each_other_are_not_separated() -> None:
    found = measure_separation(fought("A>B*9 B>A*2 C>D*9 D>C*2 A>C*99 B>D*99"))
    assert found._replace(width=np.inf) == NOTHING_KNOWN


@pytest.mark.slow
def test_a_model_as_good_as_its_neighbour_hardly_ever_ends_below_it() -> None:
    def is_stopped(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        rows = np.empty((4, 0))
        for wave in range(12):
            a, b = roster_pairs(3)[rng.integers(0, 3, 20)].T
            video = np.repeat(np.arange(5), 4)
            quirk = rng.normal(0, 0.5, (5, 3))
            gap = 6.0 * ((a == 0) - 1.0 * (b == 0)) + quirk[video, a] - quirk[video, b]
            won = rng.random(20) < 1 / (1 + np.exp(-gap))
            rows = np.hstack([rows, [a, b, won, 5 * wave + video]])
            cells = count_cells(rows[0], rows[1], outcome=rows[2], models=3, cluster=rows[3])
            if measure_separation(cells).is_separated:
                return True
        return False

    assert sum(map(is_stopped, range(60))) <= 7  # eight and more of 60 come less than 1 in 100


@pytest.mark.parametrize("wrong", [0.0, 1.0, float("nan")])
def test_a_share_of_wrong_orders_outside_the_unit_interval_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="not between"):
        measure_separation(fought(LADDER), wrong=wrong)


Look = tuple[Separation, bool]
"""What is seen at one look, and whether the order is right."""


def play(seed: int, *, apart: float, models: int, waves: int) -> Iterator[Look]:
    """A tournament looked at after every wave of 60 battles about twenty new videos.

    Videos suit some models better; pairs are drawn by `mix`.
    """
    rng = np.random.default_rng(seed)
    pairs = roster_pairs(models)
    strength = -apart * np.arange(models)
    rows = np.empty((4, 0))
    cells = count_cells([], [], outcome=[], models=models, cluster=[])
    for wave in range(waves):
        weights = mix_weights(cells)
        a, b = pairs[[pick_weighted(rng.random(), weights).pair for _ in range(60)]].T
        video = np.repeat(np.arange(20), 3)
        quirk = rng.normal(0, 0.5, (20, models))
        gap = strength[a] - strength[b] + quirk[video, a] - quirk[video, b]
        won = rng.random(60) < 1 / (1 + np.exp(-gap))
        points = np.where(rng.random(60) < 0.07, 0.5, won)
        rows = np.hstack([rows, [a, b, points, 20 * wave + video]])
        cells = count_cells(rows[0], rows[1], outcome=rows[2], models=models, cluster=rows[3])
        theta = fit_strengths(cells, likelihood="firth")
        yield measure_separation(cells), bool((np.diff(theta) < 0).all())


def stop(looks: Iterable[Look]) -> bool | None:
    """Whether the order was right when it was told apart; None if it was not."""
    return next((right for seen, right in looks if seen.is_separated), None)


def test_orders_that_are_told_apart_are_right() -> None:
    ends = [stop(play(seed, apart=0.5, models=3, waves=25)) for seed in range(8)]
    assert ends.count(True) >= 6
    assert ends.count(False) <= 2  # three and more of 8 come less than once in a hundred


@pytest.mark.slow
def test_equal_models_are_told_apart_one_time_in_twenty_however_often_one_looks() -> None:
    runs = [list(play(seed, apart=0.0, models=2, waves=14)) for seed in range(60)]
    crossed = [stop(run) for run in runs]
    assert crossed.count(None) >= 52  # nine and more of 60 come less than once in a hundred
    assert sum(any(seen.ratio > 1.96 for seen, _ in run) for run in runs) >= 9
