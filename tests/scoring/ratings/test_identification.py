"""When battles tell what style and seat are worth from how strong models are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from tests.scoring.ratings.test_covariates import NOBODY, rows_of, styled
from tests.support.battles import draw_styled
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import BattleRows, count_rows, to_cells
from videoautoarena.scoring.ratings.covariates import (
    MOST_HALF_WIDTH,
    MOST_INFLATION,
    Identification,
    fit_terms,
    identify,
    measure_terms,
)
from videoautoarena.scoring.ratings.ratings import rate


def identified(rows: BattleRows) -> Identification:
    terms = fit_terms(rows)
    spread, errors = measure_terms(rows, terms, one_sided=np.zeros(rows.models, np.bool_))
    return identify(rows, terms, errors, effective=spread.effective)


def test_a_seat_that_both_have_equally_often_inflates_nothing() -> None:
    # The error of 0.2 is known by hand, see the test of it.
    found = identified(rows_of("AB" * 50, "BA" * 50, "2200" * 25, seat=True))
    assert found.inflation == pytest.approx(1.0)
    half = SCALE * t.ppf(0.975, 99) * 0.2 * np.sqrt(100 / 99)
    assert found.half_width == pytest.approx(half)
    assert found.holds


def test_the_inflation_of_two_models_is_that_of_a_regression() -> None:
    # A is first in three of four, so that seat and side correlate by a half: 1 / (1 - 1/4).
    found = identified(rows_of("AAAB", "BBBA", "1111", seat=True))
    assert found.inflation == pytest.approx(4 / 3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_inflation_is_no_matter_of_how_many_battles_or_what_models_are_called(seed: int) -> None:
    a, b, y, x = styled(seed)
    once = identified(count_rows(a, b, outcome=y, models=9, x=x))
    assert once.inflation >= 1.0
    name = np.random.default_rng(seed).permutation(9)
    a = name[a.astype(int)]
    b = name[b.astype(int)]
    many = [np.tile(of, (4, 1)) if of.ndim > 1 else np.tile(of, 4) for of in (a, b, y, x)]
    found = identified(count_rows(*many[:2], outcome=many[2], models=9, x=many[3]))
    assert found.inflation == pytest.approx(once.inflation)
    assert found.half_width < 0.6 * once.half_width


def test_davidsons_ties_are_no_covariate() -> None:
    rows = rows_of("AB" * 8, "BA" * 8, "2102" * 4)
    terms = fit_terms(rows, davidson=True)
    spread, errors = measure_terms(rows, terms, one_sided=NOBODY[:2])
    found = identify(rows, terms, errors, effective=spread.effective)
    assert found == Identification(0.0, 1.0)
    # The tie term is tied up with a gap of the models, with the seat taken out or not.
    both = rows_of("A" * 10 + "B" * 10, "B" * 10 + "A" * 10, "2222221100" + "0000001122", seat=True)
    terms = fit_terms(both, davidson=True)
    spread, errors = measure_terms(both, terms, one_sided=NOBODY[:2])
    found = identify(both, terms, errors, effective=spread.effective)
    assert found.inflation == pytest.approx(1.0)
    half = SCALE * errors[0] * t.ppf(0.975, spread.effective - 1)
    assert found.half_width == pytest.approx(half)


def test_what_only_a_prior_bounds_is_not_identified() -> None:
    found = identified(rows_of("AAAA" * 900, "BBBB" * 900, "2220" * 900, seat=True))
    assert found.inflation == np.inf
    assert not found.holds


def test_one_video_identifies_nothing() -> None:
    found = identified(rows_of("AABB", "BBAA", "2020", seat=True, cluster=[7] * 4))
    assert found.half_width == np.inf
    assert not found.holds


@pytest.mark.parametrize(
    ("half_width", "inflation", "holds"),
    [
        (MOST_HALF_WIDTH, MOST_INFLATION, True),
        (MOST_HALF_WIDTH + 0.1, 1.0, False),
        (1.0, MOST_INFLATION + 0.1, False),
    ],
)
def test_both_bounds_have_to_hold(half_width: float, inflation: float, holds: bool) -> None:
    assert Identification(half_width, inflation).holds is holds


def test_style_that_is_a_trademark_re_ranks_nobody() -> None:
    turned = 0
    for seed in range(12):
        drawn = draw_styled(seed, models=7, videos=30, own=0.97)
        assert not identified(drawn.rows).holds
        beside = rate(drawn.rows)
        plain = rate(to_cells(drawn.rows))
        turned += int((np.argsort(beside.rating) != np.argsort(plain.rating)).any())
    # Without the refusal, nearly every order would be another.
    assert turned >= 8


@pytest.mark.parametrize("own", [0.0, 0.3])
def test_style_that_varies_within_models_is_identified(own: float) -> None:
    for seed in range(6):
        assert identified(draw_styled(seed, models=11, videos=100, own=own, worth=0.25).rows).holds


def test_style_is_identified_at_the_size_of_the_paper() -> None:
    assert identified(draw_styled(1, models=11, videos=1248, own=0.6, worth=0.25).rows).holds
