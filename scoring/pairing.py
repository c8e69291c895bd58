"""Who meets whom: maps given numbers in [0, 1) to pairs and seats.

Owns the rules, not the chance: the caller derives every number from its seed, so that a draw
depends on nothing but what the caller put into it. Keeping one pair through a lineage is the
caller's choice too: it draws once for the lineage instead of once for each slot.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

PROPENSITY_DECIMALS = 6


class Pick(NamedTuple):
    """A pair drawn: its row in `roster_pairs`, and how likely that unordered pair was."""

    pair: int
    propensity: float


class Place(NamedTuple):
    """Where a slot stands when pairs are dealt: which deck, and how many cards are above it."""

    deck: int
    card: int


class Seats(NamedTuple):
    """Roster indices of the model read first and of the model read second."""

    a: int
    b: int


def count_pairs(n: int) -> int:
    """Return how many unordered pairs `n` models have.

    Raises:
        ValueError: fewer than two models.
    """
    if n < 2:
        raise ValueError(f"{n} models make no pair; pass at least two")
    return n * (n - 1) // 2


def roster_pairs(n: int) -> NDArray[np.int64]:
    """Return all unordered pairs, shape (n(n-1)/2, 2): (0, 1), (0, 2), ... in roster order.

    Raises:
        ValueError: fewer than two models.
    """
    count_pairs(n)
    return np.array(list(combinations(range(n), 2)), dtype=np.int64)


def pick_uniform(u: float, n: int) -> Pick:
    """Return the pair that `u` falls on when all pairs of `n` models are equally wide.

    The propensity is rounded to 1e-6.

    Raises:
        ValueError: `u` is not in [0, 1), or fewer than two models.
    """
    pairs = count_pairs(n)
    # A number just below 1 may round up to `pairs` in the product.
    pair = min(int(_in_unit(u) * pairs), pairs - 1)
    return Pick(pair, round(1.0 / pairs, PROPENSITY_DECIMALS))


def find_place(ordinal: int, n: int) -> Place:
    """Return the deck and card of the slot `ordinal`, counted from 0; a deck holds every pair once.

    Raises:
        ValueError: a negative ordinal, or fewer than two models.
    """
    if ordinal < 0:
        raise ValueError(f"slot {ordinal} is before the first; ordinals count from 0")
    return Place(*divmod(ordinal, count_pairs(n)))


def deal(ordinal: int, n: int, *, keys: ArrayLike) -> int:
    """Return the pair dealt to the slot `ordinal`: decks in turn, each with every pair once.

    The pairs of a deck lie in the order of their keys. Counts of two pairs never differ by more
    than one, wherever dealing stops.

    Args:
        ordinal: place in the stored order of slots, from 0.
        n: how many models.
        keys: shape (n(n-1)/2,), one number a pair, belonging to the deck `find_place` names.

    Raises:
        ValueError: a negative ordinal, fewer than two models, or keys that are not one finite
            number a pair.
    """
    card = find_place(ordinal, n).card
    order = np.asarray(keys, dtype=np.float64)
    if order.shape != (count_pairs(n),) or not np.isfinite(order).all():
        raise ValueError(f"keys must be {count_pairs(n)} finite numbers, one a pair")
    return int(np.argsort(order, kind="stable")[card])


def take_seats(pair: int, n: int, *, u: float) -> Seats:
    """Return who is read first: the earlier in the roster when `u` is below one half.

    Raises:
        ValueError: `u` is not in [0, 1), no such pair, or fewer than two models.
    """
    if not 0 <= pair < count_pairs(n):
        raise ValueError(f"there is no pair {pair}; {n} models have {count_pairs(n)}")
    first, second = (int(index) for index in roster_pairs(n)[pair])
    return Seats(first, second) if _in_unit(u) < 0.5 else Seats(second, first)


def _in_unit(u: float) -> float:
    if not 0.0 <= u < 1.0:
        raise ValueError(f"{u} is not in [0, 1)")
    return u
