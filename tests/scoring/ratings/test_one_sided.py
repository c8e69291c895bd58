"""What models that lost or won everything do to the others: coverage, error, changes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.one_sided import (
    CHAINS,
    PARROTS,
    SCHEDULES,
    cover_chain,
    cover_parrot,
    cover_schedule,
    early_error,
    newcomer_moves,
    play_chain,
    watch,
)
from tests.support.tournament import fought
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.separation import find_one_sided, find_open
from videoautoarena.scoring.ratings.differences import measure_gaps
from videoautoarena.scoring.ratings.ratings import FitMethod, NoFiniteStrength, rate

SLOW = pytest.mark.slow
PHANTOM_RMS = {30: 1.458, 60: 0.989, 108: 0.700, 300: 0.380}
"""Nats that fits with half a phantom battle a model were off in the same early runs."""


def test_a_newcomer_at_the_end_of_a_chain_moves_no_gap_and_the_truth_is_held() -> None:
    models, each = CHAINS[-1]
    plain, joined = (
        cover_chain(models, each, newcomer=newcomer, sets=30) for newcomer in (False, True)
    )
    assert joined.mean == pytest.approx(plain.mean, abs=1e-6)
    error = SCALE * np.sqrt((models - 1) * 4.5 / each / 30)
    assert joined.mean == pytest.approx(SCALE * (models - 1) * np.log(2), abs=3 * error)
    assert joined.share == plain.share >= 0.83  # 0.95 less three errors of 30 chains


@pytest.mark.slow
@pytest.mark.parametrize(("models", "each"), CHAINS)
def test_chains_hold_the_truth_over_a_hundred_and_fifty_runs(models: int, each: int) -> None:
    found = cover_chain(models, each, newcomer=True, sets=150)
    assert found.share >= 0.897  # 0.95 less three errors of 150 chains
    error = SCALE * np.sqrt((models - 1) * 4.5 / each / 150)
    assert found.mean == pytest.approx(SCALE * (models - 1) * np.log(2), abs=3 * error)


@pytest.mark.parametrize(
    ("games", "sets"), [(8, 1), *(pytest.param(games, 3, marks=SLOW) for games in SCHEDULES)]
)
def test_sparse_seasons_with_one_sided_teams_hold_gaps_of_all_lengths(
    games: int, sets: int
) -> None:
    # Phantom battles held 0.838 to 0.862 of all gaps, and 0.62 to 0.75 of those above 600 points.
    shares, one_sided = cover_schedule(games, sets=sets)
    assert one_sided >= 12
    assert min(shares) >= 0.93


@pytest.mark.parametrize(
    ("battles", "sets"),
    [(30, 50), *(pytest.param(battles, 150, marks=SLOW) for battles in PHANTOM_RMS)],
)
def test_early_runs_with_a_parrot_are_nearer_the_truth_than_with_phantom_battles(
    battles: int, sets: int
) -> None:
    found = early_error(battles, sets=sets)
    assert found.rms < PHANTOM_RMS[battles]
    assert 0.93 <= found.held <= 0.995


def test_ratings_in_a_field_with_a_parrot_hold() -> None:
    others, parrot = cover_parrot(12, 9, sets=60)
    assert 0.93 <= (6 * others + parrot) / 7 <= 0.98
    assert parrot >= 0.866  # 0.95 less three errors of 60 runs


@pytest.mark.slow
@pytest.mark.parametrize(("videos", "each"), PARROTS)
def test_ratings_in_a_field_with_a_parrot_hold_over_two_hundred_runs(
    videos: int, each: int
) -> None:
    others, parrot = cover_parrot(videos, each, sets=200)
    assert 0.93 <= (6 * others + parrot) / 7 <= 0.97
    assert others >= 0.935
    assert parrot >= 0.90


def test_a_newcomer_that_loses_everything_hardly_moves_the_others() -> None:
    once, thrice, often = (
        newcomer_moves(opponents, fields=25, each=40)
        for opponents in (lambda _: 1, lambda n: min(n, 3), lambda n: n)
    )
    assert once.max() < 1e-5
    assert thrice.max() < 5
    assert np.quantile(often, 0.95) < 5


def test_one_row_leaves_every_interval_of_the_others_as_it_is() -> None:
    plain, joined = (rate(play_chain(12, 24, newcomer=newcomer, seed=1)) for newcomer in (0, 1))
    assert joined.one_sided.tolist() == [False] * 12 + [True]
    gaps = [table.rating[:12] - table.rating[0] for table in (joined, plain)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-5)
    # The newcomer counts in the zero of the scale as much as its one battle tells.
    assert joined.rating[:12] == pytest.approx(plain.rating, abs=2)
    assert (joined.high - joined.low)[:12] == pytest.approx(plain.high - plain.low, rel=0.02)
    assert np.argsort(joined.place[:12]).tolist() == np.argsort(plain.place).tolist()


def test_a_model_that_lost_everything_counts_little_in_the_mean_of_a_thousand() -> None:
    table = rate(fought("A>B*9 B>A*3 B>C*5 C>B*4 A>D*60 B>D*60"))
    assert table.one_sided.tolist() == [False, False, False, True]
    zero = table.fits[0].spread.zero
    assert zero @ table.rating == pytest.approx(1000)
    assert zero[3] < 0.1
    assert table.rating[3] < table.rating[:3].min()


def test_the_first_win_of_a_parrot_moves_the_others_by_little() -> None:
    text = "A>B*30@1 B>A*20@2 B>C*30@3 C>B*25@4 A>C*30@5 C>A*12@6 A>D*40@7 B>D*40@8 C>D*40@9"
    before = rate(fought(text))
    after = rate(fought(text + " D>C@9"))
    assert before.one_sided[3]
    assert not after.one_sided.any()
    # The mean of models that are not one-sided moved by 150 points here.
    assert after.rating[:2] == pytest.approx(before.rating[:2], abs=12)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in (1, 2))])
def test_no_battle_moves_a_rating_of_another_by_as_much_as_it_is_known(seed: int) -> None:
    _, share = watch(seed, each=3)
    assert share < 1.0


def test_a_strength_is_open_to_the_side_where_no_point_bounds_it() -> None:
    cells = fought("A>B*3 B>A C>A*2 C>B B>D*4 E>F F>D")
    one_sided = find_one_sided(cells)
    assert one_sided.tolist() == [False, False, True, True, True, True]
    # D only lost; C and E only won; F won one and lost one, to others who are as open.
    # A took three points of the five that bound a strength, and gave three; B gave four.
    assert find_open(cells, one_sided).below == pytest.approx([0.4, 0, 0, 1, 0, 1])
    assert find_open(cells, one_sided).above == pytest.approx([0.4, 0.2, 1, 0, 1, 1])


def test_an_interval_reaches_further_to_the_open_side() -> None:
    table = rate(fought("A>B*9 B>A*6 B>C*5 C>B*5 A>D*6 B>D*6"))
    down = table.rating - table.low
    up = table.high - table.rating
    assert down[:3] == pytest.approx(up[:3])
    # What a profile of half the strength, less the points it would make, comes to: (z^2 + 1) nats.
    assert down[3] / up[3] == pytest.approx((1.959964**2 + 1) / (1.959964 * 2**0.5), rel=1e-4)


def test_the_first_points_of_a_parrot_close_its_open_side_little_by_little() -> None:
    field = "A>B*30 B>A*20 B>C*30 C>B*25 A>C*30 C>A*12 A>D*60 B>D*60 C>D*60"
    reach = []
    for wins in range(1, 7):
        table = rate(fought(f"{field} D>C*{wins}"))
        reach.append((table.rating - table.low)[3] / (table.high - table.rating)[3])
    assert reach == sorted(reach, reverse=True)
    assert reach[0] == pytest.approx(1 + 0.8 * 0.7473, abs=0.01)
    assert reach[-1] == pytest.approx(1)


def test_plain_maximum_likelihood_names_who_has_no_finite_strength() -> None:
    with pytest.raises(NoFiniteStrength) as refused:
        rate(fought("A>B*9 B>A*3 C=D A>E*2 B>F"), FitMethod(likelihood="mle"))
    assert refused.value.models.tolist() == [4, 5]


def test_of_games_against_an_anchor_one_sided_models_alone_are_bias_reduced() -> None:
    # Shares of points are 3 of 4 and 1 of 3; C won all five, which half a game more makes 5.5 of 6.
    gaps = measure_gaps(fought("A>D*3 D>A B>D D>B*2 C>D*5"), 3)
    assert gaps.gap == pytest.approx(np.log([3, 1 / 2, 5.5 / 0.5, 1]))
    assert gaps.one_sided.tolist() == [False, False, True, False]
    assert (gaps.low < gaps.gap)[:3].all()
    assert (gaps.gap < gaps.high)[:3].all()
