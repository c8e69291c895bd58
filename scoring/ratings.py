"""Battles in, ratings out: every component fitted apart, with intervals and places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from scoring.bootstrap import bootstrap, bootstrap_terms
from scoring.bradley_terry import MEAN, PHANTOM, SCALE, fit_strengths, to_ratings
from scoring.cells import Cells, Floats, Ints, select_models
from scoring.components import find_components, find_one_sided
from scoring.intervals import (
    LEVEL,
    Spread,
    chance_better,
    check_level,
    half_widths,
    measure_spread,
    place_errors,
)
from scoring.ranks import rank, rank_simultaneously
from scoring.rows import Rows, select_rows, to_cells
from scoring.terms import Terms, fit_terms, measure_terms


class Anchor(NamedTuple):
    """The model whose rating is given; others of its component move with it."""

    model: int
    rating: float = MEAN


@dataclass(frozen=True)
class Method:
    """How battles are rated."""

    level: float = LEVEL
    davidson: bool = False
    """Fit how likely ties are; of `Rows` only."""
    rounds: int = 0
    """Bootstrap rounds that make the intervals; 0 takes the sandwich."""
    seed: int = 0
    simultaneous: bool = False
    """Ranges of places hold all at once, not each on its own."""
    anchor: Anchor | None = None


PLAIN = Method()


class Fit(NamedTuple):
    """What was found beside the ratings in one component."""

    spread: Spread
    phantom: float
    terms: Terms | None
    """None of `Cells`."""
    errors: Floats
    """Of gamma, and of log_nu behind them where it was fitted; in nats."""


class Ratings(NamedTuple):
    """What is known of each model, each array of shape (models,)."""

    rating: Floats
    """Mean 1000 in each component but the anchored one; NaN for a model without a battle, as `low`
    and `high`."""
    low: Floats
    """Infinite, as `high`, where the component has fewer than two clusters."""
    high: Floats
    place: Ints
    """1 is the best of its component; 0 for a model without a battle, as `best` and `worst`."""
    best: Ints
    worst: Ints
    one_sided: NDArray[np.bool_]
    components: list[Ints]
    """Model indices, the largest component first."""
    clusters: list[int]
    """Independent pieces of evidence of each component."""
    theta: Floats
    """Strengths in nats, centred on zero in each component."""
    fits: list[Fit]
    """Of each component."""


def rate(battles: Cells | Rows, method: Method = PLAIN) -> Ratings:
    """Return the ratings of all models; those of different components have no common scale.

    A component whose win graph is not strongly connected is fitted with `PHANTOM` battles a model.

    Raises:
        ValueError: the level is not between 0 and 1, or an anchor that is not finite.
        ArithmeticError: a fit did not settle.
    """
    check_level(method.level)
    if method.anchor is not None and not np.isfinite(method.anchor.rating):
        raise ValueError(f"an anchor's rating must be finite, not {method.anchor.rating}")
    cells = to_cells(battles) if isinstance(battles, Rows) else battles
    components = find_components(cells)
    ratings = begin_ratings(cells.models, components)
    for members in components:
        part = select_models(cells, members)
        one_sided = find_one_sided(part)
        phantom = PHANTOM if one_sided.any() else 0.0
        ratings.clusters.append(part.clusters)
        ratings.one_sided[members] = one_sided
        if isinstance(battles, Rows):
            mine = select_rows(battles, members)
            theta, fit, drawn = _fit_rows(mine, method, phantom=phantom, one_sided=one_sided)
        else:
            theta, fit, drawn = _fit_cells(part, method, phantom=phantom, one_sided=one_sided)
        ratings.fits.append(fit)
        ratings.theta[members] = theta
        place_members(ratings, members, method=method, drawn=drawn)
    return ratings


def chances_better(ratings: Ratings) -> Floats:
    """Return how likely each model is stronger than each other; NaN across components."""
    n = len(ratings.rating)
    matrix = np.full((n, n), np.nan)
    for members, fit in zip(ratings.components, ratings.fits, strict=True):
        matrix[np.ix_(members, members)] = chance_better(ratings.theta[members], fit.spread)
    return matrix


def begin_ratings(models: int, components: list[Ints]) -> Ratings:
    """Return ratings in which nothing is known yet but who can be compared with whom."""
    rating, low, high, theta = np.full((4, models), np.nan)
    place, best, worst = np.zeros((3, models), dtype=np.int64)
    one_sided = np.zeros(models, dtype=np.bool_)
    return Ratings(rating, low, high, place, best, worst, one_sided, components, [], theta, [])


def place_members(
    ratings: Ratings, members: Ints, *, method: Method, drawn: Floats | None = None
) -> None:
    """Fill the rows of `members`, whose strengths and whose fit, the last one, are known."""
    theta, spread = ratings.theta[members], ratings.fits[-1].spread
    middle = to_ratings(theta) + _shift(ratings, members, method.anchor)
    low, high = _bounds(theta, spread, method=method, drawn=drawn)
    low, high = middle - SCALE * low, middle + SCALE * high
    if method.simultaneous:
        places = rank_simultaneously(theta, spread, level=method.level, seed=method.seed)
    else:
        places = rank(middle, low, high)
    for array, values in zip(ratings[:6], (middle, low, high, *places), strict=True):
        array[members] = values


def _fit_cells(
    part: Cells, method: Method, *, phantom: float, one_sided: NDArray[np.bool_]
) -> tuple[Floats, Fit, Floats | None]:
    theta = fit_strengths(part, phantom=phantom)
    spread = measure_spread(part, theta, phantom=phantom, one_sided=one_sided)
    drawn = None
    if method.rounds and part.clusters > 1:
        drawn = bootstrap(part, theta, rounds=method.rounds, seed=method.seed, phantom=phantom)
    return theta, Fit(spread, phantom, None, np.empty(0)), drawn


def _fit_rows(
    part: Rows, method: Method, *, phantom: float, one_sided: NDArray[np.bool_]
) -> tuple[Floats, Fit, Floats | None]:
    terms = fit_terms(part, davidson=method.davidson, phantom=phantom)
    spread, errors = measure_terms(part, terms, phantom=phantom, one_sided=one_sided)
    drawn = None
    if method.rounds and part.clusters > 1:
        drawn = bootstrap_terms(
            part, terms, rounds=method.rounds, seed=method.seed, phantom=phantom
        )
    return terms.theta, Fit(spread, phantom, terms, errors), drawn


def _shift(ratings: Ratings, members: Ints, anchor: Anchor | None) -> float:
    if anchor is None or anchor.model not in members:
        return 0.0
    return anchor.rating - MEAN - SCALE * float(ratings.theta[anchor.model])


def _bounds(
    theta: Floats, spread: Spread, *, method: Method, drawn: Floats | None
) -> tuple[Floats, Floats]:
    """How far the interval reaches down and up from each strength, in nats."""
    if drawn is None:
        half = half_widths(place_errors(spread), spread.clusters, level=method.level)
        return half, half
    # Draws of few clusters scatter too little: expanded percentiles, Hesterberg (2015).
    more = np.sqrt(spread.clusters / (spread.clusters - 1))
    tail = ndtr(-more * stdtrit(spread.clusters - 1, 0.5 + method.level / 2.0))
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    least = spread._replace(robust=spread.least)
    floor = half_widths(place_errors(least), spread.clusters, level=method.level)
    # Draws of battles that all tie, or of a model seen in one video, are all alike: no certainty.
    stuck = (high - low < floor) & ((high - low < 0.5 * floor) | spread.one_sided)
    down, up = np.maximum(theta - low, 0.0), np.maximum(high - theta, 0.0)
    return np.where(stuck, floor, down), np.where(stuck, floor, up)
