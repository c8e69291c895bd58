"""Accuracy by task and its mean over tasks, with intervals that know videos."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from videoautoarena.scoring.intervals.proportions import measure_mean, measure_share
from videoautoarena.scoring.questions.scores import (
    average,
    measure_accuracy,
    measure_scores,
    measure_tasks,
)


@pytest.mark.parametrize(("hits", "n"), [(9, 20), (0, 12), (7, 7), (300, 400)])
def test_of_items_with_a_video_each_the_interval_is_wilsons(hits: int, n: int) -> None:
    right = np.arange(n) < hits
    wilson = binomtest(hits, n).proportion_ci(method="wilson")
    for video in (None, np.arange(n) + 5):
        found = measure_accuracy(right, video)
        assert (found.value, found.n) == (hits / n, n)
        assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=1e-9)
        assert found.at(0.95) == pytest.approx(found)


def test_items_that_share_a_video_are_not_independent() -> None:
    right = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], 10)
    video = np.repeat(np.arange(6), 10)
    found = measure_accuracy(right, video)
    assert found == measure_share(right, video)
    assert found.high - found.low > 2 * (np.subtract(*measure_accuracy(right)[2:0:-1]))


def test_a_task_counts_once_however_many_items_it_has() -> None:
    right = [1.0] * 90 + [0.0] * 10 + [0.0] * 8 + [1.0] * 2
    found = measure_tasks(right, [4] * 100 + [2] * 10, chance=[0.25] * 100 + [1 / 6] * 10)
    assert [task.value for task in found.tasks] == [0.2, 0.9]
    assert found.mean.value == pytest.approx(0.55)
    assert found.chances == pytest.approx((1 / 6, 0.25))
    assert found.chance == pytest.approx((0.25 + 1 / 6) / 2)


def test_of_equal_tasks_apart_the_mean_is_as_sure_as_their_number_says() -> None:
    right = np.tile(np.arange(40) < 20, 4).astype(float)
    found = measure_tasks(right, np.repeat(np.arange(4), 40))
    (one, *_) = found.tasks
    assert found.mean.high - found.mean.low == pytest.approx((one.high - one.low) / 2)


def test_tasks_on_the_same_videos_tell_less() -> None:
    rng = np.random.default_rng(3)
    right = np.tile(rng.integers(0, 2, 40), 4).astype(float)
    task = np.repeat(np.arange(4), 40)
    video = np.tile(np.arange(40), 4)
    apart = measure_tasks(right, task)
    together = measure_tasks(right, task, video)
    assert together.mean.value == apart.mean.value
    assert together.mean.high - together.mean.low > 1.9 * (apart.mean.high - apart.mean.low)


def test_the_interval_of_the_mean_holds_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    held = 0
    chances = np.array([0.85, 0.6, 0.3])
    for _ in range(300):
        ease = rng.normal(0, 0.1, 30)
        video = np.repeat(np.arange(30), 6)
        task = np.tile(np.repeat(np.arange(3), 2), 30)
        right = rng.random(180) < chances[task] + ease[video]
        found = measure_tasks(right.astype(float), task, video).mean
        held += found.low <= chances.mean() <= found.high
    assert 0.92 <= held / 300 <= 0.985


def test_scores_in_words_are_averaged_over_tasks_on_their_own_scale() -> None:
    found = measure_scores([2, 10, 6, 6, 7, 8], [0, 0, 0, 1, 1, 1], np.arange(6))
    assert [task.value for task in found.tasks] == [6.0, 7.0]
    assert found.tasks[0] == measure_mean([2, 10, 6])
    assert (found.mean.value, np.isnan(found.chance)) == (6.5, True)
    halves = [task.high - task.value for task in found.tasks]
    assert found.mean.high - 6.5 == pytest.approx(np.hypot(*halves) / 2)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 5)), max_size=40))
def test_intervals_hold_their_figure_and_stay_within_a_share(
    items: list[tuple[bool, int, int]],
) -> None:
    right, task, video = (np.array([row[k] for row in items], dtype=int) for k in range(3))
    found = measure_tasks(right.astype(float), task, video)
    assert len(found.tasks) == len({row[1] for row in items})
    for share in (*found.tasks, found.mean):
        if share.n:
            assert -1e-12 <= share.low <= share.value <= share.high <= 1 + 1e-12


def test_nothing_is_said_of_no_item() -> None:
    found = measure_tasks([], [])
    assert (found.tasks, found.mean.n) == ((), 0)
    assert np.isnan(found.mean.value)
    assert average([]).n == 0


def test_a_chance_is_needed_for_each_item_or_none() -> None:
    with pytest.raises(ValueError, match="a chance for each item"):
        measure_tasks([1, 0], [0, 0], chance=[0.25])


def test_tasks_about_one_video_are_no_surer_together_than_each_of_them() -> None:
    found = measure_tasks([0.1, 0.2, 0.4], [0, 1, 2], [7, 7, 7])
    assert [(one.low, one.high) for one in found.tasks] == [(0.0, 1.0)] * 3
    assert (found.mean.low, found.mean.high) == pytest.approx((0.0, 1.0))
