"""Strengths: worked examples, other people's programs, properties, and what has no answer."""

from __future__ import annotations

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.support.battles import draw_battles, fit_logistic
from tests.support.tournament import fought
from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths, to_ratings
from videoautoarena.scoring.fitting.counts import Cells, Floats, count_cells, select_models
from videoautoarena.scoring.fitting.newton import Likelihood
from videoautoarena.scoring.fitting.separation import find_components

PAPER_ELO = np.array(
    [1505.69, 1323.25, 1187.01, 1149.52, 1119.99, 886.52, 875.56, 836.62, 765.61, 763.71, 586.52]
)
PAPER_WIN_PERCENT = np.array(
    [89.19, 76.90, 65.11, 62.07, 59.54, 35.61, 34.90, 30.25, 23.52, 23.11, 9.86]
)


def test_three_wins_in_four_are_a_gap_of_ln_3() -> None:
    strengths = fit_strengths(fought("A>B*3 B>A"))
    assert strengths[0] - strengths[1] == pytest.approx(np.log(3))


def test_two_ties_weigh_as_a_win_and_a_loss() -> None:
    assert fit_strengths(fought("A>B*2 A=B*2")) == pytest.approx(fit_strengths(fought("A>B*3 B>A")))


def test_ten_to_one_is_four_hundred_points_about_a_mean_of_a_thousand() -> None:
    assert to_ratings(fit_strengths(fought("A>B*10 B>A"))) == pytest.approx([1200, 800])


def test_a_ladder_of_two_to_one_has_equal_rungs() -> None:
    strengths = fit_strengths(fought("A>B*2 B>A B>C*2 C>B"))
    assert strengths == pytest.approx([np.log(2), 0, -np.log(2)])


def test_the_two_seats_of_the_paper_are_nine_points_apart() -> None:
    first = 5620
    second = 5941
    ties = 918
    assert first + second + ties == 12479
    ratings = to_ratings(fit_strengths(fought(f"A>B*{first} B>A*{second} A=B*{ties}")))
    assert ratings[1] - ratings[0] == pytest.approx(SCALE * np.log(6400 / 6079))
    assert ratings[1] - ratings[0] == pytest.approx(8.94, abs=0.01)


def test_shares_made_of_the_papers_ratings_give_them_back() -> None:
    i, j = roster_pairs(11).T
    share = 1 / (1 + 10 ** ((PAPER_ELO[j] - PAPER_ELO[i]) / 400))
    cells = Cells(11, i, j, np.stack([1 - share, 0 * share, share], axis=1))
    assert to_ratings(fit_strengths(cells)) == pytest.approx(PAPER_ELO, abs=1e-6)


def test_the_papers_win_percent_is_its_expected_score_less_half_the_ties() -> None:
    share = 1 / (1 + 10 ** ((PAPER_ELO[None] - PAPER_ELO[:, None]) / 400))
    expected = 100 * (share.sum(axis=1) - 0.5) / 10
    assert (expected - PAPER_WIN_PERCENT).mean() == pytest.approx(100 * 918 / 12479 / 2, abs=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_evalica_finds_the_same_ratings(seed: int) -> None:
    a, b, y = draw_battles(seed, 9, battles=900)
    name = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    theirs = evalica.bradley_terry(
        a.astype(str).tolist(), b.astype(str).tolist(), [name[v] for v in y], tolerance=1e-12
    )
    scores = np.array([theirs.scores[str(k)] for k in range(9)])
    ours = to_ratings(fit_strengths(count_cells(a, b, outcome=y, models=9)))
    assert ours == pytest.approx(to_ratings(np.log(scores)), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_choix_finds_the_same_ratings(seed: int) -> None:
    a, b, y = draw_battles(seed, 9, battles=900)
    wins = np.zeros((9, 9))
    np.add.at(wins, (a, b), y)
    np.add.at(wins, (b, a), 1 - y)
    ours = to_ratings(fit_strengths(count_cells(a, b, outcome=y, models=9)))
    assert ours == pytest.approx(to_ratings(choix.ilsr_pairwise_dense(wins, tol=1e-12)), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_scikit_learn_finds_the_same_ratings(seed: int) -> None:
    a, b, y = draw_battles(seed, 9, battles=900)
    sides = np.zeros((len(a), 9))
    sides[np.arange(len(a)), a], sides[np.arange(len(a)), b] = 1, -1
    theirs = fit_logistic(sides[:, 1:], y)
    ours = to_ratings(fit_strengths(count_cells(a, b, outcome=y, models=9)))
    assert ours == pytest.approx(to_ratings(np.concatenate([[0], theirs])), abs=1e-4)


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_renaming_the_models_renames_the_strengths(seed: int) -> None:
    a, b, y = draw_battles(seed, 5, battles=30)
    order = np.random.default_rng(seed).permutation(5)
    plain = fit_strengths(count_cells(a, b, outcome=y, models=5))
    renamed = fit_strengths(count_cells(order[a], order[b], outcome=y, models=5))
    assert renamed[order] == pytest.approx(plain, abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_rows_may_stand_in_any_order_and_seats_may_be_swapped(seed: int) -> None:
    a, b, y = draw_battles(seed, 5, battles=30)
    order = np.random.default_rng(seed).permutation(len(a))
    plain = fit_strengths(count_cells(a, b, outcome=y, models=5))
    mixed = fit_strengths(count_cells(b[order], a[order], outcome=1 - y[order], models=5))
    assert mixed == pytest.approx(plain, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 50))
def test_telling_every_battle_again_changes_no_strength(seed: int, times: int) -> None:
    a, b, y = draw_battles(seed, 5, battles=30)
    once = fit_strengths(count_cells(a, b, outcome=y, models=5))
    again = [np.tile(x, times) for x in (a, b, y)]
    often = fit_strengths(count_cells(again[0], again[1], outcome=again[2], models=5))
    assert often == pytest.approx(once, abs=1e-8)


@pytest.mark.parametrize("likelihood", ["mle", "firth"])
def test_a_million_to_one_is_still_found(likelihood: Likelihood) -> None:
    strengths = fit_strengths(fought("A>B*1000000 B>A"), likelihood=likelihood)
    assert strengths[0] - strengths[1] == pytest.approx(np.log(1e6), rel=0.05)


def test_a_lopsided_ring_where_plain_newton_jumps_away_is_still_found() -> None:
    cells = fought("A>B B>A*10 A>D D>A*100000 B>C*10 C>B*10000 C>D D>C*100000")
    strengths = fit_strengths(cells)
    expected = cells.battles / (1 + np.exp(strengths[cells.j] - strengths[cells.i]))
    surplus = np.bincount(cells.i, cells.points - expected, 4)
    surplus -= np.bincount(cells.j, cells.points - expected, 4)
    assert surplus == pytest.approx([0, 0, 0, 0], abs=1e-6)


def test_an_unbeaten_model_has_no_finite_strength() -> None:
    with pytest.raises(ArithmeticError, match="never beaten"):
        fit_strengths(fought("A>B*5"))


def test_five_wins_of_five_are_five_and_a_half_of_six() -> None:
    # Two models have one gap, and half a point to each is what Jeffreys' prior comes to there.
    strengths = fit_strengths(fought("A>B*5"), likelihood="firth")
    assert strengths[0] - strengths[1] == pytest.approx(np.log(5.5 / 0.5))


def test_every_link_of_a_chain_has_half_a_point_more_on_both_sides() -> None:
    strengths = fit_strengths(fought("A>B*9 B>A*3 B>C*7 C>B*2 C>D"), likelihood="firth")
    assert -np.diff(strengths) == pytest.approx(np.log([9.5 / 3.5, 7.5 / 2.5, 1.5 / 0.5]))


def penalised(cells: Cells, theta: Floats) -> float:
    """The log-likelihood and half the log of the determinant of the information, the last held."""
    gap = theta[cells.i] - theta[cells.j]
    chance = 1 / (1 + np.exp(-gap))
    sides = np.zeros((len(gap), cells.models))
    sides[np.arange(len(gap)), cells.i], sides[np.arange(len(gap)), cells.j] = 1, -1
    x = sides[:, :-1]
    matrix = x.T @ ((cells.battles * chance * (1 - chance))[:, None] * x)
    return float(
        cells.points @ np.log(chance)
        + (cells.battles - cells.points) @ np.log(1 - chance)
        + 0.5 * np.linalg.slogdet(matrix)[1]
    )


@pytest.mark.parametrize("text", [
    "A>B*3 B>C*2 C>A A=D*2 D>B",
    "A>B A>C A>D B>C*4 C>B*2 D>C D>B",
    "A>B*9 B>C*5 C=D D>E*2 E>A A>E*3 B>D",
    "A>B B>C C>D D>E A>E B>E",
])  # fmt: skip
def test_scipy_finds_the_same_penalised_maximum(text: str) -> None:
    cells = fought(text)

    def minus(free: Floats) -> float:
        return -penalised(cells, np.append(free, 0.0))

    found = np.zeros(cells.models - 1)
    for _ in range(3):
        found = minimize(minus, found, method="Powell", options={"xtol": 1e-10, "ftol": 1e-15}).x
    theirs = np.append(found, 0.0)
    ours = fit_strengths(cells, likelihood="firth")
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_the_plain_fit_of_points_made_up_for_by_hat_values_is_the_penalised_one(seed: int) -> None:
    a, b, y = draw_battles(seed, 6, battles=25)
    cells = count_cells(a, b, outcome=y, models=6)
    cells = select_models(cells, find_components(cells)[0])
    ours = fit_strengths(cells, likelihood="firth")
    chance = 1 / (1 + np.exp(ours[cells.j] - ours[cells.i]))
    sides = np.zeros((len(chance), cells.models))
    sides[np.arange(len(chance)), cells.i], sides[np.arange(len(chance)), cells.j] = 1, -1
    half = np.sqrt(cells.battles * chance * (1 - chance))[:, None] * sides
    hat = np.diag(half @ np.linalg.pinv(half.T @ half) @ half.T)
    made_up = cells.counts + 0.5 * hat[:, None] * [1, 0, 1]
    again = fit_strengths(Cells(cells.models, cells.i, cells.j, made_up))
    assert again == pytest.approx(ours, abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([1, 30, 10_000]))
def test_every_component_has_finite_strengths_at_rest(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 9, 14)
    b = (a + rng.integers(1, 9, 14)) % 9
    times = rng.integers(1, most + 1, 14)
    y = rng.choice([0.0, 0.5, 1.0], 14, p=[0.6, 0.1, 0.3])
    given = [np.repeat(x, times) for x in (a, b, y)]
    cells = count_cells(given[0], given[1], outcome=given[2], models=9)
    for members in find_components(cells):
        assert np.isfinite(fit_strengths(select_models(cells, members), likelihood="firth")).all()


def test_one_who_lost_once_to_one_of_a_field_moves_no_gap_of_the_others() -> None:
    text = "A>B*9 B>A*3 B>C*7 C>B*2 A>C*4 C>A*3 C>D*5 D>B*2"
    before = fit_strengths(fought(text), likelihood="firth")
    after = fit_strengths(fought(text + " A>E"), likelihood="firth")[:4]
    assert after - after[0] == pytest.approx(before - before[0], abs=1e-8)


def test_many_battles_leave_hardly_a_difference_to_the_plain_maximum() -> None:
    plain, reduced = (
        to_ratings(fit_strengths(fought("A>B*3000 B>A*1000"), likelihood=by))
        for by in ("mle", "firth")
    )
    assert 0 < np.abs(reduced - plain).max() < 0.06


def test_strengths_that_do_not_come_to_rest_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="did not settle"):
        fit_strengths(fought("A>B*3 B>A"), tolerance=0.0)
