"""Who may be best of models with scores on the same units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import t as students

from videoautoarena.scoring.ratings.differences import lead_on_units, measure_lead

Scores = NDArray[np.float64]


def equals(
    seed: int, *, models: int, videos: int, each: int = 3, missing: float = 0.0
) -> tuple[Scores, NDArray[np.int64]]:
    """Return right and wrong answers of models that are equal, on videos that all find as hard."""
    rng = np.random.default_rng(seed)
    video = np.repeat(np.arange(videos), each)
    hard = rng.normal(size=videos)[video] + rng.normal(size=len(video)) / 2
    own = rng.normal(size=(models, videos))[:, video] / 2
    right = rng.random((models, len(video))) < 1 / (1 + np.exp(-(hard + own)))
    scores = right.T.astype(np.float64)
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores, video


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), videos=st.integers(2, 12))
def test_of_two_models_the_error_is_that_of_their_paired_difference(seed: int, videos: int) -> None:
    scores, video = equals(seed, models=2, videos=videos)
    found = lead_on_units(scores, video)
    lead = measure_lead(scores[:, 0], scores[:, 1], video)
    ratio = (found.mean[0] - found.mean[1]) / found.errors[0, 1]
    assert found.mean[0] - found.mean[1] == pytest.approx(lead.value)
    assert students.cdf(ratio, videos - 1) == pytest.approx(lead.better)


def test_weights_of_tasks_make_the_mean_over_tasks_and_not_over_items() -> None:
    right = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 2)
    found = lead_on_units(right, range(6), [0, 0, 0, 0, 1, 1])
    assert found.mean.tolist() == [0.5, 0.5]
    assert found.lead.place.tolist() == [1, 1]
    assert lead_on_units(right, range(6)).lead.place.tolist() == [1, 2]


def test_models_are_held_against_each_other_on_the_units_of_both_alone() -> None:
    # On what both were asked they are level; the first was spared what is hard.
    level = np.tile([[1.0, 1.0], [0.0, 0.0]], (10, 1))
    hard = np.tile([[np.nan, 0.0]], (40, 1))
    found = lead_on_units(np.vstack([level, hard]), np.arange(60)).lead
    assert found.place.tolist() == [1, 2]
    assert found.may_be_best.tolist() == [True, True]
    asked = np.vstack([np.tile([[1.0, 0.0]], (20, 1)), hard])
    assert lead_on_units(asked, np.arange(60)).lead.may_be_best.tolist() == [True, False]


def test_one_video_parts_nobody_and_a_model_seen_on_one_says_nothing_of_others() -> None:
    right = np.tile([[1.0, 0.0, 1.0]], (30, 1))
    alone = lead_on_units(right, np.zeros(30, dtype=int)).lead
    assert alone.may_be_best.tolist() == [True] * 3
    right[1:, 2] = np.nan
    found = lead_on_units(right, np.arange(30)).lead
    assert found.may_be_best.tolist() == [True, False, True]
    assert (found.best[2], found.worst[2]) == (1, 3)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.permutations(range(4)))
def test_what_models_are_called_changes_nothing(seed: int, order: list[int]) -> None:
    scores, video = equals(seed, models=4, videos=12, missing=0.1)
    scores[:, 0] = np.where(np.isnan(scores[:, 0]), np.nan, np.maximum(scores[:, 0], video % 2))
    found = lead_on_units(scores, video)
    turned = lead_on_units(scores[:, order], video)
    assert turned.errors == pytest.approx(found.errors[np.ix_(order, order)])
    if len(set(found.mean.tolist())) == 4:
        assert turned.lead.may_be_best.tolist() == found.lead.may_be_best[order].tolist()


@pytest.mark.parametrize(
    ("scores", "video"),
    [
        ([[2.0, 0.0]], [0]),
        ([[1.0, 0.0]], [0, 1]),
        ([1.0, 0.0], [0, 1]),
        ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.7]),
    ],
)
def test_what_are_no_scores_or_no_videos_is_refused(scores: object, video: list[float]) -> None:
    with pytest.raises(ValueError, match=r"scores|cluster"):
        lead_on_units(scores, video)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "videos", "missing"), [(3, 12, 0.0), (7, 20, 0.0), (7, 20, 0.2), (20, 40, 0.0)]
)
def test_each_of_equals_may_be_best_in_95_of_100_sets(
    models: int, videos: int, missing: float
) -> None:
    held = [
        lead_on_units(*equals(seed, models=models, videos=videos, missing=missing)).lead
        for seed in range(200)
    ]
    assert 0.935 <= np.mean([lead.may_be_best for lead in held]) <= 0.97
    whole = [(lead.best == 1) & (lead.worst == models) for lead in held]
    assert 0.95 <= np.mean(whole) <= 0.99
