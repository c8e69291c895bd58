"""Accuracy by task and the mean over tasks, with intervals that know videos.

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
    Spread,
    bound_share,
    measure_mean,
    measure_share,
    read_clusters,
)

_ENDLESS = 1_000_000_000
"""Degrees with which Student's t is the normal curve."""


class Tasks(NamedTuple):
    """What the items of several tasks come to, tasks in the order of their numbers."""

    tasks: tuple[Share, ...]
    mean: Share
    """Of the figures of tasks; `n` counts items. M-Avg or G-Avg."""
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
    spread = Spread(found.value, found.n, _ENDLESS)
    return Share(found.value, *bound_share(*spread[:3]), found.n, spread)


def measure_tasks(
    right: ArrayLike,
    task: ArrayLike,
    video: ArrayLike | None = None,
    *,
    chance: ArrayLike | None = None,
) -> Tasks:
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


def measure_scores(score: ArrayLike, task: ArrayLike, video: ArrayLike | None = None) -> Tasks:
    """Return the mean score on each task, on any scale, and the mean over tasks.

    Raises:
        ValueError: as `measure_mean`.
    """
    return _measure(measure_mean, score, task, video, chance=None)


def average(figures: Sequence[Share], together: Floats | None = None) -> Share:
    """Return the mean of figures and its 95 % interval.

    The distances of the bounds from their values are put together as standard errors would be, and
    never to less than if figures had nothing in common: few videos go against each other by chance.

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
) -> Tasks:
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
    return Tasks(tuple(figures), mean, chances, float(np.mean(chances)) if chances else np.nan)


def _link(values: Floats, task: Ints, groups: Ints) -> Floats:
    """Return how tasks go together across the videos they share, shape (tasks, tasks).

    One video says nothing of that: so wholly that their mean is no surer than each of them.
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
