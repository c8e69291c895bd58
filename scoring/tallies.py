"""Plain counts: battles, wins, losses, ties, and the win rate of the paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoring.cells import Cells, Floats, Ints


class Tally(NamedTuple):
    """Counts of each model, each of shape (models,)."""

    battles: Ints
    wins: Ints
    losses: Ints
    ties: Ints
    win_rate: Floats
    """In [0, 1]; NaN for a model without a battle."""


def tally(cells: Cells) -> Tally:
    """Return the counts of each model, and its win rate.

    The win rate is the mean over the opponents it met of wins / battles; a tie is in the
    denominator and wins nothing. Every opponent weighs the same, however often they met.

    Source: VideoAutoArena, the win percentage of its main table.
    """
    lost, tied, won = cells.counts.T
    wins = _sum_seats(cells, won, lost)
    losses = _sum_seats(cells, lost, won)
    ties = _sum_seats(cells, tied, tied)
    shares = _sum_seats(cells, won / cells.battles, lost / cells.battles)
    opponents = _sum_seats(cells, np.ones(len(won)), np.ones(len(won)))
    rate = np.full(cells.models, np.nan)
    np.divide(shares, opponents, out=rate, where=opponents > 0)
    return Tally(
        _whole(wins + losses + ties), _whole(wins), _whole(losses), _whole(ties), win_rate=rate
    )


def _sum_seats(cells: Cells, of_i: Floats, of_j: Floats) -> Floats:
    n = cells.models
    return np.asarray(np.bincount(cells.i, of_i, n) + np.bincount(cells.j, of_j, n), np.float64)


def _whole(values: Floats) -> Ints:
    return np.rint(values).astype(np.int64)
