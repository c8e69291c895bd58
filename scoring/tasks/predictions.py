"""What sampling alone lets a model see of a short stretch, and how far results agree with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.intervals.proportions import Share
from videoautoarena.scoring.tasks.averages import measure_accuracy


class Prediction(NamedTuple):
    """Right answers beside what was predicted of them."""

    right: Share
    predicted: float
    """The mean of the chances of being right, 0 to 1."""
    errors: float
    """By how many standard errors more were right than predicted; 0 where nothing is left to
    chance and all came as predicted."""
    when_hit: Share
    """Right answers where the stretch was seen."""
    when_missed: Share
    chance_missed: float
    """What guessing gives where it was not; NaN where it always was."""


def share_hit(sampled: ArrayLike, frames: int, length: int) -> float:
    """Return the share of places of a stretch at which some sampled frame lies in it.

    Every place is counted: the first and the last frame of a video belong to no stretch, so that it
    starts at one of the frames from 1 to `frames` - `length` - 1. (Frames times length over
    duration is too much: sampling at even steps takes the two ends as well.)

    Args:
        sampled: frames that are looked at, from 0; none for whoever sees nothing.
        frames: how many the video has.
        length: how many of them the stretch has.

    Raises:
        ValueError: a stretch that does not fit, or a frame that is not in the video.
    """
    places = frames - length - 1
    if length < 1 or places < 1:
        raise ValueError(f"a stretch of {length} frames fits nowhere in a video of {frames}")
    seen = np.unique(np.asarray(sampled, dtype=np.int64))
    if len(seen) and (seen[0] < 0 or seen[-1] >= frames):
        raise ValueError("sampled frames must be of the video")
    # Between two frames that are seen, a stretch is missed at so many places as it fits there.
    gaps = np.diff(np.concatenate([[0], seen, [frames - 1]])) - 1
    return 1.0 - float(np.maximum(gaps - length + 1, 0).sum()) / places


def predict_right(hit: ArrayLike, options: ArrayLike) -> Floats:
    """Return how likely a right answer is: sure where the stretch is seen, else a guess."""
    share = np.asarray(hit, dtype=np.float64)
    return np.asarray(share + (1.0 - share) / np.asarray(options, dtype=np.float64))


def compare_prediction(
    right: ArrayLike, likely: ArrayLike, hit: ArrayLike, options: ArrayLike
) -> Prediction:
    """Return how far right answers agree with how likely each was.

    Args:
        right: shape (items,), 1 or 0.
        likely: shape (items,), as `predict_right` has it before anybody knows where the stretch is.
        hit: shape (items,), whether it was seen.
        options: shape (items,), how many there were to guess among.

    Raises:
        ValueError: unequal lengths, or figures that are not between 0 and 1.
    """
    found, chance, seen, among = (
        np.asarray(given, dtype=np.float64) for given in (right, likely, hit, options)
    )
    if not found.shape == chance.shape == seen.shape == among.shape:
        raise ValueError("all must have a figure for each item")
    if not ((chance >= 0.0) & (chance <= 1.0)).all() or not (among >= 1.0).all():
        raise ValueError("chances must be from 0 to 1, and options at least 1")
    missed = seen < 0.5
    over, scatter = float((found - chance).sum()), float((chance * (1.0 - chance)).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = float(np.divide(over, np.sqrt(scatter))) if over else 0.0
    return Prediction(
        right=measure_accuracy(found),
        predicted=float(chance.mean()) if len(chance) else np.nan,
        errors=errors,
        when_hit=measure_accuracy(found[~missed]),
        when_missed=measure_accuracy(found[missed]),
        chance_missed=float((1.0 / among[missed]).mean()) if missed.any() else np.nan,
    )
