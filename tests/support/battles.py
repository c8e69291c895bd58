"""Battles drawn at random, dense enough that every fit is finite."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.counts import Floats, Ints


def draw_battles(seed: int, models: int, *, battles: int) -> tuple[Ints, Ints, Floats]:
    """Every pair four ways and random battles behind, so that the win graph is dense."""
    rng = np.random.default_rng(seed)
    pairs = np.concatenate([roster_pairs(models), roster_pairs(models)[:, ::-1]])
    extra = pairs[rng.integers(0, len(pairs), battles)]
    rows = np.concatenate([pairs, pairs, extra])
    certain = np.repeat([1.0, 0.5], len(pairs))
    chance = 1 / (1 + np.exp((extra[:, 0] - extra[:, 1]) / 3))
    drawn = np.where(rng.random(battles) < 0.1, 0.5, rng.random(battles) < chance)
    return rows[:, 0], rows[:, 1], np.concatenate([certain, drawn])


def fit_logistic(design: Floats, points: Floats) -> Floats:
    """Coefficients of scikit-learn's logistic regression without penalty; half a point weighs half.

    Args:
        design: shape (B, K), of full rank.
        points: shape (B,): 1, 0.5 or 0.
    """
    model = LogisticRegression(
        C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
    )
    won = np.repeat([1, 0], len(points))
    model.fit(np.tile(design, (2, 1)), won, sample_weight=np.concatenate([points, 1 - points]))
    return np.asarray(model.coef_[0], dtype=np.float64)
