"""How far every model lies above or below one of them, the anchor, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, stdtrit

from scoring.bootstrap import bootstrap, bootstrap_terms
from scoring.cells import Cells, Floats, select_models
from scoring.climbing import Likelihood
from scoring.components import find_components, find_one_sided
from scoring.intervals import LEVEL, Spread, gap_errors, half_widths, open_reaches
from scoring.ratings import Fit, Method, rate
from scoring.rows import Rows, select_rows, to_cells
from scoring.terms import Terms


class Gaps(NamedTuple):
    """What is known of each model against the anchor, each array of shape (models,)."""

    gap: Floats
    """Strength less the anchor's, in nats; 0 of the anchor itself."""
    low: Floats
    """Of the 95 % interval; infinite, as `high`, with fewer than two clusters."""
    high: Floats
    one_sided: NDArray[np.bool_]
    """Never won, or never lost: nothing bounds these on one side."""
    clusters: int
    terms: Terms | None
    """What was fitted beside the strengths; None of `Cells`."""


def measure_gaps(battles: Cells | Rows, anchor: int, *, rounds: int = 0, seed: int = 0) -> Gaps:
    """Return the gaps of models that all met the anchor.

    By plain maximum likelihood, as arena-hard has them, but for one-sided models, who have no
    such gap: theirs are those of a bias-reduced fit of all, and move nobody else's.

    Args:
        battles: at least one of every model.
        anchor: its index.
        rounds: bootstrap rounds that make the intervals; 0 takes the clustered sandwich.
        seed: of the bootstrap.

    Raises:
        ValueError: some model did not meet the anchor, not even over others.
    """
    cells = to_cells(battles) if isinstance(battles, Rows) else battles
    components = find_components(cells)
    if len(components) != 1 or len(components[0]) != cells.models:
        raise ValueError("every model must have met the anchor")
    one_sided = find_one_sided(cells)
    draw = {"rounds": rounds, "seed": seed}
    if not one_sided.any():
        return _measure(battles, anchor, "mle", **draw)
    found = _measure(battles, anchor, "firth", **draw)
    if one_sided[anchor]:
        return found
    body = np.flatnonzero(~one_sided)
    chosen = select_rows(battles, body) if isinstance(battles, Rows) else select_models(cells, body)
    plain = _measure(chosen, int(np.searchsorted(body, anchor)), "mle", **draw)
    for every, some in zip(found[:3], plain[:3], strict=True):
        every[body] = some
    return found._replace(terms=plain.terms)


def _measure(
    battles: Cells | Rows, anchor: int, likelihood: Likelihood, *, rounds: int, seed: int
) -> Gaps:
    ratings = rate(battles, Method(likelihood=likelihood))
    (fit,), theta = ratings.fits, ratings.theta
    one_sided = np.asarray(ratings.one_sided, dtype=np.bool_)
    gap = np.asarray(theta - theta[anchor], dtype=np.float64)
    half = half_widths(gap_errors(fit.spread)[:, anchor], fit.spread.effective)
    half[anchor] = 0.0
    under, over = open_reaches(half, fit.spread)
    low, high = gap - under, gap + over
    if rounds and fit.spread.clusters > 1:
        drawn = _drawn(battles, theta, fit, likelihood, rounds=rounds, seed=seed)
        least, most = _percentiles(drawn - drawn[:, [anchor]], gap, fit.spread)
        low = np.where(one_sided, np.minimum(low, least), least)
        high = np.where(one_sided, np.maximum(high, most), most)
    return Gaps(gap, low, high, one_sided, fit.spread.clusters, fit.terms)


def to_win_rates(gaps: Floats) -> Floats:
    """Return the predicted shares of games won against the anchor, 0 to 1, from gaps in nats."""
    return np.asarray(expit(gaps), dtype=np.float64)


def _drawn(
    battles: Cells | Rows,
    theta: Floats,
    fit: Fit,
    likelihood: Likelihood,
    *,
    rounds: int,
    seed: int,
) -> Floats:
    if isinstance(battles, Rows):
        assert fit.terms is not None
        return bootstrap_terms(battles, fit.terms, rounds=rounds, seed=seed, likelihood=likelihood)
    return bootstrap(battles, theta, rounds=rounds, seed=seed, likelihood=likelihood)


def _percentiles(drawn: Floats, gap: Floats, spread: Spread) -> tuple[Floats, Floats]:
    """Return the bounds that draws give, a little outside: few clusters scatter too little.

    Source: Hesterberg (2015), The American Statistician 69, expanded percentiles.
    """
    more = np.sqrt(spread.clusters / (spread.clusters - 1))
    tail = ndtr(-more * stdtrit(max(spread.effective - 1.0, 1.0), 0.5 + LEVEL / 2.0))
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    return np.minimum(low, gap), np.maximum(high, gap)
