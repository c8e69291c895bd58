"""How sure a strength is: by hand first, then coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.coverage import TIES, cover, held_by, true_ratings
from tests.support.tournament import fought, standard_errors
from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.counts import Floats, count_cells
from videoautoarena.scoring.intervals.sandwich import (
    chance_better,
    gap_errors,
    half_widths,
    hold_up,
    measure_spread,
    place_errors,
    sum_outer,
)
from videoautoarena.scoring.ratings.ratings import rate


def errors(text: str) -> Floats:
    cells = fought(text)
    return standard_errors(cells, fit_strengths(cells))


def test_a_hundred_even_battles_give_each_side_a_tenth_of_a_nat() -> None:
    # The gap has variance 1 / (100 / 4); each side stands half of it from the mean.
    small_sample = np.sqrt(100 / 99)
    assert errors("A>B*50 B>A*50") == pytest.approx([0.1 * small_sample] * 2)


def test_battles_that_agree_within_a_video_are_worth_one() -> None:
    # Each of 4 videos sums to a score of +-12.5; information is 25 a nat: 4 * 12.5^2 / 25^2 / 4.
    text = "A>B*25@1 B>A*25@2 A>B*25@3 B>A*25@4"
    assert errors(text) == pytest.approx([0.5 * np.sqrt(4 / 3)] * 2)


def test_telling_a_video_again_in_the_same_video_makes_nobody_surer() -> None:
    once = "A>B*9@1 B>A*8@2 A>B*7@3 B>A*9@4"
    assert errors(f"{once} {once}") == pytest.approx(errors(once), rel=1e-9)


def test_telling_independent_battles_four_times_halves_the_error() -> None:
    small_sample = np.sqrt((40 / 39) / (10 / 9))
    assert errors("A>B*24 B>A*16") == pytest.approx(errors("A>B*6 B>A*4") / 2 * small_sample)


def test_the_error_of_independent_battles_is_that_of_one_cluster_a_battle() -> None:
    rng = np.random.default_rng(3)
    a, b = roster_pairs(4)[rng.integers(0, 6, 200)].T
    y = rng.choice([0.0, 0.5, 1.0], 200)
    loose = count_cells(a, b, outcome=y, models=4)
    tight = count_cells(a, b, outcome=y, models=4, cluster=np.arange(200))
    theta = fit_strengths(loose)
    assert standard_errors(loose, theta) == pytest.approx(standard_errors(tight, theta))


def test_all_ties_are_no_certainty() -> None:
    assert errors("A=B*12").min() > 0.05
    assert errors("A=B*4@1 B=C*4@2 A=C*4@3").min() > 0.05


def test_a_model_seen_in_one_video_is_not_sure_of_its_place() -> None:
    # Its scores sum to zero in that one video, which a bare sandwich takes for certainty.
    text = "A>B*6@1 B>A*6@2 A>B*6@3 B>A*6@4 A>C*5@1 C>A*5@1 B>C*5@1 C>B*5@1"
    assert errors(text)[2] > 0.15


def test_one_video_tells_nothing_of_another() -> None:
    assert np.isinf(errors("A>B*50@1 B>A*40@1")).all()
    assert np.isinf(half_widths(np.array([0.1]), 1)).all()


def test_ten_videos_take_students_t_with_nine_degrees() -> None:
    assert half_widths(np.array([1.0]), 10) == pytest.approx([2.2622], abs=1e-4)
    assert half_widths(np.array([1.0]), 10, level=0.5) == pytest.approx([0.7027], abs=1e-4)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, float("nan")])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        half_widths(np.array([1.0]), 10, level=level)


def test_the_error_of_a_gap_between_two_is_twice_that_from_their_mean() -> None:
    cells = fought("A>B*50 B>A*50")
    spread = measure_spread(cells, fit_strengths(cells))
    assert gap_errors(spread)[0, 1] == pytest.approx(2 * place_errors(spread)[0])
    assert gap_errors(spread)[0, 0] == 0


def test_who_is_better_is_even_odds_of_equals_and_sure_of_itself_nowhere() -> None:
    cells = fought("A>B*50 B>A*50")
    theta = fit_strengths(cells)
    assert chance_better(theta, measure_spread(cells, theta)) == pytest.approx(np.full((2, 2), 0.5))


def test_where_the_interval_of_a_gap_ends_at_zero_the_chance_is_a_fortieth_short() -> None:
    cells = fought("A>B*55 B>A*45")
    theta = fit_strengths(cells)
    spread = measure_spread(cells, theta)
    end = half_widths(gap_errors(spread)[:1, 1], 100)[0]
    chance = chance_better(np.array([end, 0.0]), spread)
    assert chance[0, 1] == pytest.approx(0.975)
    assert chance[1, 0] == pytest.approx(0.025)


def test_one_video_makes_nobody_better() -> None:
    cells = fought("A>B*50@1 B>A*10@1")
    theta = fit_strengths(cells)
    spread = measure_spread(cells, theta)
    assert np.isinf(gap_errors(spread)).all()
    assert chance_better(theta, spread).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_a_gap_to_an_unbeaten_model_is_as_unsure_as_its_prior() -> None:
    cells = fought("A>B*50 A>C*50 B>C*30 C>B*20")
    theta = fit_strengths(cells, likelihood="firth")
    one_sided = np.array([True, False, False])
    spread = measure_spread(cells, theta, one_sided=one_sided)
    bare = measure_spread(cells, theta)
    assert gap_errors(spread)[0, 1] > gap_errors(bare)[0, 1]
    assert gap_errors(spread)[1, 2] == pytest.approx(gap_errors(bare)[1, 2], rel=1e-12)


@pytest.mark.parametrize("columns", [3, 400])
def test_scores_sum_to_the_same_whether_they_stand_close_or_far_apart(columns: int) -> None:
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 50, 300)
    column = rng.integers(0, columns, 300)
    value = rng.normal(size=300)
    scores = np.zeros((50, columns))
    np.add.at(scores, (cluster, column), value)
    summed = sum_outer(cluster, [(column, value)], shape=scores.shape)
    assert summed == pytest.approx(scores.T @ scores)


def coverage(runs: int, *, videos: int, battles: int, tau: float) -> float:
    """Share of the intervals that hold the truth.

    Five models, `battles` a video, and for each model and video an offset of sd `tau` nats.
    """
    strength = np.linspace(1, -1, 5)
    pairs = roster_pairs(5)
    truth = true_ratings(strength, tau)
    video = np.repeat(np.arange(videos), battles)
    held = 0.0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        offset = rng.normal(0, tau, (videos, 5))
        a, b = pairs[rng.integers(0, len(pairs), len(video))].T
        chance = expit(strength[a] - strength[b] + offset[video, a] - offset[video, b])
        won = (rng.random(len(video)) < chance).astype(float)
        y = np.where(rng.random(len(video)) < TIES, 0.5, won)
        table = rate(count_cells(a, b, outcome=y, models=5, cluster=video))
        held += float(np.mean(held_by(table, truth)))
    return held / runs


@pytest.mark.slow
@pytest.mark.parametrize(("videos", "battles"), [(9, 9), (12, 40)])
def test_clustered_intervals_hold_over_three_hundred_runs(videos: int, battles: int) -> None:
    assert 0.93 <= coverage(300, videos=videos, battles=battles, tau=1.0) <= 0.99


def test_with_eight_videos_intervals_are_neither_too_narrow_nor_too_wide() -> None:
    found = cover(8, 1.0, sets=20, kinds=("clustered", "naive"))
    assert 0.92 <= found["clustered"].share <= 0.975
    assert found["naive"].share < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("videos", [8, 30, 1000])
@pytest.mark.parametrize("tau", [0.0, 1.0])
def test_clustered_intervals_hold_whatever_the_videos_and_their_quirks(
    videos: int, tau: float
) -> None:
    found = cover(videos, tau, sets=100, kinds=("clustered",))["clustered"]
    assert 0.93 - found.error <= found.share <= 0.97 + found.error


def test_a_sandwich_is_let_below_independent_battles_only_where_it_can_be_trusted() -> None:
    least = np.ones(5)
    half = np.full(5, 0.5)
    seen = np.array([30, 30, 7, 14, 30])
    robust = np.where(np.arange(5) == 1, 0.2, half)
    # Trusted; too small to be chance; seven clusters; less than half of them; trusted when larger.
    assert hold_up(robust, least, seen=seen, clusters=30).tolist() == [0.5, 1, 1, 1, 0.5]
    assert hold_up(np.array([2.0]), np.ones(1), seen=np.array([2]), clusters=30).tolist() == [2]
