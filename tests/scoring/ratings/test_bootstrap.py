"""Redrawn tournaments: right as fits, right in their scatter, and held where a draw falls apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.battles import draw_battles
from tests.support.tournament import fought, standard_errors
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, Floats, count_cells, count_rows
from videoautoarena.scoring.fitting.newton import Likelihood
from videoautoarena.scoring.ratings.bootstrap import (
    bootstrap,
    bootstrap_terms,
    draw_counts,
    fit_counts,
)
from videoautoarena.scoring.ratings.covariates import fit_terms


def cells_of(seed: int, *, videos: int | None = None) -> Cells:
    a, b, y = draw_battles(seed, 6, battles=900)
    video = None if videos is None else np.random.default_rng(seed).integers(0, videos, len(a))
    return count_cells(a, b, outcome=y, models=6, cluster=video)


@pytest.mark.parametrize("likelihood", ["mle", "firth"])
@pytest.mark.parametrize("videos", [None, 40])
def test_every_draw_is_fitted_as_it_would_be_alone(
    videos: int | None, likelihood: Likelihood
) -> None:
    cells = cells_of(1, videos=videos)
    counts = draw_counts(cells, np.random.default_rng(2), rounds=20)
    together = fit_counts(cells, counts, start=fit_strengths(cells), likelihood=likelihood)
    alone = [
        fit_strengths(Cells(6, cells.i, cells.j, drawn), likelihood=likelihood) for drawn in counts
    ]
    assert together == pytest.approx(np.array(alone), abs=1e-8)


def test_a_draw_of_battles_has_as_many_as_there_were() -> None:
    cells = cells_of(1)
    drawn = draw_counts(cells, np.random.default_rng(2), rounds=5)
    assert drawn.sum(axis=(1, 2)).tolist() == [cells.counts.sum()] * 5


def test_a_draw_of_videos_holds_whole_videos() -> None:
    cells = fought("A>B*3@1 B>A*5@2")
    drawn = draw_counts(cells, np.random.default_rng(0), rounds=50)
    assert {tuple(counts[0].astype(int)) for counts in drawn} <= {(10, 0, 0), (5, 0, 3), (0, 0, 6)}


@pytest.mark.parametrize("videos", [None, 60])
def test_draws_scatter_as_the_sandwich_says(videos: int | None) -> None:
    cells = cells_of(3, videos=videos)
    theta = fit_strengths(cells)
    drawn = bootstrap(cells, theta, rounds=600, seed=4)
    assert drawn.std(axis=0) == pytest.approx(standard_errors(cells, theta), rel=0.15)


def test_the_same_seed_gives_the_same_draws_and_another_others() -> None:
    cells = cells_of(5)
    theta = fit_strengths(cells)
    first, again = (bootstrap(cells, theta, rounds=10, seed=1) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != bootstrap(cells, theta, rounds=10, seed=2).tolist()


def test_portions_of_draws_are_as_good_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = cells_of(5)
    theta = fit_strengths(cells)
    monkeypatch.setattr("videoautoarena.scoring.ratings.bootstrap._CHUNK_NUMBERS", 300)
    assert bootstrap(cells, theta, rounds=20).std(axis=0) == pytest.approx(
        standard_errors(cells, theta), rel=0.5
    )


def test_a_draw_that_leaves_a_model_unbeaten_is_fitted_bias_reduced() -> None:
    cells = fought("A>B*40 B>A B>C*20 C>B*20")
    counts = draw_counts(cells, np.random.default_rng(0), rounds=30)
    unbeaten = counts[:, 0, 0] == 0
    assert unbeaten.any()
    fitted = fit_counts(cells, counts, start=fit_strengths(cells))
    for k in np.flatnonzero(unbeaten):
        held = fit_strengths(Cells(3, cells.i, cells.j, counts[k]), likelihood="firth")
        assert fitted[k] == pytest.approx(held, abs=1e-7)


def test_a_draw_that_misses_a_model_leaves_it_where_it_was() -> None:
    cells = fought("A>B*5 B>A*5 A>C C>A")
    counts = np.array([[[5.0, 0, 5], [0, 0, 0]]])
    fitted = fit_counts(cells, counts, start=np.array([0.5, 0.0, -0.5]))
    assert fitted[0] == pytest.approx([0.25, 0.25, -0.5], abs=1e-8)


def test_draws_far_from_rest_are_fitted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = cells_of(6)
    counts = draw_counts(cells, np.random.default_rng(2), rounds=3)
    patient = fit_counts(cells, counts, start=fit_strengths(cells))
    monkeypatch.setattr("videoautoarena.scoring.ratings.bootstrap._STEPS", 1)
    assert fit_counts(cells, counts, start=np.zeros(6)) == pytest.approx(patient, abs=1e-8)


def spread_of_rows(seed: int, *, videos: int | None) -> tuple[Floats, Floats]:
    a, b, y = draw_battles(seed, 4, battles=400)
    rng = np.random.default_rng(seed)
    video = None if videos is None else rng.integers(0, videos, len(a))
    rows = count_rows(a, b, outcome=y, models=4, cluster=video, seat=True)
    terms = fit_terms(rows, davidson=True)
    plain = count_cells(a, b, outcome=y, models=4, cluster=video)
    drawn = bootstrap_terms(rows, terms, rounds=150, seed=1)
    return drawn.std(axis=0), standard_errors(plain, fit_strengths(plain))


@pytest.mark.parametrize("videos", [None, 50])
def test_draws_with_terms_scatter_much_as_those_without(videos: int | None) -> None:
    found, plain = spread_of_rows(7, videos=videos)
    assert found == pytest.approx(plain, rel=0.4)


def test_a_draw_with_terms_whose_strengths_run_away_is_held() -> None:
    rows = count_rows([0] * 9, [1] * 9, outcome=[1] * 8 + [0], models=2)
    drawn = bootstrap_terms(rows, fit_terms(rows), rounds=40)
    assert np.isfinite(drawn).all()
