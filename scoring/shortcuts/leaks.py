"""How likely text alone names the right option of each item."""

from __future__ import annotations

import numpy as np

from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.shortcuts.items import Layout

GIVEN_AWAY = 0.5
"""An item is given away where text alone is more likely right than wrong."""
_STEPS = 50
_STILL = 1e-9


def measure_leaks(layout: Layout, picks: Floats, fold: Ints) -> Floats:
    """Return the chance of the right option of each item by what probes pick, shape (k,).

    A conditional logit of the key on the picks, learned from the other parts of the items, so that
    of options given such a chance about that share is right. 1/m of m options without a probe.

    Args:
        layout: the items.
        picks: shape (N, probes), 1/t for each of the t options that a probe picks, else 0.
        fold: shape (n,), the part of each item.

    Source: McFadden (1974), Conditional logit analysis of qualitative choice behavior.
    """
    chances = np.empty(len(layout.owner))
    keyed = np.arange(len(fold)) < len(layout.key)
    for part in range(int(fold.max(initial=-1)) + 1):
        chosen = (fold == part)[layout.owner]
        weights = _fit(layout, picks, ((fold != part) & keyed).astype(np.float64))
        chances[chosen] = _share_out(layout, picks @ weights)[chosen]
    return np.asarray(chances[layout.key], dtype=np.float64)


def _share_out(layout: Layout, scores: Floats) -> Floats:
    """Return the chance of each option: exponentials of scores, of an item 1 together."""
    raised = np.exp(scores - np.maximum.reduceat(scores, layout.start)[layout.owner])
    return np.asarray(raised / np.add.reduceat(raised, layout.start)[layout.owner])


def _fit(layout: Layout, picks: Floats, counted: Floats) -> Floats:
    """Return what each probe's pick is worth, held to 0 as by a normal prior of unit variance."""
    weights = np.zeros(picks.shape[1])
    right = np.zeros(len(picks))
    right[layout.key] = 1.0
    for _ in range(_STEPS):
        chance = _share_out(layout, picks @ weights)
        each = chance * counted[layout.owner]
        mean = np.add.reduceat(picks * chance[:, None], layout.start)
        pull = picks.T @ ((right - chance) * counted[layout.owner]) - weights
        bend = (picks * each[:, None]).T @ picks - (mean * counted[:, None]).T @ mean
        step = np.linalg.solve(bend + np.eye(len(weights)), pull)
        weights += step
        if not np.abs(step).max(initial=0.0) > _STILL:
            break
    return weights
