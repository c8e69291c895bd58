"""Half of the chance to open orders, half to all pairs alike, in whole millionths."""

from __future__ import annotations

from math import hypot, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from tests.support.tournament import fought
from videoautoarena.scoring.design.pairing import (
    WHOLE,
    count_pairs,
    measure_overlap,
    mix_weights,
    pick_weighted,
    roster_pairs,
)
from videoautoarena.scoring.fitting.counts import Cells, Ints, count_cells

units = st.floats(0, 1, exclude_max=True)
parts = st.lists(st.integers(0, 1000), min_size=1, max_size=40).filter(lambda row: sum(row) > 0)


def drawn(seed: int, models: int, battles: int, *, videos: int, ties: float = 0.1) -> Cells:
    rng = np.random.default_rng(seed)
    pairs = roster_pairs(models)
    a, b = pairs[rng.integers(0, len(pairs), battles)].T
    won = rng.random(battles) < 1 / (1 + np.exp(a - b))
    points = np.where(rng.random(battles) < ties, 0.5, won)
    video = rng.integers(0, videos, battles)
    return count_cells(a, b, outcome=points, models=models, cluster=video)


def as_weights(row: list[int]) -> Ints:
    """Any parts, stretched to the whole."""
    ends = np.cumsum(row) * WHOLE // sum(row)
    return np.diff(ends, prepend=0)


def test_a_pair_gets_half_of_its_overlap_share_and_half_of_an_equal_share() -> None:
    # 90 of 120 and 120 of 200 points: gaps of ln 3 and ln 1.5, held a little by the prior.
    overlap = measure_overlap(fought("A>B*90 B>A*30 B>C*120 C>B*80"))
    error_ab = 1 / sqrt(120 * 0.75 * 0.25)
    error_bc = 1 / sqrt(200 * 0.60 * 0.40)
    near = ndtr(-log(3) / error_ab), ndtr(-log(1.5) / error_bc)
    assert overlap[[0, 2]] == pytest.approx(near, rel=0.15)
    assert overlap[1] == pytest.approx(ndtr(-log(4.5) / hypot(error_ab, error_bc)), rel=0.15)


def test_a_weight_is_half_of_a_share_of_what_is_open_and_half_of_an_equal_share() -> None:
    cells = drawn(0, 3, 400, videos=40)
    overlap = measure_overlap(cells)
    share = (overlap / overlap.sum() + 1 / 3) / 2
    # What is open is told to a millionth before it is shared.
    assert mix_weights(cells) / WHOLE == pytest.approx(share, abs=2e-6 / overlap.sum())


def test_without_a_battle_every_pair_is_alike() -> None:
    weights = mix_weights(count_cells([], [], outcome=[], models=7, cluster=[]))
    assert np.abs(weights - WHOLE / 21).max() < 2
    assert weights.sum() == WHOLE


def test_equal_neighbours_are_drawn_more_often_than_far_ones() -> None:
    cells = fought("A>B*30 B>A*28 B>C*55 C>B*3 A>C*57 C>A*2")
    ab, ac, bc = mix_weights(cells)
    assert ab > 0.6 * WHOLE
    assert abs(ac - WHOLE / 6) < 0.01 * WHOLE
    assert abs(bc - WHOLE / 6) < 0.01 * WHOLE


def test_a_newcomer_is_open_against_everybody() -> None:
    known = fought("A>B*80 B>A*2 B>C*80 C>B*2 A>C*80 C>A")
    cells = Cells(4, known.i, known.j, known.counts)
    overlap = dict(zip(map(tuple, roster_pairs(4).tolist()), measure_overlap(cells), strict=True))
    assert [overlap[0, 3], overlap[1, 3], overlap[2, 3]] == [0.5, 0.5, 0.5]
    assert max(overlap[0, 1], overlap[0, 2], overlap[1, 2]) < 1e-6


def test_pairs_that_no_chain_of_battles_joins_are_open() -> None:
    overlap = measure_overlap(fought("A>B*80 B>A C>D*80 D>C"))
    assert overlap[[1, 2, 3, 4]].tolist() == [0.5] * 4
    assert overlap[[0, 5]].max() < 0.01


def test_a_model_that_only_won_stays_in_play() -> None:
    few, many = (measure_overlap(fought(f"A>B*{n} B>C*9 C>B*9"))[0] for n in (1, 40))
    assert 0.1 < few < 0.5
    assert 0.0 < many < 0.05


def test_where_all_tie_every_pair_is_alike() -> None:
    weights = mix_weights(fought("A=B*5 A=C*5 B=C*5"))
    assert np.abs(weights - WHOLE / 3).max() < 2


def test_one_video_is_enough_to_see_what_is_open() -> None:
    cells = fought("A>B*30@1 B>A*28@1 B>C*55@1 C>B*3@1 A>C*57@1 C>A*2@1")
    assert mix_weights(cells)[0] > 0.6 * WHOLE


def test_videos_say_nothing_about_what_is_drawn() -> None:
    cells = drawn(1, 4, 300, videos=7)
    assert (mix_weights(Cells(4, cells.i, cells.j, cells.counts)) == mix_weights(cells)).all()


def test_once_every_order_is_settled_pairs_are_alike_again() -> None:
    cells = fought("A>B*4000 B>A*400 B>C*4000 C>B*400 A>C*4000 C>A*40")
    assert np.abs(mix_weights(cells) - WHOLE / 3).max() < 2


def test_the_last_digits_of_a_count_move_no_weight() -> None:
    cells = drawn(2, 11, 2000, videos=90)
    noise = 1 + 1e-13 * np.random.default_rng(0).standard_normal(cells.counts.shape)
    off = Cells(11, cells.i, cells.j, cells.counts * noise, cells.parts)
    assert (mix_weights(off) == mix_weights(cells)).all()


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(0, 60), st.integers(1, 6))
def test_weights_sum_to_the_whole_and_keep_half_of_an_equal_share(
    seed: int, models: int, battles: int, videos: int
) -> None:
    weights = mix_weights(drawn(seed, models, battles, videos=videos, ties=0.3))
    assert weights.sum() == WHOLE
    assert weights.min() >= WHOLE // 2 // count_pairs(models)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.permutations(range(5)))
def test_a_roster_in_another_order_gives_the_same_pairs_the_same_weight(
    seed: int, order: list[int]
) -> None:
    cells = drawn(seed, 5, 60, videos=9)
    first = np.array(order)[cells.i]
    second = np.array(order)[cells.j]
    parts = cells.parts
    assert parts is not None
    a = np.repeat(first[parts.cell], 3)
    b = np.repeat(second[parts.cell], 3)
    times = parts.counts.ravel().astype(int)
    moved = count_cells(
        np.repeat(a, times), np.repeat(b, times), models=5,
        outcome=np.repeat(np.tile([0.0, 0.5, 1.0], len(parts.cell)), times),
        cluster=np.repeat(np.repeat(parts.cluster, 3), times),
    )  # fmt: skip
    i, j = np.array(order)[roster_pairs(5)].T
    low = np.minimum(i, j)
    high = np.maximum(i, j)
    row = {tuple(pair): k for k, pair in enumerate(roster_pairs(5).tolist())}
    there = [row[pair] for pair in zip(low.tolist(), high.tolist(), strict=True)]
    assert np.abs(mix_weights(moved)[there] - mix_weights(cells)).max() <= 4


def test_a_number_falls_on_the_pair_whose_width_it_is_in() -> None:
    weights = np.array([500_000, 0, 300_000, 200_000])
    picks = [pick_weighted(u, weights) for u in (0.0, 0.499999, 0.5, 0.799999, 0.8)]
    assert [pick.pair for pick in picks] == [0, 0, 2, 2, 3]
    assert [pick.propensity for pick in picks] == [0.5, 0.5, 0.3, 0.3, 0.2]


@given(units, parts)
def test_no_pair_without_weight_is_ever_picked(u: float, row: list[int]) -> None:
    weights = as_weights(row)
    pick = pick_weighted(u, weights)
    assert pick.propensity == weights[pick.pair] / WHOLE > 0


def test_the_largest_number_below_one_picks_the_last_pair() -> None:
    assert pick_weighted(float(np.nextafter(1.0, 0.0)), np.array([WHOLE - 1, 1])).pair == 1


@pytest.mark.parametrize("u", [-0.1, 1.0, float("nan")])
def test_a_number_outside_the_unit_interval_is_refused(u: float) -> None:
    with pytest.raises(ValueError, match="not in"):
        pick_weighted(u, np.array([WHOLE]))


@pytest.mark.parametrize("weights", [[], [WHOLE - 1], [WHOLE + 1, -1], [1e6], [[WHOLE]]])
def test_weights_that_are_no_share_of_the_whole_are_refused(weights: list[int]) -> None:
    with pytest.raises(ValueError, match="weights"):
        pick_weighted(0.5, weights)


def test_one_model_makes_no_pair() -> None:
    with pytest.raises(ValueError, match="at least two"):
        mix_weights(count_cells([], [], outcome=[], models=1))


def test_more_pairs_than_millionths_are_refused() -> None:
    with pytest.raises(ValueError, match="more pairs"):
        mix_weights(count_cells([], [], outcome=[], models=1002))
