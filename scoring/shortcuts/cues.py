"""What points at an option without a look at the video: a score for each, the highest is picked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.shortcuts.items import Layout, words

_SAME = 1e-9
_UNSEEN, _ONE = 0.25, 1.0
"""An option never offered elsewhere is right one time in four, as firmly as one offer says."""


class Picks(NamedTuple):
    """What a probe picks; several rows where keys were drawn several times."""

    top: Ints
    """Shape (.., N), 1 for the options of the highest score of their item, else 0."""
    shared: Ints
    """Shape (.., n), how many these are."""

    def hits(self, key: Ints) -> Ints:
        """Return 1 where the key is among them, else 0, shape (.., k)."""
        return np.asarray(np.take_along_axis(self.top, key, axis=-1), dtype=np.int64)

    def earn(self, key: Ints) -> Floats:
        """Return what the picks are worth, 1/t where the key is one of t, shape (.., n)."""
        earned = np.zeros(self.shared.shape)
        earned[..., : key.shape[-1]] = self.hits(key)
        return earned / self.shared


def pick(scores: Floats, layout: Layout) -> Picks:
    """Return which options have the highest score of their item; alike ones share it."""
    best = np.maximum.reduceat(scores, layout.start, axis=-1)
    top = (scores >= best[..., layout.owner] - _SAME).astype(np.int64)
    return Picks(top, np.add.reduceat(top, layout.start, axis=-1))


def score_length(layout: Layout) -> Floats:
    """Return how many characters each option has."""
    return np.array([len(option) for option in layout.options], dtype=np.float64)


def score_overlap(layout: Layout) -> Floats:
    """Return the share of each option's words that the question has, too; 0 without a word."""
    asked = [set(words(question)) for question in layout.questions]
    said = [set(words(option)) for option in layout.options]
    return np.array(
        [
            len(own & asked[item]) / max(len(own), 1)
            for own, item in zip(said, layout.owner, strict=True)
        ]
    )


def score_centre(layout: Layout) -> Floats:
    """Return how much each option is like the others of its item.

    Two are alike by the share of words that stand at the same place in both, counted from the front
    and from the back; so among orders made of one by swaps, that one is most like the others.
    """
    said = [words(option) for option in layout.options]
    ends = zip(layout.start.tolist(), (layout.start + layout.size).tolist(), strict=True)
    return np.array([near for start, end in ends for near in _nearness(said[start:end])])


def score_rates(layout: Layout, labels: Ints, keys: Ints) -> Floats:
    """Return how often what an option is labelled with was right in the other items.

    That is (right + 1/4) / (offered + 1), the own item left out, shape (draws, N).

    Args:
        layout: the items.
        labels: shape (N,), whole numbers from 0, such as texts or places.
        keys: shape (draws, n), rows of right options.
    """
    marked = labels[keys]
    sure = _keyed(layout, keys)
    right = _count(marked, int(labels.max()) + 1)
    _, own, times = np.unique(
        layout.owner * right.shape[1] + labels, return_inverse=True, return_counts=True
    )
    elsewhere = np.bincount(labels)[labels] - times[own]
    won = right[:, labels]
    won[:, :sure] -= marked[:, layout.owner[:sure]] == labels[:sure]
    return np.asarray((won + _UNSEEN) / (elsewhere + _ONE), dtype=np.float64)


def measure_unevenness(layout: Layout, labels: Ints, keys: Ints) -> Floats:
    """Return how unevenly right answers spread over labels offered twice or more, (draws,).

    Squares of right answers beyond expectation, each over its variance if keys are drawn evenly.
    """
    sure = _keyed(layout, keys)
    kinds = int(labels.max()) + 1
    chance = (1.0 / layout.size)[layout.owner[:sure]]
    of = labels[:sure]
    often = np.bincount(of, minlength=kinds) > 1
    hoped = np.bincount(of, chance, minlength=kinds)[often]
    scatter = np.bincount(of, chance * (1.0 - chance), minlength=kinds)[often]
    right = _count(labels[keys], kinds)[:, often]
    return np.asarray(((right - hoped) ** 2 / scatter).sum(axis=1), dtype=np.float64)


def _keyed(layout: Layout, keys: Ints) -> int:
    """Return how many options the items with a key have; they come first."""
    return int(layout.size[: keys.shape[1]].sum())


def _count(marked: Ints, kinds: int) -> Ints:
    """Return how often each label is marked in each row, shape (rows, kinds)."""
    rows = len(marked)
    flat = (np.arange(rows)[:, None] * kinds + marked).ravel()
    return np.bincount(flat, minlength=rows * kinds).reshape(rows, kinds)


def _nearness(said: Sequence[list[str]]) -> list[float]:
    near = [0.0] * len(said)
    for i, one in enumerate(said):
        for j, other in enumerate(said[:i]):
            alike = _likeness(one, other)
            near[i] += alike
            near[j] += alike
    return near


def _likeness(one: list[str], other: list[str]) -> float:
    front = sum(x == y for x, y in zip(one, other, strict=False))
    back = sum(x == y for x, y in zip(reversed(one), reversed(other), strict=False))
    return (front + back) / max(len(one), len(other), 1)
