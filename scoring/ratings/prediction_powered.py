"""Ratings on the scale of people: a judge's verdicts, corrected by a labelled random subset.

A judge errs, so that intervals from its verdicts alone are sure of the wrong scale. Labels of a
random subset show by how much, and prediction-powered inference adds that to what the judge says of
all battles. Lambda, how much the judge counts, is tuned: 0 takes the labels alone, 1 every verdict
in full. So a poor judge costs nothing, and a good one narrows the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv
from scipy.special import expit

from videoautoarena.scoring.fitting import bradley_terry
from videoautoarena.scoring.fitting.bradley_terry import centre, fit_strengths, join
from videoautoarena.scoring.fitting.counts import Cells, Floats, Ints, number, place_among
from videoautoarena.scoring.fitting.newton import Likelihood, one_blas_thread
from videoautoarena.scoring.fitting.separation import find_components, find_one_sided, find_open
from videoautoarena.scoring.intervals import sandwich
from videoautoarena.scoring.intervals.sandwich import StrengthSpread
from videoautoarena.scoring.ratings.ratings import (
    ComponentFit,
    FitMethod,
    FittedComponent,
    NoFiniteStrength,
    Ratings,
    begin_ratings,
    place_members,
)

LEAST_LABELS = 10
"""Labelled battles of each model below which normal theory says nothing of it."""
# Rounds: the best lambda depends on the strengths, and they on lambda.
_TUNINGS = 2
_FAINT = 1e-3
"""Lambda in place of 0, where the labels alone do not join all models."""
_FARTHEST = 20.0
"""Nats between two strengths that battles cannot show: the fit was on its way to infinity."""


@dataclass(frozen=True, eq=False)
class JudgedBattles:
    """Battles that a judge decided, and some of them people, too; each array of shape (B,)."""

    models: int
    a: Ints
    """Model indices in [0, models)."""
    b: Ints
    judge: Floats
    """What the judge gives a: 1, 0.5 or 0."""
    people: Floats
    """What people give a, 0 to 1, the mean where several did; NaN where nobody was asked."""
    chance: Floats
    """How likely each was to be labelled, above 0; what all share does not matter."""
    cluster: Ints
    """Battles that share one (a video) are not independent."""

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Which battles have a label, shape (B,)."""
        return ~np.isnan(self.people)


class LabelTuning(NamedTuple):
    """How the verdicts of the judge were used in one component."""

    lam: float
    """0 to 1."""
    gain: float
    """The variance of the strengths from labels alone over that with the judge: 1.6 means as good
    as 1.6 times as many labels. NaN where one cluster holds all."""
    labels: int
    """Battles with a label."""
    battles: int


class LabelRatings(NamedTuple):
    """Ratings on the scale of people, and how the judge helped in each component."""

    ratings: Ratings
    tunings: list[LabelTuning]


class _WeighedBattles(NamedTuple):
    """Battles of one component with their weights; both weights sum to the number of labels."""

    data: JudgedBattles
    by_judge: float
    """Weight of a battle in what the judge says of all."""
    by_people: Floats
    """Weight of each battle in what people say, 0 where nobody was asked."""
    group: Ints
    """Cluster of each battle, from 0 without gaps."""


class _LabelScores(NamedTuple):
    """Scores summed over clusters, each of shape (G, models)."""

    people: Floats
    judge: Floats
    """What the judge adds at a lambda of 1."""


def count_labels(data: JudgedBattles) -> Ints:
    """Return how many labelled battles each model has, shape (models,)."""
    seats = np.concatenate([data.a[data.is_labelled], data.b[data.is_labelled]])
    return np.bincount(seats, minlength=data.models)


def rate_on_labels(
    data: JudgedBattles, method: FitMethod, *, lam: float | None = None
) -> LabelRatings:
    """Return ratings that hold on the scale of those who labelled, with clustered intervals.

    The labelled battles must be a random subset: each drawn with its `chance`, whatever its answers
    and verdict are. A model is one-sided where its labels set it no bounds. `davidson` and `rounds`
    of the method are not used. `lam`, 0 to 1, is how much the judge counts; None finds what makes
    the intervals narrowest.

    Raises:
        ValueError: a component without two labelled battles, or a level, lambda, share or chance
            that is none.
        NoFiniteStrength: by plain maximum likelihood, and some models are one-sided.
        ArithmeticError: a fit did not settle.

    Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Science 382; the tuning is that
        of Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453, here with clusters.
    """
    sandwich.check_level(method.level)
    if lam is not None and not 0.0 <= lam <= 1.0:
        raise ValueError(f"lambda {lam} is not between 0 and 1")
    given = np.concatenate([data.judge, data.people[data.is_labelled]])
    if not ((given >= 0.0) & (given <= 1.0)).all():
        raise ValueError("judge and people give a share from 0 to 1")
    if not ((data.chance > 0.0) & np.isfinite(data.chance)).all():
        raise ValueError("chances of being labelled must be above 0")
    every = _pair_up(data.models, data.a, data.b, np.ones(len(data.a)), data.judge)
    components = find_components(every)
    found = LabelRatings(begin_ratings(data.models, components), [])
    for members in components:
        part = _weigh(data, members)
        labelled = _labelled_cells(part.data)
        one_sided = find_one_sided(labelled)
        if method.likelihood == "mle" and one_sided.any():
            raise NoFiniteStrength(members[one_sided])
        theta, fit, tuning = _fit(part, method.likelihood, lam, one_sided)
        fitted = FittedComponent(theta, fit)
        # By the labels alone: on the scale of people a judge's verdicts are no evidence of who
        # never won.
        place_members(found.ratings, members, fitted, cells=labelled, method=method)
        found.tunings.append(tuning)
    return found


def _fit(
    part: _WeighedBattles, likelihood: Likelihood, lam: float | None, one_sided: NDArray[np.bool_]
) -> tuple[Floats, ComponentFit, LabelTuning]:
    with one_blas_thread():
        if lam is None:
            lam, theta = _tune(part, likelihood)
        else:
            theta = _strengths(part, lam, likelihood)
        zero = bradley_terry.information_weights(_corrected_cells(part, lam), theta)
        scores = _score(part, theta)
        bread = _bread(part, theta, lam, zero)
        spread = _spread(part, scores, bread, lam=lam, theta=theta, one_sided=one_sided, zero=zero)
        tuned = scores.people + lam * scores.judge
        alone = _variance(scores.people, scores.people, bread)
        with_judge = _variance(tuned, tuned, bread)
        gain = alone / with_judge if with_judge > 0.0 else np.nan
    sizes = int(part.data.is_labelled.sum()), len(part.data.a)
    return centre(theta, zero), ComponentFit(spread), LabelTuning(lam, gain, *sizes)


def _tune(part: _WeighedBattles, likelihood: Likelihood) -> tuple[float, Floats]:
    """Return lambda and the strengths with it; the labels alone where the judge leads nowhere."""
    lam = 0.5
    even = np.full(part.data.models, 1.0 / part.data.models)
    try:
        for _ in range(_TUNINGS):
            theta = _strengths(part, lam, likelihood)
            scores = _score(part, theta)
            bread = _bread(part, theta, lam, even)
            # The summed variance of the strengths is a parabola in lambda, and this is its vertex.
            across = _variance(scores.people, scores.judge, bread)
            square = _variance(scores.judge, scores.judge, bread)
            lam = min(max(-across / square, 0.0), 1.0) if square > 0.0 else 0.0
        return lam, _strengths(part, lam, likelihood)
    except ArithmeticError:
        # Corrected shares may lie outside 0 and 1, and no strengths give such shares.
        joined = len(find_components(_labelled_cells(part.data))[0]) == part.data.models
        lam = 0.0 if joined else _FAINT
        return lam, _strengths(part, lam, likelihood)


def _variance(one: Floats, other: Floats, bread: Floats) -> float:
    """Return what two sets of scores add to the summed variance of the strengths."""
    return float(((one.T @ other) * (bread @ bread)).sum())


def _strengths(part: _WeighedBattles, lam: float, likelihood: Likelihood) -> Floats:
    theta = fit_strengths(_corrected_cells(part, lam), likelihood=likelihood)
    # A fit that is on its way to infinity may still look settled to the solver.
    if np.ptp(theta) > _FARTHEST:
        raise ArithmeticError("strengths run away; corrected shares lie at or beyond 0 or 1")
    return theta


def _bread(part: _WeighedBattles, theta: Floats, lam: float, zero: Floats) -> Floats:
    matrix = bradley_terry.information(_corrected_cells(part, lam), theta)
    return sandwich.against_zero(inv(bradley_terry.pin_mean(matrix)), zero)


def _corrected_cells(part: _WeighedBattles, lam: float) -> Cells:
    """Return the judge's cells of all battles, less those of labelled ones, plus the labels.

    Points of a pair may lie below 0 or above its battles, which does the fit no harm.
    """
    data = part.data
    judged = lam * (part.by_judge - part.by_people)
    # Without a label the weight is 0, but 0 times NaN is NaN.
    points = judged * data.judge + part.by_people * np.nan_to_num(data.people)
    return _pair_up(data.models, data.a, data.b, judged + part.by_people, points)


def _score(part: _WeighedBattles, theta: Floats) -> _LabelScores:
    """Return each cluster's part in the sum that is zero at the strengths, less its expectation."""
    data = part.data
    people = part.by_people
    chance = expit(theta[data.a] - theta[data.b])
    wrong_judge = data.judge - chance
    wrong_people = np.nan_to_num(data.people - chance)
    every = np.full(len(people), part.by_judge)
    return _LabelScores(
        _sum_clusters(part, people, wrong_people),
        _sum_clusters(part, every, wrong_judge) - _sum_clusters(part, people, wrong_judge),
    )


def _sum_clusters(part: _WeighedBattles, weight: Floats, surplus: Floats) -> Floats:
    """Return weighted scores by cluster, each less what its weight would have on average."""
    data = part.data
    rows = int(part.group.max()) + 1
    value = weight * surplus
    entries = [(data.a, value), (data.b, -value)]
    by_cluster = sandwich.sum_scores(part.group, entries, shape=(rows, data.models))
    share = np.bincount(part.group, weight, rows) / weight.sum()
    return np.asarray(by_cluster - share[:, None] * by_cluster.sum(axis=0), dtype=np.float64)


def _spread(
    part: _WeighedBattles,
    scores: _LabelScores,
    bread: Floats,
    *,
    lam: float,
    theta: Floats,
    one_sided: NDArray[np.bool_],
    zero: Floats,
) -> StrengthSpread:
    """Return the sandwich over clusters that hold a label."""
    data = part.data
    whole = scores.people + lam * scores.judge
    labelled = data.is_labelled
    seen = np.zeros((int(part.group.max()) + 1, data.models), dtype=np.bool_)
    seen[part.group[labelled], data.a[labelled]] = True
    seen[part.group[labelled], data.b[labelled]] = True
    has_label = seen.any(axis=1)
    clusters = int(has_label.sum())
    pull = _pull(part, theta, bread, lam)
    if sandwich.is_felt(pull):
        weights = _weights(part, theta, lam)

        def inform(along: Floats) -> Floats:
            """Return each cluster's information times its row of `along`, shape (G, models)."""
            moved = weights * (along[part.group, data.a] - along[part.group, data.b])
            entries = [(data.a, moved), (data.b, -moved)]
            return sandwich.sum_scores(part.group, entries, shape=along.shape)

        whole = sandwich.without_pull(whole, bread, inform)
        # The jackknife's factor, as in `cluster_meat`.
        whole *= 1.0 - 1.0 / max(clusters, 2)
    more = clusters / (clusters - 1) if clusters > 1 else 1.0
    robust = bread @ (whole.T @ whole) @ bread * more
    # The same from scores of single battles, as if they were independent.
    chance = expit(theta[data.a] - theta[data.b])
    score = lam * (part.by_judge - part.by_people) * (data.judge - chance)
    score += part.by_people * np.nan_to_num(data.people - chance)
    cells = _pair_up(data.models, data.a, data.b, score**2, np.zeros(len(score)))
    least = bread @ join(cells, cells.battles) @ bread
    effective = sandwich.effective_number(_pull(part, theta, bread, 0.0)[has_label])
    open = find_open(_labelled_cells(data), one_sided)
    return StrengthSpread(
        robust, least, bread, clusters, effective, seen.sum(axis=0), one_sided, open, zero
    )


def _weights(part: _WeighedBattles, theta: Floats, lam: float) -> Floats:
    """Return the information of each battle."""
    data = part.data
    chance = expit(theta[data.a] - theta[data.b])
    worth = lam * (part.by_judge - part.by_people) + part.by_people
    return np.asarray(worth * chance * (1.0 - chance), dtype=np.float64)


def _pull(part: _WeighedBattles, theta: Floats, bread: Floats, lam: float) -> Floats:
    across = sandwich.gap_variances(bread)[part.data.a, part.data.b]
    hat = _weights(part, theta, lam) * across
    return sandwich.sum_pull(part.group, hat, int(part.group.max()) + 1)


def _labelled_cells(data: JudgedBattles) -> Cells:
    mine = data.is_labelled
    return _pair_up(
        data.models, data.a[mine], data.b[mine], np.ones(int(mine.sum())), data.people[mine]
    )


def _pair_up(models: int, a: Ints, b: Ints, battles: Floats, points: Floats) -> Cells:
    """Return cells of weighted battles; points are those of a, ties split into win and loss."""
    low = np.minimum(a, b)
    high = np.maximum(a, b)
    pair, cell = number(low * models + high)
    battles_of = np.bincount(cell, battles, len(pair))
    points_of = np.bincount(cell, np.where(a == low, points, battles - points), len(pair))
    counts = np.stack([battles_of - points_of, np.zeros(len(pair)), points_of], axis=1)
    return Cells(models, pair // models, pair % models, counts)


def _weigh(every: JudgedBattles, members: Ints) -> _WeighedBattles:
    """Return the battles among `members` with their weights."""
    place = place_among(members, every.models)
    keep = place[every.a] >= 0
    data = JudgedBattles(
        len(members),
        place[every.a[keep]],
        place[every.b[keep]],
        every.judge[keep],
        every.people[keep],
        every.chance[keep],
        every.cluster[keep],
    )
    labelled = data.is_labelled
    labels = int(labelled.sum())
    if labels < 2:
        raise ValueError("ratings on labels need two labelled battles in each component")
    # Battles that were likelier to be labelled weigh less, and so labels stand for all battles.
    weight = np.where(labelled, 1.0 / data.chance, 0.0)
    weight *= labels / weight.sum()
    return _WeighedBattles(data, labels / len(data.a), weight, number(data.cluster)[1])
