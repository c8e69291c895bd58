"""Tables that papers print, and what the arena makes of the same numbers.

Where a paper prints a table but not what a figure of it was computed from, the test says so.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from tests.support.published import (
    ARENA_ORDER,
    BENCH_CLAUDE,
    BENCH_GPT,
    VIDEO_ARENA,
    VIDEO_ARENA_BY_DURATION,
)
from videoautoarena.scoring.agreement.rank_agreement import (
    RankedBoard,
    compare_boards,
    correlate_orders,
    correlate_ranks,
)
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Floats, count_cells, tally

ELO, WINS, BENCH = np.array(list(VIDEO_ARENA.values())).T
EVERYBODY = list(BENCH_GPT)


def board(table: dict[str, tuple[float, float, float]]) -> RankedBoard:
    return RankedBoard(*np.array([table[name] for name in EVERYBODY]).T)


def against_arena(table: dict[str, tuple[float, float, float]]) -> tuple[Floats, Floats]:
    """Scores of the models whose exact version stands in both, and places with the sign of one."""
    scores = np.array([table[name][0] for name in ARENA_ORDER])
    return scores, -np.array(list(ARENA_ORDER.values()), dtype=np.float64)


def test_video_arena_publishes_ratings_about_a_mean_of_1000() -> None:
    assert sum(ELO) == pytest.approx(11000, abs=1e-6)
    for bucket in np.array(list(VIDEO_ARENA_BY_DURATION.values())).T:
        assert sum(bucket) == pytest.approx(11000, abs=0.011)


def test_win_rates_average_to_half_of_what_does_not_tie() -> None:
    # Of 12,479 battles 918 tied, 7.36 %; the mean over pairs that the table tells is 7.26 %.
    assert np.mean(WINS) == pytest.approx(46.37, abs=0.005)
    assert 1 - 2 * np.mean(WINS) / 100 == pytest.approx(0.0726, abs=5e-5)


def test_so_do_ours_however_unevenly_pairs_met() -> None:
    rng = np.random.default_rng(11)
    a, b = np.triu_indices(11, 1)
    times = rng.integers(1, 300, len(a))
    a = np.repeat(a, times)
    b = np.repeat(b, times)
    cells = count_cells(a, b, outcome=rng.choice([0, 0.5, 1], len(a)), models=11)
    ties = (cells.counts[:, 1] / cells.battles).mean()
    assert tally(cells).win_rate.mean() == pytest.approx((1 - ties) / 2)


def test_published_ratings_and_win_rates_are_of_one_model() -> None:
    # Ties give half a win in a rating and none in a win rate, so their half is taken off. What is
    # left, at most 1.9 points, is that pairs do not follow the model exactly and do not tie alike.
    chances = expit((ELO[:, None] - ELO[None, :]) / SCALE)
    expected = 100 * (chances.sum(axis=1) - 0.5) / 10 - 7.26 / 2
    assert expected == pytest.approx(WINS, abs=1.9)
    assert np.abs(expected - WINS).mean() < 0.7


def test_video_arena_orders_as_its_win_rates_and_nearly_as_its_bench() -> None:
    assert correlate_ranks(ELO, WINS).value == 1
    found = correlate_ranks(ELO, BENCH)
    assert found.value == pytest.approx(0.9909, abs=5e-5)
    assert [found.low, found.high] == pytest.approx([0.952, 0.998], abs=5e-4)
    # One neighbouring pair of 55 changes places, 1.9 points apart in the arena.
    assert correlate_orders(ELO, BENCH).value == pytest.approx(1 - 2 / 55)


def test_the_two_vision_arena_bench_tables_agree() -> None:
    # The same judge and prompts under two baselines; the paper gives no figure for these two.
    found = compare_boards(board(BENCH_GPT), board(BENCH_CLAUDE))
    assert found.spearman.value == pytest.approx(0.9912, abs=5e-5)
    assert found.kendall.value == pytest.approx(0.95)
    assert found.pearson.value == pytest.approx(0.9542, abs=5e-5)
    assert found.apart.first == pytest.approx(114 / 120)
    assert found.apart.second == pytest.approx(112 / 120)
    assert (found.apart.both, found.apart.agree) == (109, pytest.approx(108 / 109))
    assert found.apart.balance == pytest.approx(107 / 120)
    assert found.brier.value == pytest.approx(0.0190, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "spearman", "kendall"),
    [(BENCH_GPT, 0.9545, 0.8545), (BENCH_CLAUDE, 0.9727, 0.8909)],
)
def test_against_the_live_arena_what_the_paper_says_is_within_the_interval(
    table: dict[str, tuple[float, float, float]], spearman: float, kendall: float
) -> None:
    # The paper: 97.3 % and 89.7 % over 16 models, whose live ratings it does not print. Its figure
    # of places has eleven of them in the same version, from its own votes.
    scores, places = against_arena(table)
    ranks = correlate_ranks(scores, places)
    orders = correlate_orders(scores, places)
    assert ranks.value == pytest.approx(spearman, abs=5e-5)
    assert orders.value == pytest.approx(kendall, abs=5e-5)
    assert ranks.low < 0.973 < ranks.high
    assert orders.low < 0.897 < orders.high


def test_no_order_of_sixteen_models_without_ties_has_the_papers_kendall() -> None:
    # So its live board let models share places, as that board's ranks by interval do.
    values = {round(1 - 2 * turned / 120, 3) for turned in range(121)}
    assert {0.883, 0.9} <= values
    assert 0.897 not in values
