"""What a probe would win by chance, exactly, where options share a pick and items differ in size.

A probe that points at t of m options earns 1/t where the key is one of them. Whoever draws keys
evenly lets it be so with a chance of t/m, whatever the texts; so the credits are a sum of
independent terms of known size and chance, and its tails follow without any rounding of credits.
A pick shared by all options is worth 1/m for certain and says nothing. Up to ties of six this is
exact; larger ones are rounded against finding anything.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import bdtrc

from videoautoarena.scoring.fitting.counts import Floats, Ints

FOUND = 0.001
LOOK = 0.01
Reading = Literal["found", "look", "balanced too exactly", "clean"]
_WIDEST, _FINEST = 6, 60
"""Parts of a credit that ties of up to six options divide into."""
_SLACK = 1e-6
_ROUNDING = 1e-13
"""What adding up in the frequency domain may be off by."""


class Tails(NamedTuple):
    """How likely keys drawn evenly give a probe at least, and at most, what it earned."""

    above: float
    below: float


def measure_tails(hit: Ints, shared: Ints, offered: Ints) -> Tails:
    """Return both tails of a probe's credits.

    Args:
        hit: shape (items,), 1 where the key is among the options pointed at, else 0.
        shared: shape (items,), how many options are pointed at.
        offered: shape (items,), how many there are.
    """
    said = shared < offered
    hit, shared, chance = hit[said], shared[said], shared[said] / offered[said]
    if len(hit) == 0:
        return Tails(1.0, 1.0)
    parts = int(np.lcm.reduce(shared)) if shared.max() <= _WIDEST else _FINEST
    low = parts // shared
    high = -(-parts // shared)
    earned = int((hit * low).sum())
    missed = int(((1 - hit) * low).sum())
    # At most so much is earned just where at least so much is missed.
    return Tails(_at_least(earned, high, chance), _at_least(missed, high, 1.0 - chance))


def measure_rough_tails(credits: Floats, offered: Ints) -> Tails:
    """Return both tails as if of options that share a pick one had been drawn.

    That scatters more than the credits do; what they fall short of a whole number of is given to
    neither side.
    """
    one = np.ones_like(offered)
    few, many = (
        np.arange(len(one)) < round_off(credits.sum() + slack)
        for round_off, slack in ((np.floor, _SLACK), (np.ceil, -_SLACK))
    )
    return Tails(
        measure_tails(few.astype(np.int64), one, offered).above,
        measure_tails(many.astype(np.int64), one, offered).below,
    )


def _at_least(least: int, worth: Ints, chance: Floats) -> float:
    """Return how likely independent terms, each 0 or its worth, add up to `least` or more.

    Source: Hong (2013), Comput. Stat. Data Anal. 59, the Poisson binomial by its characteristic
        function.
    """
    if least <= 0:
        return 1.0
    kinds, times = np.unique(np.stack([worth, chance]), axis=1, return_counts=True)
    if len(times) == 1:
        return float(bdtrc(-(-least // worth[0]) - 1, len(worth), chance[0]))
    size = int(next_fast_len(int(worth.sum()) + 1, real=True))
    turn = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    waves = np.ones_like(turn)
    for (each, likely), count in zip(kinds.T, times, strict=True):
        waves *= (1.0 - likely + likely * turn**each) ** count
    tail = float(np.fft.irfft(waves, size)[least : int(worth.sum()) + 1].sum())
    return min(max(tail, 0.0) + _ROUNDING, 1.0)
