"""Accuracy by task and over tasks, with intervals that know videos, and what is nearly as good.

A mean over tasks counts each task alike, however many items it has: M-Avg of tasks answered by
choice, G-Avg of tasks answered in words. A mean over items is another figure and none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from videoautoarena.scoring.fitting.counts import Floats, Ints, number
from videoautoarena.scoring.intervals.proportions import (
    NOTHING,
    Share,
    ShareSpread,
    bound_share,
    measure_mean,
    measure_share,
    read_clusters,
)
from videoautoarena.scoring.ratings.differences import PairedLead, measure_lead

_ENDLESS = 1_000_000_000
"""Degrees of freedom at which Student's t is the normal distribution."""


class TaskMeans(NamedTuple):
    """The figures of several tasks, in the order of the tasks' numbers."""

    tasks: tuple[Share, ...]
    mean: Share
    """The mean of the figures of tasks, M-Avg or G-Avg; `n` counts items."""
    chances: tuple[float, ...]
    """What guessing would give in each task; NaN where nothing is to be guessed."""
    chance: float
    """Their mean."""


def measure_accuracy(right: ArrayLike, video: ArrayLike | None = None) -> Share:
    """Return the share of right answers and its 95 % interval.

    Wilson's own where each item has a video of its own, else that of `measure_share`.

    Args:
        right: shape (items,), 0 to 1.
        video: whole numbers; items that share one are not independent.

    Raises:
        ValueError: as `measure_share`.

    Source: Wilson (1927), J. Am. Stat. Assoc. 22.
    """
    found = measure_share(right, video)
    units = read_clusters(video, np.shape(right))
    if found.n < 2 or len(np.unique(units)) < found.n:
        return found
    spread = ShareSpread(found.value, found.n, _ENDLESS)
    return Share(found.value, *bound_share(*spread[:3]), found.n, spread)


def measure_tasks(
    right: ArrayLike,
    task: ArrayLike,
    video: ArrayLike | None = None,
    *,
    chance: ArrayLike | None = None,
) -> TaskMeans:
    """Return the accuracy on each task, and the mean over tasks.

    Args:
        right: shape (items,), 0 to 1.
        task: whole numbers.
        video: whole numbers; items that share one are not independent, across tasks neither.
        chance: shape (items,), such as 1 / options.

    Raises:
        ValueError: as `measure_share`.
    """
    return _measure(measure_accuracy, right, task, video, chance=chance)


def measure_scores(score: ArrayLike, task: ArrayLike, video: ArrayLike | None = None) -> TaskMeans:
    """Return the mean score on each task, on any scale, and the mean over tasks.

    Raises:
        ValueError: as `measure_mean`.
    """
    return _measure(measure_mean, score, task, video, chance=None)


def average(figures: Sequence[Share], together: Floats | None = None) -> Share:
    """Return the mean of figures and its 95 % interval.

    The distances of the bounds from their values are combined as standard errors would be, and to
    no less than if figures had nothing in common: few videos go against each other by chance.

    Args:
        figures: each with its interval.
        together: shape (figures, figures), their correlations; none where not given.

    Returns:
        NaN bounds where a figure has none.

    Source: Zou and Donner (2008), Statistics in Medicine 27, recovering variances from bounds.
    """
    if not figures:
        return NOTHING
    value, low, high, n = (np.array(column) for column in zip(*figures, strict=True))
    linked = np.eye(len(value)) if together is None else together
    down, up = (
        float(np.sqrt(np.maximum(reach @ linked @ reach, reach @ reach))) / len(value)
        for reach in (value - low, high - value)
    )
    mean = float(value.mean())
    return Share(mean, mean - down, mean + up, int(n.sum()))


def _measure(
    of: Callable[[ArrayLike, ArrayLike], Share],
    points: ArrayLike,
    task: ArrayLike,
    video: ArrayLike | None,
    *,
    chance: ArrayLike | None,
) -> TaskMeans:
    values = np.asarray(points, dtype=np.float64)
    groups = read_clusters(video, values.shape)
    names, place = number(read_clusters(task, values.shape))
    guess = np.full(values.shape, np.nan) if chance is None else np.asarray(chance, dtype=float)
    if guess.shape != values.shape:
        raise ValueError("there must be a chance for each item")
    masks: list[NDArray[np.bool_]] = [place == k for k in range(len(names))]
    figures = [of(values[mask], groups[mask]) for mask in masks]
    chances = tuple(float(guess[mask].mean()) for mask in masks)
    mean = average(figures, _link(values, place, groups))
    return TaskMeans(tuple(figures), mean, chances, float(np.mean(chances)) if chances else np.nan)


def _link(values: Floats, task: Ints, groups: Ints) -> Floats:
    """Return how tasks go together across the videos they share, shape (tasks, tasks).

    One video cannot tell: tasks then go together wholly, and their mean is no surer than each.
    """
    tasks = int(task.max(initial=-1)) + 1
    if groups.max(initial=0) == 0:
        return np.ones((tasks, tasks))
    mean = np.bincount(task, values, tasks) / np.bincount(task, minlength=tasks)
    sums = np.zeros((tasks, int(groups.max(initial=-1)) + 1))
    np.add.at(sums, (task, groups), values - mean[task])
    length = np.sqrt((sums**2).sum(axis=1))
    scale = np.outer(length, length)
    linked = np.divide(sums @ sums.T, scale, out=np.zeros_like(scale), where=scale > 0.0)
    np.fill_diagonal(linked, 1.0)
    return linked


MARGIN = 0.02
# Means that differ by less differ by rounding.
_SAME = 1e-12


class SettingChoice(NamedTuple):
    """Settings, by their place among those given."""

    best: int
    """The setting with the highest mean; of several, the cheapest."""
    cheapest: int
    """The cheapest setting that is shown to be less than the margin behind the best."""
    leads: tuple[PairedLead, ...]
    """Lead of each setting over the best, item by item, never above 0; exactly 0 for the best."""


def choose_cheapest(
    results: ArrayLike,
    costs: ArrayLike,
    video: ArrayLike | None = None,
    *,
    margin: float = MARGIN,
) -> SettingChoice:
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
    # By price, and among equal prices by mean: the first that qualifies is the one to take.
    order = np.lexsort((-means, prices))
    best = next(int(k) for k in order if means[k] >= means.max() - _SAME)
    leads = tuple(
        PairedLead(0.0, 0.0, 0.0, rows.shape[1], np.nan) if k == best
        else measure_lead(row, rows[best], video)
        for k, row in enumerate(rows)
    )  # fmt: skip
    cheapest = next(int(k) for k in order if leads[k].low > -margin)
    return SettingChoice(best, cheapest, leads)
