"""Battles in, ratings out: every component fitted apart, with intervals and places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from videoautoarena.scoring.fitting.bradley_terry import (
    MEAN,
    SCALE,
    centre,
    fit_strengths,
)
from videoautoarena.scoring.fitting.counts import (
    BattleRows,
    Cells,
    Floats,
    Ints,
    select_models,
    select_rows,
    to_cells,
)
from videoautoarena.scoring.fitting.newton import Likelihood
from videoautoarena.scoring.fitting.separation import (
    find_components,
    find_evident,
    find_one_sided,
)
from videoautoarena.scoring.intervals import sandwich
from videoautoarena.scoring.intervals.ranks import ModelOrder, lead_of
from videoautoarena.scoring.intervals.sandwich import LEVEL, StrengthSpread
from videoautoarena.scoring.ratings.bootstrap import (
    bootstrap,
    bootstrap_terms,
    expanded_percentiles,
)
from videoautoarena.scoring.ratings.covariates import CovariateFit, fit_terms, measure_terms


class Anchor(NamedTuple):
    """The model whose rating is given; others of its component move with it."""

    model: int
    rating: float = MEAN


@dataclass(frozen=True)
class FitMethod:
    """How battles are rated."""

    level: float = LEVEL
    likelihood: Likelihood = "firth"
    """Bias-reduced, or plain maximum likelihood, which has no answer for one-sided models."""
    davidson: bool = False
    """Fit how likely ties are; for `BattleRows` only."""
    rounds: int = 0
    """Bootstrap rounds that make the intervals; 0 takes the sandwich."""
    seed: int = 0
    simultaneous: bool = False
    """Whether ranges of places hold all at once and not each on its own."""
    anchor: Anchor | None = None


PLAIN = FitMethod()


class ComponentFit(NamedTuple):
    """What was found beside the ratings in one component."""

    spread: StrengthSpread
    terms: CovariateFit | None = None
    """None for `Cells`."""
    errors: Floats = np.empty(0)
    """Errors of gamma and, where it was fitted, of log_nu after them; in nats."""


class FittedComponent(NamedTuple):
    """The strengths of one component, in nats."""

    theta: Floats
    fit: ComponentFit
    drawn: Floats | None = None
    """Strengths of redrawn tournaments, shape (rounds, models); None without a bootstrap."""


class NoFiniteStrength(ArithmeticError):
    """Plain maximum likelihood has no finite strengths: `models` are one-sided."""

    def __init__(self, models: Ints) -> None:
        super().__init__(f"no finite strengths by maximum likelihood: models {models.tolist()}")
        self.models = models


class Ratings(NamedTuple):
    """What is known of each model, each array of shape (models,)."""

    rating: Floats
    """The mean by what is known of each model (`StrengthSpread.zero`) is 1000 in each component, or
    the anchor what it is given; NaN for a model without a battle, as `low` and `high`."""
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
    """Strengths in nats, zero where the rating is 1000."""
    fits: list[ComponentFit]
    """The fit of each component."""
    leads: list[ModelOrder]
    """Who may be best and who is apart from whom, of each component; models as in it."""


def rate(battles: Cells | BattleRows, method: FitMethod = PLAIN) -> Ratings:
    """Return the ratings of all models; those of different components have no common scale.

    Raises:
        ValueError: the level is not between 0 and 1, or an anchor that is not finite.
        NoFiniteStrength: by plain maximum likelihood, and some models have no finite strength.
        ArithmeticError: a fit did not settle.
    """
    sandwich.check_level(method.level)
    if method.anchor is not None and not np.isfinite(method.anchor.rating):
        raise ValueError(f"an anchor's rating must be finite, not {method.anchor.rating}")
    cells = to_cells(battles) if isinstance(battles, BattleRows) else battles
    components = find_components(cells)
    ratings = begin_ratings(cells.models, components)
    for members in components:
        # Models that no chain of battles joins have no common scale.
        part = select_models(cells, members)
        one_sided = find_one_sided(part)
        if method.likelihood == "mle" and one_sided.any():
            raise NoFiniteStrength(members[one_sided])
        if isinstance(battles, BattleRows):
            rows = select_rows(battles, members)
            terms = fit_terms(rows, davidson=method.davidson, likelihood=method.likelihood)
            spread, errors = measure_terms(rows, terms, one_sided=one_sided)
            theta = terms.theta
            fit = ComponentFit(spread, terms, errors)
        else:
            theta = fit_strengths(part, likelihood=method.likelihood)
            spread = sandwich.measure_spread(part, theta, one_sided=one_sided)
            fit = ComponentFit(spread)
        drawn = None
        if method.rounds and part.clusters > 1:
            how = {"rounds": method.rounds, "seed": method.seed}
            if fit.terms is not None:
                drawn = bootstrap_terms(rows, fit.terms, likelihood=method.likelihood, **how)
            else:
                drawn = bootstrap(part, theta, likelihood=method.likelihood, **how)
        fitted = FittedComponent(centre(theta, spread.zero), fit, drawn)
        place_members(ratings, members, fitted, cells=part, method=method)
    return ratings


def chances_better(ratings: Ratings) -> Floats:
    """Return how likely each model is stronger than each other; NaN across components."""
    n = len(ratings.rating)
    matrix = np.full((n, n), np.nan)
    for members, fit in zip(ratings.components, ratings.fits, strict=True):
        matrix[np.ix_(members, members)] = sandwich.chance_better(
            ratings.theta[members], fit.spread
        )
    return matrix


def begin_ratings(models: int, components: list[Ints]) -> Ratings:
    """Return ratings in which only the components are known."""
    rating, low, high, theta = np.full((4, models), np.nan)
    place, best, worst = np.zeros((3, models), dtype=np.int64)
    one_sided = np.zeros(models, dtype=np.bool_)
    return Ratings(rating, low, high, place, best, worst, one_sided, components, [], theta, [], [])


def place_members(
    ratings: Ratings, members: Ints, fitted: FittedComponent, *, cells: Cells, method: FitMethod
) -> None:
    """Fill the rows of `members`, the next component, from its fit and the battles behind it."""
    theta = fitted.theta
    spread = fitted.fit.spread
    anchor = method.anchor
    ratings.fits.append(fitted.fit)
    ratings.clusters.append(spread.clusters)
    ratings.theta[members], ratings.one_sided[members] = theta, spread.one_sided
    middle = MEAN + SCALE * theta
    fixed = None
    if anchor is not None and anchor.model in members:
        middle += anchor.rating - MEAN - SCALE * float(ratings.theta[anchor.model])
        fixed = int(np.searchsorted(members, anchor.model))
    low, high = _bounds(fitted, method, fixed=fixed)
    low = middle - SCALE * low
    high = middle + SCALE * high
    lead = _lead(cells, fitted, method)
    ratings.leads.append(lead)
    # The first six fields in their order: rating, low, high, place, best, worst.
    for array, values in zip(ratings[:6], (middle, low, high, *lead[:3]), strict=True):
        array[members] = values


def _lead(cells: Cells, fitted: FittedComponent, method: FitMethod) -> ModelOrder:
    """Return who may be best, from the spread of the fit, or from that of draws."""
    theta = fitted.theta
    spread = fitted.fit.spread
    drawn = fitted.drawn
    if drawn is not None:
        more = spread.clusters / (spread.clusters - 1)
        # With a bootstrap the draws say who leads, so that places agree with the intervals beside
        # them.
        spread = spread._replace(robust=more * np.cov(drawn, rowvar=False))
    # The risk is shared among as many pairs of neighbours as there are.
    share = (1.0 - method.level) / max(len(theta) - 1, 1)
    evident, unknown = find_evident(cells, theta, share=share)
    return lead_of(
        theta,
        spread.robust,
        max(spread.effective - 1.0, 1.0),
        errors=sandwich.gap_errors(spread),
        evident=evident,
        unknown=unknown,
        level=method.level,
        simultaneous=method.simultaneous,
        seed=method.seed,
    )


def _bounds(
    fitted: FittedComponent, method: FitMethod, *, fixed: int | None
) -> tuple[Floats, Floats]:
    """Return how far the interval reaches down and up from each strength, in nats.

    It is against the zero of the scale, or the model that is `fixed`, whose interval has no width.
    """
    theta = fitted.theta
    spread = fitted.fit.spread
    drawn = fitted.drawn
    under, over = _reaches(spread, method.level, fixed)
    if drawn is None:
        return under, over
    zero = drawn @ spread.zero if fixed is None else drawn[:, fixed]
    at = theta if fixed is None else theta - theta[fixed]
    low, high = expanded_percentiles(drawn - zero[:, None], spread, level=method.level)
    under, over = _reaches(spread._replace(robust=spread.least), method.level, fixed)
    # Draws are alike below a quarter of the width for independent battles; a one-sided model, which
    # hardly scatters at all, needs all of it.
    least = np.where(spread.one_sided, 1.0, 0.25) * (under + over)
    # Where all battles tie, or a model was seen in one video, all draws are alike: no certainty.
    stuck = high - low < least
    down = np.maximum(at - low, 0.0)
    up = np.maximum(high - at, 0.0)
    return np.where(stuck, under, down), np.where(stuck, over, up)


def _reaches(spread: StrengthSpread, level: float, fixed: int | None) -> tuple[Floats, Floats]:
    if fixed is None:
        return sandwich.place_reaches(spread, level=level)
    errors = sandwich.gap_errors(spread)[:, fixed]
    half = sandwich.half_widths(errors, spread.effective, level=level)
    half[fixed] = 0.0
    return sandwich.open_reaches(half, spread, level=level)
