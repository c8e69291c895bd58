"""Seats, style and ties beside the strengths: by hand, against scikit-learn, by symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from tests.support.battles import draw_battles, fit_logistic
from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths
from videoautoarena.scoring.fitting.counts import (
    BattleRows,
    Floats,
    count_cells,
    count_rows,
    select_rows,
    to_cells,
)
from videoautoarena.scoring.intervals.sandwich import measure_spread, place_errors
from videoautoarena.scoring.ratings.covariates import PRIOR_SD, fit_terms, measure_terms

NOBODY = np.zeros(9, dtype=np.bool_)


def rows_of(a: str, b: str, outcome: str, **more: object) -> BattleRows:
    """Rows of battles written as words of letters and of points in halves."""
    return count_rows(
        [ord(c) - 65 for c in a],
        [ord(c) - 65 for c in b],
        outcome=[int(c) / 2 for c in outcome],
        models=max(map(ord, a + b)) - 64,
        **more,  # type: ignore[arg-type]
    )


def styled(seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Battles whose covariates weigh in, each of them 0 in every tenth battle."""
    a, b, _ = draw_battles(seed, 9, battles=900)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(len(a), 4)) * (rng.random((len(a), 1)) > 0.1)
    chance = expit((b - a) / 4 + 0.3 + x @ [0.8, 0.0, -0.4, 0.2])
    y = np.where(rng.random(len(a)) < 0.1, 0.5, (rng.random(len(a)) < chance).astype(float))
    return a.astype(float), b.astype(float), y, x


def test_the_seat_term_takes_what_being_first_is_worth_out_of_the_strengths() -> None:
    # Each is first four times and wins three of them: no gap, and the seat is worth ln 3.
    terms = fit_terms(rows_of("AAAABBBB", "BBBBAAAA", "22202220", seat=True))
    assert terms.theta == pytest.approx([0, 0], abs=1e-9)
    assert terms.gamma == pytest.approx([np.log(3)])


@pytest.mark.parametrize("seed", range(4))
def test_scikit_learn_finds_the_same_ratings_and_coefficients(seed: int) -> None:
    a, b, y, x = styled(seed)
    sides = np.zeros((len(a), 9))
    rows = np.arange(len(a))
    sides[rows, a.astype(int)], sides[rows, b.astype(int)] = 1, -1
    theirs = fit_logistic(np.column_stack([sides[:, 1:], np.ones(len(a)), x]), y)
    ours = fit_terms(count_rows(a, b, outcome=y, models=9, x=x, seat=True))
    strengths = np.concatenate([[0], theirs[:8]])
    assert SCALE * ours.theta == pytest.approx(SCALE * (strengths - strengths.mean()), abs=1e-4)
    assert SCALE * ours.gamma == pytest.approx(SCALE * theirs[8:], abs=1e-4)


def test_two_models_by_davidson_have_the_shares_they_had() -> None:
    # 6 wins, 4 ties, 2 losses: exp(gap) = 6 / 2, and nu = 4 / sqrt(6 * 2).
    terms = fit_terms(rows_of("A" * 12, "B" * 12, "2" * 6 + "1" * 4 + "00"), davidson=True)
    assert terms.theta[0] - terms.theta[1] == pytest.approx(np.log(3))
    assert terms.log_nu == pytest.approx(np.log(4 / np.sqrt(12)))


def test_davidson_gives_back_the_spread_that_half_wins_press_together() -> None:
    truth = np.linspace(1.5, -1.5, 6)
    i, j = np.triu_indices(6, 1)
    gap = truth[i] - truth[j]
    nu = 0.8
    weight = np.stack([np.exp(-gap / 2), np.full(len(gap), nu), np.exp(gap / 2)], axis=1)
    shares = 1000 * weight / weight.sum(axis=1, keepdims=True)
    rows = BattleRows(6, i, j, shares, np.empty((len(i), 0)), None)
    found = fit_terms(rows, davidson=True)
    half = fit_terms(rows)
    assert found.theta == pytest.approx(truth, abs=1e-8)
    assert found.log_nu == pytest.approx(np.log(nu))
    assert half.theta[0] < 0.9 * truth[0]


def test_without_ties_davidson_is_bradley_terry() -> None:
    a, b, y = draw_battles(2, 5, battles=300)
    keep = y != 0.5
    rows = count_rows(a[keep], b[keep], outcome=y[keep], models=5)
    assert fit_terms(rows, davidson=True).log_nu is None
    plain = fit_strengths(count_cells(a[keep], b[keep], outcome=y[keep], models=5))
    assert fit_terms(rows, davidson=True).theta == pytest.approx(plain, abs=1e-9)


def penalised(rows: BattleRows, phi: Floats, *, davidson: bool) -> float:
    """The log-likelihood and half the log-determinant, the last strength held; row by row."""
    n = rows.models
    width = rows.x.shape[1]
    height = 0.0
    matrix = np.zeros((len(phi) + 1, len(phi) + 1))
    full = np.insert(phi, n - 1, 0.0)
    for i, j, counts, x in zip(rows.i, rows.j, rows.counts, rows.x, strict=True):
        side = np.zeros(len(full))
        side[i], side[j], side[n : n + width] = 1, -1, x
        ends = np.stack([0 * side, side / 2, side])
        if davidson:
            ends[1, -1] = 1
        weight = np.exp(ends @ full) * ([1, 1, 1] if davidson else [1, 0, 1])
        share = weight / weight.sum()
        off = ends - share @ ends
        points = counts if davidson else counts @ [[1, 0, 0], [0.5, 0, 0.5], [0, 0, 1]]
        height += float(points[share > 0] @ np.log(share[share > 0]))
        matrix += counts.sum() * (off.T * share) @ off
    keep = np.arange(len(full)) != n - 1
    return height + 0.5 * float(np.linalg.slogdet(matrix[np.ix_(keep, keep)])[1])


@pytest.mark.parametrize("davidson", [False, True])
def test_scipy_finds_the_same_penalised_maximum(davidson: bool) -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, 14)
    b = (a + rng.integers(1, 3, 14)) % 3
    y = rng.choice([0.0, 0.5, 1.0], 14)
    rows = count_rows(a, b, outcome=y, models=3, x=rng.normal(size=(14, 1)), seat=True)
    found = minimize(
        lambda phi: -penalised(rows, phi, davidson=davidson),
        np.zeros(2 + 2 + davidson),
        method="Powell",
        options={"xtol": 1e-8, "ftol": 1e-15},
    ).x
    ours = fit_terms(rows, davidson=davidson, likelihood="firth")
    theta = np.insert(found[:2], 2, 0.0)
    assert ours.theta == pytest.approx(theta - theta.mean(), abs=1e-6)
    assert ours.gamma == pytest.approx(found[2:4], abs=1e-6)
    assert ours.log_nu == (pytest.approx(found[4], abs=1e-6) if davidson else None)


@pytest.mark.parametrize("seed", range(3))
def test_without_terms_bias_reduced_rows_are_as_bias_reduced_cells(seed: int) -> None:
    a, b, y = draw_battles(seed, 9, battles=60)
    cells = count_cells(a, b, outcome=y, models=9)
    plain = fit_strengths(cells, likelihood="firth")
    found = fit_terms(count_rows(a, b, outcome=y, models=9), likelihood="firth")
    assert found.theta == pytest.approx(plain, abs=1e-8)


def test_an_always_longer_winner_is_finite_without_a_prior_where_bias_is_reduced() -> None:
    x = np.array([[1.0], [1.0], [-1.0], [-1.0]] * 3)
    rows = rows_of("ABAB" * 3, "BABA" * 3, "2200" * 3, x=x)
    found = fit_terms(rows, likelihood="firth")
    assert not found.held
    # 6 of 6 in each order of the two, with half a point more 6.5 to 0.5.
    assert found.gamma == pytest.approx([np.log(13)])


def test_nothing_but_ties_is_even_and_has_no_tie_term() -> None:
    terms = fit_terms(rows_of("AAB", "BCC", "111"), davidson=True)
    assert terms.theta == pytest.approx([0, 0, 0], abs=1e-9)
    assert terms.log_nu is None


@pytest.mark.parametrize("videos", [None, 30])
def test_without_terms_rows_say_what_cells_say(videos: int | None) -> None:
    a, b, y = draw_battles(3, 9, battles=500)
    video = None if videos is None else np.random.default_rng(1).integers(5, 5 + videos, len(a))
    rows = count_rows(a, b, outcome=y, models=9, cluster=video)
    cells = count_cells(a, b, outcome=y, models=9, cluster=video)
    terms = fit_terms(rows)
    theta = fit_strengths(cells)
    assert terms.theta == pytest.approx(theta, abs=1e-9)
    spread, _ = measure_terms(rows, terms, one_sided=NOBODY)
    plain = measure_spread(cells, theta)
    assert spread.robust == pytest.approx(plain.robust, abs=1e-12)
    assert spread.least == pytest.approx(plain.least, abs=1e-12)
    again = to_cells(rows)
    assert again.counts.tolist() == cells.counts.tolist()
    assert again.clusters == cells.clusters


@pytest.mark.parametrize("davidson", [False, True])
def test_independent_battles_are_one_cluster_each(davidson: bool) -> None:
    a, b, y, x = styled(5)
    loose = count_rows(a, b, outcome=y, models=9, x=x)
    tight = count_rows(a, b, outcome=y, models=9, x=x, cluster=np.arange(len(a)))
    terms = fit_terms(loose, davidson=davidson)
    first, errors = measure_terms(loose, terms, one_sided=NOBODY)
    second, same = measure_terms(tight, terms, one_sided=NOBODY)
    assert first.robust == pytest.approx(second.robust, abs=1e-12)
    assert errors == pytest.approx(same)
    assert len(errors) == 4 + davidson


def test_the_error_of_a_seat_between_equals_is_known_by_hand() -> None:
    # Information 25 a nat for 100 even battles; 100 / 99 for the small sample.
    rows = rows_of("AB" * 50, "BA" * 50, "2200" * 25, seat=True)
    terms = fit_terms(rows)
    _, errors = measure_terms(rows, terms, one_sided=NOBODY[:2])
    assert errors == pytest.approx([0.2 * np.sqrt(100 / 99)])


def test_intervals_of_a_coefficient_cover_the_truth() -> None:
    held = 0
    for seed in range(60):
        a, b, y, x = styled(seed)
        keep = y != 0.5
        rows = count_rows(a[keep], b[keep], outcome=y[keep], models=9, x=x[keep], seat=True)
        terms = fit_terms(rows)
        _, errors = measure_terms(rows, terms, one_sided=NOBODY)
        held += (np.abs(terms.gamma - [0.3, 0.8, 0.0, -0.4, 0.2]) < 1.96 * errors).sum()
    assert 0.92 <= held / 300 <= 0.98


def test_an_always_longer_winner_is_held_by_a_prior() -> None:
    x = np.array([[1.0], [1.0], [-1.0], [-1.0]] * 3)
    terms = fit_terms(rows_of("ABAB" * 3, "BABA" * 3, "2200" * 3, x=x))
    assert terms.held
    assert 0 < terms.gamma[0] < 3 * PRIOR_SD
    rows = rows_of("ABAB" * 3, "BABA" * 3, "2200" * 3, x=x)
    _, errors = measure_terms(rows, terms, one_sided=NOBODY[:2])
    assert 0.1 < errors[0] < PRIOR_SD


def test_a_seat_that_a_model_always_has_is_told_from_its_strength_by_the_prior() -> None:
    terms = fit_terms(rows_of("AAAA", "BBBB", "2220", seat=True))
    assert terms.held
    assert 0 < terms.gamma[0] < np.log(3)
    assert terms.theta[0] - terms.theta[1] + terms.gamma[0] < np.log(3) + 1e-6


def test_a_covariate_that_says_the_same_twice_is_shared() -> None:
    a, b, y, x = styled(2)
    once = fit_terms(count_rows(a, b, outcome=y, models=9, x=x[:, :1]))
    twice = fit_terms(count_rows(a, b, outcome=y, models=9, x=x[:, [0, 0]]))
    assert twice.held
    assert twice.gamma == pytest.approx([once.gamma[0] / 2] * 2, rel=0.01)


def test_a_covariate_of_zeros_is_worth_nothing() -> None:
    a, b, y, x = styled(2)
    assert fit_terms(count_rows(a, b, outcome=y, models=9, x=0 * x[:, :1])).gamma.tolist() == [0]


def test_one_cluster_tells_nothing_of_a_term() -> None:
    rows = rows_of("AABB", "BBAA", "2020", seat=True, cluster=[7] * 4)
    spread, errors = measure_terms(rows, fit_terms(rows), one_sided=NOBODY[:2])
    assert np.isinf(errors).all()
    assert np.isinf(place_errors(spread)).all()


def test_strengths_that_run_away_are_refused_by_the_plain_likelihood_alone() -> None:
    with pytest.raises(ArithmeticError, match="run away"):
        fit_terms(rows_of("AAA", "BBB", "222"))
    # Three wins of three are 3.5 of 4.
    held = fit_terms(rows_of("AAA", "BBB", "222"), likelihood="firth")
    assert held.theta[0] - held.theta[1] == pytest.approx(np.log(7))


def test_no_patience_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videoautoarena.scoring.ratings.covariates._STEPS", 1)
    with pytest.raises(ArithmeticError, match="did not settle"):
        fit_terms(rows_of("AAAA", "BBBB", "2220"))


def test_a_lopsided_ring_is_climbed_with_care() -> None:
    times = [1, 10, 1, 100_000, 10, 10_000, 1, 100_000]
    i = np.array([0, 1, 0, 3, 1, 2, 2, 3])
    j = np.array([1, 0, 3, 0, 2, 1, 3, 2])
    counts = np.zeros((8, 3))
    counts[:, 2] = times
    rows = BattleRows(4, i, j, counts, np.empty((8, 0)), None)
    assert fit_terms(rows).theta == pytest.approx(fit_strengths(to_cells(rows)), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_swapping_seats_with_their_covariates_changes_nothing(seed: int, davidson: bool) -> None:
    a, b, y, x = styled(seed)
    order = np.random.default_rng(seed).permutation(len(a))
    plain = fit_terms(count_rows(a, b, outcome=y, models=9, x=x), davidson=davidson)
    swapped = count_rows(b[order], a[order], outcome=1 - y[order], models=9, x=-x[order])
    turned = fit_terms(swapped, davidson=davidson)
    assert turned.theta == pytest.approx(plain.theta, abs=1e-8)
    assert turned.gamma == pytest.approx(plain.gamma, abs=1e-8)
    assert turned.log_nu == pytest.approx(plain.log_nu)


def test_a_covariate_in_other_units_has_a_coefficient_in_those() -> None:
    a, b, y, x = styled(8)
    plain = fit_terms(count_rows(a, b, outcome=y, models=9, x=x))
    scaled = fit_terms(count_rows(a, b, outcome=y, models=9, x=10 * x))
    assert scaled.theta == pytest.approx(plain.theta, abs=1e-8)
    assert 10 * scaled.gamma == pytest.approx(plain.gamma, abs=1e-8)


def test_a_fit_begun_near_its_end_ends_there() -> None:
    a, b, y, x = styled(9)
    rows = count_rows(a, b, outcome=y, models=9, x=x)
    first = fit_terms(rows)
    assert fit_terms(rows, start=first).theta == pytest.approx(first.theta, abs=1e-9)


def test_battles_without_covariates_are_counted_into_rows() -> None:
    rows = rows_of("AAB", "BBA", "220")
    assert rows.counts.tolist() == [[0, 0, 2], [1, 0, 0]]
    assert rows.clusters == 3


def test_rows_of_some_models_keep_their_clusters() -> None:
    rows = rows_of("AABC", "BCCA", "2210", cluster=[4, 5, 9, 9])
    chosen = select_rows(rows, np.array([0, 2]))
    assert (chosen.i.tolist(), chosen.j.tolist()) == ([0, 1], [1, 0])
    assert chosen.clusters == 2
    assert select_rows(rows_of("AAB", "BCC", "221"), np.array([0, 2])).clusters == 1


@pytest.mark.parametrize("x", [[[np.nan], [0.0]], [[1.0]], [1.0, 2.0]])
def test_a_broken_covariate_is_refused(x: object) -> None:
    with pytest.raises(ValueError, match="row of finite covariates"):
        rows_of("AB", "BA", "20", x=x)


def test_no_battles_are_no_rows() -> None:
    for models in (0, 3):
        rows = count_rows([], [], outcome=[], models=models, cluster=[])
        assert to_cells(rows).clusters == 0
        assert len(rows.counts) == 0
