"""Cells in, ratings out: every component fitted apart, with intervals and places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoring.bradley_terry import PHANTOM, SCALE, fit_strengths, to_ratings
from scoring.cells import Cells, Floats, Ints, select_models
from scoring.components import find_components, find_one_sided
from scoring.intervals import LEVEL, half_widths, standard_errors
from scoring.ranks import rank


class Ratings(NamedTuple):
    """What is known of each model, each array of shape (models,)."""

    rating: Floats
    """Mean 1000 in each component; NaN for a model without a battle, as `low` and `high`."""
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


def rate(cells: Cells, *, level: float = LEVEL) -> Ratings:
    """Return the ratings of all models; those of different components have no common scale.

    A component whose win graph is not strongly connected is fitted with `PHANTOM` battles a model.

    Raises:
        ValueError: `level` is not between 0 and 1.
        ArithmeticError: a fit did not settle.
    """
    components = find_components(cells)
    ratings = _unrated(cells.models, components)
    for members in components:
        part = select_models(cells, members)
        ratings.clusters.append(part.clusters)
        _rate_component(ratings, members, part=part, level=level)
    return ratings


def _rate_component(ratings: Ratings, members: Ints, *, part: Cells, level: float) -> None:
    """Fill the rows of `members`."""
    one_sided = find_one_sided(part)
    phantom = PHANTOM if one_sided.any() else 0.0
    theta = fit_strengths(part, phantom=phantom)
    errors = standard_errors(part, theta, phantom=phantom, one_sided=one_sided)
    half = SCALE * half_widths(errors, part.clusters, level=level)
    middle = to_ratings(theta)
    low, high = middle - half, middle + half
    places = rank(middle, low, high)
    for array, values in zip(ratings[:6], (middle, low, high, *places), strict=True):
        array[members] = values
    ratings.one_sided[members] = one_sided


def _unrated(models: int, components: list[Ints]) -> Ratings:
    rating, low, high = np.full((3, models), np.nan)
    place, best, worst = np.zeros((3, models), dtype=np.int64)
    one_sided = np.zeros(models, dtype=np.bool_)
    return Ratings(rating, low, high, place, best, worst, one_sided, components, [])
