"""What sampling alone lets a model see of a short stretch, and so how often it is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from videoautoarena.scoring.fitting.counts import Floats


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
