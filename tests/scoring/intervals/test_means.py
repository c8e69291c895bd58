"""Means and what they stand on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from videoautoarena.scoring.intervals.proportions import measure_mean


def test_without_clusters_it_is_the_textbook_interval() -> None:
    values = np.random.default_rng(0).normal(5.0, 2.0, 40)
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval()
    found = measure_mean(values)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.value == pytest.approx(values.mean())
    assert found.n == 40


def test_values_that_only_repeat_within_clusters_tell_no_more_than_the_clusters() -> None:
    values = np.random.default_rng(1).normal(size=12)
    once = measure_mean(values)
    often = measure_mean(np.repeat(values, 10), np.repeat(np.arange(12), 10))
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_one_cluster_sets_no_bounds_and_nothing_is_nothing() -> None:
    assert np.isnan(measure_mean([1.0, 2.0], [3, 3]).low)
    assert np.isnan(measure_mean([]).value)
    assert measure_mean([]).n == 0


@pytest.mark.parametrize(
    ("values", "cluster"),
    [([1.0, np.nan], None), ([1.0, 2.0], [0]), ([1.0, 2.0], [0.5, 0.7]), ([[1.0]], None)],
)
def test_what_is_no_figure_or_no_cluster_is_refused(
    values: list[float], cluster: list[float] | None
) -> None:
    with pytest.raises(ValueError, match="must"):
        measure_mean(values, cluster)
