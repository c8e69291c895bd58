"""Battles drawn at random, dense enough that every fit is finite."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import BattleRows, Floats, Ints, count_rows
from videoautoarena.scoring.texts.style import compare_styles, standardise


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


class Styled(NamedTuple):
    """Battles whose answers have a length; a stronger model has the lower index."""

    a: Ints
    b: Ints
    points: Floats
    video: Ints
    sizes: Floats
    """Shape (battles, 2), of both answers."""

    @property
    def rows(self) -> BattleRows:
        """As they are fitted, with one standard deviation of the length as the unit."""
        x, _ = standardise(compare_styles(self.sizes[:, :1], self.sizes[:, 1:]))
        models = int(max(self.a.max(), self.b.max())) + 1
        return count_rows(
            self.a, self.b, outcome=self.points, models=models, x=x, cluster=self.video
        )


def draw_styled(
    seed: int, *, models: int, videos: int, each: int = 10, own: float, worth: float = 0.0
) -> Styled:
    """Battles of models 60 points apart, `each` about a video.

    A share `own` of the variance of an answer's length is its model's own, and a standard deviation
    of the difference is `worth` so many nats.
    """
    rng = np.random.default_rng(seed)
    count = videos * each
    a = rng.integers(0, models, count)
    b = (a + rng.integers(1, models, count)) % models
    mark = rng.standard_normal(models)
    sizes = np.empty((count, 2))
    for k, model in enumerate((a, b)):
        noise = rng.standard_normal(count)
        deviate = np.sqrt(own) * mark[model] + np.sqrt(1.0 - own) * noise
        sizes[:, k] = np.ceil(np.exp(4.5 + 0.6 * deviate))
    x, _ = standardise(compare_styles(sizes[:, :1], sizes[:, 1:]))
    gap = (b - a) * 60.0 / SCALE + worth * x[:, 0]
    points = (rng.random(count) < 1.0 / (1.0 + np.exp(-gap))).astype(float)
    return Styled(a, b, points, np.repeat(np.arange(videos), each), sizes)


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
