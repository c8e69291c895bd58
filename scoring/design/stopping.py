"""When a run may stop: its order is certain enough, or its intervals are narrow enough.

Whoever stops at the first look that seems certain stops too often at a wrong order: at 1.96 errors
in up to a third of runs. The bound here is wider and holds for all looks together.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr

from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths
from videoautoarena.scoring.fitting.counts import Cells, Floats
from videoautoarena.scoring.fitting.separation import (
    find_components,
    find_extremes,
    find_one_sided,
)
from videoautoarena.scoring.intervals import sandwich
from videoautoarena.scoring.intervals.sandwich import StrengthSpread

WRONG = 0.05
"""At most this share of the runs that stop once their order is apart ends with a wrong order."""
_EXPECTED = 0.3
"""Nats, 52 points: the gap of neighbours at which the bound is narrowest. The promise does not
depend on it; closer and more distant neighbours take somewhat more battles."""
_LARGEST = 37.0
"""Normal scores beyond this have no probability that a float can hold."""


class Separation(NamedTuple):
    """How far models are apart."""

    ratio: float
    """Gap over error, as a normal score, of the pair that is least apart; 0 where some models
    cannot be compared."""
    bound: float
    """Bound that this ratio must exceed; infinite where some models cannot be compared."""
    pair: tuple[int, int] | None
    """That pair, the model rated higher first; None where some models cannot be compared."""
    width: float
    """Mean width of the 95 % intervals, in rating points; infinite where one is, or where models
    are in several components or without a battle."""

    @property
    def is_separated(self) -> bool:
        """Whether every pair is apart."""
        return self.ratio > self.bound


NOTHING_KNOWN = Separation(0.0, np.inf, None, np.inf)


def measure_separation(cells: Cells, *, wrong: float = WRONG) -> Separation:
    """Return how far the models are apart, and how wide their intervals are on average.

    Stopping at `is_separated` promises: of many such tournaments, each looked at as often as one
    likes, at most the share `wrong` stops with a wrong order. For where an order is wrong, two
    models that are truly next to each other stand the wrong way round, and each of the n - 1 such
    pairs ever crosses its bound with a probability of at most `wrong` / (n - 1). That is theory for
    many battles about many videos; errors are clustered by video, and of few videos hardly any
    ratio is large enough (Student's t). It speaks of videos like those seen and of this judge: what
    a judge gets wrong on every video stays wrong. Equal models are never found apart but by that
    error, and a tournament with two of them goes on for ever.

    Stopping at a `width` promises precision and no order: intervals this narrow on average, about
    as reliable as others.

    A model that lost every battle, or won every one, has no gap and no error: it is apart from its
    neighbour where its battles are too unlikely for an equal of that neighbour (`find_extremes`),
    again at any look.

    Where a model has no battle, models are in several components, or groups of several never lost
    a point to each other, nothing is separated.

    Raises:
        ValueError: `wrong` is not between 0 and 1.

    Source: Robbins (1970), Ann. Math. Stat. 41, for the normal mixture; Waudby-Smith et al.
        (2024), Ann. Stat. 52, for estimates in place of sums; for extremes see `find_extremes`.
    """
    if not 0.0 < wrong < 1.0:
        raise ValueError(f"a share of wrong orders of {wrong} is not between 0 and 1")
    components = find_components(cells)
    # The largest component comes first, so it holds all models or none does.
    if not components or len(components[0]) < cells.models:
        return NOTHING_KNOWN
    one_sided = find_one_sided(cells)
    # Plain maximum likelihood has no answer where some model lost or won everything.
    theta = fit_strengths(cells, likelihood="firth")
    spread = sandwich.measure_spread(cells, theta, one_sided=one_sided)
    found = separate(theta, spread, wrong=wrong)
    if not one_sided.any():
        return found
    apart = _separate_extremes(cells, theta, spread, wrong=wrong)
    return apart._replace(width=found.width)


def _separate_extremes(
    cells: Cells, theta: Floats, spread: StrengthSpread, *, wrong: float
) -> Separation:
    """Return the separation where models lost or won all battles; the caller sets its width."""
    ends = find_extremes(cells, theta)
    if ends is None:
        return NOTHING_KNOWN
    share = wrong / (cells.models - 1)
    # Evidence is put on the scale of normal scores: a score z is z^2 / 2 nats.
    found = list[Separation]()
    bound = sqrt(2.0 * log(1.0 / share))
    for one in ends.extremes:
        pair = (one.model, one.neighbour) if one.is_first else (one.neighbour, one.model)
        found.append(Separation(sqrt(2.0 * one.evidence), bound, pair, np.inf))
    if len(ends.body) > 1:
        # As much of the risk as the body has pairs of neighbours, among which `separate` shares it
        # out.
        inner = min(share * (len(ends.body) - 1), wrong)
        body = separate(theta[ends.body], sandwich.select_spread(spread, ends.body), wrong=inner)
        # All of the body can be compared, so some pair is least apart.
        assert body.pair is not None
        first, second = (int(ends.body[k]) for k in body.pair)
        found.append(body._replace(pair=(first, second)))
    return min(found, key=lambda one: one.ratio / one.bound)


def separate(theta: Floats, spread: StrengthSpread, *, wrong: float = WRONG) -> Separation:
    """Return what `measure_separation` does, for strengths that can all be compared."""
    width = SCALE * float(np.add(*sandwich.place_reaches(spread)).mean())
    errors = sandwich.gap_errors(spread)
    # Stable, so that of equal models the same pair is named on every machine.
    upper = np.argsort(-theta, kind="stable")
    i, j = (upper[k] for k in np.triu_indices(len(theta), 1))
    ratios = as_normal((theta[i] - theta[j]) / errors[i, j], spread.effective)
    bounds = bound_ratios(errors[i, j], models=len(theta), wrong=wrong)
    # The pair least apart is the one that has reached the smallest part of its own bound.
    k = int(np.argmin(ratios / bounds))
    return Separation(float(ratios[k]), float(bounds[k]), (int(i[k]), int(j[k])), width)


def bound_ratios(errors: Floats, *, models: int, wrong: float = WRONG) -> Floats:
    """Return what the ratio of a gap to its error must exceed, at any look, to be no chance.

    `errors` are standard errors of gaps, in nats, of any shape. With probability `wrong` any of the
    n - 1 pairs of neighbours crosses its bound though it is the other way round, or equal.

    Source: Robbins (1970): where the likelihood ratio of normally scattered gaps to no gap exceeds
        1 / level.
    """
    # Errors of zero or infinity give infinite bounds: such pairs are never apart.
    with np.errstate(divide="ignore", over="ignore"):
        more = (errors / _EXPECTED) ** 2
        known = np.log1p(1.0 / more) + 2.0 * np.log((models - 1) / wrong)
        return np.asarray(np.sqrt((1.0 + more) * known), dtype=np.float64)


def as_normal(ratios: Floats, clusters: float) -> Floats:
    """Return normal scores as unlikely as ratios are by Student's t with `clusters` - 1 degrees."""
    likely = stdtr(max(clusters - 1.0, 1.0), -np.asarray(ratios, dtype=np.float64))
    return np.asarray(np.minimum(-ndtri(likely), _LARGEST), dtype=np.float64)
