"""Which of several settings is cheap enough and as good as the best, on the same items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from videoautoarena.scoring.ratings.differences import Lead, measure_lead

MARGIN = 0.02
_SAME = 1e-12


class Choice(NamedTuple):
    """The settings by their place in what was given."""

    best: int
    """Of the highest mean; of several, the cheapest."""
    cheapest: int
    """Of those that are not shown to lie further behind the best than the margin."""
    leads: tuple[Lead, ...]
    """Of each setting over the best, item by item: none above 0; that of the best is 0 for sure."""


def choose_cheapest(
    results: ArrayLike,
    costs: ArrayLike,
    video: ArrayLike | None = None,
    *,
    margin: float = MARGIN,
) -> Choice:
    """Return the cheapest setting whose difference from the best has a bound above -margin.

    The bound is the lower end of the 95 % interval of the paired difference, so what is chosen is
    shown to be nearly as good, and not merely not shown to be worse. The best always qualifies.

    Args:
        results: shape (settings, items), 0 to 1.
        costs: shape (settings,), in whatever unit.
        video: shape (items,), whole numbers; items that share one are not independent.
        margin: how much less is as good, above 0.

    Raises:
        ValueError: no item or setting, a cost that is no figure, or as `measure_lead`.
    """
    rows = np.asarray(results, dtype=np.float64)
    prices = np.asarray(costs, dtype=np.float64)
    if rows.ndim != 2 or not rows.size or prices.shape != rows.shape[:1]:
        raise ValueError("settings must have a result for each item, and a cost each")
    if not np.isfinite(prices).all() or margin <= 0.0:
        raise ValueError("costs must be finite and the margin above 0")
    means = rows.mean(axis=1)
    order = np.lexsort((-means, prices))
    best = next(int(k) for k in order if means[k] >= means.max() - _SAME)
    leads = tuple(
        Lead(0.0, 0.0, 0.0, rows.shape[1], np.nan) if k == best
        else measure_lead(row, rows[best], video)
        for k, row in enumerate(rows)
    )  # fmt: skip
    cheapest = next(int(k) for k in order if leads[k].low > -margin)
    return Choice(best, cheapest, leads)
