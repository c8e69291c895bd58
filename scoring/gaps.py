"""How far every model lies above or below one of them, the anchor, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, stdtrit

from scoring.bootstrap import bootstrap, bootstrap_terms
from scoring.cells import Cells, Floats
from scoring.intervals import LEVEL, gap_errors, half_widths
from scoring.ratings import Fit, rate
from scoring.rows import Rows
from scoring.terms import Terms


class Gaps(NamedTuple):
    """What is known of each model against the anchor, each array of shape (models,)."""

    gap: Floats
    """Strength less the anchor's, in nats; 0 of the anchor itself."""
    low: Floats
    """Of the 95 % interval; infinite, as `high`, with fewer than two clusters."""
    high: Floats
    one_sided: NDArray[np.bool_]
    """Never won, or never lost: a prior holds these, and everything a little."""
    clusters: int
    terms: Terms | None
    """What was fitted beside the strengths; None of `Cells`."""


def measure_gaps(battles: Cells | Rows, anchor: int, *, rounds: int = 0, seed: int = 0) -> Gaps:
    """Return the gaps of models that all met the anchor.

    Args:
        battles: at least one of every model.
        anchor: its index.
        rounds: bootstrap rounds that make the intervals; 0 takes the clustered sandwich.
        seed: of the bootstrap.

    Raises:
        ValueError: some model did not meet the anchor, not even over others.
    """
    ratings = rate(battles)
    if len(ratings.components) != 1 or len(ratings.components[0]) != len(ratings.theta):
        raise ValueError("every model must have met the anchor")
    (fit,), theta = ratings.fits, ratings.theta
    gap = np.asarray(theta - theta[anchor], dtype=np.float64)
    half = half_widths(gap_errors(fit.spread)[:, anchor], fit.spread.clusters)
    half[anchor] = 0.0
    low, high = gap - half, gap + half
    if rounds and fit.spread.clusters > 1:
        drawn = _drawn(battles, theta, fit, rounds=rounds, seed=seed)
        low, high = _percentiles(drawn - drawn[:, [anchor]], gap, fit.spread.clusters)
    one_sided = np.asarray(ratings.one_sided, dtype=np.bool_)
    return Gaps(gap, low, high, one_sided, fit.spread.clusters, fit.terms)


def to_win_rates(gaps: Floats) -> Floats:
    """Return the predicted shares of games won against the anchor, 0 to 1, from gaps in nats."""
    return np.asarray(expit(gaps), dtype=np.float64)


def _drawn(battles: Cells | Rows, theta: Floats, fit: Fit, *, rounds: int, seed: int) -> Floats:
    if isinstance(battles, Rows):
        assert fit.terms is not None
        return bootstrap_terms(battles, fit.terms, rounds=rounds, seed=seed, phantom=fit.phantom)
    return bootstrap(battles, theta, rounds=rounds, seed=seed, phantom=fit.phantom)


def _percentiles(drawn: Floats, gap: Floats, clusters: int) -> tuple[Floats, Floats]:
    """Return the bounds that draws give, a little outside: few clusters scatter too little.

    Source: Hesterberg (2015), The American Statistician 69, expanded percentiles.
    """
    more = np.sqrt(clusters / (clusters - 1))
    tail = ndtr(-more * stdtrit(clusters - 1, 0.5 + LEVEL / 2.0))
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    return np.minimum(low, gap), np.maximum(high, gap)
